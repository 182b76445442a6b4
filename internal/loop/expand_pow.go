package loop

// expandPow is 2^(y*log2|x|), the logarithm carried in two floats, as its
// error is multiplied by up to 150. Special cases are those of C99, annex F.
func expandPow(x, y real) real {
	// Larger exponents overflow or underflow for every |x| but 1; kept finite
	// they give no 0*Inf.
	var power real
	if x.wide() {
		y = y.atLeast(-0x1p80).atMost(0x1p80)
		power = pow64(x.abs(), y)
	} else {
		y = y.atLeast(-0x1p60).atMost(0x1p60)
		hi, lo := x.abs().log2Pair()
		power = powerOf2(y, hi, lo)
	}

	half := y.times(y.num(0.5))
	odd := half.minus(half.floor()).equals(y.num(0.5))
	sign := odd.pick(x.sign().real(), y.num(0))
	power = power.bits().or(sign.bits()).real()

	// Finite and below 0: -0 less 1 is the largest integer.
	negative := x.bits().minus(x.int(1, 1)).less(x.int(0xFF800000-1, 0xFFF<<52-1))
	whole := y.floor().equals(y)
	power = negative.pick(whole.pick(power, x.num(nan)), power)
	power = x.equals(x.num(1)).pick(x.num(1), power)
	return y.equals(y.num(0)).pick(x.num(1), power)
}

// log2Pair is log2(x) of x >= 0 to 2^-33 as the sum of two floats, by
// log2(m) = log2(c) + 2/ln2 * atanh(q) with q = (m-c)/(m+c), where c is 3/4, 1
// or 5/4: q is small enough that only its first power needs two floats, and the
// few bits of c keep differences exact.
func (x real) log2Pair() (hi, lo real) {
	e, m := x.parts(0x1.6a09e6p-1)
	below, above := m.less(num(0x1.bb67aep-1)), num(0x1.1e3779p0).less(m)
	choose := func(low, mid, high float64) real { return below.pick(x.num(low), above.pick(x.num(high), x.num(mid))) }
	c2 := choose(1.5, 2, 2.5)                  // 2c
	logHi := choose(-0x1.a9p-2, 0, 0x1.49ap-2) // 14 bits: exact when added to e
	logLo := choose(0x1.a39fbep-20, 0, 0x1.e12f34p-16)

	d := c2.fma(num(-0.5), m)
	inverse := num(1).over(c2.fma(num(0.5), m))
	q := d.times(inverse)
	// d - q*(m+c) for m+c unrounded, which is 2c + d.
	qLo := inverse.times(q.neg().fma(d, q.neg().fma(c2, d)))
	s := q.times(q)
	tail := s.times(q).fma(s.poly(0x1.555556p-2, 0x1.99956cp-3, 0x1.2831aap-3), qLo)

	const c, cLo = 0x1.715476p1, 0x1.4ae0cp-25 // 2/ln2
	h, hLo := q.product(num(c))
	hLo = tail.fma(num(c), q.fma(num(cLo), hLo))
	hi, lo = e.fma(num(0x1p-23), logHi).sum(h)
	hi, lo = hi.sum(lo.plus(hLo.plus(logLo)))
	hi = x.less(x.num(posInf)).pick(hi, x)
	return x.equals(num(0)).pick(x.num(negInf), hi), lo
}

// powerOf2 is 2^(y*(hi+lo)).
func powerOf2(y, hi, lo real) real {
	z := y.times(hi)
	c := z.atLeast(lost).atMost(130)
	// What the clamp cut off makes the rest large.
	rest := y.fma(lo, y.fma(hi, c.neg())).atLeast(-1).atMost(1)
	n, _ := c.integer(1, 0x1.8p23)
	r := c.minus(n).plus(rest)
	return r.exp2Near().scale(n)
}
