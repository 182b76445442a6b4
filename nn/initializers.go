package nn

import (
	"fmt"
	"math"

	"github.com/sinterml/sinter"
)

// Initializer makes the first values of a variable, from random numbers that
// are its own. The names and formulas are those of torch.nn.init; the fans are
// the sizes of axis 1 (in) and axis 0 (out), times those of all further axes.
type Initializer func(r *sinter.Rand, sizes []int) sinter.Tensor

// Constant is one value everywhere.
func Constant(v float64) Initializer {
	return func(_ *sinter.Rand, sizes []int) sinter.Tensor {
		return sinter.Full(sinter.F32, v, sinter.Dims(sizes...)...)
	}
}

// Uniform lies between lo and hi.
func Uniform(lo, hi float64) Initializer {
	return func(r *sinter.Rand, sizes []int) sinter.Tensor {
		return r.Uniform(sinter.Dims(sizes...)...).Mul(sinter.Scalar(hi - lo)).Add(sinter.Scalar(lo))
	}
}

// Normal has a mean and a standard deviation.
func Normal(mean, std float64) Initializer {
	return func(r *sinter.Rand, sizes []int) sinter.Tensor {
		return r.Normal(sinter.Dims(sizes...)...).Mul(sinter.Scalar(std)).Add(sinter.Scalar(mean))
	}
}

// TruncatedNormal is Normal, drawn again where it falls outside lo to hi.
func TruncatedNormal(mean, std, lo, hi float64) Initializer {
	return func(r *sinter.Rand, sizes []int) sinter.Tensor {
		if !(std > 0 && lo < hi) {
			return sinter.Fail(fmt.Errorf("a normal distribution of deviation %v between %v and %v", std, lo, hi))
		}
		// The inverse of the distribution function, of uniform numbers between its
		// values at the ends.
		from, to := math.Erf((lo-mean)/(std*math.Sqrt2)), math.Erf((hi-mean)/(std*math.Sqrt2))
		x := Uniform(from, to)(r, sizes).Clamp(-maxErf, maxErf)
		return erfinv(x).Mul(sinter.Scalar(std*math.Sqrt2)).Add(sinter.Scalar(mean)).Clamp(lo, hi)
	}
}

// maxErf is the largest f32 below 1.
const maxErf = 1 - 0x1p-24

// erfinv is the inverse of the error function between -1 and 1, to the
// precision of f32: M. Giles, Approximating the erfinv function (2010).
func erfinv(x sinter.Tensor) sinter.Tensor {
	w := sinter.Scalar(1).Sub(x).Mul(sinter.Scalar(1).Add(x)).Log().Neg()
	near := polynomial(w.Sub(sinter.Scalar(2.5)), 2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06,
		0.00021858087, -0.00125372503, -0.00417768164, 0.246640727, 1.50140941)
	far := polynomial(w.Sqrt().Sub(sinter.Scalar(3)), -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844,
		0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682)
	return sinter.Where(w.Less(sinter.Scalar(5)), near, far).Mul(x)
}

// polynomial has the coefficient of the highest power first.
func polynomial(x sinter.Tensor, coefficients ...float64) sinter.Tensor {
	y := sinter.Scalar(0)
	for _, c := range coefficients {
		y = y.Mul(x).Add(sinter.Scalar(c))
	}
	return y
}

// KaimingUniform keeps the variance of what a layer followed by a leaky ReLU of
// that slope gives: uniform up to sqrt(6 / ((1 + slope^2) * fan in)).
func KaimingUniform(slope float64) Initializer {
	return func(r *sinter.Rand, sizes []int) sinter.Tensor {
		in, _ := fans(sizes)
		bound := math.Sqrt(6 / ((1 + slope*slope) * in))
		return Uniform(-bound, bound)(r, sizes)
	}
}

// KaimingNormal is normal with deviation sqrt(2 / ((1 + slope^2) * fan in)).
func KaimingNormal(slope float64) Initializer {
	return func(r *sinter.Rand, sizes []int) sinter.Tensor {
		in, _ := fans(sizes)
		return Normal(0, math.Sqrt(2/((1+slope*slope)*in)))(r, sizes)
	}
}

// XavierUniform is uniform up to gain * sqrt(6 / (fan in + fan out)).
func XavierUniform(gain float64) Initializer {
	return func(r *sinter.Rand, sizes []int) sinter.Tensor {
		in, out := fans(sizes)
		bound := gain * math.Sqrt(6/(in+out))
		return Uniform(-bound, bound)(r, sizes)
	}
}

// XavierNormal is normal with deviation gain * sqrt(2 / (fan in + fan out)).
func XavierNormal(gain float64) Initializer {
	return func(r *sinter.Rand, sizes []int) sinter.Tensor {
		in, out := fans(sizes)
		return Normal(0, gain*math.Sqrt(2/(in+out)))(r, sizes)
	}
}

// Orthogonal is gain times a matrix, axis 0 by all others, whose rows or columns,
// whichever are fewer, are orthogonal and of length 1.
func Orthogonal(gain float64) Initializer {
	return func(r *sinter.Rand, sizes []int) sinter.Tensor {
		if len(sizes) < 2 {
			return sinter.Fail(fmt.Errorf("an orthogonal matrix of shape %v: want two axes or more", sizes))
		}
		rows, columns := sizes[0], 1
		for _, n := range sizes[1:] {
			columns *= n
		}
		x := r.Normal(sinter.Dims(rows, columns)...)
		if rows > columns {
			x = x.T()
		}
		x = orthogonalise(x, math.Sqrt(float64(rows))+math.Sqrt(float64(columns)))
		if rows > columns {
			x = x.T()
		}
		return x.Mul(sinter.Scalar(gain)).Reshape(sizes...)
	}
}

// orthogonalise brings all singular values of a random normal matrix, about
// norm at most, to 1. Each step of Newton and Schulz makes small ones half as
// large again and squares what those near 1 lack; the smallest of a square
// matrix is about norm/rows^2 or more.
func orthogonalise(x sinter.Tensor, norm float64) sinter.Tensor {
	rows, _ := x.Dim(0).Const()
	x = x.Mul(sinter.Scalar(1 / norm))
	steps := 12 + int(2*math.Log(float64(max(rows, 1)))/math.Log(1.5))
	for range steps {
		x = x.Mul(sinter.Scalar(1.5)).Sub(x.MatMul(x.T()).MatMul(x).Mul(sinter.Scalar(0.5)))
	}
	return x
}

// fans are the numbers of values that an output is made of, and that an input
// goes to.
func fans(sizes []int) (in, out float64) {
	in, out = 1, 1
	for i, n := range sizes {
		switch {
		case i == 0:
			out = float64(n)
		case i == 1:
			in = float64(n)
		}
	}
	for _, n := range sizes[min(2, len(sizes)):] {
		in *= float64(n)
		out *= float64(n)
	}
	return max(in, 1), max(out, 1)
}
