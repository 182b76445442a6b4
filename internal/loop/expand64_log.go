package loop

// logNear64 gives log(1+f) = f - (square - rest), square being f^2/2, for
// sqrt(1/2) <= 1+f < sqrt(2): with s = f/(2+f) it is 2 atanh(s) = 2s + s*p(s^2),
// and 2s = f - s*f = f - f^2/2 + s*f^2/2.
func (f real) logNear64() (square, rest real) {
	s := f.over(f.plus(double(2)))
	z := s.times(s)
	p := z.times(z.poly(0x1.5555555555593p-1, 0x1.999999997f9c9p-2, 0x1.249249422f6d1p-2, 0x1.c71c51d1ac0f6p-3, 0x1.74664b51ae4ffp-3, 0x1.39a062510db5ep-3, 0x1.2f13da29bd7c8p-3))
	square = f.times(f).times(double(0.5))
	return square, s.times(square.plus(p))
}

// log64 is e*ln2 + log(1+f), e*ln2 in two parts.
func log64(x real) real {
	e, m := x.parts(0x1.6a09e667f3bcdp-1)
	return x.outside(0, m.minus(double(1)).plusLn2(e))
}

// plusLn2 is log(1+f) + e*2^-52 * ln2.
func (f real) plusLn2(e real) real {
	square, rest := f.logNear64()
	rest = rest.plus(e.times(double(ln2Lo64 * 0x1p-52)))
	return e.times(double(ln2Hi64 * 0x1p-52)).plus(f.plus(rest.minus(square)))
}

// log264 has the product with 1/ln2 in parts: 21 bits of log(1+f) times 32 of
// 1/ln2 are exact.
func log264(x real) real {
	const c, cLo = 0x1.71547652p0, 0x1.705fc2eefa2p-33 // 1/ln2
	e, m := x.parts(0x1.6a09e667f3bcdp-1)
	f := m.minus(double(1))
	square, rest := f.logNear64()
	hi := f.minus(square).bits().and(long(^uint64(1<<32 - 1))).real()
	lo := f.minus(hi).minus(square).plus(rest)
	lo = lo.plus(hi).times(double(cLo)).plus(lo.times(double(c)))
	y, err := e.times(double(0x1p-52)).sum(hi.times(double(c)))
	return x.outside(0, y.plus(lo.plus(err)))
}

// log1p64 takes the exponent e from 1+x and f from x, which is so exact where f
// is small: f = x/2^e - (1 - 1/2^e).
func log1p64(x real) real {
	e := x.plus(double(1)).bits().minus(double(0x1.6a09e667f3bcdp-1).bits()).exponentOf()
	pow4 := double(4).bits().minus(e).real() // 4/2^e, as 1/2^1024 is not normal
	f := x.bits().minus(e).real().minus(double(1).minus(pow4.times(double(0.25))))
	y := x.abs().less(double(tiny64)).pick(x, f.plusLn2(e.value()))
	return x.outside(-1, y)
}
