package loop

// expandAtan approximates atan(z) for z = |x| or 1/|x|, whichever is below 1.
func expandAtan(x real) real {
	a := x.abs()
	inverse := num(1).less(a)
	z := inverse.pick(num(1).over(a), a)
	s := z.times(z)
	p := s.poly(-0x1.5554dcp-2, 0x1.9978ecp-3, -0x1.230a92p-3, 0x1.b4de8cp-4, -0x1.35506p-4, 0x1.61ed26p-5, -0x1.0c157p-6, 0x1.7ea0d2p-9)
	y := s.times(z).fma(p, z)
	// The product of the two constants is pi/2 to more than their 24 bits.
	rest := num(0x1.6a3e24p0).fma(num(0x1.1c2f3p0), y.neg())
	return inverse.pick(rest, y).signed(x)
}
