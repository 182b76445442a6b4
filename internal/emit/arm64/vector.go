package arm64

import (
	"github.com/sinterml/sinter/internal/emit/arm64/asm"
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/loop"
)

// vectorLoop emits a Vector loop: iterations of several registers, then of one,
// then what is left one by one.
func (e *emitter) vectorLoop(l *loop.Loop, t native.Trip) {
	sums := native.ReducedBy(l)
	copies := e.chooseCopies(t)
	done := int64(0) // iterations of a static loop that are behind us
	for c := copies; c > 0 && !e.Stopped(); c = min(c-1, 1) {
		step := int64(c * wide)
		if t.Static && t.N-done < step {
			continue
		}
		outer := e.partial
		e.partial = e.startPartials(sums, c)
		e.mainLoop(l, t, c, done)
		partial := e.partial
		e.partial = outer
		for _, a := range sums {
			if !e.Stopped() {
				e.reduce(a, partial[a.Local])
			}
		}
		done += (t.N - done) / step * step
	}
	if !t.Static || done < t.N {
		e.laneByLane(l, t, t.Static && t.N-done == 1)
	}
}

// mainLoop runs full registers, copies of them, while there are enough
// iterations.
func (e *emitter) mainLoop(l *loop.Loop, t native.Trip, copies int, done int64) {
	s := e.Scopes[e.Top()]
	step := int64(copies * wide)
	end := e.a.NewLabel()
	once := t.Static && t.N-done < 2*step
	var limit reg // the first value that leaves too few iterations
	if !t.Static {
		limit = e.AddTo(t.Hi, -(step - 1))
		e.cmp(s.Var, limit)
		e.jumpIf(asm.GE, end)
	}
	top := e.a.NewLabel()
	if !once {
		e.mark(loopStart)
		e.label(top)
	}
	e.WithLanes(copies, 0)
	if !once || t.N != done+step {
		e.step(s.Var, step)
	}
	if !once {
		if t.Static {
			e.cmpImm(s.Var, t.Start+t.N-step+1)
		} else {
			e.cmp(s.Var, limit)
		}
		e.jumpIf(asm.LT, top)
		e.mark(loopEnd)
	}
	e.label(end)
}

// laneByLane runs what is left as scalars.
func (e *emitter) laneByLane(l *loop.Loop, t native.Trip, once bool) {
	s := e.Scopes[e.Top()]
	end := e.a.NewLabel()
	if !t.Static {
		e.cmp(s.Var, t.Hi)
		e.jumpIf(asm.GE, end)
	}
	e.ByOne(func() { e.iterate(l, t, once) })
	e.label(end)
}
