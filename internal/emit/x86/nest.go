package x86

import (
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
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
		e.jumpUnless(t.Lo, endOf(t), end)
	}
	e.Enter(s, t.Lo)
	switch {
	case l.Range != loop.Vector:
		e.serialLoop(l, t, false)
	case e.plan[l] == oneByOne:
		e.accumulates(l, 1)
		e.serialLoop(l, t, false)
	default:
		e.vectorLoop(l, t)
		if e.GiveUp == l && e.apart { // which loops behind it have to run otherwise, too, shows now
			e.again, e.GiveUp = true, nil
		}
	}
	e.Leave()
	e.label(end)
}

// ConstantEnd tells whether n fits the immediate of a comparison.
func (e *emitter) ConstantEnd(n int64, _ bool) bool { return int64(int32(n)) == n }

// endOf is the end of a range, a register or an immediate.
func endOf(t native.Trip) operand {
	if t.Hi == 0 {
		return imm(t.End)
	}
	return r(t.Hi)
}

func (e *emitter) jumpUnless(lo reg, hi operand, end asm.Label) {
	e.cmp(lo, hi)
	e.jumpIf(asm.GE, end)
}

// cmp compares a register with a register or an immediate.
func (e *emitter) cmp(x reg, y operand) {
	if y.kind == noOperand {
		e.doImm(asm.CMP, int64(y.bits), r(x))
		return
	}
	e.do(asm.CMP, r(x), y)
}

// imm is an immediate where a register would do as well.
func imm(n int64) operand { return operand{bits: uint64(n)} }

// serialLoop emits the iterations from the value of the scope's variable on,
// of which there is at least one.
func (e *emitter) serialLoop(l *loop.Loop, t native.Trip, rest bool) {
	s := e.Scopes[e.Top()]
	once := t.Static && t.N == 1 && !rest
	top := e.a.NewLabel()
	if !once {
		e.mark(loopStart)
		e.label(top)
	}
	e.Stmts(l.Body)
	if !once {
		e.step(s.Var, 1)
		e.cmp(s.Var, endOf(t))
		e.jumpIf(asm.LT, top)
		e.mark(loopEnd)
	}
}

// step adds n to a variable.
func (e *emitter) step(v reg, n int64) {
	in := e.inst(asm.ADD, classes, []operand{r(v)})
	in.tied, in.dst, in.imm, in.hasImm = true, v, n, true
	e.Add(in)
}
