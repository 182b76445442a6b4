package rewrite

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// computeBF16 rounds both operands of products to bf16. Their products are
// exact in f32, in which they are summed, so that whoever multiplies them by
// instructions for bf16 gets the same but for the order of the sum.
func computeBF16(s *setting, g *ir.Graph) (*ir.Graph, error) {
	suits := func(n *ir.Node) bool { return !holdsBF16(n.In[0]) || !holdsBF16(n.In[1]) }
	g, err := replaceProducts(s, g, "bf16", suits, func(r *rewriter, n *ir.Node) *ir.Node {
		return r.op(ir.MatMul, r.rounded(n.In[0]), r.rounded(n.In[1]))
	})
	if err != nil {
		return nil, err
	}
	return roundAttentions(s, g, "bf16")
}

// holdsBF16 tells whether x was widened from bf16, or from what bf16 holds.
func holdsBF16(x *ir.Node) bool {
	for x.Op.Class() == ir.ClassMovement && len(x.In) == 1 && x.Op != ir.Pad {
		x = x.In[0]
	}
	return x.Op == ir.Cast && holds(ir.BF16, x.In[0].DType)
}

func (r *rewriter) rounded(x *ir.Node) *ir.Node {
	if holdsBF16(x) {
		return x
	}
	return r.cast(ir.F32, r.cast(ir.BF16, x))
}

// roundAttentions rounds q, k and v of attentions to bf16: templates compute
// both products in it. Where the logsumexp is asked for, as for a gradient, all
// stays as written.
func roundAttentions(s *setting, g *ir.Graph, pass string) (*ir.Graph, error) {
	chosen := make([]bool, len(g.Nodes))
	for i, n := range g.Nodes {
		switch {
		case n.Op == ir.Attention && n.DType == ir.F32:
			width, static := lastDim(n.In[0]).Const()
			chosen[i] = static && width%2 == 0 && width > 0 && slices.ContainsFunc(n.In[:3], func(x *ir.Node) bool { return !holdsBF16(x) })
		case n.Op == ir.Get && n.Attr.Out == 1:
			chosen[n.In[0].ID] = false
		}
	}
	if !slices.Contains(chosen, true) {
		return g, nil
	}
	return replaceChosen(s, g, pass, ir.Attention, chosen, func(r *rewriter, n *ir.Node) *ir.Node {
		operands := slices.Clone(n.In)
		for i := range 3 {
			operands[i] = r.roundedBelow(operands[i])
		}
		return r.make(ir.Attention, n.Attr, operands...)
	})
}

// roundedBelow rounds x to bf16 below the views that x is, so that what they
// share is rounded once, by the kernel that computes it. Of a leaf no more is
// rounded than is seen.
func (r *rewriter) roundedBelow(x *ir.Node) *ir.Node {
	view := x.Op.Class() == ir.ClassMovement && len(x.In) == 1 && x.Op != ir.Pad
	if !view || holdsBF16(x) || x.Op == ir.Slice && x.In[0].Op.Class() == ir.ClassLeaf {
		return r.rounded(x)
	}
	return r.make(x.Op, x.Attr, r.roundedBelow(x.In[0]))
}
