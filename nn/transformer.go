package nn

import (
	"errors"
	"fmt"

	"github.com/sinterml/sinter"
)

// TransformerBlock is attention and two linear layers, each added to what it
// was given. Its weights are named as those of torch.nn.TransformerEncoderLayer.
type TransformerBlock struct {
	Width, Heads int
	KVHeads      int     // see MultiHeadAttention; 0: Heads
	Inner        int     // width between the linear layers; 0: 4 * Width
	PostNorm     bool    // normalise sums, as the first transformers and BERT; else what goes into each part, as GPT-2 and later
	Causal       bool    // place i sees places up to i
	NoBias       bool    // none in the linear layers and the norms
	Dropout      float64 // of each part's result, between the linear layers, and of the weights of attention
	Eps          float64 // of the norms; 0: 1e-5
	Rotary       *Rotary // positions in queries and keys; nil: none
	// Activation stands between the linear layers; nil: GELU.
	Activation func(sinter.Tensor) sinter.Tensor

	Attention MultiHeadAttention `weight:"self_attn"`
	Linear1   Linear             `weight:"linear1"`
	Linear2   Linear             `weight:"linear2"`
	Norm1     LayerNorm          `weight:"norm1"`
	Norm2     LayerNorm          `weight:"norm2"`

	path string
}

// Make is for Init.
func (t *TransformerBlock) Make(b *Builder) error {
	t.path = b.Path()
	if err := checkSizes(size{"Width", t.Width}, size{"Inner", max(t.Inner, 1)}); err != nil {
		return err
	}
	inner := t.Inner
	if inner == 0 {
		inner = 4 * t.Width
	}
	a := &t.Attention
	a.Width, a.Heads, a.KVHeads, a.NoBias, a.Causal, a.Dropout, a.Rotary = t.Width, t.Heads, t.KVHeads, t.NoBias, t.Causal, t.Dropout, t.Rotary
	t.Linear1.In, t.Linear1.Out, t.Linear1.NoBias = t.Width, inner, t.NoBias
	t.Linear2.In, t.Linear2.Out, t.Linear2.NoBias = inner, t.Width, t.NoBias
	for _, n := range []*LayerNorm{&t.Norm1, &t.Norm2} {
		n.Width, n.Eps, n.NoBias = t.Width, t.Eps, t.NoBias
	}
	return checkDropout(t.Dropout)
}

// Forward maps x [batch, places, Width] to the same shape.
func (t *TransformerBlock) Forward(x sinter.Tensor, m *Mode) sinter.Tensor {
	return t.Attend(x, AttentionInput{}, m)
}

// Attend is Forward with a mask, or with keys and values from elsewhere.
func (t *TransformerBlock) Attend(x sinter.Tensor, in AttentionInput, m *Mode) sinter.Tensor {
	drop := Dropout{P: t.Dropout}
	attend := func(x sinter.Tensor) sinter.Tensor { return drop.Forward(t.Attention.Attend(x, in, m), m) }
	var y sinter.Tensor
	if t.PostNorm {
		h := t.Norm1.Forward(x.Add(attend(x)))
		y = t.Norm2.Forward(h.Add(t.feed(h, m)))
	} else {
		h := x.Add(attend(t.Norm1.Forward(x)))
		y = h.Add(t.feed(t.Norm2.Forward(h), m))
	}
	return layer{"TransformerBlock", t.path}.named(y, x)
}

// feed is the two linear layers.
func (t *TransformerBlock) feed(x sinter.Tensor, m *Mode) sinter.Tensor {
	drop := Dropout{P: t.Dropout}
	activation := t.Activation
	if activation == nil {
		activation = sinter.Tensor.GELU
	}
	return drop.Forward(t.Linear2.Forward(drop.Forward(activation(t.Linear1.Forward(x)), m)), m)
}

var (
	errHeads = errors.New("the Width does not divide into Heads, or Heads into KVHeads")
	errWidth = fmt.Errorf("the Width is above %d", maxSize/4)
)

func checkDropout(p float64) error {
	if !(p >= 0 && p < 1) {
		return fmt.Errorf("a Dropout of %v: want at least 0 and less than 1", p)
	}
	return nil
}
