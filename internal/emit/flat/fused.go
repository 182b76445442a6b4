package flat

import (
	"math"
)

// Fused is x*y + z rounded once, of an m that has no FMA. wide says that it has
// F64.
func Fused(m Machine, wide bool, x, y, z Value) Value {
	if x.Type == F32 && wide {
		return fusedWide(m, x, y, z)
	}
	return fusedParts(m, x, y, z)
}

// twoSum is x+y and what that is short of the exact sum (D. Knuth).
func (f form) twoSum(x, y Value) (sum, rest Value) {
	sum = f.add(x, y)
	back := f.sub(sum, y)
	return sum, f.add(f.sub(x, back), f.sub(y, f.sub(sum, back)))
}

// odd rounds sum + rest, as twoSum gives them, to odd: to the number next to it
// whose last bit is set, if it is no number. Rounded again to two bits fewer, or
// added to what is that much larger, it gives what the exact sum would. over is
// what the result is short of it.
func (f form) odd(sum, rest Value) (r, over Value) {
	w, zero := f.wordOf(sum), f.Const(f.t, 0)
	even := f.equal(f.and(w, f.int(1)), f.int(0))
	apart := f.Op(Xor, Bool, f.less(zero, rest), f.less(zero, sum))
	// NaN, of rest or of sum, is not below or above anything.
	moves := f.and(even, f.or(f.less(zero, rest), f.less(rest, zero)))
	step := f.pick(apart, f.int(math.MaxUint64), f.int(1))
	r = f.floatOf(f.pick(moves, f.add(w, step), w))
	return r, f.pick(moves, f.neg(rest), rest)
}

// fusedWide computes with floats of 64 bits, in which the product of two of 32
// is exact, and the sum rounded to odd (S. Boldo, G. Melquiond, "Emulation of FMA
// and correctly rounded sums: proved algorithms using rounding to odd", 2008).
func fusedWide(m Machine, x, y, z Value) Value {
	f := formOf(m, F64)
	wide := func(x Value) Value { return f.Op(FloatToFloat, F64, x) }
	r, _ := f.odd(f.twoSum(f.mul(wide(x), wide(y)), wide(z)))
	return f.Op(FloatToFloat, F32, r)
}

// fusedParts is by the same authors, of parts that sum up to x*y + z. Fractions
// are computed apart from exponents: x and y are from 1 to 2, z is beside them
// what it was, or so large or small that the others hardly matter.
func fusedParts(m Machine, x, y, z Value) Value {
	f := formOf(m, x.Type)
	wx, wy, wz := f.wordOf(x), f.wordOf(y), f.wordOf(z)
	sign := f.and(f.xor(wx, wy), f.sign()) // of the product, which is taken for positive
	ax, ay, az := f.and(wx, f.size()), f.and(wy, f.size()), f.and(wz, f.size())
	fx, ex := f.split(ax)
	fy, ey := f.split(ay)
	fz, ez := f.split(az)
	one := f.int(f.one())
	e := f.sub(f.add(ex, ey), f.int(2*f.bias)) // of the product
	d := f.sub(f.sub(ez, f.int(f.bias)), e)    // from there to z
	most, least := f.int(f.fraction+5), f.int(-(2*f.fraction + 8))
	far := f.less(most, d)
	e = f.pick(far, f.add(e, f.sub(d, most)), e)
	d = f.pick(far, most, f.pick(f.less(d, least), least, d))
	c := f.or(fz, f.left(f.add(d, f.int(f.bias)), f.int(f.fraction)))
	c = f.or(c, f.and(f.xor(wz, sign), f.sign()))

	high, low := f.twoProduct(f.floatOf(f.or(fx, one)), f.floatOf(f.or(fy, one)))
	next, last := f.twoSum(f.floatOf(c), low)
	high, low = f.twoSum(high, next)
	rest, over := f.odd(f.twoSum(last, low))
	r, left := f.twoSum(high, rest)

	zero := f.Const(f.t, 0)
	left = f.pick(f.equal(left, zero), over, left)
	left = f.pick(f.less(r, zero), f.neg(left), left)
	w := f.wordOf(r)
	size := f.and(w, f.size())
	e = f.add(e, f.sub(f.right(size, f.int(f.fraction)), f.int(f.bias)))
	out := f.ranged(f.or(f.and(size, f.int(f.mask())), one), e, left)
	out = f.or(out, f.xor(f.and(w, f.sign()), sign))
	out = f.pick(f.equal(r, zero), f.int(0), out)

	// Else the product is exact, or all there is, or nothing beside z.
	p := f.mul(x, y)
	alone := f.pick(f.equal(z, zero), p, z)
	plain := f.pick(f.ordinary(ax, ay), alone, f.add(p, z))
	return f.pick(f.and(f.ordinary(ax, ay), f.ordinary(az, az)), f.floatOf(out), plain)
}

// twoProduct is x*y and what that is short of the exact product (T. Dekker).
func (f form) twoProduct(x, y Value) (product, rest Value) {
	split := func(x Value) (high, low Value) {
		half := f.power(int(f.fraction+2) / 2)
		t := f.add(f.mul(half, x), x)
		high = f.sub(t, f.sub(t, x))
		return high, f.sub(x, high)
	}
	xh, xl := split(x)
	yh, yl := split(y)
	product = f.mul(x, y)
	rest = f.sub(f.mul(xh, yh), product)
	rest = f.add(f.add(rest, f.mul(xh, yl)), f.mul(xl, yh))
	return product, f.add(rest, f.mul(xl, yl))
}

// Flushed tells whether r, x*y + z by an FMA that takes subnormals for 0 and makes
// 0 of them, may be wrong for that. Of operands that are no subnormals normal is
// true.
func Flushed(m Machine, normal func(Value) bool, x, y, z, r Value) Value {
	f := formOf(m, x.Type)
	size := func(x Value) Value { return f.and(f.wordOf(x), f.size()) }
	// A product with 0 leaves z.
	exact := f.or(f.equal(size(x), f.int(0)), f.equal(size(y), f.int(0)))
	tiny := f.lessU(size(r), f.int(1<<f.fraction))
	wrong := f.and(tiny, f.xor(exact, f.Const(Bool, 1)))
	for _, x := range []Value{x, y, z} {
		if !normal(x) {
			wrong = f.or(wrong, f.lessU(f.sub(size(x), f.int(1)), f.int(f.mask())))
		}
	}
	return wrong
}
