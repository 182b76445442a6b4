package loop

import "github.com/sinterml/sinter/internal/ir"

// within proves 0 <= e < b.
func within(e *Expr, b ir.Dim, bound Bound) bool {
	lo, hi, ok := interval(e, bound)
	return ok && notNegative(lo) && notNegative(b.Plus(-1).Sub(hi))
}

func notNegative(d ir.Dim) bool {
	lo, _ := d.Bounds()
	return lo >= 0
}

// interval gives lo <= e <= hi, as polynomials of the sizes, where it can.
func interval(e *Expr, bound Bound) (lo, hi ir.Dim, ok bool) {
	if d, ok := e.dim(); ok {
		return d, d, true
	}
	switch e.Kind {
	case KindVar:
		n, ok := bound(e.Var)
		return ir.N(0), n.Plus(-1), ok
	case KindApply:
		if len(e.Args) == 2 {
			return intervalOf(e.Op, e.Args[0], e.Args[1], bound)
		}
	}
	return lo, hi, false
}

func intervalOf(op ir.Op, x, y *Expr, bound Bound) (lo, hi ir.Dim, ok bool) {
	xl, xh, okX := interval(x, bound)
	yl, yh, okY := interval(y, bound)
	if op == ir.Mod && okY && notNegative(yl.Plus(-1)) { // of anything
		return ir.N(0), yh.Plus(-1), true
	}
	if !okX || !okY {
		return lo, hi, false
	}
	switch op {
	case ir.Add:
		return xl.Add(yl), xh.Add(yh), true
	case ir.Sub:
		return xl.Sub(yh), xh.Sub(yl), true
	case ir.Mul:
		if notNegative(xl) && notNegative(yl) {
			return xl.Mul(yl), xh.Mul(yh), true
		}
	case ir.IDiv:
		c, isConst := xh.Const()
		n, isInt := y.AsInt()
		if notNegative(xl) && isConst && isInt && n > 0 {
			return ir.N(0), ir.N(c / n), true
		}
	}
	return lo, hi, false
}
