package interp

import (
	"fmt"
	"math"

	"github.com/sinterml/sinter/internal/accurate"
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
)

func each[T any](out, x []T, f func(T) T) {
	for i, a := range x {
		out[i] = f(a)
	}
}

func each2[T any](out, x, y []T, f func(T, T) T) {
	for i, a := range x {
		out[i] = f(a, y[i])
	}
}

// functions are the transcendental functions and roundings, in float64. An f32
// result is the float64 one rounded again, which is the correctly rounded one
// but for arguments within 2^-29 ulp of the middle between two floats.
var functions = map[ir.Op]func(float64) float64{
	ir.Sqrt: math.Sqrt, ir.Exp: math.Exp, ir.Exp2: math.Exp2, ir.Expm1: math.Expm1,
	ir.Log: accurate.Log, ir.Log2: accurate.Log2, ir.Log1p: math.Log1p,
	ir.Sin: accurate.Sin, ir.Cos: accurate.Cos, ir.Atan: math.Atan, ir.Tanh: math.Tanh, ir.Erf: math.Erf,
	ir.Trunc: math.Trunc, ir.Floor: math.Floor, ir.Round: math.RoundToEven,
}

func (floats[T]) unary(c *call) error {
	out, x := view[T](c.out[0]), view[T](c.in[0])
	switch c.Op {
	case ir.Neg:
		each(out, x, func(a T) T { return -a })
	case ir.Abs:
		each(out, x, func(a T) T { return T(math.Abs(float64(a))) })
	case ir.Recip:
		each(out, x, func(a T) T { return 1 / a })
	default:
		f, ok := functions[c.Op]
		if !ok {
			return fmt.Errorf("no %v of floats", c.Op)
		}
		each(out, x, func(a T) T { return T(f(float64(a))) })
	}
	return nil
}

func (integers[T]) unary(c *call) error {
	out, x := view[T](c.out[0]), view[T](c.in[0])
	switch c.Op {
	case ir.Neg:
		each(out, x, func(a T) T { return -a })
	case ir.Abs:
		each(out, x, absInt[T])
	default:
		return fmt.Errorf("no %v of integers", c.Op)
	}
	return nil
}

// absInt wraps at the lowest integer, which stays itself.
func absInt[T integer](a T) T {
	if a < 0 {
		return -a
	}
	return a
}

func (floats[T]) binary(c *call) error {
	out, x, y := view[T](c.out[0]), view[T](c.in[0]), view[T](c.in[1])
	switch c.Op {
	case ir.Add:
		each2(out, x, y, func(a, b T) T { return a + b })
	case ir.Sub:
		each2(out, x, y, func(a, b T) T { return a - b })
	case ir.Mul:
		each2(out, x, y, func(a, b T) T { return a * b })
	case ir.Div:
		each2(out, x, y, func(a, b T) T { return a / b })
	case ir.Pow:
		each2(out, x, y, func(a, b T) T { return T(accurate.Pow(float64(a), float64(b))) })
	case ir.Min: // Go's min and max propagate NaN and put -0 below +0
		each2(out, x, y, func(a, b T) T { return min(a, b) })
	case ir.Max:
		each2(out, x, y, func(a, b T) T { return max(a, b) })
	default:
		return fmt.Errorf("no %v of floats", c.Op)
	}
	return nil
}

