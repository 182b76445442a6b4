package rewrite

import "github.com/sinterml/sinter/internal/ir"

// multiplyConvs makes products of the convolutions of data with weights that a
// pass computes in another format as it does products: of one group, and of sums
// no longer than maxK. On devices that multiply, Lower has made products of all
// convolutions of one group before, so that nothing is left to be done.
func multiplyConvs(s *setting, g *ir.Graph, pass string, maxK int) (*ir.Graph, error) {
	fixed := unchanging(g)
	chosen := make([]bool, len(g.Nodes))
	for i, n := range g.Nodes {
		if !ir.ConvPaysAsProduct(n) || n.Attr.Conv.Groups > 1 || n.DType != ir.F32 || !fixed[n.In[1].ID] || fixed[n.In[0].ID] {
			continue
		}
		w := n.In[1].Shape
		window := w[1:].Numel()
		length, _ := window.Const()
		chosen[i] = areLarge(window, w[0]) && length <= maxK
	}
	return replaceChosen(s, g, pass, chosen, func(r *rewriter, n *ir.Node) *ir.Node {
		y, err := ir.ConvAsProduct(r.b, n, n.In[0], n.In[1], ir.WindowsCopied)
		if err != nil {
			r.err = err
			return n
		}
		return y
	})
}
