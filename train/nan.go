package train

import (
	"context"
	"fmt"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
)

// NaNError ends a run whose loss, or with ClipNorm a gradient, is not finite.
// The parameters are as they were before the step.
type NaNError struct {
	Step, Epoch, Batch int // each from 0
	// First is the first tensor that is not finite: inputs before parameters,
	// those before what the loss and then its gradients are computed by. Nil: it
	// was not found.
	First *sinter.NotFinite
}

func (e *NaNError) Error() string {
	s := fmt.Sprintf("train: step %d, on batch %d of epoch %d, is not finite", e.Step, e.Batch, e.Epoch)
	switch {
	case e.First == nil:
		return s
	case e.First.Leaf:
		return s + ": " + e.First.String()
	}
	return s + ": inputs and parameters are; the first that is not is " + e.First.String() + ": a lower learning rate or clipped gradients may help"
}

// checkFinite looks at what a batch came to.
func (r *run) checkFinite(ctx context.Context, values []float64) error {
	if values[0]-values[0] == 0 && values[1] != 0 {
		return nil
	}
	first, err := r.stepper.firstNaN(context.WithoutCancel(ctx), r.o)
	if err != nil {
		return fmt.Errorf("train: step %d is not finite, and finding out why failed: %w", r.at.Step, err)
	}
	if r.o.Optimizer.LossScale() != nil && (first == nil || !first.Leaf) {
		return nil // the optimizer leaves the update out, and finds another scale
	}
	return &NaNError{r.at.Step, r.at.Epoch, r.at.Batch, first}
}

// firstNaN goes through the loss and the gradients of the batch that was run
// last.
func (s *stepper) firstNaN(ctx context.Context, o Options) (*sinter.NotFinite, error) {
	loss, _ := o.Loss(trainingMode())
	outputs := []sinter.Tensor{loss}
	for _, v := range nn.Params(o.Net) {
		if g := sinter.Grad(loss, v.Tensor())[0]; g.Err() == nil { // frozen ones may have none
			outputs = append(outputs, g)
		}
	}
	return sinter.Capture(outputs...).FindNaN(ctx, s.in, o.Compile)
}
