package sinter

import (
	"math"
	"testing"
)

// Sums along an axis that are stored on their way, and those of long segments, lose
// no more digits than Sum.
func TestLongSums(t *testing.T) {
	const n = 1 << 18
	tenths := make([]float32, n)
	for i := range tenths {
		tenths[i] = 0.1
	}
	x := Of(tenths, n)
	rows := x.CumSum(0)
	columns := x.Reshape(n/4, 4).CumSum(0)
	segments := SegmentSum(x.Reshape(n, 1), Of([]int32{0, 3, 3, n}, 4))
	for name, c := range map[string]struct {
		last Tensor
		want float64
	}{
		"running":  {rows.Slice(Range{Start: -1}), n},
		"middle":   {rows.Slice(Range{Start: n / 2, Stop: n/2 + 1}), n/2 + 1},
		"columns":  {columns.Slice(Range{Start: -1}, Range{Start: -1}), n / 4},
		"sequence": {segments.Slice(Range{Start: 2}), n - 3},
	} {
		got, err := Values[float32](t.Context(), c.last)
		if err != nil {
			t.Fatal(err)
		}
		if want := c.want * float64(float32(0.1)); !(math.Abs(float64(got[0])-want) <= 1e-5*want) {
			t.Errorf("%s: %v, want %v", name, got[0], want)
		}
	}
	large, total := make([]int64, 2000), int64(0)
	for i := range large {
		large[i] = math.MaxInt64 / 1500
		total += large[i]
	}
	want(t, Of(large, len(large)).CumSum(0).Slice(Range{Start: -1}), total) // wraps
}

// The mean of these lies between two floats.
func TestVarFarFromZero(t *testing.T) {
	x := Of([]float32{10000, 10000, 10000 + 0x1p-10}, 3)
	want(t, x.Var(0).Mul(Scalar(0x1p20*9)).Round(), float32(2))
	want(t, x.Std(1).Square().Mul(Scalar(0x1p20*3)).Round(), float32(1))
	want(t, Grad(x.Var(0), x)[0].Mul(Scalar(0x1p10*9)).Round(), float32(-2), -2, 4)
}

// More elements are equal than f16 can count.
func TestGradientOfManyMaxima(t *testing.T) {
	x := Input("x", F16, N(1<<17))
	loss := x.Max().Add(SegmentMax(x.Unsqueeze(1), Of([]int32{0, 1 << 17}, 2)).Sum())
	p, err := Compile(Capture(Grad(loss.Mul(Scalar(256)), x)[0]), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	outs, err := p.Run(t.Context(), inputs{"x": Of(make([]Float16, 1<<17), 1<<17)})
	if err != nil {
		t.Fatal(err)
	}
	want(t, outs[0].Slice(Range{Start: -2}), NewFloat16(0x1p-8), NewFloat16(0x1p-8))
}

// What is equal is 0 brought to a variance, with an eps as small as BERT's.
func TestNormsOfEquals(t *testing.T) {
	x := Full(F32, 3.3, N(2), N(4), N(100)).Add(Of([]float32{0, 100, 1000, 12345}, 4, 1))
	y, _, variance := BatchNormTrain(x, Tensor{}, Tensor{}, 1e-12)
	for name, z := range map[string]Tensor{"layer": LayerNorm(x, Tensor{}, Tensor{}, 1e-12), "group": GroupNorm(x, 4, Tensor{}, Tensor{}, 1e-12), "batch": y, "variance": variance} {
		most, err := Values[float32](t.Context(), z.Abs().Max())
		if err != nil || !(most[0] <= 1e-3) {
			t.Errorf("%s: %v, %v", name, most, err)
		}
	}
	_, _, variance = BatchNormTrain(Of([]float32{10000, 10000, 10000 + 0x1p-10}, 3, 1), Tensor{}, Tensor{}, 1e-5)
	want(t, variance.Mul(Scalar(0x1p20*9)).Round(), float32(2))
}
