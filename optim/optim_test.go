package optim_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/optim"
)

func TestNewRefuses(t *testing.T) {
	v := sinter.NewVariable("v", sinter.Of([]float32{1, 2}, 2))
	whole := sinter.NewVariable("n", sinter.Of([]int32{1}))
	of := func(m optim.Method, v ...*sinter.Variable) []optim.Group {
		return []optim.Group{{Params: v, Method: m}}
	}
	for _, c := range []struct {
		o      optim.Options
		groups []optim.Group
		want   string
	}{
		{optim.Options{}, nil, "no parameters"},
		{optim.Options{}, of(nil, v), "no method"},
		{optim.Options{}, of(optim.SGD{}, v, v), `"v" comes twice`},
		{optim.Options{}, of(optim.SGD{}, whole), `"n": it is i32`},
		{optim.Options{}, of(optim.SGD{}, nil), "zero Variable"},
		{optim.Options{}, of(optim.Muon{}, v), "rank 1"},
		{optim.Options{}, of(optim.SGD{Momentum: 1}, v), "Momentum is 1"},
		{optim.Options{}, of(optim.SGD{Nesterov: true}, v), "what Nesterov needs"},
		{optim.Options{}, of(optim.AdamW{Beta2: -1}, v), "Beta2 is -1"},
		{optim.Options{}, of(optim.Adam{WeightDecay: math.NaN()}, v), "WeightDecay is NaN"},
		{optim.Options{}, of(optim.RMSprop{Alpha: 2}, v), "Alpha is 2"},
		{optim.Options{}, of(optim.Adagrad{Initial: -1}, v), "Initial is -1"},
		{optim.Options{}, []optim.Group{{Params: []*sinter.Variable{v}, Method: optim.SGD{}, Scale: -1}}, "scaled by -1"},
		{optim.Options{ClipNorm: -1}, of(optim.SGD{}, v), "norm of -1"},
		{optim.Options{ClipValue: math.NaN()}, of(optim.SGD{}, v), "limit of NaN"},
		{optim.Options{Accumulate: -1}, of(optim.SGD{}, v), "averaged over -1"},
		{optim.Options{Average: 1}, of(optim.SGD{}, v), "keeps 1"},
		{optim.Options{LossScale: &optim.LossScale{Initial: -1}}, of(optim.SGD{}, v), "loss times -1"},
		{optim.Options{LossScale: &optim.LossScale{Initial: math.Inf(1)}}, of(optim.SGD{}, v), "loss times +Inf"},
		{optim.Options{LossScale: &optim.LossScale{Growth: 0.5}}, of(optim.SGD{}, v), "grows by 0.5"},
		{optim.Options{LossScale: &optim.LossScale{Backoff: 1}}, of(optim.SGD{}, v), "backs off by 1"},
		{optim.Options{LossScale: &optim.LossScale{Interval: -1}}, of(optim.SGD{}, v), "grows after -1 updates"},
	} {
		if _, err := optim.New(c.o, c.groups...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func TestUpdateRefuses(t *testing.T) {
	v := sinter.NewVariable("v", sinter.Of([]float32{1, 2}, 2))
	o, err := optim.New(optim.Options{}, optim.Group{Params: []*sinter.Variable{v}, Method: optim.SGD{Momentum: 0.5}})
	if err != nil {
		t.Fatal(err)
	}
	rate := sinter.Scalar(1)
	for name, f := range map[string]func() ([]sinter.Tensor, error){
		"the zero Optimizer":             func() ([]sinter.Tensor, error) { return new(optim.Optimizer).Update(v.Tensor().Sum(), rate) },
		"accumulates":                    func() ([]sinter.Tensor, error) { return new(optim.Optimizer).Accumulate(v.Tensor().Sum()) },
		"want one float":                 func() ([]sinter.Tensor, error) { return o.Update(v.Tensor(), rate) },
		"does not depend on it":          func() ([]sinter.Tensor, error) { return o.Update(sinter.Of([]float32{1}).Sum(), rate) },
		"zero Tensor":                    func() ([]sinter.Tensor, error) { return o.Update(v.Tensor().Sum(), sinter.Tensor{}) },
		"set Options.Accumulate":         func() ([]sinter.Tensor, error) { return o.Accumulate(v.Tensor().Sum()) },
		"f32[2], want a float of rank 0": func() ([]sinter.Tensor, error) { return o.Update(v.Tensor().Sum(), v.Tensor()) },
	} {
		want := name
		if name == "accumulates" {
			want = "the zero Optimizer"
		}
		if all, err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v, want %q", all, err, want)
		}
	}
	var fault *sinter.ShapeError
	if _, err := o.Update(v.Tensor(), rate); !errors.As(err, &fault) || fault.Op != "Update" || !strings.Contains(fault.Caller, "optim_test.go:") {
		t.Errorf("%v does not name the call", err)
	}
}

// A parameter that the loss does not use is named, and the line of the call.
func TestUpdateNamesUnused(t *testing.T) {
	v, w := sinter.NewVariable("v", sinter.Of([]float32{1})), sinter.NewVariable("head.bias", sinter.Of([]float32{1}))
	o, err := optim.New(optim.Options{}, optim.Group{Params: []*sinter.Variable{v, w}, Method: optim.SGD{}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = o.Update(v.Tensor().Sum(), sinter.Scalar(1))
	for _, want := range []string{`variable "head.bias"`, "Update of f32", "optim_test.go:"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestStateNames(t *testing.T) {
	v := sinter.NewVariable("v", sinter.Of([]float32{1, 2}, 2))
	o, err := optim.New(optim.Options{Accumulate: 2, Average: 0.5, LossScale: &optim.LossScale{}}, optim.Group{Params: []*sinter.Variable{v}, Method: optim.AdamW{}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range o.State() {
		names = append(names, s.Name())
	}
	if got := strings.Join(names, " "); got != "optim.count optim.lossscale optim.good optim.skipped adam.mean.v adam.square.v sum.v average.v" {
		t.Error(got)
	}
	if zero := new(optim.Optimizer); zero.State() != nil || zero.Averages() != nil || zero.LossScale() != nil || zero.Skipped() != nil {
		t.Error("the zero Optimizer has state")
	}
}

// Gradients far too large are brought down together, and one by one.
func TestClip(t *testing.T) {
	for _, c := range []struct {
		o    optim.Options
		want [2]float64 // what is taken from each parameter
	}{
		{optim.Options{}, [2]float64{3, 4}}, {optim.Options{ClipNorm: 10}, [2]float64{3, 4}},
		{optim.Options{ClipNorm: 1}, [2]float64{0.6, 0.8}}, {optim.Options{ClipValue: 3.5}, [2]float64{3, 3.5}},
		{optim.Options{ClipValue: 3, ClipNorm: 3 * math.Sqrt2 / 2}, [2]float64{1.5, 1.5}},
	} {
		a, b := sinter.NewVariable("a", sinter.Of([]float64{0}, 1)), sinter.NewVariable("b", sinter.Of([]float32{0}, 1))
		o, err := optim.New(c.o, optim.Group{Params: []*sinter.Variable{a, b}, Method: optim.SGD{}})
		if err != nil {
			t.Fatal(err)
		}
		loss := a.Tensor().Mul(sinter.Scalar(3)).Add(b.Tensor().Cast(sinter.F64).Mul(sinter.Scalar(4))).Sum()
		updates, err := o.Update(loss, sinter.Scalar(1))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sinter.Eval(context.Background(), updates...); err != nil {
			t.Fatal(err)
		}
		got, err := sinter.Values[float64](context.Background(), sinter.Concat(0, a.Tensor(), b.Tensor().Cast(sinter.F64)))
		if err != nil || !(math.Abs(got[0]+c.want[0]) <= 1e-5) || !(math.Abs(got[1]+c.want[1]) <= 1e-5) {
			t.Errorf("%+v: %v, %v, want less %v", c.o, got, err, c.want)
		}
	}
}

// Gradients whose squares are beyond F32 are brought down like others.
func TestClipHuge(t *testing.T) {
	ctx := context.Background()
	v := sinter.NewVariable("v", sinter.Of([]float32{0, 0, 0, 0}, 4))
	o, err := optim.New(optim.Options{ClipNorm: 1}, optim.Group{Params: []*sinter.Variable{v}, Method: optim.SGD{}})
	if err != nil {
		t.Fatal(err)
	}
	updates, err := o.Update(v.Tensor().Mul(sinter.Scalar(1e20)).Sum(), sinter.Scalar(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sinter.Eval(ctx, updates...); err != nil {
		t.Fatal(err)
	}
	if x, err := sinter.Values[float32](ctx, v.Tensor()); err != nil || !(math.Abs(float64(x[0])+0.5) <= 1e-6) {
		t.Errorf("%v, %v, want -0.5", x, err)
	}
	if norm, err := sinter.Values[float32](ctx, optim.Norm(sinter.Of([]float32{3e30, 4e30}, 2))); err != nil || norm[0] != 5e30 {
		t.Errorf("norm %v, %v", norm, err)
	}
}

// A mean of squares less the square of a mean may be below 0 by rounding.
func TestCenteredStays(t *testing.T) {
	ctx := context.Background()
	v := sinter.NewVariable("v", sinter.Of([]float32{0}, 1))
	o, err := optim.New(optim.Options{}, optim.Group{Params: []*sinter.Variable{v}, Method: optim.RMSprop{Centered: true}})
	if err != nil {
		t.Fatal(err)
	}
	updates, err := o.Update(v.Tensor().Mul(sinter.Scalar(1e-20)).Sum(), sinter.Scalar(0.01))
	if err != nil {
		t.Fatal(err)
	}
	step, err := sinter.Compile(sinter.Capture(updates...), sinter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer step.Close()
	for i := range 1000 {
		if _, err := step.Run(ctx, nil); err != nil {
			t.Fatal(err)
		}
		if x, err := sinter.Values[float32](ctx, v.Tensor()); err != nil || x[0] != x[0] {
			t.Fatalf("%v, %v after %d steps", x, err, i+1)
		}
	}
}

// A step that fails, or is given up, changes nothing; steps at the same time
// take turns.
func TestStepWhole(t *testing.T) {
	ctx := context.Background()
	v := sinter.NewVariable("v", sinter.Of([]float32{1, 2, 3}, 3))
	o, err := optim.New(optim.Options{Average: 0.5, ClipNorm: 100}, optim.Group{Params: []*sinter.Variable{v}, Method: optim.SGD{Momentum: 0.5}})
	if err != nil {
		t.Fatal(err)
	}
	at := sinter.Input("at", sinter.I32, sinter.N(2))
	updates, err := o.Update(v.Tensor().Take(at, 0).Sum(), sinter.Scalar(1))
	if err != nil {
		t.Fatal(err)
	}
	step, err := sinter.Compile(sinter.Capture(updates...), sinter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer step.Close()
	all := append(o.State(), v)
	state := func() (s []float64) {
		for _, x := range all {
			s = append(s, values(t, x)...)
		}
		return s
	}
	before := state()
	var outside *sinter.IndexError
	if _, err := step.Run(ctx, map[string]sinter.Tensor{"at": sinter.Of([]int32{0, 7}, 2)}); !errors.As(err, &outside) {
		t.Errorf("an index outside: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := step.Run(ended, map[string]sinter.Tensor{"at": sinter.Of([]int32{0, 1}, 2)}); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	if after := state(); !slices.Equal(before, after) {
		t.Errorf("a failed step left %v, want %v", after, before)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 5 {
				if _, err := step.Run(ctx, map[string]sinter.Tensor{"at": sinter.Of([]int32{0, 0}, 2)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	// The momentum of a gradient of 2 nears 4: after n steps it is 4 - 4/2^n.
	want, momentum := 1.0, 0.0
	for range 20 {
		momentum = momentum/2 + 2
		want -= momentum
	}
	if after := state(); after[0] != 20 || !(math.Abs(values(t, v)[0]-want) <= 1e-3) {
		t.Errorf("after 20 steps: %v, want the first parameter at %v", after, want)
	}
}

// Sums start anew after each update, and the average of parameters from where
// they are at the first.
func TestAccumulateTwice(t *testing.T) {
	ctx := context.Background()
	v := sinter.NewVariable("v", sinter.Of([]float64{1}, 1))
	o, err := optim.New(optim.Options{Accumulate: 3, Average: 0.75}, optim.Group{Params: []*sinter.Variable{v}, Method: optim.SGD{}, Scale: 2})
	if err != nil {
		t.Fatal(err)
	}
	x := sinter.Input("x", sinter.F64, sinter.N(1))
	loss := v.Tensor().Mul(x).Sum()
	sums, err := o.Accumulate(loss)
	if err != nil {
		t.Fatal(err)
	}
	updates, err := o.Update(loss, sinter.Scalar(1))
	if err != nil {
		t.Fatal(err)
	}
	var programs [2]*sinter.Program
	for i, outs := range [][]sinter.Tensor{sums, updates} {
		if programs[i], err = sinter.Compile(sinter.Capture(outs...), sinter.Options{}); err != nil {
			t.Fatal(err)
		}
		defer programs[i].Close()
	}
	param, average := 1.0, 1.0
	for round := range 3 {
		sum := 0.0
		for i := range 3 {
			in := float64(10*round + i)
			sum += in
			if _, err := programs[i/2].Run(ctx, map[string]sinter.Tensor{"x": sinter.Of([]float64{in}, 1)}); err != nil {
				t.Fatal(err)
			}
		}
		param -= 2 * sum / 3
		average = 0.75*average + 0.25*param
		near(t, "parameter", values(t, v), []float64{param})
		near(t, "average", values(t, o.Averages()[0]), []float64{average})
	}
}

// A line through four points, by a step that is compiled once and run with a
// learning rate that falls.
func Example() {
	x, y := sinter.Of([]float32{-1, 0, 1, 2}, 4), sinter.Of([]float32{-4, -1, 2, 5}, 4)
	w, b := sinter.NewVariable("w", sinter.Of([]float32{0})), sinter.NewVariable("b", sinter.Of([]float32{0}))
	loss := sinter.MSE(x.Mul(w.Tensor()).Add(b.Tensor()), y)
	o, err := optim.New(optim.Options{}, optim.Group{Params: []*sinter.Variable{w, b}, Method: optim.Adam{}})
	if err != nil {
		log.Fatal(err)
	}
	updates, err := o.Update(loss, sinter.Input("rate", sinter.F32))
	if err != nil {
		log.Fatal(err)
	}
	step, err := sinter.Compile(sinter.Capture(updates...), sinter.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer step.Close()
	ctx, rate := context.Background(), optim.Cosine(0.3, 0, 300)
	for i := range 300 {
		in := map[string]sinter.Tensor{"rate": sinter.Of([]float32{float32(rate(i))}).Sum()}
		if _, err := step.Run(ctx, in); err != nil {
			log.Fatal(err)
		}
	}
	line, err := sinter.Values[float32](ctx, sinter.Stack(0, w.Tensor(), b.Tensor()))
	fmt.Printf("%.3f %v\n", line, err)
	// Output: [3.000 -1.000] <nil>
}

// A cycle of no steps is at its end, as other schedules are.
func TestOneCycleOfNoSteps(t *testing.T) {
	for _, steps := range []int{1, 0, -5} {
		for _, step := range []int{0, 1, 100} {
			if rate := optim.OneCycle(1, steps)(step); !(math.Abs(rate-1.0/250000) <= 1e-12) {
				t.Errorf("step %d of %d: %v", step, steps, rate)
			}
		}
	}
}

// A loss that is not finite though its gradient is leaves an update out, beside a
// factor of the loss too.
func TestUpdateFiniteBesideLossScale(t *testing.T) {
	for _, scale := range []*optim.LossScale{nil, {}} {
		w := sinter.NewVariable("w", sinter.Of([]float32{0x1p127, 0x1p127}, 2))
		o, err := optim.New(optim.Options{LossScale: scale}, optim.Group{Params: []*sinter.Variable{w}, Method: optim.SGD{}})
		if err != nil {
			t.Fatal(err)
		}
		updates, good, err := o.UpdateFinite(w.Tensor().Sum(), sinter.Scalar(0x1p120).Cast(sinter.F32))
		if err != nil {
			t.Fatal(err)
		}
		outs, err := sinter.Eval(context.Background(), append(updates, good)...)
		if err != nil {
			t.Fatal(err)
		}
		made, err := sinter.Values[bool](context.Background(), outs[len(outs)-1])
		if err != nil {
			t.Fatal(err)
		}
		if now := values(t, w)[0]; made[0] || now != 0x1p127 {
			t.Errorf("loss scale %v: the update is made (%v), and brings %v to %v", scale, made[0], 0x1p127, now)
		}
	}
}
