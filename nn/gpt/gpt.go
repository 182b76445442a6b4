// Package gpt has a GPT of characters: nanoGPT's smallest, with learned
// positions, norms first, and a last layer tied to the first. Benchmarks train
// it, and so does the command. Its parameters are named as in the PyTorch
// modules it is compared with.
package gpt

import (
	"errors"
	"fmt"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
)

// Sizes are what a net is made of.
type Sizes struct {
	Vocabulary, Block, Layers, Heads, Width int
}

// Net maps ids to logits of what comes next.
type Net struct {
	Words  nn.Embedding `weight:"e"`
	Places nn.Positions `weight:"pe"`
	Blocks []Block      `weight:"b"`
	Norm   nn.LayerNorm `weight:"ln"`

	// Recompute has each block computed again for the gradient instead of kept.
	Recompute bool
}

// Block is attention and two linear layers.
type Block struct {
	heads int
	Norm1 nn.LayerNorm `weight:"l1"`
	QKV   nn.Linear    `weight:"qkv"`
	Out   nn.Linear    `weight:"p"`
	Norm2 nn.LayerNorm `weight:"l2"`
	Up    nn.Linear    `weight:"f1"`
	Down  nn.Linear    `weight:"f2"`
}

// New is a net whose matrices are drawn with a standard deviation of 0.02, as
// GPT-2's were; norms start as the identity, biases as in PyTorch.
func New(s Sizes, seed int64) (*Net, error) {
	if s.Heads <= 0 || s.Width%s.Heads != 0 {
		return nil, fmt.Errorf("gpt: a width of %d does not divide into %d heads", s.Width, s.Heads)
	}
	n := &Net{Words: nn.Embedding{Count: s.Vocabulary, Width: s.Width}, Places: nn.Positions{Count: s.Block, Width: s.Width}, Norm: nn.LayerNorm{Width: s.Width}}
	for range s.Layers {
		n.Blocks = append(n.Blocks, Block{
			heads: s.Heads,
			Norm1: nn.LayerNorm{Width: s.Width}, QKV: nn.Linear{In: s.Width, Out: 3 * s.Width}, Out: nn.Linear{In: s.Width, Out: s.Width},
			Norm2: nn.LayerNorm{Width: s.Width}, Up: nn.Linear{In: s.Width, Out: 4 * s.Width}, Down: nn.Linear{In: 4 * s.Width, Out: s.Width},
		})
	}
	matrices := func(_ string, sizes []int) nn.Initializer {
		if len(sizes) < 2 {
			return nil
		}
		return nn.Normal(0, 0.02)
	}
	if err := nn.Init(n, nn.Options{Seed: seed, Initializer: matrices}); err != nil {
		return nil, fmt.Errorf("gpt: %w", err)
	}
	return n, nil
}

// Logits of ids [batch, places]: [batch, places, vocabulary].
func (n *Net) Logits(ids sinter.Tensor) sinter.Tensor {
	x := n.Places.Forward(n.Words.Forward(ids))
	for i := range n.Blocks {
		b := &n.Blocks[i]
		if n.Recompute {
			x = sinter.Checkpoint(func(in []sinter.Tensor) sinter.Tensor { return b.forward(in[0]) }, x)
		} else {
			x = b.forward(x)
		}
	}
	return n.Words.Logits(n.Norm.Forward(x))
}

// Loss is the mean cross entropy of what comes next, next [batch, places].
func (n *Net) Loss(ids, next sinter.Tensor) sinter.Tensor {
	return sinter.CrossEntropy(n.Logits(ids), next, sinter.CrossEntropyOptions{})
}

func (b *Block) forward(x sinter.Tensor) sinter.Tensor {
	if b.heads == 0 {
		return sinter.Fail(errors.New("gpt: the zero Net has no sizes: make one with New"))
	}
	shape, head := x.Shape(), b.Norm1.Width/b.heads
	qkv := b.QKV.Forward(b.Norm1.Forward(x)).ReshapeDims(shape[0], shape[1], sinter.N(3), sinter.N(b.heads), sinter.N(head)).Permute(2, 0, 3, 1, 4)
	y, _ := sinter.Attention(qkv.Index(0, 0), qkv.Index(0, 1), qkv.Index(0, 2), sinter.AttentionOptions{Causal: true})
	x = x.Add(b.Out.Forward(y.Transpose(1, 2).ReshapeDims(shape...)))
	return x.Add(b.Down.Forward(b.Up.Forward(b.Norm2.Forward(x)).GELUTanh()))
}

// Flops counts the multiplications and additions of the products and the
// attention of a step, forward and back, for so many sequences of Block places:
// three times the forward's products, and for each pair of places that see one
// another two products of the width forward and five back.
func (s Sizes) Flops(batch int) float64 {
	tokens, width := float64(batch*s.Block), float64(s.Width)
	products := 6 * tokens * (12*width*width*float64(s.Layers) + width*float64(s.Vocabulary))
	pairs := float64(batch) * float64(s.Block*(s.Block+1)/2)
	return products + 7*2*pairs*width*float64(s.Layers)
}
