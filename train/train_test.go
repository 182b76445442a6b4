package train

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/optim"
)

// rings is a task that a small net learns: is a point near the origin?
const pointCount = 203 // no multiple of a batch

func rings() Table {
	r := rand.New(rand.NewPCG(1, 2))
	points, labels := make([]float32, 2*pointCount), make([]int64, pointCount)
	for i := range labels {
		x, y := 2*r.Float32()-1, 2*r.Float32()-1
		points[2*i], points[2*i+1] = x, y
		if x*x+y*y > 0.5 {
			labels[i] = 1
		}
	}
	return Table{"x": Column(points, 2), "y": Column(labels)}
}

// ringNet has all that a checkpoint must keep: weights, running statistics, and
// a layer that draws.
type ringNet struct {
	Hidden nn.Linear    `weight:"hidden"`
	Norm   nn.BatchNorm `weight:"norm"`
	Out    nn.Linear    `weight:"out"`
}

func (n *ringNet) forward(x sinter.Tensor, m *nn.Mode) sinter.Tensor {
	h := n.Norm.Forward(n.Hidden.Forward(x), m).ReLU()
	return n.Out.Forward(nn.Dropout{P: 0.1}.Forward(h, m))
}

// ringOptions is a run that uses most of what there is.
func ringOptions(t testing.TB, o optim.Options) Options {
	t.Helper()
	net := &ringNet{Hidden: nn.Linear{In: 2, Out: 16}, Norm: nn.BatchNorm{Channels: 16}, Out: nn.Linear{In: 16, Out: 2}}
	if err := nn.Init(net, nn.Options{Seed: 3}); err != nil {
		t.Fatal(err)
	}
	opt, err := optim.New(o, optim.Group{Params: nn.Params(net), Method: optim.AdamW{WeightDecay: 0.01}})
	if err != nil {
		t.Fatal(err)
	}
	x, y := sinter.Input("x", sinter.F32, sinter.Sym("rows", 1, 64), sinter.N(2)), sinter.Input("y", sinter.I64, sinter.Sym("rows", 1, 64))
	data := Batches{Rows: rings(), Size: 32, Shuffle: true}
	return Options{
		Net: net, Optimizer: opt, Data: data, Epochs: 20, Schedule: optim.Cosine(0.05, 0.001, 140), Seed: 7,
		Loss: func(m *nn.Mode) (sinter.Tensor, map[string]sinter.Tensor) {
			logits := net.forward(x, m)
			right := logits.ArgMax(-1).Equal(y).Cast(sinter.F32).Mean()
			return sinter.CrossEntropy(logits, y, sinter.CrossEntropyOptions{}), map[string]sinter.Tensor{"right": right}
		},
		Evaluate: Evaluation{Data: Batches{Rows: rings(), Size: 50}, Metrics: func() []Metric {
			logits := net.forward(x, nil)
			rows := sinter.CrossEntropy(logits, y, sinter.CrossEntropyOptions{Reduction: sinter.ReduceNone})
			return []Metric{Mean("loss", rows), Accuracy("accuracy", logits, y), ConfusionMatrix("confusion", logits, y, 2), F1("f1", logits, y, 2)}
		}},
	}
}

// bits is everything that a run leaves behind.
func bits(t testing.TB, o Options) string {
	t.Helper()
	state, err := nn.State(o.Net)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range o.Optimizer.State() {
		state = append(state, nn.Param{Name: fmt.Sprint(i, v.Name()), Variable: v})
	}
	tensors, err := nn.Snapshot(context.Background(), state)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, x := range tensors {
		fmt.Fprintf(&b, "%s %x\n", x.Name, x.Data)
	}
	return b.String()
}

