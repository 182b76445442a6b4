package x86

import (
	"math"

	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/loop"
)

// vectorLoop emits a Vector loop: iterations of several full registers, then
// what is left in masked registers, or one lane at a time.
func (e *emitter) vectorLoop(l *loop.Loop, t trip, run *block) {
	s := e.scopes[e.top()]
	level := e.top()
	s.body = run
	e.at = level
	copies := e.chooseCopies(l, t)
	step := int64(copies * e.wide())
	sums := native.ReducedBy(l)
	e.accumulates(l, copies)
	e.startAt(s.v, t)
	main := !t.static || t.n >= step
	rest := !t.static || t.n%step != 0
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
	if e.partial != nil && !e.stopped() {
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
func (e *emitter) mainLoop(l *loop.Loop, t trip, copies int) {
	s := e.scopes[e.top()]
	step := int64(copies * e.wide())
	end := e.a.NewLabel()
	var limit operand
	if t.static {
		limit = imm(t.start + t.n - step + 1)
	} else if t.hi.kind == noOperand {
		limit = imm(int64(t.hi.bits) - step + 1)
	} else {
		limit = r(e.addTo(t.hi.reg, -(step - 1)))
	}
	if limit.kind == noOperand && int64(int32(limit.bits)) != int64(limit.bits) {
		limit = r(e.gImm(asm.MOV, int64(limit.bits)))
	}
	if !t.static {
		e.jumpUnless(s.v, limit, end)
	}
	top := e.a.NewLabel()
	once := t.static && t.n < 2*step
	if !once {
		e.mark(loopStart)
		e.mark(alignLoop)
		e.label(top)
	}
	e.withLanes(copies, 0, l)
	if !once || !t.static || t.n%step != 0 {
		e.step(s.v, step)
	}
	if !once {
		e.cmp(s.v, limit)
		e.jumpIf(asm.LT, top)
		e.mark(loopEnd)
	}
	e.label(end)
}

// maskedLoop runs what mainLoop left, a register at a time, with a mask of the
// lanes below the end.
func (e *emitter) maskedLoop(l *loop.Loop, t trip, main bool, step int64) {
	s := e.scopes[e.top()]
	w := int64(e.wide())
	end := e.a.NewLabel()
	if !t.static && main {
		e.jumpUnless(s.v, t.hi, end)
	}
	left := int64(math.MaxInt64)
	if t.static {
		left = t.n
		if main {
			left = t.n % step
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
		count := e.broadcastGeneral(e.difference(t.hi, s.v), asm.VPBROADCASTD)
		k = e.v(asm.VPCMPGTD, r(count), r(e.laneNumbers(1)))
	case once:
		k = e.kmask(asm.KMOVW, r(e.gImm(asm.MOV, 1<<left-1)))
	default:
		k = e.kmask(asm.KMOVW, r(e.lowBits(e.difference(t.hi, s.v))))
	}
	e.withLanes(1, k, l)
	if !once {
		e.step(s.v, w)
		e.cmp(s.v, t.hi)
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

// withLanes emits the body of a Vector loop for so many registers a value.
func (e *emitter) withLanes(copies int, tail reg, l *loop.Loop) {
	s := e.scopes[e.top()]
	s.inside = memo{}
	bound, locals := len(e.bound), e.laneLocal
	e.lanes = lanes{level: e.top(), copies: copies, mask: tail}
	e.stmts(l.Body)
	e.lanes = lanes{}
	e.laneLocal = locals
	e.forget(bound)
	s.inside = memo{}
}

// laneByLane runs what mainLoop left as scalars.
func (e *emitter) laneByLane(l *loop.Loop, t trip, main bool) {
	s := e.scopes[e.top()]
	end := e.a.NewLabel()
	if !t.static && main {
		e.jumpUnless(s.v, t.hi, end)
	}
	s.inside = memo{}
	bound := len(e.bound)
	e.serialLoop(l, t, true)
	e.forget(bound)
	e.label(end)
}
