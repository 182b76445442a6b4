package schedule

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// group is the roots that one kernel computes.
type group struct {
	number   int        // in partition.groups
	searched int        // the last of partition.searches that came by
	members  []*ir.Node // operands first
	// A group around a reduction has rows: every member has shape full, or
	// full with axes reduced to 1.
	rows bool
	full ir.Shape // also of groups that are pointwise
	axes []int
	// A group that splits is made of reductions in parts, and of values of the
	// row that the second kernel computes from their results.
	split bool
	// A group around an anchor has it as first member. With an epilogue the
	// last member is what it ends in, those between are kept on the way, and the
	// anchor itself stays in registers, unless it is kept too.
	anchor *ir.Node
	ops    []*ir.Node        // that the kernel does, those inlined into members included
	spine  map[*ir.Node]bool // nodes from the anchor to the last member
	keeps  bool              // the anchor itself

	origin   origin // of the members
	constant bool   // runs once for a set of weights
}

// joinRows finds the group of a reduction, among those near n, that n can share the
// rows of.
func (s *partition) joinRows(n *ir.Node, near []*group) *group {
	for _, g := range near {
		if !g.rows {
			continue
		}
		why := s.apartFromRows(n, g)
		if why == 0 {
			return g
		}
		s.refuse(n, g.members[0], why)
	}
	return nil
}

// apartFromRows tells why n cannot share the rows of g; 0: it can.
func (s *partition) apartFromRows(n *ir.Node, g *group) Apart {
	switch {
	case !s.opt.on("fuse"):
		return ApartFuse
	case !s.opt.on("rows"):
		return ApartRows
	case n.Op == ir.ArgMax || n.Op == ir.ArgMin || !foldable(g.members[0].Op):
		return ApartArg
	case !agree(g.origin, s.origin[n.ID]):
		return ApartWeights
	case g.before(n):
		return ApartRegion
	case !s.rowMember(n, g):
		return ApartLoops
	case !s.rowAligned(n, g):
		return ApartOtherRows
	case g.split && !s.splitMember(n, g):
		return ApartSplit
	case !s.touches(n, g):
		return ApartNothing
	case s.cyclic(n, g):
		return ApartCycle
	}
	if !s.fits(g, s.operations(n)) {
		return ApartLarge
	}
	return 0
}

// before tells whether n is computed again, by a Checkpoint, long after members
// of g: in one kernel with them it would be kept instead.
func (g *group) before(n *ir.Node) bool {
	region := n.Attr.Region
	return region != 0 && slices.ContainsFunc(g.members, func(m *ir.Node) bool { return m.Attr.Region != region })
}

// operations is what computing n takes, as far as it is not in memory.
func (s *partition) operations(n *ir.Node) []*ir.Node {
	var all []*ir.Node
	s.seen.empty()
	var walk func(n *ir.Node)
	walk = func(n *ir.Node) {
		s.seen.add(n)
		all = append(all, n)
		for _, in := range n.In {
			if !s.seen.has(in) && !s.isBuffer(in) && in.Op.Class() != ir.ClassLeaf {
				walk(in)
			}
		}
	}
	walk(n)
	return all
}

// fits tells whether a kernel that does more operations too stays within what
// registers and time allow.
func (s *partition) fits(g *group, more []*ir.Node) bool {
	return len(g.ops)+len(s.without(more, g)) <= 2*maxInlined
}

// without is those operations that g does not do yet.
func (s *partition) without(more []*ir.Node, g *group) (others []*ir.Node) {
	s.seen.empty()
	for _, n := range g.ops {
		s.seen.add(n)
	}
	for _, n := range more {
		if !s.seen.has(n) {
			others = append(others, n)
		}
	}
	return others
}

// foldable tells whether op is a reduction that can share its rows.
func foldable(op ir.Op) bool {
	return op.Class() == ir.ClassReduce && op != ir.ArgMax && op != ir.ArgMin
}

