package arm64

import (
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// ValueOf is n in the form that a local of its type has.
func (e *emitter) ValueOf(n *node, u int) val {
	switch {
	case n.DType == ir.Bool:
		return val{e.MaskOf(n, u)}
	case e.InVector():
		return e.wideVec(n, u)
	case n.DType == ir.I64:
		return val{e.General(n)}
	}
	return val{e.wideVec(n, u)[0]} // of lanes that are alike one register is enough
}

// Acc accumulates copy u of a value.
func (e *emitter) Acc(s *loop.Acc, u int) {
	n := e.Graph.Node(s.Value)
	d := s.Local.DType
	x := e.ValueOf(n, u)
	if e.Stopped() {
		return
	}
	if partial := e.partial[s.Local]; partial != nil && e.InVector() {
		e.accumulate(s.Op, d, partial[u], x)
		return
	}
	l := e.Locals[s.Local]
	switch {
	case l == nil:
		e.Unsupported("local %s is accumulated before it is set", s.Local.Name)
		return
	case l.Lanes:
		e.accumulate(s.Op, d, l.Vals[u], x)
	default:
		e.Assign(l.Vals[0], e.combineScalar(s.Op, d, l.Vals[0], x), true)
	}
	e.Changed(deps{Locals: native.BitOf(e.Graph, e.Graph.Locals, s.Local)})
}

// accumulate changes sum, which has lanes, to that of it and x: lanes of 8 bytes half by
// half, so that what makes a half is changed to write it.
func (e *emitter) accumulate(op ir.Op, d ir.DType, sum, x val) {
	if !native.Wide(d) {
		e.Assign(sum, e.combine(op, d, sum, x), true)
		return
	}
	for i := range sum {
		if !e.Stopped() {
			e.Assign(val{sum[i]}, val{e.wideBinary(op, d, sum[i], x[i])}, true)
		}
	}
}

// combineScalar is combine outside vector code.
func (e *emitter) combineScalar(op ir.Op, d ir.DType, a, b val) val {
	if d == ir.I64 {
		return val{e.combineGeneral(op, a[0], b[0])}
	}
	return e.combine(op, d, a, b)
}

// combine is op on lanes.
func (e *emitter) combine(op ir.Op, d ir.DType, a, b val) val {
	switch {
	case d == ir.Bool:
		return val{e.combineMask(op, a[0], b[0])}
	case native.Wide(d):
		return e.combineWide(op, d, a, b)
	}
	return val{e.narrowed(e.binary(op, d.Compute(), a[0], b[0]), d)}
}
