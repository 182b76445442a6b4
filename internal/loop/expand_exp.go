package loop

// The functions of this file write their argument as n*ln2 + r with n an
// integer and approximate e^r for small r by a polynomial. Coefficients are
// from testdata/minimax.py.
//
// Adding a number m of 2^23 to 2^24 rounds to an integer, which then stands in
// the low bits of the sum; subtracting m again gives it as a float. With the
// exponent's bias included in m those bits, shifted to the exponent's place,
// are a power of 2 as a float.

const (
	log2e = 0x1.715476p0
	ln2   = 0x1.62e43p-1
	ln2Lo = -0x1.05c61p-29 // ln 2 - ln2
)

// integer rounds x*rate to an integer n by adding magic: 1.5*2^23, and for pow,
// which is 2^n, the bias.
func (x real) integer(rate, magic float32) (n, pow real) {
	t := x.fma(num(rate), num(magic))
	return t.minus(num(magic)), t.bits().shl(23).real()
}

// lost is an exponent that makes a scale 0, of arguments too low for any other
// result, such as the scores that a mask hides. It is no nearer to the subnormal
// numbers as there Intel's processors take hundreds of cycles for a product.
const lost = -166

// expandExp applies 2^n by a scale, which overflows where the result does, and
// rounds a subnormal result once.
func expandExp(x real) real {
	x = x.atLeast(-115).atMost(89) // e^x is 0 from -104 down, for -115 by lost, and infinite above
	n, _ := x.integer(log2e, 0x1.8p23)
	r := n.fma(num(-ln2), x)
	r = n.fma(num(-ln2Lo), r)
	return r.poly(1, 1, 0x1.fffffcp-2, 0x1.555492p-3, 0x1.5558b4p-5, 0x1.12399ap-7, 0x1.6a48c4p-10).scale(n)
}

// expandExp2 is the same to base 2; here r is exact.
func expandExp2(x real) real {
	x = x.atLeast(lost).atMost(129)
	n, _ := x.integer(1, 0x1.8p23)
	return x.minus(n).exp2Near().scale(n)
}

// exp2Near is 2^r for |r| <= 1/2.
func (r real) exp2Near() real { return r.poly(Exp2Near[:]...) }

// Exp2Near are the coefficients of that, for emitters that write it themselves.
var Exp2Near = [...]float64{1, 0x1.62e43p-1, 0x1.ebfbdcp-3, 0x1.c6af7cp-5, 0x1.3b2dep-7, 0x1.5f0838p-10, 0x1.416b8p-13}

// expandExpm1 computes (2^n e^r - 1)/2 = 2^(n-1) (e^r - 1) + (2^(n-1) - 1/2),
// which keeps the accuracy of e^r - 1 for n = 0 and does not overflow before
// the result does.
func expandExpm1(x real) real {
	c := x.atLeast(-25).atMost(89) // the result is -1 below, infinite above
	n, pow := c.integer(log2e, 0x1.8p23+126)
	r := n.fma(num(-ln2), c)
	r = n.fma(num(-ln2Lo), r)
	q := r.poly(0x1.fffffep-2, 0x1.5554b4p-3, 0x1.5556f2p-5, 0x1.12256p-7, 0x1.6b9ca2p-10)
	w := r.times(r).fma(q, r)
	h := pow.fma(w, pow.minus(num(0.5)))
	return h.plus(h).signed(x)
}

// expandTanh is -h/(1+h) with h = (e^-2|x| - 1)/2, found as in expandExpm1.
// With this sign 1+h lies below 1, where its rounding error is smaller. n is of
// half size, which makes r an argument of e^2r and doubles nothing. The
// variables are -r, 1 - e^2r and -h: their zeros have the right sign.
func expandTanh(x real) real {
	a := x.abs().atMost(10) // tanh is 1 above
	n, pow := a.integer(-2*log2e, 0x1.8p23+127)
	r := n.fma(num(ln2/2), a)
	q := r.poly(-0x1.fffffep-1, 0x1.5554b4p-1, -0x1.5556f2p-2, 0x1.12256p-3, -0x1.6b9ca2p-5)
	w := r.times(r).fma(q, r)
	h := pow.fma(w, pow.fma(num(-0.5), num(0.5)))
	d := pow.fma(w.neg(), pow.fma(num(0.5), num(0.5)))
	return h.over(d).signed(x)
}
