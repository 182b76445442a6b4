package x86

import (
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// local is where a local's value is. One that is set once and never
// accumulated shares the registers of its value.
type local struct {
	vals  []val // for each copy; one where all copies share it
	lanes bool  // has a value for each lane
}

// readLocal returns the value of a local at this moment. A scalar i64 is in a
// general register outside vector code.
func (e *emitter) readLocal(n *node, u int) val {
	l := e.locals[n.Local]
	if l == nil {
		e.unsupported("local %s is read before it is set", n.Local.Name)
		return val{}
	}
	if !l.lanes {
		u = 0
	}
	return l.vals[min(u, len(l.vals)-1)]
}

// isGeneral tells whether values of n are in a general register here.
func (e *emitter) isGeneral(n *node) bool { return n.DType == ir.I64 && !e.varies(n) }

// valueOf is n in the form that a local of its type has.
func (e *emitter) valueOf(n *node, u int) val {
	switch {
	case n.DType == ir.Bool:
		return val{e.maskOf(n, u)}
	case e.isGeneral(n) && !(e.inVector()):
		return val{e.general(n)}
	}
	return e.wideVec(n, u)
}

func (e *emitter) set(s *loop.Set, u int) {
	n := e.graph.Node(s.Value)
	bit := native.BitOf(e.graph, e.graph.Locals, s.Local)
	if e.inVector() {
		e.laneLocal |= bit
	} else {
		e.laneLocal &^= bit
	}
	v := e.valueOf(n, u)
	if e.stopped() {
		return
	}
	l := e.locals[s.Local]
	if l == nil {
		l = &local{lanes: e.inVector()}
		e.locals[s.Local] = l
		e.bound = append(e.bound, s.Local)
	}
	switch {
	case u < len(l.vals):
		e.assign(l.vals[u], v, n.Readers == 1)
	case e.sets[s.Local] == 1 && !e.mutable(n):
		l.vals = append(l.vals, v)
	default:
		l.vals = append(l.vals, e.fresh(v))
	}
	e.changed(deps{Locals: bit})
}

// mutable tells whether n is a local whose registers change.
func (e *emitter) mutable(n *node) bool {
	return n.Kind == loop.KindLocal && e.sets[n.Local] > 1
}

// fresh copies a value to registers of its own.
func (e *emitter) fresh(v val) val {
	var own val
	for i, x := range v {
		if x != 0 {
			own[i] = e.newReg(e.vregs[x].Class)
			e.move(own[i], x)
		}
	}
	return own
}

// assign gives the registers dst the value v; only tells that nothing else
// uses v.
func (e *emitter) assign(dst, v val, only bool) {
	for i := len(dst) - 1; i >= 0; i-- {
		if dst[i] != 0 && dst[i] != v[i] {
			e.into(dst[i], v[i], only)
		}
	}
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

func (e *emitter) acc(s *loop.Acc, u int) {
	n := e.graph.Node(s.Value)
	bit := native.BitOf(e.graph, e.graph.Locals, s.Local)
	d := s.Local.DType
	if p := e.partial[s.Local]; p != nil && e.inVector() {
		if k := e.lanes.tail(u); k == 0 && computable(d) && p.nan == 0 {
			e.assign(p.vals[u], val{e.accumulate(s.Op, d, p.vals[u][0], n, u)}, true)
			return
		}
		v := e.lanesOf(n, u)
		if e.stopped() {
			return
		}
		if k := e.lanes.tail(u); k != 0 {
			v = e.orIdentity(s.Op, d, k, v)
		}
		if p.nan != 0 && p.told != s {
			e.noteNaN(p, v[0], u)
		}
		e.assign(p.vals[u], e.join(p, d, p.vals[u], v), true)
		return
	}
	l := e.locals[s.Local]
	if l == nil {
		e.unsupported("local %s is accumulated before it is set", s.Local.Name)
		return
	}
	if l.lanes {
		if computable(d) {
			e.assign(l.vals[u], val{e.accumulate(s.Op, d, l.vals[u][0], n, u)}, true)
			e.changed(deps{Locals: bit})
			return
		}
		v := e.lanesOf(n, u)
		if !e.stopped() {
			e.assign(l.vals[u], e.combine(s.Op, d, l.vals[u], v), true)
		}
	} else {
		v := e.valueOf(n, 0)
		if !e.stopped() {
			e.assign(l.vals[0], e.combineScalar(s.Op, d, l.vals[0], v), true)
		}
	}
	e.changed(deps{Locals: bit})
}

// noteNaN looks for NaN in copy u of an operand: one comparison looks at two
// copies.
func (e *emitter) noteNaN(p *partials, x reg, u int) {
	if p.waits == 0 && u+1 < e.copies() {
		p.waits = x
		return
	}
	other := x
	if p.waits != 0 {
		other, p.waits = p.waits, 0
	}
	nan := e.compare(asm.VCMPPS, asm.CmpUnord, r(other), r(x))
	e.assign(val{p.nan}, val{e.combineMask(ir.Or, p.nan, nan)}, true)
}

// join combines what has been accumulated.
func (e *emitter) join(p *partials, d ir.DType, a, b val) val {
	if p.nan != 0 {
		return val{e.narrowed(e.extreme(p.op, a[0], b[0]), d)}
	}
	return e.combine(p.op, d, a, b)
}

// accumulate is op on sum and n, which may be in memory.
func (e *emitter) accumulate(op ir.Op, d ir.DType, sum reg, n *node, u int) reg {
	return e.narrowed(e.binary(op, d.Compute(), sum, e.last(n, u)), d)
}

// lanesOf is n in lanes, bool included.
func (e *emitter) lanesOf(n *node, u int) val {
	if n.DType == ir.Bool {
		return val{e.maskOf(n, u)}
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
	case d == ir.I64:
		return e.combineWide(op, a, b)
	}
	return val{e.narrowed(e.binary(op, d.Compute(), a[0], r(b[0])), d)}
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
