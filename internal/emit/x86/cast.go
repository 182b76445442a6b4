package x86

import (
	"math"

	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// cast converts a to type to, whose compute type has 32-bit lanes: a float is
// cut towards zero and saturates, NaN gives 0; integers wrap.
func (e *emitter) cast(a *node, to ir.DType, u int) reg {
	c := to.Compute()
	var x reg
	switch a.DType.Compute() {
	case ir.F32:
		if c != ir.F32 {
			if to.IsUnsigned() {
				x = e.floatToUnsigned(a, u)
				if bits := uint(8 * to.Size()); bits < 32 {
					x = e.v(asm.VPMINUD, r(x), bits32(1<<bits-1))
				}
				return x
			}
			return e.floatToInt(e.vec(a, u), to)
		}
		x = e.vec(a, u)
	case ir.I32:
		x = e.vec(a, u)
		if c == ir.F32 {
			x = e.v(asm.VCVTDQ2PS, r(x))
		}
	case ir.U32:
		x = e.vec(a, u)
		if c == ir.F32 {
			x = e.unsignedToFloat(x)
		}
	case ir.Bool:
		one := uint32(1)
		if c == ir.F32 {
			one = f32bits(1)
		}
		return e.oneWhere(e.MaskOf(a, u), one)
	case ir.I64:
		x = e.castIndex(a, c, u)
	case ir.F64:
		if x = e.castDouble(a, to, u); c != ir.F32 {
			return x
		}
	default:
		e.Unsupported("cast of %v", a.DType)
		return 0
	}
	return e.narrowed(x, to)
}

// castIndex converts an i64 to f32 or its low 32 bits.
func (e *emitter) castIndex(a *node, to ir.DType, u int) reg {
	if e.Varies(a) {
		if x, ok := e.castEvenly(a, to, u); ok {
			return x
		}
		v := e.wideVec(a, u)
		switch {
		case e.Stopped():
			return 0
		case to != ir.F32:
			return e.lowLanes(v)
		case e.isa == AVX2: // which would round by way of f64
			e.NeedOneLane("cast of i64 to f32")
			return 0
		}
		return e.joinHalves(e.v(asm.VCVTQQ2PS, r(v[0])), e.v(asm.VCVTQQ2PS, r(v[1])))
	}
	x := e.General(a)
	if to == ir.F32 {
		return e.v(asm.VBROADCASTSS, r(e.vLen(asm.L128, asm.VCVTSI2SS, r(e.zero()), r(x))))
	}
	return e.broadcastGeneral(x, asm.VPBROADCASTD)
}

// castEvenly is castIndex without lanes of 64 bits: of an i64 that is the same
// apart from lane to lane, and, where there are no such lanes, of its upper half.
func (e *emitter) castEvenly(n *node, to ir.DType, u int) (reg, bool) {
	if upper, ok := upperHalf(n); ok && e.isa == AVX2 && to != ir.F32 {
		first, step, ok := e.evenly(upper)
		if !ok || step < 0 || step > math.MaxInt32/64 {
			return 0, false
		}
		x := e.broadcastGeneral(first, asm.VPBROADCASTQ)
		low := e.vImm(asm.VPSHUFD, 0b10_10_00_00, r(x))
		carry := e.compareInt(ir.Less, ir.U32, e.v(asm.VPADDD, r(low), r(e.laneNumbers(int32(step), u))), r(low)) // -1 or 0
		return e.v(asm.VPSUBD, r(e.vImm(asm.VPSHUFD, 0b11_11_01_01, r(x))), r(carry)), true
	}
	if to == ir.F32 {
		if hi, ok := e.magnitude(n); !ok || hi >= 1<<31 {
			return 0, false
		}
	}
	first, step, ok := e.evenly(n)
	if !ok {
		return 0, false
	}
	x := e.v(asm.VPADDD, r(e.broadcastGeneral(first, asm.VPBROADCASTD)), r(e.laneNumbers(int32(step), u)))
	if to == ir.F32 {
		x = e.v(asm.VCVTDQ2PS, r(x))
	}
	return x, true
}

// upperHalf is x of x >> 32.
func upperHalf(n *node) (*node, bool) {
	if n.Kind != loop.KindApply || n.Op != ir.Shr || n.Operands[1].Kind != loop.KindConst || n.Operands[1].Bits != 32 {
		return nil, false
	}
	return n.Operands[0], true
}

// evenly is an i64 in the first lane of all copies, and how far apart lanes are, if
// that is the same for all.
func (e *emitter) evenly(n *node) (first reg, step int64, ok bool) {
	a := e.AccessOf(n)
	if a.Stride == nil {
		return 0, 0, false
	}
	if step, ok = a.Stride.Constant(); !ok {
		return 0, 0, false
	}
	return e.Sum(a.Index), step, true
}

// oneWhere is a number in the lanes of k and 0 elsewhere.
func (e *emitter) oneWhere(k reg, one uint32) reg {
	if e.isa == AVX512 {
		return e.vZero(k, asm.VBROADCASTSS, bits32(one))
	}
	return e.v(asm.VANDPS, r(k), bits32(one))
}

// unsignedToFloat rounds once: AVX2 joins halves of 16 bits, each exact, the
// upper one scaled exactly.
func (e *emitter) unsignedToFloat(x reg) reg {
	if e.isa == AVX512 {
		return e.v(asm.VCVTUDQ2PS, r(x))
	}
	hi := e.v(asm.VCVTDQ2PS, r(e.vImm(asm.VPSRLD, 16, r(x))))
	lo := e.v(asm.VCVTDQ2PS, r(e.v(asm.VPAND, r(x), bits32(0xFFFF))))
	return e.v(asm.VADDPS, r(e.v(asm.VMULPS, r(hi), bits32(f32bits(65536)))), r(lo))
}

// floatToUnsigned is a as u32: all ones from 2^32 on, 0 for NaN and what is
// below 0. AVX-512 rounds while it converts.
func (e *emitter) floatToUnsigned(a *node, u int) reg {
	if e.isa == AVX512 && a.Kind == loop.KindApply && a.Op == ir.Round && a.Readers <= 1 {
		return e.v(asm.VCVTPS2UDQ, r(e.notBelow0(e.vec(a.Operands[0], u))))
	}
	return e.floatToU32(e.notBelow0(e.vec(a, u)))
}

// notBelow0 is the larger of x and 0, which the instruction gives for NaN as it
// is the second operand.
func (e *emitter) notBelow0(x reg) reg { return e.v(asm.VMAXPS, r(x), r(e.zero())) }

// floatToInt saturates to the range of a signed type.
func (e *emitter) floatToInt(x reg, to ir.DType) reg {
	bits := uint(8 * to.Size())
	y := e.floatToI32(x)
	if bits < 32 {
		y = e.v(asm.VPMINSD, r(y), bits32(1<<(bits-1)-1))
		y = e.v(asm.VPMAXSD, r(y), bits32(^uint32(0)<<(bits-1)))
	}
	return y
}

const two31 = 0x4F000000 // 2^31 as f32

// floatToI32 mends the instruction, which gives the least number for all it
// cannot represent.
func (e *emitter) floatToI32(x reg) reg {
	big := e.compare(asm.VCMPPS, asm.CmpGE, r(x), bits32(two31))
	number := e.compare(asm.VCMPPS, asm.CmpOrd, r(x), r(x))
	if e.isa == AVX512 {
		y := e.vZero(number, asm.VCVTTPS2DQ, r(x))
		return e.blend(big, bits32(1<<31-1), y)
	}
	y := e.v(asm.VANDPS, r(number), r(e.v(asm.VCVTTPS2DQ, r(x))))
	return e.v(asm.VXORPS, r(y), r(big)) // 0x80000000 to 0x7FFFFFFF
}

// floatToU32 takes x >= 0; from 2^32 on it gives all ones.
func (e *emitter) floatToU32(x reg) reg {
	if e.isa == AVX512 {
		return e.v(asm.VCVTTPS2UDQ, r(x))
	}
	big := e.compare(asm.VCMPPS, asm.CmpGE, r(x), bits32(two31))
	huge := e.compare(asm.VCMPPS, asm.CmpGE, r(x), bits32(two31+1<<23))
	low := e.v(asm.VCVTTPS2DQ, r(x))
	high := e.v(asm.VCVTTPS2DQ, r(e.v(asm.VSUBPS, r(x), bits32(two31))))
	high = e.v(asm.VXORPS, r(high), bits32(1<<31))
	y := e.v(asm.VBLENDVPS, r(low), r(high), r(big))
	return e.v(asm.VORPS, r(y), r(huge))
}

// narrowed rounds or wraps a value of the compute type to one that d holds.
func (e *emitter) narrowed(x reg, d ir.DType) reg {
	switch d {
	case ir.F16:
		return e.v(asm.VCVTPH2PS, r(e.vImm(asm.VCVTPS2PH, 0, r(x))))
	case ir.BF16:
		return e.vImm(asm.VPSLLD, 16, r(e.roundToBF16(x)))
	case ir.I8, ir.I16:
		n := int64(32 - 8*d.Size())
		return e.vImm(asm.VPSRAD, n, r(e.vImm(asm.VPSLLD, n, r(x))))
	case ir.U8, ir.U16:
		return e.v(asm.VANDPS, r(x), bits32(1<<(8*d.Size())-1))
	}
	return x
}

// result is narrowed of what op gives.
func (e *emitter) result(op ir.Op, x reg, d ir.DType) reg {
	if keeps(op, d) {
		return x
	}
	return e.narrowed(x, d)
}

// keeps tells whether op gives a number of d for numbers of d.
func keeps(op ir.Op, d ir.DType) bool {
	switch op {
	case ir.Min, ir.Max, ir.And, ir.Or, ir.Xor:
		return true
	case ir.Neg, ir.Abs, ir.Round, ir.Floor, ir.Trunc:
		return d.IsFloat()
	}
	return false
}

// bitsOfBF16 is the bits of n in the lower half of each lane: those there are, or of what
// is still to be rounded.
func (e *emitter) bitsOfBF16(n *node, u int) reg {
	if x := n.Uncast(); x != n {
		return e.roundToBF16(e.vec(x, u))
	}
	return e.vImm(asm.VPSRLD, 16, r(e.vec(n, u)))
}

// roundToBF16 rounds half to even; the bits are in the lower half of each lane.
// A NaN becomes quiet.
func (e *emitter) roundToBF16(x reg) reg {
	up := e.vImm(asm.VPSRLD, 16, r(x))
	odd := e.v(asm.VANDPS, r(up), bits32(1))
	sum := e.v(asm.VPADDD, r(e.v(asm.VPADDD, r(x), bits32(0x7FFF))), r(odd))
	sum = e.vImm(asm.VPSRLD, 16, r(sum))
	quiet := e.v(asm.VORPS, r(up), bits32(0x40))
	nan := e.compare(asm.VCMPPS, asm.CmpUnord, r(x), r(x))
	return e.blend(nan, r(quiet), sum)
}

// bitcast keeps bits; lanes hold them as they are but for narrow types.
func (e *emitter) bitcast(n *node, u int) reg {
	a := n.Operands[0]
	from, to := a.DType, n.DType
	switch {
	case from == ir.Bool && to.IsInt():
		return e.oneWhere(e.MaskOf(a, u), 1)
	case from.Size() == 4 && to.Size() == 4:
		return e.vec(a, u)
	case !native.Computable(from) || !native.Computable(to) || from.Size() != to.Size():
		e.Unsupported("bitcast of %v to %v", from, to)
		return 0
	case from.IsInt() && to.IsInt():
		return e.narrowed(e.vec(a, u), to)
	}
	x := e.vec(a, u)
	switch from { // bits in the lower half of each lane
	case ir.F16:
		x = e.v(asm.VPMOVZXWD, r(e.vImm(asm.VCVTPS2PH, 0, r(x))))
	case ir.BF16:
		x = e.vImm(asm.VPSRLD, 16, r(x))
	}
	switch to {
	case ir.F16:
		return e.v(asm.VCVTPH2PS, r(e.lowWords(x)))
	case ir.BF16:
		return e.vImm(asm.VPSLLD, 16, r(x))
	}
	return e.narrowed(x, to)
}

// lowWords packs the lower 16 bits of each lane.
func (e *emitter) lowWords(x reg) reg {
	if e.isa == AVX512 {
		return e.v(asm.VPMOVDW, r(x))
	}
	x = e.v(asm.VPSHUFB, r(x), e.table(repeat16(lowWordBytes)))
	return e.vImm(asm.VPERMQ, 0x08, r(x))
}

// lowBytes packs the lowest byte of each lane; AVX2 has no such thing for more
// than one use and is not asked.
func (e *emitter) lowBytes(x reg) reg {
	x = e.v(asm.VPSHUFB, r(x), e.table(repeat16(lowByteBytes)))
	hi := e.vImm(asm.VEXTRACTI128, 1, r(x))
	return e.vLen(asm.L128, asm.VPUNPCKLDQ, r(x), r(hi))
}

// For vpshufb within 128 bits: where each byte comes from, 128 for zero.
var (
	lowWordBytes = [16]byte{0, 1, 4, 5, 8, 9, 12, 13, 128, 128, 128, 128, 128, 128, 128, 128}
	lowByteBytes = [16]byte{0, 4, 8, 12, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128}
)

func repeat16(b [16]byte) []byte { return append(b[:len(b):len(b)], b[:]...) }
