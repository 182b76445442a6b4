package nn

import (
	"fmt"
	"math"
	"slices"

	"github.com/sinterml/sinter"
)

// Package sinter has CrossEntropy, MSE, L1, Huber and BCEWithLogits; here is the
// rest.

func reduce(x sinter.Tensor, r sinter.Reduction) sinter.Tensor {
	switch r {
	case sinter.ReduceMean:
		return x.Mean()
	case sinter.ReduceSum:
		return x.Sum()
	case sinter.ReduceNone:
		return x
	}
	return sinter.Fail(fmt.Errorf("no reduction %d", r), x)
}

// NLLOptions describe a negative log likelihood.
type NLLOptions struct {
	// Weights are factors on the losses by class [classes]; the mean is divided
	// by those of the rows' classes. A class with a factor of 0 adds nothing, be its
	// probability 0. The zero Tensor: 1.
	Weights sinter.Tensor
	// IgnoreIndex is a target whose rows do not count; nil: all count.
	IgnoreIndex *int
	Reduction   sinter.Reduction
}

// NLL is the negative of logp [..., classes] at targets [...], the numbers of
// the right classes. With LogSoftmax before it it is a cross-entropy.
func NLL(logp, targets sinter.Tensor, o NLLOptions) sinter.Tensor {
	if logp.Err() != nil {
		return logp
	}
	if targets.Err() != nil {
		return targets
	}
	if !targets.DType().IsInt() || targets.Rank() != logp.Rank()-1 {
		return sinter.Fail(fmt.Errorf("want log probabilities [..., classes] and integers [...]"), logp, targets)
	}
	for i, n := range targets.Shape() {
		if !n.Equal(logp.Dim(i)) {
			return sinter.Fail(fmt.Errorf("log probabilities %v and targets %v: want one target for each row", logp.Shape(), targets.Shape()), logp, targets)
		}
	}
	zero, right := sinter.Scalar(0), targets
	var counts sinter.Tensor
	if o.IgnoreIndex != nil {
		counts = targets.NotEqual(sinter.Scalar(float64(*o.IgnoreIndex)))
		right = sinter.Where(counts, targets, zero.Cast(targets.DType()))
	}
	loss := widened(logp.TakeAlong(right.Unsqueeze(-1), -1).Squeeze(-1).Neg())
	weight := sinter.Ones(loss.DType(), targets.Shape()...)
	if w := o.Weights; given(w) {
		if w.Err() == nil && (w.Rank() != 1 || !w.Dim(0).Equal(logp.Dim(-1)) || !w.DType().IsFloat()) {
			return sinter.Fail(fmt.Errorf("weights %v of %v: want floats [%v], one for each class", w.Shape(), w.DType(), logp.Dim(-1)), logp, targets, w)
		}
		weight = w.Cast(loss.DType()).Take(right, 0)
		impossible := loss.Equal(sinter.Scalar(math.Inf(1)))
		loss = sinter.Where(weight.Equal(zero).And(impossible), zero, loss).Mul(weight)
	}
	if given(counts) {
		loss, weight = sinter.Where(counts, loss, zero), sinter.Where(counts, weight, zero)
	}
	if o.Reduction == sinter.ReduceMean {
		return loss.Sum().Div(weight.Sum()).Cast(logp.DType())
	}
	return reduce(loss, o.Reduction).Cast(logp.DType())
}

// KLOptions describe a divergence.
type KLOptions struct {
	LogTarget bool // the target holds logarithms too
	// PerRow divides the sum by the size of axis 0, which makes it the divergence
	// of a batch; Reduction is ignored.
	PerRow    bool
	Reduction sinter.Reduction
}

// KL is the divergence of Kullback and Leibler of target, probabilities, from
// those whose logarithms logq holds: target * (log(target) - logq), which is 0
// where target is.
func KL(logq, target sinter.Tensor, o KLOptions) sinter.Tensor {
	var each sinter.Tensor
	if o.LogTarget {
		each = target.Exp().Mul(target.Sub(logq))
	} else {
		some := target.NotEqual(sinter.Scalar(0)) // NaN, and below 0, is no probability, and remains NaN
		// The logarithm's gradient at 0 is kept out of both branches.
		log := sinter.Where(some, target, sinter.Scalar(1)).Log()
		each = sinter.Where(some, target.Mul(log.Sub(logq)), sinter.Scalar(0))
	}
	if err := checkPair(each, logq, target); err != nil {
		return sinter.Fail(err, logq, target)
	}
	if o.PerRow && each.Err() == nil {
		if each.Rank() == 0 {
			return sinter.Fail(fmt.Errorf("no axis 0 for PerRow"), logq, target)
		}
		wide := widened(each)
		rows := sinter.Ones(wide.DType(), each.Dim(0)).Sum()
		return wide.Sum().Div(rows).Cast(each.DType())
	}
	return reduce(each, o.Reduction)
}

