package flat

// form is how a float type is made, and the integers beside it.
type form struct {
	Machine
	t, word  Type
	fraction uint64 // bits
	bias     uint64
}

func formOf(m Machine, t Type) form {
	if t == F64 {
		return form{m, t, I64, 52, 1023}
	}
	return form{m, t, I32, 23, 127}
}

func (f form) int(n uint64) Value { return f.Const(f.word, n) }

// power is 2^n as a float.
func (f form) power(n int) Value {
	return f.Const(f.t, (f.bias+uint64(n))<<f.fraction)
}

func (f form) one() uint64      { return f.bias << f.fraction }
func (f form) infinity() uint64 { return (2*f.bias + 1) << f.fraction }
func (f form) mask() uint64     { return 1<<f.fraction - 1 }

func (f form) add(x, y Value) Value { return f.Op(Add, x.Type, x, y) }
func (f form) sub(x, y Value) Value { return f.Op(Sub, x.Type, x, y) }
func (f form) mul(x, y Value) Value { return f.Op(Mul, x.Type, x, y) }
func (f form) and(x, y Value) Value { return f.Op(And, x.Type, x, y) }
func (f form) or(x, y Value) Value  { return f.Op(Or, x.Type, x, y) }

func (f form) left(x, n Value) Value  { return f.Op(Shl, f.word, x, n) }
func (f form) right(x, n Value) Value { return f.Op(ShrU, f.word, x, n) }

func (f form) less(x, y Value) Value { return f.Op(Less, Bool, x, y) }

func (f form) lessU(x, y Value) Value { return f.Op(LessU, Bool, x, y) }
func (f form) equal(x, y Value) Value { return f.Op(Equal, Bool, x, y) }

func (f form) pick(cond, x, y Value) Value {
	return f.Op(Select, x.Type, cond, x, y)
}

func (f form) xor(x, y Value) Value { return f.Op(Xor, x.Type, x, y) }
func (f form) neg(x Value) Value    { return f.Op(Neg, x.Type, x) }

// sign and size are the masks of the sign and of all else.
func (f form) sign() Value { return f.int(1 << (8*uint64(f.t.Size()) - 1)) }
func (f form) size() Value { return f.int(1<<(8*uint64(f.t.Size())-1) - 1) }

func (f form) wordOf(x Value) Value  { return f.Op(Bits, f.word, x) }
func (f form) floatOf(x Value) Value { return f.Op(Bits, f.t, x) }

// split takes a positive finite number, as its word, apart: its fraction as that
// of a number from 1 to 2, and its exponent with the bias.
func (f form) split(x Value) (fraction, exponent Value) {
	small := f.lessU(x, f.int(1<<f.fraction))
	// A subnormal is a whole number of the smallest.
	whole := f.wordOf(f.Op(UintToFloat, f.t, x))
	x = f.pick(small, whole, x)
	exponent = f.right(x, f.int(f.fraction))
	unit := f.bias + f.fraction - 1
	exponent = f.pick(small, f.sub(exponent, f.int(unit)), exponent)
	return f.and(x, f.int(f.mask())), exponent
}

// ordinary tells whether two sizes are neither 0 nor infinite nor NaN.
func (f form) ordinary(x, y Value) Value {
	one, end := f.int(1), f.int(f.infinity()-1)
	return f.and(f.lessU(f.sub(x, one), end), f.lessU(f.sub(y, one), end))
}

// ranged is a number from 1 to 2, as its word, by 2^e. left has the sign of what
// it is short of the exact number: where the result is subnormal, and rounded
// again, that decides between two equally near.
func (f form) ranged(w, e, left Value) Value {
	exponent := f.add(e, f.int(f.bias))
	normal := f.add(w, f.left(e, f.int(f.fraction)))
	normal = f.pick(f.less(exponent, f.int(2*f.bias+1)), normal, f.int(f.infinity()))

	shift := f.sub(f.int(1), exponent)
	shift = f.pick(f.lessU(shift, f.int(f.fraction+2)), shift, f.int(f.fraction+2))
	whole := f.or(f.and(w, f.int(f.mask())), f.int(1<<f.fraction))
	kept := f.right(whole, shift)
	lost := f.sub(whole, f.left(kept, shift))
	half := f.right(f.left(f.int(1), shift), f.int(1))
	zero := f.Const(f.t, 0)
	odd := f.equal(f.and(kept, f.int(1)), f.int(1))
	up := f.or(f.less(zero, left), f.and(f.equal(left, zero), odd))
	up = f.or(f.lessU(half, lost), f.and(f.equal(half, lost), up))
	small := f.pick(up, f.add(kept, f.int(1)), kept)
	return f.pick(f.less(exponent, f.int(1)), small, normal)
}
