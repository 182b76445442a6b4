package chars

import (
	"fmt"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/nn/gpt"
	"github.com/sinterml/sinter/optim"
	"github.com/sinterml/sinter/train"
)

// Options are the sizes of a net and of its training.
type Options struct {
	Layers, Heads, Width, Block int
	Batch, Steps                int
	Seed                        int64
}

// Defaults are nanoGPT's for a processor.
var Defaults = Options{Layers: 4, Heads: 4, Width: 128, Block: 64, Batch: 12, Steps: 2000}

// maxStep is far above what a step of use learns from, and fits memory.
const maxStep = 1 << 24

func (o Options) check() error {
	for _, n := range []struct {
		name  string
		value int
	}{{"layers", o.Layers}, {"heads", o.Heads}, {"width", o.Width}, {"block", o.Block}, {"batch", o.Batch}, {"steps", o.Steps}} {
		if n.value < 1 {
			return fmt.Errorf("%d %s: use at least 1", n.value, n.name)
		}
	}
	if o.Block > MaxText || o.Batch > maxStep/o.Block {
		return fmt.Errorf("a batch of %d blocks of %d: use at most %d characters a step", o.Batch, o.Block, maxStep)
	}
	if o.Width%o.Heads != 0 {
		return fmt.Errorf("a width of %d does not divide into %d heads", o.Width, o.Heads)
	}
	return nil
}

// Task is a net and the text it learns.
type Task struct {
	Net       *gpt.Net
	text      *Text
	options   Options
	optimizer *optim.Optimizer
}

// New makes a net for a text.
func New(text *Text, o Options) (*Task, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := text.Check(o.Block); err != nil {
		return nil, err
	}
	net, err := gpt.New(gpt.Sizes{Vocabulary: len(text.Vocabulary), Block: o.Block, Layers: o.Layers, Heads: o.Heads, Width: o.Width}, o.Seed)
	if err != nil {
		return nil, err
	}
	var matrices, vectors []*sinter.Variable
	for _, p := range nn.Params(net) {
		if p.Tensor().Rank() > 1 {
			matrices = append(matrices, p)
		} else {
			vectors = append(vectors, p)
		}
	}
	opt, err := optim.New(optim.Options{ClipNorm: 1},
		optim.Group{Params: matrices, Method: optim.AdamW{Beta2: 0.99, WeightDecay: 0.1}},
		optim.Group{Params: vectors, Method: optim.Adam{Beta2: 0.99}})
	if err != nil {
		return nil, err
	}
	return &Task{net, text, o, opt}, nil
}

// most and least are the learning rate's ends; it climbs for warmup steps.
const (
	most, least = 1e-3, 1e-4
	warmup      = 100
)

// heldBatch is how many blocks are validated at a time.
const heldBatch = 64

// evaluations are made in the course of a run.
const evaluations = 4

// Train is the run: the text's first nine tenths are learned, and the loss on
// the rest is its score "validation_loss".
func (t *Task) Train() train.Options {
	o := t.options
	ramp := min(warmup, o.Steps/2)
	return train.Options{
		Net: t.Net, Optimizer: t.optimizer, Steps: o.Steps,
		Schedule: optim.Warmup(ramp, optim.Cosine(most, least, max(1, o.Steps-ramp))),
		Data:     Windows{IDs: t.text.Training, Batch: o.Batch, Block: o.Block},
		Loss: func(*nn.Mode) (sinter.Tensor, map[string]sinter.Tensor) {
			shape := sinter.Dims(o.Batch, o.Block)
			return t.Net.Loss(sinter.Input("ids", sinter.I64, shape...), sinter.Input("next", sinter.I64, shape...)), nil
		},
		Evaluate: train.Evaluation{
			Every: (o.Steps-1)/evaluations + 1,
			Data:  Blocks{IDs: t.text.Held, Batch: heldBatch, Block: o.Block},
			Metrics: func() []train.Metric {
				shape := []sinter.Dim{sinter.Sym("blocks", 1, heldBatch), sinter.N(o.Block)}
				logits := t.Net.Logits(sinter.Input("held", sinter.I64, shape...))
				each := sinter.CrossEntropy(logits, sinter.Input("held_next", sinter.I64, shape...), sinter.CrossEntropyOptions{Reduction: sinter.ReduceNone})
				return []train.Metric{train.Mean("validation_loss", each)}
			},
		},
	}
}