// checkPair refuses operands of a loss each of which is repeated in each, as
// predictions [n, 1] and targets [n] are.
func checkPair(each, x, y sinter.Tensor) error {
	if each.Err() != nil || sameShape(each, x) || sameShape(each, y) {
		return nil
	}
	return fmt.Errorf("shapes %v and %v would give %v, each number of one with each of the other: bring them to one shape, as by Squeeze(-1) or Unsqueeze(-1)", x.Shape(), y.Shape(), each.Shape())
}

func sameShape(x, y sinter.Tensor) bool {
	return slices.EqualFunc(x.Shape(), y.Shape(), sinter.Dim.Equal)
}

// BCEOptions describe a binary cross-entropy.
type BCEOptions struct {
	Weights  sinter.Tensor // factors on the losses, broadcast; the zero Tensor: 1
	Positive sinter.Tensor // factors on what targets of 1 add, broadcast; the zero Tensor: 1

	Reduction sinter.Reduction
}

// BCE is the binary cross-entropy of Sigmoid(logits) with targets between 0 and
// 1: sinter.BCEWithLogits with options.
func BCE(logits, targets sinter.Tensor, o BCEOptions) sinter.Tensor {
	// -t log(s(x)) - (1-t) log(1-s(x)), in softplus.
	right := logits.Neg().Softplus().Mul(targets)
	if err := checkPair(right, logits, targets); err != nil {
		return sinter.Fail(err, logits, targets)
	}
	if given(o.Positive) {
		right = right.Mul(o.Positive)
	}
	loss := right.Add(logits.Softplus().Mul(sinter.Scalar(1).Sub(targets)))
	if given(o.Weights) {
		loss = loss.Mul(o.Weights)
	}
	return reduce(loss, o.Reduction)
}

// InfoNCEOptions describe a contrastive loss.
type InfoNCEOptions struct {
	Temperature float64 // cosines are divided by it; 0: 0.05
	Symmetric   bool    // the mean of both directions
}

// InfoNCE tells how well each row of a [n, width] finds its own among the rows
// of b [m, width], m >= n, by cosine: the cross-entropy of cosines over
// temperature, where row i of b is right for row i of a and all others are
// wrong. Rows of b beyond n are wrong for all (van den Oord et al., 2018).
func InfoNCE(a, b sinter.Tensor, o InfoNCEOptions) sinter.Tensor {
	if a.Err() != nil {
		return a
	}
	if b.Err() != nil {
		return b
	}
	operands := []sinter.Tensor{a, b}
	if a.Rank() != 2 || b.Rank() != 2 {
		return sinter.Fail(fmt.Errorf("want vectors [n, width] and [m, width]"), operands...)
	}
	if !(o.Temperature >= 0) || math.IsInf(o.Temperature, 1) {
		return sinter.Fail(fmt.Errorf("a Temperature of %v", o.Temperature), operands...)
	}
	n, ok1 := a.Dim(0).Const()
	m, ok2 := b.Dim(0).Const()
	if ok1 && ok2 && m < n {
		return sinter.Fail(fmt.Errorf("%d rows have no own among %d", n, m), operands...)
	}
	if o.Symmetric && !a.Dim(0).Equal(b.Dim(0)) {
		return sinter.Fail(fmt.Errorf("both directions need as many rows of each"), operands...)
	}
	cosines := unit(a).MatMul(unit(b).T()).Mul(sinter.Scalar(1 / orDefault(o.Temperature, 0.05)))
	right := sinter.Iota(sinter.I64, 0, a.Dim(0))
	loss := sinter.CrossEntropy(cosines, right, sinter.CrossEntropyOptions{})
	if o.Symmetric {
		back := sinter.CrossEntropy(cosines.T(), right, sinter.CrossEntropyOptions{})
		loss = loss.Add(back).Mul(sinter.Scalar(0.5))
	}
	return loss
}

// unit brings rows to length 1, those shorter than 1e-12 less far, as
// torch.nn.functional.normalize does.
func unit(x sinter.Tensor) sinter.Tensor {
	wide := widened(x)
	squares := wide.Square().SumKeep(-1)
	return wide.Mul(squares.Maximum(sinter.Scalar(1e-24)).Rsqrt()).Cast(x.DType())
}

// widened is x in F32 where it is of a half type, which are too coarse for squares,
// sums and counts.
func widened(x sinter.Tensor) sinter.Tensor {
	if dt := x.DType(); dt == sinter.F16 || dt == sinter.BF16 {
		return x.Cast(sinter.F32)
	}
	return x
}
