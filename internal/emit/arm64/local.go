package arm64

import (
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// ValueOf is n in the form that a local of its type has.
func (e *emitter) ValueOf(n *node, u int) val {
	switch n.DType {
	case ir.Bool:
		return val{e.MaskOf(n, u)}
	case ir.I64:
		if e.InVector() {
			e.NeedOneLane("an i64 for each lane")
			return val{}
		}
		return val{e.General(n)}
	}
	return val{e.vec(n, u)}
}

// Acc accumulates copy u of a value.
func (e *emitter) Acc(s *loop.Acc, u int) {
	n := e.Graph.Node(s.Value)
	bit := native.BitOf(e.Graph, e.Graph.Locals, s.Local)
	d := s.Local.DType
	x := e.ValueOf(n, u)
	if e.Stopped() {
		return
	}
	if partial := e.partial[s.Local]; partial != nil && e.InVector() {
		e.Assign(partial[u], e.combine(s.Op, d, partial[u], x), true)
		return
	}
	l := e.Locals[s.Local]
	if l == nil {
		e.Unsupported("local %s is accumulated before it is set", s.Local.Name)
		return
	}
	if !l.Lanes {
		u = 0
	}
	e.Assign(l.Vals[u], e.combine(s.Op, d, l.Vals[u], x), true)
	e.Changed(deps{Locals: bit})
}

// combine is op on two values of a local's type.
func (e *emitter) combine(op ir.Op, d ir.DType, a, b val) val {
	switch d {
	case ir.Bool:
		return val{e.combineMask(op, a[0], b[0])}
	case ir.I64:
		return val{e.combineGeneral(op, a[0], b[0])}
	}
	return val{e.narrowed(e.binary(op, d.Compute(), a[0], b[0]), d)}
}
