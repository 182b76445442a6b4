package ptx

// The driver compiles a program as one that is yet to be linked. What the assembler
// has no instructions for, a division of 64 bits or a quotient of floats that is
// rounded correctly, is then a call of a function that may do anything, and in a
// kernel with such a call no product by groups of warps goes on beside another:
// each waits for the one before. So these kernels call none.

// calls tells whether a kernel may have such operations.
func (b *builder) calls() bool { return b.target.Dynamic(b.kernel) == 0 }

// inlineQuotient is x/y of f32, correctly rounded. In f64 it is off by so little that it
// is rounded to f32 as the exact one is: a quotient of numbers of 24 bits that is not in
// the middle of two of them is further from it by 2^-50 or more. GPUs that have groups
// of warps do half as many operations of f64 as of f32, others a 64th.
func (b *builder) inlineQuotient(x, y string) string {
	n, d := b.op(doubles, "cvt.f64.f32", x), b.op(doubles, "cvt.f64.f32", y)
	near := b.op(doubles, "rcp.approx.ftz.f64", d) // of 20 bits
	less := b.op(doubles, "neg.f64", d)
	rest := b.op(doubles, "fma.rn.f64", less, near, double(1))
	better := b.op(doubles, "fma.rn.f64", near, rest, near)
	q := b.op(doubles, "mul.rn.f64", n, better)
	q = b.op(doubles, "fma.rn.f64", b.op(doubles, "fma.rn.f64", less, q, n), better, q)
	// Of zeros and infinities there is no rest, and zeros have lost their sign.
	usual := b.op(predicates, "setp.gt.f64", b.op(doubles, "abs.f64", q), double(0))
	q = b.op(doubles, "selp.f64", q, b.op(doubles, "mul.rn.f64", n, near), usual)
	return b.op(singles, "cvt.rn.f32.f64", q)
}

// inlineRoot is the square root of x in f32, correctly rounded for the same reason, by
// Goldschmidt's iteration: g is near the root, h near half of its reciprocal.
func (b *builder) inlineRoot(x string) string {
	n := b.op(doubles, "cvt.f64.f32", x)
	near := b.op(doubles, "rsqrt.approx.ftz.f64", n)
	g, h := b.op(doubles, "mul.rn.f64", n, near), b.op(doubles, "mul.rn.f64", near, double(0.5))
	rest := b.op(doubles, "fma.rn.f64", b.op(doubles, "neg.f64", g), h, double(0.5))
	g, h = b.op(doubles, "fma.rn.f64", g, rest, g), b.op(doubles, "fma.rn.f64", h, rest, h)
	g = b.op(doubles, "fma.rn.f64", b.op(doubles, "fma.rn.f64", b.op(doubles, "neg.f64", g), g, n), h, g)
	usual := b.op(predicates, "setp.gt.f64", g, double(0))
	special := b.op(singles, "sqrt.approx.f32", x) // of 0, infinity, NaN and what is below 0
	return b.op(singles, "selp.f32", b.op(singles, "cvt.rn.f32.f64", g), special, usual)
}
