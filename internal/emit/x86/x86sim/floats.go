package x86sim

import (
	"math"

	"github.com/sinterml/sinter/internal/loop"
)

// float tells a type's numbers from its bits.
type float interface{ ~float32 | ~float64 }

func isNaN[T float](x T) bool { return x != x }

// quiet returns a NaN with its payload, as an instruction returns one it is given.
func quiet[T float](x T) T {
	switch x := any(x).(type) {
	case float32:
		return any(math.Float32frombits(math.Float32bits(x) | 1<<22)).(T)
	case float64:
		return any(math.Float64frombits(math.Float64bits(x) | 1<<51)).(T)
	}
	return x
}

// signals tells a signalling NaN.
func signals[T float](x T) bool {
	switch x := any(x).(type) {
	case float32:
		return isNaN(x) && math.Float32bits(x)&(1<<22) == 0
	case float64:
		return isNaN(x) && math.Float64bits(x)&(1<<51) == 0
	}
	return false
}

// indefinite is the NaN of an operation on numbers.
func indefinite[T float]() T {
	var zero T
	switch any(zero).(type) {
	case float32:
		return any(math.Float32frombits(0xFFC00000)).(T)
	default:
		return any(math.Float64frombits(0xFFF8000000000000)).(T)
	}
}

// arith is f with the NaN of x86: the first operand's, the second's, or its own.
func arith[T float](f func(x, y T) T) func(x, y T) T {
	return func(x, y T) T {
		switch {
		case isNaN(x):
			return quiet(x)
		case isNaN(y):
			return quiet(y)
		}
		if r := f(x, y); !isNaN(r) {
			return r
		}
		return indefinite[T]()
	}
}

func add[T float](x, y T) T  { return x + y }
func sub[T float](x, y T) T  { return x - y }
func mulf[T float](x, y T) T { return x * y }
func div[T float](x, y T) T  { return x / y }

// minf and maxf return the second operand for zeros and where one is NaN.
func minf[T float](x, y T) T {
	if x < y {
		return x
	}
	return y
}

func maxf[T float](x, y T) T {
	if x > y {
		return x
	}
	return y
}

func sqrt[T float](x T) T {
	switch {
	case isNaN(x):
		return quiet(x)
	case x < 0:
		return indefinite[T]()
	}
	return T(math.Sqrt(float64(x))) // of float32 rounded twice, which is exact for a root
}

// fma is x*y + z rounded once.
func fma[T float](x, y, z T) T {
	switch x := any(x).(type) {
	case float32:
		return any(loop.FMA32(x, any(y).(float32), any(z).(float32))).(T)
	case float64:
		return any(math.FMA(x, any(y).(float64), any(z).(float64))).(T)
	}
	return 0
}

// mulAdd is x*y + z, the signs of the product and of z changed if so asked; of
// several NaN the one of x comes first, then of y.
func mulAdd[T float](x, y, z T, negateProduct, negateSum bool) T {
	switch {
	case isNaN(x):
		return quiet(x)
	case isNaN(y):
		return quiet(y)
	case isNaN(z):
		return quiet(z)
	}
	if negateProduct {
		x = -x
	}
	if negateSum {
		z = -z
	}
	if r := fma(x, y, z); !isNaN(r) {
		return r
	}
	return indefinite[T]()
}

// mulAdd32 is mulAdd of float32, which most instructions are.
func mulAdd32(x, y, z float32, negateProduct, negateSum bool) float32 {
	u, w := x, z
	if negateProduct {
		u = -x
	}
	if negateSum {
		w = -z
	}
	if r := loop.FMA32(u, y, w); r == r {
		return r
	}
	return mulAdd(x, y, z, negateProduct, negateSum)
}

// fmaRows has the rows of a multiply-add: its orders of operands, of vectors of
// both types, and of scalars. last is the last digit of the opcode of vectors.
func fmaRows(name string, last byte, negateProduct, negateSum bool) (rows []opcode) {
	digits := func(order int, scalar byte) string { return string([]byte{"9AB"[order], last + scalar}) }
	for order, named := range []string{"132", "213", "231"} {
		vector := "VEX|EVEX.66.0F38."
		rows = append(rows,
			opcode{name: name + named + "ps", text: vector + "W0 " + digits(order, 0), memory: full, elem: 4, do: map3(ordered32(order, negateProduct, negateSum))},
			opcode{name: name + named + "pd", text: vector + "W1 " + digits(order, 0), memory: full, elem: 8, do: map3(ordered[float64](order, negateProduct, negateSum))},
			opcode{name: name + named + "ss", text: vector + "W0 " + digits(order, 1), memory: 4, elem: 4, do: fused(ordered[float32](order, negateProduct, negateSum))},
			opcode{name: name + named + "sd", text: vector + "W1 " + digits(order, 1), memory: 8, elem: 8, do: fused(ordered[float64](order, negateProduct, negateSum))})
	}
	return rows
}

// ordered is mulAdd of the operands d, x, y in the order that a name says.
func ordered[T float](order int, negateProduct, negateSum bool) func(d, x, y T) T {
	switch order {
	case 0: // 132
		return func(d, x, y T) T { return mulAdd(d, y, x, negateProduct, negateSum) }
	case 1: // 213
		return func(d, x, y T) T { return mulAdd(x, d, y, negateProduct, negateSum) }
	}
	return func(d, x, y T) T { return mulAdd(x, y, d, negateProduct, negateSum) } // 231
}

