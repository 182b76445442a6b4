package launch

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/compile"
	"github.com/sinterml/sinter/internal/device/keep"
	"github.com/sinterml/sinter/internal/device/tune"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/inspect"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/schedule"
	"github.com/sinterml/sinter/internal/template"
)

// target is what the device has kernels for. Sorting is done by its definition.
var target = compile.Target{
	Templates: map[ir.Op]bool{ir.MatMul: true, ir.Attention: true, ir.AttentionGrad: true},
	Without:   []string{"stagger"},
	Unpacked:  true,
}

// function is a kernel as the program has it, for any sizes and buffers.
type function struct {
	*entry.Kernel
	args []entry.Arg
}

// CompileGraph takes a graph through every stage of the pipeline.
func (d *Device) CompileGraph(ctx context.Context, g *ir.Graph, o device.Options) (device.Module, error) {
	if !d.uses.Begin() {
		return nil, device.ErrClosed
	}
	defer d.ended()
	m, w, err := d.lower(ctx, g, o, nil)
	if err != nil {
		return nil, err
	}
	code, err := w.write(d.backend)
	if err != nil {
		return nil, err
	}
	m.source = code.Text
	if o.Trace != nil {
		o.Trace("loops", w.loops.String())
		o.Trace("code", m.source)
	}
	err = d.withRoom(0, func() error {
		m.program, err = d.build(code)
		return err
	})
	if err != nil {
		return nil, err
	}
	m.options = o
	m.recipes = keep.Recipes(m.plan, fmt.Sprint(m.shape.Product == nil, w.plain), textOf)
	each := len(m.eachRun())
	m.info = device.Info{Kernels: each, Constant: len(m.functions) - each, CodeBytes: len(m.source), InPlace: make([]bool, len(g.Outputs))}
	for i := range m.info.InPlace {
		m.info.InPlace[i] = m.plan.Overwrites(i) >= 0
	}
	d.enlist(m)
	return m, nil
}

