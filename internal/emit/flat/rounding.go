package flat

// Some devices give a quotient that is wrong by 2.5 units in the last place, and
// a root by more, as Vulkan lets them. The fused multiply-add gives what is left
// of the dividend exactly, and with it the nearest result (P. Markstein,
// "Computation of elementary functions on the IBM RISC System/6000 processor",
// 1990). Fractions and exponents are computed apart, so that nothing overflows on
// the way, and so that devices that flush subnormals give them too.

// Machine has the operations of a Builder as a device does them.
type Machine interface {
	Const(t Type, bits uint64) Value
	Op(op Op, to Type, args ...Value) Value
}

// leftOver is z - x*y, rounded once.
func (f form) leftOver(x, y, z Value) Value {
	return f.Op(FMA, f.t, f.neg(x), y, z)
}

// nudge is a float by one unit up or down.
func (f form) nudge(x, up, down Value) Value {
	w := f.wordOf(x)
	w = f.pick(up, f.add(w, f.int(1)), w)
	return f.pick(down, f.sub(w, f.int(1)), w)
}

// Quotient is x/y, correctly rounded, of an m whose FMA is.
func Quotient(m Machine, x, y Value) Value {
	f := formOf(m, x.Type)
	wx, wy := f.wordOf(x), f.wordOf(y)
	sign := f.and(f.xor(wx, wy), f.sign())
	ax, ay := f.and(wx, f.size()), f.and(wy, f.size())

	fx, ex := f.split(ax)
	fy, ey := f.split(ay)
	// The dividend is brought to between 1 and 2 times the divisor.
	below := f.lessU(fx, fy)
	two := f.int(f.one() + 1<<f.fraction)
	n := f.floatOf(f.or(fx, f.pick(below, two, f.int(f.one()))))
	d := f.floatOf(f.or(fy, f.int(f.one())))
	e := f.sub(ex, ey)
	e = f.pick(below, f.sub(e, f.int(1)), e)

	q := f.Op(Div, f.t, n, d)
	q = f.Op(FMA, f.t, f.leftOver(q, d, n), f.Op(Div, f.t, f.power(0), d), q)
	// q is now one of the two numbers around the quotient.
	left := f.leftOver(q, d, n)
	half := f.mul(d, f.power(-int(f.fraction)-1))
	w := f.nudge(q, f.less(half, left), f.less(left, f.neg(half)))
	left = f.leftOver(f.floatOf(w), d, n)

	r := f.or(f.ranged(w, e, left), sign)
	return f.floatOf(f.pick(f.ordinary(ax, ay), r, f.or(f.special(ax, ay), sign)))
}

// special is the quotient of two sizes of which one is 0, infinite or NaN.
func (f form) special(x, y Value) Value {
	infinity, nothing := f.int(f.infinity()), f.int(0)
	none := f.or(f.equal(x, nothing), f.equal(y, infinity))
	endless := f.or(f.equal(y, nothing), f.equal(x, infinity))
	nan := f.or(f.and(none, endless), f.or(f.lessU(infinity, x), f.lessU(infinity, y)))
	r := f.pick(none, nothing, infinity)
	return f.pick(nan, f.int(f.infinity()|1<<(f.fraction-1)), r)
}

// Root is the square root of x, correctly rounded, of an m whose FMA is.
func Root(m Machine, x Value) Value {
	f := formOf(m, x.Type)
	w := f.wordOf(x)
	fraction, exponent := f.split(w)
	exponent = f.sub(exponent, f.int(f.bias))
	odd := f.equal(f.and(exponent, f.int(1)), f.int(1))
	n := f.floatOf(f.or(fraction, f.pick(odd, f.int(f.one()+1<<f.fraction), f.int(f.one()))))
	half := f.Op(ShrS, f.word, exponent, f.int(1))

	r := f.Op(Sqrt, f.t, n)
	slope := f.Op(Div, f.t, f.power(-1), r)
	r = f.Op(FMA, f.t, f.leftOver(r, r, n), slope, r)
	left := f.leftOver(r, r, n)
	unit := f.mul(r, f.power(-int(f.fraction)))
	below := f.less(left, f.neg(unit))
	below = f.or(below, f.equal(left, f.neg(unit)))
	r = f.floatOf(f.add(f.nudge(r, f.less(unit, left), below), f.left(half, f.int(f.fraction))))

	// 0 and infinity stay, as does NaN; numbers below 0 have no root.
	stays := f.or(f.equal(x, f.Const(f.t, 0)), f.lessU(f.int(f.infinity()-1), w))
	r = f.pick(stays, x, r)
	minus := f.less(x, f.Const(f.t, 0))
	return f.pick(minus, f.Const(f.t, f.infinity()|1<<(f.fraction-1)), r)
}

// Whole is x rounded to a whole number as op says (Floor, Trunc or Round), of an m
// that adds and subtracts as it should. From 2^fraction on all numbers are whole,
// and below it that power leaves no room for a fraction in a sum.
func Whole(m Machine, op Op, x Value) Value {
	f := formOf(m, x.Type)
	w := f.wordOf(x)
	size := f.floatOf(f.and(w, f.size()))
	limit := f.power(int(f.fraction))
	r := f.sub(f.Op(Add, f.t, size, limit), limit)
	if op == Trunc {
		r = f.notAbove(size, r)
	}
	r = f.floatOf(f.or(f.wordOf(r), f.and(w, f.sign())))
	if op == Floor {
		r = f.notAbove(x, r)
	}
	return f.pick(f.less(size, limit), r, x)
}

// notAbove is a whole number near x, or one less where that is above x.
func (f form) notAbove(x, whole Value) Value {
	return f.pick(f.less(x, whole), f.sub(whole, f.power(0)), whole)
}
