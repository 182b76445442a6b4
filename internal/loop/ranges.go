package loop

import (
	"math"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// SplitRanges cuts Vector loops where comparisons of their variable flip, and leaves
// each part what it needs: a padded row becomes zeros, a plain copy and zeros, rows
// joined to one a copy for each. Lanes then agree on what they do, and conditions on
// places cost nothing. A kernel that accumulates stays as it is, as others look for its
// passes.
func SplitRanges(k *Kernel) *Kernel {
	return rebuilt(k, splitRanges)
}

// rebuilt is a kernel with another body, unless it accumulates or nothing is found.
func rebuilt(k *Kernel, by func([]Stmt) (body []Stmt, found bool)) *Kernel {
	if Accumulates(k.Body) {
		return k
	}
	body, found := by(k.Body)
	if !found {
		return k
	}
	return Share(&Kernel{Name: k.Name, Params: k.Params, Slots: k.Slots, Body: body})
}

// Limits of what is cut: parts of a loop, and expressions of all of them, beside
// which those of the loop are few or were half as many.
const (
	maxRanges     = 16
	maxRangeExprs = 400
)

// Accumulates tells whether a body has an Acc.
func Accumulates(body []Stmt) bool {
	return slices.ContainsFunc(body, func(s Stmt) bool {
		if l, ok := s.(*Loop); ok {
			return Accumulates(l.Body)
		}
		_, acc := s.(*Acc)
		return acc
	})
}

func splitRanges(body []Stmt) (all []Stmt, found bool) {
	for _, s := range body {
		l, ok := s.(*Loop)
		switch {
		case !ok:
			all = append(all, s)
		case l.Range == Vector:
			parts := guarded(l, nil)
			all, found = append(all, parts...), found || len(parts) > 1 || parts[0] != s
		default:
			inside, more := splitRanges(l.Body)
			all, found = append(all, &Loop{Var: l.Var, Lo: l.Lo, Hi: l.Hi, Range: l.Range, Body: inside}), found || more
		}
	}
	return all, found
}

// eachComparison visits those of places.
func eachComparison(body []Stmt, visit func(*Expr)) {
	k := Kernel{Body: body}
	k.WalkExprs(func(e *Expr) {
		if e.Kind == KindApply && e.Op == ir.Less && e.Args[0].DType == ir.I64 {
			visit(e)
		}
	})
}

func nests(l *Loop) bool {
	return slices.ContainsFunc(l.Body, func(s Stmt) bool { _, is := s.(*Loop); return is })
}

// flip is a comparison of a loop's variable: it has one value below at, and the other
// from there on.
type flip struct {
	compare *Expr
	at      *Expr
	below   bool
}

// rangesOf is l in parts, or l alone.
func rangesOf(l *Loop) []Stmt {
	flips := flipsOf(l)
	cuts := cutsOf(l, flips)
	if len(cuts) == 0 && len(known(l, flips, nil, 0)) == 0 || len(cuts) >= maxRanges {
		return []Stmt{l}
	}
	lo := l.Lo
	if lo == nil {
		lo = Int(0)
	}
	var parts []Stmt
	exprs := 0
	for i := range len(cuts) + 1 {
		from, to := l.Lo, l.Hi
		if i > 0 {
			from = clamp(ir.Max, cuts[i-1], lo)
		}
		if i < len(cuts) {
			to = clamp(ir.Min, cuts[i], l.Hi)
		}
		part := partOf(l, known(l, flips, cuts, i), !runs(from, to))
		part.Lo, part.Hi = from, to
		exprs += countExprs(part.Body)
		parts = append(parts, part)
	}
	if exprs > max(maxRangeExprs, 2*countExprs(l.Body)) {
		return []Stmt{l}
	}
	return parts
}

// runs tells whether a loop is known to run.
func runs(from, to *Expr) bool {
	lo, ok := 0, true
	if from != nil {
		lo, ok = from.AsInt()
	}
	hi, ok2 := to.AsInt()
	return ok && ok2 && lo < hi
}

// clamp is the greater or the less of a cut and an end of the loop.
func clamp(op ir.Op, cut, end *Expr) *Expr {
	_, constant := end.AsInt()
	if _, ok := cut.AsInt(); ok && constant {
		return cut // which lies between the ends
	}
	return Apply(op, ir.I64, cut, end)
}

// flipsOf finds the comparisons that flip once while l runs.
func flipsOf(l *Loop) (all []flip) {
	if nests(l) {
		return nil
	}
	eachComparison(l.Body, func(e *Expr) {
		x, xv, ok := Affine(e.Args[0], l.Var)
		y, yv, ok2 := Affine(e.Args[1], l.Var)
		stride, constant := 0, false
		if ok && ok2 {
			stride, constant = SubIndex(xv, yv).AsInt()
		}
		if !constant || stride == 0 || !placesOnly(x) || !placesOnly(y) {
			return
		}
		base := SubIndex(x, y) // base + stride*v < 0
		if n, ok := base.AsInt(); ok {
			at := floorDiv(int64(-n+stride-1), int64(stride)) // the least v that is not
			if stride < 0 {
				at = floorDiv(int64(n), int64(-stride)) + 1 // the least v that is
			}
			all = append(all, flip{e, Int(int(at)), stride > 0})
			return
		}
		switch stride {
		case 1:
			all = append(all, flip{e, SubIndex(y, x), true})
		case -1:
			all = append(all, flip{e, AddIndex(base, Int(1)), false})
		}
	})
	return all
}

// cutsOf is where a loop is cut, in ascending order: at places that are constants, or
// at the only one that is not, as the order of others is not known.
func cutsOf(l *Loop, flips []flip) (cuts []*Expr) {
	var places []int
	var other *Expr
	others := 0
	for _, t := range flips {
		if at, ok := t.at.AsInt(); ok {
			places = append(places, at)
		} else if other == nil || !SameIndex(other, t.at) {
			other = t.at
			others++
		}
	}
	lo, hi := l.ends()
	slices.Sort(places)
	for _, at := range slices.Compact(places) {
		if at > lo && at < hi {
			cuts = append(cuts, Int(at))
		}
	}
	if len(cuts) == 0 && others == 1 {
		return []*Expr{other}
	}
	return cuts
}

// ends are l's, those of all integers where they are not known.
func (l *Loop) ends() (lo, hi int) {
	lo, hi = 0, math.MaxInt
	if l.Lo != nil {
		lo = math.MinInt
		if n, ok := l.Lo.AsInt(); ok {
			lo = n
		}
	}
	if n, ok := l.Hi.AsInt(); ok {
		hi = n
	}
	return lo, hi
}

// known is what comparisons are within the part in front of cut i, and behind the one
// before.
func known(l *Loop, flips []flip, cuts []*Expr, i int) map[*Expr]bool {
	is := map[*Expr]bool{}
	lo, hi := l.ends()
	for _, t := range flips {
		place, constant := t.at.AsInt()
		at := slices.IndexFunc(cuts, func(c *Expr) bool { return SameIndex(c, t.at) })
		switch {
		case at >= 0:
			is[t.compare] = t.below == (i <= at)
		case constant && place >= hi:
			is[t.compare] = t.below
		case constant && place <= lo:
			is[t.compare] = !t.below
		}
	}
	return is
}

// partOf is a loop with l's body, of which some comparisons are known. Its variable and
// its locals are its own. If the part may be empty, loads that do not depend on the
// variable keep their conditions, as they are done in front of the loop.
func partOf(l *Loop, is map[*Expr]bool, mayBeEmpty bool) *Loop {
	part := &Loop{Var: &Var{Name: l.Var.Name}, Range: Vector}
	own := map[*Local]*Local{}
	for _, s := range l.Body {
		if s, ok := s.(*Set); ok && own[s.Local] == nil {
			own[s.Local] = &Local{Name: s.Local.Name, DType: s.Local.DType}
		}
	}
	asIs := map[*Local]*Expr{} // what stands for a load until conditions are left out
	body := l.Body
	if mayBeEmpty {
		body = Rewrite(body, func(e *Expr) *Expr {
			if e.Kind != KindLoad || len(e.Args) == 1 || e.Args[0].Uses(l.Var) {
				return e
			}
			stand := &Local{DType: e.DType}
			asIs[stand] = e
			return stand.Ref()
		})
	}
	body = Rewrite(body, func(e *Expr) *Expr {
		if truth, ok := is[e]; ok {
			return constBool(truth)
		}
		if e.Kind == KindLocal && own[e.Local] != nil {
			return own[e.Local].Ref()
		}
		return foldCondition(e)
	})
	if mayBeEmpty {
		body = putBack(body, asIs)
	}
	for _, s := range substitute(body, map[*Var]*Expr{l.Var: part.Var.Ref()}) {
		switch s := s.(type) {
		case *Set:
			part.Body = append(part.Body, &Set{own[s.Local], s.Value})
		case *Store:
			part.Body = append(part.Body, s)
		}
	}
	part.Body = withoutFalse(part.Body)
	return part
}

// putBack replaces what stands for loads by these, which may have others in their indices.
func putBack(body []Stmt, asIs map[*Local]*Expr) []Stmt {
	return Rewrite(body, func(e *Expr) *Expr {
		if e.Kind != KindLocal || asIs[e.Local] == nil {
			return e
		}
		return putBack([]Stmt{&Set{Value: asIs[e.Local]}}, asIs)[0].(*Set).Value
	})
}

func constBool(b bool) *Expr {
	if b {
		return Const(ir.Bool, 1)
	}
	return Const(ir.Bool, 0)
}

// foldCondition is e without what a known condition leaves out.
func foldCondition(e *Expr) *Expr {
	knows := func(i int) (truth, ok bool) {
		a := e.Args[i]
		return a.Bits != 0, a.Kind == KindConst && a.DType == ir.Bool
	}
	switch {
	case e.Kind == KindLoad && len(e.Args) == 2:
		if truth, ok := knows(1); ok && truth {
			return Load(e.Param, e.DType, e.Args[0], nil)
		} else if ok {
			return Const(e.DType, 0)
		}
	case e.Kind == KindApply && e.Op == ir.Where:
		if truth, ok := knows(0); ok && truth {
			return e.Args[1]
		} else if ok {
			return e.Args[2]
		}
		if x, y := e.Args[1], e.Args[2]; x.Kind == KindConst && y.Kind == KindConst && x.Bits == y.Bits {
			return x
		}
	case e.Kind == KindApply && e.DType == ir.Bool && (e.Op == ir.And || e.Op == ir.Or):
		for i := range e.Args {
			truth, ok := knows(i)
			switch {
			case ok && truth == (e.Op == ir.And):
				return e.Args[1-i]
			case ok:
				return e.Args[i]
			}
		}
	}
	return e
}

func countExprs(body []Stmt) int {
	n := 0
	k := Kernel{Body: body}
	k.WalkExprs(func(*Expr) { n++ })
	return n
}
