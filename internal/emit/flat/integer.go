package flat

import (
	"math"
	"math/bits"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// logic is an operation on bool.
func (w *writer) logic(op ir.Op, a []Value) Value {
	switch op {
	case ir.And, ir.Min:
		return w.Op(And, Bool, a...)
	case ir.Or, ir.Max:
		return w.Op(Or, Bool, a...)
	case ir.Xor:
		return w.Op(Xor, Bool, a...)
	case ir.Equal:
		return w.not(w.Op(Xor, Bool, a...))
	case ir.Less:
		return w.Op(And, Bool, w.not(a[0]), a[1])
	}
	w.fail("no way to compute %v of bool", op)
	return a[0]
}

// wrapping are the operations whose low bits depend on low bits alone.
var wrapping = map[ir.Op]Op{ir.Add: Add, ir.Sub: Sub, ir.Mul: Mul}

// bitwise are those that give the bits of a value of the dtype as it is held.
var bitwise = map[ir.Op]Op{ir.And: And, ir.Or: Or, ir.Xor: Xor}

// integer is an operation on integers, which wrap.
func (w *writer) integer(e *loop.Expr, d ir.DType, a []Value) Value {
	t := TypeOf(d)
	if op, ok := wrapping[e.Op]; ok {
		return w.wrap(w.Op(op, t, a...), d)
	}
	if op, ok := bitwise[e.Op]; ok {
		return w.Op(op, t, a...)
	}
	switch e.Op {
	case ir.Neg:
		return w.wrap(w.Op(Sub, t, w.Const(t, 0), a[0]), d)
	case ir.Abs:
		if d.IsUnsigned() {
			return a[0]
		}
		minus := w.Op(Sub, t, w.Const(t, 0), a[0])
		return w.wrap(w.pick(w.Op(Less, Bool, a[0], w.Const(t, 0)), minus, a[0]), d)
	case ir.Equal:
		return w.Op(Equal, Bool, a...)
	case ir.Less:
		return w.less(d, a[0], a[1])
	case ir.Min:
		return w.pick(w.less(d, a[1], a[0]), a[1], a[0])
	case ir.Max:
		return w.pick(w.less(d, a[0], a[1]), a[1], a[0])
	case ir.MulHi: // compilers know it by this form
		wide := func(x Value) Value { return w.Op(ExtendU, I64, x) }
		product := w.Op(Mul, I64, wide(a[0]), wide(a[1]))
		return w.Op(Narrow, t, w.Op(ShrU, I64, product, w.Const(I64, 32)))
	case ir.IDiv, ir.Mod:
		return w.divide(e, d, a[0], a[1])
	case ir.Shl, ir.Shr:
		return w.shift(e, d, a[0], a[1])
	}
	w.fail("no way to compute %v of %v", e.Op, d)
	return a[0]
}

func (w *writer) less(d ir.DType, x, y Value) Value {
	if d.IsUnsigned() {
		return w.Op(LessU, Bool, x, y)
	}
	return w.Op(Less, Bool, x, y)
}

// wrap makes of the low bits of x a value of dtype d.
func (w *writer) wrap(x Value, d ir.DType) Value {
	if d.Size() >= 4 {
		return x
	}
	if d.IsInt() && !d.IsUnsigned() {
		by := w.Const(I32, uint64(32-8*d.Size()))
		return w.Op(ShrS, I32, w.Op(Shl, I32, x, by), by)
	}
	return w.Op(And, I32, x, w.Const(I32, 1<<(8*d.Size())-1))
}

// shift gives 0 past the width, where a negative amount is too.
func (w *writer) shift(e *loop.Expr, d ir.DType, x, n Value) Value {
	t, width := TypeOf(d), uint64(8*d.Size())
	op := ShrS
	switch {
	case e.Op == ir.Shl:
		op = Shl
	case d.IsUnsigned():
		op = ShrU
	}
	if c := e.Args[1]; c.Kind == loop.KindConst && c.Bits < width {
		return w.wrap(w.Op(op, t, x, n), d)
	}
	inside := w.Op(LessU, Bool, n, w.Const(t, width))
	low := w.Op(And, t, n, w.Const(t, width-1))
	return w.pick(inside, w.wrap(w.Op(op, t, x, low), d), w.Const(t, 0))
}

// divide is idiv or mod, which floor. By 0 it gives anything: that there is no 0
// is checked elsewhere.
func (w *writer) divide(e *loop.Expr, d ir.DType, x, y Value) Value {
	t := TypeOf(d)
	c := e.Args[1]
	known := c.Kind == loop.KindConst && c.Bits != 0
	if known && ir.Int(d, c.Bits) > 0 && bits.OnesCount64(c.Bits) == 1 {
		if e.Op == ir.Mod {
			return w.Op(And, t, x, w.Const(t, c.Bits-1))
		}
		right := ShrS
		if d.IsUnsigned() {
			right = ShrU
		}
		return w.Op(right, t, x, w.Const(t, uint64(bits.TrailingZeros64(c.Bits))))
	}
	zero, one := w.Const(t, 0), w.Const(t, 1)
	if d.IsUnsigned() {
		if !known {
			y = w.pick(w.Op(Equal, Bool, y, zero), one, y)
		}
		if e.Op == ir.Mod {
			return w.Op(RemU, t, x, y)
		}
		return w.Op(DivU, t, x, y)
	}
	// The lowest number by -1 is more than a machine's division takes.
	by := y
	var minus Value
	if !known || ir.Int(d, c.Bits) == -1 {
		minus = w.Op(Equal, Bool, y, w.Const(t, math.MaxUint64))
		by = w.pick(w.Op(Or, Bool, minus, w.Op(Equal, Bool, y, zero)), one, y)
	}
	q := w.Op(DivS, t, x, by)
	rest := w.Op(Sub, t, x, w.mul(q, by))
	apart := w.Op(Less, Bool, w.Op(Xor, t, rest, by), zero)
	apart = w.Op(And, Bool, apart, w.Op(NotEqual, Bool, rest, zero))
	if e.Op == ir.Mod {
		return w.pick(apart, w.add(rest, by), rest) // by 1, as by -1, leaves 0
	}
	q = w.pick(apart, w.Op(Sub, t, q, one), q)
	if minus != (Value{}) {
		q = w.pick(minus, w.Op(Sub, t, zero, x), q)
	}
	return w.wrap(q, d)
}

// indexOp is arithmetic of which entry.IsIndex holds: nothing wraps, and
// nothing that is divided is negative.
func (w *writer) indexOp(e *loop.Expr, a []Value) Value {
	switch e.Op {
	case ir.IDiv, ir.Mod:
		if n, ok := e.Args[1].AsInt(); ok && n > 0 && n&(n-1) == 0 {
			return w.divide(e, ir.I64, a[0], a[1])
		}
		if e.Op == ir.Mod {
			return w.Op(RemU, I64, a...)
		}
		return w.Op(DivU, I64, a...)
	}
	return w.integer(e, ir.I64, a)
}
