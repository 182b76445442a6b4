package flat

// Some devices take subnormals for 0 where they compare, or clear a sign, though
// they keep them in sums and products. Bits have no subnormals.

// Compared is Less, Equal or NotEqual of floats, by their bits.
func Compared(m Machine, op Op, x, y Value) Value {
	f := formOf(m, x.Type)
	sx, kx := f.ordered(x)
	sy, ky := f.ordered(y)
	r := f.Op(op, Bool, kx, ky)
	if op == NotEqual {
		infinity := f.int(f.infinity())
		return f.or(r, f.or(f.lessU(infinity, sx), f.lessU(infinity, sy)))
	}
	nan := f.int(f.infinity() + 1) // the first
	return f.and(r, f.and(f.lessU(sx, nan), f.lessU(sy, nan)))
}

// ordered is the size of a float, and an integer that is in order with those of
// other floats: both zeros are 0.
func (f form) ordered(x Value) (size, key Value) {
	w := f.wordOf(x)
	size = f.and(w, f.size())
	// Not by a comparison: Mesa 22 takes some of 64 bits with constants for false.
	minus := f.Op(ShrS, f.word, w, f.int(8*uint64(f.t.Size())-1))
	return size, f.sub(f.xor(size, minus), minus)
}

// Positive is Abs by bits.
func Positive(m Machine, x Value) Value {
	f := formOf(m, x.Type)
	return f.floatOf(f.and(f.wordOf(x), f.size()))
}

// Widened is an F32 as an F64. A subnormal is a whole number of the smallest.
func Widened(m Machine, x Value) Value {
	f, to := formOf(m, F32), formOf(m, F64)
	w := f.wordOf(x)
	size := f.and(w, f.size())
	small := to.wordOf(to.mul(m.Op(UintToFloat, F64, size), to.power(-149)))
	small = to.or(small, to.left(m.Op(ExtendU, I64, f.and(w, f.sign())), to.int(32)))
	return f.pick(f.lessU(size, f.int(1<<f.fraction)), to.floatOf(small), m.Op(FloatToFloat, F64, x))
}

// Narrowed is an F64 as an F32. Added to a number of that many times the smallest
// F32, a number that will be subnormal is rounded to a multiple of it.
func Narrowed(m Machine, x Value) Value {
	f, to := formOf(m, F64), formOf(m, F32)
	w := f.wordOf(x)
	size := f.and(w, f.size())
	most := f.power(52 - 149)
	small := m.Op(Narrow, I32, f.sub(f.wordOf(f.add(f.floatOf(size), most)), f.wordOf(most)))
	small = to.or(small, m.Op(Narrow, I32, f.right(f.and(w, f.sign()), f.int(32))))
	below := f.lessU(size, f.int((f.bias-126)<<f.fraction))
	return f.pick(below, to.floatOf(small), m.Op(FloatToFloat, F32, x))
}
