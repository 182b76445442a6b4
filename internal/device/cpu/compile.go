package cpu

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/rewrite"
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
	isa     x86.ISA
	slab    *slab
	made    map[string]kernel
	apart   bool // loop.Stagger is not wanted
	generic []string
	listing strings.Builder
	listed  bool
}

// CompileGraph takes a graph through every stage of the pipeline.
func (d *Device) CompileGraph(ctx context.Context, g *ir.Graph, o device.Options) (device.Module, error) {
	if d.closed.Load() {
		return nil, device.ErrClosed
	}
	plan, err := Plan(g, o)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m, err := d.build(plan, d.isa != Generic, o)
	if errors.Is(err, jit.ErrNoExec) { // the system refuses executable memory
		m, err = d.build(plan, false, o)
	}
	if err != nil {
		return nil, err
	}
	m.graph, m.conditions = numberLeaves(g), conditionsOf(g)
	m.info.InPlace = make([]bool, len(g.Outputs))
	for i, leaf := range plan.InPlace {
		m.info.InPlace[i] = leaf >= 0
	}
	return m, nil
}

// Plan is the target-independent part: rewriting and scheduling for what this
// device has templates for.
func Plan(g *ir.Graph, o device.Options) (*schedule.Plan, error) {
	trace := func(stage string, s fmt.Stringer) {
		if o.Trace != nil {
			o.Trace(stage, s.String())
		}
	}
	trace("trace", g)
	g = numberLeaves(g)
	noRewrite, noSchedule, err := splitSwitches(o.NoOpt)
	if err != nil {
		return nil, err
	}
	g, err = rewrite.Lower(g, o.Precision, func(n *ir.Node) bool { return templates[n.Op] || looped[n.Op] })
	if err != nil {
		return nil, fmt.Errorf("define: %w", err)
	}
	g, _, err = rewrite.Run(g, rewrite.Options{NoOpt: noRewrite, Precision: o.Precision, Check: o.Check, Trace: o.Trace})
	if err != nil {
		return nil, err
	}
	trace("simplify", g)
	plan, err := schedule.Build(g, schedule.Options{NoOpt: noSchedule, Anchors: templates})
	if err != nil {
		return nil, err
	}
	// Always: it takes a thousandth of what Build does, and a kernel that reads
	// what no other has written yet would be wrong without a word.
	if err := plan.Check(); err != nil {
		return nil, fmt.Errorf("plan: %w: please report this", err)
	}
	trace("plan", plan)
	return plan, nil
}

// numberLeaves notes the place of each leaf in the graph that was handed in:
// passes drop leaves that nobody needs any more, and number the others anew.
func numberLeaves(g *ir.Graph) *ir.Graph {
	numbered := *g
	numbered.Leaves = slices.Clone(g.Leaves)
	for i := range numbered.Leaves {
		numbered.Leaves[i].Number = i
	}
	return &numbered
}

// templates are the anchors with a kernel of their own; looped those that the
// scheduler lowers to loops. All others are replaced by their definitions.
var (
	templates = map[ir.Op]bool{ir.MatMul: true, ir.Attention: true, ir.AttentionGrad: true, ir.Sort: true}
	looped    = map[ir.Op]bool{ir.Scan: true, ir.SegmentIDs: true, ir.SegmentReduce: true}
)

// splitSwitches tells the scheduler's switches from the rewriter's, which
// refuses names that nobody knows.
func splitSwitches(names []string) (rewrites, schedules []string, err error) {
	for _, n := range names {
		mine := false
		for _, s := range schedule.Switches {
			mine = mine || s == n
		}
		if mine || n == "all" {
			schedules = append(schedules, n)
		}
		if !mine {
			rewrites = append(rewrites, n)
		}
	}
	return rewrites, schedules, nil
}

// build makes a module from a plan.
func (d *Device) build(plan *schedule.Plan, machine bool, o device.Options) (*module, error) {
	c := &compiler{device: d, machine: machine, isa: d.target(), slab: &slab{}, made: map[string]kernel{}, listed: o.Trace != nil}
	m := &module{device: d, plan: plan, slab: c.slab, own: makeBuffer(nil, nil), share: true, check: o.Check, slots: make(chan struct{}, maxRuns)}
	for _, off := range o.NoOpt {
		m.share = m.share && off != "all" && off != "pack-memory"
		c.apart = c.apart || off == "all" || off == "stagger"
	}
	var loops strings.Builder
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
		if o.Trace != nil {
			fmt.Fprintf(&loops, "%v\n", work(k))
			if lk, ok := code.(*loopKernel); ok && lk.streams != nil && lk.large.work != lk.plain.work {
				fmt.Fprintf(&loops, "%v\n", lk.large.work)
			}
		}
	}
	if err := c.slab.seal(); err != nil {
		return nil, err
	}
	if o.Trace != nil {
		o.Trace("loops", loops.String())
		o.Trace("code", c.listing.String())
	}
	m.recipes = c.recipes(plan)
	m.info = device.Info{Kernels: len(m.each), Constant: len(plan.Kernels) - len(m.each), CodeBytes: len(c.slab.text), Generic: c.generic}
	m.listing = c.listing.String()
	m.refs.Store(1)
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
		key += fmt.Sprint(g.ConstY)
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

// list adds code to the listing where one was asked for.
func (c *compiler) list(name string, code interface{ Listing() string }) {
	if c.listed {
		fmt.Fprintf(&c.listing, "%s\n%s\n", name, code.Listing())
	}
}

// WriteListing prints the generated code, if the program was compiled with a
// trace.
func (m *module) WriteListing(w io.Writer) error {
	_, err := io.WriteString(w, m.listing)
	return err
}
