package rewrite

import (
	"math"
	"math/big"

	"github.com/sinterml/sinter/internal/ir"
)

// scalar computes one element of a pointwise operation as the referee does:
// v are bits of type in (of the condition too, for where), the result is of
// type out. ok is false for what is not folded: transcendental functions, on
// which devices differ in the last places, and division by zero, an error that
// belongs to the run.
func scalar(op ir.Op, in, out ir.DType, v ...uint64) (bits uint64, ok bool) {
	switch op {
	case ir.Where:
		if v[0] != 0 {
			return v[1], true
		}
		return v[2], true
	case ir.Bitcast:
		return v[0], true
	case ir.Cast:
		return convert(in, out, v[0]), true
	case ir.Less, ir.Equal:
		return compare(op, in, v[0], v[1]), true
	}
	switch {
	case in == ir.F64:
		f, ok := float64Op(op, v)
		return math.Float64bits(f), ok
	case in.IsFloat():
		f, ok := float32Op(op, in, v)
		return fromFloat32(in, f), ok
	}
	return integerOp(op, in, v)
}

func toFloat32(d ir.DType, bits uint64) float32 { return float32(ir.Float(d, bits)) }

// fromFloat32 rounds to a float type no wider than f32.
func fromFloat32(d ir.DType, f float32) uint64 {
	switch d {
	case ir.F16:
		return uint64(ir.F16FromFloat32(f))
	case ir.BF16:
		return uint64(ir.BF16FromFloat32(f))
	}
	return uint64(math.Float32bits(f))
}

func float32Op(op ir.Op, d ir.DType, v []uint64) (float32, bool) {
	x := toFloat32(d, v[0])
	var y float32
	if len(v) > 1 {
		y = toFloat32(d, v[1])
	}
	switch op {
	case ir.Recip:
		return 1 / x, true
	case ir.Sqrt: // float64 has more than twice the digits: rounding twice does no harm
		return float32(math.Sqrt(float64(x))), true
	case ir.Add:
		return x + y, true
	case ir.Sub:
		return x - y, true
	case ir.Mul:
		return x * y, true
	case ir.Div:
		return x / y, true
	case ir.FMA:
		return fma32(x, y, toFloat32(d, v[2])), true
	}
	f, ok := exactOp(op, float64(x), float64(y))
	return float32(f), ok
}

func float64Op(op ir.Op, v []uint64) (float64, bool) {
	x := math.Float64frombits(v[0])
	var y float64
	if len(v) > 1 {
		y = math.Float64frombits(v[1])
	}
	switch op {
	case ir.Recip:
		return 1 / x, true
	case ir.Sqrt:
		return math.Sqrt(x), true
	case ir.Add:
		return x + y, true
	case ir.Sub:
		return x - y, true
	case ir.Mul:
		return x * y, true
	case ir.Div:
		return x / y, true
	case ir.FMA:
		return math.FMA(x, y, math.Float64frombits(v[2])), true
	}
	return exactOp(op, x, y)
}

// exactOp does what needs no rounding, whatever the float type.
func exactOp(op ir.Op, x, y float64) (float64, bool) {
	switch op {
	case ir.Neg:
		return -x, true
	case ir.Abs:
		return math.Abs(x), true
	case ir.Trunc:
		return math.Trunc(x), true
	case ir.Floor:
		return math.Floor(x), true
	case ir.Round:
		return math.RoundToEven(x), true
	case ir.Min:
		return min(x, y), true
	case ir.Max:
		return max(x, y), true
	}
	return 0, false
}

// fma32 rounds x*y + z once, by exact arithmetic.
func fma32(x, y, z float32) float32 {
	exact := math.FMA(float64(x), float64(y), float64(z))
	if math.IsNaN(exact) || math.IsInf(exact, 0) || exact == 0 {
		return float32(exact)
	}
	// Exponents span 2^-298 to 2^256: 600 bits hold every sum.
	p := new(big.Float).SetPrec(600).Mul(big.NewFloat(float64(x)), big.NewFloat(float64(y)))
	f, _ := p.Add(p, big.NewFloat(float64(z))).Float32()
	return f
}

