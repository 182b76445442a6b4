package interp

import (
	"math"
	"math/bits"

	"github.com/sinterml/sinter/internal/ir"
)

// The bounds of this file and its neighbours cover every device, not just the
// referee: basic operations round once, transcendental functions are within
// transcendental ulp, sums are taken in any order in the compute type, and f16
// and bf16 are rounded when stored, or not at all inside a kernel.

// transcendental is the accuracy that docs/ops.md promises, in ulp.
const transcendental = 2

// slack covers the rounding of the bounds' own arithmetic.
const slack = 1 + 0x1p-20

// unit is the relative error of one rounding to t, half an ulp.
func unit(t ir.DType) float64 {
	switch t {
	case ir.BF16:
		return 0x1p-8 * slack
	case ir.F16:
		return 0x1p-11 * slack
	case ir.F32:
		return 0x1p-24 * slack
	}
	return 0x1p-53 * slack
}

// tiny is the smallest positive value of t: what underflow may cost.
func tiny(t ir.DType) float64 {
	switch t {
	case ir.BF16:
		return 0x1p-133
	case ir.F16:
		return 0x1p-24
	case ir.F32:
		return 0x1p-149
	}
	return math.SmallestNonzeroFloat64
}

// rounding is the error of a result of magnitude m that is computed within
// some ulp of t's compute type and stored as t.
func rounding(t ir.DType, ulp, m float64) float64 {
	c := t.Compute()
	e := ulp * (2*unit(c)*m + tiny(c))
	if narrow(t) {
		e += stored(t, m)
	}
	return e
}

// stored is the error of rounding a result of magnitude m to t.
func stored(t ir.DType, m float64) float64 { return unit(t)*m + tiny(t) }

// errors is v.err, of zeros where v is exact.
func (v *value) errors() []float64 {
	if v.err == nil {
		return make([]float64, v.len())
	}
	return v.err
}

// exact tells whether none of the values has an error.
func exact(vs []*value) bool {
	for _, v := range vs {
		for _, e := range v.err {
			if e > 0 {
				return false
			}
		}
	}
	return true
}

// setBound makes e the bound of element i, +Inf where its arithmetic failed.
func (v *value) setBound(i int, e float64) {
	if v.err == nil {
		v.err = make([]float64, v.len())
	}
	if math.IsNaN(e) {
		e = math.Inf(1)
	}
	v.err[i] = e
}

// spoil says that nothing is known of out if an index has an error.
func spoil(out *value, index []float64) {
	for _, e := range index {
		if e > 0 {
			for i := range out.len() {
				out.setBound(i, math.Inf(1))
			}
			return
		}
	}
}

// grain is the value of the lowest bit that is set in x: x is a whole multiple
// of it. +Inf for 0.
func grain(x float64) float64 {
	if x == 0 || !finite(x) {
		return math.Inf(1)
	}
	const digits = 52
	b := math.Float64bits(x)
	fraction, exp := b&(1<<digits-1), int(b>>digits&0x7ff)
	if exp == 0 { // below the normal numbers, which have a digit more
		exp = 1
	} else {
		fraction |= 1 << digits
	}
	if exp += bits.TrailingZeros64(fraction) - digits; exp > 0 {
		return math.Float64frombits(uint64(exp) << digits)
	}
	return math.Ldexp(1, exp-1023)
}

// grains is the least grain of a tensor's elements.
func grains(x []float64) float64 {
	g := math.Inf(1)
	for _, v := range x {
		g = min(g, grain(v))
	}
	return g
}

// terms is what is known of a sum: how many terms, the sum of their absolute
// values, the sum of their errors, and a number all of them are multiples of.
type terms struct {
	n, abs, err, grain float64
	special            bool // one term is certainly infinite or NaN
	unknown            bool // one term may be anything
}

func noTerms() terms { return terms{grain: math.Inf(1)} }

func (s *terms) add(x, e float64) {
	s.n++
	switch {
	case !finite(x) && e == 0:
		s.special = true
	case !finite(x) || !finite(e):
		s.unknown = true
	default:
		s.abs += math.Abs(x)
		s.err += e
		s.grain = min(s.grain, grain(x))
	}
}

// bound is the error of the sum, whose computed value is r of type t, over any
// order of summation. Where all terms are multiples of a number so large that
// no partial sum needs more bits than the type has, and that the type has itself,
// nothing is rounded.
func (s *terms) bound(t ir.DType, r float64) float64 {
	m := s.abs + s.err
	c := t.Compute()
	exactBelow := func(t ir.DType) bool { return s.err == 0 && s.abs*unit(t) <= s.grain && tiny(t) <= s.grain }
	switch {
	case s.unknown, m > maxFinite(t): // infinities may also come from the others, with the other sign
		return math.Inf(1)
	case s.special || exactBelow(t):
		return 0
	case exactBelow(c):
		return stored(t, m)
	}
	e := s.err + (s.n+2)*(unit(c)*m+tiny(c))
	if narrow(t) {
		e += stored(t, m)
	}
	return e
}

// factors is what is known of a product of several numbers.
type factors struct {
	n         float64
	abs, high float64 // products of |x| and of |x| + error
	top, low  float64 // the largest and least magnitude that a partial product may have
	mantissa  float64 // product of |x| / grain
	zero      bool    // one factor is certainly 0
	special   bool
	unknown   bool
}

func noFactors() factors { return factors{abs: 1, high: 1, top: 1, low: 1, mantissa: 1} }

func (p *factors) mul(x, e float64) {
	p.n++
	a := math.Abs(x)
	switch {
	case !finite(x) && e == 0:
		p.special = true
	case !finite(x) || !finite(e):
		p.unknown = true
	case x == 0 && e == 0:
		p.zero = true
	default:
		p.abs *= a
		p.high *= a + e
		p.top *= max(a+e, 1)
		p.low *= min(max(a-e, 0), 1)
		p.mantissa *= max(a/grain(x), 1)
	}
}

func (p *factors) bound(t ir.DType) float64 {
	c := t.Compute()
	exact := p.high == p.abs && p.mantissa*unit(t) <= 1
	underflow := p.low < tiny(c)/unit(c) // a partial product may lose digits, or be 0 when it meets an infinity
	switch {
	case p.unknown, p.special && (p.zero || underflow || p.high != p.abs), p.top > maxFinite(t):
		return math.Inf(1)
	case p.special, p.zero:
		return 0
	case underflow:
		return math.Inf(1)
	case exact:
		return 0
	}
	e := (p.high - p.abs) + math.Expm1((p.n+1)*unit(c))*p.high
	if narrow(t) {
		e += stored(t, p.high)
	}
	return e
}

// reach is the interval that a maximum lies in; of a minimum, negated.
type reach struct {
	lo, hi  float64
	nan     bool // certainly NaN
	unknown bool
}

func noReach() reach { return reach{lo: math.Inf(-1), hi: math.Inf(-1)} }

func (m *reach) max(x, e float64) {
	switch {
	case math.IsNaN(x) && e == 0:
		m.nan = true
	case math.IsNaN(x) || math.IsInf(e, 1):
		m.unknown = true
	default:
		m.lo, m.hi = max(m.lo, x-e), max(m.hi, x+e)
	}
}

func (m *reach) bound(r float64) float64 {
	switch {
	case m.nan:
		return 0
	case m.unknown:
		return math.Inf(1)
	case m.lo == m.hi:
		return 0
	}
	return max(m.hi-r, r-m.lo)
}
