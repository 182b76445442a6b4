package train

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/optim"
)

// Names of the Inputs that a run binds itself.
const (
	rateInput = "train.rate"
	seedInput = "train.seed"
)

// stepper holds the programs of a step: one that updates, and where the
// optimizer averages gradients one that adds to their sum. The last output of
// each is a vector of F64: the loss, whether the update was made, then the
// metrics in order of their names.
type stepper struct {
	update, add *sinter.Program
	inputs      []sinter.InputInfo // of update; add has no others
	names       []string           // of metrics
	rateType    sinter.DType
	in          Batch // used again by each step
}

// firstMetric is where metrics begin in that vector.
const firstMetric = 2

// trainingMode draws from the seed that each batch is given.
func trainingMode() *nn.Mode {
	return &nn.Mode{Training: true, Rand: sinter.NewRand(sinter.Input(seedInput, sinter.I64))}
}

func newStepper(o Options) (*stepper, error) {
	s := &stepper{rateType: sinter.F32, in: Batch{}}
	for _, v := range nn.Params(o.Net) {
		if v.Tensor().DType() == sinter.F64 {
			s.rateType = sinter.F64
		}
	}
	var err error
	if s.update, err = s.compile(o, func(loss sinter.Tensor) ([]sinter.Tensor, sinter.Tensor, error) {
		return o.Optimizer.UpdateFinite(loss, sinter.Input(rateInput, s.rateType))
	}); err != nil {
		return nil, err
	}
	if o.Compiled != nil {
		o.Compiled(s.update)
	}
	s.inputs = s.update.Info().Inputs
	if o.Optimizer.Averaged() > 1 {
		if s.add, err = s.compile(o, func(loss sinter.Tensor) ([]sinter.Tensor, sinter.Tensor, error) {
			updates, err := o.Optimizer.Accumulate(loss)
			return updates, loss.IsFinite().Reshape(), err
		}); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// compile traces the loss and compiles it with what becomes of its gradients.
func (s *stepper) compile(o Options, changes func(loss sinter.Tensor) ([]sinter.Tensor, sinter.Tensor, error)) (*sinter.Program, error) {
	m := trainingMode()
	loss, metrics := o.Loss(m)
	if err := loss.Err(); err != nil {
		return nil, fmt.Errorf("the loss: %w", err)
	}
	updates, good, err := changes(loss)
	if err != nil {
		return nil, err
	}
	if o.Statistics {
		metrics = withNorms(metrics, loss, nn.Params(o.Net))
	}
	s.names = slices.Sorted(maps.Keys(metrics))
	report := []sinter.Tensor{loss.Cast(sinter.F64).Reshape(), good.Cast(sinter.F64)}
	for _, name := range s.names {
		x := metrics[name].Cast(sinter.F64).Reshape()
		if err := x.Err(); err != nil {
			return nil, fmt.Errorf("metric %q: want one element: %w", name, err)
		}
		report = append(report, x)
	}
	outputs := slices.Concat(updates, m.UpdatesWhere(good), []sinter.Tensor{sinter.Stack(0, report...)})
	p, err := sinter.Compile(sinter.Capture(outputs...), o.Compile)
	if err != nil {
		return nil, fmt.Errorf("compiling the step: %w", err)
	}
	return p, nil
}

// withNorms adds norms of parameters and of their gradients. Those that the loss
// does not depend on have no gradient.
func withNorms(metrics map[string]sinter.Tensor, loss sinter.Tensor, params []*sinter.Variable) map[string]sinter.Tensor {
	all := map[string]sinter.Tensor{}
	maps.Copy(all, metrics)
	for _, v := range params {
		all["weight/"+v.Name()] = optim.Norm(v.Tensor())
		if g := sinter.Grad(loss, v.Tensor())[0]; g.Err() == nil {
			all["gradient/"+v.Name()] = optim.Norm(g)
		}
	}
	return all
}

// run does one batch. update tells whether it ends with an update; rate and
// seed are bound.
func (s *stepper) run(ctx context.Context, batch Batch, update bool, rate float64, seed int64) ([]float64, error) {
	p := s.update
	if !update {
		p = s.add
	}
	clear(s.in)
	for _, in := range s.inputs {
		switch in.Name {
		case rateInput:
			if update {
				s.in[rateInput] = s.rate(rate)
			}
		case seedInput:
			s.in[seedInput] = sinter.Of([]int64{seed})
		default:
			x, ok := batch[in.Name]
			if !ok {
				return nil, fmt.Errorf("the graph has an Input %q, the batch only %q", in.Name, slices.Sorted(maps.Keys(batch)))
			}
			s.in[in.Name] = x
		}
	}
	outs, err := p.Run(ctx, s.in)
	if err != nil {
		return nil, err
	}
	return sinter.Values[float64](ctx, outs[len(outs)-1])
}

func (s *stepper) rate(v float64) sinter.Tensor {
	if s.rateType == sinter.F64 {
		return sinter.Of([]float64{v})
	}
	return sinter.Of([]float32{float32(v)})
}

func (s *stepper) close() error {
	var errs []error
	for _, p := range []*sinter.Program{s.update, s.add} {
		if p != nil {
			errs = append(errs, p.Close())
		}
	}
	return errors.Join(errs...)
}
