package ptx

import (
	"fmt"
	"math/bits"

	"github.com/sinterml/sinter/internal/emit/flat"
)

// unsigned is what a division is of numbers without a sign.
var unsigned = map[flat.Op]flat.Op{flat.DivS: flat.DivU, flat.DivU: flat.DivU, flat.RemS: flat.RemU, flat.RemU: flat.RemU}

// divide is a quotient or remainder of 64 bits, of which a GPU has none: the
// assembler calls a function of some sixty instructions, most of which wait for the
// one before, whether the divisor is known or not.
func (b *builder) divide(op flat.Op, x, y flat.Value) flat.Value {
	by := b.values[y.ID]
	switch {
	case by.known && by.bits != 0:
		return b.value(flat.I64, b.divideBy(op, b.name(x), by.bits))
	case !b.mayCall():
		return flat.Divided(b, op, 0, x, y)
	case by.known || isSingle(b.kernel): // by 0; and a large product of f32 has no registers for both
		return b.value(flat.I64, b.op(longs, intOps[op]+"64", b.name(x), b.name(y)))
	}
	return b.value(flat.I64, b.divideShort(op, b.name(x), b.name(y)))
}

// divideShort divides by 32 bits if that will do, as it does for indices nearly
// always: that takes an eighth.
func (b *builder) divideShort(op flat.Op, x, y string) string {
	to := b.reg(longs)
	long, done := b.label(), b.label()
	high := b.op(longs, "shr.u64", b.op(longs, "or.b64", x, y), "32")
	b.line("@%s bra %s", b.op(predicates, "setp.ne.u64", high, "0"), long)
	short := b.op(words, intOps[unsigned[op]]+"32", b.op(words, "cvt.u32.u64", x), b.op(words, "cvt.u32.u64", y))
	b.line("cvt.u64.u32 %s, %s", to, short)
	b.line("bra %s", done)
	b.mark(long)
	b.line("%s64 %s, %s, %s", intOps[op], to, x, y)
	b.mark(done)
	return to
}

// divideBy divides by a constant other than 0: magnitudes, and then the result is given
// its sign.
func (b *builder) divideBy(op flat.Op, x string, by uint64) string {
	if op == flat.DivU || op == flat.RemU {
		return b.divideMagnitude(op, x, by)
	}
	minus := b.op(longs, "shr.s64", x, "63")
	signed := func(x, minus string) string {
		return b.op(longs, "sub.u64", b.op(longs, "xor.b64", x, minus), minus)
	}
	below := by>>63 != 0
	if below {
		by = -by
	}
	r := b.divideMagnitude(unsigned[op], signed(x, minus), by)
	if below && op == flat.DivS {
		minus = b.op(longs, "not.b64", minus)
	}
	return signed(r, minus)
}

// divideMagnitude divides numbers without a sign: the quotient is a product's upper half
// (T. Granlund and P. Montgomery, "Division by invariant integers using
// multiplication", 1994).
func (b *builder) divideMagnitude(op flat.Op, x string, by uint64) string {
	if by&(by-1) == 0 {
		if op == flat.RemU {
			return b.op(longs, "and.b64", x, fmt.Sprintf("0x%x", by-1))
		}
		return b.op(longs, "shr.u64", x, fmt.Sprint(bits.TrailingZeros64(by)))
	}
	factor, shift, more := reciprocal(by)
	q := b.op(longs, "mul.hi.u64", x, fmt.Sprintf("0x%x", factor))
	if more {
		q = b.op(longs, "add.u64", q, b.op(longs, "shr.u64", b.op(longs, "sub.u64", x, q), "1"))
	}
	q = b.op(longs, "shr.u64", q, fmt.Sprint(shift))
	if op == flat.RemU {
		return b.op(longs, "sub.u64", x, b.op(longs, "mul.lo.u64", q, fmt.Sprintf("0x%x", by)))
	}
	return q
}

// reciprocal is a factor of which the upper half of the product with any x, shifted,
// is x/by. With more, the factor has another bit above, that of 2^64, and the product
// is shifted by one before.
func reciprocal(by uint64) (factor uint64, shift int, more bool) {
	n := bits.Len64(by) // 2^(n-1) < by < 2^n
	q, left := bits.Div64(1<<(n-1), 0, by)
	if by-left <= 1<<(n-1) { // 2^(64+n-1)/by rounded up is near enough
		return q + 1, n - 1, false
	}
	q, _ = bits.Div64(1<<n-by, 0, by)
	return q + 1, n - 1, true
}
