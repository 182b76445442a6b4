package loop

// erf64 uses two polynomials, as expandErf does: of x^2 for |x| < 1.25, and one
// whose fourth power is erfc(|x|) for larger x. That one is in |x| - 1.25, so that
// its steps are small where erfc is large.
func erf64(x real) real {
	a := x.abs()
	z := x.times(x)
	small := x.plus(x.times(z.poly(0x1.06eba8214db69p-3, -0x1.812746b037a0fp-2, 0x1.ce2f21a044078p-4, -0x1.b82ce312cbeafp-6, 0x1.565bcd158f35dp-8, -0x1.c02db4e6ba86dp-11, 0x1.f9a3396b3e0eep-14, -0x1.f4d354236a172p-17, 0x1.b9ef57402b6abp-20, -0x1.5fa3a6c9cce25p-23, 0x1.fdd88a33a28ap-27, -0x1.519a621e59834p-30, 0x1.831a03cecb5c9p-34, -0x1.20b888d827084p-38)))
	u := a.minus(double(1.25)).atMost(4.7) // erf is 1 above, and 1 - q^4 rounds to it
	q := u.poly(0x1.0dcb6fdee6331p-1, -0x1.9dd3ea3f6002cp-2, 0x1.49bfe8be25f8ep-5, 0x1.68e9ea7b4f40cp-5, -0x1.3192fc959f8a6p-7, -0x1.c38a2aad7aabcp-9, 0x1.2f55abb032e14p-10, 0x1.1b0a5c41b38p-13, -0x1.612262ca2554cp-14, 0x1.9af197f0d63c5p-30, 0x1.f46fa261d798ap-19, -0x1.26bf4ddc08b9fp-23, -0x1.5dd241aa4d52fp-23, 0x1.7be44aad59acbp-26, -0x1.1daf020e8e298p-31, 0x1.c4c5167eb6b9dp-30, -0x1.cedc21d27110dp-31, 0x1.9ab3e3334b2b1p-33, -0x1.929a67c5aa9b1p-36, 0x1.b1d867c3cdba3p-40, -0x1.9754529c63e7p-45)
	q2 := q.times(q)
	large := double(1).minus(q2.times(q2)).signed(x)
	return a.less(double(1.25)).pick(small, large)
}
