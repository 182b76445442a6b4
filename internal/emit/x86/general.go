package x86

import (
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
)

// Scalar i64 arithmetic in general registers: indices, bounds, positions.

// Number is c in a register.
func (e *emitter) Number(c int64) reg { return e.gImm(asm.MOV, c) }

// AddTo is x + c.
func (e *emitter) AddTo(x reg, c int64) reg {
	switch {
	case c == 0:
		return x
	case int64(int32(c)) != c:
		return e.g(asm.LEA, operand{kind: memOperand, reg: x, index: e.gImm(asm.MOV, c), scale: 1})
	}
	return e.g(asm.LEA, operand{kind: memOperand, reg: x, disp: int32(c)})
}

// scale1248 tells whether an address can scale an index by coef.
func scale1248(coef int64) bool { return coef == 1 || coef == 2 || coef == 4 || coef == 8 }

// PlusMono is x + m; x may be none.
func (e *emitter) PlusMono(x reg, m mono) reg {
	if x != 0 && len(m.Atoms) == 1 && scale1248(m.Coef) {
		return e.g(asm.LEA, operand{kind: memOperand, reg: x, index: e.AtomValue(m.Atoms[0]), scale: uint8(m.Coef)})
	}
	y := e.Product(m)
	if x == 0 {
		return y
	}
	return e.g(asm.LEA, operand{kind: memOperand, reg: x, index: y, scale: 1})
}

// Times is x * y.
func (e *emitter) Times(x, y reg) reg { return e.gTied(asm.IMUL, r(x), r(y)) }

// TimesConst is x * c.
func (e *emitter) TimesConst(x reg, c int64) reg {
	switch {
	case c == 1:
		return x
	case int64(int32(c)) == c:
		return e.gImm(asm.IMUL, c, r(x))
	}
	return e.gTied(asm.IMUL, r(e.gImm(asm.MOV, c)), r(x))
}

// generalOrImm is a scalar i64 as a source of a compare.
func (e *emitter) generalOrImm(n *node) operand {
	if c, ok := e.Graph.PolyOf(n).Constant(); ok && int64(int32(c)) == c {
		return imm(c)
	}
	return r(e.General(n))
}

// ApplyGeneral is an operation that gives an i64.
func (e *emitter) ApplyGeneral(n *node) reg {
	a := n.Operands
	switch n.Op {
	case ir.Cast:
		return e.castGeneral(a[0])
	case ir.Bitcast:
		switch a[0].DType {
		case ir.F64:
			return e.g(asm.VMOVQ, r(e.wideVec(a[0], 0)[0]))
		case ir.I64:
			return e.General(a[0])
		}
	case ir.Where:
		flag := e.Flag(a[0])
		yes, no := e.General(a[1]), e.General(a[2])
		e.do(asm.TEST, r(flag), r(flag))
		return e.gTied(asm.CMOV(asm.NE), r(no), r(yes))
	case ir.Abs:
		x := e.General(a[0])
		y := e.gTied(asm.NEG, r(x))
		e.do(asm.TEST, r(x), r(x))
		return e.gTied(asm.CMOV(asm.GE), r(y), r(x))
	case ir.IDiv, ir.Mod:
		return e.divideGeneral(n.Op, a[0], a[1])
	case ir.Shl, ir.Shr:
		return e.shiftGeneral(n.Op, a[0], a[1])
	case ir.Neg:
		return e.gTied(asm.NEG, r(e.General(a[0])))
	case ir.Sub:
		x := e.General(a[0])
		return e.gTied(asm.SUB, r(x), r(e.General(a[1])))
	case ir.Add, ir.Mul, ir.Min, ir.Max, ir.And, ir.Or, ir.Xor:
		x := e.General(a[0])
		return e.combineGeneral(n.Op, x, e.General(a[1]))
	}
	e.Unsupported("%v of i64", n.Op)
	return 0
}

// combineGeneral is an associative operation on i64.
func (e *emitter) combineGeneral(op ir.Op, x, y reg) reg {
	switch op {
	case ir.Add:
		return e.gTied(asm.ADD, r(x), r(y))
	case ir.Mul:
		return e.gTied(asm.IMUL, r(x), r(y))
	case ir.And:
		return e.gTied(asm.AND, r(x), r(y))
	case ir.Or:
		return e.gTied(asm.OR, r(x), r(y))
	case ir.Xor:
		return e.gTied(asm.XOR, r(x), r(y))
	case ir.Min, ir.Max:
		cc := asm.LT
		if op == ir.Min {
			cc = asm.GT
		}
		e.do(asm.CMP, r(x), r(y))
		return e.gTied(asm.CMOV(cc), r(x), r(y))
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
	e.do(asm.CMP, r(x), r(size))
	e.jumpIf(asm.ULT, inside)
	one := e.gImm(asm.MOV, 1)
	e.do(asm.MOV, operand{kind: memOperand, reg: e.Word(e.Layout.Status), disp: int32(8 * n.Slot)}, r(one))
	zero := e.gImm(asm.MOV, 0)
	last := e.AddTo(size, -1)
	e.do(asm.CMP, r(last), r(zero))
	last = e.gTied(asm.CMOV(asm.LT), r(last), r(zero))
	e.do(asm.CMP, r(x), r(zero))
	last = e.gTied(asm.CMOV(asm.LT), r(last), r(zero))
	e.Move(result, last)
	e.label(inside)
	return result
}
