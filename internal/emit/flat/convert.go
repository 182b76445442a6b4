package flat

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
)

// widen makes an F32 of an f16 or bf16.
func (w *writer) widen(x Value, d ir.DType) Value {
	if d == ir.F16 {
		return w.Op(HalfToFloat, F32, x)
	}
	return w.widenBrain(x)
}

// narrow rounds an F32 to f16 or bf16.
func (w *writer) narrow(x Value, d ir.DType) Value {
	if y, ok := w.round(x, d); ok {
		return y
	}
	if d == ir.F16 {
		return w.Op(FloatToHalf, I32, x)
	}
	i32 := func(n uint64) Value { return w.Const(I32, n) }
	b := w.Op(Bits, I32, x)
	high := w.Op(ShrU, I32, b, i32(16))
	odd := w.Op(And, I32, high, i32(1))
	round := w.Op(ShrU, I32, w.add(b, w.add(odd, i32(0x7fff))), i32(16))
	nan := w.Op(Or, I32, high, i32(0x40))
	return w.pick(w.Op(NotEqual, Bool, x, x), nan, round)
}

// cast converts a value.
func (w *writer) cast(x Value, from, to ir.DType) Value {
	if from == to {
		return x
	}
	if from == ir.F16 || from == ir.BF16 {
		x, from = w.widen(x, from), ir.F32
	}
	switch {
	case from == ir.Bool:
		one, _ := ir.Bits(to, 1) // every type has it
		return w.pick(x, w.of(to, one), w.of(to, 0))
	case to == ir.Bool:
		return w.Op(NotEqual, Bool, x, w.Const(x.Type, 0))
	case to == ir.F16 || to == ir.BF16:
		return w.narrow(w.toFloat(x, from, F32), to)
	case to.IsFloat():
		return w.toFloat(x, from, TypeOf(to))
	case from.IsFloat():
		return w.saturate(x, to)
	}
	return w.resize(x, from, to)
}

// toFloat converts a number that is not narrow.
func (w *writer) toFloat(x Value, from ir.DType, t Type) Value {
	switch {
	case x.Type == t:
		return x
	case from.IsFloat():
		return w.Op(FloatToFloat, t, x)
	case from.IsUnsigned():
		return w.Op(UintToFloat, t, x)
	}
	return w.Op(IntToFloat, t, x)
}

// resize converts integers.
func (w *writer) resize(x Value, from, to ir.DType) Value {
	t := TypeOf(to)
	switch {
	case x.Type == I64 && t == I32:
		x = w.Op(Narrow, I32, x)
	case x.Type == I32 && t == I64 && from.IsUnsigned():
		return w.Op(ExtendU, I64, x)
	case x.Type == I32 && t == I64:
		return w.Op(ExtendS, I64, x)
	}
	return w.wrap(x, to)
}

// saturate cuts a float towards zero, and to what the integers of dtype d hold.
func (w *writer) saturate(x Value, d ir.DType) Value {
	t := TypeOf(d)
	limit := func(f float64) Value {
		if x.Type == F32 {
			return w.Const(F32, uint64(math.Float32bits(float32(f)))) // a power of two
		}
		return w.Const(F64, math.Float64bits(f))
	}
	zero := w.Const(t, 0)
	if d.IsUnsigned() {
		below := w.Op(Less, Bool, x, limit(math.Ldexp(1, 8*d.Size())))
		r := w.pick(below, w.Op(FloatToUint, t, x), w.of(d, ir.Highest(d)))
		return w.pick(w.Op(Less, Bool, limit(0), x), r, zero)
	}
	top := math.Ldexp(1, 8*d.Size()-1)
	r := w.pick(w.Op(Less, Bool, x, limit(top)), w.Op(FloatToInt, t, x), w.of(d, ir.Highest(d)))
	r = w.pick(w.Op(Less, Bool, x, limit(-top)), w.of(d, ir.Lowest(d)), r)
	return w.pick(w.Op(NotEqual, Bool, x, x), zero, r)
}

// bitcast keeps the bits.
func (w *writer) bitcast(x Value, from, to ir.DType) Value {
	switch {
	case from == to:
		return x
	case from == ir.Bool:
		return w.pick(x, w.Const(I32, 1), w.Const(I32, 0))
	case to == ir.Bool:
		return w.Op(NotEqual, Bool, x, w.Const(I32, 0))
	case TypeOf(from) == TypeOf(to):
		return w.wrap(x, to)
	}
	return w.Op(Bits, TypeOf(to), x)
}

// WidenHalf is HalfToFloat for a machine without it, in exact
// operations that no flushing of subnormals disturbs.
func WidenHalf(b Machine, x Value) Value {
	i32 := func(n uint64) Value { return b.Const(I32, n) }
	op := func(o Op, x Value, n uint64) Value { return b.Op(o, I32, x, i32(n)) }
	low := op(Shl, op(And, x, 0x7fff), 13) // exponent and fraction in their places
	// A subnormal is its fraction, a whole number, by 2^-24.
	whole := b.Op(UintToFloat, F32, op(And, x, 0x3ff))
	small := b.Op(Bits, I32, b.Op(Mul, F32, whole, b.Const(F32, uint64(math.Float32bits(0x1p-24)))))
	r := op(Add, low, 112<<23)
	exponent := op(And, low, 0x0f800000)
	r = b.Op(Select, I32, b.Op(Equal, Bool, exponent, i32(0x0f800000)), op(Add, low, 224<<23), r)
	r = b.Op(Select, I32, b.Op(Equal, Bool, exponent, i32(0)), small, r)
	return b.Op(Bits, F32, b.Op(Or, I32, r, op(Shl, op(And, x, 0x8000), 16)))
}

// NarrowHalf is FloatToHalf for a machine without it. Adding 1/2
// to a number below 2^-14 rounds it to a multiple of 2^-24.
func NarrowHalf(b Machine, x Value) Value {
	i32 := func(n uint64) Value { return b.Const(I32, n) }
	op := func(o Op, x Value, n uint64) Value { return b.Op(o, I32, x, i32(n)) }
	word := b.Op(Bits, I32, x)
	size := op(And, word, 0x7fffffff)
	odd := op(And, op(ShrU, size, 13), 1)
	normal := op(ShrU, b.Op(Add, I32, op(Sub, size, 112<<23-0xfff), odd), 13)
	half := uint64(math.Float32bits(0.5))
	sum := b.Op(Add, F32, b.Op(Bits, F32, size), b.Const(F32, half))
	small := op(Sub, b.Op(Bits, I32, sum), half)
	nan := op(Or, op(And, op(ShrU, size, 13), 0x3ff), 0x7e00)
	big := b.Op(Select, I32, b.Op(LessU, Bool, i32(0x7f800000), size), nan, i32(0x7c00))
	r := b.Op(Select, I32, b.Op(LessU, Bool, size, i32(0x38800000)), small, normal)
	r = b.Op(Select, I32, b.Op(LessU, Bool, size, i32(0x47800000)), r, big)
	return b.Op(Or, I32, r, op(And, op(ShrU, word, 16), 0x8000))
}
