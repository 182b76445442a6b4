package train

import (
	"context"
	"fmt"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
)

// stopper keeps count of evaluations for EarlyStop. Its exported fields are
// what a run goes on from.
type stopper struct {
	rule EarlyStop
	keep []*sinter.Variable // that Restore goes back to

	Best    float64
	Some    bool // there is a Best
	Step    int  // of the Best
	Waiting int  // evaluations since
	best    []sinter.Tensor
}

// observe takes an evaluation at a step, and tells whether to stop. NaN is never
// better.
func (s *stopper) observe(ctx context.Context, step int, scores *Scores) (stop bool, err error) {
	if s.rule.Metric == "" {
		return false, nil
	}
	v, ok := scores.Value(s.rule.Metric)
	if !ok {
		return false, fmt.Errorf("train: EarlyStop watches %q, which the evaluation does not have", s.rule.Metric)
	}
	better := v < s.Best-s.rule.Least
	if s.rule.Larger {
		better = v > s.Best+s.rule.Least
	}
	if better || !s.Some && v == v {
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
func (s *stopper) remember(ctx context.Context) (err error) {
	if !s.rule.Restore {
		return nil
	}
	copies := make([]sinter.Tensor, len(s.keep))
	for i, v := range s.keep {
		copies[i] = v.Tensor()
	}
	if s.best, err = sinter.Eval(ctx, copies...); err != nil {
		return fmt.Errorf("train: keeping the best net: %w", err)
	}
	return nil
}

// restore puts the best net back.
func (s *stopper) restore(ctx context.Context) error {
	if s.best == nil {
		return nil
	}
	updates := make([]sinter.Tensor, len(s.keep))
	for i, v := range s.keep {
		updates[i] = v.Assign(s.best[i])
	}
	if _, err := sinter.Eval(ctx, updates...); err != nil {
		return fmt.Errorf("train: going back to the best net: %w", err)
	}
	return nil
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
