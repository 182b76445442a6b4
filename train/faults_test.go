package train

import (
	"context"
	"errors"
	"iter"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/optim"
)

// Columns that do not belong together are named, whatever the order in which a
// map gives them.
func TestColumnsAtFault(t *testing.T) {
	two, three := Column([]float32{1, 2}), Column([]float32{1, 2, 3})
	for range 50 {
		for say, columns := range map[string]Table{
			`column "x" has 2 rows, another has 3`: {"x": two, "y": three},
			`column "x": 3 values are no whole`:    {"x": Column([]float32{1, 2, 3}, 2)},
			`column "z" has no values`:             {"z": {}},
		} {
			seen := false
			for _, err := range (Batches{Rows: columns, Size: 3}).Epoch(0, 0, 0) {
				seen = true
				if err == nil || !strings.Contains(err.Error(), say) {
					t.Fatalf("%v, want %s", err, say)
				}
			}
			if !seen {
				t.Fatalf("no error, want %s", say)
			}
		}
	}
	o := ringOptions(t, optim.Options{})
	o.Data = Func(func(int64, int) iter.Seq2[Batch, error] { return nil })
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "the Func gave nil") {
		t.Error(err)
	}
}

// What is not finite beside the parameters does not keep a run from being saved.
func TestCheckpointOfWhatIsNotFinite(t *testing.T) {
	o := ringOptions(t, optim.Options{})
	o.Epochs, o.Steps = 0, 4
	o.Schedule = func(step int) float64 { return 0.01 / float64(4-step) } // infinite behind the end
	o.Evaluate.Every, o.Evaluate.Metrics = 1, func() []Metric {
		zero := sinter.Input("x", sinter.F32, sinter.Sym("rows", 1, 64), sinter.N(2)).Square().Mul(sinter.Scalar(0))
		return []Metric{Mean("infinite", zero.Add(sinter.Scalar(math.Inf(1))))}
	}
	o.EarlyStop = EarlyStop{Metric: "infinite", Patience: 9}
	o.Plateau = Plateau{Rule: &optim.Plateau{Rate: 1, Patience: 9}, Metric: "infinite"}
	o.Checkpoints = Checkpoints{Dir: t.TempDir(), Every: 1}
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	o.Checkpoints.Resume = true
	if r, err := Run(t.Context(), o); err != nil || r.Step != 4 {
		t.Fatal(r, err)
	}
}

// What an evaluation lacks is said before the first step.
func TestWatchedMetricIsThere(t *testing.T) {
	early, plateau := ringOptions(t, optim.Options{}), ringOptions(t, optim.Options{})
	early.EarlyStop = EarlyStop{Metric: "luck"}
	plateau.Plateau = Plateau{Rule: &optim.Plateau{Rate: 1}, Metric: "luck"}
	for _, o := range []Options{early, plateau} {
		if r, err := Run(t.Context(), o); r != nil || err == nil || !strings.Contains(err.Error(), `"luck", which the evaluation does not have`) {
			t.Error(r, err)
		}
	}
}

// A run has its folder to itself: another takes nothing away from it.
func TestTwoRunsInOneFolder(t *testing.T) {
	o := ringOptions(t, optim.Options{})
	o.Checkpoints = Checkpoints{Dir: t.TempDir(), Every: 1}
	writing := filepath.Join(o.Checkpoints.Dir, ".checkpoint-00000009.safetensors.1234abcd.part")
	tries := 0
	o.Report = func(e Event) error {
		if e.EpochEnd || e.Step > 2 {
			return nil
		}
		tries++
		if err := os.WriteFile(writing, nil, 0o600); err != nil {
			return err
		}
		other := ringOptions(t, optim.Options{})
		other.Checkpoints = Checkpoints{Dir: o.Checkpoints.Dir, Resume: e.Step == 1}
		if _, err := Run(context.Background(), other); err == nil || !strings.Contains(err.Error(), "another run keeps its checkpoints in") {
			t.Errorf("a second run: %v", err)
		}
		_, err := os.Stat(writing)
		return err
	}
	if _, err := Run(t.Context(), o); err != nil || tries != 2 {
		t.Fatal(tries, err)
	}
	o.Report = nil
	if _, err := Run(t.Context(), o); err != nil {
		t.Errorf("behind the end of the first: %v", err)
	}
}

