package interp

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
)

// operands are the values of one element's operands and their errors.
type operands struct {
	x, y, z    float64
	ex, ey, ez float64
}

func (o *operands) exact() bool { return o.ex == 0 && o.ey == 0 && o.ez == 0 }

func (o *operands) certainNaN() bool {
	return math.IsNaN(o.x) && o.ex == 0 || math.IsNaN(o.y) && o.ey == 0 || math.IsNaN(o.z) && o.ez == 0
}

// allFinite is true where both the operands and their exact values are finite.
func (o *operands) allFinite() bool {
	return finite(o.x) && finite(o.y) && finite(o.z) && finite(o.ex+o.ey+o.ez)
}

// boundPointwise bounds every operation with one result an element.
func boundPointwise(c *call) {
	out := c.out[0]
	if !out.t.IsFloat() && exact(c.in) {
		return
	}
	var v, e [3][]float64
	zeros := make([]float64, out.len())
	for i := range v {
		v[i], e[i] = zeros, zeros
		if i < len(c.in) {
			v[i], e[i] = c.in[i].float64s(), c.in[i].errors()
		}
	}
	of := floatBound
	switch {
	case c.Op == ir.Less || c.Op == ir.Equal:
		of = compareBound
	case c.Op == ir.Min || c.Op == ir.Max:
		of = extremeBound
	case !out.t.IsFloat():
		of = intBound
	}
	var o operands // one for all: of has it on the heap
	for i, r := range out.float64s() {
		o = operands{v[0][i], v[1][i], v[2][i], e[0][i], e[1][i], e[2][i]}
		out.setBound(i, of(c.Op, out.t, r, &o))
	}
}

// compareBound is 1 where the operands are so near that the answer may differ.
func compareBound(op ir.Op, _ ir.DType, _ float64, o *operands) float64 {
	if o.exact() || o.certainNaN() || math.Abs(o.x-o.y) > o.ex+o.ey {
		return 0
	}
	return 1
}

// intBound: integers and bools wrap or switch, so an error may do anything.
func intBound(op ir.Op, t ir.DType, _ float64, o *operands) float64 {
	switch {
	case o.exact():
		return 0
	case t == ir.Bool:
		return 1
	}
	return math.Inf(1)
}

func extremeBound(op ir.Op, _ ir.DType, r float64, o *operands) float64 {
	m, sign := noReach(), 1.0
	if op == ir.Min {
		sign = -1
	}
	m.max(sign*o.x, o.ex)
	m.max(sign*o.y, o.ey)
	return m.bound(sign * r)
}

func floatBound(op ir.Op, t ir.DType, r float64, o *operands) float64 {
	switch {
	case op != ir.Pow && o.certainNaN():
		return 0
	case o.exact() && (!finite(r) || exactResult(op, r, o)):
		return 0
	case o.allFinite() && finite(r):
		s := spread(op, r, o)
		e := s + rounding(t, ulps(op, r), math.Abs(r)+s)
		if math.Abs(r)+e > maxFinite(t) {
			return math.Inf(1)
		}
		return e
	case o.exact():
		return rounding(t, ulps(op, r), math.Abs(r))
	case certainInfinity(op, o):
		return 0
	}
	return math.Inf(1)
}

// certainInfinity is true where an infinite operand without error decides the
// result, although the other has an error.
func certainInfinity(op ir.Op, o *operands) bool {
	x, y := math.IsInf(o.x, 0) && o.ex == 0, math.IsInf(o.y, 0) && o.ey == 0
	xFinite, yFinite := finite(o.x) && finite(o.ex), finite(o.y) && finite(o.ey)
	switch op {
	case ir.Add, ir.Sub:
		return x && yFinite || y && xFinite
	case ir.Mul:
		return x && yFinite && math.Abs(o.y) > o.ey || y && xFinite && math.Abs(o.x) > o.ex
	case ir.Div:
		return y && xFinite || x && yFinite && math.Abs(o.y) > o.ey
	}
	return false
}

// exactResult tells whether a basic operation on exact operands rounded nothing.
func exactResult(op ir.Op, r float64, o *operands) bool {
	switch op {
	case ir.Neg, ir.Abs, ir.Trunc, ir.Floor, ir.Round:
		return true
	case ir.Add:
		return exactSum(o.x, o.y, r)
	case ir.Sub:
		return exactSum(o.x, -o.y, r)
	case ir.Mul:
		return o.x == 0 || o.y == 0 || math.Abs(r) > 0x1p-900 && math.FMA(o.x, o.y, -r) == 0
	}
	return false
}

func exactSum(x, y, r float64) bool {
	s := x + y
	b := s - x
	return s == r && (x-(s-b))+(y-b) == 0
}

// ulps is how exact an operation itself is, in ulp of the compute type.
func ulps(op ir.Op, r float64) float64 {
	switch op {
	case ir.Neg, ir.Abs, ir.Trunc, ir.Floor, ir.Round:
		return 0
	case ir.Add, ir.Sub, ir.Mul, ir.Div, ir.Recip, ir.Sqrt, ir.FMA:
		return 0.5
	case ir.Pow: // 2^(y log2 x): the exponent's relative error counts times its size
		return transcendental * (1 + math.Abs(math.Log2(max(math.Abs(r), 0x1p-150))))
	}
	return transcendental
}

