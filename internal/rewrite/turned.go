package rewrite

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// turnProducts computes products of few rows by a matrix that lies turned and changes in
// every run, x @ w^T, as (w @ x^T)^T: each element is the same sum. A device that packs the
// right operand of a product in each run turns the data then, which are fewer. Work element
// by element goes on turned, and the products that follow take turned operands.
func turnProducts(s *setting, g *ir.Graph) (*ir.Graph, error) {
	turned := turnedNodes(g)
	if len(turned) == 0 {
		return g, nil
	}
	var r *rewriter
	return ir.Rebuild(g, func(b *ir.Builder, n *ir.Node, in []*ir.Node) (*ir.Node, error) {
		if r == nil {
			r = newRewriter(s, b)
		}
		of := n // what is turned
		if n.Op == ir.ReduceSum {
			of = n.In[0]
		}
		if !turned[of] {
			return r.rebuild(n, in)
		}
		same, err := ir.Copy(b, n, in)
		if err != nil || !r.asked("turn-products", same) {
			return same, err
		}
		s.applied["turn-products"]++
		r.node = same
		return r.turn(r.turned(n, in)), r.err
	})
}

// turned makes what is n's transpose over these operands.
func (r *rewriter) turned(n *ir.Node, in []*ir.Node) *ir.Node {
	in = slices.Clone(in)
	for i, x := range in {
		in[i] = r.turn(x)
	}
	attr := n.Attr
	switch n.Op {
	case ir.MatMul:
		slices.Reverse(in)
	case ir.ReduceSum:
		attr = ir.Attr{Axes: []int{1 - n.Attr.Axes[0]}}
	}
	return r.make(n.Op, attr, in...)
}

// turn makes the transpose of a matrix.
func (r *rewriter) turn(x *ir.Node) *ir.Node {
	if x.Op == ir.Permute && x.Attr.Axes[0] == 1 {
		return x.In[0]
	}
	return r.make(ir.Permute, ir.Attr{Axes: []int{1, 0}}, x)
}

// turnedNodes finds the products that are computed turned, and what is made of them
// element by element, with other products that it needs.
func turnedNodes(g *ir.Graph) map[*ir.Node]bool {
	if !slices.ContainsFunc(g.Nodes, func(n *ir.Node) bool { return n.Op == ir.Assign }) {
		return nil // nothing changes from run to run but what is handed in
	}
	all, fixed := map[*ir.Node]bool{}, unchanging(g)
	var users [][]*ir.Node
	for _, n := range g.Nodes {
		if n.Op != ir.MatMul || all[n] || !turnsLess(n, fixed) {
			continue
		}
		if users == nil {
			users = g.Users()
		}
		for _, x := range madeOf(n, g, users, fixed) {
			all[x] = true
		}
	}
	return all
}

// turnsLess tells whether a product reads all of a variable that changes by columns, and
// has so few rows that to turn these and its result moves half as much at most.
func turnsLess(n *ir.Node, fixed []bool) bool {
	const (
		least = 1 << 16 // elements of the variable: fewer take no time
		lanes = 16      // of vectors that the rows, which become columns, are to fill
	)
	y := n.In[1]
	if n.DType != ir.F32 || len(n.Shape) != 2 || y.Op != ir.Permute || y.In[0].Op != ir.Variable || fixed[y.ID] {
		return false
	}
	rows, ok1 := n.Shape[0].Const()
	cols, ok2 := n.Shape[1].Const()
	terms, ok3 := y.Shape[0].Const()
	return ok1 && ok2 && ok3 && rows > 0 && rows%lanes == 0 && cols*terms >= least && 2*rows*(cols+terms) <= cols*terms
}

// madeOf is a product and what is made of it element by element, with the products that
// are combined with it: all that has to be turned with it. It is nil where something reads
// any of that which would have to turn it back, or one of these products multiplies by what
// stays the same, which is packed but once, and in bytes where these are asked for.
func madeOf(product *ir.Node, g *ir.Graph, users [][]*ir.Node, fixed []bool) []*ir.Node {
	all := []*ir.Node{product}
	is := map[*ir.Node]bool{product: true}
	for _, n := range g.Nodes[product.ID+1:] {
		if !n.Op.Pointwise() || !slices.ContainsFunc(n.In, func(x *ir.Node) bool { return is[x] }) {
			continue
		}
		for _, x := range n.In {
			switch {
			case is[x], isSplat(x), x.Op == ir.Expand:
			case x.Op == ir.MatMul && len(users[x.ID]) == 1 && !fixed[x.In[1].ID]:
				all, is[x] = append(all, x), true
			default:
				return nil
			}
		}
		all, is[n] = append(all, n), true
	}
	for _, n := range all {
		if slices.Contains(g.Outputs, n) {
			return nil
		}
		for _, u := range users[n.ID] {
			reads := u.Op == ir.MatMul || u.Op == ir.Permute || u.Op == ir.ReduceSum && len(u.Attr.Axes) == 1
			if !is[u] && !reads {
				return nil
			}
		}
	}
	return all
}
