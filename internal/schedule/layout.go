package schedule

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// A value that products read in another order of its axes lies in that order in
// memory: heads side by side, which attention makes apart. Its kernel writes each
// element once, wherever that is; products would have to bring it into order
// before they multiply, each anew. The last axis stays the last, so that every
// other reader finds as many elements side by side as before.

// chooseLayouts decides in which order the axes of values lie in memory.
func (s *partition) chooseLayouts() {
	s.layout = map[bufferKey][]int{}
	if !s.opt.on("layout") {
		return
	}
	for _, n := range s.g.Nodes {
		if !s.root[n.ID] || !n.DType.IsFloat() || s.origin[n.ID] != changing || !s.anyOrder(n) {
			continue
		}
		readers, plain := s.readers(n)
		if !plain {
			continue
		}
		products := 0
		for _, p := range readers {
			last := len(n.Shape) - 1
			if p.Op != ir.Permute || p.Attr.Axes[last] != last || s.root[p.ID] {
				continue
			}
			if count := s.productsOf(p); count > products {
				products, s.layout[bufferKey{node: n}] = count, p.Attr.Axes
			}
		}
	}
	s.layJoins()
}

// anyOrder tells whether n's kernel can store it in any order.
func (s *partition) anyOrder(n *ir.Node) bool {
	g := s.group[n.ID]
	switch {
	case g == nil || g.rows:
		return false
	case g.anchor != nil:
		return n.Op == ir.Attention || s.joined(n)
	}
	return n.Op.Pointwise()
}

// readers are the nodes that read the first output of n, as it is or widened
// where they read it; plain tells that they take it in any order, as kernels that
// go by positions in memory and outputs do not.
func (s *partition) readers(n *ir.Node) (all []*ir.Node, plain bool) {
	if s.out[n.ID] {
		return nil, false
	}
	for _, u := range s.users[n.ID] {
		switch {
		case u.Op == ir.Cast && !s.root[u.ID]:
			all = append(all, s.users[u.ID]...)
		case u.Op != ir.Get:
			all = append(all, u)
		case u.Attr.Out == 0 && s.out[u.ID]:
			return nil, false
		case u.Attr.Out == 0:
			all = append(all, s.users[u.ID]...)
		}
	}
	return all, !slices.ContainsFunc(all, func(u *ir.Node) bool {
		switch u.Op {
		case ir.MatMul, ir.Attention, ir.AttentionGrad, ir.Conv:
			return false
		case ir.Gather, ir.Scatter, ir.ArgMax, ir.ArgMin:
			return true
		}
		return u.Op.Class() == ir.ClassAnchor
	})
}

// productsOf counts the products that read p, a view, as it is or as a matrix.
func (s *partition) productsOf(p *ir.Node) int {
	count := 0
	for _, u := range s.users[p.ID] {
		switch {
		case u.Op == ir.MatMul:
			count++
		case (u.Op == ir.Reshape || u.Op == ir.Permute) && !s.root[u.ID]:
			count += s.productsOf(u)
		}
	}
	return count
}

// place is where n's element at idx lies in its buffer.
func (s *partition) place(n *ir.Node, idx []*loop.Expr) *loop.Expr {
	axes := s.layout[s.key(n)]
	if axes == nil {
		return linear(idx, n.Shape)
	}
	at, shape := make([]*loop.Expr, len(axes)), make(ir.Shape, len(axes))
	for i, ax := range axes {
		at[i], shape[i] = idx[ax], n.Shape[ax]
	}
	return linear(at, shape)
}