func mustRun(t testing.TB, o Options) *Result {
	t.Helper()
	r, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRunLearns(t *testing.T) {
	o := ringOptions(t, optim.Options{})
	var events []Event
	o.Report = func(e Event) error {
		events = append(events, e)
		return nil
	}
	r := mustRun(t, o)
	if r.Step != 140 || r.Epoch != 20 || len(events) != 160 {
		t.Errorf("%d steps, %d epochs, %d events", r.Step, r.Epoch, len(events))
	}
	accuracy, _ := r.Scores.Value("accuracy")
	if accuracy < 0.93 {
		t.Errorf("accuracy %v", accuracy)
	}
	c := r.Scores.Confusion("confusion")
	if c.Total() != pointCount || c.Accuracy() != accuracy {
		t.Errorf("confusion matrix of accuracy %v:\n%v", accuracy, c)
	}
	if f1, _ := r.Scores.Value("f1"); f1 != c.MacroF1() {
		t.Errorf("F1 %v, want %v", f1, c.MacroF1())
	}
	first, epoch := events[0], events[7]
	if first.Step != 1 || first.Rate != 0.05 || first.Scores != nil || !(math.Abs(first.Loss-0.7) <= 0.4) || first.Metrics["right"] == 0 {
		t.Errorf("first event %+v", first)
	}
	sum := 0.0
	for _, e := range events[:7] {
		sum += e.Loss
	}
	if !epoch.EpochEnd || epoch.Loss != sum/7 || epoch.Epoch != 0 || epoch.Scores == nil {
		t.Errorf("end of the epoch %+v", epoch)
	}
}

// Norms of parameters and gradients change nothing of what is learnt.
func TestStatistics(t *testing.T) {
	plain, o := ringOptions(t, optim.Options{}), ringOptions(t, optim.Options{})
	mustRun(t, plain)
	o.Statistics = true
	before := math.NaN()
	o.Report = func(e Event) error {
		if e.Step == 1 && !e.EpochEnd {
			before = e.Metrics["weight/out.weight"]
		}
		for _, name := range []string{"weight/hidden.weight", "gradient/hidden.weight", "gradient/norm.weight", "right"} {
			if v, ok := e.Metrics[name]; (!ok || !(v > 0)) && !e.EpochEnd {
				return fmt.Errorf("%s is %v", name, v)
			}
		}
		return nil
	}
	first, err := sinter.Values[float32](context.Background(), optim.Norm(o.Net.(*ringNet).Out.Weight.Tensor()))
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, o)
	if float32(before) != first[0] {
		t.Errorf("the norm at first is %v, want %v", before, first[0])
	}
	if bits(t, o) != bits(t, plain) {
		t.Error("other bits")
	}
}

// The same seed ends at the same bits for any number of threads, another seed
// does not.
func TestSameBits(t *testing.T) {
	var seen []string
	for _, threads := range []int{1, 2, 3} {
		d, err := sinter.OpenCPU(sinter.CPUOptions{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		o := ringOptions(t, optim.Options{ClipNorm: 1})
		o.Compile.Device = d
		mustRun(t, o)
		seen = append(seen, bits(t, o))
	}
	if seen[0] != seen[1] || seen[0] != seen[2] {
		t.Error("threads change what is learnt")
	}
	o := ringOptions(t, optim.Options{ClipNorm: 1})
	o.Seed++
	mustRun(t, o)
	if bits(t, o) == seen[0] {
		t.Error("another seed gives the same")
	}
}

// Prefetching, and a Func of the same batches, change nothing.
func TestDataForms(t *testing.T) {
	o := ringOptions(t, optim.Options{})
	mustRun(t, o)
	want := bits(t, o)
	for name, wrap := range map[string]func(Data) Data{
		"prefetch": func(d Data) Data { return Prefetch(d, 3) },
		"func": func(d Data) Data {
			return Func(func(seed int64, epoch int) iter.Seq2[Batch, error] { return d.Epoch(seed, epoch, 0) })
		},
	} {
		o := ringOptions(t, optim.Options{})
		o.Data = wrap(o.Data)
		mustRun(t, o)
		if bits(t, o) != want {
			t.Errorf("%s: other bits", name)
		}
	}
}

func TestBatches(t *testing.T) {
	read := func(d Data, seed int64, epoch, skip int) (all [][]int64) {
		for b, err := range d.Epoch(seed, epoch, skip) {
			if err != nil {
				t.Fatal(err)
			}
			v, err := sinter.Values[int64](context.Background(), b["n"])
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, v)
		}
		return all
	}
	plain := Batches{Rows: Numbers{"n", 10}, Size: 4}
	if got := fmt.Sprint(read(plain, 1, 0, 0)); got != "[[0 1 2 3] [4 5 6 7] [8 9]]" || plain.Count() != 3 {
		t.Error(got)
	}
	plain.DropLast = true
	if got := fmt.Sprint(read(plain, 1, 0, 1)); got != "[[4 5 6 7]]" || plain.Count() != 2 {
		t.Error(got)
	}
	dealt := Batches{Rows: Numbers{"n", 50}, Size: 7, Shuffle: true}
	for _, d := range []Data{dealt, Prefetch(dealt, 2), Func(func(seed int64, epoch int) iter.Seq2[Batch, error] { return dealt.Epoch(seed, epoch, 0) })} {
		a := read(d, 5, 2, 0)
		if fmt.Sprint(a[3:]) != fmt.Sprint(read(d, 5, 2, 3)) {
			t.Errorf("%T: what is skipped changes the rest", d)
		}
		if flat := slices.Sorted(slices.Values(slices.Concat(a...))); flat[0] != 0 || flat[49] != 49 || len(slices.Compact(flat)) != 50 {
			t.Errorf("%T: not every row once: %v", d, flat)
		}
		if fmt.Sprint(a) == fmt.Sprint(read(d, 5, 3, 0)) || fmt.Sprint(a) == fmt.Sprint(read(d, 6, 2, 0)) {
			t.Errorf("%T: the same order for another epoch or seed", d)
		}
	}
}

// A prefetched epoch may be left early, and the reader has ended then.
func TestPrefetchEndsEarly(t *testing.T) {
	reading := false
	d := Prefetch(Func(func(int64, int) iter.Seq2[Batch, error] {
		return func(yield func(Batch, error) bool) {
			reading = true
			defer func() { reading = false }()
			for yield(Batch{}, nil) {
			}
		}
	}), 4)
	for range d.Epoch(0, 0, 0) {
		break
	}
	if reading {
		t.Error("the reader goes on")
	}
}

// What ends the goroutine of a prefetching reader ends its caller, who can
// recover: it ended the process, or an epoch early.
func TestPrefetchPassesPanicsOn(t *testing.T) {
	read := func(ends func()) (batches int, panics any) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { panics = recover() }()
			d := Prefetch(Func(func(int64, int) iter.Seq2[Batch, error] {
				return func(yield func(Batch, error) bool) {
					yield(Batch{}, nil)
					ends()
				}
			}), 2)
			for range d.Epoch(0, 0, 0) {
				batches++
			}
			batches = -1 // as if it had been the whole epoch
		}()
		<-done
		return batches, panics
	}
	if n, panics := read(func() { panic("no such row") }); n != 1 || panics != "no such row" {
		t.Errorf("%d batches, then %v, want 1 and the panic", n, panics)
	}
	if n, panics := read(runtime.Goexit); n != 1 || panics != nil {
		t.Errorf("%d batches, then %v, want 1 and no more", n, panics)
	}
}

