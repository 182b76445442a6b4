package optim_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/optim"
)

// smallNet is a net and the few random rows, drawn once, that it is to learn by
// heart.
type smallNet struct {
	params []*sinter.Variable
	logits sinter.Tensor // [rows, classes]
	labels sinter.Tensor // [rows]
	method optim.Method
	rate   float64
	// reduce is how the losses of the rows make the loss that is trained.
	reduce sinter.Reduction
	steps  int
}

// residual is two layers and a head without biases, the second layer added to
// what it is given: relu(x w1), relu(z + z w2), w3.
func residual(seed uint64) (*smallNet, error) {
	r := rand.New(rand.NewPCG(seed, 0))
	n := &smallNet{labels: labels(r, 8*4, 10), method: optim.SGD{}, rate: 3e-3, reduce: sinter.ReduceSum, steps: 128}
	matrix := func(name string, in, out int) sinter.Tensor {
		v := sinter.NewVariable(name, normals(r, 1/math.Sqrt(float64(in)), in, out))
		n.params = append(n.params, v)
		return v.Tensor()
	}
	z := normals(r, 1, 8, 4, 16).MatMul(matrix("w1", 16, 32)).ReLU()
	z = z.Add(z.MatMul(matrix("w2", 32, 32))).ReLU()
	n.logits = z.MatMul(matrix("w3", 32, 50)).Reshape(8*4, 50)
	return n, nil
}

// mlp is three layers with biases, which begin as PyTorch's do.
func mlp(seed uint64) (*smallNet, error) {
	r := rand.New(rand.NewPCG(seed, 1))
	net := struct {
		Layers []nn.Linear `weight:"layers"`
	}{[]nn.Linear{{In: 16, Out: 24}, {In: 24, Out: 24}, {In: 24, Out: 50}}}
	if err := nn.Init(&net, nn.Options{Seed: int64(seed)}); err != nil {
		return nil, err
	}
	z := normals(r, 1, 8*4, 16)
	z = net.Layers[1].Forward(net.Layers[0].Forward(z).ReLU()).ReLU()
	return &smallNet{params: nn.Params(&net), logits: net.Layers[2].Forward(z), labels: labels(r, 8*4, 10),
		method: optim.Adam{}, rate: 3e-3, steps: 100}, nil
}

// causal is a transformer of two blocks over random ids, with a random label at
// each place.
func causal(seed uint64) (*smallNet, error) {
	const batch, tokens, words, width = 4, 6, 52, 24
	r := rand.New(rand.NewPCG(seed, 2))
	block := nn.TransformerBlock{Width: width, Heads: 8, Inner: 48, Causal: true}
	net := struct {
		Words  nn.Embedding          `weight:"words"`
		Places nn.Positions          `weight:"places"`
		Blocks []nn.TransformerBlock `weight:"blocks"`
		Norm   nn.LayerNorm          `weight:"norm"`
		Head   nn.Linear             `weight:"head"`
	}{nn.Embedding{Count: words, Width: width}, nn.Positions{Count: tokens, Width: width},
		[]nn.TransformerBlock{block, block}, nn.LayerNorm{Width: width}, nn.Linear{In: width, Out: words}}
	if err := nn.Init(&net, nn.Options{Seed: int64(seed)}); err != nil {
		return nil, err
	}
	x := net.Places.Forward(net.Words.Forward(labels(r, batch*tokens, words).Reshape(batch, tokens)))
	for i := range net.Blocks {
		x = net.Blocks[i].Forward(x, nil)
	}
	return &smallNet{params: nn.Params(&net), logits: net.Head.Forward(net.Norm.Forward(x)).Reshape(batch*tokens, words),
		labels: labels(r, batch*tokens, words), method: optim.Adam{}, rate: 5e-3, steps: 75}, nil
}

// normals is N(0, deviation).
func normals(r *rand.Rand, deviation float64, sizes ...int) sinter.Tensor {
	n := 1
	for _, s := range sizes {
		n *= s
	}
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(deviation * r.NormFloat64())
	}
	return sinter.Of(v, sizes...)
}

// labels are n integers below a limit.
func labels(r *rand.Rand, n, limit int) sinter.Tensor {
	v := make([]int64, n)
	for i := range v {
		v[i] = r.Int64N(int64(limit))
	}
	return sinter.Of(v, n)
}

// train runs the steps and gives the mean loss of the rows after them.
func (n *smallNet) train(ctx context.Context) (float64, error) {
	opt, err := optim.New(optim.Options{}, optim.Group{Params: n.params, Method: n.method})
	if err != nil {
		return 0, err
	}
	updates, err := opt.Update(sinter.CrossEntropy(n.logits, n.labels, sinter.CrossEntropyOptions{Reduction: n.reduce}), sinter.Scalar(n.rate))
	if err != nil {
		return 0, err
	}
	step, err := sinter.Compile(sinter.Capture(updates...), sinter.Options{})
	if err != nil {
		return 0, err
	}
	defer step.Close()
	for range n.steps {
		if _, err := step.Run(ctx, nil); err != nil {
			return 0, err
		}
	}
	loss, err := sinter.Values[float32](ctx, sinter.CrossEntropy(n.logits, n.labels, sinter.CrossEntropyOptions{}))
	if err != nil {
		return 0, err
	}
	return float64(loss[0]), nil
}

// TestSmallNets: from ten seeds each, small nets learn some 30 random rows by
// heart in about a hundred steps; the mean loss of the rows tells.
func TestSmallNets(t *testing.T) {
	for name, build := range map[string]func(seed uint64) (*smallNet, error){"residual": residual, "mlp": mlp, "causal": causal} {
		for seed := range uint64(10) {
			t.Run(fmt.Sprintf("%s/%d", name, seed), func(t *testing.T) {
				n, err := build(seed)
				if err != nil {
					t.Fatal(err)
				}
				loss, err := n.train(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("loss %.3f", loss)
				if !(loss < 0.25) {
					t.Errorf("the loss is %v after %d steps, want less than 0.25", loss, n.steps)
				}
			})
		}
	}
}
