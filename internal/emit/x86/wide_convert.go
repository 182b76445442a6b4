package x86

import (
	"math"

	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
)

// Conversions from and to lanes of 8 bytes. A float is cut towards zero and saturates,
// NaN gives 0.

// widened applies f to the halves of 32-bit lanes, once where all are alike.
func (e *emitter) widened(a *node, u int, f func(x reg, half int) reg) val {
	x := e.vec(a, u)
	switch {
	case e.Stopped():
		return val{}
	case !e.Varies(a):
		y := f(x, 0)
		return val{y, y}
	}
	return both(func(i int) reg { return f(x, i) })
}

// castToDouble converts a to f64.
func (e *emitter) castToDouble(a *node, u int) val {
	switch d := a.DType.Compute(); d {
	case ir.F64:
		return e.wideVec(a, u)
	case ir.F32:
		return e.widened(a, u, func(x reg, half int) reg { return e.v(asm.VCVTPS2PD, r(e.half(x, half))) })
	case ir.I32, ir.U32:
		return e.widened(a, u, func(x reg, half int) reg { return e.halfToDouble(d, x, half) })
	case ir.Bool:
		return e.oneWhereHalves(e.maskHalves(a, u), double.one)
	case ir.I64:
		if !e.Varies(a) {
			x := e.vLen(asm.L128, asm.VCVTSI2SD, r(e.zero()), r(e.General(a)))
			x = e.v(asm.VBROADCASTSD, r(x))
			return val{x, x}
		}
		x := e.wideVec(a, u)
		if e.Stopped() {
			return val{}
		}
		return eachHalf(func(i int) reg { return e.wideToDouble(x[i]) }, wideRegs(x))
	}
	e.Unsupported("cast of %v to f64", a.DType)
	return val{}
}

// oneWhereHalves is a number in the lanes of k and 0 elsewhere.
func (e *emitter) oneWhereHalves(k val, one uint64) val {
	if e.Stopped() {
		return val{}
	}
	return eachHalf(func(i int) reg {
		if e.isa == AVX512 {
			return e.vZero(k[i], asm.VBROADCASTSD, bits64(one))
		}
		return e.v(asm.VANDPD, r(k[i]), bits64(one))
	}, wideRegs(k))
}

// wideToDouble rounds once: AVX2 makes floats of halves of 32 bits, each exact, by
// putting them into the digits of 2^52 and of 2^84 + 2^63.
func (e *emitter) wideToDouble(x reg) reg {
	if e.isa == AVX512 {
		return e.v(asm.VCVTQQ2PD, r(x))
	}
	const two52, two84, uppers = 0x4330000000000000, 0x4530000080000000, 0b10_10_10_10
	lo := e.vImm(asm.VPBLENDD, uppers, r(x), r(e.constant(two52, 8)))
	hi := e.v(asm.VXORPD, r(e.vImm(asm.VPSRLQ, 32, r(x))), bits64(two84))
	hi = e.v(asm.VSUBPD, r(hi), bits64(math.Float64bits(0x1p84+0x1p63+0x1p52)))
	return e.v(asm.VADDPD, r(hi), r(lo))
}

// castWide converts lanes to i64.
func (e *emitter) castWide(a *node, u int) val {
	switch a.DType.Compute() {
	case ir.I64:
		return e.wideVec(a, u)
	case ir.I32:
		return e.widened(a, u, func(x reg, half int) reg { return e.v(asm.VPMOVSXDQ, r(e.half(x, half))) })
	case ir.U32:
		return e.widened(a, u, func(x reg, half int) reg { return e.v(asm.VPMOVZXDQ, r(e.half(x, half))) })
	case ir.Bool:
		return e.oneWhereHalves(e.maskHalves(a, u), 1)
	case ir.F32:
		return e.widened(a, u, func(x reg, half int) reg { return e.doubleToWide(e.v(asm.VCVTPS2PD, r(e.half(x, half)))) })
	case ir.F64:
		x := e.wideVec(a, u)
		if e.Stopped() {
			return val{}
		}
		return eachHalf(func(i int) reg { return e.doubleToWide(x[i]) }, wideRegs(x))
	}
	e.NeedOneLane("cast of %v to i64", a.DType)
	return val{}
}