// A run whose report fails, as at a disk that is full, keeps where it is: what
// goes on from there ends at the bits of one that was heard to the end.
func TestReportFails(t *testing.T) {
	o := ringOptions(t, optim.Options{})
	mustRun(t, o)
	want := bits(t, o)
	broken := errors.New("nobody listens")
	for name, at := range map[string]func(e Event) bool{
		"a step":   func(e Event) bool { return !e.EpochEnd && e.Step == 3 },
		"an epoch": func(e Event) bool { return e.EpochEnd && e.Epoch == 2 },
	} {
		o := ringOptions(t, optim.Options{})
		o.Checkpoints = Checkpoints{Dir: t.TempDir(), Resume: true}
		o.Report = func(e Event) error {
			if at(e) {
				return broken
			}
			return nil
		}
		r, err := Run(t.Context(), o)
		if !errors.Is(err, broken) {
			t.Fatalf("%s: %v", name, err)
		}
		if steps, _, err := o.Checkpoints.list(); err != nil || len(steps) != 1 || steps[0] != r.Step {
			t.Errorf("%s: checkpoints %v, %v, after step %d", name, steps, err, r.Step)
		}
		dir := o.Checkpoints
		o = ringOptions(t, optim.Options{})
		o.Checkpoints = dir
		if mustRun(t, o); bits(t, o) != want {
			t.Errorf("%s: another net", name)
		}
	}
}

// Errors say once where they are from.
func TestCheckpointErrorsHaveOnePrefix(t *testing.T) {
	o := ringOptions(t, optim.Options{})
	o.Checkpoints = Checkpoints{Dir: t.TempDir()}
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	o.Checkpoints.Resume, o.Seed = true, o.Seed+1
	_, err := Run(t.Context(), o)
	var fault *CheckpointError
	if !errors.As(err, &fault) || strings.Count(err.Error(), "train:") != 1 {
		t.Error(err)
	}
}

// The loss of a step that a LossScale left out is not made up, and spoils no
// mean.
func TestLossOfAnOverflow(t *testing.T) {
	for _, averaged := range []int{1, 2} {
		net := struct {
			W *sinter.Variable `weight:"w"`
		}{sinter.NewVariable("w", sinter.Of([]float32{1}, 1))}
		opt, err := optim.New(optim.Options{LossScale: &optim.LossScale{}, Accumulate: averaged}, optim.Group{Params: []*sinter.Variable{net.W}, Method: optim.SGD{}})
		if err != nil {
			t.Fatal(err)
		}
		x := sinter.Input("x", sinter.F32, sinter.N(1))
		var losses []float64
		_, err = Run(t.Context(), Options{Net: &net, Optimizer: opt, Epochs: 1, Schedule: optim.Constant(0),
			Data: Batches{Rows: Table{"x": Column([]float32{1, 1, 1, 200, 1, 1})}, Size: 1},
			Loss: func(*nn.Mode) (sinter.Tensor, map[string]sinter.Tensor) {
				return net.W.Tensor().Mul(x).Exp().Sum(), nil // exp(200) is infinite in f32
			},
			Report: func(e Event) error { losses = append(losses, e.Loss); return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		steps := len(losses) - 1
		if steps != 6/averaged {
			t.Fatalf("%d steps", steps)
		}
		for i, l := range losses {
			if overflow := i == 3/averaged; overflow != math.IsNaN(l) || !overflow && math.Abs(l-math.E) > 1e-5 {
				t.Errorf("averages of %d: loss %d is %v", averaged, i, l)
			}
		}
	}
}

// A batch that is not finite leaves running statistics as they were, as it does
// the parameters.
func TestStatisticsOfNaN(t *testing.T) {
	for _, options := range []optim.Options{{}, {Accumulate: 2}} {
		o := poisoned(t, options, float32(math.NaN()))
		if _, err := Run(t.Context(), o); err == nil {
			t.Fatal("NaN was not noticed")
		}
		mean, err := sinter.Values[float32](t.Context(), o.Net.(*ringNet).Norm.Mean.Tensor())
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range mean {
			if v-v != 0 || v == 0 {
				t.Errorf("%+v: running mean %d is %v", options, i, v)
			}
		}
	}
}
