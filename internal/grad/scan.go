package grad

import (
	"github.com/sinterml/sinter/internal/ir"
)

// scan of a sum is, backwards, the sum of what comes behind.
func scan(m *maker, n *ir.Node, d []*ir.Node) []*ir.Node {
	axis := n.Attr.Axis()
	switch n.Attr.Mode {
	case "prod":
		return []*ir.Node{scanProd(m, n.In[0], d[0], axis)}
	case "max":
		return []*ir.Node{scanMax(m, n.In[0], n, d[0], axis)}
	}
	return []*ir.Node{m.flip(m.add(ir.Scan, n.Attr, m.flip(d[0], axis)), axis)}
}

// scanProd: element k is in the products from k on. What is asked of them, over
// the elements before k, is d[k] + x[k+1]*(d[k+1] + x[k+2]*(...)). Nothing is
// divided, so that it is right where some elements are 0.
func scanProd(m *maker, x, d *ir.Node, axis int) *ir.Node {
	from := x.DType
	x, d = m.cast(x, from.Compute()), m.cast(d, from.Compute())
	asked := m.backwards(m.ahead(x, axis, 1), d, axis)
	return m.cast(m.mul(m.productBefore(x, axis), asked), from)
}

// scanMax shares what is asked of a maximum among the elements so far that are
// equal to it. Maxima that are equal are neighbours: among them runs the count of
// such elements, and backwards the sum of their shares.
func scanMax(m *maker, x, r, d *ir.Node, axis int) *ir.Node {
	wide := x.DType.Compute()
	top, again := m.op(ir.Equal, x, r), m.op(ir.Equal, r, m.ahead(r, axis, 1))
	again = m.op(ir.And, again, m.inside(r.Shape, axis, 1))
	back := m.flip(r, axis)
	before := m.op(ir.And, m.op(ir.Equal, back, m.ahead(back, axis, 1)), m.inside(r.Shape, axis, 1))
	count := m.flip(m.backwards(before, m.flip(m.cast(top, wide), axis), axis), axis)
	share := m.backwards(again, m.div(m.cast(d, wide), count), axis)
	// From a NaN on all maxima are NaN, and so are the gradients of what they
	// were chosen from, which is every element.
	last := m.flip(m.add(ir.Scan, ir.Attr{Axes: []int{axis}, Mode: "max"}, back), axis)
	zero := m.zeroUnlessNaN(last)
	return m.where(m.op(ir.Equal, last, last), m.where(top, m.cast(share, x.DType), zero), zero)
}

// backwards is y[k] = b[k] + a[k]*y[k+1] along an axis, y being 0 behind its end,
// by joining pairs of neighbours, pairs of pairs and so on. With a of Bool, y[k+1]
// is taken or left, whatever it is.
func (m *maker) backwards(a, b *ir.Node, axis int) *ir.Node {
	_, most := b.Shape[axis].Bounds()
	for step := 1; step > 0 && int64(step) < most && m.err == nil; step *= 2 {
		// In memory: read twice, each step would be computed twice as often as the next.
		a, b = m.op(ir.Contiguous, a), m.op(ir.Contiguous, b)
		behind, gate := m.ahead(b, axis, step), a
		if a.DType != ir.Bool {
			behind, gate = m.mul(a, behind), m.inside(b.Shape, axis, step)
		}
		b = m.plus(b, m.where(gate, behind, m.zeros(b)))
		if next := m.ahead(a, axis, step); a.DType == ir.Bool {
			a = m.op(ir.And, a, next)
		} else {
			a = m.mul(a, next)
		}
	}
	return b
}

// ahead is x[k+n] along an axis, 0 or false behind its end.
func (m *maker) ahead(x *ir.Node, axis, n int) *ir.Node {
	return m.narrow(m.pad(x, axis, ir.N(0), ir.N(n)), axis, ir.N(n), x.Shape[axis])
}

// inside tells where k+n is inside an axis.
func (m *maker) inside(s ir.Shape, axis, n int) *ir.Node {
	return m.ahead(m.fill(ir.Bool, 1, s), axis, n)
}
