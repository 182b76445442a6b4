package arm64

import (
	"encoding/binary"

	"github.com/sinterml/sinter/internal/emit/arm64/asm"
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// cast converts a to type to, whose compute type has 32-bit lanes: a float is
// cut towards zero and saturates, NaN gives 0, as the machine does by itself;
// integers wrap.
func (e *emitter) cast(a *node, to ir.DType, u int) reg {
	c := to.Compute()
	var x reg
	switch a.DType.Compute() {
	case ir.F32:
		x = e.vec(a, u)
		if c != ir.F32 {
			return e.floatToInt(x, to)
		}
	case ir.I32:
		x = e.vec(a, u)
		if c == ir.F32 {
			x = e.v(asm.SCVTF4S, x)
		}
	case ir.U32:
		x = e.vec(a, u)
		if c == ir.F32 {
			x = e.v(asm.UCVTF4S, x)
		}
	case ir.Bool:
		one := uint32(1)
		if c == ir.F32 {
			one = f32bits(1)
		}
		return e.oneWhere(e.MaskOf(a, u), one)
	case ir.I64:
		x = e.castFromWide(a, c, u)
	case ir.F64:
		x = e.castDouble(a, to, u)
	default:
		e.Unsupported("cast of %v", a.DType)
		return 0
	}
	return e.narrowed(x, to)
}

// evenly is how far apart the lanes of an i64 are, where that is the same for all.
func (e *emitter) evenly(n *node) (step int64, ok bool) {
	a := e.AccessOf(n)
	if a.Stride == nil {
		return 0, false
	}
	return a.Stride.Constant()
}

// laneNumbers is step times the number of each lane of copy u.
func (e *emitter) laneNumbers(step uint32, u int) reg {
	var b [16]byte
	for i := range wide {
		binary.LittleEndian.PutUint32(b[4*i:], uint32(u*wide+i)*step)
	}
	return e.table(b)
}

// oneWhere is a number in the lanes of k and 0 elsewhere.
func (e *emitter) oneWhere(k reg, one uint32) reg { return e.v(asm.AND16B, k, e.constant(one)) }

// floatToInt saturates to the range of an integer type.
func (e *emitter) floatToInt(x reg, to ir.DType) reg {
	if to.IsUnsigned() {
		return e.saturated(e.v(asm.FCVTZU4S, x), to)
	}
	return e.saturated(e.v(asm.FCVTZS4S, x), to)
}

// saturated has the integers of x, of the compute type of to, stop at its ends.
func (e *emitter) saturated(x reg, to ir.DType) reg {
	bits := uint(8 * to.Size())
	switch {
	case bits == 32:
		return x
	case to.IsUnsigned():
		return e.v(asm.UMIN4S, x, e.constant(1<<bits-1))
	}
	x = e.v(asm.SMIN4S, x, e.constant(1<<(bits-1)-1))
	return e.v(asm.SMAX4S, x, e.constant(^uint32(0)<<(bits-1)))
}

// narrowed rounds or wraps a value of the compute type to one that d holds.
func (e *emitter) narrowed(x reg, d ir.DType) reg {
	switch d {
	case ir.F16:
		return e.v(asm.FCVTL4S, e.v(asm.FCVTN4H, x))
	case ir.BF16:
		return e.vImm(asm.SHL4S, 16, e.roundToBF16(x))
	case ir.I8, ir.I16:
		n := int64(32 - 8*d.Size())
		return e.vImm(asm.SSHR4S, n, e.vImm(asm.SHL4S, n, x))
	case ir.U8, ir.U16:
		return e.v(asm.AND16B, x, e.constant(1<<(8*d.Size())-1))
	}
	return x
}

// roundToBF16 rounds half to even; the bits are in the lower half of each lane.
// A NaN becomes quiet.
func (e *emitter) roundToBF16(x reg) reg {
	up := e.vImm(asm.USHR4S, 16, x)
	odd := e.v(asm.AND16B, up, e.constant(1))
	sum := e.v(asm.ADD4S, e.v(asm.ADD4S, x, e.constant(0x7FFF)), odd)
	sum = e.vImm(asm.USHR4S, 16, sum)
	quiet := e.v(asm.ORR16B, up, e.constant(0x40))
	return e.blend(e.v(asm.FCMEQ4S, x, x), sum, quiet)
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
		x = e.vImm(asm.UXTL4S, 0, e.v(asm.FCVTN4H, x))
	case ir.BF16:
		x = e.vImm(asm.USHR4S, 16, x)
	}
	switch to {
	case ir.F16:
		return e.v(asm.FCVTL4S, e.v(asm.XTN4H, x))
	case ir.BF16:
		return e.vImm(asm.SHL4S, 16, x)
	}
	return e.narrowed(x, to)
}

// castGeneral converts a scalar to i64.
func (e *emitter) castGeneral(a *node) reg {
	switch a.DType {
	case ir.I64:
		return e.General(a)
	case ir.Bool:
		return e.Flag(a)
	}
	if a.Kind == loop.KindLoad && a.DType.IsInt() {
		return e.LoadGeneral(a)
	}
	switch a.DType.Compute() {
	case ir.I32:
		return e.gImm(asm.SMOVS, 0, e.vec(a, 0))
	case ir.U32:
		return e.g(asm.FMOVXS, e.vec(a, 0))
	case ir.F32:
		return e.g(asm.FCVTZSX, e.vec(a, 0))
	case ir.F64:
		return e.g(asm.FCVTZSXD, e.wideVec(a, 0)[0])
	}
	e.Unsupported("cast of %v to i64", a.DType)
	return 0
}
