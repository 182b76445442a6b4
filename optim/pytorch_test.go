package optim_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/optim"
)

type pytorch struct {
	Shapes    map[string][]int
	Start     map[string][]float64
	Grads     []map[string][]float64
	Runs      map[string]map[string][]float64
	Schedules map[string][]float64
	Observed  []float64
}

func readPyTorch(t *testing.T) (p pytorch) {
	t.Helper()
	text, err := os.ReadFile("testdata/optim.json") // made by testdata/gen/optim.py
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPyTorchSteps follows given gradients with every method, in f64.
func TestPyTorchSteps(t *testing.T) {
	p := readPyTorch(t)
	methods := map[string]optim.Method{
		"sgd dampening":    optim.SGD{Momentum: 0.8, Dampening: 0.3, WeightDecay: 0.05},
		"sgd nesterov":     optim.SGD{Momentum: 0.8, Nesterov: true},
		"adam decay":       optim.Adam{WeightDecay: 0.05},
		"rmsprop centered": optim.RMSprop{Alpha: 0.9, Momentum: 0.5, Centered: true, WeightDecay: 0.05},
		"adagrad decay":    optim.Adagrad{RateDecay: 0.2, Initial: 0.5, WeightDecay: 0.05},
		"muon":             optim.Muon{WeightDecay: 0.05},
		"muon plain":       optim.Muon{Momentum: 0.8, Plain: true},
		"muon match":       optim.Muon{MatchAdam: true, WeightDecay: 0.05},
	}
	for name, want := range p.Runs {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			m := methods[name]
			if m == nil {
				t.Fatal("no such method")
			}
			// The gradient of the sum of param * g is g.
			loss := sinter.Scalar(0).Cast(sinter.F64)
			var params []*sinter.Variable
			for key, shape := range p.Shapes {
				v := sinter.NewVariable(key, sinter.Of(p.Start[key], shape...))
				g := sinter.Input(key, sinter.F64, sinter.Dims(shape...)...)
				params, loss = append(params, v), loss.Add(v.Tensor().Mul(g).Sum())
			}
			o, err := optim.New(optim.Options{Average: 0.75}, optim.Group{Params: params, Method: m, Scale: 0.5})
			if err != nil {
				t.Fatal(err)
			}
			updates, err := o.Update(loss, sinter.Scalar(0.2))
			if err != nil {
				t.Fatal(err)
			}
			step, err := sinter.Compile(sinter.Capture(updates...), sinter.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer step.Close()
			average := map[string][]float64{}
			for key := range p.Shapes {
				average[key] = append([]float64{}, p.Start[key]...)
			}
			for _, grads := range p.Grads {
				in := map[string]sinter.Tensor{}
				for key, shape := range p.Shapes {
					in[key] = sinter.Of(grads[key], shape...)
				}
				if _, err := step.Run(ctx, in); err != nil {
					t.Fatal(err)
				}
				for _, v := range params {
					for i, x := range values(t, v) {
						average[v.Name()][i] = 0.75*average[v.Name()][i] + 0.25*x
					}
				}
			}
			for i, v := range params {
				near(t, v.Name(), values(t, v), want[v.Name()])
				near(t, "average of "+v.Name(), values(t, o.Averages()[i]), average[v.Name()])
			}
		})
	}
}

func values(t *testing.T, v *sinter.Variable) []float64 {
	t.Helper()
	x, err := sinter.Values[float64](context.Background(), v.Tensor().Cast(sinter.F64).Reshape(-1))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-10*max(1, math.Abs(want[i]))) {
			t.Fatalf("%s[%d] is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func TestPyTorchSchedules(t *testing.T) {
	p := readPyTorch(t)
	plateau := optim.Plateau{Rate: 0.5, Factor: 0.4, Patience: 2, Least: 0.05}
	for name, s := range map[string]optim.Schedule{
		"cosine": optim.Cosine(0.5, 0.1, 23), "linear": optim.Linear(0.5, 0.1, 16), "steps": optim.Steps(0.5, 0.3, 5), "onecycle": optim.OneCycle(0.5, 24),
		"plateau": func(i int) float64 {
			before := plateau.Rate
			plateau.Observe(p.Observed[i])
			return before
		},
	} {
		got := make([]float64, len(p.Schedules[name]))
		for i := range got {
			got[i] = s(i)
		}
		near(t, name, got, p.Schedules[name])
	}
	if len(p.Schedules) != 5 {
		t.Errorf("%d schedules", len(p.Schedules))
	}
	warm := optim.Warmup(4, optim.Constant(2))
	near(t, "warm-up", []float64{warm(0), warm(1), warm(3), warm(4), warm(100)}, []float64{0.5, 1, 2, 2, 2})
	if c := optim.Cosine(1, 0.1, 0); c(0) != 0.1 || c(5) != 0.1 {
		t.Error("a cosine of no steps")
	}
}
