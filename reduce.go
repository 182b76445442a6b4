package sinter

import (
	"fmt"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// Reductions take axes, which count from the end if negative; none means all.
// The axes leave the result; in the variants called ...Keep they stay, with
// size 1.

// reduce records a reduction over checked axes.
func (x Tensor) reduce(op ir.Op, keep bool, axes []int) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	ax, err := x.axes(axes)
	if err != nil {
		return fail(err, x)
	}
	y := apply(op, ir.Attr{Axes: ax}, x)
	if keep {
		return y
	}
	return y.drop(ax)
}

// drop removes axes of size 1, which are sorted.
func (x Tensor) drop(axes []int) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	shape := make(ir.Shape, 0, len(x.v.Shape))
	for i, d := range x.v.Shape {
		if !slices.Contains(axes, i) {
			shape = append(shape, d)
		}
	}
	return x.reshape(shape)
}

// unless drops the axes of a reduction that kept them, or keeps them.
func (x Tensor) unless(keep bool, axes []int) Tensor {
	if bad, ok := firstErr(x); ok || keep {
		if ok {
			return bad
		}
		return x
	}
	ax, err := x.axes(axes)
	if err != nil {
		return fail(err, x)
	}
	return x.drop(ax)
}

// Sum adds over axes; integers keep their dtype and wrap.
func (x Tensor) Sum(axes ...int) Tensor { return x.reduce(ir.ReduceSum, false, axes) }

// SumKeep is Sum that keeps the axes.
func (x Tensor) SumKeep(axes ...int) Tensor { return x.reduce(ir.ReduceSum, true, axes) }

// Prod multiplies over axes.
func (x Tensor) Prod(axes ...int) Tensor { return x.reduce(ir.ReduceProd, false, axes) }

// ProdKeep is Prod that keeps the axes.
func (x Tensor) ProdKeep(axes ...int) Tensor { return x.reduce(ir.ReduceProd, true, axes) }

// Max is the largest over axes; NaN if any is. Over nothing it is an error.
func (x Tensor) Max(axes ...int) Tensor { return x.reduce(ir.ReduceMax, false, axes) }

// MaxKeep is Max that keeps the axes.
func (x Tensor) MaxKeep(axes ...int) Tensor { return x.reduce(ir.ReduceMax, true, axes) }

// Min is the smallest over axes; NaN if any is. Over nothing it is an error.
func (x Tensor) Min(axes ...int) Tensor { return x.reduce(ir.ReduceMin, false, axes) }

// MinKeep is Min that keeps the axes.
func (x Tensor) MinKeep(axes ...int) Tensor { return x.reduce(ir.ReduceMin, true, axes) }

// ArgMax is the index (I64) of the first largest along an axis, or of the
// first NaN.
func (x Tensor) ArgMax(axis int) Tensor { return x.reduce(ir.ArgMax, false, []int{axis}) }

// ArgMin is the index (I64) of the first smallest along an axis, or of the
// first NaN.
func (x Tensor) ArgMin(axis int) Tensor { return x.reduce(ir.ArgMin, false, []int{axis}) }

// Any tells whether any element over axes is not 0.
func (x Tensor) Any(axes ...int) Tensor {
	return x.Cast(Bool).Cast(I32).Sum(axes...).NotEqual(Scalar(0))
}

// All tells whether all elements over axes are not 0.
func (x Tensor) All(axes ...int) Tensor { return x.Cast(Bool).Not().Any(axes...).Not() }

// Mean is the average over axes, of floats.
func (x Tensor) Mean(axes ...int) Tensor { return x.MeanKeep(axes...).unless(false, axes) }

// MeanKeep is Mean that keeps the axes.
func (x Tensor) MeanKeep(axes ...int) Tensor {
	return x.float("Mean", func(x Tensor) Tensor { return x.average(0, axes) })
}

// Var is the variance over axes: the squared distances from the mean, summed
// and divided by their number less correction (0: of a population, 1: of a
// sample), or by 0 where that is negative.
func (x Tensor) Var(correction int, axes ...int) Tensor {
	return x.VarKeep(correction, axes...).unless(false, axes)
}