// spread is how far the result moves when the operands move within their
// errors; all are finite.
func spread(op ir.Op, r float64, o *operands) float64 {
	if o.exact() {
		return 0
	}
	const least = math.SmallestNonzeroFloat64 // as products of errors may be lost below it
	x, y, ex, ey := math.Abs(o.x), math.Abs(o.y), o.ex, o.ey
	switch op {
	case ir.Neg, ir.Abs:
		return ex
	case ir.Add, ir.Sub:
		return ex + ey
	case ir.Mul:
		return x*ey + y*ex + ex*ey + least
	case ir.FMA:
		return x*ey + y*ex + ex*ey + o.ez + least
	case ir.Div:
		return over(ex+x/y*ey, y-ey) + least
	case ir.Recip:
		return over(over(ex, x), x-ex)
	case ir.Sqrt:
		if ex > o.x {
			return math.Inf(1)
		}
		return ex / (math.Sqrt(o.x) + math.Sqrt(o.x-ex))
	case ir.Trunc, ir.Floor, ir.Round:
		f := functions[op]
		return max(f(o.x+ex)-r, r-f(o.x-ex))
	case ir.Pow:
		return spreadPow(r, o)
	}
	return spreadFunction(op, o.x, ex)
}

// over is a/b, +Inf where b may be 0 or have the other sign.
func over(a, b float64) float64 {
	if b <= 0 {
		return math.Inf(1)
	}
	return a / b
}

// spreadFunction is the mean value theorem: e times the steepest slope within
// e of x, or the exact difference where that is as easy.
func spreadFunction(op ir.Op, x, e float64) float64 {
	near := max(math.Abs(x)-e, 0) // the magnitude at which bell-shaped slopes are steepest
	switch op {
	case ir.Exp, ir.Expm1:
		return math.Exp(x) * math.Expm1(e)
	case ir.Exp2:
		return math.Exp2(x) * math.Expm1(e*math.Ln2)
	case ir.Log:
		return spreadLog(x, e)
	case ir.Log2:
		return spreadLog(x, e) * math.Log2E
	case ir.Log1p:
		return spreadLog(1+x, e)
	case ir.Sin, ir.Cos:
		return min(e, 2)
	case ir.Atan:
		return min(e/(1+near*near), math.Pi)
	case ir.Tanh:
		t := math.Tanh(near)
		return min(e*(1-t*t), 2)
	case ir.Erf:
		return min(e*2/math.SqrtPi*math.Exp(-near*near), 2)
	}
	return math.Inf(1)
}

func spreadLog(x, e float64) float64 {
	if e >= x {
		return math.Inf(1)
	}
	return -math.Log1p(-e / x)
}

// spreadPow goes through the logarithm of the base, which must be positive, or
// exact under an exact exponent.
func spreadPow(r float64, o *operands) float64 {
	if o.x > o.ex {
		e := math.Abs(o.y)*spreadLog(o.x, o.ex) + o.ey*(math.Abs(math.Log(o.x))+spreadLog(o.x, o.ex))
		return math.Abs(r) * math.Expm1(e)
	}
	if o.ey == 0 && o.y >= 1 && o.y == math.Trunc(o.y) {
		a := math.Abs(o.x)
		return math.Pow(a+o.ex, o.y) - math.Pow(a, o.y)
	}
	return math.Inf(1)
}

func boundWhere(c *call) {
	if exact(c.in) {
		return
	}
	out, cond := c.out[0], c.in[0]
	y, z := c.in[1].float64s(), c.in[2].float64s()
	ec, ey, ez := cond.errors(), c.in[1].errors(), c.in[2].errors()
	for i := range y {
		switch {
		case ec[i] > 0 && y[i] == z[i]:
			out.setBound(i, max(ey[i], ez[i]))
		case ec[i] > 0:
			out.setBound(i, math.Abs(y[i]-z[i])+max(ey[i], ez[i]))
		case cond.data[i] != 0:
			out.setBound(i, ey[i])
		default:
			out.setBound(i, ez[i])
		}
	}
}

func boundCast(c *call) {
	in, out := c.in[0], c.out[0]
	if !out.t.IsFloat() && exact(c.in) {
		return
	}
	x, e := in.float64s(), in.errors()
	lo, hi := math.Inf(-1), math.Inf(1)
	if out.t.IsInt() {
		lo, hi = out.t.IntRange()
	}
	for i, r := range out.float64s() {
		out.setBound(i, castBound(in.t, out.t, x[i], e[i], r, lo, hi))
	}
}

func castBound(from, to ir.DType, x, e, r, lo, hi float64) float64 {
	switch {
	case e == 0 && (r == x || !finite(x) || !to.IsFloat()):
		return 0
	case !finite(x):
		return math.Inf(1)
	case to == ir.Bool:
		if math.Abs(x) > e {
			return 0
		}
		return 1
	case to.IsFloat():
		b := e + stored(to, math.Abs(x)+e)
		if narrow(to) && from != ir.F32 { // through f32
			b += stored(ir.F32, math.Abs(x)+e)
		}
		if math.Abs(r)+b > maxFinite(to) {
			return math.Inf(1)
		}
		return b
	case from.IsFloat():
		low, high := math.Trunc(min(max(x-e, lo), hi)), math.Trunc(min(max(x+e, lo), hi))
		return max(high-r, r-low)
	case x-e < lo || x+e > hi: // may wrap
		return math.Inf(1)
	}
	return e
}

// boundBitcast: the bits of an inexact value may be any, unless the type stays.
func boundBitcast(c *call) {
	out := c.out[0]
	if c.DType == c.In[0].DType {
		return
	}
	in := out.err
	out.err = nil
	for i, e := range in {
		if e > 0 {
			out.setBound(i, math.Inf(1))
		}
	}
}
