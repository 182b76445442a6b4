package temporal

import (
	"fmt"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
)

// Net maps scaled features [n, Features] to [n, outputs]: the logits of the
// classes, or the value.
type Net interface {
	Forward(x sinter.Tensor) sinter.Tensor
}

// MLP is two linear layers.
type MLP struct {
	Hidden nn.Linear `weight:"hidden"`
	Out    nn.Linear `weight:"out"`
}

// NewMLP sizes one.
func NewMLP(hidden, outputs int) *MLP {
	return &MLP{nn.Linear{In: Features, Out: hidden}, nn.Linear{In: hidden, Out: outputs}}
}

// Forward is the net.
func (n *MLP) Forward(x sinter.Tensor) sinter.Tensor {
	return n.Out.Forward(n.Hidden.Forward(x).ReLU())
}

// Transformer sees the window as patches of successive values. One more token
// has the time of day and the regime, and is what the answer is read from: it
// knows of values only what it attends to.
type Transformer struct {
	Patches  nn.Linear             `weight:"patches"`
	Context  nn.Linear             `weight:"context"`
	Position nn.Positions          `weight:"position"`
	Blocks   []nn.TransformerBlock `weight:"blocks"`
	Norm     nn.LayerNorm          `weight:"norm"`
	Out      nn.Linear             `weight:"out"`
}

// Shape is the sizes of a transformer.
type Shape struct {
	Patch         int // values a token
	Width, Heads  int
	Inner, Blocks int
}

// NewTransformer sizes one.
func NewTransformer(s Shape, outputs int) (*Transformer, error) {
	if s.Patch < 1 || Window%s.Patch != 0 {
		return nil, fmt.Errorf("a window of %d values has no patches of %d", Window, s.Patch)
	}
	t := &Transformer{
		Patches:  nn.Linear{In: s.Patch, Out: s.Width},
		Context:  nn.Linear{In: Features - Window, Out: s.Width},
		Position: nn.Positions{Count: Window / s.Patch, Width: s.Width},
		Norm:     nn.LayerNorm{Width: s.Width},
		Out:      nn.Linear{In: s.Width, Out: outputs},
	}
	for range s.Blocks {
		t.Blocks = append(t.Blocks, nn.TransformerBlock{Width: s.Width, Heads: s.Heads, Inner: s.Inner})
	}
	return t, nil
}

// Forward is the net.
func (t *Transformer) Forward(x sinter.Tensor) sinter.Tensor {
	parts := x.Split(1, Window, Features-Window)
	if len(parts) < 2 {
		return parts[0]
	}
	patches := t.Patches.Forward(parts[0].ReshapeDims(x.Dim(0), sinter.N(Window/t.Patches.In), sinter.N(t.Patches.In)))
	tokens := sinter.Concat(1, t.Context.Forward(parts[1]).Unsqueeze(1), t.Position.Forward(patches))
	for i := range t.Blocks {
		tokens = t.Blocks[i].Forward(tokens, nil)
	}
	return t.Out.Forward(t.Norm.Forward(tokens.Index(1, 0)))
}
