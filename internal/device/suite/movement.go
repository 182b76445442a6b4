package suite

import (
	"fmt"

	"github.com/sinterml/sinter/internal/ir"
)

// movementCases moves elements of every dtype, of all views.
func movementCases() []*Case {
	var all []*Case
	for _, op := range ir.Ops() {
		if op.Class() != ir.ClassMovement && op != ir.Contiguous {
			continue
		}
		for _, d := range ir.DTypes() {
			all = append(all,
				&Case{Name: fmt.Sprintf("%v %v", op, d), Sizes: planes, Exact: true, Build: func(b *Builder) []*ir.Node {
					return move(b, op, d, rows, cols)
				}},
				&Case{Name: fmt.Sprintf("%v %v static", op, d), Exact: true, Build: func(b *Builder) []*ir.Node {
					return move(b, op, d, ir.N(5), ir.N(12))
				}})
		}
	}
	return all
}

func move(b *Builder, op ir.Op, d ir.DType, n, m ir.Dim) []*ir.Node {
	var outs []*ir.Node
	for v := range views {
		x := b.view(v, d, Anything, n, m)
		for _, a := range movements(op, d, n, m) {
			in := []*ir.Node{x}
			if op == ir.Concat {
				in = append(in, b.view(v+3, d, Anything, n, m), x)
			}
			if op == ir.Expand { // an axis of one to repeat
				in[0] = b.Add(ir.Reshape, ir.Attr{Shape: ir.Shape{n, ir.N(1), m}}, x)
			}
			outs = append(outs, b.Add(op, a, in...))
		}
	}
	return outs
}

// movements are the ways to move a matrix [n m].
func movements(op ir.Op, d ir.DType, n, m ir.Dim) []ir.Attr {
	value := uint64(0)
	if d != ir.Bool {
		value = ir.Highest(d)
	}
	switch op {
	case ir.Reshape:
		return []ir.Attr{{Shape: ir.Shape{n.Mul(m)}}, {Shape: ir.Shape{m, n}}, {Shape: ir.Shape{ir.N(1), n, ir.N(1), m}}}
	case ir.Permute:
		return []ir.Attr{{Axes: []int{1, 0}}, {Axes: []int{0, 1}}}
	case ir.Expand:
		return []ir.Attr{{Shape: ir.Shape{n, ir.N(3), m}}, {Shape: ir.Shape{n, m, m}}, {Shape: ir.Shape{n, ir.N(0), m}}}
	case ir.Pad:
		return []ir.Attr{
			{Before: ir.Static(1, 2), After: ir.Static(0, 3), Value: value},
			{Before: ir.Static(0, 0), After: ir.Shape{n, ir.N(0)}},
		}
	case ir.Slice:
		return []ir.Attr{
			{Starts: ir.Static(0, 0), Steps: []int{1, 1}, Shape: ir.Shape{n, ir.N(1)}},
			{Starts: ir.Shape{ir.N(0), m.Plus(-1)}, Steps: []int{1, 3}, Shape: ir.Shape{n, ir.N(1)}},
			{Starts: ir.Static(0, 0), Steps: []int{1, 1}, Shape: ir.Shape{ir.N(0), m}},
		}
	case ir.Flip:
		return []ir.Attr{{Axes: []int{0}}, {Axes: []int{1}}, {Axes: []int{0, 1}}, {Axes: []int{}}}
	case ir.Window:
		if size, ok := m.Const(); ok && size > 5 {
			return []ir.Attr{{Axes: []int{1}, Size: 3, Stride: 2, Dilation: 2}, {Axes: []int{0}, Size: 2, Stride: 3, Dilation: 1}}
		}
		return []ir.Attr{{Axes: []int{1}, Size: 1, Stride: 1, Dilation: 4}}
	case ir.Concat:
		return []ir.Attr{{Axes: []int{0}}, {Axes: []int{1}}}
	}
	return []ir.Attr{{}} // Contiguous
}
