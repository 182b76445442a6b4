package sinter

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
)

func (x Tensor) unary(op ir.Op) Tensor { return apply(op, ir.Attr{}, x) }

// Neg is -x.
func (x Tensor) Neg() Tensor { return x.unary(ir.Neg) }

// Abs is |x|.
func (x Tensor) Abs() Tensor { return x.unary(ir.Abs) }

// Reciprocal is 1/x.
func (x Tensor) Reciprocal() Tensor { return x.unary(ir.Recip) }

// Sqrt is the square root.
func (x Tensor) Sqrt() Tensor { return x.unary(ir.Sqrt) }

// Rsqrt is 1/sqrt(x).
func (x Tensor) Rsqrt() Tensor { return x.Sqrt().Reciprocal() }

// Square is x*x.
func (x Tensor) Square() Tensor { return x.Mul(x) }

// Exp is e^x.
func (x Tensor) Exp() Tensor { return x.unary(ir.Exp) }

// Exp2 is 2^x.
func (x Tensor) Exp2() Tensor { return x.unary(ir.Exp2) }

// Expm1 is e^x - 1, accurate near 0.
func (x Tensor) Expm1() Tensor { return x.unary(ir.Expm1) }

// Log is the natural logarithm.
func (x Tensor) Log() Tensor { return x.unary(ir.Log) }

// Log2 is the logarithm to base 2.
func (x Tensor) Log2() Tensor { return x.unary(ir.Log2) }

// Log1p is log(1+x), accurate near 0.
func (x Tensor) Log1p() Tensor { return x.unary(ir.Log1p) }

// Sin is the sine of radians.
func (x Tensor) Sin() Tensor { return x.unary(ir.Sin) }

// Cos is the cosine of radians.
func (x Tensor) Cos() Tensor { return x.unary(ir.Cos) }

// Tan is the tangent of radians.
func (x Tensor) Tan() Tensor { return x.Sin().Div(x.Cos()) }

// Atan is the arc tangent in radians.
func (x Tensor) Atan() Tensor { return x.unary(ir.Atan) }

// Tanh is the hyperbolic tangent.
func (x Tensor) Tanh() Tensor { return x.unary(ir.Tanh) }

// Erf is the error function.
func (x Tensor) Erf() Tensor { return x.unary(ir.Erf) }

// Floor rounds towards -Inf.
func (x Tensor) Floor() Tensor { return x.unary(ir.Floor) }

// Ceil rounds towards +Inf.
func (x Tensor) Ceil() Tensor { return x.Neg().Floor().Neg() }

// Trunc rounds towards zero.
func (x Tensor) Trunc() Tensor { return x.unary(ir.Trunc) }

// Round rounds to the nearest whole number, half to even.
func (x Tensor) Round() Tensor { return x.unary(ir.Round) }

// Sign is -1, 0 or 1; 0 for NaN. Its gradient is 0.
func (x Tensor) Sign() Tensor {
	zero, one := x.like(0), x.like(1)
	y := Where(x.Greater(zero), one, Where(x.Less(zero), one.Neg(), zero))
	return withGradient(y, []Tensor{x}, func([]Tensor, Tensor, Tensor) []Tensor { return []Tensor{{}} })
}

// Sinh is the hyperbolic sine.
func (x Tensor) Sinh() Tensor {
	// (e^x - e^-x)/2 = (t + t/(t+1))/2 with t = e^|x| - 1, which does not
	// cancel near 0. Far out e^|x| may overflow where the result does not.
	a := x.Abs()
	t := a.Expm1()
	near := t.Add(t.Div(t.Add(Scalar(1)))).Mul(Scalar(0.5))
	h := Where(a.Less(Scalar(hyperbolicFar(x.DType()))), near, halfExp(a))
	signed := Where(x.Less(Scalar(0)), h.Neg(), h)
	y := Where(x.Equal(Scalar(0)), x, signed) // x itself keeps -0
	// The branches not taken are infinite far out, and |x| has no slope at 0.
	return withGradient(y, []Tensor{x}, func(in []Tensor, y, dy Tensor) []Tensor {
		return []Tensor{dy.Mul(in[0].Cosh())}
	})
}

