package loop

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// bitsOf encodes a float or an integer that fits.
func bitsOf(d ir.DType, v float64) uint64 {
	b, err := ir.Bits(d, v)
	if err != nil {
		panic(err)
	}
	return b
}

func TestScalar(t *testing.T) {
	nan, inf, zero := math.NaN(), math.Inf(1), math.Copysign(0, -1)
	for _, c := range []struct {
		op       ir.Op
		from, to ir.DType
		x, y     float64
		want     float64
	}{
		{ir.Max, ir.F32, ir.F32, nan, 1, nan},
		{ir.Max, ir.F32, ir.F32, 1, nan, nan},
		{ir.Min, ir.F16, ir.F16, nan, 1, nan},
		{ir.Max, ir.F32, ir.F32, zero, 0, 0},
		{ir.Min, ir.F64, ir.F64, 0, zero, zero},
		{ir.Neg, ir.BF16, ir.BF16, 0, 0, zero},
		{ir.Less, ir.F32, ir.Bool, nan, 1, 0},
		{ir.Equal, ir.F32, ir.Bool, nan, nan, 0},
		{ir.Equal, ir.F32, ir.Bool, zero, 0, 1},
		{ir.Round, ir.F32, ir.F32, 2.5, 0, 2},
		{ir.Round, ir.F32, ir.F32, -0.5, 0, zero},
		{ir.Recip, ir.F32, ir.F32, zero, 0, -inf},
		{ir.Log, ir.F64, ir.F64, 5e-324, 0, -744.4400719213812},
		{ir.Add, ir.F16, ir.F16, 65504, 32, inf},
		{ir.Add, ir.BF16, ir.BF16, 256, 1, 256},
		{ir.IDiv, ir.I32, ir.I32, -7, 2, -4},
		{ir.IDiv, ir.I32, ir.I32, 7, -2, -4},
		{ir.IDiv, ir.I8, ir.I8, -128, -1, -128},
		{ir.Mod, ir.I32, ir.I32, -7, 2, 1},
		{ir.Mod, ir.I32, ir.I32, 7, -2, -1},
		{ir.Mod, ir.I64, ir.I64, -8, 2, 0},
		{ir.Mod, ir.U8, ir.U8, 200, 7, 4},
		{ir.Abs, ir.I8, ir.I8, -128, 0, -128},
		{ir.Abs, ir.U8, ir.U8, 200, 0, 200},
		{ir.Neg, ir.U8, ir.U8, 1, 0, 255},
		{ir.Mul, ir.I16, ir.I16, 300, 300, 90000 - 65536},
		{ir.MulHi, ir.U32, ir.U32, 1 << 31, 6, 3},
		{ir.MulHi, ir.U32, ir.U32, 1<<32 - 1, 1<<32 - 1, 1<<32 - 2},
		{ir.Shl, ir.I32, ir.I32, 1, 31, -2147483648},
		{ir.Shl, ir.I32, ir.I32, 1, 32, 0},
		{ir.Shl, ir.I32, ir.I32, 1, -1, 0},
		{ir.Shr, ir.I32, ir.I32, -8, 1, -4},
		{ir.Shr, ir.I32, ir.I32, -8, 32, 0},
		{ir.Shr, ir.I8, ir.I8, -8, 7, -1},
		{ir.Shr, ir.I8, ir.I8, -8, 8, 0},
		{ir.Shr, ir.U16, ir.U16, 65535, 8, 255},
		{ir.Xor, ir.Bool, ir.Bool, 1, 1, 0},
		{ir.Less, ir.Bool, ir.Bool, 0, 1, 1},
		{ir.Cast, ir.F32, ir.I8, 300, 0, 127},
		{ir.Cast, ir.F32, ir.I8, -300, 0, -128},
		{ir.Cast, ir.F32, ir.I8, -3.9, 0, -3},
		{ir.Cast, ir.F32, ir.I32, 3e9, 0, 2147483647},
		{ir.Cast, ir.F32, ir.I32, nan, 0, 0},
		{ir.Cast, ir.F32, ir.U8, -1, 0, 0},
		{ir.Cast, ir.F64, ir.U32, inf, 0, 4294967295},
		{ir.Cast, ir.F64, ir.I64, -inf, 0, -9223372036854775808},
		{ir.Cast, ir.F16, ir.U64, nan, 0, 0},
		{ir.Cast, ir.F32, ir.Bool, nan, 0, 1},
		{ir.Cast, ir.F32, ir.Bool, zero, 0, 0},
		{ir.Cast, ir.F64, ir.F32, 16777217, 0, 16777216},
		{ir.Cast, ir.I32, ir.F32, 16777219, 0, 16777220},
		{ir.Cast, ir.I32, ir.F16, 65520, 0, inf},
		{ir.Cast, ir.I32, ir.U8, -1, 0, 255},
		{ir.Cast, ir.U8, ir.I8, 255, 0, -1},
		{ir.Cast, ir.Bool, ir.F32, 1, 0, 1},
	} {
		f := Scalar(c.op, c.from, c.to)
		if f == nil {
			t.Errorf("%v of %v gives no %v", c.op, c.from, c.to)
			continue
		}
		bits := f(bitsOf(c.from, c.x), bitsOf(c.from, c.y), 0)
		got := ir.Float(c.to, bits)
		if math.Float64bits(got) != math.Float64bits(c.want) && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%v of %v %v and %v is %v %v, not %v", c.op, c.from, c.x, c.y, c.to, got, c.want)
		}
	}
}

