package optim

import (
	"fmt"

	"github.com/sinterml/sinter"
)

// LossScale multiplies the loss, so that gradients in f16 are not too small for
// it, and divides the gradients again before anything is done with them. An
// update whose gradients are not all finite changes no parameter, no moment and
// no average: the factor was too large, and is made smaller. After some updates
// in a row without one, it is tried larger. The zero LossScale is PyTorch's
// GradScaler. Powers of two lose nothing.
type LossScale struct {
	Initial  float64 // the factor at first; 0: 65536
	Growth   float64 // what it is multiplied by after Interval good updates; 0: 2, and 1: it never grows
	Backoff  float64 // what it is multiplied by after one that is left out; 0: 0.5
	Interval int     // 0: 2000
}

// The factor and its inverse stay normal numbers of f32.
const leastFactor, largestFactor = 0x1p-126, 0x1p126

func (l LossScale) check() error {
	initial, growth, backoff := l.values()
	switch {
	case !(initial >= leastFactor && initial <= largestFactor):
		return fmt.Errorf("a loss times %v: use a positive factor such as 65536, or 0 for that", initial)
	case !(growth >= 1 && growth <= largestFactor):
		return fmt.Errorf("a factor of the loss that grows by %v: use at least 1, or 0 for 2", growth)
	case !(backoff > 0 && backoff < 1):
		return fmt.Errorf("a factor of the loss that backs off by %v: use more than 0 and less than 1, or 0 for 0.5", backoff)
	case l.Interval < 0:
		return fmt.Errorf("a factor of the loss that grows after %d updates: use at least 1, or 0 for 2000", l.Interval)
	}
	return nil
}

func (l LossScale) values() (initial, growth, backoff float64) {
	return or(l.Initial, 65536), or(l.Growth, 2), or(l.Backoff, 0.5)
}

// lossScaler is a LossScale with its state.
type lossScaler struct {
	LossScale
	factor  *sinter.Variable // F32
	good    *sinter.Variable // updates since the factor last changed, I64
	skipped *sinter.Variable // updates that were left out, I64
}

func newLossScaler(l LossScale) *lossScaler {
	initial, _, _ := l.values()
	zero := sinter.Of([]int64{0}).Sum()
	return &lossScaler{l, sinter.NewVariable("optim.lossscale", sinter.Of([]float32{float32(initial)}).Sum()),
		sinter.NewVariable("optim.good", zero), sinter.NewVariable("optim.skipped", zero)}
}

func (s *lossScaler) state() []*sinter.Variable {
	return []*sinter.Variable{s.factor, s.good, s.skipped}
}

// unscale divides gradients by the factor, and tells whether all of them are
// finite.
func (s *lossScaler) unscale(grads []sinter.Tensor) (finite sinter.Tensor) {
	inverse := s.factor.Tensor().Reciprocal()
	sum := sinter.Scalar(0).Cast(sinter.F32)
	for i, g := range grads {
		grads[i] = g.Mul(inverse.Cast(g.DType()))
		sum = sum.Add(g.Mul(sinter.Scalar(0)).Sum().Cast(sinter.F32)) // what is not finite times 0 is NaN
	}
	return sum.Equal(sinter.Scalar(0))
}

// follow gives the assignments that find the factor of the next update.
func (s *lossScaler) follow(finite sinter.Tensor) []sinter.Tensor {
	_, growth, backoff := s.values()
	interval := s.Interval
	if interval == 0 {
		interval = 2000
	}
	none, one := sinter.Of([]int64{0}).Sum(), sinter.Of([]int64{1}).Sum()
	good := sinter.Where(finite, s.good.Tensor().Add(one), none)
	grows := good.GreaterEqual(sinter.Scalar(float64(interval)))
	old := s.factor.Tensor()
	factor := sinter.Where(finite, sinter.Where(grows, old.Mul(sinter.Scalar(growth)), old), old.Mul(sinter.Scalar(backoff)))
	return []sinter.Tensor{
		s.factor.Assign(factor.Clamp(leastFactor, largestFactor)),
		s.good.Assign(sinter.Where(grows, none, good)),
		s.skipped.Assign(s.skipped.Tensor().Add(sinter.Where(finite, none, one))),
	}
}

// LossScale is what the loss is multiplied by in the next step, an F32; nil
// where Options have no LossScale.
func (o *Optimizer) LossScale() *sinter.Variable {
	if o == nil || o.scaler == nil {
		return nil
	}
	return o.scaler.factor
}

// Skipped counts the updates that were left out because gradients were not
// finite, an I64; nil where Options have no LossScale.
func (o *Optimizer) Skipped() *sinter.Variable {
	if o == nil || o.scaler == nil {
		return nil
	}
	return o.scaler.skipped
}
