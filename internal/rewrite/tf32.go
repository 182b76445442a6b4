package rewrite

import "github.com/sinterml/sinter/internal/ir"

// allowTF32 marks the products whose operands a device may round to TF32: of a
// forward pass or of a gradient, but for those that are too small, and those of
// weights alone, which are computed once; and attentions, for their two products.
// Nothing is rounded here: where there are no units for that, a product stays what
// it is.
func allowTF32(s *setting, g *ir.Graph) (*ir.Graph, error) {
	fixed := unchanging(g)
	chosen := make([]bool, len(g.Nodes))
	for i, n := range g.Nodes {
		if n.DType != ir.F32 || n.Attr.TF32 {
			continue
		}
		switch n.Op {
		case ir.MatMul:
			chosen[i] = !(fixed[n.In[0].ID] && fixed[n.In[1].ID]) && mayBeLarge(n)
		case ir.Attention:
			chosen[i] = true
		}
	}
	return replaceChosen(s, g, "tf32", chosen, func(r *rewriter, n *ir.Node) *ir.Node {
		a := n.Attr
		a.TF32 = true
		return r.make(n.Op, a, n.In...)
	})
}
