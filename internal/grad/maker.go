package grad

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// maker adds nodes; the first error sticks, and what comes after it is
// ignored.
type maker struct {
	b   *ir.Builder
	err error
}

// add makes a node. After an error it gives an operand back, so that rules
// need not look: what they make of it is ignored too.
func (m *maker) add(op ir.Op, a ir.Attr, in ...*ir.Node) *ir.Node {
	if m.err == nil {
		n, err := m.b.Add(op, a, in...)
		if err == nil {
			return n
		}
		m.err = err
	}
	if len(in) == 0 {
		return &ir.Node{}
	}
	return in[0]
}

func (m *maker) op(op ir.Op, in ...*ir.Node) *ir.Node { return m.add(op, ir.Attr{}, in...) }

func (m *maker) neg(x *ir.Node) *ir.Node     { return m.op(ir.Neg, x) }
func (m *maker) plus(x, y *ir.Node) *ir.Node { return m.op(ir.Add, x, y) }
func (m *maker) mul(x, y *ir.Node) *ir.Node  { return m.op(ir.Mul, x, y) }
func (m *maker) div(x, y *ir.Node) *ir.Node  { return m.op(ir.Div, x, y) }

func (m *maker) where(c, x, y *ir.Node) *ir.Node { return m.op(ir.Where, c, x, y) }

// times is x by a number.
func (m *maker) times(x *ir.Node, v float64) *ir.Node { return m.mul(x, m.number(x, v)) }

// number is one value in the type and shape of x.
func (m *maker) number(x *ir.Node, v float64) *ir.Node { return m.fill(x.DType, v, x.Shape) }

func (m *maker) zeros(x *ir.Node) *ir.Node { return m.number(x, 0) }

// fill is a tensor of one value.
func (m *maker) fill(t ir.DType, v float64, s ir.Shape) *ir.Node {
	bits, err := ir.Bits(t, v)
	if err != nil && m.err == nil {
		m.err = err
	}
	x := m.add(ir.Const, ir.Attr{DType: t, Value: bits})
	return m.expand(m.reshape(x, ones(len(s))), s)
}

func (m *maker) cast(x *ir.Node, t ir.DType) *ir.Node {
	if x.DType == t {
		return x
	}
	return m.add(ir.Cast, ir.Attr{DType: t}, x)
}

func (m *maker) reshape(x *ir.Node, s ir.Shape) *ir.Node {
	if x.Shape.Equal(s) {
		return x
	}
	return m.add(ir.Reshape, ir.Attr{Shape: s}, x)
}

func (m *maker) expand(x *ir.Node, s ir.Shape) *ir.Node {
	if x.Shape.Equal(s) {
		return x
	}
	return m.add(ir.Expand, ir.Attr{Shape: s}, x)
}

func (m *maker) permute(x *ir.Node, axes ...int) *ir.Node {
	return m.add(ir.Permute, ir.Attr{Axes: axes}, x)
}

func (m *maker) flip(x *ir.Node, axes ...int) *ir.Node { return m.add(ir.Flip, ir.Attr{Axes: axes}, x) }

func (m *maker) sum(x *ir.Node, axes ...int) *ir.Node {
	if len(axes) == 0 {
		return x
	}
	return m.add(ir.ReduceSum, ir.Attr{Axes: axes}, x)
}

// narrow takes size elements along an axis.
func (m *maker) narrow(x *ir.Node, axis int, start, size ir.Dim) *ir.Node {
	if start.IsConst(0) && axis < len(x.Shape) && x.Shape[axis].Equal(size) {
		return x
	}
	a := ir.Attr{Starts: make([]ir.Dim, len(x.Shape)), Steps: slices.Repeat([]int{1}, len(x.Shape)), Shape: slices.Clone(x.Shape)}
	a.Starts[axis], a.Shape[axis] = start, size
	return m.add(ir.Slice, a, x)
}

// pad puts zeros around an axis.
func (m *maker) pad(x *ir.Node, axis int, before, after ir.Dim) *ir.Node {
	return m.padWith(x, axis, before, after, 0)
}

func (m *maker) padWith(x *ir.Node, axis int, before, after ir.Dim, v float64) *ir.Node {
	if before.IsConst(0) && after.IsConst(0) {
		return x
	}
	bits, err := ir.Bits(x.DType, v)
	if err != nil && m.err == nil {
		m.err = err
	}
	a := ir.Attr{Before: make([]ir.Dim, len(x.Shape)), After: make([]ir.Dim, len(x.Shape)), Value: bits}
	a.Before[axis], a.After[axis] = before, after
	return m.add(ir.Pad, a, x)
}

func ones(rank int) ir.Shape { return slices.Repeat(ir.Shape{ir.N(1)}, rank) }

// with is s with another size at axis.
func with(s ir.Shape, axis int, n ir.Dim) ir.Shape {
	s = slices.Clone(s)
	s[axis] = n
	return s
}
