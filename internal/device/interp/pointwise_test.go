package interp

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
)

var (
	inf  = float32(math.Inf(1))
	nan  = float32(math.NaN())
	zero float32
	neg0 = -zero
)

func init() { neg0 = float32(math.Copysign(0, -1)) }

func TestUnarySpecialValues(t *testing.T) {
	x := []float32{neg0, zero, inf, -inf, nan}
	for op, want := range map[ir.Op][]float32{
		ir.Neg:   {zero, neg0, -inf, inf, nan},
		ir.Abs:   {zero, zero, inf, inf, nan},
		ir.Recip: {-inf, inf, zero, neg0, nan},
		ir.Sqrt:  {neg0, zero, inf, nan, nan},
		ir.Exp:   {1, 1, inf, zero, nan},
		ir.Exp2:  {1, 1, inf, zero, nan},
		ir.Expm1: {neg0, zero, inf, -1, nan},
		ir.Log:   {-inf, -inf, inf, nan, nan},
		ir.Log2:  {-inf, -inf, inf, nan, nan},
		ir.Log1p: {neg0, zero, inf, nan, nan},
		ir.Sin:   {neg0, zero, nan, nan, nan},
		ir.Cos:   {1, 1, nan, nan, nan},
		ir.Atan:  {neg0, zero, math.Pi / 2, -math.Pi / 2, nan},
		ir.Tanh:  {neg0, zero, 1, -1, nan},
		ir.Erf:   {neg0, zero, 1, -1, nan},
		ir.Trunc: {neg0, zero, inf, -inf, nan},
		ir.Floor: {neg0, zero, inf, -inf, nan},
		ir.Round: {neg0, zero, inf, -inf, nan},
	} {
		g := newGraph(t)
		check(g, g.add(op, ir.Attr{}, of(g, x)), want...)
	}
}

func TestUnaryValues(t *testing.T) {
	for op, c := range map[ir.Op][2][]float32{
		ir.Neg:   {{1.5, -2}, {-1.5, 2}},
		ir.Abs:   {{1.5, -2}, {1.5, 2}},
		ir.Recip: {{4, -0.5, 3}, {0.25, -2, 0x1.555556p-2}},
		ir.Sqrt:  {{9, 2}, {3, 0x1.6a09e6p0}},
		ir.Exp:   {{1, -1, 89, -104}, {math.E, 1 / math.E, inf, 0}},
		ir.Exp2:  {{3, -1, 0.5, -149}, {8, 0.5, math.Sqrt2, math.SmallestNonzeroFloat32}},
		ir.Expm1: {{1e-10, 1}, {1e-10, math.E - 1}},
		ir.Log:   {{1, math.MaxFloat32, -1}, {0, 88.72284, nan}},
		ir.Log2:  {{1, 8, 1 + 0x1p-23, 0.5}, {0, 3, 1.7198264061184464e-07, -1}},
		ir.Log1p: {{1e-10, math.E - 1, -1}, {1e-10, 1, -inf}},
		ir.Sin:   {{math.Pi, 1e10}, {-8.742278e-08, -0.48750602508751067}}, // of the float32 next to pi
		ir.Cos:   {{math.Pi, 1e10}, {-1, 0.8731196226768561}},
		ir.Atan:  {{1, -1e30}, {math.Pi / 4, -math.Pi / 2}},
		ir.Tanh:  {{1, -20}, {0.7615942, -1}},
		ir.Erf:   {{1, -6}, {0.8427008, -1}},
		ir.Trunc: {{1.7, -1.7, 0x1p30}, {1, -1, 0x1p30}},
		ir.Floor: {{1.7, -1.7, -0.5}, {1, -2, -1}},
		ir.Round: {{0.5, 1.5, 2.5, -0.5, -1.5}, {0, 2, 2, neg0, -2}},
	} {
		g := newGraph(t)
		check(g, g.add(op, ir.Attr{}, of(g, c[0])), c[1]...)
	}
}

func TestBinarySpecialValues(t *testing.T) {
	x := []float32{neg0, zero, nan, 1, inf, inf, -inf, 0, 1}
	y := []float32{zero, neg0, 1, nan, -inf, inf, 3, inf, 0}
	for op, want := range map[ir.Op][]float32{
		ir.Add: {0, 0, nan, nan, nan, inf, -inf, inf, 1},
		ir.Sub: {neg0, 0, nan, nan, inf, nan, -inf, -inf, 1},
		ir.Mul: {neg0, neg0, nan, nan, -inf, inf, -inf, nan, 0},
		ir.Div: {nan, nan, nan, nan, nan, nan, -inf, 0, inf},
		ir.Min: {neg0, neg0, nan, nan, -inf, inf, -inf, 0, 0},
		ir.Max: {0, 0, nan, nan, inf, inf, 3, inf, 1},
		ir.Pow: {1, 1, nan, 1, 0, inf, -inf, 0, 1}, // 1^y and x^0 are 1 even for NaN, as in IEEE 754
	} {
		g := newGraph(t)
		check(g, g.add(op, ir.Attr{}, of(g, x), of(g, y)), want...)
	}
	g := newGraph(t)
	check(g, g.add(ir.Less, ir.Attr{}, of(g, x), of(g, y)), uint8(0), 0, 0, 0, 0, 0, 1, 1, 0)
	g = newGraph(t)
	check(g, g.add(ir.Equal, ir.Attr{}, of(g, x), of(g, y)), uint8(1), 1, 0, 0, 0, 1, 0, 0, 0)
}

