package arm64

import (
	"encoding/binary"

	"github.com/sinterml/sinter/internal/emit/arm64/asm"
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// positions is a value whose lanes are step apart.
func (e *emitter) positions(n *node, step int64, u int) val {
	v := e.wideBroadcast(e.Sum(e.Graph.PolyOf(n)))
	return both(func(i int) reg { return e.v(asm.ADD2D, v, e.wideNumbers(step, u*wide+i*wide/2)) })
}

// wideNumbers is from and from+1, each times step.
func (e *emitter) wideNumbers(step int64, from int) reg {
	var b [16]byte
	for i := range int64(2) {
		binary.LittleEndian.PutUint64(b[8*i:], uint64((int64(from)+i)*step))
	}
	return e.table(b)
}

// applyWide is an operation that gives i64 lanes.
func (e *emitter) applyWide(n *node, u int) val {
	a := n.Operands
	switch n.Op {
	case ir.Cast:
		return e.castWide(a[0], u)
	case ir.Bitcast:
		if native.Wide(a[0].DType) {
			return e.wideVec(a[0], u)
		}
		e.NeedOneLane("bitcast of %v to i64", a[0].DType)
		return val{}
	case ir.Where:
		return e.whereWide(n, u)
	case ir.Neg, ir.Abs:
		op := asm.NEG2D
		if n.Op == ir.Abs {
			op = asm.ABS2D
		}
		x := e.wideVec(a[0], u)
		return eachHalf(func(i int) reg { return e.v(op, x[i]) }, x)
	case ir.Shl, ir.Shr:
		return e.shiftWide(n, u)
	}
	if len(a) != 2 {
		e.NeedOneLane("%v of i64", n.Op)
		return val{}
	}
	x, y := e.widePair(a[0], a[1], u)
	return e.combineWide(n.Op, ir.I64, x, y)
}

// wideInteger is an operation that there is no instruction for.
func (e *emitter) wideInteger(op ir.Op, x, y reg) reg {
	switch op {
	case ir.Mul:
		return e.multiplyWide(x, y)
	case ir.Min:
		return e.blend(e.v(asm.CMGT2D, x, y), y, x)
	case ir.Max:
		return e.blend(e.v(asm.CMGT2D, x, y), x, y)
	}
	e.NeedOneLane("%v of i64", op)
	return 0
}

// multiplyWide is the product modulo 2^64: that of the lower halves, and the crossed ones
// 32 bits further up.
func (e *emitter) multiplyWide(x, y reg) reg {
	cross := e.v(asm.UADDLP2D, e.v(asm.MUL4S, x, e.v(asm.REV644S, y)))
	return e.vTied(asm.UMLAL2D, e.vImm(asm.SHL2D, 32, cross), e.v(asm.XTN2S, x), e.v(asm.XTN2S, y))
}

// shiftWide is Shl or Shr; a count from 64 on, or below 0, gives 0.
func (e *emitter) shiftWide(n *node, u int) val {
	if count := n.Operands[1]; count.Kind == loop.KindConst {
		x := e.wideVec(n.Operands[0], u)
		switch {
		case count.Bits >= 64:
			return val{e.zero(), e.zero()}
		case count.Bits == 0:
			return x
		}
		op := asm.SHL2D
		if n.Op == ir.Shr {
			op = asm.SSHR2D
		}
		return eachHalf(func(i int) reg { return e.vImm(op, int64(count.Bits), x[i]) }, x)
	}
	x, y := e.widePair(n.Operands[0], n.Operands[1], u)
	return eachHalf(func(i int) reg {
		// As in shift: the lowest byte counts, and negative counts shift to the right.
		small, count := e.v(asm.CMHI2D, e.wideConstant(64), y[i]), y[i]
		if n.Op == ir.Shr {
			count = e.v(asm.NEG2D, count)
		}
		return e.v(asm.AND16B, e.v(asm.SSHL2D, x[i], count), small)
	}, x, y)
}
