package loop

import "github.com/sinterml/sinter/internal/ir"

// Separate writes the index e as a sum of what no variable but v is in, what none but
// w is in, and the rest, in which neither is. It fails where one of them meets another
// variable in a product, a quotient or a load.
func Separate(e *Expr, v, w *Var) (rest, byV, byW *Expr, ok bool) {
	one, others := variable(e)
	switch {
	case !others && one == v && one != nil:
		return Int(0), e, Int(0), true
	case !others && one == w && one != nil:
		return Int(0), Int(0), e, true
	case !e.Uses(v) && !e.Uses(w):
		return e, Int(0), Int(0), true
	case e.Kind != KindApply || e.DType != ir.I64 || len(e.Args) != 2:
		return nil, nil, nil, false
	}
	x, y := e.Args[0], e.Args[1]
	switch e.Op {
	case ir.Add, ir.Sub:
		join := AddIndex
		if e.Op == ir.Sub {
			join = SubIndex
		}
		rest0, v0, w0, ok0 := Separate(x, v, w)
		rest1, v1, w1, ok1 := Separate(y, v, w)
		if ok0 && ok1 {
			return join(rest0, rest1), join(v0, v1), join(w0, w1), true
		}
	case ir.Mul:
		if one, _ := variable(y); one != nil {
			x, y = y, x
		}
		if one, _ := variable(y); one != nil {
			break // both vary
		}
		if rest, byV, byW, ok := Separate(x, v, w); ok {
			return MulIndex(rest, y), MulIndex(byV, y), MulIndex(byW, y), true
		}
	}
	return nil, nil, nil, false
}

// variable is one that e has, nil if it has none, and whether there are others.
func variable(e *Expr) (one *Var, others bool) {
	e.Walk(func(x *Expr) {
		if x.Kind == KindVar {
			others = others || one != nil && one != x.Var
			one = x.Var
		}
	})
	return one, others
}
