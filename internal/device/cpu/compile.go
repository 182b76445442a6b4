package cpu

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/compile"
	"github.com/sinterml/sinter/internal/device/keep"
	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/inspect"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/schedule"
	"github.com/sinterml/sinter/internal/template"
)

// kernel is one compiled kernel of a program, for any sizes and buffers. Equal
// kernels of a program are one.
type kernel interface {
	// bind fixes the sizes and the memory of one run. It is called for every
	// run and takes microseconds.
	bind(r *binding) (jit.Step, error)
}

// slab collects the machine code of a program. Once sealed it is never
// writable again.
type slab struct {
	text []byte
	code *jit.Code
}

// add appends code and returns its offset, a multiple of 64.
func (s *slab) add(code []byte) int {
	for len(s.text)%64 != 0 {
		s.text = append(s.text, 0xCC)
	}
	at := len(s.text)
	s.text = append(s.text, code...)
	return at
}

// entry is the address of code that was added; for use after sealing.
func (s *slab) entry(offset int) uintptr { return s.code.Entry(offset) }

func (s *slab) seal() (err error) {
	if len(s.text) > 0 {
		s.code, err = jit.Map(s.text)
	}
	return err
}

// compiler makes the kernels of one program.
type compiler struct {
	device  *Device
	machine bool // machine code may be used
	neon    bool // and is that of arm64, which has loops but no templates yet
	isa     x86.ISA
	slab    *slab
	made    map[string]kernel
	apart   bool // loop.Stagger is not wanted
	generic []string
	parts   []inspect.CompiledPart // of the kernel that is being compiled
	listed  bool                   // somebody wants to see them
}

// compiler makes the kernels of one program; machine tells that machine code may be
// used.
func (d *Device) compiler(machine bool) *compiler {
	return &compiler{device: d, machine: machine, neon: machine && d.isa == NEON, isa: d.target(), slab: &slab{}, made: map[string]kernel{}}
}

// CompileGraph takes a graph through every stage of the pipeline.
func (d *Device) CompileGraph(ctx context.Context, g *ir.Graph, o device.Options) (device.Module, error) {
	return d.compile(ctx, g, o, nil)
}

// Look compiles a graph to see how.
func (d *Device) Look(ctx context.Context, g *ir.Graph, o device.Options) (*inspect.Compilation, error) {
	look := &inspect.Compilation{}
	m, err := d.compile(ctx, g, o, look)
	if err != nil {
		return nil, err
	}
	return look, m.Close()
}

func (d *Device) compile(ctx context.Context, g *ir.Graph, o device.Options, look *inspect.Compilation) (device.Module, error) {
	if d.closed.Load() {
		return nil, device.ErrClosed
	}
	plan, err := compile.Plan(g, o, d.planTarget(), look)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m, err := d.build(plan, d.isa != Generic, o, look)
	if errors.Is(err, jit.ErrNoExec) { // the system refuses executable memory
		m, err = d.build(plan, false, o, look)
	}
	if err != nil {
		return nil, err
	}
	m.graph, m.conditions = compile.NumberLeaves(g), compile.ConditionsOf(g)
	m.info.InPlace = make([]bool, len(g.Outputs))
	for i, leaf := range plan.InPlace {
		m.info.InPlace[i] = leaf >= 0
	}
	return m, nil
}

// Plan is the target-independent part: rewriting and scheduling for what this
// device has templates for, on every processor.
func Plan(g *ir.Graph, o device.Options) (*schedule.Plan, error) {
	return compile.Plan(g, o, compile.Target{Templates: templates, Windows: ir.WindowsAsRows}, nil)
}

// planTarget is what kernels for this device's instruction set want. AMX splits a constant
// right operand once, so it has weights there, and both operands of others as often.
func (d *Device) planTarget() compile.Target {
	t := compile.Target{Templates: templates, Windows: ir.WindowsAsRows}
	if d.isa == AVX2 || d.isa == AVX512 {
		t.Windows, t.TurnProducts = ir.WindowsAsColumns, true
	}
	return t
}

// templates are the anchors with a kernel of their own.
var templates = map[ir.Op]bool{ir.MatMul: true, ir.Attention: true, ir.AttentionGrad: true, ir.Sort: true}

