package suite

import (
	"context"
	"errors"
	"fmt"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
)

// trial is a little of everything that models are made of, as one small program:
// rows of a table, a layer with its activation, a normalised row, f64 as well as
// f32, integers, a number format that is converted, and products and an attention that
// units for matrices take, as their operands may lie.
var trial = &Case{Name: "trial", Build: func(b *Builder) []*ir.Node {
	const n, width, out = 5, 19, 35 // no multiple of any vector
	table := b.Leaf(ir.Weight, ir.F32, Ordinary, ir.N(11), ir.N(width))
	ids := b.Input(ir.I32, Below(11), ir.N(n), ir.N(1))
	x := b.Add(ir.Gather, ir.Attr{Axes: []int{0}}, table, b.Add(ir.Expand, ir.Attr{Shape: ir.Static(n, width)}, ids))
	w := b.Leaf(ir.Weight, ir.F32, Ordinary, ir.N(width), ir.N(out))
	bias := b.Add(ir.Expand, ir.Attr{Shape: ir.Static(n, out)}, b.Leaf(ir.Weight, ir.F32, Ordinary, ir.N(1), ir.N(out)))
	y := gelu(b, b.Add(ir.Add, ir.Attr{}, b.Add(ir.MatMul, ir.Attr{}, x, w), bias), ir.N(n), ir.N(out))
	sum := b.Add(ir.ReduceSum, ir.Attr{Axes: []int{1}}, y)
	normal := b.Add(ir.Div, ir.Attr{}, y, b.Add(ir.Expand, ir.Attr{Shape: ir.Static(n, out)}, b.Add(ir.Sqrt, ir.Attr{}, b.Add(ir.Add, ir.Attr{}, b.Add(ir.Mul, ir.Attr{}, sum, sum), b.Full(ir.F32, 1, ir.N(n), ir.N(1))))))
	counts := b.Add(ir.Add, ir.Attr{}, b.Add(ir.Mul, ir.Attr{}, ids, ids), b.Full(ir.I32, 1<<20, ir.N(n), ir.N(1)))
	const rows, cols, k = 136, 144, 328 // more than one tile has, and more stages than lie close by
	left, right := b.Input(ir.BF16, Ordinary, ir.N(rows), ir.N(k)), b.Input(ir.BF16, Ordinary, ir.N(k), ir.N(cols))
	head := func() *ir.Node { return b.Input(ir.BF16, Ordinary, ir.N(1), ir.N(1), ir.N(rows), ir.N(64)) }
	attention := b.Add(ir.Attention, ir.Attr{Attention: &ir.AttentionAttr{Scale: 0.2, Causal: true}}, head(), head(), head())
	turned := func(x *ir.Node) *ir.Node { return b.Add(ir.Permute, ir.Attr{Axes: []int{1, 0}}, x) }
	return []*ir.Node{normal, b.Add(ir.ReduceMax, ir.Attr{Axes: []int{1}}, y), counts, b.Add(ir.Cast, ir.Attr{DType: ir.BF16}, y),
		b.Add(ir.MatMul, ir.Attr{}, left, right), b.Add(ir.MatMul, ir.Attr{}, turned(right), turned(left)), b.Add(ir.Get, ir.Attr{}, attention)}
}}

// Trial has d compute a small program, twice, and compares with what another
// device makes of it: no element may be further from it than both may be from
// the truth. What differs is a Failure.
func Trial(ctx context.Context, d, trusted Runner) error {
	graph, runs, err := trial.Prepare()
	if err != nil {
		return err
	}
	m, err := trusted.CompileGraph(ctx, graph, device.Options{})
	if err != nil {
		return fmt.Errorf("the other device: %w", err)
	}
	want, err := Execute(ctx, trusted, m, graph, runs[0])
	if err = errors.Join(err, m.Close()); err != nil {
		return fmt.Errorf("the other device: %w", err)
	}
	if m, err = d.CompileGraph(ctx, graph, device.Options{}); err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	r := &Sample{Leaves: runs[0].Leaves, Want: want}
	for _, bounds := range runs[0].Bounds {
		twice := make([]float64, len(bounds))
		for i, b := range bounds {
			twice[i] = 2 * b
		}
		r.Bounds = append(r.Bounds, twice)
	}
	if err := trial.runAt(ctx, d, m, r); err != nil {
		return &Failure{Case: trial.Name, Graph: graph.String(), Err: err}
	}
	return nil
}
