package arm64

import (
	"math/bits"

	"github.com/sinterml/sinter/internal/emit/arm64/asm"
	"github.com/sinterml/sinter/internal/ir"
)

// Scalar i64 arithmetic in general registers: indices, bounds, positions.

// AddTo is x + c.
func (e *emitter) AddTo(x reg, c int64) reg {
	switch {
	case c == 0:
		return x
	case c > 0 && c < 4096:
		return e.gImm(asm.ADDI, c, x)
	case c < 0 && c > -4096:
		return e.gImm(asm.SUBI, -c, x)
	}
	return e.g(asm.ADD, x, e.Number(c))
}

// PlusMono is x + m; x may be none. A coefficient that is a power of two is a
// shift in the addition.
func (e *emitter) PlusMono(x reg, m mono) reg {
	if x == 0 {
		return e.Product(m)
	}
	op, size := asm.ADD, uint64(m.Coef)
	if m.Coef < 0 {
		op, size = asm.SUB, -size
	}
	if bits.OnesCount64(size) == 1 {
		return e.gImm(op, int64(bits.TrailingZeros64(size)), x, e.Product(mono{Coef: 1, Atoms: m.Atoms}))
	}
	return e.g(asm.ADD, x, e.Product(m))
}

// Times is x * y.
func (e *emitter) Times(x, y reg) reg { return e.g(asm.MUL, x, y) }

// TimesConst is x * c.
func (e *emitter) TimesConst(x reg, c int64) reg {
	if c > 0 && bits.OnesCount64(uint64(c)) == 1 {
		return e.gImm(asm.LSL, int64(bits.TrailingZeros64(uint64(c))), x)
	}
	return e.g(asm.MUL, x, e.Number(c))
}

// compareGeneral compares two scalar i64.
func (e *emitter) compareGeneral(a, b *node) {
	x := e.General(a)
	if c, ok := e.Graph.PolyOf(b).Constant(); ok {
		e.cmpImm(x, c)
		return
	}
	e.cmp(x, e.General(b))
}

var generalOps = map[ir.Op]asm.Op{ir.Add: asm.ADD, ir.Sub: asm.SUB, ir.Mul: asm.MUL, ir.And: asm.AND, ir.Or: asm.ORR, ir.Xor: asm.EOR}

// ApplyGeneral is an operation that gives an i64.
func (e *emitter) ApplyGeneral(n *node) reg {
	a := n.Operands
	switch n.Op {
	case ir.Cast:
		return e.castGeneral(a[0])
	case ir.Bitcast:
		switch a[0].DType {
		case ir.F64:
			return e.g(asm.FMOVXD, e.wideVec(a[0], 0)[0])
		case ir.I64:
			return e.General(a[0])
		}
	case ir.Where:
		flag := e.Flag(a[0])
		yes, no := e.General(a[1]), e.General(a[2])
		e.cmpImm(flag, 0)
		return e.choose(asm.NE, yes, no)
	case ir.Abs:
		x := e.General(a[0])
		y := e.g(asm.SUB, e.Number(0), x)
		e.cmpImm(x, 0)
		return e.choose(asm.GE, x, y)
	case ir.IDiv, ir.Mod:
		return e.divideGeneral(n.Op, a[0], a[1])
	case ir.Shl, ir.Shr:
		return e.shiftGeneral(n.Op, a[0], a[1])
	case ir.Neg:
		return e.g(asm.SUB, e.Number(0), e.General(a[0]))
	}
	if len(a) != 2 {
		e.Unsupported("%v of i64", n.Op)
		return 0
	}
	x := e.General(a[0])
	return e.combineGeneral(n.Op, x, e.General(a[1]))
}

// combineGeneral is an operation on two i64.
func (e *emitter) combineGeneral(op ir.Op, x, y reg) reg {
	if o, ok := generalOps[op]; ok {
		return e.g(o, x, y)
	}
	switch op {
	case ir.Min:
		e.cmp(x, y)
		return e.choose(asm.LT, x, y)
	case ir.Max:
		e.cmp(x, y)
		return e.choose(asm.GT, x, y)
	}
	e.Unsupported("%v of i64", op)
	return 0
}

// ClampIndex is KindIndex: the value within [0, size), 0 where size is 0, and
// the status word set if it was outside.
func (e *emitter) ClampIndex(n *node) reg {
	x := e.General(n.Operands[0])
	size := e.Sum(e.Graph.DimPoly(n.Size))
	inside := e.a.NewLabel()
	result := e.NewReg(gpr)
	e.Move(result, x)
	e.cmp(x, size)
	e.jumpIf(asm.ULT, inside)
	e.storeTo(asm.STR, address{base: e.Word(e.Layout.Status), disp: int64(8 * n.Slot)}, e.Number(1))
	zero := e.Number(0)
	last := e.AddTo(size, -1)
	e.cmpImm(last, 0)
	last = e.choose(asm.LT, zero, last)
	e.cmpImm(x, 0)
	e.Move(result, e.choose(asm.LT, zero, last))
	e.label(inside)
	return result
}

// divideGeneral is the floor of x/y or its remainder. The machine cuts towards
// zero; by 0 it gives 0, and the least number by -1 is itself, without a fault.
func (e *emitter) divideGeneral(op ir.Op, a, b *node) reg {
	x := e.General(a)
	if c, ok := e.Graph.PolyOf(b).Constant(); ok && c > 0 && c&(c-1) == 0 {
		shift := int64(bits.TrailingZeros64(uint64(c)))
		switch {
		case op == ir.IDiv:
			return e.gImm(asm.ASR, shift, x)
		case shift == 0:
			return e.Number(0)
		}
		return e.gImm(asm.UBFX, shift, x)
	}
	y := e.General(b)
	q := e.g(asm.SDIV, x, y)
	rest := e.g(asm.MSUB, q, y, x)
	// Where a remainder is left whose sign differs from the divisor's, the floor
	// is one less.
	signs := e.g(asm.EOR, rest, y)
	e.cmpImm(signs, 0)
	differ := e.flagIf(asm.LT)
	e.cmpImm(rest, 0)
	adjust := e.g(asm.AND, differ, e.flagIf(asm.NE))
	if op == ir.IDiv {
		return e.g(asm.SUB, q, adjust)
	}
	return e.g(asm.MADD, adjust, y, rest)
}

// shiftGeneral shifts; a count from 64 on, or below 0, gives 0.
func (e *emitter) shiftGeneral(op ir.Op, a, b *node) reg {
	x, count := e.General(a), e.General(b)
	ins := asm.ASRV
	if op == ir.Shl {
		ins = asm.LSLV
	}
	y := e.g(ins, x, count)
	none := e.Number(0)
	e.cmpImm(count, 63)
	return e.choose(asm.UGT, none, y)
}
