package sinter

import "math"

// negative is x where x < 0 and -x elsewhere: -|x| with a gradient at 0, so
// that what is built on it needs no case for 0.
func (x Tensor) negative() Tensor { return Where(x.Less(Scalar(0)), x, x.Neg()) }

// ReLU is x where x > 0, else 0; NaN stays. Its gradient at 0 is 0, at NaN 1.
func (x Tensor) ReLU() Tensor {
	// The last x is for NaN and -0, which stay as they are.
	y := Where(x.Greater(Scalar(0)), x, Where(x.Less(Scalar(0)), x.like(0), x))
	return withGradient(y, []Tensor{x}, reluGradient)
}

// reluGradient needs the result alone, as sigmoidGradient does.
func reluGradient(_ []Tensor, y, dy Tensor) []Tensor {
	return []Tensor{Where(y.LessEqual(Scalar(0)), dy.like(0), dy)}
}

// LeakyReLU is x where x > 0, else slope*x.
func (x Tensor) LeakyReLU(slope float64) Tensor {
	return Where(x.Greater(Scalar(0)), x, x.Mul(Scalar(slope)))
}

// Activations of several steps compute half types in F32, and round once.

// ELU is x where x > 0, else alpha*(e^x - 1).
func (x Tensor) ELU(alpha float64) Tensor {
	return x.float("ELU", func(x Tensor) Tensor {
		positive := x.Greater(Scalar(0))
		// The unused branch is kept from overflowing: its gradient would be NaN.
		return Where(positive, x, Where(positive, x.like(0), x).Expm1().Mul(Scalar(alpha)))
	})
}

// Sigmoid is y = 1/(1 + e^-x). Its gradient is y*(1-y), as in PyTorch: 0 where y is
// rounded to 1, in F32 for x above 17.
func (x Tensor) Sigmoid() Tensor {
	return x.float("Sigmoid", func(x Tensor) Tensor {
		// e^-|x| does not overflow, nor does its gradient.
		e := x.negative().Exp()
		y := Where(x.Less(Scalar(0)), e, x.like(1)).Div(e.Add(Scalar(1)))
		return withGradient(y, []Tensor{x}, sigmoidGradient)
	})
}

// sigmoidGradient needs the result alone: what it is made of is not kept.
func sigmoidGradient(_ []Tensor, y, dy Tensor) []Tensor {
	return []Tensor{dy.Mul(y.Mul(Scalar(1).Sub(y)))}
}

// LogSigmoid is log(Sigmoid(x)).
func (x Tensor) LogSigmoid() Tensor { return x.Neg().Softplus().Neg() }

// SiLU is x*Sigmoid(x), also called swish.
func (x Tensor) SiLU() Tensor {
	return x.float("SiLU", func(x Tensor) Tensor { return x.Mul(x.Sigmoid()) })
}

// Softplus is log(1 + e^x).
func (x Tensor) Softplus() Tensor {
	return x.float("Softplus", func(x Tensor) Tensor {
		positive := Where(x.Less(Scalar(0)), x.like(0), x)
		return positive.Add(x.negative().Exp().Log1p())
	})
}

// Mish is x*tanh(Softplus(x)).
func (x Tensor) Mish() Tensor {
	return x.float("Mish", func(x Tensor) Tensor { return x.Mul(x.Softplus().Tanh()) })
}

// GELU is x*Phi(x) with the normal distribution function Phi, by erf.
func (x Tensor) GELU() Tensor {
	return x.float("GELU", func(x Tensor) Tensor {
		phi := x.Mul(Scalar(math.Sqrt2 / 2)).Erf().Add(Scalar(1))
		return x.Mul(Scalar(0.5)).Mul(phi)
	})
}

// GELUTanh is GELU's approximation by tanh (Hendrycks and Gimpel, 2016).
func (x Tensor) GELUTanh() Tensor {
	return x.float("GELUTanh", func(x Tensor) Tensor {
		cubic := x.Mul(x).Mul(x).Mul(Scalar(0.044715))
		inner := x.Add(cubic).Mul(Scalar(math.Sqrt(2 / math.Pi)))
		return x.Mul(Scalar(0.5)).Mul(inner.Tanh().Add(Scalar(1)))
	})
}

// HardSigmoid is x/6 + 1/2 between 0 and 1.
func (x Tensor) HardSigmoid() Tensor {
	return x.float("HardSigmoid", func(x Tensor) Tensor { return x.Add(Scalar(3)).Clamp(0, 6).Mul(Scalar(1.0 / 6)) })
}

// HardSwish is x*HardSigmoid(x).
func (x Tensor) HardSwish() Tensor {
	return x.float("HardSwish", func(x Tensor) Tensor { return x.Mul(x.HardSigmoid()) })
}
