package rewrite

import "github.com/sinterml/sinter/internal/ir"

// Lower replaces every anchor that keep refuses by its definition, for targets
// without a kernel for it.
func Lower(g *ir.Graph, keep func(n *ir.Node) bool) (*ir.Graph, error) {
	outs := map[*ir.Node][]*ir.Node{} // of anchors that were replaced
	replaced := false
	low, err := ir.Rebuild(g, func(b *ir.Builder, n *ir.Node, in []*ir.Node) (*ir.Node, error) {
		if n.Op == ir.Get && outs[n.In[0]] != nil {
			return outs[n.In[0]][n.Attr.Out], nil
		}
		if n.Op.Class() != ir.ClassAnchor || keep(n) {
			return ir.Copy(b, n, in)
		}
		defs, err := ir.Define(b, n, in)
		if err != nil {
			return nil, err
		}
		replaced = true
		outs[n] = defs
		return defs[0], nil
	})
	if err != nil || !replaced {
		return g, err
	}
	return low, nil
}
