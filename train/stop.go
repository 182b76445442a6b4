package train

import (
	"context"
	"fmt"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
)

// stopper keeps count of evaluations for EarlyStop.
type stopper struct {
	stopState
	rule EarlyStop
	keep []*sinter.Variable // the net, that Restore goes back to
	best []*sinter.Variable // in the same order; nil until there is a best
}

// stopState is the part of a stopper that a checkpoint has.
type stopState struct {
	Best    float64
	Some    bool // there is a Best
	Step    int  // of the Best
	Waiting int  // evaluations since
}

// observe takes an evaluation at a step, and tells whether to stop. What is not
// finite is never better.
func (s *stopper) observe(ctx context.Context, step int, scores *Scores) (stop bool, err error) {
	if s.rule.Metric == "" {
		return false, nil
	}
	v, _ := scores.Value(s.rule.Metric)
	better := v < s.Best-s.rule.Least
	if s.rule.Larger {
		better = v > s.Best+s.rule.Least
	}
	if finite := v-v == 0; finite && (better || !s.Some) {
		s.Best, s.Some, s.Step, s.Waiting = v, true, step, 0
		return false, s.remember(ctx)
	}
	s.Waiting++
	patience := s.rule.Patience
	if patience == 0 {
		patience = 10
	}
	return s.Waiting >= patience, nil
}

// remember copies the net.
func (s *stopper) remember(ctx context.Context) error {
	if !s.rule.Restore {
		return nil
	}
	if s.best == nil {
		s.makeBest()
	}
	if err := assign(ctx, s.best, s.keep); err != nil {
		return fmt.Errorf("train: keeping the best net: %w", err)
	}
	return nil
}

// makeBest makes the variables that the best net is kept in.
func (s *stopper) makeBest() {
	s.best = make([]*sinter.Variable, len(s.keep))
	for i, v := range s.keep {
		s.best[i] = sinter.NewVariable(v.Name(), sinter.Zeros(v.Tensor().DType(), v.Tensor().Shape()...))
	}
}

// goBack puts the best net back.
func (s *stopper) goBack(ctx context.Context) error {
	if err := assign(ctx, s.keep, s.best); err != nil {
		return fmt.Errorf("train: going back to the best net: %w", err)
	}
	return nil
}

// assign copies variables, all at once.
func assign(ctx context.Context, to, from []*sinter.Variable) error {
	updates := make([]sinter.Tensor, len(to))
	for i, v := range to {
		updates[i] = v.Assign(from[i].Tensor())
	}
	_, err := sinter.Eval(ctx, updates...)
	return err
}

// variables lists all that a net keeps, each once.
func variables(net any) ([]*sinter.Variable, error) {
	all, err := nn.State(net)
	if err != nil {
		return nil, err
	}
	var once []*sinter.Variable
	seen := map[*sinter.Variable]bool{}
	for _, p := range all {
		if !seen[p.Variable] {
			once, seen[p.Variable] = append(once, p.Variable), true
		}
	}
	return once, nil
}
