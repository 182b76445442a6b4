package loop

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// guarded is l in loops that run once or not at all, one for each range of a place that
// all iterations agree on: between the constants that comparisons have it beside. The
// lanes of a row outside of its image, or of another part than this, then read nothing:
// not even a masked load, which takes long where there is no memory. done are places
// that have been cut.
func guarded(l *Loop, done []place) []Stmt {
	at, all := agreed(l, done)
	if at == nil {
		return rangesOf(l)
	}
	done = append(slices.Clone(done), at)
	var cuts []int
	for _, b := range all {
		cuts = append(cuts, b.at)
	}
	slices.Sort(cuts)
	if cuts = slices.Compact(cuts); len(cuts) >= maxGuards {
		return rangesOf(l)
	}
	var loops []Stmt
	exprs := 0
	for i := range len(cuts) + 1 {
		is := map[*Expr]bool{}
		for _, b := range all {
			is[b.compare] = b.below == (i <= slices.Index(cuts, b.at))
		}
		part := partOf(l, is, true)
		part.Lo, part.Hi = l.Lo, l.Hi
		exprs += countExprs(part.Body)
		// 1 or more where the place is in the range.
		var within *Expr
		if i > 0 {
			within = at.beyond(1 - cuts[i-1])
		}
		if i < len(cuts) {
			below := SubIndex(Int(cuts[i]), at.beyond(0))
			if within == nil {
				within = below
			} else {
				within = Apply(ir.Min, ir.I64, within, below)
			}
		}
		once := Apply(ir.Min, ir.I64, Apply(ir.Max, ir.I64, within, Int(0)), Int(1))
		loops = append(loops, &Loop{Var: &Var{Name: "once"}, Hi: once, Range: Serial, Body: guarded(part, done)})
	}
	if exprs > max(maxRangeExprs, 3*countExprs(l.Body)) {
		return rangesOf(l)
	}
	return loops
}

// Limits of what guarded cuts: places, as of two axes that are padded and one that is
// joined, and ranges of each, as many parts are joined at most.
const (
	maxPlaces = 3
	maxGuards = 256
)

// border is a comparison of a place with a constant: it has one value below at, and the
// other from there on.
type border struct {
	compare *Expr
	at      int
	below   bool
}

// agreed is a place that does not depend on l's variable and is compared with constants,
// but for those that are done, and those comparisons; nil if there is none.
func agreed(l *Loop, done []place) (at place, all []border) {
	if nests(l) || len(done) == maxPlaces {
		return nil, nil
	}
	eachComparison(l.Body, func(e *Expr) {
		if e.Uses(l.Var) || !placesOnly(e) {
			return
		}
		var x place
		constant := x.add(e.Args[0], 1) + x.add(e.Args[1], -1) // x + constant < 0
		b := border{e, -constant, true}
		if len(x) > 0 && !x[0].plus {
			x.negate()
			b.at, b.below = constant+1, false
		}
		switch {
		case len(x) == 0 || slices.ContainsFunc(done, x.same):
		case at == nil || at.same(x):
			at, all = x, append(all, b)
		}
	})
	return at, all
}

// place is a sum of terms that are no constants, each added or taken off.
type place []placeTerm

type placeTerm struct {
	e    *Expr
	plus bool
}

// add adds e, or takes it off, but for its constants, which it returns.
func (p *place) add(e *Expr, sign int) (constant int) {
	if n, ok := e.AsInt(); ok {
		return sign * n
	}
	if e.Kind == KindApply && (e.Op == ir.Add || e.Op == ir.Sub) {
		second := sign
		if e.Op == ir.Sub {
			second = -sign
		}
		return p.add(e.Args[0], sign) + p.add(e.Args[1], second)
	}
	plus := sign > 0
	if i := slices.IndexFunc(*p, func(t placeTerm) bool { return t.plus != plus && SameIndex(t.e, e) }); i >= 0 {
		*p = slices.Delete(*p, i, i+1)
		return 0
	}
	*p = append(*p, placeTerm{e, plus})
	return 0
}

func (p place) negate() {
	for i := range p {
		p[i].plus = !p[i].plus
	}
}

// same tells whether two places have the same terms.
func (p place) same(q place) bool {
	return len(p) == len(q) && !slices.ContainsFunc(p, func(t placeTerm) bool {
		return !slices.ContainsFunc(q, func(u placeTerm) bool { return t.plus == u.plus && SameIndex(t.e, u.e) })
	})
}

// beyond is the place plus a constant.
func (p place) beyond(n int) *Expr {
	sum := Int(n)
	for _, t := range p {
		if t.plus {
			sum = AddIndex(t.e, sum)
		} else {
			sum = SubIndex(sum, t.e)
		}
	}
	return sum
}