// So does a panic of an iterator that is told to stop.
func TestPrefetchPassesPanicsOfItsEndOn(t *testing.T) {
	defer func() {
		if v := recover(); v != "closing the file failed" {
			t.Errorf("recovered %v", v)
		}
	}()
	d := Prefetch(Func(func(int64, int) iter.Seq2[Batch, error] {
		return func(yield func(Batch, error) bool) {
			defer func() { panic("closing the file failed") }()
			for yield(Batch{}, nil) {
			}
		}
	}), 2)
	for range d.Epoch(0, 0, 0) {
		break
	}
	t.Error("no panic")
}

// Two halves of a batch, averaged, are as good as the batch.
func TestAveragedGradients(t *testing.T) {
	losses := func(size int, o optim.Options) (all []float64) {
		net := &ringNet{Hidden: nn.Linear{In: 2, Out: 8}, Norm: nn.BatchNorm{Channels: 8}, Out: nn.Linear{In: 8, Out: 2}}
		if err := nn.Init(net, nn.Options{}); err != nil {
			t.Fatal(err)
		}
		opt, err := optim.New(o, optim.Group{Params: nn.Params(net), Method: optim.SGD{Momentum: 0.9}})
		if err != nil {
			t.Fatal(err)
		}
		x, y := sinter.Input("x", sinter.F32, sinter.N(size), sinter.N(2)), sinter.Input("y", sinter.I64, sinter.N(size))
		mustRun(t, Options{Net: net, Optimizer: opt, Steps: 12, Schedule: optim.Constant(0.1), Data: Batches{Rows: rings(), Size: size, DropLast: true},
			Loss: func(*nn.Mode) (sinter.Tensor, map[string]sinter.Tensor) {
				return sinter.CrossEntropy(net.forward(x, nil), y, sinter.CrossEntropyOptions{}), nil
			},
			Report: func(e Event) error {
				if !e.EpochEnd {
					all = append(all, e.Loss)
				}
				return nil
			}})
		return all
	}
	whole, halves := losses(40, optim.Options{}), losses(20, optim.Options{Accumulate: 2})
	if len(whole) != 12 || len(halves) != 12 {
		t.Fatal(len(whole), len(halves))
	}
	for i := range whole {
		if !(math.Abs(whole[i]-halves[i]) <= 1e-5*whole[i]) {
			t.Errorf("step %d: loss %v, of halves %v", i, whole[i], halves[i])
		}
	}
}

// A net that gets worse is stopped, and put back to where it was best.
func TestEarlyStop(t *testing.T) {
	o := ringOptions(t, optim.Options{})
	good := o.Schedule
	o.Schedule = func(step int) float64 {
		if step < 50 {
			return good(step)
		}
		return 3 // what was learnt is soon forgotten
	}
	o.EarlyStop = EarlyStop{Metric: "loss", Patience: 3, Restore: true}
	best, at := math.Inf(1), 0
	o.Report = func(e Event) error {
		if v, ok := e.Scores.Value("loss"); ok && v < best {
			best, at = v, e.Step
		}
		return nil
	}
	r := mustRun(t, o)
	loss, _ := r.Scores.Value("loss")
	if !r.Stopped || r.Epoch >= 20 || r.BestStep != at || r.Step != at+3*7 || loss != best {
		t.Errorf("ended after epoch %d, step %d at loss %v; best was %v at step %d, and by the result %d", r.Epoch, r.Step, loss, best, at, r.BestStep)
	}
}

