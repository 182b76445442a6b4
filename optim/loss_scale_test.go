package optim_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/optim"
)

// scaledNet is two linear layers between which values are boosted by an input:
// by 1, or out of the range of f16.
type scaledNet struct {
	Up   nn.Linear `weight:"up"`
	Down nn.Linear `weight:"down"`
}

// scaledRun is a scaledNet that trains, in a precision.
type scaledRun struct {
	t            *testing.T
	device       *sinter.Device
	net          *scaledNet
	opt          *optim.Optimizer
	step, gather *sinter.Program
}

func newScaledRun(t *testing.T, device string, p sinter.Precision, o optim.Options) *scaledRun {
	t.Helper()
	d, err := sinter.Open(device)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	r := &scaledRun{t: t, device: d, net: &scaledNet{nn.Linear{In: 32, Out: 48}, nn.Linear{In: 48, Out: 16}}}
	if err := nn.Init(r.net, nn.Options{Seed: 3}); err != nil {
		t.Fatal(err)
	}
	if r.opt, err = optim.New(o, optim.Group{Params: nn.Params(r.net), Method: optim.AdamW{WeightDecay: 0.01}}); err != nil {
		t.Fatal(err)
	}
	x := sinter.Input("x", sinter.F32, sinter.Dims(24, 32)...)
	hidden := r.net.Up.Forward(x).Tanh().Mul(sinter.Input("boost", sinter.F32))
	loss := sinter.MSE(r.net.Down.Forward(hidden), x.Narrow(1, sinter.N(0), sinter.N(16)))
	compile := func(outs []sinter.Tensor, err error) *sinter.Program {
		if err != nil {
			t.Fatal(err)
		}
		program, err := sinter.Compile(sinter.Capture(outs...), sinter.Options{Device: d, Precision: p, Check: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = program.Close() })
		return program
	}
	updates, err := r.opt.Update(loss, sinter.Scalar(0.01))
	r.step = compile(append([]sinter.Tensor{loss}, updates...), err)
	if o.Accumulate > 1 {
		r.gather = compile(r.opt.Accumulate(loss))
	}
	return r
}

// run does a program with batch number i.
func (r *scaledRun) run(p *sinter.Program, i int, boost float32) []sinter.Tensor {
	r.t.Helper()
	x := make([]float32, 24*32)
	for j := range x {
		x[j] = float32(math.Sin(float64(j*(i+3)) * 0.37))
	}
	outs, err := p.Run(context.Background(), map[string]sinter.Tensor{"x": sinter.Of(x, 24, 32), "boost": sinter.Of([]float32{boost}).Reshape()})
	if err != nil {
		r.t.Fatal(err)
	}
	return outs
}

func (r *scaledRun) update(i int, boost float32) (loss float64) {
	r.t.Helper()
	return r.number(r.run(r.step, i, boost)[0])
}

func (r *scaledRun) number(x sinter.Tensor) float64 {
	r.t.Helper()
	v, err := sinter.Values[float64](sinter.WithDevice(context.Background(), r.device), x.Cast(sinter.F64))
	if err != nil {
		r.t.Fatal(err)
	}
	return v[0]
}

// bits are those of all parameters and of the optimizer's state, by name.
func (r *scaledRun) bits() map[string][]uint64 {
	r.t.Helper()
	all := map[string][]uint64{}
	for _, v := range append(nn.Params(r.net), r.opt.State()...) {
		x, err := sinter.Values[float64](sinter.WithDevice(context.Background(), r.device), v.Tensor().Cast(sinter.F64).Reshape(-1))
		if err != nil {
			r.t.Fatal(err)
		}
		for _, f := range x {
			all[v.Name()] = append(all[v.Name()], math.Float64bits(f))
		}
	}
	return all
}

