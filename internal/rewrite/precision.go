package rewrite

import (
	"fmt"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// minProductSide is the least K and N of a product that is worth another number
// format: below it, rounding costs more than the product.
const minProductSide = 16

// checkPrecision refuses formats that no pass computes in.
func checkPrecision(d ir.DType) error {
	if d == 0 || d == ir.F32 {
		return nil
	}
	for _, p := range passes {
		if p.precision == d {
			return nil
		}
	}
	return fmt.Errorf("rewrite: no pass makes products compute in %v", d)
}

// chooseProducts tells which nodes are f32 products of data with weights that
// suit a pass.
func chooseProducts(g *ir.Graph, suits func(n *ir.Node) bool) []bool {
	fixed := unchanging(g)
	chosen := make([]bool, len(g.Nodes))
	for i, n := range g.Nodes {
		if n.Op == ir.MatMul && n.DType == ir.F32 && fixed[n.In[1].ID] && !fixed[n.In[0].ID] {
			chosen[i] = isLarge(n) && suits(n)
		}
	}
	return chosen
}

// replaceChosen puts f's result in the place of the chosen nodes, by ID, that
// are still of their operation when they are built anew.
func replaceChosen(s *setting, g *ir.Graph, pass string, chosen []bool, f func(r *rewriter, n *ir.Node) *ir.Node) (*ir.Graph, error) {
	if !slices.Contains(chosen, true) {
		return g, nil
	}
	var r *rewriter
	return ir.Rebuild(g, func(b *ir.Builder, n *ir.Node, in []*ir.Node) (*ir.Node, error) {
		if r == nil {
			r = newRewriter(s, b)
		}
		m, err := r.rebuild(n, in)
		if err != nil || !chosen[n.ID] || m.Op != n.Op || !r.asked(pass, m) {
			return m, err
		}
		s.applied[pass]++
		r.node = m
		m = f(r, m)
		return m, r.err
	})
}

// unchanging tells which nodes are weights, or made of weights alone: their
// values are the same in every run, or until somebody assigns a variable
// between two runs.
func unchanging(g *ir.Graph) []bool {
	assigned := map[int]bool{}
	for _, n := range g.Nodes {
		if n.Op == ir.Assign {
			assigned[n.Attr.Leaf] = true
		}
	}
	fixed, steady := make([]bool, len(g.Nodes)), g.Steady()
	for i, n := range g.Nodes {
		switch n.Op {
		case ir.Const, ir.Iota:
			fixed[i] = true
		case ir.Weight, ir.Bound:
			fixed[i] = steady[n.Attr.Leaf]
		case ir.Variable:
			fixed[i] = !assigned[n.Attr.Leaf]
		case ir.Input, ir.Rand, ir.Assign:
		default:
			fixed[i] = true
			for _, in := range n.In {
				fixed[i] = fixed[i] && fixed[in.ID]
			}
		}
	}
	return fixed
}

// isLarge tells whether K and N are known to be minProductSide, mayBeLarge
// whether they are not known to be less.
func isLarge(n *ir.Node) bool { return areLarge(lastDim(n.In[0]), lastDim(n)) }

func areLarge(k, n ir.Dim) bool {
	rows, static := k.Const()
	cols, static2 := n.Const()
	return static && static2 && rows >= minProductSide && cols >= minProductSide
}

func mayBeLarge(n *ir.Node) bool {
	_, k := lastDim(n.In[0]).Bounds()
	_, cols := lastDim(n).Bounds()
	return k >= minProductSide && cols >= minProductSide
}

func lastDim(n *ir.Node) ir.Dim { return n.Shape[len(n.Shape)-1] }

// narrowed is a shape with one element along axes.
func narrowed(s ir.Shape, axes ...int) ir.Shape {
	t := slices.Clone(s)
	for _, a := range axes {
		t[a] = ir.N(1)
	}
	return t
}

// cast makes a node of another type.
func (r *rewriter) cast(d ir.DType, x *ir.Node) *ir.Node {
	return r.make(ir.Cast, ir.Attr{DType: d}, x)
}
