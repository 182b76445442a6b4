package schedule

import "github.com/sinterml/sinter/internal/ir"

// Weights of recomputing a value instead of keeping it, in units of a simple
// instruction. A value above recomputeLimit that several kernels need gets
// memory of its own.
const (
	loadCost       = 2
	divideCost     = 3
	functionCost   = 10
	recomputeLimit = 6
)

func opCost(op ir.Op) int {
	switch op {
	case ir.Exp, ir.Exp2, ir.Expm1, ir.Log, ir.Log2, ir.Log1p, ir.Sin, ir.Cos, ir.Atan, ir.Tanh, ir.Erf, ir.Pow, ir.Rand:
		return functionCost
	case ir.Div, ir.Recip, ir.Sqrt, ir.IDiv, ir.Mod:
		return divideCost
	}
	return 1
}

// cost is what computing one element of n takes, inlined operands included.
func (s *partition) cost(n *ir.Node) int {
	seen := map[*ir.Node]bool{}
	var walk func(n *ir.Node) int
	walk = func(n *ir.Node) int {
		if seen[n] {
			return 0
		}
		seen[n] = true
		switch {
		case s.isBuffer(n):
			return loadCost
		case n.Op == ir.Const || n.Op == ir.Iota:
			return 0
		}
		c := 0
		if n.Op.Pointwise() || n.Op == ir.Rand {
			c = opCost(n.Op)
		}
		for _, in := range n.In {
			c += walk(in)
		}
		return c
	}
	return walk(n)
}

// shareExpensive makes roots of inlined nodes that would be computed in more
// than one kernel, or again and again along an expanded axis, at a high price.
// It reports whether it made any.
func (s *partition) shareExpensive() bool {
	in := make([]map[*group]bool, len(s.g.Nodes)) // the kernels that compute a node
	changed := false
	for i := len(s.g.Nodes) - 1; i >= 0; i-- {
		n := s.g.Nodes[i]
		if s.isBuffer(n) || n.Op.Class() == ir.ClassLeaf {
			continue
		}
		set := map[*group]bool{}
		again := false
		for _, u := range s.users[i] {
			if s.root[u.ID] {
				set[s.group[u.ID]] = true
			} else {
				for g := range in[u.ID] {
					set[g] = true
				}
			}
			again = again || u.Op == ir.Expand && s.repeats(n, u, set)
		}
		in[i] = set
		if !n.Op.Pointwise() || len(set) < 2 && !again || constant(n) {
			continue
		}
		c := s.cost(n)
		if len(set) > 1 && c > recomputeLimit || again && c > functionCost {
			s.root[i] = true
			in[i] = nil
			changed = true
		}
	}
	return changed
}

// repeats tells whether expanding n to u computes n several times over: not
// so where a kernel has n once a row.
func (s *partition) repeats(n, u *ir.Node, in map[*group]bool) bool {
	if n.Shape.Numel().IsConst(1) {
		return false
	}
	for g := range in {
		if g != nil && g.rows && n.Shape.Equal(g.rowShape()) {
			return false
		}
	}
	return true
}
