package generic

import (
	"unsafe"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// block computes n elements of dst from those of x.
type block func(s *state, n, dst int, x [3]int)

// arithmetic is op on operands of type from with a result of type to. What is
// common is a loop of its own; the rest calls the scalar function.
func arithmetic(op ir.Op, from, to ir.DType) block {
	switch from {
	case ir.F32:
		return floatBlock[float32](op, to)
	case ir.F64:
		return floatBlock[float64](op, to)
	case ir.F16, ir.BF16:
		return halfBlock(op, halves[from], to)
	case ir.I8:
		return intBlock[int8](op, to)
	case ir.I16:
		return intBlock[int16](op, to)
	case ir.I32:
		return intBlock[int32](op, to)
	case ir.I64:
		return intBlock[int64](op, to)
	case ir.U8, ir.Bool:
		return intBlock[uint8](op, to)
	case ir.U16:
		return intBlock[uint16](op, to)
	case ir.U32:
		return intBlock[uint32](op, to)
	}
	return intBlock[uint64](op, to)
}

func floatBlock[T loop.Float](op ir.Op, to ir.DType) block {
	switch op {
	case ir.Div:
		return func(s *state, n, dst int, r [3]int) {
			x, y, d := view[T](s, r[0]), view[T](s, r[1]), define[T](s, dst, n)
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = x[i] / y[i]
			}
		}
	case ir.FMA:
		return ternary(loop.Fused[T]())
	}
	if f := loop.UnaryFloat[T](op); f != nil {
		return unary(f)
	}
	if f := loop.BinaryFloat[T](op); f != nil {
		return binary(op, f)
	}
	return anyBlock[T](op, to)
}

func intBlock[T loop.Integer](op ir.Op, to ir.DType) block {
	if f := loop.UnaryInt[T](op); f != nil {
		return unary(f)
	}
	switch op {
	case ir.And:
		return func(s *state, n, dst int, r [3]int) {
			x, y, d := view[T](s, r[0]), view[T](s, r[1]), define[T](s, dst, n)
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = x[i] & y[i]
			}
		}
	case ir.Or:
		return func(s *state, n, dst int, r [3]int) {
			x, y, d := view[T](s, r[0]), view[T](s, r[1]), define[T](s, dst, n)
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = x[i] | y[i]
			}
		}
	}
	if f := loop.BinaryInt[T](op); f != nil {
		return binary(op, f)
	}
	return anyBlock[T](op, to)
}

func unary[T, R loop.Number](f func(T) R) block {
	return func(s *state, n, dst int, r [3]int) {
		x, d := view[T](s, r[0]), define[R](s, dst, n)
		x = x[:len(d)]
		for i := range d {
			d[i] = f(x[i])
		}
	}
}

// binary is f element by element, spelt out for the operations that fill most
// kernels.
func binary[T loop.Number](op ir.Op, f func(x, y T) T) block {
	switch op {
	case ir.Add:
		return func(s *state, n, dst int, r [3]int) {
			x, y, d := view[T](s, r[0]), view[T](s, r[1]), define[T](s, dst, n)
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = x[i] + y[i]
			}
		}
	case ir.Sub:
		return func(s *state, n, dst int, r [3]int) {
			x, y, d := view[T](s, r[0]), view[T](s, r[1]), define[T](s, dst, n)
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = x[i] - y[i]
			}
		}
	case ir.Mul:
		return func(s *state, n, dst int, r [3]int) {
			x, y, d := view[T](s, r[0]), view[T](s, r[1]), define[T](s, dst, n)
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = x[i] * y[i]
			}
		}
	}
	return pairs(f)
}

func pairs[T, R loop.Number](f func(x, y T) R) block {
	return func(s *state, n, dst int, r [3]int) {
		x, y, d := view[T](s, r[0]), view[T](s, r[1]), define[R](s, dst, n)
		x, y = x[:len(d)], y[:len(d)]
		for i := range d {
			d[i] = f(x[i], y[i])
		}
	}
}

