package grad

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// attention's gradient is an anchor of its own, which computes the weights of
// the keys again from the logsumexp. A mask's is as large as all scores, where
// it is wanted, and made of products of matrices.
func attention(m *maker, n *ir.Node, d []*ir.Node) []*ir.Node {
	in := slices.Clone(n.In)
	out, lse := m.add(ir.Get, ir.Attr{}, n), m.add(ir.Get, ir.Attr{Out: 1}, n)
	dout := d[0]
	var delta *ir.Node
	if dout == nil { // the values do not matter, infinite ones neither
		in[2], dout, delta = m.zeros(in[2]), m.zeros(out), m.zeros(lse)
	} else {
		products := m.mul(m.cast(dout, lse.DType), m.cast(out, lse.DType))
		delta = m.reshape(m.sum(products, len(out.Shape)-1), lse.Shape)
	}
	if d[1] != nil {
		delta = m.op(ir.Sub, delta, d[1])
	}
	g := m.add(ir.AttentionGrad, ir.Attr{Attention: n.Attr.Attention}, append(in, lse, dout, delta)...)
	all := make([]*ir.Node, len(n.In))
	for i := range 3 {
		all[i] = m.add(ir.Get, ir.Attr{Out: i}, g)
	}
	if d[0] == nil {
		all[2] = nil
	}
	if last := len(n.In) - 1; n.Attr.Attention.Mask && m.err == nil {
		if n.Attr.Attention.Ragged {
			all[last] = byDefinition(m, n, d)[last]
		} else {
			all[last] = newMaskGrad(m, n).gradient(in[2], lse, dout, delta)
		}
	}
	return all
}
