package grad

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// byDefinition differentiates what an anchor is defined as.
func byDefinition(m *maker, n *ir.Node, d []*ir.Node) []*ir.Node {
	if m.err != nil {
		return nil
	}
	outs, err := ir.Define(m.b, n, n.In)
	if err != nil {
		m.err = err
		return nil
	}
	p := Problem{}
	for i, dy := range d {
		if dy != nil {
			p.Outputs, p.Cotangents = append(p.Outputs, outs[i]), append(p.Cotangents, dy)
		}
	}
	ends := map[*ir.Node]bool{}
	for _, x := range n.In {
		if !ends[x] && x.DType.IsFloat() {
			p.Wrt = append(p.Wrt, x)
		}
		ends[x] = true
	}
	w := newWalk(m.b, p, ends)
	grads := w.run()
	m.err = w.err
	all := make([]*ir.Node, len(n.In))
	for i, x := range n.In {
		if at := slices.Index(p.Wrt, x); at >= 0 {
			all[i], grads[at] = grads[at], nil // once, where an operand stands twice
		}
	}
	return all
}

// matMul: the gradient of an operand that is a transpose is made as what it is
// the transpose of lies. So is that of a weight kept as [out, in], which all that
// an optimiser computes reads beside the weight; operands of a product may lie
// either way, other readers would jump from row to row.
func matMul(m *maker, x, y, r, d *ir.Node) (dx, dy *ir.Node) {
	product := func(x, y *ir.Node) *ir.Node { return m.add(ir.MatMul, ir.Attr{TF32: r.Attr.TF32}, x, y) }
	if turned(x) {
		dx = m.transposed(product(y, m.transposed(d)))
	} else {
		dx = product(d, m.transposed(y))
	}
	if turned(y) {
		dy = m.transposed(product(m.transposed(d), x))
	} else {
		dy = product(m.transposed(x), d)
	}
	return dx, dy
}

// turned tells whether x is a matrix with rows and columns exchanged.
func turned(x *ir.Node) bool {
	for x.Op == ir.Cast {
		x = x.In[0]
	}
	return x.Op == ir.Permute && slices.Equal(x.Attr.Axes, exchange(len(x.Shape)))
}

// transposed exchanges the last two axes.
func (m *maker) transposed(x *ir.Node) *ir.Node {
	axes := exchange(len(x.Shape))
	if x.Op == ir.Permute && slices.Equal(x.Attr.Axes, axes) {
		return x.In[0]
	}
	return m.permute(x, axes...)
}

// exchange is the order of n axes with the last two exchanged.
func exchange(n int) []int {
	axes := make([]int, n)
	for i := range axes {
		axes[i] = i
	}
	axes[n-1], axes[n-2] = n-2, n-1
	return axes
}
