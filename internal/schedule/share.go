package schedule

import (
	"maps"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// Weights of recomputing a value instead of keeping it, in units of a simple
// instruction. A value above recomputeLimit that several kernels need gets
// memory of its own.
const (
	loadCost       = 2
	repeatCost     = 1 // of what stays in a register, or a near cache, for many elements
	divideCost     = 3
	functionCost   = 10
	randomCost     = 100 // ten rounds of sixteen vector operations; see BenchmarkOperators/layers
	recomputeLimit = 6
	// A value of farBytes goes through memory, which takes as long as farLimit:
	// a tanh and what leads to it. It is kept for a long time, too, where its
	// gradient needs it.
	farBytes = 1 << 20
	farLimit = 24
	// activationLimit instead for what a second kernel has at hand but for the
	// arithmetic, as a gradient has an activation: one function computed again
	// takes less than storing it and reading it where that is beyond the caches,
	// and a training step keeps all of them at once.
	activationLimit = 2 * functionCost
	// tinyPart of the memory that may be kept beside weights is nothing: what
	// takes less is kept at any cost above a load.
	tinyPart = 32
)

func opCost(op ir.Op) int {
	switch op {
	case ir.Exp, ir.Exp2, ir.Expm1, ir.Log, ir.Log2, ir.Log1p, ir.Sin, ir.Cos, ir.Atan, ir.Tanh, ir.Erf, ir.Pow:
		return functionCost
	case ir.Rand:
		return randomCost
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
		case n.Op == ir.Expand && repeatsOften(n):
			return min(walk(n.In[0]), repeatCost)
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

// repeatsOften tells whether n repeats each element so often that it counts for
// little to compute it once.
func repeatsOften(n *ir.Node) bool {
	_, most := n.In[0].Shape.Numel().Bounds()
	_, elements := n.Shape.Numel().Bounds()
	return elements/max(1, most) >= evenLanes
}

// shareExpensive makes roots of inlined nodes that would be computed in more
// than one kernel, or again and again along an expanded axis, at a high price;
// of those that depend on weights alone also where it is one kernel, in each
// run, and those that join weights, as merged products do their biases: where
// they are read each element would choose among them. It reports whether it
// made any.
func (s *partition) shareExpensive() bool {
	in := make([]map[*group]bool, len(s.g.Nodes))   // the kernels that compute a node
	each := make([]map[*group]bool, len(s.g.Nodes)) // those of them that do so in each run
	changed := false
	for i := len(s.g.Nodes) - 1; i >= 0; i-- {
		n := s.g.Nodes[i]
		if s.isBuffer(n) || n.Op.Class() == ir.ClassLeaf {
			continue
		}
		set, runs := map[*group]bool{}, map[*group]bool{}
		again := false
		for _, u := range s.users[i] {
			from, eachFrom := in[u.ID], each[u.ID]
			if s.root[u.ID] {
				if s.group[u.ID] == nil {
					continue // made just now: it may join the kernel that computes n anyway
				}
				from = map[*group]bool{s.group[u.ID]: true}
				eachFrom = from
			}
			maps.Copy(set, from)
			if !s.spares(n, u) {
				maps.Copy(runs, eachFrom)
			}
			again = again || u.Op == ir.Expand && s.repeats(n, u, set)
		}
		in[i], each[i] = set, runs
		if !n.Op.Pointwise() && n.Op != ir.Concat {
			continue
		}
		if why := s.worthRoot(n, len(set), len(runs), again); why != 0 {
			s.keep(n, why, 0)
			in[i], each[i] = nil, nil
			changed = true
		}
	}
	return changed
}

// worthRoot tells why the value of n is better kept in memory than computed by
// so many kernels, some of which run each time; 0: it is not.
func (s *partition) worthRoot(n *ir.Node, kernels, runs int, again bool) Kept {
	switch {
	case s.origin[n.ID] == ofWeights:
		c := s.cost(n)
		tiny := c > loadCost && s.small(s.bytes(n).Mul(ir.N(tinyPart)), n)
		dear := n.Op == ir.Concat || c > recomputeLimit || tiny
		if runs > 0 && dear && s.small(s.bytes(n), n) {
			return KeptOnce
		}
		return 0
	case n.Op == ir.Concat || kernels < 2 && !again || s.constant(n):
		return 0
	}
	c := s.cost(n)
	if again && c > functionCost {
		return KeptRepeated
	}
	limit := recomputeLimit
	switch {
	case s.repeated(n):
		if s.ofReduction(n) {
			limit = loadCost
		}
	case s.far(n):
		limit = farLimit
	case kernels == 2 && s.oneSource(n):
		limit = activationLimit
	}
	if kernels > 1 && c > limit {
		return KeptShared
	}
	return 0
}

// far tells whether n is known to be beyond the near caches.
func (s *partition) far(n *ir.Node) bool {
	bytes, static := s.bytes(n).Const()
	return static && bytes >= farBytes
}

// repeated tells whether n is read again and again along an axis.
func (s *partition) repeated(n *ir.Node) bool {
	return slices.ContainsFunc(s.users[n.ID], func(u *ir.Node) bool { return u.Op == ir.Expand && repeatsOften(u) })
}

// ofReduction tells whether n is a value of the row of a reduction, whose kernel
// has it once and can keep it.
func (s *partition) ofReduction(n *ir.Node) bool {
	return slices.ContainsFunc(s.cone(n), func(r *ir.Node) bool { return r.Op.Class() == ir.ClassReduce && r.Shape.Equal(n.Shape) })
}

// oneSource tells whether n is made of the elements of one tensor, and of
// constants: reading that instead of n costs a kernel nothing.
func (s *partition) oneSource(n *ir.Node) bool {
	var source *ir.Node
	seen := map[*ir.Node]bool{}
	var one func(m *ir.Node) bool
	one = func(m *ir.Node) bool {
		switch {
		case seen[m]:
			return true
		case m.Shape.Numel().IsConst(1):
			return s.constant(m)
		case s.isBuffer(m):
			if source == nil {
				source = m
			}
			return m == source && m.Shape.Equal(n.Shape)
		case m.Op == ir.Expand:
			return one(m.In[0])
		case !m.Op.Pointwise():
			return false
		}
		seen[m] = true
		for _, in := range m.In {
			if !one(in) {
				return false
			}
		}
		return true
	}
	return one(n)
}

// spares tells whether the kernel of u, which reads n, does not compute all of
// n in each run: it is constant, packs n once, or looks up some elements.
func (s *partition) spares(n, u *ir.Node) bool {
	switch u.Op {
	case ir.MatMul:
		if !s.opt.Unpacked && n == u.In[1] && n != u.In[0] && s.constant(n) {
			return true
		}
	case ir.Gather:
		if n == u.In[0] && n != u.In[1] {
			return true
		}
	}
	return s.root[u.ID] && s.origin[u.ID] == ofWeights
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
