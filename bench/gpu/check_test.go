//go:build !static

package main

import (
	"context"
	"math"
	"testing"

	"github.com/sinterml/sinter"
)

// TestChecks: a product and an attention that are right are taken, with one element
// of what is looked at changed they are not, nor where it is no number.
func TestChecks(t *testing.T) {
	d, err := sinter.Open("interp")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	ctx := sinter.WithDevice(context.Background(), d)
	eval := func(x sinter.Tensor) sinter.Tensor {
		t.Helper()
		all, err := sinter.Eval(ctx, x)
		if err != nil {
			t.Fatal(err)
		}
		return all[0]
	}
	try := func(name string, right bool, err error) {
		if right != (err == nil) {
			t.Errorf("%s, right: %v: %v", name, right, err)
		}
	}
	factors := map[float32]bool{1: true, 1.02: false, float32(math.NaN()): false}
	for _, f := range []format{formats[0], formats[2]} {
		shape := [3]int{20, 9, 7}
		x, w := eval(random(f.in, 20, 7)), eval(random(f.in, 7, 9))
		for factor, right := range factors {
			out := eval(lastTimes(x.MatMul(w), factor, 20, 9))
			_, err := checkProduct(ctx, f, shape, map[string]sinter.Tensor{"x": x, "w": w}, out)
			try("product in "+f.name, right, err)
		}
	}
	in := map[string]sinter.Tensor{}
	for _, name := range []string{"q", "k", "v"} {
		in[name] = eval(random(sinter.F32, 1, 2, 6, 4))
	}
	attended, _ := sinter.Attention(in["q"], in["k"], in["v"], sinter.AttentionOptions{})
	for factor, right := range factors {
		out := eval(lastTimes(attended.Reshape(12, 4), factor, 12, 4).Reshape(1, 2, 6, 4))
		_, err := checkAttention(ctx, []int{1, 2, 6, 4}, 5e-5, in, out)
		try("attention", right, err)
	}
}

// lastTimes is a matrix whose last element is multiplied.
func lastTimes(x sinter.Tensor, factor float32, rows, cols int) sinter.Tensor {
	factors := make([]float32, rows*cols)
	for i := range factors {
		factors[i] = 1
	}
	factors[len(factors)-1] = factor
	return x.Cast(sinter.F32).Mul(sinter.Of(factors, rows, cols))
}
