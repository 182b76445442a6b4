package nn_test

import (
	"math"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
)

// The number of rows is no f16.
func TestNLLOfManyRows(t *testing.T) {
	for _, dt := range []sinter.DType{sinter.F16, sinter.BF16} {
		loss := nn.NLL(sinter.Full(dt, -0.5, sinter.Dims(70001, 2)...), sinter.Zeros(sinter.I64, sinter.N(70001)), nn.NLLOptions{})
		if got := values(t, loss)[0]; got != 0.5 {
			t.Errorf("%v: %v, want 0.5", dt, got)
		}
	}
}

// A class without weight may be impossible, and a row that does not count anything; what
// is no number is hidden nowhere else, and weights are more than halves hold.
func TestNLLOfWeights(t *testing.T) {
	inf, nan, out := float32(math.Inf(-1)), float32(math.NaN()), -100
	right, weights := sinter.Of([]int32{0, 2, -100}, 3), sinter.Of([]float32{0, 1e6, 1e6}, 3)
	for _, c := range []struct {
		first float32
		want  float64
	}{{inf, 0.25}, {-1, 0.25}, {nan, math.NaN()}} {
		logp := sinter.Of([]float32{c.first, 0, 0, 0, 0, -0.25, nan, nan, nan}, 3, 3)
		for _, dt := range []sinter.DType{sinter.F16, sinter.BF16, sinter.F32, sinter.F64} {
			loss := nn.NLL(logp.Cast(dt), right, nn.NLLOptions{Weights: weights, IgnoreIndex: &out})
			if got := values(t, loss)[0]; got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
				t.Errorf("%v, a first of %v: %v, want %v", dt, c.first, got, c.want)
			}
		}
	}
}

// Nor is what all rows together add.
func TestKLOfManyRows(t *testing.T) {
	for _, dt := range []sinter.DType{sinter.F16, sinter.BF16} {
		q, p := sinter.Full(dt, -2, sinter.Dims(70001, 2)...), sinter.Full(dt, 0, sinter.Dims(70001, 2)...)
		if got := values(t, nn.KL(q, p, nn.KLOptions{LogTarget: true, PerRow: true}))[0]; got != 4 {
			t.Errorf("%v: %v, want 4", dt, got)
		}
	}
}

// Rows of halves may be longer than the root of the greatest half, or shorter
// than that of the least.
func TestInfoNCEOfHalves(t *testing.T) {
	for _, dt := range []sinter.DType{sinter.F16, sinter.BF16} {
		for _, long := range []float32{1000, 1, 0x1p-14, 0} {
			rows := sinter.Of([]float32{3 * long, 4 * long, -4 * long, 3 * long}, 2, 2)
			want := values(t, nn.InfoNCE(rows, rows, nn.InfoNCEOptions{Temperature: 0.5}))[0]
			got := values(t, nn.InfoNCE(rows.Cast(dt), rows.Cast(dt), nn.InfoNCEOptions{Temperature: 0.5}))[0]
			if !(math.Abs(got-want) < 0.01) {
				t.Errorf("%v of length %v: %v, want %v", dt, 5*long, got, want)
			}
		}
	}
}

func TestLossesRefuse(t *testing.T) {
	zeros := func(sizes ...int) sinter.Tensor { return sinter.Zeros(sinter.F32, sinter.Dims(sizes...)...) }
	whole := func(sizes ...int) sinter.Tensor { return sinter.Zeros(sinter.I64, sinter.Dims(sizes...)...) }
	for want, y := range map[string]sinter.Tensor{
		"one target for each row": nn.NLL(zeros(4, 3), whole(1), nn.NLLOptions{}),
		"one for each class":      nn.NLL(zeros(4, 3), whole(4), nn.NLLOptions{Weights: zeros(4)}),
		"targets [5 2]":           nn.NLL(zeros(1, 2, 3), whole(5, 2), nn.NLLOptions{}),
		"3 rows have no own":      nn.InfoNCE(zeros(3, 2), zeros(2, 2), nn.InfoNCEOptions{}),
		"give [3 3]":              nn.KL(zeros(3, 1), zeros(3), nn.KLOptions{}),
		"give [2 3 3]":            nn.BCE(zeros(3), zeros(2, 3, 1), nn.BCEOptions{}),
		"a Temperature of NaN":    nn.InfoNCE(zeros(3, 2), zeros(3, 2), nn.InfoNCEOptions{Temperature: math.NaN()}),
		"a Temperature of +Inf":   nn.InfoNCE(zeros(3, 2), zeros(3, 2), nn.InfoNCEOptions{Temperature: math.Inf(1)}),
	} {
		if y.Err() == nil || !strings.Contains(y.Err().Error(), want) {
			t.Errorf("%v, want %q", y.Err(), want)
		}
	}
}

// A target that is no probability is not passed over.
func TestKLOfNoProbability(t *testing.T) {
	for _, target := range []float64{math.NaN(), -0.5} {
		logq, p := sinter.Of([]float64{-1, -2}, 2), sinter.Of([]float64{target, 0.5}, 2)
		if got := values(t, nn.KL(logq, p, nn.KLOptions{}))[0]; !math.IsNaN(got) {
			t.Errorf("target %v: %v", target, got)
		}
	}
}