// build makes a module from a plan.
func (d *Device) build(plan *schedule.Plan, machine bool, o device.Options, look *inspect.Compilation) (*module, error) {
	c := d.compiler(machine)
	c.listed = o.Trace != nil || look != nil
	m := &module{device: d, plan: plan, slab: c.slab, share: true, check: o.Check, holder: d.shelf.NewHolder(), slots: make(chan struct{}, maxRuns)}
	for _, off := range o.NoOpt {
		m.share = m.share && off != "all" && off != "pack-memory"
		c.apart = c.apart || off == "all" || off == "stagger"
	}
	seen := newSight(c, o, look)
	for _, k := range plan.Kernels {
		code, err := c.kernel(k)
		if err != nil {
			return nil, fmt.Errorf("kernel %s: %w", k.Name, err)
		}
		m.kernels = append(m.kernels, code)
		if !k.Constant {
			m.each = append(m.each, len(m.kernels)-1)
			if len(m.kernels) <= plan.Commit {
				m.early = len(m.each)
			}
		}
		seen.kernel(k, code)
	}
	if err := m.findCommon(); err != nil {
		return nil, err
	}
	seen.shared(m)
	if err := c.slab.seal(); err != nil {
		return nil, err
	}
	if c.slab.code != nil { // of a device that is dropped; runs hold the module
		runtime.AddCleanup(m, func(code *jit.Code) { _ = code.Close() }, c.slab.code)
	}
	seen.end(plan, !m.share)
	m.recipes = keep.Recipes(plan, fmt.Sprintf("machine code %v", machine), kernelText)
	m.info = device.Info{Kernels: len(m.each), Constant: len(plan.Kernels) - len(m.each), CodeBytes: len(c.slab.text), Generic: c.generic}
	d.modules.Store(m, true)
	return m, nil
}

// work is a kernel's meaning: as loops, where it is more than a host's step.
func work(k *schedule.Kernel) fmt.Stringer {
	switch w := k.Work.(type) {
	case *loop.Kernel:
		return w
	case *template.Gemm:
		return w.Loops()
	case *template.Attention:
		return w.Loops()
	case *template.AttentionGrad:
		return w.Loops()
	case *schedule.Host:
		return w
	}
	return nil
}

// kernelText is equal for kernels that compute the same.
func kernelText(k *schedule.Kernel) string { return fmt.Sprintf("%T %v", k.Work, work(k)) }

// kernel compiles k, or finds an equal one.
func (c *compiler) kernel(k *schedule.Kernel) (kernel, error) {
	key := kernelText(k)
	if g, ok := k.Work.(*template.Gemm); ok {
		key += fmt.Sprint(g.ConstY, g.SteadyY)
	}
	if have, ok := c.made[key]; ok {
		return have, nil
	}
	var made kernel
	var err error
	switch w := k.Work.(type) {
	case *loop.Kernel:
		made, err = c.loops(w)
	case *template.Gemm:
		made, err = compileGemm(c, w)
	case *template.Attention:
		made, err = compileAttention(c, w)
	case *template.AttentionGrad:
		made, err = compileGradient(c, w)
	case *schedule.Host:
		made, err = compileSort(w)
	default:
		err = fmt.Errorf("no way to run %T", w)
	}
	if err != nil {
		return nil, err
	}
	c.made[key] = made
	return made, nil
}

// list keeps code of the kernel that is being compiled, where somebody looks.
func (c *compiler) list(name string, text []byte, listing func() string) {
	if c.listed {
		c.parts = append(c.parts, inspect.CompiledPart{Name: name, Bytes: len(text), Text: listing()})
	}
}

// templates tells whether there are hand-written main loops.
func (c *compiler) templates() bool { return c.machine && !c.neon }

// listAttention keeps what attentions do between tiles, and the tiles.
func (c *compiler) listAttention(format x86.GemmFormat, tiles ...*tileSet) error {
	if !c.listed {
		return nil
	}
	all, err := x86.AttentionListing(c.isa, format)
	if err != nil {
		return err
	}
	for _, t := range tiles {
		tile, err := t.Listing()
		if err != nil {
			return err
		}
		all = append(all, tile)
	}
	for _, l := range all {
		c.parts = append(c.parts, inspect.CompiledPart(l))
	}
	return nil
}