// lower is all of that before there is code.
func (d *Device) lower(ctx context.Context, g *ir.Graph, o device.Options, look *inspect.Compilation) (*module, *source, error) {
	if d.uses.Closed() {
		return nil, nil, device.ErrClosed
	}
	t := target
	t.Half = d.Shape.Half
	plan, err := compile.Plan(g, o, t, look)
	if err != nil {
		return nil, nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	m := &module{device: d, graph: compile.NumberLeaves(g), plan: plan, conditions: compile.ConditionsOf(g), share: true, holder: d.shelf.NewHolder(), slots: make(chan struct{}, maxRuns)}
	w := &source{shape: d.Shape, made: map[string]*function{}, check: o.Check, tuned: d.tuned.Load()}
	for _, off := range o.NoOpt {
		m.share = m.share && off != "all" && off != "pack-memory"
		if off == "all" || off == "tuning" {
			w.tuned = nil
		}
		if off == "all" || off == "warpgroups" {
			w.shape, w.plain = w.shape.Plain(), true
		}
		if off == "all" || off == "tensor-maps" {
			w.shape.Unmapped = true
		}
	}
	m.shape = w.shape
	m.functions, err = w.functions(plan)
	return m, w, err
}

// Look compiles a graph to see how. The driver is not asked.
func (d *Device) Look(ctx context.Context, g *ir.Graph, o device.Options) (*inspect.Compilation, error) {
	look := &inspect.Compilation{}
	m, w, err := d.lower(ctx, g, o, look)
	if err != nil {
		return nil, err
	}
	look.Plan, look.Apart = m.plan, !m.share
	for _, f := range m.functions {
		look.CodeOf = append(look.CodeOf, slices.Index(w.order, f))
	}
	for _, f := range w.order {
		code, err := d.backend.Emit([]*entry.Kernel{f.Kernel})
		if err != nil {
			return nil, err
		}
		part := inspect.CompiledPart{Name: f.Entry, Text: code.Text, Bytes: len(code.Text)}
		if code.Binary != nil {
			part.Bytes = len(code.Binary)
		}
		look.Codes = append(look.Codes, inspect.Compiled{Loops: f.Work.String(), Parts: []inspect.CompiledPart{part}})
	}
	return look, nil
}

// source collects the kernels of a program. Those that are equal are one
// function.
type source struct {
	shape   entry.Shape
	plain   bool // shape is without what one generation of devices has
	tuned   *tune.Store
	check   bool
	made    map[string]*function
	order   []*function
	entries []*entry.Kernel
	loops   strings.Builder
}

// functions are those of the kernels of a plan.
func (w *source) functions(p *schedule.Plan) ([]*function, error) {
	var all []*function
	for _, k := range p.Kernels {
		work, err := loopsOf(k)
		if err != nil {
			return nil, fmt.Errorf("kernel %s: %w", k.Name, err)
		}
		of := kernelWork{Kernel: k, loops: work, shares: p.Shares(k)}
		text := of.text()
		f := w.made[text]
		if f == nil {
			name := fmt.Sprintf("k%d_%s", len(w.order), k.Name)
			f = &function{Kernel: of.entry(w.shape.With(of.chosen(w.shape, w.tuned)), name)}
			if w.check {
				if err := loop.Check(f.Work); err != nil {
					return nil, err
				}
			}
			fmt.Fprintf(&w.loops, "%v\n", f.Work)
			w.made[text] = f
			w.order, w.entries = append(w.order, f), append(w.entries, f.Kernel)
		}
		all = append(all, f)
	}
	return all, nil
}

// kernelWork is what a kernel computes, with its meaning as loops.
type kernelWork struct {
	*schedule.Kernel
	loops  *loop.Kernel
	shares []bool // of each param, see entry.Kernel.Shares
}

// text is equal for kernels that are one function: those that move values of the
// same width are, under any name.
func (k kernelWork) text() string {
	bare := *loop.MoveBits(k.loops)
	bare.Name = ""
	return fmt.Sprint(k.how(), k.shares, &bare)
}

// entry makes the entry point.
func (k kernelWork) entry(s entry.Shape, name string) (e *entry.Kernel) {
	switch w := k.Work.(type) {
	case *template.Gemm:
		e = s.Gemm(name, w)
	case *template.Attention:
		e = s.Attention(name, w)
	case *template.AttentionGrad:
		e = s.AttentionGrad(name, w)
	default:
		e = s.Kernel(name, k.loops)
	}
	e.Shares = k.shares
	return e
}

// table is the strategies to try.
func (k kernelWork) table(s entry.Shape) []entry.Strategy {
	switch w := k.Work.(type) {
	case *template.Gemm:
		return s.ProductTable(w)
	case *template.Attention:
		return s.AttentionTable(w)
	case *template.AttentionGrad:
		return s.AttentionGradTable(w)
	}
	return s.Table(k.loops)
}

// textOf is equal for kernels that compute the same.
func textOf(k *schedule.Kernel) string {
	loops, err := loopsOf(k)
	return fmt.Sprint(kernelWork{Kernel: k}.how(), loops, err)
}

// how tells kernels of the same meaning apart that are computed in other ways.
func (k kernelWork) how() string {
	switch w := k.Work.(type) {
	case *template.Gemm:
		if w.TF32 {
			return "product in TF32"
		}
		return "product"
	case *template.Attention:
		if w.TF32 {
			return "attention in TF32"
		}
		return "attention"
	case *template.AttentionGrad:
		return "attention gradient"
	}
	return "loops"
}

func (k kernelWork) hash() string { return tune.Hash(k.how(), loop.MoveBits(k.loops)) }

// chosen is the strategy that is kept for the kernel. One that the shape does
// not have is none.
func (k kernelWork) chosen(s entry.Shape, kept *tune.Store) entry.Strategy {
	if n, _ := kept.Len(); n == 0 {
		return entry.Strategy{}
	}
	c, ok := kept.Choice(k.hash())
	if !ok || c == (entry.Strategy{}) {
		return entry.Strategy{}
	}
	base := c
	base.Tasks = 0
	if !slices.Contains(k.table(s), base) || !slices.Contains(entry.Spread(base), c) {
		return entry.Strategy{}
	}
	return c
}

// write has the kernels written and tells the functions their arguments.
func (w *source) write(b Backend) (*Code, error) {
	code, err := b.Emit(w.entries)
	if err != nil {
		return nil, err
	}
	for i, f := range w.order {
		f.args = code.Args[i]
	}
	return code, nil
}

// loopsOf is the meaning of a kernel as loops over what groups do.
func loopsOf(k *schedule.Kernel) (*loop.Kernel, error) {
	switch w := k.Work.(type) {
	case *loop.Kernel:
		return w, nil
	case *template.Gemm:
		return w.Loops(), nil
	case *template.Attention:
		return w.RowLoops(), nil
	case *template.AttentionGrad:
		return w.Loops(), nil
	}
	return nil, fmt.Errorf("no way to run %T", k.Work)
}

// WriteListing prints the source.
func (m *module) WriteListing(w io.Writer) error {
	_, err := io.WriteString(w, m.source)
	return err
}
