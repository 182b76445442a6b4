package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/optim"
)

// poisoned is a run whose data has one value, in the third batch.
func poisoned(t *testing.T, o optim.Options, v float32) Options {
	run := ringOptions(t, o)
	run.Evaluate = Evaluation{}
	points, labels := make([]float32, 2*96), make([]int64, 96)
	for i := range points {
		points[i] = float32(i%7) / 7
	}
	points[2*70+1] = v
	run.Data = Batches{Rows: Table{"x": Column(points, 2), "y": Column(labels)}, Size: 32}
	return run
}

func TestNaNInTheData(t *testing.T) {
	for _, options := range []optim.Options{{}, {ClipNorm: 1}, {Accumulate: 2}, {LossScale: &optim.LossScale{}}} {
		o := poisoned(t, options, float32(math.NaN()))
		_, err := Run(context.Background(), o)
		var fault *NaNError
		if !errors.As(err, &fault) || fault.Batch != 2 || fault.First == nil || fault.First.Name != "input x" || fmt.Sprint(fault.First.At) != "[6 1]" {
			t.Errorf("%+v: %v", options, err)
		}
		params, err := sinter.Eval(context.Background(), o.Net.(*ringNet).Hidden.Weight.Tensor().IsFinite().Cast(sinter.F32).Min())
		if err != nil {
			t.Fatal(err)
		}
		if v, err := sinter.Values[float32](context.Background(), params[0]); err != nil || v[0] != 1 {
			t.Errorf("%+v: the parameters are spoilt (%v)", options, err)
		}
	}
	// What is infinite may be meant, as in a mask: who makes NaN of it is named.
	o := poisoned(t, optim.Options{}, float32(math.Inf(-1)))
	if _, err := Run(context.Background(), o); err == nil || !strings.Contains(err.Error(), "[32 16] is NaN at [6 0]") {
		t.Error(err)
	}
}

// A parameter that is NaN is named, and so is the operation that first gives
// one, be it of the loss or of its gradient alone.
func TestNaNElsewhere(t *testing.T) {
	o := ringOptions(t, optim.Options{})
	bias := o.Net.(*ringNet).Out.Bias
	if _, err := sinter.Eval(context.Background(), bias.Assign(sinter.Of([]float32{0, float32(math.NaN())}, 2))); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(context.Background(), o); err == nil || !strings.Contains(err.Error(), "step 0, on batch 0 of epoch 0, is not finite: variable out.bias [2] is NaN at [1]") {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		loss func(w sinter.Tensor) sinter.Tensor
		say  string
	}{
		"a root":              {func(w sinter.Tensor) sinter.Tensor { return w.Sub(sinter.Scalar(9)).Sqrt().Sum() }, "sqrt(sub(variable w, a constant)) [3] is NaN at [0]"},
		"an overflow":         {func(w sinter.Tensor) sinter.Tensor { return w.Mul(sinter.Scalar(1e3)).Exp().Sum() }, "is +Inf at [0]"},
		"the slope of a root": {func(w sinter.Tensor) sinter.Tensor { return w.Sub(sinter.Scalar(2)).Square().Sqrt().Sum() }, "the first that is not is"},
	} {
		net := struct {
			W *sinter.Variable `weight:"w"`
		}{sinter.NewVariable("w", sinter.Of([]float32{2, 2, 2}, 3))}
		opt, err := optim.New(optim.Options{ClipNorm: 1}, optim.Group{Params: []*sinter.Variable{net.W}, Method: optim.SGD{}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = Run(context.Background(), Options{Net: &net, Optimizer: opt, Steps: 3, Schedule: optim.Constant(0.1), Data: Batches{Rows: Numbers{"n", 5}},
			Loss: func(*nn.Mode) (sinter.Tensor, map[string]sinter.Tensor) { return c.loss(net.W.Tensor()), nil }})
		if err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
