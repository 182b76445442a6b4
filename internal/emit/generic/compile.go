package generic

import (
	"maps"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Compile makes a Func of a kernel that Check accepts.
func Compile(k *loop.Kernel) (*Func, error) {
	if err := loop.Check(k); err != nil {
		return nil, err
	}
	c := &compiler{
		f:      &Func{name: k.Name, params: k.Params, slots: k.Slots, symbols: k.Symbols()},
		vars:   map[*loop.Var]variable{},
		locals: map[*loop.Local]place{},
	}
	c.body(k.Body)
	c.f.code = c.code
	return c.f, nil
}

// compiler walks the statements and appends steps.
type compiler struct {
	f      *Func
	code   []step // of the body being compiled
	vars   map[*loop.Var]variable
	locals map[*loop.Local]place
	temps  int // bytes in use by the statement
	vector *vector
	inner  int // loops around inside of the Vector loop

	seen map[*loop.Expr]operand // values of the statement
	wide map[*loop.Expr]int     // those repeated for each lane
}

// variable says where a loop's variable is, and in which Vector loop.
type variable struct {
	slot   int
	vector *vector
}

// place is a local's register.
type place struct {
	reg   int
	lanes bool
	sum   int // of a local that the Vector loop reduces: the register of its partial results, never 0, as the local has one before
}

// operand is a compiled value.
type operand struct {
	reg   int
	lanes bool // one element a lane, else one
}

// vector is the Vector loop around.
type vector struct {
	v       *loop.Var
	before  []step // run once the loop is known to have lanes
	after   []step
	classes map[*loop.Expr]class
	hoisted map[*loop.Expr]operand
	wide    map[*loop.Expr]int
}

func (c *compiler) emit(st step) { c.code = append(c.code, st) }

// register makes one with room for n elements. Temporary ones share their
// memory with those of other statements.
func (c *compiler) register(d ir.DType, n int, temp bool) int {
	bytes := (n*d.Size() + 7) &^ 7
	h := home{temp, c.temps}
	if temp {
		c.temps += bytes
		c.f.temps = max(c.f.temps, c.temps)
	} else {
		h.offset = c.f.kept
		c.f.kept += bytes
	}
	c.f.regs = append(c.f.regs, h)
	return len(c.f.regs) - 1
}

func (c *compiler) body(body []loop.Stmt) {
	for _, s := range body {
		c.temps, c.seen, c.wide = 0, map[*loop.Expr]operand{}, map[*loop.Expr]int{}
		switch s := s.(type) {
		case *loop.Loop:
			c.loop(s)
		case *loop.Set:
			c.set(s)
		case *loop.Acc:
			c.acc(s)
		case *loop.Store:
			c.store(s)
		}
	}
}

// section compiles into a list of steps of its own.
func (c *compiler) section(f func()) []step {
	outer := c.code
	c.code = nil
	f()
	made := c.code
	c.code = outer
	return made
}

func (c *compiler) loop(l *loop.Loop) {
	lo := -1
	if l.Lo != nil {
		lo = c.value(l.Lo).reg
	}
	hi := c.value(l.Hi).reg
	bounds := func(s *state) (int64, int64) {
		if lo < 0 {
			return 0, scalar(s, hi)
		}
		return scalar(s, lo), scalar(s, hi)
	}
	slot := c.f.vars
	c.f.vars++
	if l.Range == loop.Vector {
		c.vectorLoop(l, slot, bounds)
		return
	}
	c.vars[l.Var] = variable{slot, c.vector}
	c.inner++
	body := c.section(func() { c.body(l.Body) })
	c.inner--
	c.emit(func(s *state) {
		lo, hi := bounds(s)
		if l.Range == loop.Global {
			start, end := int64(s.args.Start), int64(s.args.End)
			if start < lo || end > max(hi, lo) {
				s.fail("iterations %d to %d are outside the loop's %d to %d", start, end, lo, hi)
				return
			}
			lo, hi = start, end
		}
		for v := lo; v < hi && s.err == nil; v++ {
			s.vars[slot] = v
			s.run(body)
		}
	})
}

func (c *compiler) vectorLoop(l *loop.Loop, slot int, bounds func(*state) (int64, int64)) {
	vec := &vector{v: l.Var, classes: map[*loop.Expr]class{}, hoisted: map[*loop.Expr]operand{}, wide: map[*loop.Expr]int{}}
	outer, outerInner := c.locals, c.inner
	c.vars[l.Var] = variable{slot, vec}
	c.vector, c.inner = vec, 0
	c.locals = maps.Clone(outer)
	c.laneLocals(l.Body)
	body := c.section(func() { c.body(l.Body) })
	c.vector, c.inner, c.locals = nil, outerInner, outer
	before, after := vec.before, vec.after
	c.emit(func(s *state) {
		lo, hi := bounds(s)
		if lo >= hi {
			return
		}
		s.run(before)
		for v := lo; v < hi && s.err == nil; v += blockLanes {
			s.lanes = int(min(hi-v, blockLanes))
			s.vars[slot] = v
			s.run(body)
		}
		s.run(after)
	})
}

// laneLocals gives places to the locals that live in lanes: those set in the
// Vector loop, and the partial results of those accumulated from outside.
func (c *compiler) laneLocals(body []loop.Stmt) {
	set := map[*loop.Local]bool{}
	var walk func(body []loop.Stmt)
	walk = func(body []loop.Stmt) {
		for _, s := range body {
			switch s := s.(type) {
			case *loop.Loop:
				walk(s.Body)
			case *loop.Set:
				if !set[s.Local] {
					set[s.Local] = true
					c.locals[s.Local] = place{reg: c.register(s.Local.DType, blockLanes, false), lanes: true}
				}
			case *loop.Acc:
				if p := c.locals[s.Local]; !set[s.Local] && p.sum == 0 {
					p.sum = c.reduce(s.Op, s.Local.DType, p.reg)
					c.locals[s.Local] = p
				}
			}
		}
	}
	walk(body)
}

func (c *compiler) set(s *loop.Set) {
	p, ok := c.locals[s.Local]
	if !ok {
		p = place{reg: c.register(s.Local.DType, 1, false)}
		c.locals[s.Local] = p
	}
	from := c.operand(s.Value, p.lanes)
	c.emit(moverOf(s.Local.DType).copy(p.reg, from, p.lanes))
}

func (c *compiler) acc(s *loop.Acc) {
	p, d := c.locals[s.Local], s.Local.DType
	if p.sum != 0 {
		c.emit(accumulate(s.Op, d, p.sum, c.operand(s.Value, true)))
		return
	}
	x := c.operand(s.Value, p.lanes)
	f := arithmetic(s.Op, d, d)
	c.emit(func(s *state) { f(s, s.count(p.lanes), p.reg, [3]int{p.reg, x}) })
}

// class says where in a Vector loop a value may be computed.
type class uint8

const (
	perLane class = 1 << iota // differs from lane to lane
	pinned                    // depends on a loop inside, or on memory that the kernel writes
	risky                     // may fail or set a status word: only where the loop would compute it
)

// classify tells what keeps e in the loop.
func (c *compiler) classify(e *loop.Expr) class {
	if k, ok := c.vector.classes[e]; ok {
		return k
	}
	var k class
	for _, a := range e.Args {
		k |= c.classify(a)
	}
	switch e.Kind {
	case loop.KindVar:
		switch {
		case e.Var == c.vector.v:
			k |= perLane
		case c.vars[e.Var].vector == c.vector:
			k |= pinned
		}
	case loop.KindLocal:
		if c.locals[e.Local].lanes {
			k |= perLane
		}
	case loop.KindLoad:
		k |= risky
		if c.f.params[e.Param].Use != loop.Read {
			k |= pinned
		}
	case loop.KindIndex:
		k |= risky
	case loop.KindApply:
		if e.Op == ir.IDiv || e.Op == ir.Mod {
			k |= risky
		}
	}
	c.vector.classes[e] = k
	return k
}

// invariant tells whether e is the same for the whole Vector loop and can be
// computed before it.
func (c *compiler) invariant(e *loop.Expr) bool {
	if c.vector == nil {
		return false
	}
	k := c.classify(e)
	return k == 0 || k == risky && c.inner == 0
}
