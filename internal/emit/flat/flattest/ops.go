package flattest

import (
	"fmt"
	"math"

	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Eval is op on the bits of its operands, which are all of type from but the
// first of Select. What machines leave open is an error, or the bits of poison.
func Eval(op flat.Op, from, to flat.Type, a []uint64) (uint64, error) {
	switch {
	case op == flat.Select:
		if a[0] != 0 {
			return a[1], nil
		}
		return a[2], nil
	case op == flat.Bits:
		return a[0], nil
	case op == flat.HalfToFloat:
		return uint64(math.Float32bits(ir.F16ToFloat32(uint16(a[0])))), nil
	case op == flat.FloatToHalf:
		return uint64(ir.F16FromFloat32(math.Float32frombits(uint32(a[0])))), nil
	case from.IsFloat():
		return evalFloat(op, from, to, a)
	}
	v, err := evalInt(op, from, to, a)
	return v & mask(to), err
}

// poison is what a conversion gives where the result does not fit.
const poison = 0xdeadbeefdeadbeef

func number(t flat.Type, bits uint64) float64 {
	if t == flat.F32 {
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}

func rounded(t flat.Type, x float64) uint64 {
	if t == flat.F32 {
		return uint64(math.Float32bits(float32(x)))
	}
	return math.Float64bits(x)
}

// evalFloat computes in float64: sums, products, quotients and roots of float32
// are the same when rounded twice.
func evalFloat(op flat.Op, t, to flat.Type, a []uint64) (uint64, error) {
	sign := uint64(1) << (8*t.Size() - 1)
	x := number(t, a[0])
	var y float64
	if len(a) > 1 {
		y = number(t, a[1])
	}
	switch op {
	case flat.Add:
		return rounded(t, x+y), nil
	case flat.Sub:
		return rounded(t, x-y), nil
	case flat.Mul:
		return rounded(t, x*y), nil
	case flat.Div:
		return rounded(t, x/y), nil
	case flat.FMA:
		if t == flat.F32 {
			return rounded(t, float64(loop.FMA32(float32(x), float32(y), float32(number(t, a[2]))))), nil
		}
		return rounded(t, math.FMA(x, y, number(t, a[2]))), nil
	case flat.Sqrt:
		return rounded(t, math.Sqrt(x)), nil
	case flat.Neg:
		return a[0] ^ sign, nil
	case flat.Abs:
		return a[0] &^ sign, nil
	case flat.Floor:
		return rounded(t, math.Floor(x)), nil
	case flat.Trunc:
		return rounded(t, math.Trunc(x)), nil
	case flat.Round:
		return rounded(t, math.RoundToEven(x)), nil
	case flat.Equal:
		return truth(x == y), nil
	case flat.NotEqual:
		return truth(x != y), nil
	case flat.Less:
		return truth(x < y), nil
	case flat.FloatToFloat:
		return rounded(to, x), nil
	case flat.FloatToInt:
		if limit := math.Ldexp(1, 8*to.Size()-1); !(x >= -limit && x < limit) {
			return poison & mask(to), nil
		}
		return uint64(int64(x)) & mask(to), nil
	case flat.FloatToUint:
		if !(x > -1 && x < math.Ldexp(1, 8*to.Size())) {
			return poison & mask(to), nil
		}
		return uint64(x), nil
	}
	return 0, fmt.Errorf("%v of %v", op, t)
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func evalInt(op flat.Op, t, to flat.Type, a []uint64) (uint64, error) {
	ux, x := a[0], signed(t, a[0])
	var uy uint64
	var y int64
	if len(a) > 1 {
		uy, y = a[1], signed(t, a[1])
	}
	switch op {
	case flat.DivS, flat.DivU, flat.RemS, flat.RemU:
		return divide(op, t, a)
	case flat.Shl, flat.ShrS, flat.ShrU:
		if uy >= uint64(8*t.Size()) {
			return 0, fmt.Errorf("%v by %d of %v", op, y, t)
		}
		return [...]uint64{flat.Shl: ux << uy, flat.ShrS: uint64(x >> uy), flat.ShrU: ux >> uy}[op], nil
	case flat.Add:
		return ux + uy, nil
	case flat.Sub:
		return ux - uy, nil
	case flat.Mul:
		return ux * uy, nil
	case flat.And:
		return ux & uy, nil
	case flat.Or:
		return ux | uy, nil
	case flat.Xor:
		return ux ^ uy, nil
	case flat.Equal:
		return truth(ux == uy), nil
	case flat.NotEqual:
		return truth(ux != uy), nil
	case flat.Less:
		return truth(x < y), nil
	case flat.LessU:
		return truth(ux < uy), nil
	case flat.ExtendS, flat.Narrow:
		return uint64(x), nil
	case flat.ExtendU:
		return ux, nil
	case flat.IntToFloat:
		if to == flat.F32 {
			return uint64(math.Float32bits(float32(x))), nil
		}
		return math.Float64bits(float64(x)), nil
	case flat.UintToFloat:
		if to == flat.F32 {
			return uint64(math.Float32bits(float32(ux))), nil
		}
		return math.Float64bits(float64(ux)), nil
	}
	return 0, fmt.Errorf("%v of %v", op, t)
}

func divide(op flat.Op, t flat.Type, a []uint64) (uint64, error) {
	x, y := signed(t, a[0]), signed(t, a[1])
	least := x == math.MinInt64 || t == flat.I32 && x == math.MinInt32
	switch {
	case y == 0:
		return 0, fmt.Errorf("%v by zero", op)
	case op == flat.DivU:
		return a[0] / a[1], nil
	case op == flat.RemU:
		return a[0] % a[1], nil
	case y == -1 && least:
		return 0, fmt.Errorf("%v of %d by -1 overflows", op, x)
	case op == flat.DivS:
		return uint64(x / y), nil
	}
	return uint64(x % y), nil
}
