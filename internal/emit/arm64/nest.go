package arm64

import (
	"github.com/sinterml/sinter/internal/emit/arm64/asm"
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/loop"
)

// Loop emits a loop of any range.
func (e *emitter) Loop(l *loop.Loop) {
	t := e.TripOf(l)
	if t.Empty() {
		return
	}
	end := e.a.NewLabel()
	s := e.Open(l)
	if !t.Static {
		e.compareEnd(t.Lo, t)
		e.jumpIf(asm.GE, end)
	}
	e.Enter(s, t.Lo)
	if l.Range == loop.Vector && !e.oneByOne[l] {
		e.vectorLoop(l, t)
	} else {
		e.iterate(l, t, t.Static && t.N == 1)
	}
	e.Leave()
	e.label(end)
}

// ConstantEnd tells whether the end n of a loop needs no register: one whose
// length varies has it at hand for several comparisons.
func (e *emitter) ConstantEnd(_ int64, static bool) bool { return static }

// compareEnd compares x with the end of the range.
func (e *emitter) compareEnd(x reg, t native.Trip) {
	if t.Hi == 0 {
		e.cmpImm(x, t.End)
		return
	}
	e.cmp(x, t.Hi)
}

// iterate emits the iterations from the value of the scope's variable on, of
// which there is at least one, and no more if once.
func (e *emitter) iterate(l *loop.Loop, t native.Trip, once bool) {
	s := e.Scopes[e.Top()]
	top := e.a.NewLabel()
	if !once {
		e.mark(loopStart)
		e.label(top)
	}
	e.Stmts(l.Body)
	if !once {
		e.step(s.Var, 1)
		e.compareEnd(s.Var, t)
		e.jumpIf(asm.LT, top)
		e.mark(loopEnd)
	}
}

// step adds n to a variable.
func (e *emitter) step(v reg, n int64) {
	in := e.do(asm.ADDI, v)
	in.dst, in.imm, in.hasImm = v, n, true
}
