package temporal

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/optim"
	"github.com/sinterml/sinter/train"
)

// Options say what is trained. The zero value is the MLP on 5,000 rows without
// noise.
type Options struct {
	Seed       int64 // of the series, the net's first values and the order of rows
	Sigma      float64
	Rows       int // 0: 5,000
	Net        string
	Hidden     int // of the MLP; 0: 64
	Epochs     int // 0: what suits the number of rows
	Regression bool
}

// Task is a series, its rows and a net to be trained with them.
type Task struct {
	Rows               Rows
	Train, Valid, Test Span
	Net                *Net
	Scale              Scale

	options Options
	table   Table
	batch   int
	epochs  int
}

// Check refuses what no task is made of.
func (o Options) Check() error {
	o = o.complete()
	return errors.Join(checkRows(o.Sigma, o.Rows), o.sizes().check())
}

// complete puts in what zeros stand for.
func (o Options) complete() Options {
	if o.Rows == 0 {
		o.Rows = 5000
	}
	if o.Net == "" {
		o.Net = MLPName
	}
	return o
}

func (o Options) sizes() Sizes {
	outputs := Classes
	if o.Regression {
		outputs = 1
	}
	s := DefaultSizes(o.Net, outputs)
	if o.Hidden != 0 {
		s.Hidden = o.Hidden
	}
	return s
}

// NewTask simulates a series and makes a net.
func NewTask(o Options) (*Task, error) {
	o = o.complete()
	rows, err := NewRows(uint64(o.Seed), o.Sigma, o.Rows)
	if err != nil {
		return nil, err
	}
	t := &Task{Rows: rows, options: o}
	if t.Net, err = New(o.sizes(), o.Seed); err != nil {
		return nil, err
	}
	t.Train, t.Valid, t.Test = rows.Split()
	t.Scale = rows.Fit(t.Train)
	t.table = NewTable(rows, t.Scale)
	t.batch, t.epochs = t.plan()
	return t, nil
}

// plan chooses how large batches are and how often all rows are seen. With few
// rows noise in the gradient helps, with many it only takes time. Found on
// seeds 1000 to 1019.
func (t *Task) plan() (batch, epochs int) {
	batch, epochs = 128, 20
	if t.Train.Len() > 20_000 {
		batch, epochs = 512, 6
	}
	if t.options.Epochs > 0 {
		epochs = t.options.Epochs
	}
	return batch, epochs
}

// Batch is how many rows a step learns from.
func (t *Task) Batch() int { return t.batch }

// rate is the greatest learning rate.
const rate = 3e-3

// Training says how the net is trained.
func (t *Task) Training() (train.Options, error) {
	opt, err := optim.New(optim.Options{}, optim.Group{Params: nn.Params(t.Net.Module), Method: optim.AdamW{WeightDecay: 0.01}})
	if err != nil {
		return train.Options{}, err
	}
	steps := t.epochs * (t.Train.Len() / t.batch)
	warmup := min(50, steps/10)
	return train.Options{
		Net: t.Net.Module, Optimizer: opt, Epochs: t.epochs, Seed: t.options.Seed,
		Schedule: optim.Warmup(warmup, optim.Cosine(rate, 0, steps-warmup)),
		Data:     train.Batches{Rows: numbers(t.Train), Size: t.batch, Shuffle: true, DropLast: true},
		Loss: func(*nn.Mode) (sinter.Tensor, map[string]sinter.Tensor) {
			return t.loss(sinter.Input(rowsInput, sinter.I32, sinter.N(t.batch))), nil
		},
		Evaluate: train.Evaluation{
			Data: train.Batches{Rows: numbers(t.Valid), Size: evaluated},
			Metrics: func() []train.Metric {
				at := sinter.Input(rowsInput, sinter.I32, sinter.Sym("rows", 1, evaluated))
				y := t.Net.Forward(t.table.Gather(at))
				if t.options.Regression {
					return []train.Metric{train.Mean(ValidationError, y.Squeeze(1).Sub(t.table.Values(at)).Square())}
				}
				return []train.Metric{train.Accuracy("validation_accuracy", y, t.table.Classes(at))}
			},
		},
	}, nil
}

// ValidationError is the metric of an evaluation of values.
const ValidationError = "validation_mse"

const (
	rowsInput = "rows"
	evaluated = 256 // rows at a time: arenas of larger ones would be most of the memory
)

// loss of rows by their numbers, with the penalty.
func (t *Task) loss(at sinter.Tensor) sinter.Tensor {
	y := t.Net.Forward(t.table.Gather(at))
	var loss sinter.Tensor
	if t.options.Regression {
		loss = sinter.MSE(y.Squeeze(1), t.table.Values(at))
	} else {
		loss = sinter.CrossEntropy(y, t.table.Classes(at), sinter.CrossEntropyOptions{})
	}
	for _, w := range t.Net.inputs {
		loss = loss.Add(norms(w.Tensor()).Mul(sinter.Scalar(t.penalty())))
	}
	return loss
}

