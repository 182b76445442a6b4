package x86

import (
	"math"

	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/loop"
)

// vectorLoop emits a Vector loop: iterations of several full registers, then
// what is left in masked registers, or one lane at a time.
func (e *emitter) vectorLoop(l *loop.Loop, t native.Trip) {
	copies := e.chooseCopies(t)
	step := int64(copies * e.wide())
	sums := native.ReducedBy(l)
	e.accumulates(l, copies)
	main := !t.Static || t.N >= step
	rest := !t.Static || t.N%step != 0
	outer := e.partial
	masked := rest && e.plan[l] == maskedTail
	if main || masked {
		e.partial = e.startPartials(l, sums, copies)
	}
	if main {
		e.mainLoop(l, t, copies)
	}
	if masked {
		e.maskedLoop(l, t, main, step)
	}
	if e.partial != nil && !e.Stopped() {
		done := e.partial
		e.partial = outer
		for _, a := range sums {
			e.reduce(a.Local, done[a.Local])
		}
	}
	e.partial = outer
	if rest && !masked {
		e.laneByLane(l, t, main)
	}
}

// mainLoop runs full registers while there are enough iterations.
func (e *emitter) mainLoop(l *loop.Loop, t native.Trip, copies int) {
	s := e.Scopes[e.Top()]
	step := int64(copies * e.wide())
	end := e.a.NewLabel()
	var limit operand
	if t.Static {
		limit = imm(t.Start + t.N - step + 1)
	} else if t.Hi == 0 {
		limit = imm(t.End - step + 1)
	} else {
		limit = r(e.AddTo(t.Hi, -(step - 1)))
	}
	if limit.kind == noOperand && int64(int32(limit.bits)) != int64(limit.bits) {
		limit = r(e.gImm(asm.MOV, int64(limit.bits)))
	}
	if !t.Static {
		e.jumpUnless(s.Var, limit, end)
	}
	top := e.a.NewLabel()
	once := t.Static && t.N < 2*step
	if !once {
		e.mark(loopStart)
		e.mark(alignLoop)
		e.label(top)
	}
	e.WithLanes(copies, 0)
	if !once || !t.Static || t.N%step != 0 {
		e.step(s.Var, step)
	}
	if !once {
		e.cmp(s.Var, limit)
		e.jumpIf(asm.LT, top)
		e.mark(loopEnd)
	}
	e.label(end)
}

// maskedLoop runs what mainLoop left, a register at a time, with a mask of the
// lanes below the end.
func (e *emitter) maskedLoop(l *loop.Loop, t native.Trip, main bool, step int64) {
	s := e.Scopes[e.Top()]
	w := int64(e.wide())
	end := e.a.NewLabel()
	if !t.Static && main {
		e.jumpUnless(s.Var, endOf(t), end)
	}
	left := int64(math.MaxInt64)
	if t.Static {
		left = t.N
		if main {
			left = t.N % step
		}
	}
	once := left <= w
	top := e.a.NewLabel()
	if !once {
		e.mark(loopStart)
		e.label(top)
	}
	var k reg
	switch {
	case e.isa == AVX2:
		count := e.broadcastGeneral(e.difference(endOf(t), s.Var), asm.VPBROADCASTD)
		k = e.v(asm.VPCMPGTD, r(count), r(e.laneNumbers(1, 0)))
	case once:
		k = e.kmask(asm.KMOVW, r(e.gImm(asm.MOV, 1<<left-1)))
	default:
		k = e.kmask(asm.KMOVW, r(e.lowBits(e.difference(endOf(t), s.Var))))
	}
	e.WithLanes(1, k)
	if !once {
		e.step(s.Var, w)
		e.cmp(s.Var, endOf(t))
		e.jumpIf(asm.LT, top)
		e.mark(loopEnd)
	}
	e.label(end)
}

// lowBits is a mask of the lowest count lanes. BZHI looks at eight bits of the
// count only; fewer than 4*16 iterations are left for the masked loop.
func (e *emitter) lowBits(count reg) reg {
	ones := e.gImm(asm.MOV, -1)
	return e.g(asm.BZHI, r(ones), r(count))
}

// difference is hi - v.
func (e *emitter) difference(hi operand, v reg) reg {
	if hi.kind == noOperand {
		return e.gTied(asm.SUB, r(e.gImm(asm.MOV, int64(hi.bits))), r(v))
	}
	return e.gTied(asm.SUB, hi, r(v))
}

// laneByLane runs what mainLoop left as scalars.
func (e *emitter) laneByLane(l *loop.Loop, t native.Trip, main bool) {
	s := e.Scopes[e.Top()]
	end := e.a.NewLabel()
	if !t.Static && main {
		e.jumpUnless(s.Var, endOf(t), end)
	}
	e.ByOne(func() { e.serialLoop(l, t, true) })
	e.label(end)
}
