package nn_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/optim"
)

// xorNet tells whether two numbers have different signs.
type xorNet struct {
	Hidden nn.Linear `weight:"hidden"`
	Out    nn.Linear `weight:"out"`
}

func (n *xorNet) Forward(x sinter.Tensor) sinter.Tensor {
	return n.Out.Forward(n.Hidden.Forward(x).Tanh())
}

// A net of two layers learns from four points what no line can part.
func Example() {
	net := xorNet{Hidden: nn.Linear{In: 2, Out: 8}, Out: nn.Linear{In: 8, Out: 2}}
	if err := nn.Init(&net, nn.Options{Seed: 1}); err != nil {
		log.Fatal(err)
	}
	x := sinter.Of([]float32{-1, -1, -1, 1, 1, -1, 1, 1}, 4, 2)
	right := sinter.Of([]int64{0, 1, 1, 0}, 4)
	logits := net.Forward(x)
	loss := sinter.CrossEntropy(logits, right, sinter.CrossEntropyOptions{})
	opt, err := optim.New(optim.Options{}, optim.Group{Params: nn.Params(&net), Method: optim.AdamW{}})
	if err != nil {
		log.Fatal(err)
	}
	updates, err := opt.Update(loss, sinter.Scalar(0.1))
	if err != nil {
		log.Fatal(err)
	}
	step, err := sinter.Compile(sinter.Capture(updates...), sinter.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer step.Close()
	ctx := context.Background()
	for range 50 {
		if _, err := step.Run(ctx, nil); err != nil {
			log.Fatal(err)
		}
	}
	found, err := sinter.Values[int64](ctx, logits.ArgMax(-1))
	fmt.Println(found, err)
	// Output: [0 1 1 0] <nil>
}

// A block drops parts while it trains; the seed is an input, so that each step
// draws anew and nothing is compiled again.
func ExampleMode() {
	block := nn.TransformerBlock{Width: 8, Heads: 2, Causal: true, Dropout: 0.1}
	if err := nn.Init(&block, nn.Options{}); err != nil {
		log.Fatal(err)
	}
	x := sinter.Ones(sinter.F32, sinter.Dims(1, 3, 8)...)
	m := &nn.Mode{Training: true, Rand: sinter.NewRand(sinter.Input("seed", sinter.I64))}
	p, err := sinter.Compile(sinter.Capture(append(m.Updates(), block.Forward(x, m).Sum())...), sinter.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	var sums []float32
	for _, seed := range []int64{1, 2, 1} {
		outs, err := p.Run(context.Background(), map[string]sinter.Tensor{"seed": sinter.Of([]int64{seed}).Sum()})
		if err != nil {
			log.Fatal(err)
		}
		v, err := sinter.Values[float32](context.Background(), outs[0])
		if err != nil {
			log.Fatal(err)
		}
		sums = append(sums, v...)
	}
	fmt.Println(sums[0] == sums[2], sums[0] == sums[1])
	// Output: true false
}

// All but biases and norms decays; the embedding is frozen.
func ExampleMatch() {
	net := struct {
		Words nn.Embedding        `weight:"words"`
		Block nn.TransformerBlock `weight:"block"`
	}{nn.Embedding{Count: 10, Width: 8}, nn.TransformerBlock{Width: 8, Heads: 2}}
	if err := nn.Init(&net, nn.Options{}); err != nil {
		log.Fatal(err)
	}
	_, params, err := nn.Match(nn.Params(&net), "words.*")
	if err != nil {
		log.Fatal(err)
	}
	plain, decayed, err := nn.Match(params, "*bias", "*.norm?.*")
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range slices.Concat(decayed, plain[:2]) {
		fmt.Println(v.Name())
	}
	// Output:
	// block.self_attn.in_proj_weight
	// block.self_attn.out_proj.weight
	// block.linear1.weight
	// block.linear2.weight
	// block.self_attn.in_proj_bias
	// block.self_attn.out_proj.bias
}
