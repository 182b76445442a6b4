package loop

// RowsFirst has lanes that scatter each to a place of its own, in Serial loops, do so side
// by side, one step of these after the other: rows of memory then come whole, where each
// lane would walk down a column, on a processor without scatters one after the other. As
// lanes do not depend on each other nothing else changes. Lanes that scatter whole rows
// stay: their columns are as wide as registers, and their indices are looked up once.
func RowsFirst(k *Kernel) *Kernel { return rebuilt(k, rowsFirst) }

func rowsFirst(body []Stmt) (all []Stmt, found bool) {
	for _, s := range body {
		l, ok := s.(*Loop)
		if !ok {
			all = append(all, s)
			continue
		}
		if rows := rowsOf(l); rows != nil {
			all, found = append(all, rows...), true
			continue
		}
		inside, more := rowsFirst(l.Body)
		all, found = append(all, &Loop{Var: l.Var, Lo: l.Lo, Hi: l.Hi, Range: l.Range, Body: inside}), found || more
	}
	return all, found
}

// rowsOf is the loops of l with lanes inside; nil if it stays.
func rowsOf(l *Loop) (rows []Stmt) {
	if l.Range != Vector || !scatters(l.Body, l.Var) {
		return nil
	}
	for _, s := range l.Body {
		steps, ok := s.(*Loop)
		if !ok || steps.Range != Serial { // whose bounds are the same for all lanes, as Check says
			return nil
		}
		for _, s := range steps.Body {
			if _, ok := s.(*Store); !ok {
				return nil
			}
		}
		lane := &Var{Name: l.Var.Name}
		lanes := &Loop{Var: lane, Lo: l.Lo, Hi: l.Hi, Range: Vector, Body: substitute(steps.Body, map[*Var]*Expr{l.Var: lane.Ref()})}
		rows = append(rows, &Loop{Var: steps.Var, Lo: steps.Lo, Hi: steps.Hi, Range: Serial, Body: []Stmt{lanes}})
	}
	return rows
}

// scatters tells whether something is stored where an index says that is data and differs
// with v.
func scatters(body []Stmt, v *Var) bool {
	for _, s := range body {
		switch s := s.(type) {
		case *Loop:
			if scatters(s.Body, v) {
				return true
			}
		case *Store:
			found := false
			s.Index.Walk(func(e *Expr) { found = found || e.Kind == KindIndex && e.Uses(v) })
			if found {
				return true
			}
		}
	}
	return false
}
