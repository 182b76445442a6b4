package x86

import (
	"math"

	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// vectorLoop emits a Vector loop: iterations of several full registers, then
// what is left: with AVX-512 masked registers, with AVX2 one lane at a time.
func (e *emitter) vectorLoop(l *loop.Loop, t trip, run *block) {
	s := e.scopes[e.top()]
	level := e.top()
	copies := e.chooseCopies(l, t)
	step := int64(copies * e.wide())
	s.body = run
	e.at = level
	sums := e.reducedBy(l)
	e.startAt(s.v, t)
	main := !t.static || t.n >= step
	rest := !t.static || t.n%step != 0
	outer := e.partial
	if main || e.isa == AVX512 {
		e.partial = e.startPartials(sums, copies)
	}
	if main {
		e.mainLoop(l, t, copies)
	}
	if rest && e.isa == AVX512 {
		e.maskedLoop(l, t, main)
	}
	if e.partial != nil && !e.stopped() {
		done := e.partial
		e.partial = outer
		for _, a := range sums {
			e.reduce(a.Local, done[a.Local])
		}
	}
	e.partial = outer
	if rest && e.isa == AVX2 {
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
func (e *emitter) maskedLoop(l *loop.Loop, t trip, main bool) {
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
			left = t.n % (int64(e.chooseCopies(l, t)) * w)
		}
	}
	once := left <= w
	top := e.a.NewLabel()
	if !once {
		e.mark(loopStart)
		e.label(top)
	}
	var bits reg
	if once {
		bits = e.gImm(asm.MOV, 1<<left-1)
	} else {
		count := e.difference(t.hi, s.v)
		bits = e.lowBits(count)
	}
	e.withLanes(1, e.kmask(asm.KMOVW, r(bits)), l)
	if !once {
		e.step(s.v, w)
		e.cmp(s.v, t.hi)
		e.jumpIf(asm.LT, top)
		e.mark(loopEnd)
	}
	e.label(end)
}

// lowBits is a mask of the lowest count lanes, count > 0. BZHI looks at eight
// bits of the count only, which the fewer than 4*16 iterations left by the
// main loop fit; without a main loop the count is capped first.
func (e *emitter) lowBits(count reg) reg {
	ones := e.gImm(asm.MOV, -1)
	cap := e.gImm(asm.MOV, 64)
	e.do(asm.CMP, r(count), r(cap))
	count = e.gTied(asm.CMOV(asm.GT), r(count), r(cap))
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
	e.lanes = lanes{level: e.top(), copies: copies, tail: tail}
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

// chooseCopies is how many registers each value of the loop has: several hide
// the latency of accumulating, and of loads in short bodies. It depends on the
// kernel and its static sizes alone, as the order of sums does.
func (e *emitter) chooseCopies(l *loop.Loop, t trip) int {
	held, nodes := 0, map[*node]bool{}
	e.measure(l.Body, &held, nodes)
	registers := 28
	if e.isa == AVX2 {
		registers = 12
	}
	const longBody = 48 // more than this fills a core's window by itself
	copies := 4
	for copies > 1 && (held*copies+4 > registers || len(nodes)*copies > 4*longBody) {
		copies /= 2
	}
	for copies > 1 && t.static && t.n < int64(copies*e.wide()) {
		copies /= 2
	}
	return copies
}

// measure counts the locals of a loop body that occupy registers throughout,
// and collects its operations.
func (e *emitter) measure(body []loop.Stmt, held *int, nodes map[*node]bool) {
	var visit func(n *node)
	visit = func(n *node) {
		if n.Kind != loop.KindApply || nodes[n] || n.DType == ir.I64 {
			return
		}
		nodes[n] = true
		for _, a := range n.args {
			visit(a)
		}
	}
	for _, s := range body {
		switch s := s.(type) {
		case *loop.Loop:
			e.measure(s.Body, held, nodes)
		case *loop.Set:
			visit(e.graph.node(s.Value))
			*held++
		case *loop.Acc:
			visit(e.graph.node(s.Value))
			*held++
		case *loop.Store:
			visit(e.graph.node(s.Value))
		}
	}
}

// reducedBy lists an Acc for each local outside that the loop accumulates
// into.
func (e *emitter) reducedBy(l *loop.Loop) []*loop.Acc {
	set := map[*loop.Local]bool{}
	var accs []*loop.Acc
	var visit func(body []loop.Stmt)
	visit = func(body []loop.Stmt) {
		for _, s := range body {
			switch s := s.(type) {
			case *loop.Loop:
				visit(s.Body)
			case *loop.Set:
				set[s.Local] = true
			case *loop.Acc:
				if !set[s.Local] {
					set[s.Local] = true
					accs = append(accs, s)
				}
			}
		}
	}
	visit(l.Body)
	return accs
}
