package sinter_test

import (
	"context"
	"math"
	"testing"

	"github.com/sinterml/sinter"
)

// The gradient of a maximum that is NaN is NaN, as PyTorch's of amax: 0 would
// hide that the values are lost.
func TestGradOfMaximumOfNaN(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	values := []float64{1, 3, 3, 2 /**/, 1, nan, 5, 5 /**/, nan, nan, inf, -inf /**/, inf, 0, inf, -inf}
	cases := []struct {
		name string
		f    func(x tensor) tensor
		want []float64
	}{
		{"max", func(x tensor) tensor { return x.Max(1) }, []float64{0, 0.5, 0.5, 0, nan, nan, nan, nan, nan, nan, nan, nan, 0.5, 0, 0.5, 0}},
		{"min", func(x tensor) tensor { return x.Min(1) }, []float64{1, 0, 0, 0, nan, nan, nan, nan, nan, nan, nan, nan, 0, 0, 0, 1}},
		{"segment max", func(x tensor) tensor { return sinter.SegmentMax(x.T(), sinter.Of([]int32{0, 4}, 2)) },
			[]float64{0, 0.5, 0.5, 0, nan, nan, nan, nan, nan, nan, nan, nan, 0.5, 0, 0.5, 0}},
		{"running max", func(x tensor) tensor { return x.CumMax(1) },
			[]float64{1, 2, 1, 0, nan, nan, nan, nan, nan, nan, nan, nan, 1 + 1 + 0.5 + 0.5, 0, 1, 0}},
		{"max of all", func(x tensor) tensor { return x.Slice(sinter.Range{Start: 1, Stop: 2}).Max() },
			[]float64{0, 0, 0, 0, nan, nan, nan, nan, 0, 0, 0, 0, 0, 0, 0, 0}},
	}
	for _, name := range []string{"interp", "cpu"} {
		d, err := sinter.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		for _, dtype := range []sinter.DType{sinter.F32, sinter.F64, sinter.BF16} {
			for _, c := range cases {
				x := sinter.Of(values, 4, 4).Cast(dtype)
				g := sinter.Grad(c.f(x).Sum(), x)[0].Cast(sinter.F64)
				p, err := sinter.Compile(sinter.Capture(g), sinter.Options{Device: d})
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				out, err := p.Run(context.Background(), nil)
				if err != nil {
					t.Fatal(err)
				}
				got, err := sinter.Values[float64](context.Background(), out[0])
				if err != nil {
					t.Fatal(err)
				}
				for i, want := range c.want {
					if got[i] != want && !(math.IsNaN(got[i]) && math.IsNaN(want)) {
						t.Errorf("%s on %s in %v: %v, want %v", c.name, name, dtype, got, c.want)
						break
					}
				}
			}
		}
	}
}
