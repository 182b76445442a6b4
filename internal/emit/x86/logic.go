package x86

import (
	"github.com/sinterml/sinter/internal/emit/x86/asm"
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
		if e.isa == AVX2 {
			return e.v(asm.VBLENDVPS, r(no), r(yes), r(k))
		}
		return e.kmask(asm.KORW, r(e.kmask(asm.KANDW, r(k), r(yes))), r(e.kmask(asm.KANDNW, r(k), r(no))))
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

var (
	maskOps512 = map[ir.Op]asm.Op{ir.And: asm.KANDW, ir.Or: asm.KORW, ir.Xor: asm.KXORW}
	maskOps2   = map[ir.Op]asm.Op{ir.And: asm.VANDPS, ir.Or: asm.VORPS, ir.Xor: asm.VXORPS}
)

func (e *emitter) combineMask(op ir.Op, a, b reg) reg {
	if e.isa == AVX2 {
		if o, ok := maskOps2[op]; ok {
			return e.v(o, r(a), r(b))
		}
	} else if o, ok := maskOps512[op]; ok {
		return e.kmask(o, r(a), r(b))
	}
	e.Unsupported("%v of bool", op)
	return 0
}

// comparison is Less or Equal.
func (e *emitter) comparison(n *node, u int) reg {
	a, b := n.Operands[0], n.Operands[1]
	switch d := a.DType.Compute(); d {
	case ir.F32:
		pred := asm.CmpEQ
		x, y := e.pair(a, b, u)
		if n.Op == ir.Less {
			pred = asm.CmpLT
		}
		return e.compare(asm.VCMPPS, pred, r(x), y)
	case ir.I32, ir.U32:
		x, y := e.pair(a, b, u)
		return e.compareInt(n.Op, d, x, y)
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
			if e.isa == AVX2 {
				return e.v(asm.VANDNPS, r(x), r(y))
			}
			return e.kmask(asm.KANDNW, r(x), r(y))
		}
		return e.not(e.combineMask(ir.Xor, x, y))
	}
	e.Unsupported("%v of %v", n.Op, a.DType)
	return 0
}

func (e *emitter) not(k reg) reg {
	if e.isa == AVX512 {
		return e.kmask(asm.KNOTW, r(k))
	}
	return e.v(asm.VXORPS, r(k), r(e.ConstMask(true)))
}

func (e *emitter) compareInt(op ir.Op, d ir.DType, x reg, y operand) reg {
	if e.isa == AVX512 {
		ins, pred := asm.VPCMPD, asm.IntEQ
		if op == ir.Less {
			pred = asm.IntLT
		}
		if d == ir.U32 {
			ins = asm.VPCMPUD
		}
		return e.compare(ins, pred, r(x), y)
	}
	if op == ir.Equal {
		return e.v(asm.VPCMPEQD, r(x), y)
	}
	z := e.inRegister(y)
	if d == ir.U32 { // signed order of the numbers moved by 2^31
		sign := bits32(1 << 31)
		x, z = e.v(asm.VXORPS, r(x), sign), e.v(asm.VXORPS, r(z), sign)
	}
	return e.v(asm.VPCMPGTD, r(z), r(x))
}

// notZero is the cast to bool; a NaN is not zero.
func (e *emitter) notZero(a *node, u int) reg {
	switch d := a.DType.Compute(); d {
	case ir.Bool:
		return e.MaskOf(a, u)
	case ir.F32:
		return e.compare(asm.VCMPPS, asm.CmpNE, r(e.vec(a, u)), r(e.zero()))
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
	if e.isa == AVX512 {
		return e.kmask(asm.VPTESTMD, r(x), r(x))
	}
	return e.not(e.v(asm.VPCMPEQD, r(x), r(e.zero())))
}

// maskFromFlag spreads a flag over all lanes.
func (e *emitter) maskFromFlag(flag reg) reg {
	all := e.gTied(asm.NEG, r(flag))
	if e.isa == AVX512 {
		return e.kmask(asm.KMOVW, r(all))
	}
	return e.broadcastGeneral(all, asm.VPBROADCASTD)
}

// MakeFlag computes a scalar bool in a general register.
func (e *emitter) MakeFlag(n *node) reg {
	switch {
	case n.Kind == loop.KindConst:
		return e.gImm(asm.MOV, int64(n.Bits))
	case n.Kind == loop.KindLoad:
		return e.LoadGeneral(n)
	case n.Kind != loop.KindApply:
		return e.flagFromMask(e.MaskOf(n, 0))
	}
	a := n.Operands
	switch {
	case n.Op == ir.And:
		return e.gTied(asm.AND, r(e.Flag(a[0])), r(e.Flag(a[1])))
	case n.Op == ir.Or:
		return e.gTied(asm.OR, r(e.Flag(a[0])), r(e.Flag(a[1])))
	case n.Op == ir.Xor:
		return e.gTied(asm.XOR, r(e.Flag(a[0])), r(e.Flag(a[1])))
	case (n.Op == ir.Less || n.Op == ir.Equal) && a[0].DType == ir.I64:
		cc := asm.EQ
		if n.Op == ir.Less {
			cc = asm.LT
		}
		x, y := e.General(a[0]), e.generalOrImm(a[1])
		e.cmp(x, y)
		return e.g(asm.MOVZX8, r(e.g(asm.SET(cc))))
	case n.Op == ir.Cast && a[0].DType == ir.I64:
		return e.notZeroFlag(a[0])
	}
	return e.flagFromMask(e.MaskOf(n, 0))
}

func (e *emitter) notZeroFlag(a *node) reg {
	x := e.General(a)
	e.do(asm.TEST, r(x), r(x))
	return e.g(asm.MOVZX8, r(e.g(asm.SET(asm.NE))))
}

func (e *emitter) flagFromMask(k reg) reg {
	op := asm.VMOVD
	if e.isa == AVX512 {
		op = asm.KMOVW
	}
	return e.gTiedImm(asm.AND, 1, r(e.g(op, r(k))))
}
