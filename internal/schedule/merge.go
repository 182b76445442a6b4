package schedule

import (
	"cmp"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// mostMerged is how many results merged kernels have: each is a buffer that is written,
// of which emitters take no more than some 64.
const mostMerged = 32

// mergeInto makes the groups one that n, which has joined g, reads too: the gates of
// a recurrent net are found apart, and become one kernel with the cell that needs
// them all.
func (s *partition) mergeInto(g *group, n *ir.Node, near []*group) {
	for _, h := range near {
		if h == g || len(h.members) == 0 || !s.reads(n, h) {
			continue
		}
		if why := s.apartGroups(h, g); why != 0 {
			s.refuse(n, h.members[0], why)
			continue
		}
		g = s.merge(h, g)
	}
}

// apartGroups tells why two groups without reductions cannot be one; 0: they can.
func (s *partition) apartGroups(h, g *group) Apart {
	switch {
	case h.anchor != nil:
		return ApartTemplate
	case h.rows || !h.full.Equal(g.full):
		return ApartLoops
	case !elementwise(h.members[0]):
		return ApartIndexed
	case !agree(h.origin, g.origin):
		return ApartWeights
	case slices.ContainsFunc(h.members, func(m *ir.Node) bool { return m.Attr.Region != g.members[0].Attr.Region }):
		return ApartRegion
	case !s.fits(g, h.ops) || len(g.members)+len(h.members) > mostMerged:
		return ApartLarge
	case !s.samePlaces(h, g) || !s.samePlaces(g, h):
		return ApartOtherPlaces
	case s.needsThird(h, g):
		return ApartCycle
	}
	return 0
}

// samePlaces tells whether members of h read those of g only at their own index.
func (s *partition) samePlaces(h, g *group) bool {
	return !slices.ContainsFunc(h.members, func(m *ir.Node) bool { return !s.samePlace(m, g) })
}

// needsThird tells whether one of two groups needs the other by way of a third.
func (s *partition) needsThird(h, g *group) bool {
	by := func(from, to *group) bool {
		return s.through(from.members, []*group{h, g}, to.members[0], func(r *ir.Node) bool { return s.group[r.ID] == to })
	}
	return by(h, g) || by(g, h)
}

// merge leaves the first of two groups with the members of both.
func (s *partition) merge(h, g *group) *group {
	if h.members[0].ID > g.members[0].ID {
		h, g = g, h
	}
	for _, m := range g.members {
		s.group[m.ID] = h
		for _, b := range s.buffers(m) {
			s.readBy[b] = append(s.readBy[b], h)
		}
	}
	h.members = append(h.members, g.members...)
	slices.SortFunc(h.members, func(a, b *ir.Node) int { return cmp.Compare(a.ID, b.ID) })
	h.ops = append(h.ops, s.without(g.ops, h)...)
	h.origin = mix(h.origin, g.origin)
	g.members = nil // near leaves it out
	s.groups = slices.DeleteFunc(s.groups, func(x *group) bool { return x == g })
	s.spans(h)
	return h
}
