package sinter

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func single(t *testing.T, x Tensor) float64 {
	t.Helper()
	v, err := Values[float64](context.Background(), x.Cast(F64))
	if err != nil {
		t.Fatal(err)
	}
	return v[0]
}

// What is surely right has a small loss, not 0, on both sides alike, and what is
// infinite and wrong an infinite one. The numbers are those of f64.
func TestBCEWithLogitsOfTheSure(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ x, target, want float64 }{
		{20, 1, 2.0611536181902037e-9}, {-20, 0, 2.0611536181902037e-9}, {6, 1, 0.0024756851377303}, {-6, 0, 0.0024756851377303},
		{3, 0.25, 2.2985873515737}, {-3, 0.25, 0.7985873515737}, {0, 0.25, math.Ln2}, {inf, 0, inf}, {-inf, 1, inf}, {inf, 0.5, inf},
	} {
		x, y := Of([]float32{float32(c.x)}, 1), Of([]float32{float32(c.target)}, 1)
		if got := single(t, BCEWithLogits(x, y)); got != c.want && !(math.Abs(got-c.want) <= 1e-6*c.want) {
			t.Errorf("logit %v, target %v: %v, want %v", c.x, c.target, got, c.want)
		}
	}
}

// The gradient of Huber is delta at most, however far off the result is.
func TestHuberFarOff(t *testing.T) {
	for _, far := range []float64{1e30, math.Inf(1), math.Inf(-1)} {
		x := Of([]float32{float32(far)}, 1)
		if got := single(t, Grad(Huber(x, Of([]float32{0}, 1), 1.5), x)[0]); got != math.Copysign(1.5, far) {
			t.Errorf("gradient %v at %v", got, far)
		}
	}
	for _, delta := range []float64{0, -1, math.NaN()} {
		if Huber(Ones(F32, N(1)), Ones(F32, N(1)), delta).Err() == nil {
			t.Errorf("no error for a delta of %v", delta)
		}
	}
}

// The number of rows that count is no f16.
func TestCrossEntropyOfManyRows(t *testing.T) {
	for _, dt := range []DType{F16, BF16} {
		loss := CrossEntropy(Zeros(dt, Dims(70001, 2)...), Zeros(I64, N(70001)), CrossEntropyOptions{IgnoreIndex: new(5)})
		if got := single(t, loss); !(math.Abs(got-math.Ln2) <= 3e-3) {
			t.Errorf("%v: %v", dt, got)
		}
	}
}