func TestIntegers(t *testing.T) {
	x, y := []int32{7, -7, 7, -7, math.MinInt32, math.MaxInt32}, []int32{2, 2, -2, -2, -1, 2}
	for op, want := range map[ir.Op][]int32{
		ir.Add:  {9, -5, 5, -9, math.MaxInt32, math.MinInt32 + 1},
		ir.Sub:  {5, -9, 9, -5, math.MinInt32 + 1, math.MaxInt32 - 2},
		ir.Mul:  {14, -14, -14, 14, math.MinInt32, -2},
		ir.IDiv: {3, -4, -4, 3, math.MinInt32, math.MaxInt32 / 2},
		ir.Mod:  {1, 1, -1, -1, 0, 1},
		ir.Min:  {2, -7, -2, -7, math.MinInt32, 2},
		ir.Max:  {7, 2, 7, -2, -1, math.MaxInt32},
		ir.And:  {2, 0, 6, -8, math.MinInt32, 2},
		ir.Or:   {7, -5, -1, -1, -1, math.MaxInt32},
		ir.Xor:  {5, -5, -7, 7, math.MaxInt32, math.MaxInt32 - 2},
	} {
		g := newGraph(t)
		check(g, g.add(op, ir.Attr{}, of(g, x), of(g, y)), want...)
	}
	g := newGraph(t)
	check(g, g.add(ir.Abs, ir.Attr{}, of(g, []int8{-128, -5, 5})), int8(-128), 5, 5)
	g = newGraph(t)
	check(g, g.add(ir.Neg, ir.Attr{}, of(g, []uint8{0, 1, 255})), uint8(0), 255, 1)
	g = newGraph(t)
	most := uint32(math.MaxUint32)
	check(g, g.add(ir.MulHi, ir.Attr{}, of(g, []uint32{1 << 31, most, 65536, 7}), of(g, []uint32{6, most, 65536, 9})), 3, most-1, 1, 0)
}

func TestShifts(t *testing.T) {
	n := []int8{0, 1, 7, 8, 100, -1}
	g := newGraph(t)
	check(g, g.add(ir.Shl, ir.Attr{}, of(g, []int8{-3, -3, -3, -3, -3, -3}), of(g, n)), int8(-3), -6, -128, 0, 0, 0)
	g = newGraph(t)
	check(g, g.add(ir.Shr, ir.Attr{}, of(g, []int8{-3, -3, -3, -3, -3, -3}), of(g, n)), int8(-3), -2, -1, 0, 0, 0)
	g = newGraph(t)
	check(g, g.add(ir.Shr, ir.Attr{}, of(g, []uint64{1 << 63, 1 << 63}), of(g, []uint64{63, 64})), uint64(1), 0)
}

func TestDivisionByZero(t *testing.T) {
	for _, op := range []ir.Op{ir.IDiv, ir.Mod} {
		g := newGraph(t)
		_, _, err := g.evaluate(nil, g.add(op, ir.Attr{}, of(g, []uint8{1, 2, 3}), of(g, []uint8{1, 0, 0})))
		var e *device.DivisionError
		if !errors.As(err, &e) || e.At != 1 || e.Op != op.String() {
			t.Errorf("%v by zero gives %v", op, err)
		}
	}
}

func TestBool(t *testing.T) {
	x, y := []bool{false, false, true, true}, []bool{false, true, false, true}
	for op, want := range map[ir.Op][]uint8{
		ir.And: {0, 0, 0, 1}, ir.Or: {0, 1, 1, 1}, ir.Xor: {0, 1, 1, 0},
		ir.Less: {0, 1, 0, 0}, ir.Equal: {1, 0, 0, 1},
	} {
		g := newGraph(t)
		check(g, g.add(op, ir.Attr{}, bools(g, x...), bools(g, y...)), want...)
	}
	g := newGraph(t)
	check(g, g.add(ir.Where, ir.Attr{}, bools(g, x...), of(g, []int16{1, 2, 3, 4}), of(g, []int16{5, 6, 7, 8})), int16(5), 6, 3, 4)
}

