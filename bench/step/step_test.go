// Package step measures what a small step costs: nets of a few thousand
// parameters, where the time is in beginning and ending things.
package step

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/optim"
)

// mlp has one hidden layer.
type mlp struct {
	Hidden nn.Linear `weight:"hidden"`
	Out    nn.Linear `weight:"out"`
}

func newMLP(tb testing.TB, outputs int) *mlp {
	tb.Helper()
	m := &mlp{Hidden: nn.Linear{In: 34, Out: 64}, Out: nn.Linear{In: 64, Out: outputs}}
	if err := nn.Init(m, nn.Options{Seed: 1}); err != nil {
		tb.Fatal(err)
	}
	return m
}

func (m *mlp) forward(x sinter.Tensor) sinter.Tensor {
	return m.Out.Forward(m.Hidden.Forward(x).ReLU())
}

func device(tb testing.TB) *sinter.Device {
	tb.Helper()
	d, err := sinter.Open("cpu")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { d.Close() })
	return d
}

func random(n int) []float32 {
	r, x := rand.New(rand.NewPCG(1, 2)), make([]float32, n)
	for i := range x {
		x[i] = r.Float32()*2 - 1
	}
	return x
}

func compile(tb testing.TB, o sinter.Options, outputs ...sinter.Tensor) *sinter.Program {
	tb.Helper()
	p, err := sinter.Compile(sinter.Capture(outputs...), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { p.Close() })
	return p
}

// BenchmarkPredict is a batch of 32 rows through an MLP.
func BenchmarkPredict(b *testing.B) {
	ctx := context.Background()
	for _, c := range []struct {
		name      string
		precision sinter.Precision
	}{{"f32", sinter.F32}, {"int8", sinter.Int8}} {
		b.Run(c.name, func(b *testing.B) {
			d := device(b)
			net := newMLP(b, 3)
			constants, err := sinter.Eval(sinter.WithDevice(ctx, d), net.Hidden.Weight.Tensor(), net.Hidden.Bias.Tensor(), net.Out.Weight.Tensor(), net.Out.Bias.Tensor())
			if err != nil {
				b.Fatal(err)
			}
			x := sinter.Input("x", sinter.F32, sinter.Sym("rows", 1, 1024), sinter.N(34))
			y := sinter.Linear(sinter.Linear(x, constants[0], constants[1]).ReLU(), constants[2], constants[3])
			p := compile(b, sinter.Options{Device: d, Precision: c.precision}, y)
			in := map[string]sinter.Tensor{"x": sinter.Of(random(32*34), 32, 34)}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Run(ctx, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

const rows, batch = 7000, 128

// training is a step of an MLP on rows of a data set that stays where it is.
func training(tb testing.TB, d *sinter.Device) (*sinter.Program, []sinter.Tensor) {
	tb.Helper()
	net := newMLP(tb, 1)
	xs, ys := sinter.Of(random(rows*34), rows, 34), sinter.Of(random(rows), rows, 1)
	at := sinter.Input("rows", sinter.I32, sinter.N(batch))
	loss := sinter.MSE(net.forward(xs.Take(at, 0)), ys.Take(at, 0))
	o, err := optim.New(optim.Options{}, optim.Group{Params: nn.Params(net), Method: optim.Adam{}})
	if err != nil {
		tb.Fatal(err)
	}
	updates, err := o.Update(loss, sinter.Input("rate", sinter.F32))
	if err != nil {
		tb.Fatal(err)
	}
	p := compile(tb, sinter.Options{Device: d}, append(updates, loss)...)
	r := rand.New(rand.NewPCG(3, 4))
	order := make([]int32, rows)
	for i := range order {
		order[i] = int32(i)
	}
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	var batches []sinter.Tensor
	for b := range slices.Chunk(order[:rows/batch*batch], batch) {
		batches = append(batches, sinter.Of(b, batch))
	}
	return p, batches
}

// BenchmarkTrain is a step of training, gathering of its rows included.
func BenchmarkTrain(b *testing.B) {
	ctx := context.Background()
	p, batches := training(b, device(b))
	in := map[string]sinter.Tensor{"rate": sinter.Of([]float32{1e-3}, 1).Sum(), "rows": batches[0]}
	if err := p.Step(ctx, in); err != nil { // the first makes the parameters
		b.Fatal(err)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		in["rows"] = batches[i%len(batches)]
		if err := p.Step(ctx, in); err != nil {
			b.Fatal(err)
		}
		i++
	}
}
