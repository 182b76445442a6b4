package loop

// expandErf uses two polynomials: of x^2 for |x| < 1, and one whose fourth
// power is erfc(|x|) for larger x. The fourth root of erfc is smooth enough for
// a short polynomial, and its rounding errors matter little, as erfc is below
// 0.16 there. Coefficients are from testdata/minimax.py.
func expandErf(x real) real {
	a := x.abs()
	z := x.times(x)
	small := z.poly(0x1.06eba2p-3, -0x1.81267p-2, 0x1.ce0872p-4, -0x1.b5982ap-6, 0x1.420b2cp-8, -0x1.266798p-11).fma(x, x)
	c := a.atMost(4) // erf is 1 above
	q := c.poly(0x1.0100b4p0, -0x1.3590c2p-2, -0x1.31695ep-4, -0x1.48281ap-5, 0x1.eec4cap-5, -0x1.4db452p-6, 0x1.7d8f58p-9, -0x1.46bff8p-13)
	q2 := q.times(q)
	large := q2.neg().fma(q2, num(1)).signed(x)
	return a.less(num(1)).pick(small, large)
}
