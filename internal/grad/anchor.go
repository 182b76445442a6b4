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

func matMul(m *maker, x, y, r, d *ir.Node) (dx, dy *ir.Node) {
	return m.op(ir.MatMul, d, m.transposed(y)), m.op(ir.MatMul, m.transposed(x), d)
}

// transposed exchanges the last two axes.
func (m *maker) transposed(x *ir.Node) *ir.Node {
	axes := make([]int, len(x.Shape))
	for i := range axes {
		axes[i] = i
	}
	n := len(axes)
	axes[n-1], axes[n-2] = n-2, n-1
	return m.permute(x, axes...)
}
