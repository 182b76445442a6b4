package sinter

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
)

// Norms and activations of half types have the numbers of F32, rounded once; gammas and
// betas may be F32.
func TestHalfTypesRoundOnce(t *testing.T) {
	ctx := WithDevice(context.Background(), open(t, "interp"))
	data := make([]float32, 4*6*5)
	for i := range data {
		data[i] = float32(math.Sin(float64(i))*3 + 0.3)
	}
	row := func(n int, from float32) Tensor {
		v := make([]float32, n)
		for i := range v {
			v[i] = from + float32(i)/7
		}
		return Of(v, n)
	}
	for _, d := range []DType{BF16, F16} {
		half := func(x Tensor) Tensor { return x.Cast(d) }
		whole := func(x Tensor) Tensor { return x.Cast(d).Cast(F32) } // the same numbers
		x := Of(data, 4, 6, 5)
		c := func(from float32) Tensor { return row(6, from) }
		first := func(y, _, _ Tensor) Tensor { return y }
		for name, f := range map[string]func(to func(Tensor) Tensor) Tensor{
			"LayerNorm": func(to func(Tensor) Tensor) Tensor {
				return LayerNorm(to(x), to(row(5, 0.6)), to(row(5, -2)), 1e-5)
			},
			"RMSNorm":   func(to func(Tensor) Tensor) Tensor { return RMSNorm(to(x), to(row(5, 0.6)), 1e-5) },
			"GroupNorm": func(to func(Tensor) Tensor) Tensor { return GroupNorm(to(x), 3, to(c(0.6)), to(c(-2)), 1e-5) },
			"BatchNorm": func(to func(Tensor) Tensor) Tensor {
				return BatchNorm(to(x), to(c(0.6)), to(c(-2)), to(c(0.1)), to(c(0.9)), 1e-5)
			},
			"BatchNormTrain": func(to func(Tensor) Tensor) Tensor {
				return first(BatchNormTrain(to(x), to(c(0.6)), to(c(-2)), 1e-5))
			},
			"Sigmoid":  func(to func(Tensor) Tensor) Tensor { return to(x).Sigmoid() },
			"SiLU":     func(to func(Tensor) Tensor) Tensor { return to(x).SiLU() },
			"Softplus": func(to func(Tensor) Tensor) Tensor { return to(x).Softplus() },
			"Mish":     func(to func(Tensor) Tensor) Tensor { return to(x).Mish() },
			"ELU":      func(to func(Tensor) Tensor) Tensor { return to(x).ELU(1.7) },

			"HardSigmoid": func(to func(Tensor) Tensor) Tensor { return to(x).HardSigmoid() },
			"HardSwish":   func(to func(Tensor) Tensor) Tensor { return to(x).HardSwish() },
		} {
			got, err := Values[float32](ctx, f(half).Cast(F32))
			if err != nil {
				t.Fatalf("%s of %v: %v", name, d, err)
			}
			want, err := Values[float32](ctx, f(whole).Cast(d).Cast(F32))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s of %v: %v, not %v", name, d, got, want)
			}
		}
		y := LayerNorm(half(x), row(5, 0.6), row(5, -2), 1e-5)
		if y.DType() != d || y.Err() != nil {
			t.Errorf("LayerNorm of %v with a gamma of F32 is %v: %v", d, y.DType(), y.Err())
		}
		for name, y := range map[string]Tensor{
			"a half gamma beside F32":    LayerNorm(x, half(row(5, 0.6)), Tensor{}, 1e-5),
			"F64 beside a half type":     GroupNorm(half(x), 3, c(0.6).Cast(F64), Tensor{}, 1e-5),
			"a variance of another type": BatchNorm(half(x), Tensor{}, Tensor{}, c(0.1), c(0.9).Cast(F64), 1e-5),
		} {
			if y.Err() == nil || !strings.Contains(y.Err().Error(), "use Cast") {
				t.Errorf("%s: %v", name, y.Err())
			}
		}
	}
}
