package arm64

import (
	"github.com/sinterml/sinter/internal/emit/arm64/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// MakeMask computes a bool as lanes.
func (e *emitter) MakeMask(n *node, u int) reg {
	switch n.Kind {
	case loop.KindLoad:
		return e.loadMask(n, u)
	case loop.KindApply:
	default:
		e.Unsupported("bool of kind %d", n.Kind)
		return 0
	}
	a := n.Operands
	switch n.Op {
	case ir.And, ir.Or, ir.Xor:
		if n.Wide && e.Varies(n) {
			return e.joinMasks(e.maskHalves(n, u))
		}
		x := e.MaskOf(a[0], u)
		return e.combineMask(n.Op, x, e.MaskOf(a[1], u))
	case ir.Where:
		k, yes, no := e.MaskOf(a[0], u), e.MaskOf(a[1], u), e.MaskOf(a[2], u)
		return e.blend(k, yes, no)
	case ir.Less, ir.Equal:
		return e.comparison(n, u)
	case ir.Cast:
		if n.ComparesDoubles() || n.Wide && e.Varies(n) {
			return e.joinMasks(e.maskHalves(n, u))
		}
		return e.notZero(a[0], u)
	}
	e.Unsupported("%v giving bool", n.Op)
	return 0
}

var maskOps = map[ir.Op]asm.Op{ir.And: asm.AND16B, ir.Or: asm.ORR16B, ir.Xor: asm.EOR16B}

func (e *emitter) combineMask(op ir.Op, a, b reg) reg {
	if o, ok := maskOps[op]; ok {
		return e.v(o, a, b)
	}
	e.Unsupported("%v of bool", op)
	return 0
}

// comparison is Less or Equal.
func (e *emitter) comparison(n *node, u int) reg {
	a, b := n.Operands[0], n.Operands[1]
	d := a.DType.Compute()
	switch d {
	case ir.F64:
		return e.joinMasks(e.maskHalves(n, u))
	case ir.I64:
		if e.Varies(n) {
			return e.joinMasks(e.maskHalves(n, u))
		}
		return e.maskFromFlag(e.Flag(n))
	case ir.Bool:
		x, y := e.MaskOf(a, u), e.MaskOf(b, u)
		if n.Op == ir.Less { // not x and y
			return e.v(asm.BIC16B, y, x)
		}
		return e.v(asm.NOT16B, e.v(asm.EOR16B, x, y))
	case ir.F32, ir.I32, ir.U32:
	default:
		e.Unsupported("%v of %v", n.Op, a.DType)
		return 0
	}
	x, y := e.pair(a, b, u)
	switch {
	case n.Op == ir.Equal && d == ir.F32:
		return e.v(asm.FCMEQ4S, x, y)
	case n.Op == ir.Equal:
		return e.v(asm.CMEQ4S, x, y)
	case d == ir.F32:
		return e.v(asm.FCMGT4S, y, x)
	case d == ir.U32:
		return e.v(asm.CMHI4S, y, x)
	}
	return e.v(asm.CMGT4S, y, x)
}

// notZero is the cast to bool; a NaN is not zero.
func (e *emitter) notZero(a *node, u int) reg {
	switch d := a.DType.Compute(); d {
	case ir.Bool:
		return e.MaskOf(a, u)
	case ir.F32:
		return e.v(asm.NOT16B, e.v(asm.FCMEQ4S, e.vec(a, u), e.zero()))
	case ir.I32, ir.U32:
		return e.maskFromLanes(e.vec(a, u))
	case ir.I64:
		return e.maskFromFlag(e.notZeroFlag(a))
	}
	e.Unsupported("cast of %v to bool", a.DType)
	return 0
}

// maskFromLanes is the lanes that are not 0 as integers.
func (e *emitter) maskFromLanes(x reg) reg {
	return e.v(asm.NOT16B, e.v(asm.CMEQ4S, x, e.zero()))
}

// maskFromFlag spreads a flag over all lanes.
func (e *emitter) maskFromFlag(flag reg) reg { return e.v(asm.NEG4S, e.broadcast(flag)) }

// MakeFlag computes a scalar bool in a general register.
func (e *emitter) MakeFlag(n *node) reg {
	switch {
	case n.Kind == loop.KindConst:
		return e.Number(int64(n.Bits))
	case n.Kind == loop.KindLoad:
		return e.LoadGeneral(n)
	case n.Kind != loop.KindApply:
		return e.flagFromMask(e.MaskOf(n, 0))
	}
	a := n.Operands
	switch {
	case n.Op == ir.And || n.Op == ir.Or || n.Op == ir.Xor:
		x := e.Flag(a[0])
		return e.combineGeneral(n.Op, x, e.Flag(a[1]))
	case (n.Op == ir.Less || n.Op == ir.Equal) && a[0].DType == ir.I64:
		e.compareGeneral(a[0], a[1])
		if n.Op == ir.Less {
			return e.flagIf(asm.LT)
		}
		return e.flagIf(asm.EQ)
	case n.Op == ir.Cast && a[0].DType == ir.I64:
		return e.notZeroFlag(a[0])
	}
	return e.flagFromMask(e.MaskOf(n, 0))
}

func (e *emitter) notZeroFlag(a *node) reg {
	e.cmpImm(e.General(a), 0)
	return e.flagIf(asm.NE)
}

func (e *emitter) flagFromMask(k reg) reg { return e.gImm(asm.UBFX, 1, e.g(asm.FMOVXS, k)) }
