package schedule

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// What a node reads through inlined nodes, and by way of other kernels.

// forget drops what is known about the nodes from an ID on: one of them has
// become a root.
func (s *partition) forget(from int) {
	if s.cones == nil {
		s.cones, s.reach = make([][]*ir.Node, len(s.g.Nodes)), make([][]*ir.Node, len(s.g.Nodes))
	}
	clear(s.cones[from:])
	clear(s.reach[from:])
}

// reads tells whether the inlined nodes below n reach a member of g.
func (s *partition) reads(n *ir.Node, g *group) bool {
	return slices.ContainsFunc(s.cone(n), func(r *ir.Node) bool { return s.group[r.ID] == g })
}

// cone is the roots that n reads through inlined nodes; n itself counts as
// inlined.
func (s *partition) cone(n *ir.Node) []*ir.Node {
	if c := s.cones[n.ID]; c != nil {
		return c
	}
	roots := []*ir.Node{}
	s.seen.empty()
	var walk func(m *ir.Node)
	walk = func(m *ir.Node) {
		for _, in := range m.In {
			if !s.seen.add(in) {
				continue
			}
			if s.root[in.ID] {
				roots = append(roots, in)
			} else {
				walk(in)
			}
		}
	}
	walk(n)
	s.cones[n.ID] = roots
	return roots
}

// touches tells whether sharing a kernel with g saves n something: it reads a
// member, or a buffer that g reads as well.
func (s *partition) touches(n *ir.Node, g *group) bool {
	if s.reads(n, g) {
		return true
	}
	mine := s.buffers(n)
	return slices.ContainsFunc(g.members, func(m *ir.Node) bool {
		return slices.ContainsFunc(s.buffers(m), func(b *ir.Node) bool { return slices.Contains(mine, b) })
	})
}

// near is the groups that n touches, and some with an anchor, the last first; where
// reasons are asked for, all.
func (s *partition) near(n *ir.Node) []*group {
	var all []*group
	if s.refused != nil {
		all = slices.Clone(s.groups)
		slices.Reverse(all)
		return all
	}
	for _, r := range s.cone(n) {
		if g := s.group[r.ID]; g != nil {
			all = append(all, g)
		}
	}
	for _, b := range s.buffers(n) {
		all = append(all, s.readBy[b]...)
	}
	all = slices.DeleteFunc(all, func(g *group) bool { return len(g.members) == 0 }) // merged with another
	slices.SortFunc(all, func(a, b *group) int { return b.number - a.number })
	return slices.Compact(all)
}

// noteBuffers adds g, which n has joined, to those that read what n reads.
func (s *partition) noteBuffers(n *ir.Node, g *group) {
	for _, b := range s.buffers(n) {
		s.readBy[b] = append(s.readBy[b], g)
	}
}

// buffers is the buffers of full size that n reads through inlined
// nodes; small operands such as a bias are worth no common kernel.
func (s *partition) buffers(n *ir.Node) []*ir.Node {
	if all := s.reach[n.ID]; all != nil {
		return all
	}
	all := []*ir.Node{}
	s.seen.empty()
	var walk func(m *ir.Node)
	walk = func(m *ir.Node) {
		for _, in := range m.In {
			if !s.seen.add(in) {
				continue
			}
			if s.isBuffer(in) {
				if in.Shape.Equal(m.Shape) || m.Op.Class() == ir.ClassReduce || m.Op == ir.Reshape {
					all = append(all, in)
				}
			} else if in.Op != ir.Expand {
				walk(in)
			}
		}
	}
	walk(n)
	s.reach[n.ID] = all
	return all
}

// cyclic tells whether n and g depend on one another through a third kernel,
// so that they cannot be one.
func (s *partition) cyclic(n *ir.Node, g *group) bool {
	skip := []*group{g}
	return s.through([]*ir.Node{n}, skip, g.members[0], func(r *ir.Node) bool { return s.group[r.ID] == g }) ||
		s.through(g.members, skip, n, func(r *ir.Node) bool { return r == n })
}

// through tells whether some root that is found, the first of which is given, is
// needed to compute start by way of a kernel besides those to skip. A kernel of low IDs may
// lead to high ones: one that it reads may have been joined by a node that comes
// late, and a product's ends in one that may read what is in no kernel yet.
func (s *partition) through(start []*ir.Node, skip []*group, first *ir.Node, found func(root *ir.Node) bool) bool {
	s.searches++
	for _, g := range skip {
		g.searched = s.searches
	}
	s.alone.empty() // seen roots whose kernel is not known yet
	var follow func(m *ir.Node, direct bool) bool
	follow = func(m *ir.Node, direct bool) bool {
		for _, r := range s.cone(m) {
			if !direct && found(r) {
				return true
			}
			if s.leadsTo(r.ID) < first.ID {
				continue
			}
			h := s.group[r.ID]
			switch {
			case h == nil && s.alone.add(r):
				if follow(r, false) {
					return true
				}
			case h != nil && h.searched != s.searches:
				h.searched = s.searches
				if slices.ContainsFunc(h.members, func(x *ir.Node) bool { return follow(x, false) }) {
					return true
				}
			}
		}
		return false
	}
	return slices.ContainsFunc(start, func(m *ir.Node) bool { return follow(m, true) })
}

// leadsTo is an ID above which the root with another needs none, so that a search
// does not go back to the leaves of a long graph.
func (s *partition) leadsTo(id int) int {
	for s.highest[id] > id {
		id = s.highest[id]
	}
	return id
}

// spans notes how far the members of g lie apart.
func (s *partition) spans(g *group) {
	first, last := g.members[0].ID, 0
	for _, m := range g.members {
		last = max(last, m.ID)
	}
	for i := first; s.highest[i] < last; i++ {
		s.highest[i] = last
	}
}
