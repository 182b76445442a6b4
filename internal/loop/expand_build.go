package loop

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
)

// real, whole and truth are values of f32 or f64, of integers of the same width
// and of bool: Exprs under types that keep formulas short and apart. Each method
// is one operation unless it says more.
type (
	real  struct{ e *Expr }
	whole struct{ e *Expr }
	truth struct{ e *Expr }
)

// toReal and as convert from and to the float types that are computed in f32.
func toReal(e *Expr) real {
	if d := e.DType.Compute(); e.DType != d {
		e = Apply(ir.Cast, d, e)
	}
	return real{e}
}

func (x real) as(d ir.DType) *Expr {
	if d == x.e.DType {
		return x.e
	}
	return Apply(ir.Cast, d, x.e)
}

func num(v float32) real  { return real{Const(ir.F32, uint64(math.Float32bits(v)))} }
func word(v uint32) whole { return whole{Const(ir.I32, uint64(v))} }

// double and long are num and word of 64 bits.
func double(v float64) real { return real{Const(ir.F64, math.Float64bits(v))} }
func long(v uint64) whole   { return whole{Const(ir.I64, v)} }

// wide is true in f64.
func (x real) wide() bool { return x.e.DType == ir.F64 }

// num is a constant of x's type, exact in it.
func (x real) num(v float64) real {
	if x.wide() {
		return double(v)
	}
	return num(float32(v))
}

// int is a constant as wide as x: one of two widths' patterns.
func (x real) int(narrow uint32, wide uint64) whole {
	if x.wide() {
		return long(wide)
	}
	return word(narrow)
}

var (
	posInf = math.Inf(1)
	negInf = math.Inf(-1)
	nan    = math.NaN()
)

func (x real) op(op ir.Op, args ...real) real {
	all := []*Expr{x.e}
	for _, a := range args {
		all = append(all, a.e)
	}
	return real{Apply(op, x.e.DType, all...)}
}

func (x real) plus(y real) real    { return x.op(ir.Add, y) }
func (x real) minus(y real) real   { return x.op(ir.Sub, y) }
func (x real) times(y real) real   { return x.op(ir.Mul, y) }
func (x real) over(y real) real    { return x.op(ir.Div, y) }
func (x real) fma(y, z real) real  { return x.op(ir.FMA, y, z) } // x*y + z, of f32
func (x real) neg() real           { return x.op(ir.Neg) }       // free as an operand of fma
func (x real) abs() real           { return x.op(ir.Abs) }
func (x real) round() real         { return x.op(ir.Round) }
func (x real) floor() real         { return x.op(ir.Floor) }
func (x real) less(y real) truth   { return truth{Apply(ir.Less, ir.Bool, x.e, y.e)} }
func (x real) equals(y real) truth { return truth{Apply(ir.Equal, ir.Bool, x.e, y.e)} }

// scale is x*2^n for x near 1, rounded once. See Apply.
func (x real) scale(n real) real { return x.op(ir.Shl, n) }

// atLeast and atMost clamp; NaN stays. Against a constant that is not 0 they
// are one instruction.
func (x real) atLeast(c float64) real { return x.op(ir.Max, x.num(c)) }
func (x real) atMost(c float64) real  { return x.op(ir.Min, x.num(c)) }

// bits and real look at the same bits as the other type, for free.
func (x real) bits() whole {
	if x.wide() {
		return whole{Apply(ir.Bitcast, ir.I64, x.e)}
	}
	return whole{Apply(ir.Bitcast, ir.I32, x.e)}
}
func (x whole) float() ir.DType {
	if x.e.DType == ir.I64 {
		return ir.F64
	}
	return ir.F32
}
func (x whole) real() real { return real{Apply(ir.Bitcast, x.float(), x.e)} }

func (x whole) op(op ir.Op, y whole) whole { return whole{Apply(op, x.e.DType, x.e, y.e)} }

func (x whole) plus(y whole) whole  { return x.op(ir.Add, y) }
func (x whole) minus(y whole) whole { return x.op(ir.Sub, y) }
func (x whole) and(y whole) whole   { return x.op(ir.And, y) }
func (x whole) or(y whole) whole    { return x.op(ir.Or, y) }
func (x whole) xor(y whole) whole   { return x.op(ir.Xor, y) }
func (x whole) shl(n uint64) whole  { return x.op(ir.Shl, whole{Const(x.e.DType, n)}) }
func (x whole) shr(n uint64) whole  { return x.op(ir.Shr, whole{Const(x.e.DType, n)}) }
func (x whole) value() real         { return real{Apply(ir.Cast, x.float(), x.e)} }

func (x whole) less(y whole) truth { return truth{Apply(ir.Less, ir.Bool, x.e, y.e)} }
func (x whole) equals(n uint64) truth {
	return truth{Apply(ir.Equal, ir.Bool, x.e, Const(x.e.DType, n))}
}

// pick is yes where c, else no.
func (c truth) pick(yes, no real) real { return real{Apply(ir.Where, yes.e.DType, c.e, yes.e, no.e)} }

// sign is the highest bit of x alone: two operations, the first for free.
func (x real) sign() whole { return x.bits().and(x.int(1<<31, 1<<63)) }

// signed gives x, not negative or of the same sign as s, the sign of s.
func (x real) signed(s real) real { return x.bits().or(s.sign()).real() }

// poly is the polynomial in x with these coefficients, lowest first. In f64
// each step is two operations.
func (x real) poly(c ...float64) real {
	p := x.num(c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		p = p.timesPlus(x, x.num(c[i]))
	}
	return p
}

// sum is x+y and its rounding error, exact where x is a multiple of the last
// place of y, e.g. where |x| >= |y| (Dekker; Rump, Ogita and Oishi, "Accurate
// floating-point summation", 2008, lemma 2.6).
func (x real) sum(y real) (s, err real) {
	s = x.plus(y)
	return s, y.minus(s.minus(x))
}

// halves are x and, of f64, two numbers of 26 bits and a sign that it is the sum
// of: products of those are exact.
type halves struct{ x, hi, lo real }

func (x real) halves() halves {
	if !x.wide() {
		return halves{x: x}
	}
	hi := x.bits().plus(long(1 << 26)).and(long(^uint64(1<<27 - 1))).real()
	return halves{x, hi, x.minus(hi)}
}

// product is x*y and its rounding error: in f32 by a fused multiply-add, in f64
// by products of halves (Dekker).
func (x halves) product(y halves) (p, err real) {
	p = x.x.times(y.x)
	if !p.wide() {
		return p, x.x.fma(y.x, p.neg())
	}
	err = x.hi.times(y.hi).minus(p).plus(x.hi.times(y.lo)).plus(x.lo.times(y.hi))
	return p, err.plus(x.lo.times(y.lo))
}

func (x real) product(y real) (p, err real) { return x.halves().product(y.halves()) }

// timesPlus is x*y + z, rounded once in f32.
func (x real) timesPlus(y, z real) real {
	if x.wide() {
		return x.times(y).plus(z)
	}
	return x.fma(y, z)
}

// fraction is x less the nearest integer.
func (x real) fraction() real { return x.minus(x.round()) }
