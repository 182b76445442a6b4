package arm64

import (
	"github.com/sinterml/sinter/internal/emit/arm64/asm"
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/ir"
)

const one64 = 0x3FF << 52 // 1 as f64

var unaryDouble = map[ir.Op]asm.Op{
	ir.Neg: asm.FNEG2D, ir.Abs: asm.FABS2D, ir.Sqrt: asm.FSQRT2D,
	ir.Round: asm.FRINTN2D, ir.Floor: asm.FRINTM2D, ir.Trunc: asm.FRINTZ2D,
}

// applyDouble is an operation that gives f64 lanes.
func (e *emitter) applyDouble(n *node, u int) val {
	a := n.Operands
	switch n.Op {
	case ir.Cast:
		return e.castToDouble(a[0], u)
	case ir.Bitcast:
		if native.Wide(a[0].DType) {
			return e.wideVec(a[0], u)
		}
		e.Unsupported("bitcast of %v to f64", a[0].DType)
		return val{}
	case ir.Where:
		return e.whereWide(n, u)
	case ir.FMA:
		return e.fmaDouble(n, u)
	}
	if len(a) == 2 {
		x, y := e.widePair(a[0], a[1], u)
		return e.combineWide(n.Op, ir.F64, x, y)
	}
	op, ok := unaryDouble[n.Op]
	if !ok && n.Op != ir.Recip {
		e.Unsupported("%v of f64: expand it first", n.Op)
		return val{}
	}
	x := e.wideVec(a[0], u)
	return eachHalf(func(i int) reg {
		if n.Op == ir.Recip {
			return e.v(asm.FDIV2D, e.wideConstant(one64), x[i])
		}
		return e.v(op, x[i])
	}, x)
}

// fmaDouble is fma for f64.
func (e *emitter) fmaDouble(n *node, u int) val {
	args, negated := factors(n)
	op := asm.FMLA2D
	if negated {
		op = asm.FMLS2D
	}
	var vals [3]val
	for _, i := range byNeed(args) {
		vals[i] = e.wideVec(args[i], u)
	}
	return eachHalf(func(i int) reg { return e.vTied(op, vals[2][i], vals[0][i], vals[1][i]) }, vals[:]...)
}
