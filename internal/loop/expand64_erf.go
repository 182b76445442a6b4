package loop

// erf64 uses two polynomials, as expandErf does: of x^2 for |x| < 1.0625, and one
// whose fourth power is erfc(|x|) for larger x. That one is in |x| - 1.0625, so
// that its steps are small where erfc is large.
func erf64(x real) real {
	const middle = 1.0625
	a := x.abs()
	z := x.times(x)
	small := x.plus(x.times(z.poly(0x1.06eba8214db69p-3, -0x1.812746b037a16p-2, 0x1.ce2f21a0448b4p-4, -0x1.b82ce312f8e21p-6, 0x1.565bcd1c935ddp-8, -0x1.c02db61b528dbp-11, 0x1.f9a3596bcca04p-14, -0x1.f4d56b739c9c4p-17, 0x1.ba057e99b060ep-20, -0x1.6031e21b9576dp-23, 0x1.00bc67e3af288p-26, -0x1.5212824176ae4p-30, 0x1.3ff3b06a278bap-34)))
	u := a.minus(double(middle)).atMost(5.0625) // erf is 1 above, and 1 - q^4 rounds to it
	q := u.poly(0x1.352952cd1bb72p-1, -0x1.a84c5c3cfea6p-2, 0x1.c29ad84a629eep-7, 0x1.97182addf1cbbp-5, -0x1.6a039f4df2ccdp-8, -0x1.2e8809f16fe05p-8, 0x1.d6e2226c88a34p-11, 0x1.0eb5bdab3febp-12, -0x1.476b1037e93b5p-14, -0x1.e6de7a3365c5dp-18, 0x1.0332415eeee25p-18, 0x1.11ad1e8a46eadp-24, -0x1.283c2e329968ep-24, -0x1.b7f4e33a6c331p-25, 0x1.c631e8be7fbbfp-26, -0x1.d85b821abfec1p-28, 0x1.a9669142239ap-30, -0x1.6f35f55570338p-32, 0x1.f96e05dea15ecp-35, -0x1.d455906a95e24p-38, 0x1.fc7e40bc0b76ap-42, -0x1.e95f2f6c0d366p-47)
	q2 := q.times(q)
	large := double(1).minus(q2.times(q2)).signed(x)
	return a.less(double(middle)).pick(small, large)
}
