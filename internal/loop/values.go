package loop

import "github.com/sinterml/sinter/internal/ir"

// Values are those of the index e for v from 0 to, not including, n. What e has of other
// variables is 0. Runs in which e grows evenly, as between multiples of what v is divided
// by, are computed from their first two.
func Values(e *Expr, v *Var, n int, env ir.Env) ([]int, error) {
	length, even := evenly(e, v)
	switch {
	case !even:
		length = 1
	case length == 0:
		length = n
	}
	all := make([]int, n)
	at := func(i int) error {
		x, err := EvalIndex(e, env, func(w *Var) int64 {
			if w == v {
				return int64(i)
			}
			return 0
		})
		all[i] = int(x)
		return err
	}
	for first := 0; first < n; first += length {
		end := min(first+length, n)
		for i := first; i < min(first+2, end); i++ {
			if err := at(i); err != nil {
				return nil, err
			}
		}
		for i := first + 2; i < end; i++ {
			all[i] = 2*all[i-1] - all[i-2]
		}
	}
	return all, nil
}

// evenly tells whether e grows evenly with v between multiples of length; of any if
// that is 0.
func evenly(e *Expr, v *Var) (length int, ok bool) {
	if length, ok := still(e, v); ok {
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
		n, ok := evenly(x, v)
		m, ok2 := evenly(y, v)
		return gcd(n, m), ok && ok2
	case ir.Mul:
		if x.Uses(v) == y.Uses(v) {
			return 0, false
		}
		n, ok := evenly(x, v)
		m, ok2 := evenly(y, v)
		return gcd(n, m), ok && ok2
	case ir.Mod:
		c, ok := y.AsInt()
		return c, ok && c > 0 && x.Kind == KindVar
	}
	return 0, false
}

// still is the same for an e that stays as it is between multiples of length.
func still(e *Expr, v *Var) (length int, ok bool) {
	switch {
	case !e.Uses(v):
		return 0, true
	case e.Kind != KindApply || len(e.Args) != 2:
		return 0, false
	case e.Op == ir.IDiv && e.Args[0].Kind == KindVar:
		c, ok := e.Args[1].AsInt()
		return c, ok && c > 0
	}
	n, ok := still(e.Args[0], v)
	m, ok2 := still(e.Args[1], v)
	return gcd(n, m), ok && ok2
}