func TestRunRefuses(t *testing.T) {
	broken := errors.New("the tape is torn")
	for name, c := range map[string]struct {
		change func(o *Options)
		say    string
	}{
		"no net":                               {func(o *Options) { o.Net = nil }, "no Net"},
		"a net by value":                       {func(o *Options) { o.Net = ringNet{} }, "pointer"},
		"no optimizer":                         {func(o *Options) { o.Optimizer = nil }, "optim.New"},
		"no loss":                              {func(o *Options) { o.Loss = nil }, "no Loss"},
		"no data":                              {func(o *Options) { o.Data = nil }, "no Data"},
		"no schedule":                          {func(o *Options) { o.Schedule = nil }, "optim.Constant"},
		"no end":                               {func(o *Options) { o.Epochs = 0 }, "at least one"},
		"half an evaluation":                   {func(o *Options) { o.Evaluate.Data = nil }, "both Metrics and Data"},
		"a stop by nothing":                    {func(o *Options) { o.Evaluate = Evaluation{}; o.EarlyStop.Metric = "loss" }, "needs Evaluate"},
		"a stop by a metric that is not there": {func(o *Options) { o.EarlyStop.Metric = "luck" }, `"luck"`},
		"no input":                             {func(o *Options) { o.Data = Batches{Rows: Numbers{"n", 9}} }, `Input "x", the batch only ["n"]`},
		"an empty epoch":                       {func(o *Options) { o.Data = Batches{Rows: Numbers{"n", 0}} }, "no batches"},
		"columns of different lengths": {func(o *Options) {
			o.Data = Batches{Rows: Table{"x": Column([]float32{1, 2}, 2), "y": Column([]int64{1, 2})}}
		}, "column"},
		"a column of no whole rows": {func(o *Options) { o.Data = Batches{Rows: Table{"x": Column(make([]float32, 3), 2)}} }, "no whole number of rows"},
		"data that fails": {func(o *Options) {
			o.Data = Func(func(int64, int) iter.Seq2[Batch, error] {
				return func(yield func(Batch, error) bool) { yield(nil, broken) }
			})
		}, "batch 0 of epoch 0: the tape is torn"},
		"a report that fails": {func(o *Options) { o.Report = func(Event) error { return broken } }, "torn"},
	} {
		o := ringOptions(t, optim.Options{})
		c.change(&o)
		_, err := Run(context.Background(), o)
		if err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v, want an error that says %q", name, err, c.say)
		}
	}
}

// A run that is told to end does so between two steps.
func TestRunEndsWhenAsked(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	o := ringOptions(t, optim.Options{})
	o.Report = func(e Event) error {
		if e.Step == 5 {
			cancel()
		}
		return nil
	}
	r, err := Run(ctx, o)
	if !errors.Is(err, context.Canceled) || r.Step != 5 {
		t.Errorf("%v after step %d", err, r.Step)
	}
}

// Steps that end with an epoch end it: it is evaluated as all others are, by a
// run too that was killed in between and goes on.
func TestStepsThatEndAnEpoch(t *testing.T) {
	ends := func(o Options) (at []int) {
		o.Report = func(e Event) error {
			if e.EpochEnd {
				at = append(at, e.Step)
			}
			return nil
		}
		if r := mustRun(t, o); r.Step != o.Steps || r.Epoch != o.Steps/7 {
			t.Errorf("%d steps: ended at step %d of epoch %d", o.Steps, r.Step, r.Epoch)
		}
		return at
	}
	for steps, want := range map[int][]int{13: {7}, 14: {7, 14}, 15: {7, 14}} {
		o := ringOptions(t, optim.Options{})
		o.Steps = steps
		if got := ends(o); !slices.Equal(got, want) {
			t.Errorf("%d steps: epochs end at %v, want %v", steps, got, want)
		}
	}
	o := ringOptions(t, optim.Options{})
	o.Steps, o.Checkpoints = 14, Checkpoints{Dir: t.TempDir(), Every: 14}
	killed := errors.New("killed")
	o.Report = func(e Event) error {
		if e.Step == 14 {
			return killed
		}
		return nil
	}
	if _, err := Run(context.Background(), o); !errors.Is(err, killed) {
		t.Fatal(err)
	}
	o.Checkpoints.Resume = true
	for _, want := range [][]int{{14}, nil} {
		if got := ends(o); !slices.Equal(got, want) {
			t.Errorf("going on, epochs end at %v, want %v", got, want)
		}
	}
}
