package grad

import (
	"math"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// reduceMax shares the gradient among all that are equal to the result. They are
// counted in what x is computed in: f16 holds no number above 65504. To NaN
// nothing is equal: the gradient is NaN then.
func reduceMax(m *maker, x, r, d *ir.Node) *ir.Node {
	top, wide := m.op(ir.Equal, x, m.expand(r, x.Shape)), x.DType.Compute()
	count := m.sum(m.cast(top, wide), r.Attr.Axes...)
	share := m.cast(m.div(m.cast(d, wide), count), x.DType)
	return m.where(top, m.expand(share, x.Shape), m.expand(m.zeroUnlessNaN(r), x.Shape))
}

// zeroUnlessNaN is 0, and NaN where x is.
func (m *maker) zeroUnlessNaN(x *ir.Node) *ir.Node {
	return m.where(m.op(ir.Equal, x, x), m.zeros(x), m.number(x, math.NaN()))
}

// reduceProd multiplies the gradient by the product of all other elements:
// those before and those behind, which, unlike r/x, is right where some are 0.
func reduceProd(m *maker, n *ir.Node, d []*ir.Node) []*ir.Node {
	x := n.In[0]
	if len(n.Attr.Axes) == 0 {
		return d
	}
	// The axes come last, as one.
	var order []int
	rest := ir.Shape{}
	for axis, size := range x.Shape {
		if !n.Attr.Has(axis) {
			order, rest = append(order, axis), append(rest, size)
		}
	}
	reduced := ir.N(1)
	for _, axis := range n.Attr.Axes {
		order, reduced = append(order, axis), reduced.Mul(x.Shape[axis])
	}
	moved := m.permute(x, order...)
	flat := m.reshape(moved, append(slices.Clone(rest), reduced))
	last := len(rest)
	before := m.productBefore(flat, last)
	behind := m.flip(m.productBefore(m.flip(flat, last), last), last)
	others := m.reshape(m.mul(before, behind), moved.Shape)
	back := make([]int, len(order))
	for i, axis := range order {
		back[axis] = i
	}
	return []*ir.Node{m.mul(m.expand(d[0], x.Shape), m.permute(others, back...))}
}

// productBefore is the product of the elements before each along an axis.
func (m *maker) productBefore(x *ir.Node, axis int) *ir.Node {
	shifted := m.narrow(m.padWith(x, axis, ir.N(1), ir.N(0), 1), axis, ir.N(0), x.Shape[axis])
	return m.add(ir.Scan, ir.Attr{Axes: []int{axis}, Mode: "prod"}, shifted)
}

func segmentReduce(m *maker, n *ir.Node, d []*ir.Node) []*ir.Node {
	x, offsets := n.In[0], n.In[1]
	ids := m.add(ir.SegmentIDs, ir.Attr{Shape: x.Shape[:1]}, offsets)
	index := m.expand(m.reshape(ids, with(ones(len(x.Shape)), 0, x.Shape[0])), x.Shape)
	rows := func(y *ir.Node) *ir.Node { return m.add(ir.Gather, ir.Attr{Axes: []int{0}}, y, index) }
	if n.Attr.Mode == "sum" {
		return []*ir.Node{rows(d[0])}
	}
	top, wide := m.op(ir.Equal, x, rows(n)), x.DType.Compute()
	count := m.add(ir.SegmentReduce, ir.Attr{Mode: "sum"}, m.cast(top, wide), offsets)
	// An empty segment counts none; no row reads its share.
	share := m.cast(m.div(m.cast(rows(d[0]), wide), rows(count)), x.DType)
	return []*ir.Node{m.where(top, share, rows(m.zeroUnlessNaN(n)))}
}
