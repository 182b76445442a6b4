package loop

// The functions of f64 have no multiply-add, which not every device rounds
// once: all steps are additions, products and quotients, which every device
// rounds alike. Where a rounding error would count it is computed and added.
//
// Coefficients and constants of expand64_*.go are from testdata/minimax64.py.

const (
	log2e64 = 0x1.71547652b82fep0
	ln2Hi64 = 0x1.62e42fefa38p-1   // a product with an integer below 2^11 is exact
	ln2Lo64 = 0x1.ef35793c7673p-45 // ln 2 - ln2Hi64
	bias64  = 1023 << 52           // the exponent of 1
	magic64 = 0x1.8p52             // added to a number, it rounds that to an integer
	tiny64  = 0x1p-54              // of a number below, the square is lost
)

// integer64 rounds x*rate to an integer, as a float and in the low bits of k.
func (x real) integer64(rate float64) (n real, k whole) {
	if rate != 1 {
		x = x.times(double(rate))
	}
	t := x.plus(double(magic64))
	return t.minus(double(magic64)), t.bits()
}

// power64 is 2^(k+bias), of the low bits of k.
func power64(k whole, bias int) real {
	return k.shl(52).plus(long(uint64(bias64 + bias<<52))).real()
}

// scale64 is x*2^k for x near 1 and |k| < 2048, by two products, of which the
// second rounds a subnormal result, once.
func (x real) scale64(k whole) real {
	k = k.shl(52)
	half := k.shr(1).exponentOf()
	first, second := half.plus(long(bias64)), k.minus(half).plus(long(bias64))
	return x.times(first.real()).times(second.real())
}

// residue64 is x - n*ln2 for the integer n nearest to x/ln2, as the sum of r and
// its rounding error. The first difference is exact.
func (x real) residue64() (r, err real, k whole) {
	n, k := x.integer64(log2e64)
	hi, lo := x.minus(n.times(double(ln2Hi64))), n.times(double(ln2Lo64))
	r = hi.minus(lo)
	return r, hi.minus(r).minus(lo), k
}

func exp64(x real) real {
	x = x.atLeast(-746).atMost(710) // e^x is 0 below, infinite above
	r, err, k := x.residue64()
	q := r.poly(0x1.000000000000ap-1, 0x1.55555555554f9p-3, 0x1.55555555507ecp-5, 0x1.1111111127e7fp-7, 0x1.6c16c1844bb21p-10, 0x1.a01a0129b02f2p-13, 0x1.a01999acb0251p-16, 0x1.71df263f3f392p-19, 0x1.28adcefcf427cp-22, 0x1.ad7ed8c503c8dp-26)
	y := r.times(r).times(q).plus(err)
	return double(1).plus(r.plus(y)).scale64(k)
}

func exp264(x real) real {
	x = x.atLeast(-1076).atMost(1025)
	n, k := x.integer64(1)
	return x.minus(n).exp2Near64().scale64(k)
}

// exp2Near64 is 2^r for |r| just over 1/2 at most.
func (r real) exp2Near64() real {
	return double(1).plus(r.times(r.poly(0x1.62e42fefa39efp-1, 0x1.ebfbdff82c5a4p-3, 0x1.c6b08d7049fe7p-5, 0x1.3b2ab6fba00fdp-7, 0x1.5d87fe78cd78p-10, 0x1.4309130edf263p-13, 0x1.ffcbfba96621ap-17, 0x1.62bfc78c0345dp-20, 0x1.b5267ce33b5c2p-24, 0x1.e61b6f7bbcb7bp-28, 0x1.e79bfc5c854afp-32)))
}

// expm1Near64 is e^(r+err) - 1 for |r| just over ln2/2 at most.
func (r real) expm1Near64(err real) real {
	q := r.poly(0x1p-1, 0x1.5555555555559p-3, 0x1.555555555553ep-5, 0x1.111111110f6aap-7, 0x1.6c16c16c1f17ap-10, 0x1.a01a01afe93afp-13, 0x1.a01a017b8e7c2p-16, 0x1.71ddf84327977p-19, 0x1.27e5367139be7p-22, 0x1.af5ee63267613p-26, 0x1.1ee86acb9764bp-29)
	return r.plus(r.times(r).times(q).plus(err))
}

// expm164 computes half the result, as expandExpm1 does.
func expm164(x real) real {
	c := x.atLeast(-40).atMost(710) // the result is -1 below, infinite above
	r, err, k := c.residue64()
	pow := power64(k, -1)
	h := pow.times(r.expm1Near64(err)).plus(pow.minus(double(0.5)))
	return x.abs().less(double(tiny64)).pick(x, h.plus(h))
}

// tanh64 is a polynomial up to 0.55, above 1 - 2/(e^2x + 1).
func tanh64(x real) real {
	a := x.abs().atMost(22) // tanh is 1 above
	s := a.times(a)
	small := a.plus(a.times(s).times(s.poly(-0x1.555555555554fp-2, 0x1.111111111078fp-3, -0x1.ba1ba1b97c9b5p-5, 0x1.664f48593968bp-6, -0x1.226e2f0d28573p-7, 0x1.d6d29a651d51cp-9, -0x1.7d8fc3cdcc187p-10, 0x1.348327f370b1p-11, -0x1.e96a439792591p-13, 0x1.5d641d3291761p-14, -0x1.46e7da11b27c9p-16)))
	r, err, k := a.plus(a).residue64()
	pow := power64(k, 0)
	e := pow.plus(pow.times(r.expm1Near64(err)))
	large := double(1).minus(double(2).over(e.plus(double(1))))
	return a.less(double(0.55)).pick(small, large).signed(x)
}
