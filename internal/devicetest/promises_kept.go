package devicetest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/compile"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/ir"
)

// Rows, terms and columns of a product whose weight is scaled, by what depends on
// the weight alone.
const scaledRows, scaledTerms, scaledCols = 20, 24, 18

// scaled is that product. A device may compute the columns' maxima, the scaled
// weight and its rounding once, and keep them.
var scaled = &suite.Case{Name: "scaled weight", Build: func(b *suite.Builder) []*ir.Node {
	m, k, n := ir.N(scaledRows), ir.N(scaledTerms), ir.N(scaledCols)
	x, w := b.Input(ir.F32, suite.Ordinary, m, k), b.Leaf(ir.Weight, ir.F32, suite.Ordinary, k, n)
	top := b.Add(ir.Add, ir.Attr{}, b.Add(ir.ReduceMax, ir.Attr{Axes: []int{0}}, b.Add(ir.Abs, ir.Attr{}, w)), b.Full(ir.F32, 1, ir.N(1), n))
	y := b.Add(ir.Div, ir.Attr{}, w, b.Add(ir.Expand, ir.Attr{Shape: ir.Shape{k, n}}, top))
	y = b.Add(ir.Cast, ir.Attr{DType: ir.F32}, b.Add(ir.Cast, ir.Attr{DType: ir.BF16}, y))
	p := b.Add(ir.MatMul, ir.Attr{}, x, y)
	return []*ir.Node{b.Add(ir.Mul, ir.Attr{}, p, b.Add(ir.Expand, ir.Attr{Shape: ir.Shape{m, n}}, top))}
}}

// Programs that write a weight of the other: as an output like others, and as the
// variable that they assign.
const writers = `graph
leaf 0 variable "w" f32[24 18]
%0 = variable : f32[24 18]
%1 = const value=0xbf400000 : f32[]
%2 = reshape %1 : f32[1 1]
%3 = expand %2 : f32[24 18]
%4 = mul %0 %3 : f32[24 18]
`

// follower is the product on a device, with its weight and others.
type follower struct {
	d suite.Runner
	c *prepared
	m device.Module
	b *device.Bound // the second leaf is the weight
}

// keptFollows: what a device keeps that it computed from a weight is that weight's,
// whoever has changed it, and how, and goes with it.
func (s *subject) keptFollows() error {
	d, err := s.another(2)
	if err != nil {
		return err
	}
	before := d.Stats().Allocated
	err = s.follow(d)
	if err == nil {
		err = trimmed(d)
	}
	if left := d.Stats().Allocated; err == nil && left != before {
		err = fmt.Errorf("%d bytes are in use when weights are freed, %d before", left, before)
	}
	return errors.Join(err, d.Close())
}

func trimmed(d device.Device) error {
	if k, ok := d.(device.MemoryKeeper); ok {
		return k.TrimMemory()
	}
	return nil
}

func (s *subject) follow(d suite.Runner) (err error) {
	f := &follower{d: d}
	if f.c, err = prepare(scaled); err != nil {
		return err
	}
	if f.m, err = d.CompileGraph(context.Background(), f.c.graph, s.compile); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.m.Close()) }()
	if f.b, err = bind(d, f.m, f.c.graph, f.c.runs[0]); err != nil {
		return err
	}
	defer func() {
		for _, buf := range append(f.b.Leaves, f.b.Outputs...) {
			err = errors.Join(err, buf.Close())
		}
	}()
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"the first run", nil}, {"the second run", nil},
		{"other values are copied to the weight", f.copied},
		{"the weight is the output of a program", func() error { return f.wrote(s.compile, false) }},
		{"the weight is assigned in its place", func() error { return f.wrote(s.compile, true) }},
		{"what is cached is given back", func() error { return trimmed(d) }},
		{"another weight is bound", f.another},
	} {
		if step.do != nil {
			err = step.do()
		}
		for range 2 {
			if err == nil {
				err = f.run()
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// run compares with the referee at the values that the weight has now.
func (f *follower) run() error {
	ctx := context.Background()
	if err := suite.Submit(ctx, f.d, f.b); err != nil {
		return err
	}
	all, err := suite.Contents(ctx, f.d, slices.Concat(f.b.Leaves, f.b.Outputs))
	if err != nil {
		return err
	}
	r := &suite.Sample{Leaves: all[:len(f.b.Leaves)]}
	if r.Want, r.Bounds, err = interp.Evaluate(ctx, f.c.graph, nil, r.Leaves); err != nil {
		return err
	}
	return f.c.Compare(all[len(f.b.Leaves):], r)
}

func (f *follower) copied() error {
	return f.d.Copy(context.Background(), f.b.Leaves[1], compile.HostBytes(eighths(scaledTerms*scaledCols, ir.F32, 5)))
}

// another binds a weight that may have the place in memory of the one that is
// freed.
func (f *follower) another() error {
	if err := f.b.Leaves[1].Close(); err != nil {
		return err
	}
	var err error
	if f.b.Leaves[1], err = f.d.Alloc(4 * scaledTerms * scaledCols); err != nil {
		return err
	}
	return f.d.Copy(context.Background(), f.b.Leaves[1], compile.HostBytes(eighths(scaledTerms*scaledCols, ir.F32, 11)))
}

// wrote runs a program that writes the weight, three times over with a run of the
// product after each: over the old values of a variable, or from memory beside it.
func (f *follower) wrote(o device.Options, inPlace bool) (err error) {
	text := writers + "return %4\n"
	if inPlace {
		text = writers + "%5 = assign %0 %4 : f32[24 18]\nreturn %5\n"
	}
	g, err := ir.Parse(text)
	if err != nil {
		return err
	}
	m, err := f.d.CompileGraph(context.Background(), g, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	w := f.b.Leaves[1]
	from := w
	if in := m.Info().InPlace; !inPlace || in == nil || !in[0] { // the device may not write over it
		if from, err = f.d.Alloc(w.Size()); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, from.Close()) }()
	}
	for range 3 {
		if from != w {
			if err := f.d.Copy(context.Background(), from, w); err != nil {
				return err
			}
		}
		b := &device.Bound{Module: m, Leaves: []device.Buffer{from}, Outputs: []device.Buffer{w}}
		if err := suite.Submit(context.Background(), f.d, b); err != nil {
			return err
		}
		if err := f.run(); err != nil {
			return err
		}
	}
	return nil
}
