package x86

import (
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
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

// varies tells whether a value differs from lane to lane.
func (e *emitter) varies(n *node) bool {
	return e.inVector() && (n.Deps.Vars&e.scopes[e.lanes.level].changes.Vars != 0 || n.Deps.Locals&e.laneLocal != 0)
}

// stmts emits statements in order; between loops, all of them for each copy,
// woven.
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
		code := e.scopes[e.top()].body
		starts := make([]int, e.copies())
		for u := range starts {
			starts[u] = len(code.items)
			for _, s := range body[:n] {
				e.stmt(s, u)
			}
		}
		if len(starts) > 1 && !e.stopped() {
			e.weave(code, starts)
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
		t = trip{lo: e.word(native.WordStart), hi: r(e.word(native.WordEnd))}
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
		e.jumpUnless(t.lo, t.hi, end)
	}
	e.scopes = append(e.scopes, s)
	outer.items = append(outer.items, item{sub: s.pre})
	run := &block{}
	outer.items = append(outer.items, item{sub: run})
	if l.Range == loop.Vector && e.plan[l] != oneByOne {
		e.vectorLoop(l, t, run)
	} else {
		if l.Range == loop.Vector {
			e.accumulates(l, 1)
		}
		s.body = run
		e.at = e.top()
		e.startAt(s.v, t)
		e.serialLoop(l, t, false)
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
	lo     reg
	hi     operand // a register or an immediate
	static bool
	start  int64 // where static
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
	t.hi = imm(b)
	if !bok || int64(int32(b)) != b {
		t.hi = r(e.sum(hi))
	}
	t.lo = e.sum(lo)
	return t
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

func (e *emitter) startAt(v reg, t trip) { e.move(v, t.lo) }

// serialLoop emits the iterations from the value of the scope's variable on,
// of which there is at least one.
func (e *emitter) serialLoop(l *loop.Loop, t trip, rest bool) {
	s := e.scopes[e.top()]
	once := t.static && t.n == 1 && !rest
	top := e.a.NewLabel()
	if !once {
		e.mark(loopStart)
		e.label(top)
	}
	e.stmts(l.Body)
	if !once {
		e.step(s.v, 1)
		e.cmp(s.v, t.hi)
		e.jumpIf(asm.LT, top)
		e.mark(loopEnd)
	}
}

// step adds n to a variable.
func (e *emitter) step(v reg, n int64) {
	in := e.inst(asm.ADD, classes, []operand{r(v)})
	in.tied, in.dst, in.imm, in.hasImm = true, v, n, true
	e.add(in)
}
