package sinter

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// Normalisations take gamma and beta, a factor and a summand after it, of x's type
// or, where that is a half type, of F32; the zero Tensor is none. eps keeps the variance
// from being 0. Of half types all is computed in F32 and rounded once.

// LayerNorm brings the last axes of x to mean 0 and variance 1: as many as
// gamma has, or one without gamma.
func LayerNorm(x, gamma, beta Tensor, eps float64) Tensor {
	axes, bad := lastAxes(x, gamma)
	if axes == nil {
		return bad
	}
	return x.norm("LayerNorm", func(y Tensor, p []Tensor) Tensor { return y.normalize(eps, axes).affine(p[0], p[1]) }, gamma, beta)
}

// RMSNorm divides x by the root of its mean square over the last axes: as many
// as gamma has, or one without gamma.
func RMSNorm(x, gamma Tensor, eps float64) Tensor {
	axes, bad := lastAxes(x, gamma)
	if axes == nil {
		return bad
	}
	return x.norm("RMSNorm", func(y Tensor, p []Tensor) Tensor {
		return y.Mul(y.Square().MeanKeep(axes...).Add(Scalar(eps)).Rsqrt()).affine(p[0], Tensor{})
	}, gamma)
}

// lastAxes are the axes that gamma covers; nil with the tensor of the error.
func lastAxes(x, gamma Tensor) ([]int, Tensor) {
	if bad, ok := firstErr(x); ok {
		return nil, bad
	}
	n := 1
	if gamma.v != nil {
		n = max(1, len(gamma.v.Shape))
	}
	if n > len(x.v.Shape) {
		return nil, failf([]Tensor{x}, "rank %d lacks the %d axes to normalize", len(x.v.Shape), n)
	}
	axes := make([]int, n)
	for i := range axes {
		axes[i] = i - n
	}
	return axes, Tensor{}
}

// normalize brings x to mean 0 and variance 1 over axes.
func (x Tensor) normalize(eps float64, axes []int) Tensor {
	d, variance := x.centred(x.MeanKeep(axes...), axes)
	return d.Mul(variance.Add(Scalar(eps)).Rsqrt())
}

// centred is x less its mean over axes, and its variance. A mean is rounded: by much,
// beside the distances of numbers that are equal, or close together and far from 0. So
// what is left of it, found in the pass that sums the squares, is taken off as well.
func (x Tensor) centred(mean Tensor, axes []int) (d, variance Tensor) {
	d = x.Sub(mean)
	rest := d.MeanKeep(axes...).Detach()
	variance = d.Square().MeanKeep(axes...).Sub(rest.Square()).Maximum(Scalar(0)) // rounded it may be negative
	return d.Sub(rest), variance
}

// norm is float with params, each of which may be absent: of x's type, or of F32 beside a
// half type. f gets them in the type that it computes in.
func (x Tensor) norm(name string, f func(x Tensor, params []Tensor) Tensor, params ...Tensor) Tensor {
	for _, p := range params {
		if p.v == nil {
			continue
		}
		if bad, ok := firstErr(x, p); ok {
			return bad
		}
		if dt := x.v.DType; p.v.DType != dt && !(p.v.DType == F32 && (dt == F16 || dt == BF16)) {
			return failf([]Tensor{x, p}, "%s of %v has a parameter of %v: use Cast", name, dt, p.v.DType)
		}
	}
	return x.float(name, func(x Tensor) Tensor {
		same := slices.Clone(params)
		for i, p := range same {
			if p.v != nil {
				same[i] = p.Cast(x.v.DType)
			}
		}
		return f(x, same)
	})
}

// affine is x*gamma + beta, either of which may be absent.
func (x Tensor) affine(gamma, beta Tensor) Tensor {
	if gamma.v != nil {
		x = x.Mul(gamma)
	}
	if beta.v != nil {
		x = x.Add(beta)
	}
	return x
}

// channelAffine is affine with values for each channel of x [N, C, ...].
func (x Tensor) channelAffine(gamma, beta Tensor) Tensor {
	if gamma.v != nil {
		gamma = gamma.channels(x)
	}
	if beta.v != nil {
		beta = beta.channels(x)
	}
	return x.affine(gamma, beta)
}

// GroupNorm brings groups of neighbouring channels of x [N, C, spatial...] to
// mean 0 and variance 1. With as many groups as channels it is instance norm.
func GroupNorm(x Tensor, groups int, gamma, beta Tensor, eps float64) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	s := x.v.Shape
	if len(s) < 2 {
		return failf([]Tensor{x}, "rank %d, want [N, C, spatial...]", len(s))
	}
	each, ok := s[1].Div(N(groups))
	if !ok || groups < 1 {
		return failf([]Tensor{x}, "%v channels do not divide into %d groups", s[1], groups)
	}
	rows := ir.Shape{s[0], N(groups), each.Mul(ir.Shape(s[2:]).Numel())}
	return x.norm("GroupNorm", func(y Tensor, p []Tensor) Tensor {
		return y.reshape(rows).normalize(eps, []int{-1}).reshape(s).channelAffine(p[0], p[1])
	}, gamma, beta)
}

// BatchNorm brings each channel of x [N, C, spatial...] from a known mean and
// variance to 0 and 1.
func BatchNorm(x, gamma, beta, mean, variance Tensor, eps float64) Tensor {
	if bad, ok := firstErr(x, mean, variance); ok {
		return bad
	}
	return x.norm("BatchNorm", func(x Tensor, p []Tensor) Tensor {
		scale := p[3].channels(x).Add(Scalar(eps)).Rsqrt()
		return x.Sub(p[2].channels(x)).Mul(scale).channelAffine(p[0], p[1])
	}, gamma, beta, mean, variance)
}

// BatchNormTrain is BatchNorm by the mean and the variance of x itself, which
// it also gives. The variance is that of a population: divided by the number
// of values.
func BatchNormTrain(x, gamma, beta Tensor, eps float64) (y, mean, variance Tensor) {
	if bad, ok := firstErr(x); ok {
		return bad, bad, bad
	}
	if len(x.v.Shape) < 2 {
		bad := failf([]Tensor{x}, "rank %d, want [N, C, spatial...]", len(x.v.Shape))
		return bad, bad, bad
	}
	axes := []int{0}
	for i := 2; i < len(x.v.Shape); i++ {
		axes = append(axes, i)
	}
	var m, v Tensor
	y = x.norm("BatchNormTrain", func(x Tensor, p []Tensor) Tensor {
		var d Tensor
		m = x.MeanKeep(axes...)
		d, v = x.centred(m, axes)
		return d.Mul(v.Add(Scalar(eps)).Rsqrt()).channelAffine(p[0], p[1])
	}, gamma, beta)
	if bad, ok := firstErr(y); ok {
		return bad, bad, bad
	}
	dt := x.v.DType
	return y, m.Cast(dt).drop(slices.Clone(axes)), v.Cast(dt).drop(slices.Clone(axes))
}
