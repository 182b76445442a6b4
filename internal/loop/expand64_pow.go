package loop

// pow64 is x^y for x >= 0, the logarithm carried in two floats, as its error is
// multiplied by up to 1100.
func pow64(x, y real) real {
	hi, lo := x.log2Pair64()
	z, err := y.product(hi)
	c := z.atLeast(-1100).atMost(1100)
	// Where z was cut off, or is infinite, the rest does not count, and may be NaN.
	rest := z.equals(c).pick(err.plus(y.times(lo)), double(0))
	n, k := c.integer64(1)
	return c.minus(n).plus(rest).exp2Near64().scale64(k)
}

// log2Pair64 is log2(x) of x >= 0 to 2^-68 as the sum of two floats, by
// log2(m) = log2(c) + 2/ln2 * atanh(q) with q = (m-c)/(m+c), where c is 3/4, 1
// or 5/4. The series is q*(k + k/3*s + s^2*p(s)) with s = q^2 and k = 2/ln2; all
// but the last summand need two floats.
func (x real) log2Pair64() (hi, lo real) {
	const k, kLo = 0x1.71547652b82fep1, 0x1.777d0ffda0d24p-55
	const third, thirdLo = 0x1.ec709dc3a03fdp-1, 0x1.d27f05548af0cp-55
	e, m := x.parts(0x1.6a09e667f3bcdp-1)
	below, above := m.less(double(0x1.bb67ae8584caap-1)), double(0x1.1e3779b97f4a8p0).less(m)
	choose := func(low, mid, high float64) real {
		return below.pick(double(low), above.pick(double(high), double(mid)))
	}
	c := choose(0.75, 1, 1.25)
	logHi := choose(-0x1.a8ff97181p-2, 0, 0x1.49a784bcd2p-2) // exact when added to e
	logLo := choose(-0x1.4bc302ffa76fbp-43, 0, -0x1.1d406db502403p-44)

	d := m.minus(c)
	v, vLo := c.sum(m)
	inverse := double(1).over(v)
	q := d.times(inverse).halves()
	p, err := q.product(v.halves())
	qLo := inverse.times(d.minus(p).minus(err).minus(q.x.times(vLo)))

	s, sLo := q.product(q)
	sLo = sLo.plus(q.x.plus(q.x).times(qLo))
	w, wLo := double(third).sum(s.times(s.poly(0x1.2776c50ef9dbfp-1, 0x1.a61762a606f0ep-2, 0x1.484b185a0894bp-2, 0x1.0c94cfeeb20ebp-2, 0x1.cd5cd95dfa798p-3)))
	wLo = wLo.plus(double(thirdLo))
	u, uLo := s.product(w)
	uLo = uLo.plus(s.times(wLo)).plus(sLo.times(w))
	t, tLo := double(k).sum(u)
	tLo = tLo.plus(uLo.plus(double(kLo)))
	h, hLo := q.product(t.halves())
	hLo = hLo.plus(q.x.times(tLo)).plus(qLo.times(t))

	hi, lo = e.times(double(0x1p-52)).plus(logHi).sum(h)
	hi, lo = hi.sum(lo.plus(hLo.plus(logLo)))
	hi = x.less(double(posInf)).pick(hi, x)
	return x.equals(double(0)).pick(double(negInf), hi), lo
}
