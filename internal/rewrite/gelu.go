package rewrite

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
)

// shortenGELUs computes a GELU that only products in 8 bits read by fewer
// operations: its rounding to steps of a 255th of the row's range would hide
// more digits.
func shortenGELUs(s *setting, g *ir.Graph, products []bool) (*ir.Graph, error) {
	users := g.Users()
	for _, o := range g.Outputs {
		users[o.ID] = append(users[o.ID], nil)
	}
	chosen := make([]bool, len(g.Nodes))
	for i, n := range g.Nodes {
		chosen[i] = geluOf(n) != nil && quantised(n, users, products)
	}
	return replaceChosen(s, g, "int8", chosen, func(r *rewriter, n *ir.Node) *ir.Node {
		x := geluOf(n)
		if x == nil {
			return n
		}
		return r.shortGELU(x)
	})
}

// quantised tells whether nobody reads n but the left side of these products, and
// what lays out windows for those of convolutions.
func quantised(n *ir.Node, users [][]*ir.Node, products []bool) bool {
	for _, u := range users[n.ID] {
		switch {
		case u == nil:
			return false
		case products[u.ID]:
			if u.In[1] == n {
				return false
			}
		case !layOut[u.Op] || !quantised(u, users, products):
			return false
		}
	}
	return len(users[n.ID]) > 0
}

// layOut are the operations between data and a product.
var layOut = map[ir.Op]bool{ir.Permute: true, ir.Reshape: true, ir.Pad: true, ir.Window: true, ir.Contiguous: true}

// geluOf gives x where n is x * 1/2 * (1 + erf(x/sqrt(2))) in f32, however its
// factors are ordered; nil where it is not.
func geluOf(n *ir.Node) *ir.Node {
	if n.Op != ir.Mul || n.DType != ir.F32 {
		return nil
	}
	for i, inner := range n.In {
		if inner.Op != ir.Mul {
			continue
		}
		f := [3]*ir.Node{inner.In[0], inner.In[1], n.In[1-i]}
		for j := range f {
			half, x, y := f[j], f[(j+1)%3], f[(j+2)%3]
			if !is(half, 0.5) {
				continue
			}
			if erfArgument(y) == x {
				return x
			}
			if erfArgument(x) == y {
				return y
			}
		}
	}
	return nil
}

// erfArgument gives x where n is 1 + erf(x/sqrt(2)).
func erfArgument(n *ir.Node) *ir.Node {
	if n.Op != ir.Add {
		return nil
	}
	for i, e := range n.In {
		if e.Op != ir.Erf || !is(n.In[1-i], 1) {
			continue
		}
		switch a := e.In[0]; {
		case a.Op == ir.Mul && is(a.In[1], math.Sqrt2/2), a.Op == ir.Div && is(a.In[1], math.Sqrt2):
			return a.In[0]
		case a.Op == ir.Mul && is(a.In[0], math.Sqrt2/2):
			return a.In[1]
		}
	}
	return nil
}

// shortGELU is GELU within 0.00014, of |x| < 1 relative to x. With h = x/2 it is
// h + |h|, which is x or 0, and what is missing between -4 and 4: u*p(u) with
// u = min(|h|, 2), where p is exactly -1 at 0 and 0 at 2. What is not finite
// gives what GELU does. The coefficients are from testdata/gelu.py.
func (r *rewriter) shortGELU(x *ir.Node) *ir.Node {
	c := func(v float64) *ir.Node { return r.number(x.Type, v) }
	h := r.op(ir.Mul, x, c(0.5))
	a := r.op(ir.Abs, h)
	u := r.op(ir.Min, a, c(2))
	p := c(-0x1.624b1ep-6)
	for _, k := range []float64{0x1.816fd0p-3, -0x1.2f2036p-1, 0x1.49b7cap-1, 0x1.e2a54ap-2, -0x1.6ca9d2p+0, 0x1.a47366p-4, 0x1.962b1cp+0, -1} {
		p = r.op(ir.FMA, p, u, c(k)) // rounded once, as in quantiseRows
	}
	return r.op(ir.FMA, u, p, r.op(ir.Add, h, a))
}
