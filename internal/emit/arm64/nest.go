package arm64

import (
	"github.com/sinterml/sinter/internal/emit/arm64/asm"
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/loop"
)

// scope is a loop that is being built; the outermost is the kernel itself.
type scope struct {
	loop    *loop.Loop
	changes deps   // what differs between its iterations
	early   *block // runs once, even if there is no iteration: arithmetic on pointers
	pre     *block // runs once before the first iteration, if there is one
	body    *block
	before  memo // values made in pre
	inside  memo // values made in body so far
	v       reg  // the variable
}

func newScope(l *loop.Loop, v reg, changes deps) *scope {
	return &scope{loop: l, v: v, changes: changes, early: &block{}, pre: &block{}, body: &block{}, before: memo{}, inside: memo{}}
}

// depth is the innermost scope in which values with these dependencies differ
// from iteration to iteration.
func (e *emitter) depth(d deps) int {
	for i := len(e.scopes) - 1; i > 0; i-- {
		if d.Meets(e.scopes[i].changes) {
			return i
		}
	}
	return 0
}

func (e *emitter) top() int { return len(e.scopes) - 1 }

// inVector tells whether the code being written works on lanes.
func (e *emitter) inVector() bool { return e.lanes.level > 0 && e.at >= e.lanes.level }

// differs is what changes from lane to lane.
func (e *emitter) differs() deps {
	return deps{Vars: e.scopes[e.lanes.level].changes.Vars, Locals: e.laneLocal}
}

// varies tells whether a value differs from lane to lane.
func (e *emitter) varies(n *node) bool { return e.inVector() && n.Deps.Meets(e.differs()) }

// stmts emits statements in order; between loops, all of them for each copy.
func (e *emitter) stmts(body []loop.Stmt) {
	for len(body) > 0 && !e.stopped() {
		if l, ok := body[0].(*loop.Loop); ok {
			e.loop(l)
			body = body[1:]
			continue
		}
		n := 0
		for n < len(body) && !isLoop(body[n]) {
			n++
		}
		for u := range e.copies() {
			for _, s := range body[:n] {
				e.stmt(s, u)
			}
		}
		body = body[n:]
	}
}

func isLoop(s loop.Stmt) bool {
	_, ok := s.(*loop.Loop)
	return ok
}

func (e *emitter) copies() int {
	if e.inVector() {
		return e.lanes.copies
	}
	return 1
}

func (e *emitter) stmt(s loop.Stmt, u int) {
	if e.stopped() {
		return
	}
	switch s := s.(type) {
	case *loop.Set:
		e.set(s, u)
	case *loop.Acc:
		e.acc(s, u)
	case *loop.Store:
		e.store(s, u)
	}
}

// changed drops the values that depend on what was just changed.
func (e *emitter) changed(d deps) { e.scopes[e.top()].inside.drop(d) }

// loop emits a loop of any range.
func (e *emitter) loop(l *loop.Loop) {
	var t trip
	if l.Range == loop.Global && e.top() == 0 {
		t = trip{lo: e.word(native.WordStart), hi: e.word(native.WordEnd)}
	} else {
		t = e.trip(l)
	}
	if t.empty() {
		return
	}
	end := e.a.NewLabel()
	bound := len(e.bound)
	s := newScope(l, e.newReg(gpr), e.changes[l])
	s.changes.Vars |= native.BitOf(e.graph, e.graph.Vars, l.Var)
	outer := e.scopes[e.top()].body
	outer.items = append(outer.items, item{sub: s.early})
	if !t.static {
		e.compareEnd(t.lo, t)
		e.jumpIf(asm.GE, end)
	}
	e.scopes = append(e.scopes, s)
	outer.items = append(outer.items, item{sub: s.pre})
	s.body = &block{}
	outer.items = append(outer.items, item{sub: s.body})
	e.at = e.top()
	e.move(s.v, t.lo)
	if l.Range == loop.Vector && !e.oneByOne[l] {
		e.vectorLoop(l, t)
	} else {
		e.iterate(l, t, t.static && t.n == 1)
	}
	e.scopes = e.scopes[:e.top()]
	e.at = e.top()
	e.forget(bound)
	e.changed(e.changes[l])
	e.label(end)
}

// forget unbinds the locals that got their value since.
func (e *emitter) forget(bound int) {
	for _, l := range e.bound[bound:] {
		delete(e.locals, l)
	}
	e.bound = e.bound[:bound]
}

// trip is the range of a loop.
type trip struct {
	lo, hi reg  // hi is none where static
	static bool // both ends are known
	start  int64
	n      int64
}

func (t trip) empty() bool { return t.static && t.n <= 0 }

func (e *emitter) trip(l *loop.Loop) trip {
	lo := &poly{}
	if l.Lo != nil {
		lo = e.graph.PolyOf(e.graph.Node(l.Lo))
	}
	hi := e.graph.PolyOf(e.graph.Node(l.Hi))
	t := trip{}
	a, aok := lo.Constant()
	b, bok := hi.Constant()
	if t.static = aok && bok; t.static {
		t.start, t.n = a, max(0, b-a)
	}
	if t.empty() {
		return t
	}
	if !t.static {
		t.hi = e.sum(hi)
	}
	t.lo = e.sum(lo)
	return t
}

// compareEnd compares x with the end of the range.
func (e *emitter) compareEnd(x reg, t trip) {
	if t.static {
		e.cmpImm(x, t.start+t.n)
		return
	}
	e.cmp(x, t.hi)
}

// iterate emits the iterations from the value of the scope's variable on, of
// which there is at least one, and no more if once.
func (e *emitter) iterate(l *loop.Loop, t trip, once bool) {
	s := e.scopes[e.top()]
	top := e.a.NewLabel()
	if !once {
		e.mark(loopStart)
		e.label(top)
	}
	e.stmts(l.Body)
	if !once {
		e.step(s.v, 1)
		e.compareEnd(s.v, t)
		e.jumpIf(asm.LT, top)
		e.mark(loopEnd)
	}
}

// step adds n to a variable.
func (e *emitter) step(v reg, n int64) {
	in := e.do(asm.ADDI, v)
	in.dst, in.imm, in.hasImm = v, n, true
}
