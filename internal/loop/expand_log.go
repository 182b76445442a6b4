package loop

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
)

// The functions of this file write their argument as 2^e * (1 + f) and
// approximate the logarithm of 1 + f by a polynomial. Coefficients are from
// testdata/minimax.py.

// exponentOf cuts the mantissa off, with a sign below.
func (x whole) exponentOf() whole {
	if x.e.DType == ir.I64 {
		return x.and(long(^uint64(1<<52 - 1)))
	}
	return x.and(word(^uint32(1<<23 - 1)))
}

// parts is x = 2^e * m for 0 < x < Inf with low <= m < 2*low; e is given as an
// integer times unit, 2^23 or in f64 2^52. Subnormal numbers are scaled up first.
func (x real) parts(low float64) (e, m real) {
	smallest, lift, unit := 0x1p-126, 24.0, x.unit()
	if x.wide() {
		smallest, lift = 0x1p-1022, 54
	}
	tiny := x.less(x.num(smallest))
	b := tiny.pick(x.times(x.num(math.Exp2(lift))), x).bits()
	h := b.minus(x.int(math.Float32bits(float32(low)), math.Float64bits(low))).exponentOf()
	return h.value().plus(tiny.pick(x.num(-lift*unit), x.num(0))), b.minus(h).real()
}

// unit is what one place of the exponent counts among the bits.
func (x real) unit() float64 {
	if x.wide() {
		return 0x1p52
	}
	return 0x1p23
}

// outside gives y for lo < x < Inf, and otherwise what a logarithm is whose
// pole is at lo: -Inf there, Inf for Inf, else NaN.
func (x real) outside(lo float64, y real) real {
	y = x.less(x.num(posInf)).pick(y, x)
	pole := x.equals(x.num(lo)).pick(x.num(negInf), x.num(nan))
	return x.num(lo).less(x).pick(y, pole)
}

// expandLog is e*ln2 + f - f^2/2 + ...: e*ln2 needs no second part, as its
// error is relative to a result of that size.
func expandLog(x real) real {
	e, m := x.parts(0x1.555556p-1)
	f := m.minus(num(1))
	y := f.poly(-0x1.ffffd6p-2, 0x1.5554fcp-2, -0x1.00144ep-2, 0x1.99d3acp-3, -0x1.5038e4p-3, 0x1.1ea8f2p-3, -0x1.3b0c3cp-3, 0x1.1f262cp-3)
	g := f.times(f).fma(y, f)
	return x.outside(0, e.fma(num(ln2*0x1p-23), g))
}

func expandLog2(x real) real {
	e, m := x.parts(0x1.6a09e6p-1)
	f := m.minus(num(1))
	p := f.poly(0x1.715476p+0, -0x1.715472p-1, 0x1.ec7366p-2, -0x1.715b7ep-2, 0x1.26dd48p-2, -0x1.e980a2p-3, 0x1.b94dfep-3, -0x1.a78002p-3, 0x1.01b9dep-3)
	return x.outside(0, f.fma(p, e.times(num(0x1p-23))))
}

// expandLog1p finds the exponent of 1+x, rounded, but f from x itself:
// f = x/2^e - (1 - 1/2^e). The exponent is used negated: with that sign of its
// product a result of -0 survives the sum.
func expandLog1p(x real) real {
	const low = 0.75
	u := x.plus(num(1))
	h := word(math.Float32bits(low) + 1<<23 - 1).minus(u.bits()).exponentOf()
	pow4 := h.plus(word(math.Float32bits(4))).real() // 4/2^e, as 1/2^128 is not normal
	f := x.bits().plus(h).real().minus(pow4.fma(num(-0.25), num(1)))
	y := f.poly(-0x1.000014p-1, 0x1.5555e4p-2, -0x1.ffdde0p-3, 0x1.99221cp-3, -0x1.58855ep-3, 0x1.32d628p-3, -0x1.ee4538p-4, 0x1.bb9814p-5)
	g := f.times(f).fma(y, f)
	return x.outside(-1, h.value().fma(num(-ln2*0x1p-23), g))
}
