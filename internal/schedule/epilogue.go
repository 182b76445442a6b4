package schedule

import "github.com/sinterml/sinter/internal/ir"

// maxSpine bounds the nodes an epilogue may hold: registers are few.
const maxSpine = 64

// epilogue finds what a matmul's kernel can do with its result while it is in
// registers: the last node t such that everything between the anchor and t is
// pointwise, or a reordering of elements, and no value on the way is needed
// elsewhere. It returns nil if there is none.
func (s *partition) epilogue(anchor *ir.Node) (tail *ir.Node, spine map[*ir.Node]bool) {
	// order[n] names the reorderings between the anchor and n: operands of a
	// node on the spine must agree on it, or they are different elements.
	type order struct {
		from *order
		by   *ir.Node
	}
	at := map[*ir.Node]*order{anchor: {}}
	candidates := []*ir.Node{anchor}
	for i := anchor.ID + 1; i < len(s.g.Nodes) && len(candidates) < maxSpine; i++ {
		n := s.g.Nodes[i]
		var o *order
		agree, on := true, false
		for _, in := range n.In {
			if p, ok := at[in]; ok {
				agree = agree && (!on || p == o)
				o, on = p, true
			}
		}
		switch {
		case !on || !agree:
		case n.Op.Pointwise():
			at[n] = o
			candidates = append(candidates, n)
		case n.Op == ir.Reshape || n.Op == ir.Permute:
			at[n] = &order{o, n}
			candidates = append(candidates, n)
		}
	}
	in := map[*ir.Node]bool{}
	for _, c := range candidates {
		in[c] = true
	}
	for i := len(candidates) - 1; i > 0; i-- {
		t := candidates[i]
		if !t.Op.Pointwise() { // a view costs nothing where it is read
			continue
		}
		if !agree(s.origin[anchor.ID], s.origin[t.ID]) { // the product of weights is computed once
			continue
		}
		if set := s.closed(t, anchor, in); set != nil {
			return t, set
		}
	}
	return nil, nil
}

// closed returns the nodes between anchor and t, of those it may choose from, if
// t alone is used outside of them.
func (s *partition) closed(t, anchor *ir.Node, in map[*ir.Node]bool) map[*ir.Node]bool {
	set := map[*ir.Node]bool{}
	var walk func(n *ir.Node)
	walk = func(n *ir.Node) {
		if set[n] || !in[n] {
			return
		}
		set[n] = true
		if n != anchor {
			for _, x := range n.In {
				walk(x)
			}
		}
	}
	walk(t)
	for n := range set {
		if s.taken[n.ID] { // another product's kernel computes it
			return nil
		}
		if n == t {
			continue
		}
		if s.out[n.ID] || n != anchor && s.root[n.ID] {
			return nil
		}
		for _, u := range s.users[n.ID] {
			if !set[u] {
				return nil
			}
		}
	}
	if !set[anchor] {
		return nil
	}
	return set
}
