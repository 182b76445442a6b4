package optim_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/optim"
)

// Norms are those of float64 for numbers of every size, also of several tensors and of
// empty ones.
func TestNorm(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(1, 2))
	inf := float32(math.Inf(1))
	drawn := func(n int, least, most float64) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(rng.NormFloat64() * math.Exp2(least+(most-least)*rng.Float64()))
		}
		return x
	}
	for name, all := range map[string][][]float32{
		"none": {}, "empty": {{}}, "zeros": {{0, 0}, {0}}, "huge": {{3e38, 3e38}}, "tiny": {{3e-30, 4e-30}}, "subnormal": {{3e-45, -4e-45, 1e-40}},
		"every size": {drawn(300, -140, 120), drawn(1, -140, 120)}, "usual": {drawn(600, -20, 2), drawn(7, -20, 2)},
		"limits":             {{0x1p40, 0x1p-40, math.Nextafter32(0x1p40, inf), math.Nextafter32(0x1p-40, 0)}},
		"small beside usual": {drawn(60, -60, -45), drawn(60, -38, -36)}, "infinite": {{1, inf, 1e-30}}, "no number": {{1e-30, float32(math.NaN()), 1e30}},
	} {
		want := 0.0
		var flat, square []sinter.Tensor
		for _, x := range all {
			for _, v := range x {
				want += float64(v) * float64(v)
			}
			flat = append(flat, sinter.Of(x, len(x)))
			cols := 1
			for c := range min(len(x), 30) {
				if len(x)%(c+1) == 0 {
					cols = c + 1
				}
			}
			square = append(square, sinter.Of(x, 1, len(x)/cols, cols))
		}
		want = math.Sqrt(want)
		for form, x := range map[string][]sinter.Tensor{"flat": flat, "in three dimensions": square} {
			got, err := sinter.Values[float64](ctx, optim.Norm(x...).Cast(sinter.F64))
			if err != nil {
				t.Fatalf("%s, %s: %v", name, form, err)
			}
			least := math.SmallestNonzeroFloat32 // the result is F32
			if same := got[0] == want || math.IsNaN(got[0]) && math.IsNaN(want) || math.IsInf(got[0], 1) && want > math.MaxFloat32; !same && !(math.Abs(got[0]-want) <= 1e-6*want+least) {
				t.Errorf("%s, %s: %g, want %g", name, form, got[0], want)
			}
		}
	}
}

// The gradient of a norm is x / norm, for numbers of every size, and 0 of zeros.
func TestNormGradient(t *testing.T) {
	ctx := context.Background()
	for _, x := range [][]float32{{3, 1e-13, -4}, {3e13, 4e13}, {3e-20, 4e-20}, {0, 0}} {
		of := sinter.Of(x, 1, len(x))
		got, err := sinter.Values[float32](ctx, sinter.Grad(optim.Norm(of), of)[0])
		if err != nil {
			t.Fatal(err)
		}
		norm := 0.0
		for _, v := range x {
			norm = math.Hypot(norm, float64(v))
		}
		for i, v := range x {
			if want := float64(v) / max(norm, 1e-300); !(math.Abs(float64(got[i])-want) <= 1e-6*math.Abs(want)) {
				t.Errorf("of %v: %g, want %g", x, got[i], want)
			}
		}
	}
	if norm, err := sinter.Values[int64](ctx, optim.Norm(sinter.Of([]int64{1<<24 + 1}, 1))); err != nil || norm[0] != 1<<24+1 {
		t.Errorf("of integers %v, %v", norm, err)
	}
}