// integerOp computes in 64 bits and wraps to the type's width, which gives the
// same as computing in that width. Bool goes with the unsigned.
func integerOp(op ir.Op, d ir.DType, v []uint64) (uint64, bool) {
	x := ir.Int(d, v[0])
	var y int64
	if len(v) > 1 {
		y = ir.Int(d, v[1])
	}
	unsigned := d.IsUnsigned() || d == ir.Bool
	var z int64
	switch op {
	case ir.Neg:
		z = -x
	case ir.Abs:
		if z = x; x < 0 && !unsigned {
			z = -x
		}
	case ir.Add:
		z = x + y
	case ir.Sub:
		z = x - y
	case ir.Mul:
		z = x * y
	case ir.MulHi: // of u32
		z = int64(uint64(x) * uint64(y) >> 32)
	case ir.And:
		z = x & y
	case ir.Or:
		z = x | y
	case ir.Xor:
		z = x ^ y
	case ir.Min, ir.Max:
		if z = y; lessInt(unsigned, x, y) == (op == ir.Min) {
			z = x
		}
	case ir.IDiv, ir.Mod:
		if y == 0 {
			return 0, false
		}
		z = floorDivMod(op, unsigned, x, y)
	case ir.Shl, ir.Shr:
		z = shift(op, d, x, uint64(y))
	default:
		return 0, false
	}
	return uint64(z) & ones(d), true
}

func lessInt(unsigned bool, x, y int64) bool {
	if unsigned {
		return uint64(x) < uint64(y)
	}
	return x < y
}

func floorDivMod(op ir.Op, unsigned bool, x, y int64) int64 {
	if unsigned {
		if op == ir.IDiv {
			return int64(uint64(x) / uint64(y))
		}
		return int64(uint64(x) % uint64(y))
	}
	q, m := x/y, x%y
	if m != 0 && (m < 0) != (y < 0) {
		q, m = q-1, m+y
	}
	if op == ir.IDiv {
		return q
	}
	return m
}

// shift takes negative counts as what they are unsigned: past the width.
func shift(op ir.Op, d ir.DType, x int64, count uint64) int64 {
	switch {
	case count >= uint64(8*d.Size()):
		return 0
	case op == ir.Shl:
		return x << count
	case d.IsUnsigned():
		return int64(uint64(x) >> count)
	}
	return x >> count
}

func compare(op ir.Op, d ir.DType, a, b uint64) uint64 {
	var yes bool
	if d.IsFloat() {
		x, y := ir.Float(d, a), ir.Float(d, b)
		yes = op == ir.Less && x < y || op == ir.Equal && x == y
	} else {
		x, y := ir.Int(d, a), ir.Int(d, b)
		yes = op == ir.Less && lessInt(!d.IsInt() || d.IsUnsigned(), x, y) || op == ir.Equal && x == y
	}
	if yes {
		return 1
	}
	return 0
}

// convert is Cast: integers wrap, floats saturate on their way to integers, and
// everything reaches f16 and bf16 by way of f32.
func convert(from, to ir.DType, bits uint64) uint64 {
	if to == ir.Bool {
		if from.IsFloat() && ir.Float(from, bits) == 0 || bits == 0 {
			return 0
		}
		return 1
	}
	if from.IsFloat() {
		f := ir.Float(from, bits)
		switch {
		case to == ir.F64:
			return math.Float64bits(f)
		case to.IsFloat():
			return fromFloat32(to, float32(f))
		}
		return saturate(to, f)
	}
	x := ir.Int(from, bits)
	switch {
	case to.IsInt():
		return uint64(x) & ones(to)
	case from == ir.U64 && to == ir.F64:
		return math.Float64bits(float64(uint64(x)))
	case from == ir.U64:
		return fromFloat32(to, float32(uint64(x)))
	case to == ir.F64:
		return math.Float64bits(float64(x))
	}
	return fromFloat32(to, float32(x))
}

func saturate(to ir.DType, f float64) uint64 {
	f = math.Trunc(f)
	width := 8 * to.Size()
	lo, hi := 0.0, math.Ldexp(1, width) // hi is the first value above the range
	if !to.IsUnsigned() {
		lo, hi = -math.Ldexp(1, width-1), math.Ldexp(1, width-1)
	}
	switch {
	case math.IsNaN(f):
		return 0
	case f >= hi:
		return ir.Highest(to)
	case f <= lo:
		return ir.Lowest(to)
	case to == ir.U64:
		return uint64(f)
	}
	return uint64(int64(f)) & ones(to)
}
