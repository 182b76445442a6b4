package arm64

import (
	"github.com/sinterml/sinter/internal/emit/arm64/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// shift is Shl or Shr; a count from the type's width on, or below 0, gives 0.
func (e *emitter) shift(n *node, u int) reg {
	d := n.DType
	if n.Operands[1].Kind == loop.KindConst {
		return e.shiftConst(n.Op, d, e.vec(n.Operands[0], u), n.Operands[1].Bits)
	}
	x, count := e.pair(n.Operands[0], n.Operands[1], u)
	// The instruction takes the lowest byte of the count, and shifts to the right
	// where that is negative.
	small := e.v(asm.CMHI4S, e.constant(uint32(8*d.Size())), count)
	op := asm.USHL4S
	if n.Op == ir.Shr {
		count = e.v(asm.NEG4S, count)
		if !d.IsUnsigned() {
			op = asm.SSHL4S
		}
	}
	return e.narrowed(e.v(asm.AND16B, e.v(op, x, count), small), d)
}

func (e *emitter) shiftConst(op ir.Op, d ir.DType, x reg, count uint64) reg {
	switch {
	case count >= uint64(8*d.Size()):
		return e.zero()
	case count == 0:
		return x
	case op == ir.Shl:
		return e.narrowed(e.vImm(asm.SHL4S, int64(count), x), d)
	case d.IsUnsigned():
		return e.vImm(asm.USHR4S, int64(count), x)
	}
	return e.vImm(asm.SSHR4S, int64(count), x)
}

// scale is x*2^n for x near 1: see loop.Apply. Without an instruction for it, half
// of n is added to x's exponent, which leaves it a normal number, and a power of
// two made of the rest is a factor. n of a NaN becomes 0.
func (e *emitter) scale(x, n reg) reg {
	whole := e.v(asm.FCVTZS4S, n)
	half := e.vImm(asm.SSHR4S, 1, whole)
	rest := e.vImm(asm.SHL4S, 23, e.v(asm.SUB4S, whole, half))
	scaled := e.v(asm.ADD4S, x, e.vImm(asm.SHL4S, 23, half))
	return e.v(asm.FMUL4S, scaled, e.v(asm.ADD4S, rest, e.constant(f32bits(1))))
}
