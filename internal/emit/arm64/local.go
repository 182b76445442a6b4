package arm64

import (
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// local is where a local's value is. One that is set once and never
// accumulated shares the registers of its value.
type local struct {
	regs  []reg // for each copy; one where all copies share it
	lanes bool  // has a value for each lane
}

// readLocal returns the value of a local at this moment. An i64 is in a general
// register.
func (e *emitter) readLocal(n *node, u int) reg {
	l := e.locals[n.Local]
	if l == nil {
		e.unsupported("local %s is read before it is set", n.Local.Name)
		return 0
	}
	if !l.lanes {
		u = 0
	}
	return l.regs[min(u, len(l.regs)-1)]
}

// valueOf is n in the form that a local of its type has.
func (e *emitter) valueOf(n *node, u int) reg {
	switch n.DType {
	case ir.Bool:
		return e.maskOf(n, u)
	case ir.I64:
		if e.inVector() {
			e.needOneLane("an i64 for each lane")
			return 0
		}
		return e.general(n)
	}
	return e.vec(n, u)
}

func (e *emitter) set(s *loop.Set, u int) {
	n := e.graph.Node(s.Value)
	bit := native.BitOf(e.graph, e.graph.Locals, s.Local)
	if e.inVector() {
		e.laneLocal |= bit
	} else {
		e.laneLocal &^= bit
	}
	x := e.valueOf(n, u)
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
	case u < len(l.regs):
		e.assign(l.regs[u], x, n.Readers == 1)
	case e.sets[s.Local] == 1 && !e.mutable(n):
		l.regs = append(l.regs, x)
	default:
		l.regs = append(l.regs, e.fresh(x))
	}
	e.changed(deps{Locals: bit})
}

// mutable tells whether n is a local whose registers change.
func (e *emitter) mutable(n *node) bool {
	return n.Kind == loop.KindLocal && e.sets[n.Local] > 1
}

// fresh copies a value to a register of its own.
func (e *emitter) fresh(x reg) reg {
	own := e.newReg(e.vregs[x].Class)
	e.move(own, x)
	return own
}

// assign gives dst the value x; only tells that nothing else uses x.
func (e *emitter) assign(dst, x reg, only bool) {
	if dst != x {
		e.into(dst, x, only)
	}
}

func (e *emitter) acc(s *loop.Acc, u int) {
	n := e.graph.Node(s.Value)
	bit := native.BitOf(e.graph, e.graph.Locals, s.Local)
	d := s.Local.DType
	x := e.valueOf(n, u)
	if e.stopped() {
		return
	}
	if partial := e.partial[s.Local]; partial != nil && e.inVector() {
		e.assign(partial[u], e.combine(s.Op, d, partial[u], x), true)
		return
	}
	l := e.locals[s.Local]
	if l == nil {
		e.unsupported("local %s is accumulated before it is set", s.Local.Name)
		return
	}
	if !l.lanes {
		u = 0
	}
	e.assign(l.regs[u], e.combine(s.Op, d, l.regs[u], x), true)
	e.changed(deps{Locals: bit})
}

// combine is op on two values of a local's type.
func (e *emitter) combine(op ir.Op, d ir.DType, a, b reg) reg {
	switch d {
	case ir.Bool:
		return e.combineMask(op, a, b)
	case ir.I64:
		return e.combineGeneral(op, a, b)
	}
	return e.narrowed(e.binary(op, d.Compute(), a, b), d)
}
