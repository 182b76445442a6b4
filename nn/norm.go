package nn

import (
	"github.com/sinterml/sinter"
)

// orDefault is v, or what a field of 0 means.
func orDefault(v, otherwise float64) float64 {
	if v == 0 {
		return otherwise
	}
	return v
}

// LayerNorm brings the last axis to mean 0 and variance 1.
type LayerNorm struct {
	Width    int
	Eps      float64 // added to the variance; 0: 1e-5
	NoBias   bool
	NoAffine bool // neither factor nor summand after it

	Weight *sinter.Variable `weight:"weight"` // [Width]
	Bias   *sinter.Variable `weight:"bias"`   // [Width]

	path string
}

// Make is for Init.
func (l *LayerNorm) Make(b *Builder) error {
	l.path = b.Path()
	if err := checkSizes(size{"Width", l.Width}); err != nil {
		return err
	}
	b.optional(!l.NoAffine, &l.Weight, Constant(1), l.Width)
	b.optional(!l.NoAffine && !l.NoBias, &l.Bias, Constant(0), l.Width)
	return nil
}

// Forward normalises x [..., Width].
func (l *LayerNorm) Forward(x sinter.Tensor) sinter.Tensor {
	at := layer{"LayerNorm", l.path}
	if err := x.Err(); err == nil && !x.Dim(-1).IsConst(l.Width) {
		return at.failf([]sinter.Tensor{x}, "the last axis is not %d wide", l.Width)
	}
	y := sinter.LayerNorm(x, readIf(!l.NoAffine, l.Weight), readIf(!l.NoAffine && !l.NoBias, l.Bias), orDefault(l.Eps, 1e-5))
	return at.named(y, x)
}

// RMSNorm divides by the root of the mean square of the last axis.
type RMSNorm struct {
	Width    int
	Eps      float64 // added to the mean square; 0: 1e-6
	NoAffine bool    // no factor after it

	Weight *sinter.Variable `weight:"weight"` // [Width]

	path string
}

// Make is for Init.
func (l *RMSNorm) Make(b *Builder) error {
	l.path = b.Path()
	if err := checkSizes(size{"Width", l.Width}); err != nil {
		return err
	}
	b.optional(!l.NoAffine, &l.Weight, Constant(1), l.Width)
	return nil
}

// Forward normalises x [..., Width].
func (l *RMSNorm) Forward(x sinter.Tensor) sinter.Tensor {
	at := layer{"RMSNorm", l.path}
	if err := x.Err(); err == nil && !x.Dim(-1).IsConst(l.Width) {
		return at.failf([]sinter.Tensor{x}, "the last axis is not %d wide", l.Width)
	}
	return at.named(sinter.RMSNorm(x, readIf(!l.NoAffine, l.Weight), orDefault(l.Eps, 1e-6)), x)
}

// GroupNorm brings groups of neighbouring channels to mean 0 and variance 1.
// With as many groups as channels it is instance norm.
type GroupNorm struct {
	Groups, Channels int
	Eps              float64 // added to the variance; 0: 1e-5
	NoAffine         bool    // neither factor nor summand after it

	Weight *sinter.Variable `weight:"weight"` // [Channels]
	Bias   *sinter.Variable `weight:"bias"`   // [Channels]

	path string
}

// Make is for Init.
func (l *GroupNorm) Make(b *Builder) error {
	l.path = b.Path()
	if err := checkSizes(size{"Groups", l.Groups}, size{"Channels", l.Channels}); err != nil {
		return err
	}
	b.optional(!l.NoAffine, &l.Weight, Constant(1), l.Channels)
	b.optional(!l.NoAffine, &l.Bias, Constant(0), l.Channels)
	return nil
}

// Forward normalises x [N, Channels, ...].
func (l *GroupNorm) Forward(x sinter.Tensor) sinter.Tensor {
	y := sinter.GroupNorm(x, l.Groups, readIf(!l.NoAffine, l.Weight), readIf(!l.NoAffine, l.Bias), orDefault(l.Eps, 1e-5))
	return layer{"GroupNorm", l.path}.named(y, x)
}

