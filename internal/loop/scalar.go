package loop

import (
	"math"
	"unsafe"

	"github.com/sinterml/sinter/internal/accurate"
	"github.com/sinterml/sinter/internal/ir"
)

// The functions of this file are what each pointwise operation means for one
// element. Interpret and the generic emitter both call them, so the two
// cannot drift apart.

// Float is the Go types that float arithmetic is done in.
type Float interface{ float32 | float64 }

// Integer is the Go types of the integer dtypes; Bool is a uint8 of 0 or 1.
type Integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// Number is every Go type of a scalar.
type Number interface{ Float | Integer }

// UnaryFloat is an operation of one float; nil if op is none. f16 and bf16
// are computed as float32.
func UnaryFloat[T Float](op ir.Op) func(T) T {
	switch op {
	case ir.Neg:
		return func(x T) T { return -x }
	case ir.Recip:
		return func(x T) T { return 1 / x }
	}
	// Rounding a float64 result to float32 is exact for the first group and
	// within an ulp for the others.
	if f := mathUnary(op); f != nil {
		return func(x T) T { return T(f(float64(x))) }
	}
	return nil
}

func mathUnary(op ir.Op) func(float64) float64 {
	switch op {
	case ir.Abs:
		return math.Abs
	case ir.Sqrt:
		return math.Sqrt
	case ir.Trunc:
		return math.Trunc
	case ir.Floor:
		return math.Floor
	case ir.Round:
		return math.RoundToEven
	case ir.Exp:
		return math.Exp
	case ir.Exp2:
		return math.Exp2
	case ir.Expm1:
		return math.Expm1
	case ir.Log:
		return accurate.Log
	case ir.Log2:
		return accurate.Log2
	case ir.Log1p:
		return math.Log1p
	case ir.Sin:
		return accurate.Sin
	case ir.Cos:
		return accurate.Cos
	case ir.Atan:
		return math.Atan
	case ir.Tanh:
		return math.Tanh
	case ir.Erf:
		return math.Erf
	}
	return nil
}

// BinaryFloat is an operation of two floats that gives one; nil if op is none.
// Go's min and max already let NaN through and put -0 below +0.
func BinaryFloat[T Float](op ir.Op) func(x, y T) T {
	switch op {
	case ir.Add:
		return func(x, y T) T { return x + y }
	case ir.Sub:
		return func(x, y T) T { return x - y }
	case ir.Mul:
		return func(x, y T) T { return x * y }
	case ir.Div:
		return func(x, y T) T { return x / y }
	case ir.Pow:
		return func(x, y T) T { return T(accurate.Pow(float64(x), float64(y))) }
	case ir.Min:
		return func(x, y T) T { return min(x, y) }
	case ir.Max:
		return func(x, y T) T { return max(x, y) }
	case ir.Shl:
		return scale[T]
	}
	return nil
}

// scale is x*2^n: exact in float64, and rounded once to float32.
func scale[T Float](x, n T) T {
	return T(float64(x) * math.Float64frombits(uint64(1023+int64(n))<<52))
}

// UnaryInt is an operation of one integer; nil if op is none.
func UnaryInt[T Integer](op ir.Op) func(T) T {
	switch op {
	case ir.Neg:
		return func(x T) T { return -x }
	case ir.Abs:
		return func(x T) T {
			if x < 0 {
				return -x
			}
			return x
		}
	}
	return nil
}

// BinaryInt is an operation of two integers that gives one; nil if op is none.
// Division by zero gives 0 here: the caller reports it.
func BinaryInt[T Integer](op ir.Op) func(x, y T) T {
	switch op {
	case ir.Add:
		return func(x, y T) T { return x + y }
	case ir.Sub:
		return func(x, y T) T { return x - y }
	case ir.Mul:
		return func(x, y T) T { return x * y }
	case ir.MulHi:
		if _, word := any(T(0)).(uint32); !word {
			return nil
		}
		return func(x, y T) T { return T(uint64(x) * uint64(y) >> 32) }
	case ir.Min:
		return func(x, y T) T { return min(x, y) }
	case ir.Max:
		return func(x, y T) T { return max(x, y) }
	case ir.IDiv:
		return floorDiv[T]
	case ir.Mod:
		return floorMod[T]
	case ir.And:
		return func(x, y T) T { return x & y }
	case ir.Or:
		return func(x, y T) T { return x | y }
	case ir.Xor:
		return func(x, y T) T { return x ^ y }
	case ir.Shl:
		return shl[T]
	case ir.Shr:
		return shr[T]
	}
	return nil
}

