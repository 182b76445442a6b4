package rewrite

import "github.com/sinterml/sinter/internal/ir"

// fuseMultiplyAdd makes one fma of a product that nothing but a sum or a
// difference reads. It is the only place that decides on it: emitters never
// contract. f16 and bf16 stay as they are, for their product is rounded to
// sixteen bits before the sum.
func fuseMultiplyAdd(s *setting, g *ir.Graph) (*ir.Graph, error) {
	uses := useCounts(g)
	var r *rewriter
	return ir.Rebuild(g, func(b *ir.Builder, n *ir.Node, in []*ir.Node) (*ir.Node, error) {
		if r == nil {
			r = newRewriter(s, b)
		}
		if n.Op != ir.Add && n.Op != ir.Sub || n.DType != ir.F32 && n.DType != ir.F64 {
			return ir.Copy(b, n, in)
		}
		for i, x := range n.In {
			if x.Op != ir.Mul || in[i].Op != ir.Mul || uses[x.ID] > 1 {
				continue
			}
			sum, err := b.Add(n.Op, n.Attr, in...)
			if err != nil {
				return nil, err
			}
			if !r.asked("fma", sum) {
				return sum, nil
			}
			s.applied["fma"]++
			return r.fma(sum, in[i], in[1-i], i == 1)
		}
		return ir.Copy(b, n, in)
	})
}

// fma makes sum, which is product + other, product - other or, with last,
// other - product, in one operation.
func (r *rewriter) fma(sum, product, other *ir.Node, last bool) (*ir.Node, error) {
	r.node = sum
	a, b := product.In[0], product.In[1]
	if sum.Op == ir.Sub {
		switch {
		case !last:
			other = r.op(ir.Neg, other)
		case isSplat(b):
			b = r.op(ir.Neg, b)
		default:
			a = r.op(ir.Neg, a)
		}
	}
	return r.raw(ir.FMA, ir.Attr{}, a, b, other), r.err
}

// useCounts counts for each node how often it is read, outputs included.
func useCounts(g *ir.Graph) []int {
	uses := make([]int, len(g.Nodes))
	for _, n := range g.Nodes {
		for _, in := range n.In {
			uses[in.ID]++
		}
	}
	for _, o := range g.Outputs {
		uses[o.ID]++
	}
	return uses
}
