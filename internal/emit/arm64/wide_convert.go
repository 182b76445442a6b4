package arm64

import (
	"github.com/sinterml/sinter/internal/emit/arm64/asm"
	"github.com/sinterml/sinter/internal/ir"
)

// Conversions from and to lanes of 8 bytes. A float is cut towards zero and saturates,
// NaN gives 0, as the machine does by itself.

// halves are the instructions that widen the lower and the upper lanes of 32 bits.
type halves [2]asm.Op

var (
	signedHalves   = halves{asm.SXTL2D, asm.SXTL2D2}
	unsignedHalves = halves{asm.UXTL2D, asm.UXTL2D2}
)

// widened is a, of 32-bit lanes, in the halves of 8-byte ones, to which f is applied.
func (e *emitter) widened(a *node, u int, f func(x reg, half int) reg) val {
	x := e.vec(a, u)
	if !e.Varies(a) {
		y := f(x, 0)
		return val{y, y}
	}
	return both(func(i int) reg { return f(x, i) })
}

func (e *emitter) floatHalf(x reg, half int) reg {
	return e.v([2]asm.Op{asm.FCVTL2D, asm.FCVTL2D2}[half], x)
}

// castToDouble converts a to f64.
func (e *emitter) castToDouble(a *node, u int) val {
	switch d := a.DType.Compute(); d {
	case ir.F64:
		return e.wideVec(a, u)
	case ir.F32:
		return e.widened(a, u, e.floatHalf)
	case ir.I32:
		return e.widened(a, u, func(x reg, half int) reg { return e.v(asm.SCVTF2D, e.vImm(signedHalves[half], 0, x)) })
	case ir.U32:
		return e.widened(a, u, func(x reg, half int) reg { return e.v(asm.UCVTF2D, e.vImm(unsignedHalves[half], 0, x)) })
	case ir.Bool:
		return e.oneWhereHalves(e.maskHalves(a, u), one64)
	case ir.I64:
		x := e.wideVec(a, u)
		return eachHalf(func(i int) reg { return e.v(asm.SCVTF2D, x[i]) }, x)
	}
	e.Unsupported("cast of %v to f64", a.DType)
	return val{}
}

// oneWhereHalves is a number in the lanes of k and 0 elsewhere.
func (e *emitter) oneWhereHalves(k val, one uint64) val {
	return eachHalf(func(i int) reg { return e.v(asm.AND16B, k[i], e.wideConstant(one)) }, k)
}

// castWide converts lanes to i64.
func (e *emitter) castWide(a *node, u int) val {
	switch a.DType.Compute() {
	case ir.I64:
		return e.wideVec(a, u)
	case ir.I32:
		return e.widened(a, u, func(x reg, half int) reg { return e.vImm(signedHalves[half], 0, x) })
	case ir.U32:
		return e.widened(a, u, func(x reg, half int) reg { return e.vImm(unsignedHalves[half], 0, x) })
	case ir.Bool:
		return e.oneWhereHalves(e.maskHalves(a, u), 1)
	case ir.F32:
		return e.widened(a, u, func(x reg, half int) reg { return e.v(asm.FCVTZS2D, e.floatHalf(x, half)) })
	case ir.F64:
		x := e.wideVec(a, u)
		return eachHalf(func(i int) reg { return e.v(asm.FCVTZS2D, x[i]) }, x)
	}
	e.NeedOneLane("cast of %v to i64", a.DType)
	return val{}
}

// castDouble converts f64 lanes to those of the compute type of to, which has 32 bits.
func (e *emitter) castDouble(a *node, to ir.DType, u int) reg {
	x := e.wideVec(a, u)
	switch {
	case to.IsFloat():
		return e.vTied(asm.FCVTN2S2, e.v(asm.FCVTN2S, x[0]), x[1])
	case to.IsUnsigned():
		y := eachHalf(func(i int) reg { return e.v(asm.FCVTZU2D, x[i]) }, x)
		return e.saturated(e.vTied(asm.UQXTN2S2, e.v(asm.UQXTN2S, y[0]), y[1]), to)
	}
	y := eachHalf(func(i int) reg { return e.v(asm.FCVTZS2D, x[i]) }, x)
	return e.saturated(e.vTied(asm.SQXTN2S2, e.v(asm.SQXTN2S, y[0]), y[1]), to)
}

// castFromWide converts an i64 to lanes of c, a compute type of 32 bits.
func (e *emitter) castFromWide(a *node, c ir.DType, u int) reg {
	switch varies := e.Varies(a); {
	case varies && c == ir.F32:
		e.NeedOneLane("i64 lanes") // to round once
		return 0
	case c == ir.F32:
		return e.vImm(asm.DUP4S, 0, e.v(asm.SCVTFX, e.General(a)))
	case !varies:
		return e.broadcast(e.General(a))
	}
	if step, ok := e.evenly(a); ok {
		return e.v(asm.ADD4S, e.broadcast(e.Sum(e.Graph.PolyOf(a))), e.laneNumbers(uint32(step), u))
	}
	return e.lowLanes(e.wideVec(a, u))
}
