package train

import (
	"errors"
	"fmt"
	"math"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/optim"
)

// Options say what a run does. Net, Optimizer, Loss, Data and Schedule are
// needed, and one of Steps and Epochs.
type Options struct {
	Net       any // a pointer to its struct, as package nn has them
	Optimizer *optim.Optimizer
	// Loss is called once, to trace the graph of a step over Inputs: a float of
	// one element, and what else is to be reported of each step.
	Loss func(m *nn.Mode) (loss sinter.Tensor, metrics map[string]sinter.Tensor)
	Data Data
	// The run ends after so many updates, or so many epochs; 0: no limit by this.
	Steps, Epochs int
	Schedule      optim.Schedule // of the learning rate, bound at each step
	// Seed decides the order of the data and what Dropout drops.
	Seed int64
	// Evaluate measures the net while it trains; the zero value does not.
	Evaluate Evaluation
	// EarlyStop ends the run when an evaluation no longer gets better; the zero
	// value does not.
	EarlyStop EarlyStop
	// Plateau lowers the learning rate when an evaluation no longer gets better;
	// the zero value does not.
	Plateau     Plateau
	Checkpoints Checkpoints
	// Statistics adds the norm of each parameter and of its gradient, before
	// clipping, to the metrics of a step: weight/NAME and gradient/NAME.
	Statistics bool
	// Compile is about the step's program and that of the evaluation.
	Compile sinter.Options
	// Compiled, if set, is given the program of a step that ends with an update,
	// before the first one runs: its HTML shows what it does.
	Compiled func(step *sinter.Program)
	// Report is told of each step and each epoch; nil: nobody is. Its error ends
	// the run.
	Report func(Event) error
}

// Evaluation measures a net by data that it is not trained with.
type Evaluation struct {
	// Metrics is called once, to trace the graph, with a nil Mode in its layers.
	Metrics func() []Metric
	Data    Data
	Every   int // steps; 0: after each epoch
}

// EarlyStop watches a metric of the evaluation.
type EarlyStop struct {
	Metric   string  // its name; "": no early stop
	Larger   bool    // is better, as of an accuracy
	Patience int     // evaluations without a new best that are waited for; 0: 10
	Least    float64 // by which a new best differs from the last
	Restore  bool    // at the end, also without a stop, the net is as it was at its best
}

// Plateau multiplies the Schedule by the rate of an optim.Plateau, which observes
// a metric of the evaluation. Where smaller is worse it observes the negative.
type Plateau struct {
	Rule   *optim.Plateau // nil: none
	Metric string
	Larger bool // is better
}

// check finds what is missing before anything is compiled.
func (o Options) check() error {
	switch {
	case o.Net == nil:
		return errors.New("no Net: give a pointer to the net")
	case o.Optimizer == nil || o.Optimizer.State() == nil:
		return errors.New("no Optimizer: make one with optim.New")
	case o.Loss == nil:
		return errors.New("no Loss: it traces the graph of a step")
	case o.Data == nil:
		return errors.New("no Data: use Batches, or a Func")
	case o.Schedule == nil:
		return errors.New("no Schedule: use optim.Constant for the same learning rate at every step")
	case o.Steps < 0 || o.Epochs < 0 || o.Steps == 0 && o.Epochs == 0:
		return fmt.Errorf("%d steps and %d epochs: give at least one of the two, and none below 0", o.Steps, o.Epochs)
	case (o.Evaluate.Metrics == nil) != (o.Evaluate.Data == nil):
		return errors.New("an evaluation needs both Metrics and Data")
	case o.Evaluate.Every < 0:
		return fmt.Errorf("an evaluation every %d steps", o.Evaluate.Every)
	}
	if err := o.Checkpoints.check(); err != nil {
		return err
	}
	if o.Plateau.Rule != nil && o.Evaluate.Metrics == nil {
		return fmt.Errorf("a Plateau of %q needs Evaluate", o.Plateau.Metric)
	}
	return o.EarlyStop.check(o.Evaluate.Metrics != nil)
}

func (e EarlyStop) check(evaluates bool) error {
	switch {
	case e.Metric == "":
		return nil
	case !evaluates:
		return fmt.Errorf("EarlyStop by %q needs Evaluate", e.Metric)
	case e.Patience < 0:
		return fmt.Errorf("EarlyStop waits for %d evaluations", e.Patience)
	case !(e.Least >= 0) || math.IsInf(e.Least, 1):
		return fmt.Errorf("EarlyStop.Least is %v: want at least 0", e.Least)
	}
	return nil
}
