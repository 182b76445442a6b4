package rewrite

import "github.com/sinterml/sinter/internal/ir"

// computeBF16 rounds both operands of products to bf16. Their products are
// exact in f32, in which they are summed, so that whoever multiplies them by
// instructions for bf16 gets the same but for the order of the sum.
func computeBF16(s *setting, g *ir.Graph) (*ir.Graph, error) {
	suits := func(n *ir.Node) bool { return !holdsBF16(n.In[0]) || !holdsBF16(n.In[1]) }
	return replaceProducts(s, g, "bf16", suits, func(r *rewriter, n *ir.Node) *ir.Node {
		return r.op(ir.MatMul, r.rounded(n.In[0]), r.rounded(n.In[1]))
	})
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
