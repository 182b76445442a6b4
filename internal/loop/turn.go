package loop

// Limits of what TurnShort turns: lanes of the inner loop, iterations of the outer one
// that are known, and its iterations that a Global loop takes at once.
const (
	shortLanes = 4
	leastTurns = 16
	turnBlock  = 1024
)

// TurnShort gives the lanes of Vector loops that are very short to the loop around them,
// which does what each lane did: a stack of two rows along a new last axis, for example,
// fills two lanes at a time. A kernel that accumulates stays as it is.
func TurnShort(k *Kernel) *Kernel {
	return rebuilt(k, turnShort)
}

func turnShort(body []Stmt) (all []Stmt, found bool) {
	for _, s := range body {
		l, ok := s.(*Loop)
		if !ok {
			all = append(all, s)
			continue
		}
		if turned := turn(l); turned != nil {
			all, found = append(all, turned...), true
			continue
		}
		inside, more := turnShort(l.Body)
		all, found = append(all, &Loop{Var: l.Var, Lo: l.Lo, Hi: l.Hi, Range: l.Range, Body: inside}), found || more
	}
	return all, found
}

// turn is an outer loop with lanes of its own; nil if it stays.
func turn(outer *Loop) []Stmt {
	if outer.Lo != nil || outer.Range == Vector || outer.Range == Item || len(outer.Body) != 1 {
		return nil
	}
	inner, ok := outer.Body[0].(*Loop)
	if !ok || inner.Range != Vector || inner.Lo != nil || nests(inner) {
		return nil
	}
	lanes, known := inner.Hi.AsInt()
	if turns, ok := outer.Hi.AsInt(); !known || lanes > shortLanes || ok && turns < leastTurns {
		return nil
	}
	if outer.Range != Global && !ownElements(outer) {
		return nil
	}
	l := &Loop{Var: outer.Var, Hi: outer.Hi, Range: Vector}
	for lane := range lanes {
		l.Body = append(l.Body, withPlace(inner.Body, inner.Var, Int(lane), nil)...)
	}
	if outer.Range == Global {
		return Split(l, &Var{Name: outer.Var.Name + "b"}, turnBlock)
	}
	return []Stmt{l}
}
