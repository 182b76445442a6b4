package flat

// Branching is a Machine with branches, as a Builder is.
type Branching interface {
	Machine
	Var(t Type) Var
	Get(v Var) Value
	Set(v Var, x Value)
	If(cond Value, then func())
	For(from, to Value, step int, unroll bool, body func(i Value))
}

// Divided is DivS, DivU, RemS or RemU of two I64, of a b that divides I32 only: by a
// constant of 16 bits digit by digit, else numbers of 32 bits at once and others bit
// by bit. by is y if that is a constant, or 0.
func Divided(b Branching, op Op, by uint64, x, y Value) Value {
	d := division{b, op == DivU || op == DivS, by}
	if op == DivU || op == RemU {
		return d.unsigned(x, y)
	}
	minus := func(x Value) Value { return d.op(ShrS, x, b.Const(I64, 63)) }
	signed := func(x, minus Value) Value { return d.op(Sub, d.op(Xor, x, minus), minus) }
	mx, my := minus(x), minus(y)
	if by == 0 || by>>63 != 0 {
		d.by, y = 0, signed(y, my)
	}
	r := d.unsigned(signed(x, mx), y)
	if d.quotient {
		mx = d.op(Xor, mx, my)
	}
	return signed(r, mx)
}

type division struct {
	Branching
	quotient bool
	by       uint64 // a constant, or 0
}

func (d division) op(op Op, x, y Value) Value { return d.Op(op, x.Type, x, y) }

func (d division) unsigned(x, y Value) Value {
	if d.by != 0 && d.by < 1<<16 {
		return d.digits(x)
	}
	short := d.by != 0 && d.by < 1<<32
	large, low := x, d.Op(Narrow, I32, y)
	if !short {
		large = d.op(Or, x, y)
	}
	large = d.Op(LessU, Bool, d.Const(I64, 1<<32-1), large)
	if !short { // what is not used is no division by 0
		low = d.Op(Select, I32, large, d.Const(I32, 1), low)
	}
	op := RemU
	if d.quotient {
		op = DivU
	}
	r := d.Var(I64)
	d.Set(r, d.Op(ExtendU, I64, d.op(op, d.Op(Narrow, I32, x), low)))
	d.If(large, func() { d.Set(r, d.long(x, y)) })
	return d.Get(r)
}

// digits divides numbers of two digits, of which the first is below the divisor.
// Nothing branches.
func (d division) digits(x Value) Value {
	const size = 16
	y, bits, mask := d.Const(I32, d.by), d.Const(I32, size), d.Const(I32, 1<<size-1)
	low, high := d.Op(Narrow, I32, x), d.Op(Narrow, I32, d.op(ShrU, x, d.Const(I64, 32)))
	rest := d.op(RemU, high, y)
	upper := d.op(DivU, high, y)
	step := func(digit Value) (q Value) {
		n := d.op(Or, d.op(Shl, rest, bits), digit)
		q = d.op(DivU, n, y)
		rest = d.op(Sub, n, d.op(Mul, q, y))
		return q
	}
	first := step(d.op(ShrU, low, bits))
	second := step(d.op(And, low, mask))
	if !d.quotient {
		return d.Op(ExtendU, I64, rest)
	}
	low = d.op(Or, d.op(Shl, first, bits), second)
	return d.op(Or, d.op(Shl, d.Op(ExtendU, I64, upper), d.Const(I64, 32)), d.Op(ExtendU, I64, low))
}

// long is by hand.
func (d division) long(x, y Value) Value {
	rest, result := d.Var(I64), d.Var(I64)
	d.Set(rest, d.Const(I64, 0))
	d.Set(result, x)
	one, last := d.Const(I64, 1), d.Const(I64, 63)
	d.For(d.Const(I32, 0), d.Const(I32, 64), 1, false, func(Value) {
		r, q := d.Get(rest), d.Get(result)
		over := d.Op(Equal, Bool, d.Op(Narrow, I32, d.op(ShrU, r, last)), d.Const(I32, 1))
		r = d.op(Or, d.op(Shl, r, one), d.op(ShrU, q, last))
		q = d.op(Shl, q, one)
		below := d.Op(LessU, Bool, r, y)
		fits := d.op(Or, over, d.op(Xor, below, d.Const(Bool, 1)))
		d.Set(rest, d.Op(Select, I64, fits, d.op(Sub, r, y), r))
		d.Set(result, d.Op(Select, I64, fits, d.op(Or, q, one), q))
	})
	if d.quotient {
		return d.Get(result)
	}
	return d.Get(rest)
}
