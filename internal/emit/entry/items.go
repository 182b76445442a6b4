package entry

import (
	"cmp"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

const (
	// packItems is how many work-items there are at least that have several lanes
	// each: with fewer a group would leave most of a warp idle.
	packItems = 32
	// sumLanes is how many lanes each has at most where it sums up: so many sums.
	sumLanes = 4
)

// grouping spreads lanes over work-items.
func (s Shape) grouping(k *loop.Kernel) loop.Grouping {
	g := loop.Grouping{Width: cmp.Or(s.Strategy.Items, s.itemsFor(k, 1)), Items: true}
	if s.Pack == 0 {
		return g
	}
	each := loop.Each(k, s.Pack, packItems)
	if !sums(k.Body) {
		g.Width = each * cmp.Or(s.Strategy.Items, s.itemsFor(k, each))
	} else { // in the order that their width makes
		each = min(each, sumLanes, g.Width/packItems)
	}
	if each > 1 {
		g.Each = each
	}
	return g
}

// sums tells whether lanes are summed up, or otherwise accumulated.
func sums(body []loop.Stmt) bool {
	for _, s := range body {
		switch s := s.(type) {
		case *loop.Acc:
			return true
		case *loop.Loop:
			if sums(s.Body) {
				return true
			}
		}
	}
	return false
}

// itemsFor is a power of two: no more work-items than the longest loop over
// lanes has lanes for, each several, if that is known.
func (s Shape) itemsFor(k *loop.Kernel, each int) int {
	longest := 0
	var look func(body []loop.Stmt)
	look = func(body []loop.Stmt) {
		for _, st := range body {
			l, ok := st.(*loop.Loop)
			if !ok {
				continue
			}
			if l.Range != loop.Vector {
				look(l.Body)
				continue
			}
			longest = max(longest, (lanes(l, each*s.Items)+each-1)/each)
		}
	}
	look(k.Body)
	n := min(16, s.Items)
	for n < longest && 2*n <= s.Items {
		n *= 2
	}
	return n
}

// lanes is how many a Vector loop has, most where that is not known.
func lanes(l *loop.Loop, most int) int {
	n, ok := l.Hi.AsInt()
	if l.Lo == nil && ok {
		return n
	}
	if l.Lo == nil && l.Hi.Kind == loop.KindSize {
		if _, hi := l.Hi.Size.Bounds(); hi < int64(most) {
			return int(hi)
		}
	}
	if l.Hi.Kind == loop.KindApply && l.Hi.Op == ir.Min && l.Lo != nil { // a block of a longer loop
		if n, ok := loop.SubIndex(l.Hi.Args[0], l.Lo).AsInt(); ok {
			return n
		}
	}
	return most
}