// Cosh is the hyperbolic cosine.
func (x Tensor) Cosh() Tensor {
	a := x.Abs()
	e := a.Exp()
	near := e.Add(e.Reciprocal()).Mul(Scalar(0.5))
	y := Where(a.Less(Scalar(hyperbolicFar(x.DType()))), near, halfExp(a))
	return withGradient(y, []Tensor{x}, func(in []Tensor, y, dy Tensor) []Tensor {
		return []Tensor{dy.Mul(in[0].Sinh())}
	})
}

// hyperbolicFar is where e^-x is lost beside e^x and e^x is still in range.
func hyperbolicFar(dt DType) float64 {
	if dt == F16 {
		return 8
	}
	return 20
}

// halfExp is e^x/2 without overflow before the result does.
func halfExp(x Tensor) Tensor {
	h := x.Mul(Scalar(0.5)).Exp()
	return h.Mul(Scalar(0.5)).Mul(h)
}

// Add is x + y.
func (x Tensor) Add(y Tensor) Tensor { return pointwise(ir.Add, x, y) }

// Sub is x - y.
func (x Tensor) Sub(y Tensor) Tensor { return pointwise(ir.Sub, x, y) }

// Mul is x * y, element by element.
func (x Tensor) Mul(y Tensor) Tensor { return pointwise(ir.Mul, x, y) }

// Div is x / y for floats. For integers see FloorDiv.
func (x Tensor) Div(y Tensor) Tensor { return pointwise(ir.Div, x, y) }

// FloorDiv is floor(x / y). For integers a zero in y is an error of the run.
func (x Tensor) FloorDiv(y Tensor) Tensor {
	if whole(x, y) {
		return pointwise(ir.IDiv, x, y)
	}
	return x.Div(y).Floor()
}

// Mod is x - y*floor(x/y), which has the sign of y. For integers a zero in y
// is an error of the run. Of floats x/y has to be a number whose fraction the
// dtype can hold, below 2^24 for F32: beyond, the remainder is lost.
func (x Tensor) Mod(y Tensor) Tensor {
	if whole(x, y) {
		return pointwise(ir.Mod, x, y)
	}
	zero, q := Scalar(0), x.FloorDiv(y)
	r := x.Sub(Where(q.Equal(zero), Scalar(1), y).Mul(q)) // infinity times 0 is NaN
	// Next to a multiple of y rounding may leave r on the other side of 0.
	beyond := r.Less(zero).Xor(y.Less(zero)).And(r.NotEqual(zero))
	return Where(beyond, r.Add(y), r)
}

// whole tells whether an operation on x and y is one on integers or bools: a
// scalar does not decide that.
func whole(x, y Tensor) bool {
	for _, v := range []*value{x.load(), y.load()} {
		if v.err == nil && !v.scalar && !v.DType.IsFloat() {
			return true
		}
	}
	return false
}

// Pow is x^y.
func (x Tensor) Pow(y Tensor) Tensor { return pointwise(ir.Pow, x, y) }

// FMA is x*y + z, rounded once.
func (x Tensor) FMA(y, z Tensor) Tensor { return pointwise(ir.FMA, x, y, z) }

// Minimum is the smaller of x and y; NaN if either is.
func (x Tensor) Minimum(y Tensor) Tensor { return pointwise(ir.Min, x, y) }

// Maximum is the larger of x and y; NaN if either is.
func (x Tensor) Maximum(y Tensor) Tensor { return pointwise(ir.Max, x, y) }

// Clamp brings x between lo and hi; NaN stays.
func (x Tensor) Clamp(lo, hi float64) Tensor {
	if math.IsNaN(lo) || math.IsNaN(hi) || lo > hi {
		return failf([]Tensor{x}, "no value lies between %v and %v", lo, hi)
	}
	// Selects, unlike Minimum and Maximum, let the gradient through at the
	// bounds themselves.
	x = Where(x.Less(Scalar(lo)), x.like(lo), x)
	return Where(x.Greater(Scalar(hi)), x.like(hi), x)
}

// And is x & y, bit by bit or of bools.
func (x Tensor) And(y Tensor) Tensor { return pointwise(ir.And, x, y) }

// Or is x | y, bit by bit or of bools.
func (x Tensor) Or(y Tensor) Tensor { return pointwise(ir.Or, x, y) }

