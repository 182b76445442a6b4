package sinter

import (
	"context"
	"math"
	"slices"
	"testing"
)

// The first tensor at fault is named: a leaf before operations, NaN before what
// is infinite, and of infinite ones that which no operand explains.
func TestFindNaN(t *testing.T) {
	x := Input("x", F32, N(2), N(2))
	w := NewVariable("w", Of([]float32{1, -4}, 2))
	inf := float32(math.Inf(1))
	for name, c := range map[string]struct {
		y    Tensor
		x    []float32
		want string
	}{
		"an input":            {x.Add(w.Tensor()), []float32{1, 2, 3, float32(math.NaN())}, "input x [2 2] is NaN at [1 1]"},
		"an operation":        {x.Add(w.Tensor()).Sqrt().Sum(), []float32{1, 5, 3, 2}, "sqrt(add(input x, variable w)) [2 2] is NaN at [1 1]"},
		"an overflow":         {x.Exp().Add(w.Tensor()).Sum(), []float32{1, 100, 3, 2}, "exp(input x) [2 2] is +Inf at [0 1]"},
		"an infinite input":   {x.Mul(w.Tensor()), []float32{1, 2, inf, 4}, "input x [2 2] is +Inf at [1 0]"},
		"NaN by infinities":   {x.Sub(x.Mul(Scalar(2))), []float32{1, 2, inf, 4}, "is NaN at [1 0]"},
		"nothing":             {x.Mul(w.Tensor()), []float32{1, 2, 3, 4}, "nothing"},
		"integers are finite": {x.Cast(I32), []float32{1, 2, 3, 4}, "nothing"},
	} {
		found, err := Capture(c.y).FindNaN(context.Background(), map[string]Tensor{"x": Of(c.x, 2, 2)}, Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := found.String(); len(got) < len(c.want) || got[len(got)-len(c.want):] != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if _, err := Capture(x).FindNaN(context.Background(), nil, Options{}); err == nil {
		t.Error("an input is missing, and nothing is said")
	}
}

// Where a product alone is too large, a multiply-add gives what docs/ops.md says:
// as written it is NaN, rounded once it is not.
func TestMultiplyAddBeyondTheLargest(t *testing.T) {
	x := Input("x", F32, N(8))
	z := Input("z", F32, N(8))
	y := x.Mul(x).Add(z)
	in := inputs{"x": Of(slices.Repeat([]float32{1e30}, 8), 8), "z": Of(slices.Repeat([]float32{float32(math.Inf(-1))}, 8), 8)}
	for _, c := range []struct {
		device string
		off    []string
		nan    bool
	}{{"interp", nil, true}, {"cpu", []string{"fma"}, true}, {"cpu", nil, false}} {
		p, err := Compile(Capture(y), Options{Device: open(t, c.device), NoOpt: c.off})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		out, err := p.Run(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Values[float32](context.Background(), out[0])
		if err != nil || math.IsNaN(float64(got[0])) != c.nan || !c.nan && !math.IsInf(float64(got[0]), -1) {
			t.Errorf("%s without %v: %v, %v", c.device, c.off, got[0], err)
		}
	}
}
