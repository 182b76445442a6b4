package loop

import "github.com/sinterml/sinter/internal/ir"

// MoveBits turns what a kernel only moves, and does no arithmetic on, into
// integers of the same width: so kernels that move other types are the same, and
// targets that widen floats when they load them do not make signalling NaNs quiet.
// Kernels that only compute come back as they are.
func MoveBits(k *Kernel) *Kernel {
	moved := movedTypes(k)
	if len(moved) == 0 {
		return k
	}
	asBits := func(d ir.DType) ir.DType {
		if moved[d] {
			return sameBits[d]
		}
		return d
	}
	params := append([]Param(nil), k.Params...)
	for i := range params {
		params[i].DType = asBits(params[i].DType)
	}
	body := Rewrite(k.Body, func(e *Expr) *Expr {
		if e.Kind == KindApply && e.Op == ir.Bitcast && asBits(e.DType) == e.Args[0].DType {
			return e.Args[0]
		}
		if !moved[e.DType] {
			return e
		}
		c := *e
		c.DType = asBits(e.DType)
		return &c
	})
	return &Kernel{Name: k.Name, Params: params, Slots: k.Slots, Body: body}
}

// sameBits are the integers that stand for other types. A bool stays, as it may be
// a condition, and an i64, as indices are.
var sameBits = map[ir.DType]ir.DType{
	ir.I8:  ir.U8,
	ir.I16: ir.U16, ir.F16: ir.U16, ir.BF16: ir.U16,
	ir.I32: ir.U32, ir.F32: ir.U32,
	ir.U64: ir.I64, ir.F64: ir.I64,
}

// movedTypes are those of sameBits in a kernel of which all values are only moved.
func movedTypes(k *Kernel) map[ir.DType]bool {
	moved := map[ir.DType]bool{}
	for _, p := range k.Params {
		if sameBits[p.DType] != ir.NoType {
			moved[p.DType] = true
		}
	}
	k.WalkExprs(func(e *Expr) {
		if e.Kind != KindApply || e.Op == ir.Where || e.Op == ir.Bitcast {
			return
		}
		delete(moved, e.DType)
		for _, a := range e.Args {
			delete(moved, a.DType)
		}
	})
	walkLocals(k.Body, func(l *Local) { delete(moved, l.DType) })
	return moved
}

// walkLocals visits the local of every statement that has one.
func walkLocals(body []Stmt, visit func(*Local)) {
	for _, s := range body {
		switch s := s.(type) {
		case *Loop:
			walkLocals(s.Body, visit)
		case *Set:
			visit(s.Local)
		case *Acc:
			visit(s.Local)
		}
	}
}
