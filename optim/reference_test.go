package optim_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/reftest"
	"github.com/sinterml/sinter/optim"
	"github.com/sinterml/sinter/safetensors"
)

type run struct {
	Optimizer string
	Hyper     struct {
		LR, Momentum, Alpha, Eps float64
		WeightDecay              float64 `json:"weight_decay"`
		Nesterov                 bool
		Betas                    [2]float64
	}
	Extra struct {
		Clip       float64
		Accumulate int
	}
	LRs, Losses []float64
}

func (r run) method(t *testing.T) optim.Method {
	h := r.Hyper
	adam := optim.Adam{Beta1: h.Betas[0], Beta2: h.Betas[1], Epsilon: h.Eps, WeightDecay: h.WeightDecay}
	switch r.Optimizer {
	case "sgd", "sgd_momentum", "sgd_nesterov_wd", "sgd_accum2":
		return optim.SGD{Momentum: h.Momentum, WeightDecay: h.WeightDecay, Nesterov: h.Nesterov}
	case "adam":
		return adam
	case "adamw", "adamw_clip_cosine":
		return optim.AdamW(adam)
	case "rmsprop":
		return optim.RMSprop{Alpha: h.Alpha, Epsilon: h.Eps, Momentum: h.Momentum, WeightDecay: h.WeightDecay}
	case "adagrad":
		return optim.Adagrad{Epsilon: h.Eps, WeightDecay: h.WeightDecay}
	}
	t.Fatalf("no optimizer %q", r.Optimizer)
	return nil
}

// referenceRuns are what mlp.json lists, with the file of their values.
type referenceRuns struct {
	Steps, Batch int
	Runs         []run
	file         *safetensors.File
}

func openReferenceRuns(t *testing.T) *referenceRuns {
	t.Helper()
	dir := reftest.Dir(t, "train")
	text, err := os.ReadFile(filepath.Join(dir, "mlp.json"))
	if err != nil {
		t.Fatal(err)
	}
	r := &referenceRuns{}
	if err := json.Unmarshal(text, r); err != nil {
		t.Fatal(err)
	}
	if r.file, err = safetensors.Open(filepath.Join(dir, "mlp.safetensors")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.file.Close() })
	return r
}

// TestReferenceMLP trains a small network under each setting as PyTorch did.
func TestReferenceMLP(t *testing.T) {
	ref := openReferenceRuns(t)
	for _, r := range ref.Runs {
		t.Run(r.Optimizer, func(t *testing.T) {
			for i, noOpt := range [][]string{nil, {"all"}} {
				if i == 0 || !testing.Short() {
					r.train(t, ref.file, ref.Steps, ref.Batch, sinter.Options{NoOpt: noOpt, Check: true})
				}
			}
		})
	}
}

func weight(t *testing.T, file *safetensors.File, name string) sinter.Tensor {
	t.Helper()
	s, ok := file.Tensor(name)
	if !ok {
		t.Fatalf("no tensor %q", name)
	}
	return sinter.Weight(s.Name, s.DType, s.Data, s.Shape...)
}

var names = []string{"l1.weight", "l1.bias", "l2.weight", "l2.bias"}

func (r run) train(t *testing.T, file *safetensors.File, steps, batch int, o sinter.Options) {
	ctx := context.Background()
	var params []*sinter.Variable
	var p []sinter.Tensor
	for _, name := range names {
		v := sinter.NewVariable(name, weight(t, file, name))
		params, p = append(params, v), append(p, v.Tensor())
	}
	x := sinter.Input("x", sinter.F32, sinter.Dims(batch, 20)...)
	y := sinter.Input("y", sinter.I64, sinter.N(batch))
	rate := sinter.Input("rate", sinter.F32)
	loss := sinter.CrossEntropy(sinter.Linear(sinter.Linear(x, p[0], p[1]).Tanh(), p[2], p[3]), y, sinter.CrossEntropyOptions{})
	opt, err := optim.New(optim.Options{ClipNorm: r.Extra.Clip, Accumulate: r.Extra.Accumulate}, optim.Group{Params: params, Method: r.method(t)})
	if err != nil {
		t.Fatal(err)
	}
	compile := func(assigns []sinter.Tensor, err error) *sinter.Program {
		if err != nil {
			t.Fatal(err)
		}
		program, err := sinter.Compile(sinter.Capture(append([]sinter.Tensor{loss}, assigns...)...), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = program.Close() })
		return program
	}
	update := compile(opt.Update(loss, rate))
	var accumulate *sinter.Program
	micro := max(1, r.Extra.Accumulate)
	if micro > 1 {
		accumulate = compile(opt.Accumulate(loss))
	}
	xs, ys := weight(t, file, "x"), weight(t, file, "y")
	rows, _ := xs.Dim(0).Const()
	for i := range steps {
		mean := 0.0
		for j := range micro {
			at := ((i*micro + j) * batch) % rows
			in := map[string]sinter.Tensor{
				"x": xs.Slice(sinter.Range{Start: at, Stop: at + batch}), "y": ys.Slice(sinter.Range{Start: at, Stop: at + batch}),
				"rate": sinter.Of([]float32{float32(r.LRs[i])}).Sum(),
			}
			program := update
			if j < micro-1 {
				program = accumulate
				delete(in, "rate")
			}
			outs, err := program.Run(ctx, in)
			if err != nil {
				t.Fatal(err)
			}
			values, err := sinter.Values[float32](ctx, outs[0])
			if err != nil {
				t.Fatal(err)
			}
			mean += float64(values[0]) / float64(micro)
		}
		if want := r.Losses[i]; !(math.Abs(mean-want) <= 1e-5*math.Abs(want)) {
			t.Fatalf("loss of step %d is %v, want %v", i, mean, want)
		}
	}
	for i, name := range names {
		got, err := sinter.Values[float32](ctx, p[i].Reshape(-1))
		if err != nil {
			t.Fatal(err)
		}
		want, err := sinter.Values[float64](ctx, weight(t, file, "final."+r.Optimizer+"."+name).Reshape(-1))
		if err != nil {
			t.Fatal(err)
		}
		for k := range want {
			if !(math.Abs(float64(got[k])-want[k]) <= 1e-5) {
				t.Fatalf("%s[%d] is %v, want %v", name, k, got[k], want[k])
			}
		}
	}
}
