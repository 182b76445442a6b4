package loop

import "github.com/sinterml/sinter/internal/ir"

// Expand replaces what no target has an instruction for, the transcendental
// functions of f32, f16 and bf16 and Recip, by arithmetic that every target
// has. All targets so compute the same function of the same bits, within 2 ulp
// in f32. Those of f64 stay. Of f16 and bf16 the function is computed in f32
// and rounded once more.
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
	if d == ir.F64 {
		return e
	}
	x := toReal(e.Args[0])
	if f := expandUnary(e.Op); f != nil {
		return f(x).as(d)
	}
	if e.Op == ir.Pow {
		return expandPow(x, toReal(e.Args[1])).as(d)
	}
	return e
}

func expandUnary(op ir.Op) func(real) real {
	switch op {
	case ir.Exp:
		return expandExp
	case ir.Exp2:
		return expandExp2
	case ir.Expm1:
		return expandExpm1
	case ir.Tanh:
		return expandTanh
	case ir.Erf:
		return expandErf
	case ir.Log:
		return expandLog
	case ir.Log2:
		return expandLog2
	case ir.Log1p:
		return expandLog1p
	case ir.Sin:
		return expandSin
	case ir.Cos:
		return expandCos
	case ir.Atan:
		return expandAtan
	}
	return nil
}