// Each op on f16 is the f32 op rounded.
func TestNarrowFloats(t *testing.T) {
	f16 := func(v ...float32) []uint16 {
		out := make([]uint16, len(v))
		for i := range v {
			out[i] = ir.F16FromFloat32(v[i])
		}
		return out
	}
	g := newGraph(t)
	x := g.input(ir.F16, raw(f16(2048, 60000, 1)), ir.Static(3))
	y := g.input(ir.F16, raw(f16(1, 60000, 0x1p-11)), ir.Static(3))
	check(g, g.add(ir.Add, ir.Attr{}, x, y), f16(2048, inf, 1)...)

	bf := []uint16{ir.BF16FromFloat32(256), ir.BF16FromFloat32(1)}
	g = newGraph(t)
	b := g.input(ir.BF16, raw(bf), ir.Static(2))
	check(g, g.add(ir.ReduceSum, ir.Attr{Axes: []int{0}}, b), ir.BF16FromFloat32(256)) // 257 is halfway: to even
}

func castTo(g *graph, t ir.DType, x *ir.Node) *ir.Node { return g.add(ir.Cast, ir.Attr{DType: t}, x) }

func TestCast(t *testing.T) {
	x := []float32{nan, inf, -inf, 1e10, -1e10, 1.9, -1.9, neg0, 0x1p31, 0x1p63}
	g := newGraph(t)
	check(g, castTo(g, ir.I32, of(g, x)), int32(0), math.MaxInt32, math.MinInt32, math.MaxInt32, math.MinInt32, 1, -1, 0, math.MaxInt32, math.MaxInt32)
	g = newGraph(t)
	check(g, castTo(g, ir.I8, of(g, x)), int8(0), 127, -128, 127, -128, 1, -1, 0, 127, 127)
	g = newGraph(t)
	check(g, castTo(g, ir.U16, of(g, x)), uint16(0), 65535, 0, 65535, 0, 1, 0, 0, 65535, 65535)
	g = newGraph(t)
	check(g, castTo(g, ir.I64, of(g, x)), int64(0), math.MaxInt64, math.MinInt64, 10000000000, -10000000000, 1, -1, 0, 1<<31, math.MaxInt64)
	g = newGraph(t)
	check(g, castTo(g, ir.U64, of(g, x)), uint64(0), math.MaxUint64, 0, 10000000000, 0, 1, 0, 0, 1<<31, 1<<63)
	g = newGraph(t)
	check(g, castTo(g, ir.Bool, of(g, x)), uint8(1), 1, 1, 1, 1, 1, 1, 0, 1, 1)

	g = newGraph(t)
	check(g, castTo(g, ir.U8, of(g, []int64{-1, 256, 1 << 40, 7})), uint8(255), 0, 0, 7)
	g = newGraph(t)
	check(g, castTo(g, ir.F32, of(g, []int64{1<<24 + 1, 1<<24 + 3, -5})), float32(1<<24), 1<<24+4, -5)
	g = newGraph(t)
	check(g, castTo(g, ir.F32, of(g, []uint64{math.MaxUint64})), float32(0x1p64))
	g = newGraph(t)
	check(g, castTo(g, ir.I32, bools(g, true, false)), int32(1), 0)
	g = newGraph(t)
	check(g, castTo(g, ir.BF16, of(g, []float32{1 + 0x1p-8, 1 + 3*0x1p-8})), ir.BF16FromFloat32(1), ir.BF16FromFloat32(1+4*0x1p-8))
	g = newGraph(t)
	check(g, g.add(ir.Bitcast, ir.Attr{DType: ir.I32}, of(g, []float32{1, neg0})), int32(0x3f800000), math.MinInt32)
}

// fma32 against exact arithmetic, on operands that make hard cases.
func TestFMA(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	pick := func() float32 {
		f := float32(1+rng.IntN(1<<24)) * float32(math.Ldexp(1, rng.IntN(60)-40))
		if rng.IntN(2) == 0 {
			return -f
		}
		return f
	}
	for range 200000 {
		x, y, z := pick(), pick(), pick()
		if rng.IntN(2) == 0 { // close to cancelling
			z = -float32(float64(x) * float64(y) * (1 + float64(rng.IntN(5)-2)*0x1p-24))
		}
		exact := new(big.Float).SetPrec(400).SetFloat64(float64(x) * float64(y))
		want, _ := exact.Add(exact, big.NewFloat(float64(z))).Float32()
		if got := fma32(x, y, z); got != want {
			t.Fatalf("fma(%x, %x, %x) = %x, want %x", x, y, z, got, want)
		}
	}
	// The product lies halfway between two floats, and z, too small for the
	// float64 sum, decides.
	x, half := float32(1+0x1p-12), float32(1+0x1p-11)
	for z, want := range map[float32]float32{0x1p-80: half + 0x1p-23, -0x1p-80: half, 0: half} {
		if got := fma32(x, x, z); got != want {
			t.Errorf("fma(%x, %x, %x) = %x, want %x", x, x, z, got, want)
		}
		if got := fma32(x, -x, -z); got != -want {
			t.Errorf("fma(%x, %x, %x) = %x, want %x", x, -x, -z, got, -want)
		}
	}
	g := newGraph(t)
	f := g.add(ir.FMA, ir.Attr{}, of(g, []float32{3, inf, 0}), of(g, []float32{4, 0, 1}), of(g, []float32{5, 1, neg0}))
	check(g, f, 17, nan, 0)
}
