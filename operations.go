package sinter

import "github.com/sinterml/sinter/internal/ir"

// Operations counts the arithmetic of the graph as it was written, before
// anything is optimised: two for each term of a product or a convolution, one
// for each element that any other operation computes or reduces. Attention
// counts all keys, also those that a mask or causality hides; ragged sequences
// count as one. Sizes that are symbols stay so.
func (g *Graph) Operations() Dim {
	total := N(0)
	if g == nil || g.graph == nil {
		return total
	}
	for _, n := range g.graph.Nodes {
		total = total.Add(operations(n))
	}
	return total
}

func operations(n *ir.Node) Dim {
	switch n.Op {
	case ir.MatMul:
		return n.Shape.Numel().Mul(n.In[0].Shape[len(n.In[0].Shape)-1]).Mul(N(2))
	case ir.Conv:
		return n.Shape.Numel().Mul(n.In[1].Shape[1:].Numel()).Mul(N(2))
	case ir.Attention, ir.AttentionGrad:
		// Scores, and their product with the values; for the gradient five products.
		queries, k := n.In[0].Shape, n.In[1].Shape
		keys := k[len(k)-2]
		if n.Attr.Attention.Ragged {
			keys = k[0]
		}
		if n.Op == ir.AttentionGrad {
			return queries.Numel().Mul(keys).Mul(N(10))
		}
		return queries.Numel().Mul(keys).Mul(N(4))
	}
	switch n.Op.Class() {
	case ir.ClassUnary, ir.ClassBinary, ir.ClassTernary:
		return n.Shape.Numel()
	case ir.ClassReduce:
		return n.In[0].Shape.Numel()
	}
	switch n.Op {
	case ir.Scan, ir.SegmentReduce, ir.Scatter:
		return n.In[0].Shape.Numel()
	}
	return N(0)
}