func differing(a, b map[string][]uint64) []string {
	var names []string
	for name := range a {
		if !slices.Equal(a[name], b[name]) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// A step whose f16 overflows is left out, the factor halves, and after some good
// steps it is what it was.
func TestLossScaleSkipsAndRecovers(t *testing.T) {
	for _, device := range []string{"cpu", "interp"} {
		for _, o := range []optim.Options{{}, {ClipNorm: 0.5}, {ClipValue: 0.1, ClipNorm: 0.5, Average: 0.9}} {
			t.Run(fmt.Sprintf("%s/%+v", device, o), func(t *testing.T) {
				o.LossScale = &optim.LossScale{Initial: 1024, Interval: 3}
				r := newScaledRun(t, device, sinter.F16, o)
				first := r.update(0, 1)
				r.update(1, 1)
				before := r.bits()
				if loss := r.update(2, 1e6); !math.IsInf(loss, 0) && !math.IsNaN(loss) {
					t.Fatalf("the loss is %v: nothing has overflowed", loss)
				}
				if got, want := differing(before, r.bits()), []string{"optim.good", "optim.lossscale", "optim.skipped"}; !slices.Equal(got, want) {
					t.Errorf("the step that overflows changes %v, want %v", got, want)
				}
				for i, want := range []float64{512, 512, 512, 1024} {
					if i > 0 {
						r.update(i+2, 1)
					}
					if got := r.number(r.opt.LossScale().Tensor()); got != want {
						t.Errorf("%d good steps behind it the loss is scaled by %v, want %v", i, got, want)
					}
				}
				if n := r.number(r.opt.Skipped().Tensor()); n != 1 {
					t.Errorf("%v steps were left out, want 1", n)
				}
				for i := range 10 {
					r.update(i, 1)
				}
				if last := r.update(0, 1); !(last < 0.9*first) {
					t.Errorf("the loss was %v and is %v", first, last)
				}
			})
		}
	}
}

// A factor that is far too large is found out before any parameter changes, and
// the first update that counts is number 1.
func TestLossScaleFindsItsFactor(t *testing.T) {
	r := newScaledRun(t, "cpu", sinter.F16, optim.Options{LossScale: &optim.LossScale{Initial: 0x1p40, Backoff: 1.0 / 64}})
	params, done := r.bits(), 0
	for i := range 12 {
		r.update(i, 1)
		if now := r.bits(); len(differing(params, now)) > 3 {
			done++
			params = now
		} else {
			params = now
			if done > 0 {
				t.Errorf("step %d is left out behind %d others", i, done)
			}
		}
	}
	skipped, factor, count := r.number(r.opt.Skipped().Tensor()), r.number(r.opt.LossScale().Tensor()), r.number(r.opt.State()[0].Tensor())
	if done == 0 || skipped == 0 || count != float64(done) || factor != math.Ldexp(1, 40-6*int(skipped)) {
		t.Errorf("%d steps done and %v left out, %v counted; factor %v", done, skipped, count, factor)
	}
}

// A power of two changes no bit of what is computed in f32, and an optimizer's
// other options see gradients as they are.
func TestLossScaleIsExact(t *testing.T) {
	for _, o := range []optim.Options{{}, {ClipNorm: 0.1}, {ClipValue: 0.01, Average: 0.9}, {Accumulate: 2, ClipNorm: 0.1}} {
		var runs [2]map[string][]uint64
		for i := range runs {
			o := o
			if i == 1 {
				o.LossScale = &optim.LossScale{Initial: 256, Interval: 2}
			}
			r := newScaledRun(t, "cpu", sinter.F32, o)
			for step := range 7 {
				if r.gather != nil {
					r.run(r.gather, 20+step, 1)
				}
				r.update(step, 1)
			}
			runs[i] = r.bits()
		}
		if names := differing(runs[0], runs[1]); names != nil {
			t.Errorf("%+v: with a factor %v differ", o, names)
		}
	}
}

// A gradient that overflows among several that are averaged leaves the update
// out, and is forgotten.
func TestLossScaleOfAveragedGradients(t *testing.T) {
	o := optim.Options{Accumulate: 2, LossScale: &optim.LossScale{Initial: 64}}
	r := newScaledRun(t, "cpu", sinter.F16, o)
	r.run(r.gather, 0, 1)
	r.update(1, 1)
	before := r.bits()
	r.run(r.gather, 2, 1e6)
	r.update(3, 1)
	if got, want := differing(before, r.bits()), []string{"optim.good", "optim.lossscale", "optim.skipped"}; !slices.Equal(got, want) {
		t.Errorf("the update changes %v, want %v", got, want)
	}
	r.run(r.gather, 4, 1)
	r.update(5, 1)
	if names := differing(before, r.bits()); len(names) < 8 || r.number(r.opt.Skipped().Tensor()) != 1 {
		t.Errorf("then only %v change", names)
	}
}

// What was saved in the middle goes on to the same bits.
func TestLossScaleResumes(t *testing.T) {
	o := optim.Options{ClipNorm: 0.5, LossScale: &optim.LossScale{Initial: 1024, Interval: 3}}
	boost := func(i int) float32 {
		if i == 3 || i == 9 {
			return 1e6
		}
		return 1
	}
	whole, second := newScaledRun(t, "cpu", sinter.F16, o), newScaledRun(t, "cpu", sinter.F16, o)
	for i := range 12 {
		if i == 5 {
			from, to := append(nn.Params(whole.net), whole.opt.State()...), append(nn.Params(second.net), second.opt.State()...)
			for j, v := range from {
				if _, err := sinter.Eval(context.Background(), to[j].Assign(v.Tensor())); err != nil {
					t.Fatal(err)
				}
			}
		}
		whole.update(i, boost(i))
		if i >= 5 {
			second.update(i, boost(i))
		}
	}
	if names := differing(whole.bits(), second.bits()); names != nil {
		t.Errorf("after resuming %v differ", names)
	}
	if n := whole.number(whole.opt.Skipped().Tensor()); n != 2 {
		t.Errorf("%v steps were left out, want 2", n)
	}
}
