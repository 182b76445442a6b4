package loop

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
)

// codec turns the bits of an element into the Go type it is computed in, and
// back.
type codec[T Number] struct {
	dec func(uint64) T
	enc func(T) uint64
}

var (
	codecF32 = codec[float32]{
		func(b uint64) float32 { return math.Float32frombits(uint32(b)) },
		func(x float32) uint64 { return uint64(math.Float32bits(x)) },
	}
	codecF64 = codec[float64]{math.Float64frombits, math.Float64bits}
	codecF16 = codec[float32]{
		func(b uint64) float32 { return ir.F16ToFloat32(uint16(b)) },
		func(x float32) uint64 { return uint64(ir.F16FromFloat32(x)) },
	}
	codecBF16 = codec[float32]{
		func(b uint64) float32 { return ir.BF16ToFloat32(uint16(b)) },
		func(x float32) uint64 { return uint64(ir.BF16FromFloat32(x)) },
	}
)

func codecInt[T Integer]() codec[T] {
	mask := ^uint64(0) >> (64 - width(T(0)))
	return codec[T]{
		func(b uint64) T { return T(b) },
		func(x T) uint64 { return uint64(x) & mask },
	}
}

// Scalar is op as a function of the bits of its operands, of which those past
// op's arity are ignored; nil where op does not take operands of type from
// (for Where: of any) or does not give the type to. IDiv and Mod by zero give 0.
func Scalar(op ir.Op, from, to ir.DType) func(x, y, z uint64) uint64 {
	switch op {
	case ir.Where:
		return func(x, y, z uint64) uint64 {
			if x != 0 {
				return y
			}
			return z
		}
	case ir.Bitcast:
		return func(x, _, _ uint64) uint64 { return x }
	}
	switch from {
	case ir.F32:
		return scalarFloat(op, codecF32, to)
	case ir.F64:
		return scalarFloat(op, codecF64, to)
	case ir.F16:
		return scalarFloat(op, codecF16, to)
	case ir.BF16:
		return scalarFloat(op, codecBF16, to)
	case ir.I8:
		return scalarInt(op, codecInt[int8](), to)
	case ir.I16:
		return scalarInt(op, codecInt[int16](), to)
	case ir.I32:
		return scalarInt(op, codecInt[int32](), to)
	case ir.I64:
		return scalarInt(op, codecInt[int64](), to)
	case ir.U8, ir.Bool:
		return scalarInt(op, codecInt[uint8](), to)
	case ir.U16:
		return scalarInt(op, codecInt[uint16](), to)
	case ir.U32:
		return scalarInt(op, codecInt[uint32](), to)
	case ir.U64:
		return scalarInt(op, codecInt[uint64](), to)
	}
	return nil
}

func scalarFloat[T Float](op ir.Op, c codec[T], to ir.DType) func(x, y, z uint64) uint64 {
	if f := UnaryFloat[T](op); f != nil {
		return func(x, _, _ uint64) uint64 { return c.enc(f(c.dec(x))) }
	}
	if f := BinaryFloat[T](op); f != nil {
		return func(x, y, _ uint64) uint64 { return c.enc(f(c.dec(x), c.dec(y))) }
	}
	if op == ir.FMA {
		f := Fused[T]()
		return func(x, y, z uint64) uint64 { return c.enc(f(c.dec(x), c.dec(y), c.dec(z))) }
	}
	return scalarAny(op, c, to)
}

func scalarInt[T Integer](op ir.Op, c codec[T], to ir.DType) func(x, y, z uint64) uint64 {
	mask := ^uint64(0) >> (64 - width(T(0)))
	if f := UnaryInt[T](op); f != nil {
		return func(x, _, _ uint64) uint64 { return uint64(f(T(x))) & mask }
	}
	if f := BinaryInt[T](op); f != nil {
		return func(x, y, _ uint64) uint64 { return uint64(f(T(x), T(y))) & mask }
	}
	return scalarAny(op, c, to)
}

// scalarAny holds what every type has: comparing and Cast.
func scalarAny[T Number](op ir.Op, c codec[T], to ir.DType) func(x, y, z uint64) uint64 {
	if f := Compare[T](op); f != nil {
		return func(x, y, _ uint64) uint64 { return boolBits(f(c.dec(x), c.dec(y))) }
	}
	if op != ir.Cast {
		return nil
	}
	switch to {
	case ir.F32:
		return castTo(c, codecF32)
	case ir.F64:
		return castTo(c, codecF64)
	case ir.F16:
		return castTo(c, codecF16)
	case ir.BF16:
		return castTo(c, codecBF16)
	case ir.I8:
		return castTo(c, codecInt[int8]())
	case ir.I16:
		return castTo(c, codecInt[int16]())
	case ir.I32:
		return castTo(c, codecInt[int32]())
	case ir.I64:
		return castTo(c, codecInt[int64]())
	case ir.U8:
		return castTo(c, codecInt[uint8]())
	case ir.U16:
		return castTo(c, codecInt[uint16]())
	case ir.U32:
		return castTo(c, codecInt[uint32]())
	case ir.U64:
		return castTo(c, codecInt[uint64]())
	case ir.Bool:
		return func(x, _, _ uint64) uint64 { return boolBits(c.dec(x) != 0) }
	}
	return nil
}

func castTo[T, F Number](from codec[F], to codec[T]) func(x, y, z uint64) uint64 {
	return func(x, _, _ uint64) uint64 { return to.enc(Convert[T](from.dec(x))) }
}

func boolBits(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
