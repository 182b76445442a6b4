package loop

// expandErf uses two polynomials: of x^2 for |x| < 1, and one whose fourth
// power is erfc(|x|) for larger x. The fourth root of erfc is smooth enough for
// a short polynomial, and its rounding errors matter little, as erfc is below
// 0.16 there. Coefficients are from testdata/minimax.py.
func expandErf(x real) real {
	a := x.abs()
	z := x.times(x)
	small := z.poly(0x1.06eba2p-3, -0x1.81267p-2, 0x1.ce089p-4, -0x1.b59a94p-6, 0x1.421a9p-8, -0x1.26a55cp-11).fma(x, x)
	c := a.atMost(4.16) // erf is 1 above, and 1 - q^4 rounds to it
	q := c.poly(0x1.0100bap0, -0x1.359128p-2, -0x1.31668ep-4, -0x1.482d7p-5, 0x1.eec7bap-5, -0x1.4db634p-6, 0x1.7d91fap-9, -0x1.46c328p-13)
	q2 := q.times(q)
	large := q2.neg().fma(q2, num(1)).signed(x)
	return a.less(num(1)).pick(small, large)
}
