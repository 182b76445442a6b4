package flat

import (
	"math"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// A value of dtype d has the type TypeOf(d) and, of narrow types, the bits that
// a load would give; a bool is a Bool.

// valueType is the type of a value of dtype d.
func valueType(d ir.DType) Type {
	if d == ir.Bool {
		return Bool
	}
	return TypeOf(d)
}

// value computes e, once in a statement.
func (w *writer) value(e *loop.Expr) Value {
	if v, ok := w.values[e]; ok {
		return v
	}
	v := w.build(e)
	w.values[e] = v
	return v
}

func (w *writer) build(e *loop.Expr) Value {
	switch e.Kind {
	case loop.KindConst:
		return w.of(e.DType, e.Bits)
	case loop.KindSize:
		return w.size(e.Size)
	case loop.KindVar:
		return w.vars[e.Var]
	case loop.KindLocal:
		if v, ok := w.locals[e.Local]; ok {
			return w.Get(v)
		}
		return w.once[e.Local]
	case loop.KindLoad:
		return w.load(e)
	case loop.KindIndex:
		return w.index(e)
	}
	return w.apply(e)
}

func (w *writer) load(e *loop.Expr) Value {
	if x, ok := w.wide(e); ok {
		return x
	}
	if w.k.OwnOf(e.Param) > 0 {
		return w.loadOwn(e)
	}
	var valid Value
	index := w.value(e.Args[0])
	if len(e.Args) == 2 {
		valid = w.value(e.Args[1])
	}
	x := w.Load(w.params[e.Param], index, valid)
	if e.DType == ir.Bool {
		return w.Op(NotEqual, Bool, x, w.Const(I32, 0))
	}
	return x
}

// index keeps an index inside and sets a status word where it was not.
func (w *writer) index(e *loop.Expr) Value {
	x, n := w.value(e.Args[0]), w.size(e.Size)
	outside := w.Op(LessU, Bool, x, n)
	outside = w.not(outside) // a negative one is huge
	w.Store(w.status, w.Const(I32, uint64(e.Slot)), w.Const(I32, 1), outside)
	last := w.Op(Sub, I64, n, w.int(1))
	edge := w.pick(w.Op(Less, Bool, x, w.int(0)), w.int(0), last)
	return w.pick(outside, edge, x)
}

// of is a constant of dtype d.
func (w *writer) of(d ir.DType, bits uint64) Value {
	if d.IsInt() {
		bits = uint64(ir.Int(d, bits)) // extended by its sign
	}
	return w.Const(valueType(d), bits)
}

// int is a constant of I64.
func (w *writer) int(n uint64) Value { return w.Const(I64, n) }

func (w *writer) add(x, y Value) Value { return w.Op(Add, x.Type, x, y) }
func (w *writer) mul(x, y Value) Value { return w.Op(Mul, x.Type, x, y) }

// extend is an I32 that is not negative as an I64.
func (w *writer) extend(x Value) Value { return w.Op(ExtendU, I64, x) }

func (w *writer) not(x Value) Value { return w.Op(Xor, Bool, x, w.Const(Bool, 1)) }

// least is the smaller of two signed integers.
func (w *writer) least(x, y Value) Value { return w.pick(w.Op(Less, Bool, x, y), x, y) }

// pick is x where cond is true, else y.
func (w *writer) pick(cond, x, y Value) Value {
	if x.Type != Bool {
		return w.Op(Select, x.Type, cond, x, y)
	}
	return w.Op(Or, Bool, w.Op(And, Bool, cond, x), w.Op(And, Bool, w.not(cond), y))
}

func (w *writer) apply(e *loop.Expr) Value {
	from := e.Args[0].DType
	if from == ir.F16 || from == ir.BF16 {
		return w.applyShort(e, from)
	}
	a := make([]Value, len(e.Args))
	for i, x := range e.Args {
		a[i] = w.value(x)
	}
	switch e.Op {
	case ir.Where:
		return w.pick(a[0], a[1], a[2])
	case ir.Cast:
		return w.cast(a[0], from, e.DType)
	case ir.Bitcast:
		return w.bitcast(a[0], from, e.DType)
	}
	switch {
	case from.IsFloat():
		return w.float(e, from, a)
	case from == ir.Bool:
		return w.logic(e.Op, a)
	case from == ir.I64 && entry.IsIndex(e):
		return w.indexOp(e, a)
	}
	return w.integer(e, from, a)
}

// applyShort is apply for operands of f16 or bf16, which are computed with as F32.
func (w *writer) applyShort(e *loop.Expr, from ir.DType) Value {
	if e.Op == ir.Bitcast || e.DType == from && e.Op == ir.Cast {
		return w.bitcast(w.value(e.Args[0]), from, e.DType)
	}
	a := make([]Value, len(e.Args))
	for i, x := range e.Args {
		a[i] = w.short(x)
	}
	if e.Op == ir.Cast {
		return w.cast(a[0], ir.F32, e.DType)
	}
	x := w.float(e, ir.F32, a)
	if e.DType == ir.Bool {
		return x
	}
	return w.narrow(x, e.DType)
}

// short is an operand of f16 or bf16 as an F32: a constant as one, so that a target
// knows where 0 is added.
func (w *writer) short(e *loop.Expr) Value {
	if e.Kind == loop.KindConst {
		return w.Const(F32, uint64(math.Float32bits(float32(ir.Float(e.DType, e.Bits)))))
	}
	return w.widen(w.value(e), e.DType)
}
