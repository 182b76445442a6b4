package x86

import (
	"github.com/sinterml/sinter/internal/emit/x86/asm"
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
	switch {
	case n.Op == ir.Shl: // what leaves a narrow type is cut off
		return e.narrowed(e.v(asm.VPSLLVD, r(x), count), d)
	case d.IsUnsigned():
		return e.v(asm.VPSRLVD, r(x), count)
	}
	return e.shiftRight(x, e.inRegister(count), uint32(8*d.Size()))
}

func (e *emitter) shiftConst(op ir.Op, d ir.DType, x reg, count uint64) reg {
	switch {
	case count >= uint64(8*d.Size()):
		return e.zero()
	case op == ir.Shl:
		return e.narrowed(e.vImm(asm.VPSLLD, int64(count), r(x)), d)
	case d.IsUnsigned():
		return e.vImm(asm.VPSRLD, int64(count), r(x))
	}
	return e.vImm(asm.VPSRAD, int64(count), r(x))
}

// shiftRight is the arithmetic shift; the instruction leaves copies of the sign
// for counts past the width, a power of two.
func (e *emitter) shiftRight(x, count reg, width uint32) reg {
	y := e.v(asm.VPSRAVD, r(x), r(count))
	if e.isa == AVX512 {
		k := e.compare(asm.VPCMPUD, asm.IntLT, r(count), bits32(width))
		return e.vZero(k, asm.VMOVDQA32, r(y))
	}
	small := e.v(asm.VPCMPEQD, r(count), r(e.v(asm.VPAND, r(count), bits32(width-1))))
	return e.v(asm.VANDPS, r(y), r(small))
}

// scale is x*2^n for x near 1: see loop.Apply. Without an instruction for it, half
// of n is added to x's exponent, which leaves it a normal number, and a power of
// two made of the rest is a factor. Of a NaN n is the least i32, whose half is 0
// in the exponent's place.
func (e *emitter) scale(x reg, n operand) reg {
	if e.isa == AVX512 {
		// Under a mask, as VSCALEFPS is slow for any result that is subnormal or
		// just below: 0 where all x give that, which NaN does not.
		const none = -160
		k := e.compare(asm.VCMPPS, asm.CmpNotLT, r(e.inRegister(n)), bits32(f32bits(none)))
		return e.vZero(k, asm.VSCALEFPS, r(x), n)
	}
	whole := e.v(asm.VCVTPS2DQ, n)
	half := e.vImm(asm.VPSRAD, 1, r(whole))
	rest := e.vImm(asm.VPSLLD, 23, r(e.v(asm.VPSUBD, r(whole), r(half))))
	scaled := e.v(asm.VPADDD, r(x), r(e.vImm(asm.VPSLLD, 23, r(half))))
	return e.v(asm.VMULPS, r(scaled), r(e.v(asm.VPADDD, r(rest), bits32(f32bits(1)))))
}

// shiftGeneral shifts; a count from 64 on, or below 0, gives 0.
func (e *emitter) shiftGeneral(op ir.Op, a, b *node) reg {
	x, count := e.General(a), e.General(b)
	ins := asm.SARX
	if op == ir.Shl {
		ins = asm.SHLX
	}
	y := e.g(ins, r(x), r(count))
	none := e.gImm(asm.MOV, 0)
	e.doImm(asm.CMP, 63, r(count))
	return e.gTied(asm.CMOV(asm.UGT), r(y), r(none))
}
