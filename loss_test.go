package sinter

import (
	"context"
	"math"
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
		if got := single(t, loss); math.Abs(got-math.Ln2) > 3e-3 {
			t.Errorf("%v: %v", dt, got)
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
