package loop

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// SplitRemainders takes the division out of loops whose variable is divided by a
// constant. Where a small one decides what an iteration does, as of elements that lie
// apart with zeros between them, there is a loop for each remainder, and conditions on
// it are gone: what is false reads and computes nothing. A Vector loop over rows that
// are repeated one behind the other becomes a loop over these and one along them. A
// kernel that accumulates stays as it is.
func SplitRemainders(k *Kernel) *Kernel {
	count := countExprs(k.Body)
	s := &remainders{left: max(maxRangeExprs, 2*count) - count}
	return rebuilt(k, s.split)
}

// remainders splits loops of one kernel, as long as there are expressions left that the
// copies of its body may have more than it has.
type remainders struct{ left int }

// Limits of divisors: of those with a loop for each remainder, and of those whose
// remainders are enough for lanes of their own.
const (
	mostPhases = 4
	leastTurn  = 16
)

func (r *remainders) split(body []Stmt) (all []Stmt, found bool) {
	for _, s := range body {
		l, ok := s.(*Loop)
		if !ok {
			all = append(all, s)
			continue
		}
		parts := turns(l)
		if parts == nil {
			parts = phases(l)
		}
		if parts == nil || !r.affords(parts, l) {
			inside, more := r.split(l.Body)
			all, found = append(all, &Loop{Var: l.Var, Lo: l.Lo, Hi: l.Hi, Range: l.Range, Body: inside}), found || more
			continue
		}
		inside, _ := r.split(parts)
		all, found = append(all, inside...), true
	}
	return all, found
}

// affords takes what parts have more than l from what is left, if there is so much.
func (r *remainders) affords(parts []Stmt, l *Loop) bool {
	more := max(0, countExprs(parts)-countExprs([]Stmt{l}))
	if more > r.left {
		return false
	}
	r.left -= more
	return true
}

// phases is l as a loop for each remainder of its variable by the divisor that its
// conditions have; nil if it stays.
func phases(l *Loop) []Stmt {
	n, known := l.Hi.AsInt()
	if !known || l.Lo != nil || l.Range != Vector && l.Range != Serial {
		return nil
	}
	by := 0
	eachComparison(l.Body, func(e *Expr) {
		e.Walk(func(m *Expr) {
			if c, ok := remainderOf(m, l.Var); ok && c <= mostPhases && by == 0 {
				by = c
			}
		})
	})
	if by == 0 || n < 2*by || l.Range == Serial && !ownElements(l) {
		return nil
	}
	var parts []Stmt
	for r := range by {
		v := &Var{Name: l.Var.Name}
		part := &Loop{Var: v, Hi: Int((n - r + by - 1) / by), Range: l.Range}
		part.Body = withPlace(l.Body, l.Var, AddIndex(MulIndex(v.Ref(), Int(by)), Int(r)), nil)
		if len(part.Body) > 0 {
			parts = append(parts, part)
		}
	}
	return parts
}

// turns is a Vector loop as one over how often its variable goes all through the
// divisor, and the rest; nil if it stays.
func turns(l *Loop) []Stmt {
	n, known := l.Hi.AsInt()
	if !known || l.Lo != nil || l.Range != Vector {
		return nil
	}
	by := 0
	k := Kernel{Body: l.Body}
	k.WalkExprs(func(e *Expr) {
		if c, ok := remainderOf(e, l.Var); ok && c >= leastTurn && c < n && e.Args[0].Kind == KindVar {
			by = c
		}
	})
	if by == 0 {
		return nil
	}
	turn := func(q *Expr, length int) *Loop {
		v := &Var{Name: l.Var.Name}
		place := AddIndex(MulIndex(q, Int(by)), v.Ref())
		return &Loop{Var: v, Hi: Int(length), Range: Vector, Body: withPlace(l.Body, l.Var, place, map[*Var]int{v: by})}
	}
	q := &Var{Name: l.Var.Name + "t"}
	parts := []Stmt{&Loop{Var: q, Hi: Int(n / by), Range: Serial, Body: []Stmt{turn(q.Ref(), by)}}}
	if n%by > 0 {
		parts = append(parts, turn(Int(n/by), n%by))
	}
	return parts
}