func ternary[T loop.Number](f func(x, y, z T) T) block {
	return func(s *state, n, dst int, r [3]int) {
		x, y, z, d := view[T](s, r[0]), view[T](s, r[1]), view[T](s, r[2]), define[T](s, dst, n)
		x, y, z = x[:len(d)], y[:len(d)], z[:len(d)]
		for i := range d {
			d[i] = f(x[i], y[i], z[i])
		}
	}
}

// anyBlock holds what every type has: comparing and Cast.
func anyBlock[T loop.Number](op ir.Op, to ir.DType) block {
	switch op {
	case ir.Less:
		return func(s *state, n, dst int, r [3]int) {
			x, y, d := view[T](s, r[0]), view[T](s, r[1]), define[uint8](s, dst, n)
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = truth(x[i] < y[i])
			}
		}
	case ir.Equal:
		return func(s *state, n, dst int, r [3]int) {
			x, y, d := view[T](s, r[0]), view[T](s, r[1]), define[uint8](s, dst, n)
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = truth(x[i] == y[i])
			}
		}
	}
	switch to {
	case ir.F32:
		return unary(loop.Convert[float32, T])
	case ir.F64:
		return unary(loop.Convert[float64, T])
	case ir.F16, ir.BF16:
		enc := halves[to].enc
		return unary(func(x T) uint16 { return enc(loop.Convert[float32](x)) })
	case ir.I8:
		return unary(loop.Convert[int8, T])
	case ir.I16:
		return unary(loop.Convert[int16, T])
	case ir.I32:
		return unary(loop.Convert[int32, T])
	case ir.I64:
		return unary(loop.Convert[int64, T])
	case ir.U8:
		return unary(loop.Convert[uint8, T])
	case ir.U16:
		return unary(loop.Convert[uint16, T])
	case ir.U32:
		return unary(loop.Convert[uint32, T])
	case ir.U64:
		return unary(loop.Convert[uint64, T])
	}
	return unary(func(x T) uint8 { return truth(x != 0) })
}

func truth(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// half is how a 16-bit float is converted.
type half struct {
	dec func(uint16) float32
	enc func(float32) uint16
}

var halves = map[ir.DType]half{
	ir.F16:  {ir.F16ToFloat32, ir.F16FromFloat32},
	ir.BF16: {ir.BF16ToFloat32, ir.BF16FromFloat32},
}

// halfBlock computes 16-bit floats as float32 and rounds each result.
func halfBlock(op ir.Op, h half, to ir.DType) block {
	if f := loop.UnaryFloat[float32](op); f != nil {
		return unary(func(x uint16) uint16 { return h.enc(f(h.dec(x))) })
	}
	if f := h.binary(op); f != nil {
		return pairs(f)
	}
	if op == ir.FMA {
		return ternary(func(x, y, z uint16) uint16 { return h.enc(loop.FMA32(h.dec(x), h.dec(y), h.dec(z))) })
	}
	if f := loop.Compare[float32](op); f != nil {
		return pairs(func(x, y uint16) uint8 { return truth(f(h.dec(x), h.dec(y))) })
	}
	// A cast takes its operand from where this call has widened it to.
	f := anyBlock[float32](op, to)
	return func(s *state, n, dst int, r [3]int) {
		for i, x := range view[uint16](s, r[0])[:n] {
			s.wide[i] = h.dec(x)
		}
		narrow := s.regs[r[0]]
		s.regs[r[0]] = register{unsafe.Pointer(s.wide), n}
		f(s, n, dst, r)
		s.regs[r[0]] = narrow
	}
}

// binary is op on two 16-bit floats, nil if op is no such operation.
func (h half) binary(op ir.Op) func(x, y uint16) uint16 {
	f := loop.BinaryFloat[float32](op)
	if f == nil {
		return nil
	}
	return func(x, y uint16) uint16 { return h.enc(f(h.dec(x), h.dec(y))) }
}

// divisor reports a zero among the divisors in register y.
func divisor(op ir.Op, d ir.DType, y int, lanes bool) step {
	isZero := moverOf(d).hasZero
	return func(s *state) {
		if isZero(s, y, s.count(lanes)) {
			s.fail("%v by zero", op)
		}
	}
}