// BatchNorm brings each channel to mean 0 and variance 1: in training by the
// statistics of the batch, in evaluation by running ones. A batch with a single
// value of each channel has no variance of a sample: the running one stays.
type BatchNorm struct {
	Channels int
	Eps      float64 // added to the variance; 0: 1e-5
	// Momentum is the share of the batch in the new running statistics; 0: 0.1.
	Momentum float64
	// Cumulative makes them averages of all batches instead.
	Cumulative bool
	NoAffine   bool // neither factor nor summand after it

	Weight *sinter.Variable `weight:"weight"`             // [Channels]
	Bias   *sinter.Variable `weight:"bias"`               // [Channels]
	Mean   *sinter.Variable `state:"running_mean"`        // [Channels]
	Var    *sinter.Variable `state:"running_var"`         // [Channels], as of a sample: divided by count - 1
	Count  *sinter.Variable `state:"num_batches_tracked"` // I64 []

	path string
}

// Make is for Init.
func (l *BatchNorm) Make(b *Builder) error {
	l.path = b.Path()
	if err := checkSizes(size{"Channels", l.Channels}); err != nil {
		return err
	}
	b.optional(!l.NoAffine, &l.Weight, Constant(1), l.Channels)
	b.optional(!l.NoAffine, &l.Bias, Constant(0), l.Channels)
	b.Variable(&l.Mean, Constant(0), l.Channels)
	b.Variable(&l.Var, Constant(1), l.Channels)
	b.VariableOf(&l.Count, sinter.I64, Constant(0))
	return nil
}

// Forward normalises x [N, Channels, ...].
func (l *BatchNorm) Forward(x sinter.Tensor, m *Mode) sinter.Tensor {
	at := layer{"BatchNorm", l.path}
	gamma, beta, eps := readIf(!l.NoAffine, l.Weight), readIf(!l.NoAffine, l.Bias), orDefault(l.Eps, 1e-5)
	if !m.training() {
		return at.named(sinter.BatchNorm(x, gamma, beta, read(l.Mean), read(l.Var), eps), x)
	}
	if l.Momentum < 0 || l.Momentum > 1 {
		return at.failf([]sinter.Tensor{x}, "Momentum is %v: want 0 to 1", l.Momentum)
	}
	y, mean, variance := sinter.BatchNormTrain(x, gamma, beta, eps)
	if err := y.Err(); err != nil || l.Mean == nil || l.Var == nil || l.Count == nil {
		if err == nil {
			y = sinter.Fail(errNoWeights)
		}
		return at.named(y, x)
	}
	m.change(l.Count, func(old sinter.Tensor) sinter.Tensor { return old.Add(sinter.Scalar(1)) })
	share := sinter.Scalar(orDefault(l.Momentum, 0.1))
	if l.Cumulative {
		share = m.latest[l.Count].Cast(mean.DType()).Reciprocal()
	}
	moving := func(now sinter.Tensor) func(old sinter.Tensor) sinter.Tensor {
		return func(old sinter.Tensor) sinter.Tensor { return old.Add(now.Cast(old.DType()).Sub(old).Mul(share)) }
	}
	m.change(l.Mean, moving(mean))
	m.change(l.Var, func(old sinter.Tensor) sinter.Tensor {
		n := perChannel(x, old.DType())
		others, one := n.Sub(sinter.Scalar(1)), sinter.Scalar(1)
		sample := variance.Cast(old.DType()).Mul(n.Div(others.Maximum(one)))
		return sinter.Where(others.Less(one), old, moving(sample)(old))
	})
	return y
}

// perChannel is the number of values of each channel.
func perChannel(x sinter.Tensor, dt sinter.DType) sinter.Tensor {
	count := sinter.Ones(dt, x.Dim(0)).Sum()
	for i := 2; i < x.Rank(); i++ {
		count = count.Mul(sinter.Ones(dt, x.Dim(i)).Sum())
	}
	return count
}