// remainderOf tells whether e is what v, or a constant and v, leaves when it is divided
// by a constant.
func remainderOf(e *Expr, v *Var) (by int, ok bool) {
	if e.Kind != KindApply || e.Op != ir.Mod || e.DType != ir.I64 {
		return 0, false
	}
	by, ok = e.Args[1].AsInt()
	if !ok || by < 2 {
		return 0, false
	}
	base, stride, ok := Affine(e.Args[0], v)
	if !ok || !stride.IsInt(1) {
		return 0, false
	}
	_, ok = base.AsInt()
	return by, ok
}

// withPlace is a copy of a loop's body with a place for its variable. Loops and locals
// in it are its own, and what the place decides is left out.
func withPlace(body []Stmt, v *Var, place *Expr, below map[*Var]int) []Stmt {
	vars, locals := map[*Var]*Expr{v: place}, map[*Local]*Local{}
	body = renamed(body, vars, locals)
	body = Rewrite(body, func(e *Expr) *Expr {
		if e.Kind == KindLocal && locals[e.Local] != nil {
			return locals[e.Local].Ref()
		}
		e = foldCondition(foldOne(substituteOne(e, vars), below))
		if e.Kind == KindApply && e.Op == ir.Less && e.Args[0].DType == ir.I64 {
			x, ok := e.Args[0].AsInt()
			if y, ok2 := e.Args[1].AsInt(); ok && ok2 {
				return constBool(x < y)
			}
		}
		return e
	})
	return withoutFalse(body)
}

// renamed gives loops and locals of a body that are set in it new names, which it adds to
// vars and locals; expressions still have the old ones.
func renamed(body []Stmt, vars map[*Var]*Expr, locals map[*Local]*Local) []Stmt {
	var all []Stmt
	for _, s := range body {
		switch s := s.(type) {
		case *Loop:
			v := &Var{Name: s.Var.Name}
			vars[s.Var] = v.Ref()
			all = append(all, &Loop{Var: v, Lo: s.Lo, Hi: s.Hi, Range: s.Range, Body: renamed(s.Body, vars, locals)})
		case *Set:
			if locals[s.Local] == nil {
				locals[s.Local] = &Local{Name: s.Local.Name, DType: s.Local.DType}
			}
			all = append(all, &Set{locals[s.Local], s.Value})
		default:
			all = append(all, s)
		}
	}
	return all
}

// withoutFalse leaves out conditions of stores that are known, and stores that are never
// done.
func withoutFalse(body []Stmt) []Stmt {
	var all []Stmt
	for _, s := range body {
		switch s := s.(type) {
		case *Loop:
			all = append(all, &Loop{Var: s.Var, Lo: s.Lo, Hi: s.Hi, Range: s.Range, Body: withoutFalse(s.Body)})
			continue
		case *Store:
			if s.Valid != nil && s.Valid.Kind == KindConst {
				if s.Valid.Bits != 0 {
					all = append(all, &Store{Param: s.Param, Index: s.Index, Value: s.Value})
				}
				continue
			}
		}
		all = append(all, s)
	}
	return all
}

// ownElements tells whether iterations of a serial loop write elements of their own,
// which none of them reads: they may be done in any order.
func ownElements(l *Loop) bool {
	ok := true
	stored := map[int]bool{}
	var look func(body []Stmt, inside []*Loop)
	look = func(body []Stmt, inside []*Loop) {
		for _, s := range body {
			switch s := s.(type) {
			case *Loop:
				look(s.Body, append(slices.Clone(inside), s))
			case *Set: // outside of lanes it may carry a value on
				ok = ok && slices.ContainsFunc(inside, func(l *Loop) bool { return l.Range == Vector })
			case *Store:
				ok = ok && !stored[s.Param] && beyondAll(s.Index, l.Var, inside)
				stored[s.Param] = true
			}
		}
	}
	look(l.Body, nil)
	k := Kernel{Body: l.Body}
	k.WalkExprs(func(e *Expr) { ok = ok && (e.Kind != KindLoad || !stored[e.Param]) })
	return ok
}

// beyondAll tells whether an index goes further with v than with all of the loops inside.
func beyondAll(index *Expr, v *Var, inside []*Loop) bool {
	index, far, ok := Affine(index, v)
	if !ok {
		return false
	}
	step, known := far.AsInt()
	span := 0
	for _, l := range inside {
		base, near, ok := Affine(index, l.Var)
		if !ok || l.Lo != nil {
			return false
		}
		n, known1 := l.Hi.AsInt()
		each, known2 := near.AsInt()
		if !known1 || !known2 {
			return false
		}
		index, span = base, span+max(0, n-1)*max(each, -each)
	}
	return known && max(step, -step) > span && placesOnly(index)
}