// Xor is x ^ y, bit by bit or of bools.
func (x Tensor) Xor(y Tensor) Tensor { return pointwise(ir.Xor, x, y) }

// Not inverts every bit, or a bool.
func (x Tensor) Not() Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	if x.v.DType == Bool {
		return x.Xor(constant(Bool, 1))
	}
	if !x.v.DType.IsInt() {
		return failf([]Tensor{x}, "takes integers or bool, not %v: use Cast", x.v.DType)
	}
	ones := ^uint64(0) >> (64 - 8*x.v.DType.Size())
	return x.Xor(apply(ir.Const, ir.Attr{DType: x.v.DType, Value: ones}))
}

// Shl is x << y; 0 past the width.
func (x Tensor) Shl(y Tensor) Tensor { return pointwise(ir.Shl, x, y) }

// Shr is x >> y, which repeats the sign of signed types; 0 past the width.
func (x Tensor) Shr(y Tensor) Tensor { return pointwise(ir.Shr, x, y) }

// Less is x < y, as Bool; false for NaN.
func (x Tensor) Less(y Tensor) Tensor { return pointwise(ir.Less, x, y) }

// Greater is x > y, as Bool; false for NaN.
func (x Tensor) Greater(y Tensor) Tensor { return pointwise(ir.Less, y, x) }

// Equal is x == y, as Bool; false for NaN.
func (x Tensor) Equal(y Tensor) Tensor { return pointwise(ir.Equal, x, y) }

// NotEqual is x != y, as Bool; true for NaN.
func (x Tensor) NotEqual(y Tensor) Tensor { return x.Equal(y).Not() }

// LessEqual is x <= y, as Bool; false for NaN.
func (x Tensor) LessEqual(y Tensor) Tensor {
	if whole(x, y) {
		return y.Less(x).Not()
	}
	return x.Less(y).Or(x.Equal(y))
}

// GreaterEqual is x >= y, as Bool; false for NaN.
func (x Tensor) GreaterEqual(y Tensor) Tensor { return y.LessEqual(x) }

// IsNaN tells which elements are NaN.
func (x Tensor) IsNaN() Tensor { return x.NotEqual(x) }

// IsInf tells which elements are infinite.
func (x Tensor) IsInf() Tensor { return x.Abs().Equal(Scalar(math.Inf(1))) }

// IsFinite tells which elements are neither infinite nor NaN.
func (x Tensor) IsFinite() Tensor { return x.Abs().Less(Scalar(math.Inf(1))) }

// Where takes from x where cond, a Bool, is true, else from y.
func Where(cond, x, y Tensor) Tensor {
	if bad, ok := firstErr(cond, x, y); ok {
		return bad
	}
	xy := adapt(x, y)
	if bad, ok := firstErr(xy...); ok {
		return bad
	}
	all := append([]Tensor{cond}, xy...)
	wide, err := broadcast(all...)
	if err != nil {
		return fail(err, all...)
	}
	return applyTo(all, ir.Where, ir.Attr{}, wide...)
}

// Cast converts to another type. Floats are rounded to the nearest; from float
// to integer values are cut towards zero and saturate, NaN gives 0; integers
// wrap; to Bool all but 0 is true.
func (x Tensor) Cast(dt DType) Tensor {
	v := x.load()
	if v.err == nil && v.scalar {
		if c := constant(dt, v.number); c.Err() == nil {
			return c // with all digits, not by way of F32
		}
	}
	if v.err == nil && v.DType == dt {
		return x
	}
	if err := checkDType(dt); v.err == nil && err != nil {
		return fail(err, x)
	}
	return apply(ir.Cast, ir.Attr{DType: dt}, x)
}

// Bitcast takes the bits for another type of that size.
func (x Tensor) Bitcast(dt DType) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	if err := checkDType(dt); err != nil {
		return fail(err, x)
	}
	return apply(ir.Bitcast, ir.Attr{DType: dt}, x)
}

// Detach is x, through which no gradient flows.
func (x Tensor) Detach() Tensor {
	if x.DType() == Bool {
		return x // through which none flows anyway
	}
	return x.Bitcast(x.DType())
}
