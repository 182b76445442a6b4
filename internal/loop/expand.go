package loop

import "github.com/sinterml/sinter/internal/ir"

// Expand replaces what no target has an instruction for, the transcendental
// functions and Recip, by arithmetic that every target has. All targets so
// compute the same function of the same bits, within 2 ulp in f32 and f64. Of f16
// and bf16 the function is computed in f32 and rounded once more.
//
// Each function is one straight line without branches: all lanes pay for all
// of it, so a special value may cost an operation only where the arithmetic
// cannot be arranged to give it by itself. Where a chain of multiply-adds has
// a choice, fewer operations go before a shorter chain: the elements are
// independent, and a core overlaps those of several vectors.
func Expand(k *Kernel) *Kernel {
	return &Kernel{Name: k.Name, Params: k.Params, Slots: k.Slots, Body: Rewrite(k.Body, expand)}
}

func expand(e *Expr) *Expr {
	if e.Kind != KindApply || !e.DType.IsFloat() {
		return e
	}
	d := e.DType
	if e.Op == ir.Recip {
		one, err := ir.Bits(d, 1)
		if err != nil {
			return e
		}
		return Apply(ir.Div, d, Const(d, one), e.Args[0])
	}
	x := toReal(e.Args[0])
	if f := expandUnary(e.Op, x.wide()); f != nil {
		return f(x).as(d)
	}
	if e.Op == ir.Pow {
		return expandPow(x, toReal(e.Args[1])).as(d)
	}
	return e
}

// expandUnary is op written out, in f32 or, wide, in f64; nil if op is not a
// function.
func expandUnary(op ir.Op, wide bool) func(real) real {
	f := functions[op]
	if wide {
		return f.wide
	}
	return f.narrow
}

var functions = map[ir.Op]struct{ narrow, wide func(real) real }{
	ir.Exp:   {expandExp, exp64},
	ir.Exp2:  {expandExp2, exp264},
	ir.Expm1: {expandExpm1, expm164},
	ir.Tanh:  {expandTanh, tanh64},
	ir.Erf:   {expandErf, erf64},
	ir.Log:   {expandLog, log64},
	ir.Log2:  {expandLog2, log264},
	ir.Log1p: {expandLog1p, log1p64},
	ir.Sin:   {expandSin, expandSin},
	ir.Cos:   {expandCos, expandCos},
	ir.Atan:  {expandAtan, atan64},
}
