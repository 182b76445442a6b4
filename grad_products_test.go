package sinter_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
)

// TestGradientOfSteps: the gradient of a weight that several products of few rows use is
// one product of all their rows, and the sum of the gradients that weights of their own
// would have.
func TestGradientOfSteps(t *testing.T) {
	const steps, in, out = 5, 12, 9
	ctx := context.Background()
	use := func(form string, h, w tensor) tensor { // [rows, in] and [in, out]
		switch form {
		case "turned weight":
			return h.MatMul(w.T().Reshape(out, in).T())
		case "weight on the left":
			return w.T().MatMul(h.T()).T()
		case "columns":
			return h.Flip(1).T().Flip(0).T().MatMul(w)
		}
		return h.MatMul(w)
	}
	for _, c := range []struct {
		forms    []string
		rows     int
		products int // of the gradient
	}{
		{[]string{"plain"}, 2, 1}, {[]string{"turned weight"}, 2, 1}, {[]string{"weight on the left"}, 2, 1},
		{[]string{"columns"}, 2, 1}, {[]string{"plain", "columns"}, 2, 1}, {[]string{"plain", "weight on the left"}, 2, 1},
		{[]string{"plain"}, 5, 1}, {[]string{"plain"}, 6, steps}, // 6*(12+9) > 12*9
	} {
		name := strings.Join(c.forms, " and ")
		values := sinter.Of(sines64(in*out, 0.7), in, out)
		w := values.Add(sinter.Scalar(0))
		var own, all []tensor
		var losses [2]tensor
		for i := range steps {
			h := sinter.Of(sines64(c.rows*in, 1.1+float64(i)), c.rows, in)
			apart := values.Mul(sinter.Scalar(1))
			own = append(own, apart)
			for j, weight := range []tensor{w, apart} {
				y := use(c.forms[i%len(c.forms)], h, weight).Square().Sum()
				if i > 0 {
					y = losses[j].Add(y)
				}
				losses[j] = y
			}
		}
		joined := sinter.Grad(losses[0], w)[0]
		text := sinter.Capture(joined).String()
		if got := strings.Count(text, " = matmul") - steps; got != c.products {
			t.Errorf("%s of %d rows: %d products, want %d:\n%s", name, c.rows, got, c.products, text)
		}
		sum := sinter.Zeros(sinter.F64, sinter.N(in), sinter.N(out))
		for _, g := range sinter.Grad(losses[1], own...) {
			sum = sum.Add(g)
		}
		all, err := sinter.Eval(ctx, joined, sum)
		if err != nil {
			t.Fatal(err)
		}
		got, err := sinter.Values[float64](ctx, all[0])
		if err != nil {
			t.Fatal(err)
		}
		want, err := sinter.Values[float64](ctx, all[1])
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if d := math.Abs(got[i] - want[i]); !(d <= 1e-12*math.Abs(want[i])+1e-12) {
				t.Errorf("%s of %d rows: element %d is %v, want %v", name, c.rows, i, got[i], want[i])
				break
			}
		}
	}
}

func sines64(n int, step float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = math.Sin(step * float64(i+1))
	}
	return v
}