// VarKeep is Var that keeps the axes.
func (x Tensor) VarKeep(correction int, axes ...int) Tensor {
	return x.float("Var", func(x Tensor) Tensor {
		// A mean is rounded: by much, beside the distances of numbers that lie close
		// together and far from 0. So what is left of it is taken off as well.
		d := x.Sub(x.average(0, axes))
		return d.Sub(d.average(0, axes).Detach()).Square().average(correction, axes)
	})
}

// Std is the square root of Var. Where all are equal its gradient is 0.
func (x Tensor) Std(correction int, axes ...int) Tensor {
	return x.StdKeep(correction, axes...).unless(false, axes)
}

// StdKeep is Std that keeps the axes.
func (x Tensor) StdKeep(correction int, axes ...int) Tensor {
	return x.float("Std", func(x Tensor) Tensor { return x.VarKeep(correction, axes...).deviation() })
}

// deviation is the root of a variance, with gradient 0 at 0.
func (x Tensor) deviation() Tensor {
	none := x.Equal(Scalar(0))
	return Where(none, x, Where(none, x.like(1), x).Sqrt())
}

// average sums over axes and divides by their size less correction, if that is
// positive, else by 0.
func (x Tensor) average(correction int, axes []int) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	ax, err := x.axes(axes)
	if err != nil {
		return fail(err, x)
	}
	n := N(1)
	for _, a := range ax {
		n = n.Mul(x.v.Shape[a])
	}
	if all, ok := n.Const(); ok {
		n, correction = N(max(0, all-correction)), 0
	}
	size := x.size(n)
	if correction != 0 {
		size = size.Sub(Scalar(float64(correction))).Maximum(Scalar(0))
	}
	return x.SumKeep(axes...).Div(size)
}

// size is the number d as a tensor of x's dtype. One with symbols is the sum
// of so many ones.
func (x Tensor) size(d Dim) Tensor {
	if n, ok := d.Const(); ok {
		return x.like(float64(n))
	}
	return Ones(x.v.DType, d).Sum()
}

// LogSumExp is log(sum(e^x)) over axes, without overflow.
func (x Tensor) LogSumExp(axes ...int) Tensor { return x.LogSumExpKeep(axes...).unless(false, axes) }

// LogSumExpKeep is LogSumExp that keeps the axes.
func (x Tensor) LogSumExpKeep(axes ...int) Tensor {
	return x.float("LogSumExp", func(x Tensor) Tensor {
		m := x.MaxKeep(axes...).Detach()
		m = Where(m.IsInf(), x.like(0), m) // Inf - Inf is NaN
		return x.Sub(m).Exp().SumKeep(axes...).Log().Add(m)
	})
}

// Softmax is e^x divided by its sum along an axis.
func (x Tensor) Softmax(axis int) Tensor {
	return x.float("Softmax", func(x Tensor) Tensor {
		e := x.Sub(x.MaxKeep(axis).Detach()).Exp()
		return e.Mul(e.SumKeep(axis).Reciprocal()) // one division a row, not one an element
	})
}

// LogSoftmax is log(Softmax(x)) along an axis.
func (x Tensor) LogSoftmax(axis int) Tensor {
	return x.float("LogSoftmax", func(x Tensor) Tensor {
		shifted := x.Sub(x.MaxKeep(axis).Detach())
		return shifted.Sub(shifted.Exp().SumKeep(axis).Log())
	})
}

// float runs f, which takes floats. The half types are too coarse for what
// lies between, so that is F32.
func (x Tensor) float(name string, f func(Tensor) Tensor) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	dt := x.v.DType
	switch {
	case !dt.IsFloat():
		return fail(fmt.Errorf("%s takes floats, not %v: use Cast", name, dt), x)
	case dt == F16 || dt == BF16:
		return f(x.Cast(F32)).Cast(dt)
	}
	return f(x)
}

// CumSum is the running sum along an axis.
func (x Tensor) CumSum(axis int) Tensor { return x.scan("sum", axis) }

// CumProd is the running product along an axis.
func (x Tensor) CumProd(axis int) Tensor { return x.scan("prod", axis) }

// CumMax is the running maximum along an axis.
func (x Tensor) CumMax(axis int) Tensor { return x.scan("max", axis) }

func (x Tensor) scan(mode string, axis int) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	ax, err := x.axis(axis)
	if err != nil {
		return fail(err, x)
	}
	return apply(ir.Scan, ir.Attr{Axes: []int{ax}, Mode: mode}, x)
}
