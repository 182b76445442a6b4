package x86

import (
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// isGeneral tells whether values of n are in a general register here.
func (e *emitter) isGeneral(n *node) bool { return n.DType == ir.I64 && !e.Varies(n) }

// ValueOf is n in the form that a local of its type has.
func (e *emitter) ValueOf(n *node, u int) val {
	switch {
	case n.DType == ir.Bool:
		return val{e.MaskOf(n, u)}
	case e.isGeneral(n) && !e.InVector():
		return val{e.General(n)}
	case !e.InVector(): // of lanes that are alike one register is enough
		return val{e.wideVec(n, u)[0]}
	}
	return e.wideVec(n, u)
}

// partials are the lanes that a Vector loop accumulates for a local outside.
type partials struct {
	op   ir.Op
	vals []val
	// Of the largest or smallest f32: lanes that have met a NaN, in one
	// register for all copies. What is in vals are numbers.
	nan   reg
	waits reg       // a copy's operand that is looked at together with the next one's
	told  *loop.Acc // whose operand another local has told NaN of, in the same nan
}

// Acc accumulates copy u of a value.
func (e *emitter) Acc(s *loop.Acc, u int) {
	n := e.Graph.Node(s.Value)
	bit := native.BitOf(e.Graph, e.Graph.Locals, s.Local)
	d := s.Local.DType
	if p := e.partial[s.Local]; p != nil && e.InVector() {
		if k := e.Lanes.Tail(u); k == 0 && native.Computable(d) && p.nan == 0 {
			e.Assign(p.vals[u], val{e.accumulate(s.Op, d, p.vals[u][0], n, u)}, true)
			return
		} else if k == 0 && native.Wide(d) {
			e.accumulateWide(s.Op, d, p.vals[u], n, u)
			return
		}
		v := e.lanesOf(n, u)
		if e.Stopped() {
			return
		}
		if k := e.Lanes.Tail(u); k != 0 {
			v = e.orIdentity(s.Op, d, k, v)
		}
		if p.nan != 0 && p.told != s {
			e.noteNaN(p, v[0], u)
		}
		e.Assign(p.vals[u], e.join(p, d, p.vals[u], v), true)
		return
	}
	l := e.Locals[s.Local]
	if l == nil {
		e.Unsupported("local %s is accumulated before it is set", s.Local.Name)
		return
	}
	if l.Lanes {
		if native.Computable(d) {
			e.Assign(l.Vals[u], val{e.accumulate(s.Op, d, l.Vals[u][0], n, u)}, true)
			e.Changed(deps{Locals: bit})
			return
		} else if native.Wide(d) {
			e.accumulateWide(s.Op, d, l.Vals[u], n, u)
			e.Changed(deps{Locals: bit})
			return
		}
		v := e.lanesOf(n, u)
		if !e.Stopped() {
			e.Assign(l.Vals[u], e.combine(s.Op, d, l.Vals[u], v), true)
		}
	} else {
		v := e.ValueOf(n, 0)
		if !e.Stopped() {
			e.Assign(l.Vals[0], e.combineScalar(s.Op, d, l.Vals[0], v), true)
		}
	}
	e.Changed(deps{Locals: bit})
}

// noteNaN looks for NaN in copy u of an operand: one comparison looks at two
// copies.
func (e *emitter) noteNaN(p *partials, x reg, u int) {
	if p.waits == 0 && u+1 < e.Copies() {
		p.waits = x
		return
	}
	other := x
	if p.waits != 0 {
		other, p.waits = p.waits, 0
	}
	nan := e.compare(asm.VCMPPS, asm.CmpUnord, r(other), r(x))
	e.Assign(val{p.nan}, val{e.combineMask(ir.Or, p.nan, nan)}, true)
}

// join combines what has been accumulated.
func (e *emitter) join(p *partials, d ir.DType, a, b val) val {
	if p.nan != 0 {
		return val{e.extreme(&single, p.op, a[0], b[0])}
	}
	return e.combine(p.op, d, a, b)
}

// accumulate is op on sum and n, which may be in memory.
func (e *emitter) accumulate(op ir.Op, d ir.DType, sum reg, n *node, u int) reg {
	return e.result(op, e.binary(op, d.Compute(), sum, e.last(n, u)), d)
}

// accumulateWide is accumulate for types of 8 bytes, half by half: what makes a half is
// changed to write the sum.
func (e *emitter) accumulateWide(op ir.Op, d ir.DType, sum val, n *node, u int) {
	y := e.lastWide(n, u)
	for i := range sum {
		if e.Stopped() {
			return
		}
		e.Assign(val{sum[i]}, val{e.wideBinary(op, d, sum[i], y[i])}, true)
	}
}

// lanesOf is n in lanes, bool included.
func (e *emitter) lanesOf(n *node, u int) val {
	if n.DType == ir.Bool {
		return val{e.MaskOf(n, u)}
	}
	return e.wideVec(n, u)
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
		return e.combineWide(op, d, a, wideRegs(b))
	}
	return val{e.result(op, e.binary(op, d.Compute(), a[0], r(b[0])), d)}
}

// broadcastGeneral fills lanes with the low bits of a general register.
func (e *emitter) broadcastGeneral(x reg, op asm.Op) reg {
	if e.isa == AVX512 {
		return e.v(op, r(x))
	}
	move := asm.VMOVD
	if op == asm.VPBROADCASTQ {
		move = asm.VMOVQ
	}
	return e.v(op, r(e.vLen(asm.L128, move, r(x))))
}
