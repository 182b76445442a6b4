package digits

import (
	"fmt"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
)

// block is a convolution of 3x3, brought to mean 0 and variance 1 by channel.
type block struct {
	Conv nn.Conv2d    `weight:"conv"`
	Norm nn.BatchNorm `weight:"norm"`

	side  int  // of the image before
	halve bool // it, by the greatest of 2x2
}

// Net tells digits apart.
type Net struct {
	Blocks []block   `weight:"blocks"`
	Out    nn.Linear `weight:"out"`
}

// NewNet is a net with first values by a seed.
func NewNet(seed int64) (*Net, error) {
	n := &Net{}
	in, side := 1, Side
	for _, b := range []struct {
		channels int
		halve    bool
	}{{16, false}, {32, true}, {32, true}} {
		n.Blocks = append(n.Blocks, block{
			Conv: nn.Conv2d{In: in, Out: b.channels, Kernel: []int{3}, Same: true, NoBias: true}, // the norm has one
			Norm: nn.BatchNorm{Channels: b.channels},
			side: side, halve: b.halve,
		})
		if b.halve {
			side /= 2
		}
		in = b.channels
	}
	n.Out = nn.Linear{In: in * side * side, Out: Classes}
	if err := nn.Init(n, nn.Options{Seed: seed}); err != nil {
		return nil, fmt.Errorf("digits: %w", err)
	}
	return n, nil
}

// Forward gives logits [rows, Classes] of images [rows, pixels].
func (n *Net) Forward(x sinter.Tensor, m *nn.Mode) sinter.Tensor {
	x = x.Reshape(-1, Side, Side, 1)
	for i := range n.Blocks {
		x = n.Blocks[i].forward(x, m)
	}
	return n.Out.Forward(drop.Forward(x.Reshape(-1, n.Out.In), m))
}

var drop = nn.Dropout{P: 0.2}

// forward maps [rows, height, width, channels], so that what lies side by side
// is work for one vector: channels are more than pixels.
func (b *block) forward(x sinter.Tensor, m *nn.Mode) sinter.Tensor {
	x = b.Conv.Forward(x.Permute(0, 3, 1, 2)).Permute(0, 2, 3, 1)
	shape := x.Shape()
	x = b.Norm.Forward(x.Reshape(-1, b.Conv.Out), m).ReLU().ReshapeDims(shape...)
	if !b.halve {
		return x
	}
	return x.Reshape(-1, b.side/2, 2, b.side/2, 2, b.Conv.Out).Max(2, 4)
}
