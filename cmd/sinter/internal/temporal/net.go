package temporal

import (
	"fmt"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
)

// Names of nets.
const (
	MLPName         = "mlp"
	TransformerName = "transformer"
)

// Sizes are those of a net.
type Sizes struct {
	Net     string // MLPName or TransformerName
	Outputs int    // Classes, or 1 for a value
	Hidden  int    // of the MLP
	// Of the transformer: values a token, width of a token, heads, width between
	// the block's linear layers.
	Patch, Width, Heads, Inner int
}

// DefaultSizes are those that a net has where nothing is said.
func DefaultSizes(net string, outputs int) Sizes {
	if net == TransformerName {
		return Sizes{Net: net, Outputs: outputs, Patch: 8, Width: 32, Heads: 2, Inner: 64}
	}
	return Sizes{Net: net, Outputs: outputs, Hidden: 64}
}

// maxSize keeps a file from asking for more than a net of this kind may have.
const maxSize = 4096

func (s Sizes) check() error {
	within := func(name string, n int) error {
		if n < 1 || n > maxSize {
			return fmt.Errorf("%s of %d: use 1 to %d", name, n, maxSize)
		}
		return nil
	}
	if err := within("outputs", s.Outputs); err != nil {
		return err
	}
	switch s.Net {
	case MLPName:
		return within("hidden units", s.Hidden)
	case TransformerName:
		for name, n := range map[string]int{"values a token": s.Patch, "a width": s.Width, "heads": s.Heads, "an inner width": s.Inner} {
			if err := within(name, n); err != nil {
				return err
			}
		}
		if Window%s.Patch != 0 || s.Width%s.Heads != 0 {
			return fmt.Errorf("a window of %d in patches of %d, a width of %d for %d heads: both must divide", Window, s.Patch, s.Width, s.Heads)
		}
		return nil
	}
	return fmt.Errorf("no net %q: there are %s and %s", s.Net, MLPName, TransformerName)
}

// Net maps scaled features [n, Features] to [n, outputs]: the logits of the
// classes, or the value. Its weights are Variables.
type Net struct {
	Sizes   Sizes
	Module  any // the weights, as package nn has them
	weights map[string]*sinter.Variable
	// inputs are the matrices that see features, [outputs, inputs].
	inputs []*sinter.Variable
}

// New makes a net with its first values.
func New(s Sizes, seed int64) (*Net, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	n := &Net{Sizes: s, weights: map[string]*sinter.Variable{}}
	switch s.Net {
	case MLPName:
		m := &mlp{nn.Linear{In: Features, Out: s.Hidden}, nn.Linear{In: s.Hidden, Out: s.Outputs}}
		if err := nn.Init(m, nn.Options{Seed: seed}); err != nil {
			return nil, err
		}
		n.Module, n.inputs = m, []*sinter.Variable{m.Hidden.Weight}
	case TransformerName:
		m := newTransformer(s)
		if err := nn.Init(m, nn.Options{Seed: seed}); err != nil {
			return nil, err
		}
		n.Module, n.inputs = m, []*sinter.Variable{m.Patches.Weight, m.Context.Weight}
	}
	state, err := nn.State(n.Module)
	for _, p := range state {
		n.weights[p.Name] = p.Variable
	}
	return n, err
}

// Forward is the net.
func (n *Net) Forward(x sinter.Tensor) sinter.Tensor {
	return forward(n.Sizes, func(name string) sinter.Tensor { return n.weights[name].Tensor() }, x)
}

// mlp is two linear layers with ReLU between.
type mlp struct {
	Hidden nn.Linear `weight:"hidden"`
	Out    nn.Linear `weight:"out"`
}

// transformer is a block that reads the window: patches of successive values
// are what it attends to, and the time of day and the regime are the token that
// attends, and that the answer is read from. It knows of values only what it
// attends to.
type transformer struct {
	Patches  nn.Linear           `weight:"patches"`
	Context  nn.Linear           `weight:"context"`
	Position nn.Positions        `weight:"position"`
	Block    nn.TransformerBlock `weight:"block"`
	Norm     nn.LayerNorm        `weight:"norm"`
	Out      nn.Linear           `weight:"out"`
}

func newTransformer(s Sizes) *transformer {
	return &transformer{
		Patches:  nn.Linear{In: s.Patch, Out: s.Width},
		Context:  nn.Linear{In: Features - Window, Out: s.Width},
		Position: nn.Positions{Count: Window / s.Patch, Width: s.Width},
		Block:    nn.TransformerBlock{Width: s.Width, Heads: s.Heads, Inner: s.Inner},
		Norm:     nn.LayerNorm{Width: s.Width},
		Out:      nn.Linear{In: s.Width, Out: s.Outputs},
	}
}