func ordered32(order int, negateProduct, negateSum bool) func(d, x, y float32) float32 {
	switch order {
	case 0:
		return func(d, x, y float32) float32 { return mulAdd32(d, y, x, negateProduct, negateSum) }
	case 1:
		return func(d, x, y float32) float32 { return mulAdd32(x, d, y, negateProduct, negateSum) }
	}
	return func(d, x, y float32) float32 { return mulAdd32(x, y, d, negateProduct, negateSum) }
}

// rounded rounds to a whole number: 0 to the nearest, even in the middle, 1 down,
// 2 up, 3 towards zero; with 4 as the state of the processor says, which is 0.
func rounded(x float64, mode int) float64 {
	if mode&4 != 0 {
		mode = 0
	}
	return [...]func(float64) float64{math.RoundToEven, math.Floor, math.Ceil, math.Trunc}[mode&3](x)
}

// roundTo rounds to imm>>4 binary digits behind the point.
func roundTo[T float](x T, imm int) T {
	if isNaN(x) {
		return quiet(x)
	}
	scale := math.Ldexp(1, imm>>4)
	if r := float64(x) * scale; !math.IsInf(r, 0) {
		return T(rounded(r, imm) / scale)
	}
	return x
}

// reduced is what roundTo takes away; rounding down, a difference that is zero
// has a minus.
func reduced[T float](x T, imm int) T {
	switch {
	case isNaN(x):
		return quiet(x)
	case math.IsInf(float64(x), 0):
		return 0
	}
	const down = 1
	r := x - roundTo(x, imm)
	if r == 0 && imm&7 == down {
		return T(math.Copysign(0, -1))
	}
	return r
}

// scaled is x times two to the power of y rounded down.
func scaled[T float](x, y T) T {
	infinite := func(v T) bool { return math.IsInf(float64(v), 0) }
	switch {
	case isNaN(x) && infinite(y) && !signals(x):
		return max(y, 0)
	case isNaN(x):
		return quiet(x)
	case isNaN(y):
		return quiet(y)
	case infinite(y) && y > 0:
		if x == 0 {
			return indefinite[T]()
		}
		return T(math.Copysign(math.Inf(1), float64(x)))
	case infinite(y):
		if infinite(x) {
			return indefinite[T]()
		}
		return T(math.Copysign(0, float64(x)))
	}
	return T(math.Ldexp(float64(x), int(max(-5000, min(5000, math.Floor(float64(y)))))))
}

// ranged is VRANGE: the lesser (0), greater (1), or that by size (2, 3), with the
// sign of x (0), its own (1), positive (2) or negative (3) in the next two bits.
func ranged[T float](x, y T, imm int) T {
	var r T
	switch {
	case signals(x):
		return quiet(x)
	case signals(y):
		return quiet(y)
	case isNaN(x) && isNaN(y):
		r = x
	case isNaN(x):
		r = y
	case isNaN(y):
		r = x
	default:
		r = ranging(x, y, imm&3)
	}
	if imm>>2&3 == 1 {
		return r
	}
	sign := float64(x)
	switch imm >> 2 & 3 {
	case 2:
		sign = 1
	case 3:
		sign = -1
	}
	return copysign(r, sign)
}

func ranging[T float](x, y T, what int) T {
	a, b := float64(x), float64(y)
	if what >= 2 {
		a, b = math.Abs(a), math.Abs(b)
	}
	less := a < b || a == b && math.Signbit(a)
	if what >= 2 && a == b { // the same size: the negative one is the lesser
		less = math.Signbit(float64(x))
	}
	if less == (what&1 == 0) {
		return x
	}
	return y
}

// copysign keeps the bits of a NaN.
func copysign[T float](x T, sign float64) T {
	negative := math.Signbit(sign)
	switch x := any(x).(type) {
	case float32:
		b := math.Float32bits(x) &^ (1 << 31)
		if negative {
			b |= 1 << 31
		}
		return any(math.Float32frombits(b)).(T)
	case float64:
		b := math.Float64bits(x) &^ (1 << 63)
		if negative {
			b |= 1 << 63
		}
		return any(math.Float64frombits(b)).(T)
	}
	return x
}

// predicate tells whether x and y compare as the 5 bits of an immediate say.
func predicate[T float](x, y T, imm int) bool {
	unordered := isNaN(x) || isNaN(y)
	var r bool
	switch imm & 7 {
	case 0: // equal; 8: or unordered
		r = x == y || unordered && imm&8 != 0
	case 1: // less; 9: not greater or equal
		r = x < y || unordered && imm&8 != 0
	case 2: // less or equal; 10: not greater
		r = x <= y || unordered && imm&8 != 0
	case 3: // unordered; 11: never
		r = unordered && imm&8 == 0
	case 4: // not equal; 12: and ordered
		r = x != y && !(unordered && imm&8 != 0)
	case 5: // not less; 13: greater or equal
		r = !(x < y) && !(unordered && imm&8 != 0)
	case 6: // not less or equal; 14: greater
		r = !(x <= y) && !(unordered && imm&8 != 0)
	case 7: // ordered; 15: always
		r = !unordered || imm&8 != 0
	}
	return r
}

func compareFlags[T float](m *machine, in *instr) {
	x, y := lanes[T](&m.v[in.reg], 1)[0], lanes[T](m.operand(in, 1), 1)[0]
	unordered := isNaN(x) || isNaN(y)
	m.flags = flags{cf: x < y || unordered, zf: x == y || unordered, pf: unordered}
}
