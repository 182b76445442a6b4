package loop

import "github.com/sinterml/sinter/internal/ir"

// Values are numbers in runs: that of i is Begins[i/Length] + i%Length*Step.
type Values struct {
	Length, Step int
	Begins       []int
}

// At is the value of i.
func (v *Values) At(i int) int { return v.Begins[i/v.Length] + i%v.Length*v.Step }

// ValuesOf are those of the index e for v from 0 to, not including, n. What e has of other
// variables is 0. Runs in which e grows evenly, as between multiples of what v is divided
// by, are computed from their first two.
func ValuesOf(e *Expr, v *Var, n int, env ir.Env) (*Values, error) {
	f := finder{v, env}
	length, even := f.evenly(e)
	switch {
	case !even:
		length = 1
	case length == 0:
		length = max(n, 1)
	}
	at := func(i int) (int, error) {
		x, err := EvalIndex(e, env, func(w *Var) int64 {
			if w == v {
				return int64(i)
			}
			return 0
		})
		return int(x), err
	}
	runs := &Values{Length: length}
	for first := 0; first < n; first += length {
		begin, err := at(first)
		if err != nil {
			return nil, err
		}
		runs.Begins = append(runs.Begins, begin)
	}
	if length > 1 && n > 1 {
		second, err := at(1)
		if err != nil {
			return nil, err
		}
		runs.Step = second - runs.Begins[0]
	}
	return runs, nil
}

// finder finds runs of v, whose sizes an environment has.
type finder struct {
	v   *Var
	env ir.Env
}

// evenly tells whether e grows evenly with v, by as much in each run, between multiples
// of length; of any if that is 0.
func (f finder) evenly(e *Expr) (length int, ok bool) {
	if length, ok := f.still(e); ok {
		return length, true
	}
	if e.Kind == KindVar {
		return 0, true
	}
	if e.Kind != KindApply || len(e.Args) != 2 {
		return 0, false
	}
	x, y := e.Args[0], e.Args[1]
	switch e.Op {
	case ir.Add, ir.Sub:
		n, ok := f.evenly(x)
		m, ok2 := f.evenly(y)
		return gcd(n, m), ok && ok2
	case ir.Mul:
		if x.Uses(f.v) {
			x, y = y, x
		}
		if x.Uses(f.v) {
			return 0, false
		}
		return f.evenly(y)
	case ir.Mod:
		return f.cut(x, y)
	}
	return 0, false
}

// still is the same for an e that stays as it is between multiples of length.
func (f finder) still(e *Expr) (length int, ok bool) {
	switch {
	case !e.Uses(f.v):
		return 0, true
	case e.Kind != KindApply || len(e.Args) != 2:
		return 0, false
	case e.Op == ir.IDiv:
		if length, ok := f.cut(e.Args[0], e.Args[1]); ok {
			return length, true
		}
	}
	n, ok := f.still(e.Args[0])
	m, ok2 := f.still(e.Args[1])
	return gcd(n, m), ok && ok2
}

// cut is y, if x is v itself, or v modulo a multiple of y.
func (f finder) cut(x, y *Expr) (int, bool) {
	if y.Uses(f.v) {
		return 0, false
	}
	c, err := EvalIndex(y, f.env, func(*Var) int64 { return 0 })
	if err != nil || c <= 0 {
		return 0, false
	}
	if x.Kind == KindApply && x.Op == ir.Mod {
		if n, ok := f.cut(x.Args[0], x.Args[1]); !ok || n%int(c) != 0 {
			return 0, false
		}
		return int(c), true
	}
	return int(c), x.Kind == KindVar && x.Var == f.v
}
