package ptx

import (
	"fmt"
	"math"

	"github.com/sinterml/sinter/internal/emit/flat"
)

// The driver compiles a program as one that is yet to be linked. What the assembler
// has no instructions for, a division of 64 bits or a quotient of floats that is
// rounded correctly, is then a call of a function that may do anything, and in a
// kernel with such a call no product by groups of warps goes on beside another:
// each waits for the one before. So these kernels call none.

// mayCall tells whether the kernel may have such operations.
func (b *builder) mayCall() bool { return b.target.Dynamic(b.kernel) == 0 }

// inline is a quotient or root without a call.
func (b *builder) inline(op flat.Op, to flat.Type, args []flat.Value) flat.Value {
	switch {
	case to == flat.F64 && op == flat.Div:
		return flat.Quotient(approximate{b}, args[0], args[1])
	case to == flat.F64:
		return flat.Root(approximate{b}, args[0])
	case op == flat.Div:
		return b.value(to, b.inlineQuotient(b.name(args[0]), b.name(args[1])))
	}
	return b.value(to, b.inlineRoot(b.name(args[0])))
}

// inverse is 1/x of f32, correctly rounded.
func (b *builder) inverse(x string) string {
	if b.mayCall() {
		return b.op(singles, "rcp.rn.f32", x)
	}
	return b.inlineQuotient(constant(1), x)
}

func double(v float64) string { return fmt.Sprintf("0d%016X", math.Float64bits(v)) }

// inlineQuotient is x/y of f32, correctly rounded. In f64 it is off by so little that it
// is rounded to f32 as the exact one is: a quotient of numbers of 24 bits that is not in
// the middle of two of them is further from it by 2^-50 or more. GPUs of compute capability
// 9.0, which alone have groups of warps, do half as many operations of f64 as of f32.
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

// approximate is a builder whose quotients and roots of f64, of numbers near 1, may be off
// by some units in the last place.
type approximate struct{ *builder }

func (a approximate) Op(op flat.Op, to flat.Type, args ...flat.Value) flat.Value {
	if to != flat.F64 || op != flat.Div && op != flat.Sqrt {
		return a.builder.Op(op, to, args...)
	}
	step := func(less, x, by string) string { // x + x*by*(1 - ...), of which less is -...
		return a.op(doubles, "fma.rn.f64", a.op(doubles, "mul.rn.f64", x, by), a.op(doubles, "fma.rn.f64", less, x, double(1)), x)
	}
	n := a.name(args[0])
	if op == flat.Div {
		d := a.name(args[1])
		r := a.op(doubles, "rcp.approx.ftz.f64", d)
		for range 2 {
			r = step(a.op(doubles, "neg.f64", d), r, double(1))
		}
		return a.value(to, a.op(doubles, "mul.rn.f64", n, r))
	}
	r := a.op(doubles, "rsqrt.approx.ftz.f64", n)
	for range 2 {
		r = step(a.op(doubles, "neg.f64", a.op(doubles, "mul.rn.f64", n, r)), r, double(0.5))
	}
	return a.value(to, a.op(doubles, "mul.rn.f64", n, r))
}
