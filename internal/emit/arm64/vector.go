package arm64

import (
	"github.com/sinterml/sinter/internal/emit/arm64/asm"
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/loop"
)

// vectorLoop emits a Vector loop: iterations of several registers, then of one,
// then what is left one by one.
func (e *emitter) vectorLoop(l *loop.Loop, t trip) {
	sums := native.ReducedBy(l)
	copies := e.chooseCopies(l, t)
	done := int64(0) // iterations of a static loop that are behind us
	for c := copies; c > 0 && !e.stopped(); c = min(c-1, 1) {
		step := int64(c * wide)
		if t.static && t.n-done < step {
			continue
		}
		outer := e.partial
		e.partial = e.startPartials(sums, c)
		e.mainLoop(l, t, c, done)
		partial := e.partial
		e.partial = outer
		for _, a := range sums {
			if !e.stopped() {
				e.reduce(a, partial[a.Local])
			}
		}
		done += (t.n - done) / step * step
	}
	if !t.static || done < t.n {
		e.laneByLane(l, t, t.static && t.n-done == 1)
	}
}

// mainLoop runs full registers, copies of them, while there are enough
// iterations.
func (e *emitter) mainLoop(l *loop.Loop, t trip, copies int, done int64) {
	s := e.scopes[e.top()]
	step := int64(copies * wide)
	end := e.a.NewLabel()
	once := t.static && t.n-done < 2*step
	var limit reg // the first value that leaves too few iterations
	if !t.static {
		limit = e.addTo(t.hi, -(step - 1))
		e.cmp(s.v, limit)
		e.jumpIf(asm.GE, end)
	}
	top := e.a.NewLabel()
	if !once {
		e.mark(loopStart)
		e.label(top)
	}
	e.withLanes(copies, l)
	if !once || t.n != done+step {
		e.step(s.v, step)
	}
	if !once {
		if t.static {
			e.cmpImm(s.v, t.start+t.n-step+1)
		} else {
			e.cmp(s.v, limit)
		}
		e.jumpIf(asm.LT, top)
		e.mark(loopEnd)
	}
	e.label(end)
}

// withLanes emits the body of a Vector loop for so many registers a value.
func (e *emitter) withLanes(copies int, l *loop.Loop) {
	s := e.scopes[e.top()]
	s.inside = memo{}
	bound, locals := len(e.bound), e.laneLocal
	e.lanes = lanes{level: e.top(), copies: copies}
	e.stmts(l.Body)
	e.lanes = lanes{}
	e.laneLocal = locals
	e.forget(bound)
	s.inside = memo{}
}

// laneByLane runs what is left as scalars.
func (e *emitter) laneByLane(l *loop.Loop, t trip, once bool) {
	s := e.scopes[e.top()]
	end := e.a.NewLabel()
	if !t.static {
		e.cmp(s.v, t.hi)
		e.jumpIf(asm.GE, end)
	}
	s.inside = memo{}
	bound := len(e.bound)
	e.iterate(l, t, once)
	e.forget(bound)
	e.label(end)
}
