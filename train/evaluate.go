package train

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/sinterml/sinter"
)

// Evaluator measures a net by data. Its program reads the variables as they are
// when it runs.
type Evaluator struct {
	program *sinter.Program
	inputs  []sinter.InputInfo
	metrics []Metric
	sizes   []int // of each metric's sums
	device  *sinter.Device
}

// NewEvaluator compiles the program of all metrics together. Names must differ.
func NewEvaluator(metrics []Metric, o sinter.Options) (*Evaluator, error) {
	if len(metrics) == 0 {
		return nil, errors.New("train: an evaluation of no metrics")
	}
	e := &Evaluator{metrics: metrics, device: o.Device}
	seen := map[string]bool{}
	var parts []sinter.Tensor
	for _, m := range metrics {
		if m.Name == "" || seen[m.Name] {
			return nil, fmt.Errorf("train: metric %q: give each a name of its own", m.Name)
		}
		seen[m.Name] = true
		n, err := elements(m.Sums)
		if err != nil {
			return nil, fmt.Errorf("train: metric %s: %w", m.Name, err)
		}
		e.sizes = append(e.sizes, n)
		parts = append(parts, m.Sums.Cast(sinter.F64).Reshape(-1))
	}
	p, err := sinter.Compile(sinter.Capture(sinter.Concat(0, parts...)), o)
	if err != nil {
		return nil, fmt.Errorf("train: compiling the evaluation: %w", err)
	}
	e.program, e.inputs = p, p.Info().Inputs
	return e, nil
}

// elements is the size of a tensor of a static shape.
func elements(x sinter.Tensor) (int, error) {
	if err := x.Err(); err != nil {
		return 0, err
	}
	n := 1
	for _, d := range x.Shape() {
		size, ok := d.Const()
		if !ok {
			return 0, fmt.Errorf("its sums have shape %v: sum over what varies from batch to batch", x.Shape())
		}
		n *= size
	}
	if n == 0 {
		return 0, errors.New("its sums have no elements")
	}
	return n, nil
}

var errZeroEvaluator = errors.New("train: the zero Evaluator measures nothing: make one with NewEvaluator")

// Run measures by the batches of epoch 0 for seed 0.
func (e *Evaluator) Run(ctx context.Context, data Data) (*Scores, error) {
	switch {
	case e == nil || e.program == nil:
		return nil, errZeroEvaluator
	case data == nil:
		return nil, errors.New("train: an evaluation of no data")
	}
	if e.device != nil {
		ctx = sinter.WithDevice(ctx, e.device)
	}
	total := 0
	for _, n := range e.sizes {
		total += n
	}
	sums, batches := make([]float64, total), 0
	for batch, err := range data.Epoch(0, 0, 0) {
		if err != nil {
			return nil, fmt.Errorf("train: reading the data to evaluate: %w", err)
		}
		outs, err := e.program.Run(ctx, only(batch, e.inputs))
		if err != nil {
			return nil, fmt.Errorf("train: evaluating: %w", err)
		}
		part, err := sinter.Values[float64](ctx, outs[0])
		if err != nil {
			return nil, fmt.Errorf("train: evaluating: %w", err)
		}
		for i, v := range part {
			sums[i] += v
		}
		batches++
	}
	if batches == 0 {
		return nil, errors.New("train: the data to evaluate has no batches")
	}
	return e.scores(sums), nil
}

func (e *Evaluator) scores(sums []float64) *Scores {
	s := &Scores{values: map[string]float64{}, counts: map[string][]float64{}}
	for i, m := range e.metrics {
		part := sums[:e.sizes[i]]
		sums = sums[e.sizes[i]:]
		if m.confusion {
			s.counts[m.Name] = part
		}
		s.values[m.Name] = part[0]
		if m.Value != nil {
			s.values[m.Name] = m.Value(part)
		}
	}
	return s
}

// Close frees the program.
func (e *Evaluator) Close() error {
	if e == nil || e.program == nil {
		return errZeroEvaluator
	}
	return e.program.Close()
}

// only is the part of a batch that a program takes.
func only(b Batch, inputs []sinter.InputInfo) Batch {
	some := make(Batch, len(inputs))
	for _, in := range inputs {
		if x, ok := b[in.Name]; ok {
			some[in.Name] = x
		}
	}
	return some
}

// Scores is what an evaluation found. The zero Scores, and nil, have nothing.
type Scores struct {
	values map[string]float64
	counts map[string][]float64 // of a Confusion
}

// Value is a metric by its name, false where there is none.
func (s *Scores) Value(name string) (float64, bool) {
	if s == nil {
		return 0, false
	}
	v, ok := s.values[name]
	return v, ok
}

// Values are all metrics by name.
func (s *Scores) Values() map[string]float64 {
	if s == nil {
		return nil
	}
	return maps.Clone(s.values)
}

// Confusion is the counts of a ConfusionMatrix or an F1; nil of other metrics.
func (s *Scores) Confusion(name string) Confusion {
	if s == nil {
		return nil
	}
	sums, ok := s.counts[name]
	if !ok {
		return nil
	}
	return confusionOf(sums)
}
