package sinter

import (
	"context"
	"slices"
	"testing"
)

// A program that multiplies by a variable sees each version, however often it has run on
// the one before.
func TestProductsSeeVariablesChange(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"cpu", "interp"} {
		d := open(t, name)
		const k, n = 40, 24
		start := make([]float32, k*n)
		for i := range start {
			start[i] = float32(i % 7)
		}
		w := NewVariable("w", Of(start, k, n))
		x := Input("x", F32, Sym("m", 1, 8), N(k))
		reads := compileOn(t, d, x.MatMul(w.Tensor()), x.MatMul(w.Tensor().Mul(Scalar(2))), x.MatMul(w.Tensor().Slice(Range{}, Range{Step: 2})))
		grows := compileOn(t, d, w.Assign(w.Tensor().Add(Scalar(1))))
		ones := make([]float32, 3*k)
		for i := range ones {
			ones[i] = 1
		}
		version := float32(0)
		check := func() {
			t.Helper()
			for i, factor := range []float32{1, 2, 1} {
				var want []float32
				for range 3 {
					for c := 0; c < n; c += 1 + i/2 { // the last output has every second column
						sum := float32(0)
						for r := range k {
							sum += factor * (start[r*n+c] + version)
						}
						want = append(want, sum)
					}
				}
				out, err := reads.Run(ctx, inputs{"x": Of(ones, 3, k)})
				if err != nil {
					t.Fatal(err)
				}
				got, err := Values[float32](ctx, out[i])
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%s, output %d of version %v: %v, not %v", name, i, version, got[:4], want[:4])
				}
			}
		}
		for _, runs := range []int{1, 3, 1, 1, 2, 2} {
			for range runs {
				check()
			}
			if _, err := grows.Run(ctx, nil); err != nil {
				t.Fatal(err)
			}
			version++
		}
		check()
	}
}