func (integers[T]) binary(c *call) error {
	out, x, y := view[T](c.out[0]), view[T](c.in[0]), view[T](c.in[1])
	switch c.Op {
	case ir.Add:
		each2(out, x, y, func(a, b T) T { return a + b })
	case ir.Sub:
		each2(out, x, y, func(a, b T) T { return a - b })
	case ir.Mul:
		each2(out, x, y, func(a, b T) T { return a * b })
	case ir.MulHi: // of u32
		each2(out, x, y, func(a, b T) T { return T(uint64(a) * uint64(b) >> 32) })
	case ir.Min:
		each2(out, x, y, func(a, b T) T { return min(a, b) })
	case ir.Max:
		each2(out, x, y, func(a, b T) T { return max(a, b) })
	case ir.And:
		each2(out, x, y, func(a, b T) T { return a & b })
	case ir.Or:
		each2(out, x, y, func(a, b T) T { return a | b })
	case ir.Xor:
		each2(out, x, y, func(a, b T) T { return a ^ b })
	case ir.Shl:
		each2(out, x, y, shl[T])
	case ir.Shr:
		each2(out, x, y, shr[T])
	case ir.IDiv, ir.Mod:
		for i, b := range y {
			if b == 0 {
				return &device.DivisionError{Op: c.Op.String(), At: i}
			}
		}
		f := floorDiv[T]
		if c.Op == ir.Mod {
			f = floorMod[T]
		}
		each2(out, x, y, f)
	default:
		return fmt.Errorf("no %v of integers", c.Op)
	}
	return nil
}

// pastWidth is true for shift counts that leave no bit; negative ones are
// large counts read as unsigned.
func pastWidth[T integer](n T) bool { return n < 0 || uint64(n) >= uint64(width[T]()) }

func shl[T integer](a, n T) T {
	if pastWidth(n) {
		return 0
	}
	return a << uint(n)
}

func shr[T integer](a, n T) T {
	if pastWidth(n) {
		return 0
	}
	return a >> uint(n)
}

// floorDiv rounds towards -Inf. The lowest integer over -1 wraps, as in Go.
func floorDiv[T integer](a, b T) T {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// floorMod has the sign of b.
func floorMod[T integer](a, b T) T {
	r := a % b
	if r != 0 && (r < 0) != (b < 0) {
		r += b
	}
	return r
}

func (numbers[T, A]) compare(c *call) {
	out, x, y := c.out[0].data, view[T](c.in[0]), view[T](c.in[1])
	for i, a := range x {
		if c.Op == ir.Less && a < y[i] || c.Op == ir.Equal && a == y[i] {
			out[i] = 1
		}
	}
}

func fma(c *call) error {
	if c.in[0].t == ir.F64 {
		out, x, y, z := view[float64](c.out[0]), view[float64](c.in[0]), view[float64](c.in[1]), view[float64](c.in[2])
		for i := range out {
			out[i] = math.FMA(x[i], y[i], z[i])
		}
		return nil
	}
	out, x, y, z := view[float32](c.out[0]), view[float32](c.in[0]), view[float32](c.in[1]), view[float32](c.in[2])
	for i := range out {
		out[i] = fma32(x[i], y[i], z[i])
	}
	return nil
}

// fma32 is x*y + z rounded once. The product is exact in float64; the sum is
// rounded to odd, so that rounding it again to float32 is as if from the exact
// value (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums").
func fma32(x, y, z float32) float32 {
	p, c := float64(x)*float64(y), float64(z)
	s := p + c
	if math.IsNaN(s) || math.IsInf(s, 0) {
		return float32(s)
	}
	b := s - p // TwoSum: lost is exactly what rounding took from p + c
	lost := (p - (s - b)) + (c - b)
	bits := math.Float64bits(s)
	if lost != 0 && bits&1 == 0 {
		if (lost > 0) == (s > 0) {
			bits++
		} else {
			bits--
		}
	}
	return float32(math.Float64frombits(bits))
}

// where copies bits, so that NaNs keep their payload.
func where(c *call) error {
	cond := c.in[0].data
	switch c.out[0].t.Size() {
	case 1:
		choose[uint8](c, cond)
	case 2:
		choose[uint16](c, cond)
	case 4:
		choose[uint32](c, cond)
	case 8:
		choose[uint64](c, cond)
	}
	return nil
}

func choose[T any](c *call, cond []byte) {
	out, y, z := view[T](c.out[0]), view[T](c.in[1]), view[T](c.in[2])
	for i, p := range cond {
		if p != 0 {
			out[i] = y[i]
		} else {
			out[i] = z[i]
		}
	}
}

func cast(c *call) error {
	kernelsOf[c.in[0].t].cast(c.out[0], c.in[0])
	return nil
}