func floorDiv[T Integer](x, y T) T {
	if y == 0 {
		return 0
	}
	q := x / y
	if r := x - q*y; r != 0 && (r < 0) != (y < 0) {
		q--
	}
	return q
}

func floorMod[T Integer](x, y T) T {
	if y == 0 {
		return 0
	}
	r := x % y
	if r != 0 && (r < 0) != (y < 0) {
		r += y
	}
	return r
}

// width is the bits of T. A shift by as much or more gives 0, as does a
// negative one, which is huge as a uint64.
func width[T Number](x T) uint64 { return uint64(unsafe.Sizeof(x)) * 8 }

func shl[T Integer](x, y T) T {
	if uint64(y) >= width(x) {
		return 0
	}
	return x << uint64(y)
}

func shr[T Integer](x, y T) T {
	if uint64(y) >= width(x) {
		return 0
	}
	return x >> uint64(y)
}

// Compare is an operation of two numbers that gives a bool; nil if op is none.
func Compare[T Number](op ir.Op) func(x, y T) bool {
	switch op {
	case ir.Less:
		return func(x, y T) bool { return x < y }
	case ir.Equal:
		return func(x, y T) bool { return x == y }
	}
	return nil
}

// FMA32 is x*y + z rounded once. The product is exact in float64. Rounding the
// sum there and then to float32 differs from rounding it once only where the sum
// in float64 lies half way between two numbers of float32: only there, and below
// the normal numbers, which lie at other distances, is it rounded with care.
func FMA32(x, y, z float32) float32 {
	p, c := float64(x)*float64(y), float64(z)
	s := p + c
	const (
		half    = 1 << 28 // of the last digit of float32
		below   = half<<1 - 1
		normals = (1023 - 126) << 52
	)
	if b := math.Float64bits(s); b&below != half && b&^(1<<63) >= normals {
		return float32(s)
	}
	if s == 0 { // as often: exact, no product is too small for float64
		return float32(s)
	}
	return roundedSum(p, c, s)
}

// roundedSum is p + c, of which s is the nearest float64, rounded to float32. It
// is rounded to odd first, which keeps the second rounding correct (Boldo and
// Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
func roundedSum(p, c, s float64) float32 {
	// The error of the sum, exact without overflow (Knuth's two-sum).
	pp := s - c
	err := (p - pp) + (c - (s - pp))
	if err == 0 || math.IsInf(s, 0) || math.IsNaN(err) {
		return float32(s)
	}
	b := math.Float64bits(s)
	if b&1 == 0 {
		if (err > 0) == (s > 0) {
			b++
		} else {
			b--
		}
	}
	return float32(math.Float64frombits(b))
}

// Fused returns x*y + z rounded once.
func Fused[T Float]() func(x, y, z T) T {
	if f, ok := any(FMA32).(func(x, y, z T) T); ok {
		return f
	}
	return func(x, y, z T) T { return T(math.FMA(float64(x), float64(y), float64(z))) }
}

func isFloat[T Number]() bool {
	one := T(1)
	return one/2 != 0
}

// Convert is Cast between the Go types: to an integer a float is cut towards
// zero and saturates, NaN gives 0; integers wrap. Casts to f16 and bf16 go
// through float32; those to bool are x != 0.
func Convert[T, F Number](x F) T {
	if isFloat[F]() && !isFloat[T]() {
		return saturate[T](float64(x))
	}
	return T(x)
}

func saturate[T Number](x float64) T {
	w := width(T(0))
	zero := T(0)
	if zero-1 > 0 { // unsigned
		switch {
		case !(x > 0):
			return 0
		case x >= math.Ldexp(1, int(w)):
			return zero - 1
		}
		return T(uint64(x))
	}
	switch limit := math.Ldexp(1, int(w-1)); {
	case x != x:
		return 0
	case x >= limit:
		return T(int64(1)<<(w-1) - 1)
	case x < -limit:
		return T(int64(-1) << (w - 1))
	}
	return T(int64(x))
}