// norms is the sum over inputs of the norm of all weights that an input has: a
// group lasso (Yuan and Lin, 2006). It lets go of inputs altogether that tell
// nothing, as most of the window does, where decay would only make them small.
func norms(w sinter.Tensor) sinter.Tensor {
	return w.Square().Sum(0).Add(sinter.Scalar(1e-12)).Sqrt().Sum()
}

// penalty is the weight of the norms. What an input that tells nothing gains by
// chance falls with the root of the number of rows. The factors were found on
// seeds 1000 to 1019; squared errors are smaller numbers than entropies.
func (t *Task) penalty() float64 {
	factor := 0.7
	if t.options.Regression {
		factor = 0.25
	}
	return factor / math.Sqrt(float64(t.Train.Len()))
}

// numbers are the rows of a span: all that a step is given of them.
type numbers Span

func (n numbers) Len() int { return Span(n).Len() }

func (n numbers) At(rows []int) (train.Batch, error) {
	all := make([]int32, len(rows))
	for i, r := range rows {
		if r < 0 || r >= n.Len() {
			return nil, fmt.Errorf("row %d of %d", r, n.Len())
		}
		all[i] = int32(n.From + r)
	}
	return train.Batch{rowsInput: sinter.Of(all, len(all))}, nil
}

// all are all rows as one batch.
func (n numbers) all() (train.Batch, error) {
	rows := make([]int, n.Len())
	for i := range rows {
		rows[i] = i
	}
	return n.At(rows)
}

// Predict gives the net's outputs for the rows of a span, one after the other.
func (t *Task) Predict(ctx context.Context, s Span, o sinter.Options) ([]float32, error) {
	at := sinter.Input(rowsInput, sinter.I32, sinter.Sym("rows", 1, evaluated))
	p, err := sinter.Compile(sinter.Capture(t.Net.Forward(t.table.Gather(at))), o)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return inParts(s, func(part Span) ([]float32, error) {
		in, err := numbers(part).all()
		if err != nil {
			return nil, err
		}
		out, err := p.Run(ctx, in)
		if err != nil {
			return nil, err
		}
		defer out[0].Release()
		return sinter.Values[float32](ctx, out[0])
	})
}

// PredictModel is Predict by a model, given features as they are.
func (t *Task) PredictModel(ctx context.Context, s Span, m *Model) ([]float32, error) {
	if m.Outputs() != t.Net.Sizes.Outputs {
		return nil, fmt.Errorf("the model has %d outputs, the task %d", m.Outputs(), t.Net.Sizes.Outputs)
	}
	return inParts(s, func(part Span) ([]float32, error) { return m.Predict(ctx, t.Rows.features(part)) })
}

// inParts asks for outputs of so many rows at a time as a program takes.
func inParts(s Span, predict func(Span) ([]float32, error)) ([]float32, error) {
	if s.Len() < 1 {
		return nil, errors.New("no rows to predict")
	}
	var all []float32
	for from := s.From; from < s.To; from += evaluated {
		y, err := predict(Span{from, min(s.To, from+evaluated)})
		if err != nil {
			return nil, err
		}
		all = append(all, y...)
	}
	return all, nil
}

// Hits are the outcomes of classes: the greatest logits, or those of values.
func (t *Task) Hits(s Span, outputs []float32) Outcome {
	n := t.Net.Sizes.Outputs
	o := make(Outcome, s.Len())
	for i := range o {
		row := outputs[i*n : (i+1)*n]
		class := greatest(row)
		if t.options.Regression {
			class = ClassOf(float64(row[0]))
		}
		o[i] = t.Rows.hit(s.From+i, class)
	}
	return o
}

// Errors are the squared errors of values.
func (t *Task) Errors(s Span, outputs []float32) Outcome {
	o := make(Outcome, s.Len())
	for i := range o {
		o[i] = t.Rows.miss(s.From+i, float64(outputs[i]))
	}
	return o
}

// greatest is the place of the first greatest element.
func greatest(v []float32) int {
	best := 0
	for i, x := range v {
		if x > v[best] {
			best = i
		}
	}
	return best
}

// Quantise makes a model of the net as it is now.
func (t *Task) Quantise(ctx context.Context, o sinter.Options) (*Model, error) {
	return Quantise(ctx, t.Net, t.Scale, o)
}

// Float is Quantise in f32.
func (t *Task) Float(ctx context.Context, o sinter.Options) (*Model, error) {
	o.Precision = sinter.F32
	return modelOf(ctx, t.Net, t.Scale, o)
}

// HostBytes is what the rows take in memory that devices read but do not count.
func (t *Task) HostBytes() int64 { return t.table.bytes }