// Their sum is not either, and a class that does not count may be impossible.
func TestCrossEntropyWeights(t *testing.T) {
	for _, dt := range []DType{F16, BF16, F32} {
		loss := CrossEntropy(Zeros(dt, Dims(70001, 2)...), Zeros(I64, N(70001)), CrossEntropyOptions{Weights: Of([]float32{2, 1}, 2)})
		if got := single(t, loss); !(math.Abs(got-math.Ln2) <= 3e-3) {
			t.Errorf("%v: %v", dt, got)
		}
	}
	inf := float32(math.Inf(1))
	logits, right := Of([]float32{-inf, 0, 0, -inf, 1, 1}, 2, 3), Of([]int32{0, 2}, 2)
	for _, smoothing := range []float64{0, 0.3} {
		loss := CrossEntropy(logits, right, CrossEntropyOptions{Weights: Of([]float32{0, 2, 2}, 3), LabelSmoothing: smoothing})
		// Of the first row smoothing alone counts: two of three classes, each of weight 2.
		if got, want := single(t, loss), math.Ln2*(1-smoothing+smoothing*4/3); !(math.Abs(got-want) <= 1e-6) {
			t.Errorf("smoothing %v: %v, want %v", smoothing, got, want)
		}
		gradient, err := Values[float32](context.Background(), Grad(loss, logits)[0])
		if err != nil || slices.ContainsFunc(gradient, func(g float32) bool { return !(g >= -1 && g <= 1) }) {
			t.Errorf("smoothing %v: gradient %v, %v", smoothing, gradient, err)
		}
	}
	// What is no number is not hidden, and what is large is no more infinite than the loss is.
	weights := Of([]float32{0, 1e6, 1e6}, 3)
	if got := single(t, CrossEntropy(Of([]float32{0, float32(math.NaN()), 1, 0, 1, 2}, 2, 3), right, CrossEntropyOptions{Weights: weights})); !math.IsNaN(got) {
		t.Errorf("of NaN: %v", got)
	}
	for _, dt := range []DType{F16, BF16} {
		got := single(t, CrossEntropy(Zeros(dt, Dims(2, 3)...), right, CrossEntropyOptions{Weights: weights, LabelSmoothing: 0.3}))
		if want := math.Log(3) * (0.7 + 0.3*4/3); !(math.Abs(got-want) <= 0.01) {
			t.Errorf("%v, large weights: %v, want %v", dt, got, want)
		}
	}
	x, w := Of([]float64{1, 2, 3, 0, -1, 1}, 2, 3), Of([]float64{0, 1, 2}, 3)
	if err := CheckGrad(t.Context(), func(in []Tensor) Tensor {
		return CrossEntropy(in[0], right, CrossEntropyOptions{Weights: in[1], LabelSmoothing: 0.3})
	}, CheckGradOptions{}, x, w); err != nil {
		t.Error(err)
	}
	for _, w := range []Tensor{Ones(F32, N(2)), Ones(F32, N(1)), Scalar(1), Ones(F32, Dims(1, 3)...), Ones(I32, N(3))} {
		err := CrossEntropy(logits, right, CrossEntropyOptions{Weights: w}).Err()
		if err == nil || !strings.Contains(err.Error(), "one for each class") {
			t.Errorf("weights %v of %v: %v", w.Shape(), w.DType(), err)
		}
	}
}

func TestCrossEntropyRefusesOtherRows(t *testing.T) {
	for _, c := range [][2][]int{{{4, 3}, {1}}, {{1, 3}, {4}}, {{1, 2, 3}, {5, 2}}} {
		if y := CrossEntropy(Zeros(F32, Dims(c[0]...)...), Zeros(I64, Dims(c[1]...)...), CrossEntropyOptions{}); y.Err() == nil {
			t.Errorf("logits %v, targets %v: no error", c[0], c[1])
		}
	}
}

// Numbers that would be compared with each of the others are refused, where the
// call was made; one that is repeated for the other is not.
func TestLossesOfPairs(t *testing.T) {
	losses := map[string]func(x, y Tensor) Tensor{
		"MSE": MSE, "L1": L1, "BCEWithLogits": BCEWithLogits, "Huber": func(x, y Tensor) Tensor { return Huber(x, y, 1) },
	}
	n := Sym("n", 1, 64)
	of := func(dims ...Dim) Tensor { return Input("x", F32, dims...) }
	for name, loss := range losses {
		for _, c := range [][2]Tensor{{of(N(4), N(1)), of(N(4))}, {of(N(4)), of(N(4), N(1))}, {of(n, N(1)), of(n)}, {of(N(1), N(3)), of(N(2), N(1))}} {
			err := loss(c[0], c[1]).Err()
			var shape *ShapeError
			if !errors.As(err, &shape) || shape.Op != name || !strings.Contains(err.Error(), "Squeeze(-1)") || !strings.Contains(err.Error(), "loss_test.go:") {
				t.Errorf("%s of %v and %v: %v", name, c[0].Shape(), c[1].Shape(), err)
			}
		}
		for _, c := range [][2]Tensor{{of(N(4), N(3)), of(N(3))}, {of(N(4)), Scalar(1)}, {of(), of(N(4))}, {of(N(4), N(3)), of(N(4), N(1))}, {of(N(1), N(1)), of(N(1))}, {of(n, N(1)), of(N(1))}} {
			if err := loss(c[0], c[1]).Err(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := loss(of(N(2)), of(N(3))).Err(); err == nil || strings.Contains(err.Error(), "Squeeze") {
			t.Errorf("%s of [2] and [3]: %v", name, err)
		}
	}
}