// Every pointwise operation has a meaning for exactly the types that the
// graph lets it have.
func TestScalarCoversOps(t *testing.T) {
	for _, op := range ir.Ops() {
		if !op.Pointwise() {
			continue
		}
		for _, d := range ir.DTypes() {
			in := []ir.Type{{DType: d}, {DType: d}, {DType: d}}
			switch op.Class() {
			case ir.ClassUnary:
				in = in[:1]
			case ir.ClassBinary:
				in = in[:2]
			}
			if op == ir.Where {
				in[0].DType = ir.Bool
			}
			out, err := ir.Infer(op, &ir.Attr{DType: ir.I64}, in)
			if err == nil && Scalar(op, d, out[0].DType) == nil {
				t.Errorf("%v has no meaning for %v", op, d)
			}
		}
	}
}

func TestFMA32(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	draw := func() float32 {
		return math.Float32frombits(rng.Uint32()&0x807fffff | (127-12+rng.Uint32N(24))<<23)
	}
	exact := func(x, y, z float32) float32 {
		p := new(big.Float).SetPrec(2000).Mul(big.NewFloat(float64(x)), big.NewFloat(float64(y)))
		r, _ := p.Add(p, big.NewFloat(float64(z))).Float32()
		return r
	}
	// The product lies just off the middle between two float32: rounding the
	// sum to float64 first hides on which side.
	twice := [][3]float32{{1 + 0x1p-12, 1 + 0x1p-12, 0x1p-70}, {1 + 0x1p-12, 1 + 0x1p-12, -0x1p-70},
		{1 + 0x1p-23, 1 + 0x1p-23, 0x1p-80}, {0x1p-74, 0x1p-75, 0x1p-149}, {0x1p-75, 0x1p-75, 0x1p-149}, {0x1.8p-75, 0x1p-75, 0x1p-149},
		{0x1p-75 * (1 + 0x1p-20), 0x1p-75 * (1 - 0x1p-20), 0x1p-127 + 0x1p-149}}
	for i := range 50000 {
		x, y, z := draw(), draw(), draw()
		if i < len(twice) {
			x, y, z = twice[i][0], twice[i][1], twice[i][2]
		} else if i%3 == 0 {
			z = float32(math.Ldexp(float64(z), -40))
		} else if i%3 == 1 { // often half way, but for z
			x, y = 1+float32(rng.IntN(1<<11))*0x1p-12, 1+float32(rng.IntN(1<<11))*0x1p-12
			z = float32(math.Ldexp(float64(z), -60))
		}
		if got, want := FMA32(x, y, z), exact(x, y, z); got != want && (want != 0 || got != 0) {
			t.Fatalf("%g*%g + %g is %g, not %g", x, y, z, got, want)
		}
	}
	inf := float32(math.Inf(1))
	for _, c := range []struct{ x, y, z, want float32 }{
		{inf, 1, 1, inf}, {1e30, 1e30, -inf, -inf}, {1e30, 1e30, 0, inf}, {3e38, 1, 3e38, inf}, {1, -1, 1, 0},
	} {
		if got := FMA32(c.x, c.y, c.z); got != c.want {
			t.Errorf("%g*%g + %g is %g, not %g", c.x, c.y, c.z, got, c.want)
		}
	}
	if got := FMA32(inf, 0, 1); got == got {
		t.Errorf("Inf*0 + 1 is %g, not NaN", got)
	}
	if double := float32(math.FMA(1+0x1p-12, 1+0x1p-12, 0x1p-70)); double == exact(1+0x1p-12, 1+0x1p-12, 0x1p-70) {
		t.Error("the cases do not tell one rounding from two")
	}
}