const two63 = 0x43E0000000000000 // 2^63 as f64

// doubleToWide saturates as floatToI32 does.
func (e *emitter) doubleToWide(d reg) reg {
	big := e.compare(asm.VCMPPD, asm.CmpGE, r(d), bits64(two63))
	number := e.compare(asm.VCMPPD, asm.CmpOrd, r(d), r(d))
	if e.isa == AVX512 {
		y := e.vZero(number, asm.VCVTTPD2QQ, r(d))
		in := e.inst(asm.VPBLENDMQ, vec, []operand{r(y), bits64(1<<63 - 1)})
		in.mask = big
		return e.Add(in).dst
	}
	x := e.wholeToWide(e.round(&double, r(d), 11))
	small := e.compare(asm.VCMPPD, asm.CmpLT, r(d), bits64(two63|1<<63))
	x = e.v(asm.VBLENDVPD, r(x), bits64(1<<63), r(small))
	x = e.v(asm.VBLENDVPD, r(x), bits64(1<<63-1), r(big))
	return e.v(asm.VANDPD, r(number), r(x))
}

// wholeToWide converts integers of magnitudes below 2^63 by AVX2: the upper and the
// lower 32 bits as floats, each of which shows them in its digits once a power of two is
// added whose last digit is 1.
func (e *emitter) wholeToWide(d reg) reg {
	const uppers = 0b10_10_10_10
	hi := e.round(&double, r(e.v(asm.VMULPD, r(d), bits64(math.Float64bits(0x1p-32)))), 9)
	lo := e.v(asm.VSUBPD, r(d), r(e.v(asm.VMULPD, r(hi), bits64(math.Float64bits(0x1p32)))))
	hi = e.v(asm.VADDPD, r(hi), bits64(math.Float64bits(0x1.8p52)))
	lo = e.v(asm.VADDPD, r(lo), bits64(math.Float64bits(0x1p52)))
	return e.vImm(asm.VPBLENDD, uppers, r(lo), r(e.vImm(asm.VPSLLQ, 32, r(hi))))
}

// castDouble converts f64 lanes to those of to, whose compute type has 32 bits.
func (e *emitter) castDouble(a *node, to ir.DType, u int) reg {
	x := e.wideVec(a, u)
	if e.Stopped() {
		return 0
	}
	v := eachHalf(func(i int) reg {
		if to.IsFloat() {
			return e.v(asm.VCVTPD2PS, r(x[i]))
		}
		return e.doubleToLanes(x[i], to)
	}, wideRegs(x))
	return e.joinHalves(v[0], v[1])
}

// doubleToLanes converts f64 lanes to those of an integer type of up to 4 bytes. What is
// not a number is 0 as the lower bound is, where that is 0, and goes by a mask elsewhere.
func (e *emitter) doubleToLanes(x reg, to ir.DType) reg {
	bits := 8 * to.Size()
	if to.IsUnsigned() {
		x = e.v(asm.VMAXPD, r(x), r(e.zero()))
		x = e.v(asm.VMINPD, r(x), bits64(math.Float64bits(math.Ldexp(1, bits)-1)))
		if to.Compute() != ir.I32 && e.isa == AVX2 { // which moves it below 0 by 2^31
			x = e.round(&double, r(x), 11)
		}
		return e.doubleToHalf(to.Compute(), x)
	}
	number := e.compare(asm.VCMPPD, asm.CmpOrd, r(x), r(x))
	x = e.v(asm.VMAXPD, r(x), bits64(math.Float64bits(-math.Ldexp(1, bits-1))))
	most := bits64(math.Float64bits(math.Ldexp(1, bits-1) - 1))
	if e.isa == AVX512 {
		x = e.vZero(number, asm.VMINPD, r(x), most)
	} else {
		x = e.v(asm.VANDPD, r(number), r(e.v(asm.VMINPD, r(x), most)))
	}
	return e.doubleToHalf(ir.I32, x)
}
