package flat

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// plain are the operations of floats that machines have.
var plain = map[ir.Op]Op{
	ir.Add: Add, ir.Sub: Sub, ir.Mul: Mul, ir.Div: Div, ir.FMA: FMA,
	ir.Sqrt: Sqrt, ir.Neg: Neg, ir.Abs: Abs, ir.Floor: Floor, ir.Trunc: Trunc, ir.Round: Round,
}

// float is an operation on f32 or f64.
func (w *writer) float(e *loop.Expr, d ir.DType, a []Value) Value {
	t := TypeOf(d)
	if op, ok := plain[e.Op]; ok {
		return w.Op(op, t, a...)
	}
	switch e.Op {
	case ir.Less:
		return w.Op(Less, Bool, a...)
	case ir.Equal:
		return w.Op(Equal, Bool, a...)
	case ir.Recip:
		one, _ := ir.Bits(d, 1) // every type has it
		return w.Op(Div, t, w.Const(t, one), a[0])
	case ir.Min, ir.Max:
		return w.extreme(e, a)
	case ir.Shl:
		if t == F32 {
			return w.scale(a[0], a[1])
		}
	}
	w.fail("no way to compute %v of %v", e.Op, d)
	return w.Const(t, 0)
}

// extreme is min or max. NaN comes through, and of zeros the one with the sign
// that counts: against a number that is not 0 both do by themselves.
func (w *writer) extreme(e *loop.Expr, a []Value) Value {
	x, y := a[0], a[1]
	first, zeros := w.Op(Less, Bool, y, x), And
	if e.Op == ir.Min {
		first, zeros = w.Op(Less, Bool, x, y), Or
	}
	if c := e.Args[1]; c.Kind == loop.KindConst {
		if f := ir.Float(c.DType, c.Bits); f != 0 && f == f {
			second := w.Op(Less, Bool, x, y)
			if e.Op == ir.Min {
				second = w.Op(Less, Bool, y, x)
			}
			return w.pick(second, y, x)
		}
	}
	whole := I32
	if x.Type == F64 {
		whole = I64
	}
	same := w.Op(Bits, x.Type, w.Op(zeros, whole, w.Op(Bits, whole, x), w.Op(Bits, whole, y)))
	rest := w.pick(w.Op(Equal, Bool, x, y), same, y)
	return w.pick(w.Op(Or, Bool, first, w.Op(NotEqual, Bool, x, x)), x, rest)
}

// scale is x*2^n, rounded once by the second product. The whole number n comes
// out of the low bits of a sum, which is defined for NaN too.
func (w *writer) scale(x, n Value) Value {
	const big = 3 << 22
	i32 := func(n uint32) Value { return w.Const(I32, uint64(n)) }
	sum := w.Op(Add, F32, n, w.Const(F32, uint64(math.Float32bits(big))))
	k := w.Op(Sub, I32, w.Op(Bits, I32, sum), i32(math.Float32bits(big)))
	first := w.Op(ShrS, I32, k, i32(1))
	power := func(n Value) Value { return w.Op(Bits, F32, w.Op(Shl, I32, w.add(n, i32(127)), i32(23))) }
	return w.mul(w.mul(x, power(first)), power(w.Op(Sub, I32, k, first)))
}