// rowMember tells whether n's own loops are those of g.
func (s *partition) rowMember(n *ir.Node, g *group) bool {
	if n.Op.Class() == ir.ClassReduce {
		return n.In[0].Shape.Equal(g.full) && slices.Equal(n.Attr.Axes, g.axes)
	}
	if !elementwise(n) && n.Op != ir.Expand {
		return false
	}
	return n.Shape.Equal(g.full) || n.Shape.Equal(g.rowShape())
}

func (g *group) rowShape() ir.Shape {
	s := slices.Clone(g.full)
	for _, a := range g.axes {
		s[a] = ir.N(1)
	}
	return s
}

// rowAligned tells whether n reads what g computes only at its own row: through
// pointwise nodes, and from row values through an expansion along the axes.
func (s *partition) rowAligned(n *ir.Node, g *group) bool {
	row := g.rowShape()
	seen := map[*ir.Node]bool{}
	var ok func(m *ir.Node, shape ir.Shape) bool
	operands := func(m *ir.Node, shape ir.Shape) bool {
		for _, in := range m.In {
			if !ok(in, shape) {
				return false
			}
		}
		return true
	}
	ok = func(m *ir.Node, shape ir.Shape) bool {
		if s.root[m.ID] {
			return s.group[m.ID] != g || m.Shape.Equal(shape)
		}
		if seen[m] {
			return true
		}
		seen[m] = true
		switch {
		case elementwise(m):
			return operands(m, shape)
		case m.Op == ir.Expand && m.In[0].Shape.Equal(row) && shape.Equal(g.full):
			return ok(m.In[0], row)
		}
		return !s.reads(m, g)
	}
	if n.Op.Class() == ir.ClassReduce {
		return ok(n.In[0], g.full)
	}
	if n.Op == ir.Expand {
		return n.In[0].Shape.Equal(row) && ok(n.In[0], row)
	}
	return operands(n, n.Shape)
}

// elementwise tells whether n at an index needs its operands at that index
// alone. The new value of a variable is such a node: an optimizer's update of a
// parameter and of what it remembers of it is one kernel.
func elementwise(n *ir.Node) bool { return n.Op.Pointwise() || n.Op == ir.Assign }

// joinPointwise finds a group of elementwise roots, among those near n, with n's
// loops.
func (s *partition) joinPointwise(n *ir.Node, near []*group) *group {
	var more []*ir.Node
	if elementwise(n) {
		more = s.operations(n)
	}
	for _, g := range near {
		if g.anchor != nil || g.rows {
			continue
		}
		why := s.apartFromPointwise(n, g, more)
		if why == 0 {
			return g
		}
		s.refuse(n, g.members[0], why)
	}
	return nil
}

// apartFromPointwise tells why n, which takes more operations, cannot share the
// loops of g, that have no reduction; 0: it can.
func (s *partition) apartFromPointwise(n *ir.Node, g *group, more []*ir.Node) Apart {
	switch {
	case !s.opt.on("fuse"):
		return ApartFuse
	case n.Op.Class() == ir.ClassReduce:
		return ApartLoops
	case !elementwise(n) || !elementwise(g.members[0]):
		return ApartIndexed
	case !agree(g.origin, s.origin[n.ID]):
		return ApartWeights
	case g.before(n):
		return ApartRegion
	case !g.full.Equal(n.Shape):
		return ApartLoops
	case !s.fits(g, more):
		return ApartLarge
	case !s.samePlace(n, g):
		return ApartOtherPlaces
	case !s.touches(n, g):
		return ApartNothing
	case s.cyclic(n, g):
		return ApartCycle
	}
	return 0
}

// samePlace tells whether n reads members of g only at its own index.
func (s *partition) samePlace(n *ir.Node, g *group) bool {
	for _, in := range n.In {
		switch {
		case s.root[in.ID]:
		case elementwise(in):
			if !s.samePlace(in, g) {
				return false
			}
		case s.reads(in, g):
			return false
		}
	}
	return true
}
