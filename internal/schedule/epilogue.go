package schedule

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

const (
	// maxSpine bounds the nodes an epilogue may hold: registers are few.
	maxSpine = 64
	// maxBeside bounds the values on the way that it stores beside the last.
	maxBeside = 2
)

// epilogue finds what a matmul's kernel can do with its result while it is in
// registers: the last node such that everything between the anchor and it is
// elementwise, or a reordering of elements, and no value on the way is needed
// elsewhere. If a node behind that has to be in memory in any case, the kernel
// ends there and keeps the former beside it: so an activation is computed where
// its gradient needs what it is computed from. It returns nil if there is none.
func (s *partition) epilogue(anchor *ir.Node) (tail *ir.Node, kept []*ir.Node, spine map[*ir.Node]bool) {
	candidates := s.behindProduct(anchor)
	s.candidates.empty()
	for _, c := range candidates {
		s.candidates.add(c)
	}
	tail = anchor
	var nodes []*ir.Node
	for i := len(candidates) - 1; i > 0; i-- {
		t := candidates[i]
		if !s.mayEnd(t, anchor) {
			if elementwise(t) {
				s.refuse(t, anchor, ApartWeights)
			}
			continue
		}
		all, why := s.closed(t, anchor)
		if why == 0 {
			tail, nodes = t, all
			break
		}
		s.refuse(t, anchor, why)
	}
	for i := len(candidates) - 1; i > 0; i-- {
		t := candidates[i]
		if t.ID <= tail.ID || t.Op == ir.Assign || !s.root[t.ID] || !s.mayEnd(t, anchor) {
			continue
		}
		if all, kept := s.beyond(t, tail, anchor); all != nil {
			return t, kept, setOf(all)
		}
	}
	if tail == anchor {
		return nil, nil, nil
	}
	return tail, nil, setOf(nodes)
}

func setOf(nodes []*ir.Node) map[*ir.Node]bool {
	set := make(map[*ir.Node]bool, len(nodes))
	for _, n := range nodes {
		set[n] = true
	}
	return set
}

// behindProduct are the anchor and the first nodes behind it that its kernel might
// compute.
func (s *partition) behindProduct(anchor *ir.Node) []*ir.Node {
	// order[n] names the reorderings between the anchor and n: operands of a
	// node on the spine must agree on it, or they are different elements.
	type order struct {
		from *order
		by   *ir.Node
	}
	at := map[*ir.Node]*order{anchor: {}}
	candidates := []*ir.Node{anchor}
	// Readers of candidates, those that come first at the end: what lies between
	// them may be the whole of a long program.
	var behind []*ir.Node
	note := func(n *ir.Node) {
		for _, u := range s.users[n.ID] {
			if i, found := slices.BinarySearchFunc(behind, u, func(a, b *ir.Node) int { return b.ID - a.ID }); !found {
				behind = slices.Insert(behind, i, u)
			}
		}
	}
	note(anchor)
	for len(behind) > 0 && len(candidates) < maxSpine {
		n := behind[len(behind)-1]
		behind = behind[:len(behind)-1]
		var o *order
		agree, on := true, false
		for _, in := range n.In {
			if p, ok := at[in]; ok {
				agree = agree && (!on || p == o)
				o, on = p, true
			}
		}
		switch {
		case !agree:
			s.refuse(n, anchor, ApartOrder)
		case elementwise(n):
			at[n], candidates = o, append(candidates, n)
			note(n)
		case n.Op == ir.Reshape || n.Op == ir.Permute:
			at[n], candidates = &order{o, n}, append(candidates, n)
			note(n)
		default:
			s.refuse(n, anchor, ApartBehind)
		}
	}
	if len(candidates) == maxSpine {
		s.refuseReaders(candidates[maxSpine-1], anchor, ApartLong)
	}
	return candidates
}

// mayEnd tells whether t can be the last node of the anchor's kernel: a view
// costs nothing where it is read, and the product of weights is computed once.
func (s *partition) mayEnd(t, anchor *ir.Node) bool {
	return elementwise(t) && agree(s.origin[anchor.ID], s.origin[t.ID])
}

// between returns the candidates from the anchor to t, and marks them as inside; nil
// where another product's kernel computes one.
func (s *partition) between(t, anchor *ir.Node) []*ir.Node {
	var all []*ir.Node
	s.inside.empty()
	var walk func(n *ir.Node)
	walk = func(n *ir.Node) {
		if !s.candidates.has(n) || !s.inside.add(n) {
			return
		}
		all = append(all, n)
		if n != anchor {
			for _, x := range n.In {
				walk(x)
			}
		}
	}
	walk(t)
	if !s.inside.has(anchor) || slices.ContainsFunc(all, func(n *ir.Node) bool { return s.taken[n.ID] }) {
		return nil
	}
	return all
}

// closed returns the nodes from the anchor to t if t alone is used outside of
// them, else why the product cannot end with t.
func (s *partition) closed(t, anchor *ir.Node) (all []*ir.Node, why Apart) {
	all = s.between(t, anchor)
	if all == nil {
		return nil, ApartTaken
	}
	for _, n := range all { // the largest of several
		switch {
		case n == t:
		case s.out[n.ID]:
			why = max(why, ApartOutput)
		case n != anchor && s.root[n.ID]:
			why = max(why, ApartStored)
		case slices.ContainsFunc(s.users[n.ID], func(u *ir.Node) bool { return !s.inside.has(u) }):
			why = max(why, ApartReaders)
		}
	}
	return all, why
}

// beyond returns the nodes from the anchor to t, by way of tail, and those of
// them besides t that are stored: tail, from which others compute what they
// need of the nodes behind it, and what is in memory in any case.
func (s *partition) beyond(t, tail, anchor *ir.Node) (all, kept []*ir.Node) {
	all = s.between(t, anchor)
	if all == nil || !s.inside.has(tail) || s.comesBack(anchor, t) {
		return nil, nil
	}
	for _, n := range all {
		if n == tail || n != anchor && n != t && s.root[n.ID] {
			kept = append(kept, n)
		}
	}
	if len(kept) > maxBeside || slices.ContainsFunc(kept, func(n *ir.Node) bool { return n != anchor && !elementwise(n) }) {
		return nil, nil
	}
	if s.entangled(append(kept, t), all, anchor) {
		return nil, nil
	}
	slices.SortFunc(kept, func(a, b *ir.Node) int { return a.ID - b.ID })
	return all, kept
}

// entangled tells whether the members of a product's kernel, which does all of
// some nodes from its anchor on, need another kernel that needs one of them: two
// products may each keep what the other ends with.
func (s *partition) entangled(members, all []*ir.Node, anchor *ir.Node) bool {
	g := &group{}
	for _, n := range all {
		s.group[n.ID] = g
	}
	found := s.through(members, []*group{g}, anchor, func(r *ir.Node) bool { return s.group[r.ID] == g })
	for _, n := range all {
		s.group[n.ID] = nil
	}
	return found
}

// comesBack tells whether what is inside, up to t, needs a node outside of it that is
// computed from one in it: so a softmax needs the maximum of its row.
func (s *partition) comesBack(anchor, t *ir.Node) bool {
	s.seen.empty() // computed from the anchor
	for _, n := range s.g.Nodes[anchor.ID : t.ID+1] {
		for _, x := range n.In {
			if !s.seen.has(x) && x != anchor {
				continue
			}
			s.seen.add(n)
			if s.inside.has(n) && !s.inside.has(x) {
				return true
			}
		}
	}
	return false
}
