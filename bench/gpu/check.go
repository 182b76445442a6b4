//go:build !static

package main

import (
	"context"
	"fmt"
	"math"

	"github.com/sinterml/sinter"
)

// samples is how many rows, and how many columns, of a result are looked at.
const samples = 16

// places are some of n, the first and the last among them.
func places(n int) []int32 {
	some := make([]int32, min(n, samples))
	for i := range some {
		some[i] = int32(i * (n - 1) / max(len(some)-1, 1))
	}
	return some
}

// at are the values of a matrix in some of its rows, or columns, or both.
func at(ctx context.Context, x sinter.Tensor, rows, cols []int32) ([]float64, error) {
	if rows != nil {
		x = x.Take(sinter.Of(rows, len(rows)), 0)
	}
	if cols != nil {
		x = x.Take(sinter.Of(cols, len(cols)), 1)
	}
	return sinter.Values[float64](ctx, x.Cast(sinter.F64))
}

// checkProduct compares a product with sums in f64, at some rows and columns. No
// value of an operand is below 0, so that rounding is relative to the result.
func checkProduct(ctx context.Context, f format, s [3]int, inputs map[string]sinter.Tensor, out sinter.Tensor) (string, error) {
	rows, cols, k := places(s[0]), places(s[1]), s[2]
	x, err := at(ctx, inputs["x"], rows, nil)
	if err != nil {
		return "", err
	}
	wrows, wcols := []int32(nil), cols
	if f.in == sinter.I8 { // whose columns lie one after another
		wrows, wcols = cols, nil
	}
	w, err := at(ctx, inputs["w"], wrows, wcols)
	if err != nil {
		return "", err
	}
	got, err := at(ctx, out, rows, cols)
	if err != nil {
		return "", err
	}
	worst := 0.0
	for i := range rows {
		for j := range cols {
			sum := 0.0
			for l := range k {
				y := l*len(cols) + j
				if f.in == sinter.I8 {
					y = j*k + l
				}
				sum += x[i*k+l] * w[y]
			}
			worst = max(worst, apart(got[i*len(cols)+j], sum))
		}
	}
	return judge(worst, f.most)
}

// checkAttention compares attention with sums in f64: some queries of the first
// and of the last head.
func checkAttention(ctx context.Context, shape []int, most float64, inputs map[string]sinter.Tensor, out sinter.Tensor) (string, error) {
	heads := shape[1]
	worst := 0.0
	for _, head := range []int{0, heads - 1} {
		one := func(x sinter.Tensor) sinter.Tensor { return x.Index(0, 0).Index(0, head) }
		queries := places(shape[2])
		var v [4][]float64
		for i, x := range []sinter.Tensor{inputs["q"], inputs["k"], inputs["v"], out} {
			var err error
			if v[i], err = at(ctx, one(x), map[bool][]int32{true: queries}[i == 0 || i == 3], nil); err != nil {
				return "", err
			}
		}
		width := len(v[0]) / len(queries)
		for i := range queries {
			want := attend(v[0][i*width:(i+1)*width], v[1], v[2])
			for j, x := range want {
				worst = max(worst, apart(v[3][i*width+j], x))
			}
		}
	}
	return judge(worst, most)
}

// attend is one query's row of attention.
func attend(q, keys, values []float64) []float64 {
	width := len(q)
	scores, greatest := make([]float64, len(keys)/width), math.Inf(-1)
	for t := range scores {
		for j, x := range q {
			scores[t] += x * keys[t*width+j]
		}
		scores[t] /= math.Sqrt(float64(width))
		greatest = max(greatest, scores[t])
	}
	out, total := make([]float64, width), 0.0
	for t, s := range scores {
		weight := math.Exp(s - greatest)
		total += weight
		for j := range out {
			out[j] += weight * values[t*width+j]
		}
	}
	for j := range out {
		out[j] /= total
	}
	return out
}

// apart is how far a result is from what it should be, relative to that.
func apart(got, want float64) float64 {
	if got == want {
		return 0
	}
	return math.Abs(got-want) / max(math.Abs(want), math.SmallestNonzeroFloat64)
}

func judge(worst, most float64) (string, error) {
	if !(worst <= most) {
		return "", fmt.Errorf("%.2g apart from sums in f64, where %.2g may be", worst, most)
	}
	return fmt.Sprintf("%.1g apart", worst), nil
}
