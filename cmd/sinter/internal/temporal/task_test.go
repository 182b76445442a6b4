package temporal

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/train"
)

// trained runs a task to its end.
func trained(t testing.TB, o Options, compile sinter.Options) (*Task, *train.Result) {
	t.Helper()
	task, err := NewTask(o)
	if err != nil {
		t.Fatal(err)
	}
	to, err := task.Training()
	if err != nil {
		t.Fatal(err)
	}
	to.Compile = compile
	result, err := train.Run(context.Background(), to)
	if err != nil {
		t.Fatal(err)
	}
	return task, result
}

// outcomes are those of the net and of its model in 8 bits, on the rows to test.
func outcomes(t *testing.T, task *Task) (hits, small Outcome) {
	t.Helper()
	ctx := context.Background()
	y, err := task.Predict(ctx, task.Test, sinter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	model, err := task.Quantise(ctx, sinter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	z, err := task.PredictModel(ctx, task.Test, model)
	if err != nil {
		t.Fatal(err)
	}
	return task.Hits(task.Test, y), task.Hits(task.Test, z)
}

// A short training comes close to what can be known, and 8 bits and a file lose
// nothing of it.
func TestTraining(t *testing.T) {
	ctx := context.Background()
	for _, net := range []string{MLPName, TransformerName} {
		t.Run(net, func(t *testing.T) {
			task, result := trained(t, Options{Seed: 1001, Sigma: 0.15, Net: net}, sinter.Options{})
			hits, small := outcomes(t, task)
			model, err := task.Quantise(ctx, sinter.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer model.Close()
			regime := Regime.Hits(task.Rows, task.Test)
			t.Logf("f32 %.4f, int8 %.4f, regime %.4f, %v", hits.Mean(), small.Mean(), regime.Mean(), result.Train)
			if !(hits.Mean() >= 0.97*regime.Mean()) {
				t.Errorf("right in %.4f, the regime predictor in %.4f", hits.Mean(), regime.Mean())
			}
			if d := small.Against(hits); !(d.Mean >= -0.01) {
				t.Errorf("in 8 bits %.4f is lost", -d.Mean)
			}
			file, err := model.File()
			if err != nil {
				t.Fatal(err)
			}
			if len(file) > 25_000 {
				t.Errorf("the file has %d bytes", len(file))
			}
			path := filepath.Join(t.TempDir(), "model")
			if err := os.WriteFile(path, file, 0o600); err != nil {
				t.Fatal(err)
			}
			again, err := Open(path, sinter.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			x := make([]float32, 3*Features)
			for i := range x {
				x[i] = float32(i%7) / 7
			}
			a, err := model.Predict(ctx, x)
			if err != nil {
				t.Fatal(err)
			}
			b, err := again.Predict(ctx, x)
			if err != nil {
				t.Fatal(err)
			}
			for i := range a {
				if a[i] != b[i] {
					t.Errorf("output %d is %v from memory and %v from the file", i, a[i], b[i])
				}
			}
		})
	}
}
