package training_test

import (
	"context"
	"math"
	"os"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/bench/training"
)

// agreeing is how many losses can be compared. From the twelfth step on the net
// is chaotic: begun with weights that are off by 1e-7 of themselves, or in f64,
// the other framework is off from its own losses by up to 2e-2.
const agreeing = 12

// TestLosses compares the losses of gpt6 with those of another framework, from
// the file that SINTER_GPT6 names: tensors "weight.*", "ids", "targets" and
// "losses".
func TestLosses(t *testing.T) {
	file := os.Getenv("SINTER_GPT6")
	if file == "" {
		t.Skip("SINTER_GPT6 names no file with losses to compare with")
	}
	ctx := context.Background()
	want, err := training.Losses(file)
	if err != nil {
		t.Fatal(err)
	}
	net, err := training.Find("gpt6")
	if err != nil {
		t.Fatal(err)
	}
	step, err := net.Step(training.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := step.Load(ctx, file); err != nil {
		t.Fatal(err)
	}
	program, err := sinter.Compile(step.Graph, sinter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	for i, w := range want[:min(len(want), agreeing)] {
		outs, err := program.Run(ctx, step.Inputs)
		if err != nil {
			t.Fatal(err)
		}
		loss, err := sinter.Values[float32](ctx, outs[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outs {
			o.Release()
		}
		off := math.Abs(float64(loss[0])-w) / w
		t.Logf("step %d: %.7f, want %.7f, off by %.1e", i, loss[0], w, off)
		if !(off <= 1e-4) {
			t.Errorf("the loss of step %d is %v, want %v", i, loss[0], w)
		}
	}
}
