package sinter

import (
	"fmt"
	"math"

	"github.com/sinterml/sinter/internal/ir"
)

// Reduction says what becomes of the losses of single elements or rows.
type Reduction uint8

const (
	ReduceMean Reduction = iota // their average
	ReduceSum                   // their sum
	ReduceNone                  // they stay
)

func (r Reduction) of(x Tensor) Tensor {
	switch r {
	case ReduceMean:
		return x.Mean()
	case ReduceSum:
		return x.Sum()
	case ReduceNone:
		return x
	}
	return failf([]Tensor{x}, "no reduction %d", r)
}

// checkPair refuses operands of a loss each of which would be repeated for the
// other, as predictions [n, 1] and targets [n] would to [n, n].
func checkPair(x, y Tensor) (bad Tensor, failed bool) {
	if bad, failed := firstErr(x, y); failed {
		return bad, true
	}
	shape, err := ir.Broadcast(x.v.Shape, y.v.Shape)
	if err != nil || shape.Equal(x.v.Shape) || shape.Equal(y.v.Shape) {
		return Tensor{}, false // an error is the operation's
	}
	return failf([]Tensor{x, y}, "shapes %v and %v would give %v, each number of one with each of the other: bring them to one shape, as by Squeeze(-1) or Unsqueeze(-1)", x.v.Shape, y.v.Shape, shape), true
}

// MSE is the mean of (x - y)^2. One of the two may be broadcast to the shape of
// the other, in all losses that compare numbers with numbers; x [n, 1] and y [n]
// are an error.
func MSE(x, y Tensor) Tensor {
	if bad, failed := checkPair(x, y); failed {
		return bad
	}
	return x.Sub(y).float("MSE", func(diff Tensor) Tensor { return diff.Square().Mean() })
}

// L1 is the mean of |x - y|.
func L1(x, y Tensor) Tensor {
	if bad, failed := checkPair(x, y); failed {
		return bad
	}
	return x.Sub(y).Abs().Mean()
}

// Huber is the mean of d^2/2 for d = |x - y| up to delta, and of
// delta*(d - delta/2) beyond it.
func Huber(x, y Tensor, delta float64) Tensor {
	if bad, failed := checkPair(x, y); failed {
		return bad
	}
	if !(delta > 0) {
		return failf([]Tensor{x, y}, "a delta of %v: want more than 0", delta)
	}
	return x.Sub(y).float("Huber", func(diff Tensor) Tensor {
		d := diff.Abs()
		isNear := d.Less(Scalar(delta))
		// The unused branch is kept finite: its gradient would be NaN.
		near := Where(isNear, diff, diff.like(0)).Square().Mul(Scalar(0.5))
		far := d.Sub(Scalar(delta / 2)).Mul(Scalar(delta))
		return Where(isNear, near, far).Mean()
	})
}

// BCEWithLogits is the mean binary cross-entropy of Sigmoid(logits) with
// targets between 0 and 1.
func BCEWithLogits(logits, targets Tensor) Tensor {
	if bad, failed := checkPair(logits, targets); failed {
		return bad
	}
	// log(1 + e^x) - x*t: no logarithm of a rounded sigmoid. As log(1 + e^-|x|)
	// and |x| times the share of the other side, it does not cancel where x is
	// right.
	one := Scalar(1)
	other := Where(logits.Less(Scalar(0)), logits.Neg().Mul(targets), logits.Mul(one.Sub(targets)))
	return logits.negative().Exp().Log1p().Add(other).Mean()
}

// CrossEntropyOptions describe a cross-entropy.
type CrossEntropyOptions struct {
	// LabelSmoothing moves this share of the target to all classes alike.
	LabelSmoothing float64
	// Weights are factors on the losses by class [classes], as of those that are
	// rare; the mean is divided by those of the rows' classes. A class with a factor
	// of 0 adds nothing, be its probability 0. The zero Tensor: 1.
	Weights Tensor
	// IgnoreIndex is a target whose rows do not count; nil: all count.
	IgnoreIndex *int
	Reduction   Reduction
}

// CrossEntropy compares logits [..., classes] with targets [...], the numbers
// of the right classes as I32 or I64: -log of the probability of the right one.
func CrossEntropy(logits, targets Tensor, o CrossEntropyOptions) Tensor {
	if bad, ok := firstErr(logits, targets); ok {
		return bad
	}
	given := []Tensor{logits, targets}
	if len(logits.v.Shape) < 1 || len(targets.v.Shape) != len(logits.v.Shape)-1 {
		return failf(given, "want logits [..., classes] and targets [...]")
	}
	if rows := logits.v.Shape[:len(targets.v.Shape)]; !rows.Equal(targets.v.Shape) {
		return failf(given, "logits of rows %v and targets %v: want one target for each row", rows, targets.v.Shape)
	}
	if !targets.v.DType.IsInt() {
		return fail(fmt.Errorf("the targets are integers, not %v: use Cast", targets.v.DType), given...)
	}
	if !(o.LabelSmoothing >= 0 && o.LabelSmoothing <= 1) {
		return failf(given, "label smoothing %v is outside 0 to 1", o.LabelSmoothing)
	}
	if w := o.Weights; w.v != nil {
		if w.Err() != nil {
			return w
		}
		classes := logits.v.Shape[len(targets.v.Shape):]
		if !w.v.Shape.Equal(classes) || !w.v.DType.IsFloat() {
			return failf(append(given, w), "weights %v of %v: want floats %v, one for each class", w.v.Shape, w.v.DType, classes)
		}
	}
	var counts, weights Tensor // of rows: Bool, and like the logits
	if o.IgnoreIndex != nil {
		counts = targets.NotEqual(Scalar(float64(*o.IgnoreIndex)))
		targets = Where(counts, targets, targets.like(0))
	}
	logp := logits.LogSoftmax(-1)
	if dt := logp.DType(); o.Weights.v != nil && (dt == F16 || dt == BF16) {
		logp = logp.Cast(F32) // factors may be beyond what the logits' type holds
	}
	loss, even := logp.TakeAlong(targets.Unsqueeze(-1), -1).Squeeze(-1), logp
	if o.Weights.v != nil {
		weights = o.Weights.Cast(logp.DType())
		even = logp.weighted(weights)
		weights = weights.Take(targets, 0)
		loss = loss.weighted(weights)
	}
	loss = loss.Neg()
	if e := o.LabelSmoothing; e > 0 {
		loss = loss.Mul(Scalar(1 - e)).Sub(even.Mean(-1).Mul(Scalar(e)))
	}
	if counts.v != nil {
		loss = Where(counts, loss, loss.like(0))
		if weights.v != nil {
			weights = Where(counts, weights, weights.like(0))
		}
	}
	if counts.v == nil && weights.v == nil || o.Reduction != ReduceMean {
		return o.Reduction.of(loss).Cast(logits.DType())
	}
	if weights.v != nil {
		return loss.Sum().Div(weights.Sum()).Cast(logits.DType())
	}
	return loss.float("CrossEntropy", func(x Tensor) Tensor { return x.Sum().Div(counts.Cast(I64).Sum().Cast(x.DType())) })
}

// weighted is x, logarithms of probabilities, times weights: 0 where a weight of 0
// meets what is impossible.
func (x Tensor) weighted(weights Tensor) Tensor {
	nothing := weights.Equal(Scalar(0)).And(x.Equal(Scalar(math.Inf(-1))))
	return Where(nothing, x.like(0), x).Mul(weights)
}
