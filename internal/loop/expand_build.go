package loop

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
)

// real, whole and truth are values of f32, i32 and bool: Exprs under types
// that keep formulas short and apart. Each method is one operation.
type (
	real  struct{ e *Expr }
	whole struct{ e *Expr }
	truth struct{ e *Expr }
)

// toReal and as convert from and to the other float types.
func toReal(e *Expr) real {
	if e.DType != ir.F32 {
		e = Apply(ir.Cast, ir.F32, e)
	}
	return real{e}
}

func (x real) as(d ir.DType) *Expr {
	if d == ir.F32 {
		return x.e
	}
	return Apply(ir.Cast, d, x.e)
}

func num(v float32) real  { return real{Const(ir.F32, uint64(math.Float32bits(v)))} }
func word(v uint32) whole { return whole{Const(ir.I32, uint64(v))} }

var (
	posInf = float32(math.Inf(1))
	negInf = float32(math.Inf(-1))
	nan    = math.Float32frombits(0x7FC00000)
)

func (x real) op(op ir.Op, args ...real) real {
	all := []*Expr{x.e}
	for _, a := range args {
		all = append(all, a.e)
	}
	return real{Apply(op, ir.F32, all...)}
}

func (x real) plus(y real) real    { return x.op(ir.Add, y) }
func (x real) minus(y real) real   { return x.op(ir.Sub, y) }
func (x real) times(y real) real   { return x.op(ir.Mul, y) }
func (x real) over(y real) real    { return x.op(ir.Div, y) }
func (x real) fma(y, z real) real  { return x.op(ir.FMA, y, z) } // x*y + z
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
func (x real) atLeast(c float32) real { return x.op(ir.Max, num(c)) }
func (x real) atMost(c float32) real  { return x.op(ir.Min, num(c)) }

// bits and real look at the same 32 bits as the other type, for free.
func (x real) bits() whole { return whole{Apply(ir.Bitcast, ir.I32, x.e)} }
func (x whole) real() real { return real{Apply(ir.Bitcast, ir.F32, x.e)} }

func (x whole) op(op ir.Op, y whole) whole { return whole{Apply(op, ir.I32, x.e, y.e)} }

func (x whole) plus(y whole) whole    { return x.op(ir.Add, y) }
func (x whole) minus(y whole) whole   { return x.op(ir.Sub, y) }
func (x whole) and(mask uint32) whole { return x.op(ir.And, word(mask)) }
func (x whole) or(y whole) whole      { return x.op(ir.Or, y) }
func (x whole) xor(y whole) whole     { return x.op(ir.Xor, y) }
func (x whole) shl(n uint32) whole    { return x.op(ir.Shl, word(n)) }
func (x whole) value() real           { return real{Apply(ir.Cast, ir.F32, x.e)} }

func (x whole) less(y whole) truth    { return truth{Apply(ir.Less, ir.Bool, x.e, y.e)} }
func (x whole) equals(n uint32) truth { return truth{Apply(ir.Equal, ir.Bool, x.e, word(n).e)} }

// pick is yes where c, else no.
func (c truth) pick(yes, no real) real { return real{Apply(ir.Where, ir.F32, c.e, yes.e, no.e)} }

const signBit = 1 << 31

// signed gives x, not negative or of the same sign as s, the sign of s.
func (x real) signed(s real) real { return x.bits().or(s.bits().and(signBit)).real() }

// poly is the polynomial in x with these coefficients, lowest first.
func (x real) poly(c ...float32) real {
	p := num(c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		p = p.fma(x, num(c[i]))
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

// product is x*y and its rounding error.
func (x real) product(y real) (p, err real) {
	p = x.times(y)
	return p, x.fma(y, p.neg())
}

// fraction is x less the nearest integer.
func (x real) fraction() real { return x.minus(x.round()) }
