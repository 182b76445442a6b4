// Package training has the nets whose training step is measured: a perceptron
// and two GPTs of characters, as those of other frameworks they are compared
// with.
package training

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/nn/gpt"
	"github.com/sinterml/sinter/optim"
)

// Net is a net to train.
type Net struct {
	Name  string
	Batch int
	Flops float64 // multiplications and additions of a step's products, counted apart
	// Sizes of the GPT; zero: the perceptron.
	Sizes gpt.Sizes
}

// Nets are what is measured.
func Nets() []Net {
	nets := []Net{
		{Name: "mlp", Batch: 128, Flops: mlpFlops(128)},
		{Name: "gpt", Batch: 12, Sizes: gpt.Sizes{Vocabulary: 65, Block: 64, Layers: 4, Heads: 4, Width: 128}},
		{Name: "gpt6", Batch: 8, Sizes: gpt.Sizes{Vocabulary: 65, Block: 256, Layers: 6, Heads: 6, Width: 384}},
	}
	for i := range nets[1:] {
		n := &nets[i+1]
		n.Flops = n.Sizes.Flops(n.Batch)
	}
	return nets
}

// Shape is the batch and, for a GPT, its places.
func (n Net) Shape() []int {
	if n.Sizes == (gpt.Sizes{}) {
		return []int{n.Batch}
	}
	return []int{n.Batch, n.Sizes.Block}
}

// Options change a step. The zero value is what is measured.
type Options struct {
	Seed      int64
	ClipNorm  float64 // see optim.Options
	Recompute bool    // each block of a GPT again for the gradient
}

// Step is a step of training, ready to be compiled.
type Step struct {
	Net    any                // its parameters
	State  []*sinter.Variable // what the optimizer remembers
	Loss   sinter.Tensor
	Graph  *sinter.Graph // whose first output is the loss
	Inputs map[string]sinter.Tensor
}

// Step traces a step of the net with its gradient and the update of its
// parameters: SGD for the perceptron, AdamW for a GPT.
func (n Net) Step(o Options) (*Step, error) {
	if n.Sizes == (gpt.Sizes{}) {
		return mlpStep(n.Batch, o)
	}
	net, err := gpt.New(n.Sizes, o.Seed)
	if err != nil {
		return nil, err
	}
	net.Recompute = o.Recompute
	shape := sinter.Dims(n.Batch, n.Sizes.Block)
	loss := net.Loss(sinter.Input("ids", sinter.I64, shape...), sinter.Input("next", sinter.I64, shape...))
	draw := func(seed uint64) sinter.Tensor {
		r := rand.New(rand.NewPCG(seed, 1))
		ids := make([]int64, n.Batch*n.Sizes.Block)
		for i := range ids {
			ids[i] = r.Int64N(int64(n.Sizes.Vocabulary))
		}
		return sinter.Of(ids, n.Batch, n.Sizes.Block)
	}
	return step(net, loss, optim.AdamW{WeightDecay: 0.01}, 1e-3, o, map[string]sinter.Tensor{"ids": draw(1), "next": draw(2)})
}

// mlp is 784-512-512-10.
type mlp struct {
	First  nn.Linear `weight:"0"`
	Second nn.Linear `weight:"2"`
	Last   nn.Linear `weight:"4"`
}

func mlpStep(batch int, o Options) (*Step, error) {
	net := &mlp{nn.Linear{In: 784, Out: 512}, nn.Linear{In: 512, Out: 512}, nn.Linear{In: 512, Out: 10}}
	if err := nn.Init(net, nn.Options{Seed: o.Seed}); err != nil {
		return nil, err
	}
	x := sinter.Input("x", sinter.F32, sinter.Dims(batch, 784)...)
	logits := net.Last.Forward(net.Second.Forward(net.First.Forward(x).ReLU()).ReLU())
	loss := sinter.CrossEntropy(logits, sinter.Input("y", sinter.I64, sinter.N(batch)), sinter.CrossEntropyOptions{})
	r := rand.New(rand.NewPCG(1, 2))
	images, labels := make([]float32, batch*784), make([]int64, batch)
	for i := range images {
		images[i] = float32(r.NormFloat64())
	}
	for i := range labels {
		labels[i] = r.Int64N(10)
	}
	return step(net, loss, optim.SGD{}, 0.01, o, map[string]sinter.Tensor{"x": sinter.Of(images, batch, 784), "y": sinter.Of(labels, batch)})
}

// mlpFlops leaves out the gradient of the input, which nobody asks for.
func mlpFlops(batch int) float64 {
	return 2 * float64(batch) * (2*784*512 + 3*512*512 + 3*512*10)
}

func step(net any, loss sinter.Tensor, m optim.Method, rate float32, o Options, inputs map[string]sinter.Tensor) (*Step, error) {
	opt, err := optim.New(optim.Options{ClipNorm: o.ClipNorm}, optim.Group{Params: nn.Params(net), Method: m})
	if err != nil {
		return nil, err
	}
	updates, err := opt.Update(loss, sinter.Input("rate", sinter.F32))
	if err != nil {
		return nil, err
	}
	inputs["rate"] = sinter.Of([]float32{rate}).Reshape()
	return &Step{Net: net, State: opt.State(), Loss: loss, Graph: sinter.Capture(append([]sinter.Tensor{loss}, updates...)...), Inputs: inputs}, nil
}

// Find is the net of a name.
func Find(name string) (Net, error) {
	for _, n := range Nets() {
		if n.Name == name {
			return n, nil
		}
	}
	return Net{}, fmt.Errorf("no net %q: there are mlp, gpt and gpt6", name)
}

// Losses does n steps with a program of the graph, and gives the loss before each update.
func (s *Step) Losses(ctx context.Context, p *sinter.Program, n int) ([]float64, error) {
	losses := make([]float64, n)
	for i := range losses {
		var err error
		if losses[i], err = s.one(ctx, p); err != nil {
			return nil, err
		}
	}
	return losses, nil
}

func (s *Step) one(ctx context.Context, p *sinter.Program) (loss float64, err error) {
	outs, err := p.Run(ctx, s.Inputs)
	if err != nil {
		return 0, err
	}
	defer func() {
		for _, o := range outs {
			o.Release()
		}
	}()
	v, err := sinter.Values[float32](ctx, outs[0])
	if err != nil {
		return 0, err
	}
	return float64(v[0]), nil
}
