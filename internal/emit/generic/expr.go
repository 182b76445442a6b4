package generic

import (
	"sync/atomic"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// value compiles e, once a statement, or once a Vector loop where it is the
// same throughout.
func (c *compiler) value(e *loop.Expr) operand {
	if e.Kind == loop.KindLocal {
		p := c.locals[e.Local]
		return operand{p.reg, p.lanes}
	}
	if c.vector != nil {
		if o, ok := c.vector.hoisted[e]; ok {
			return o
		}
	}
	if o, ok := c.seen[e]; ok {
		return o
	}
	if c.invariant(e) {
		o := operand{reg: c.register(e.DType, 1, false)}
		made := c.section(func() { c.build(e, o) })
		c.vector.before = append(c.vector.before, made...)
		c.vector.hoisted[e] = o
		return o
	}
	lanes := c.vector != nil && c.classify(e)&perLane != 0
	o := operand{lanes: lanes, reg: c.register(e.DType, room(lanes), true)}
	c.build(e, o)
	c.seen[e] = o
	return o
}

func room(lanes bool) int {
	if lanes {
		return blockLanes
	}
	return 1
}

// operand compiles e and gives its register, in which the value is repeated
// for each lane if lanes are wanted.
func (c *compiler) operand(e *loop.Expr, lanes bool) int {
	o := c.value(e)
	if o.lanes || !lanes {
		return o.reg
	}
	m := moverOf(e.DType)
	if c.invariant(e) {
		r, ok := c.vector.wide[e]
		if !ok {
			r = c.register(e.DType, blockLanes, false)
			c.vector.wide[e] = r
			c.vector.before = append(c.vector.before, m.repeat(r, o.reg, func(*state) int { return blockLanes }))
		}
		return r
	}
	r, ok := c.wide[e]
	if !ok {
		r = c.register(e.DType, blockLanes, true)
		c.wide[e] = r
		c.emit(m.repeat(r, o.reg, func(s *state) int { return s.lanes }))
	}
	return r
}

// build appends the steps that put e into the register of to.
func (c *compiler) build(e *loop.Expr, to operand) {
	dst := to.reg
	switch e.Kind {
	case loop.KindConst:
		c.emit(moverOf(e.DType).constant(dst, e.Bits))
	case loop.KindSize:
		d := c.dim(e.Size)
		c.emit(func(s *state) { define[int64](s, dst, 1)[0] = s.sizes[d] })
	case loop.KindVar:
		c.variable(e, to)
	case loop.KindLoad:
		c.load(e, to)
	case loop.KindIndex:
		c.guard(e, to)
	case loop.KindApply:
		c.apply(e, to)
	}
}

// dim numbers the sizes a kernel evaluates when it starts.
func (c *compiler) dim(d ir.Dim) int {
	for i, have := range c.f.dims {
		if have.Equal(d) {
			return i
		}
	}
	c.f.dims = append(c.f.dims, d)
	return len(c.f.dims) - 1
}

func (c *compiler) variable(e *loop.Expr, to operand) {
	slot := c.vars[e.Var].slot
	c.emit(func(s *state) {
		d := define[int64](s, to.reg, s.count(to.lanes))
		for i := range d {
			d[i] = s.vars[slot] + int64(i)
		}
	})
}

// guard is Index: it clamps and tells the status word.
func (c *compiler) guard(e *loop.Expr, to operand) {
	x, dim, slot := c.operand(e.Args[0], to.lanes), c.dim(e.Size), e.Slot
	c.emit(func(s *state) {
		x, d, n := view[int64](s, x), define[int64](s, to.reg, s.count(to.lanes)), s.sizes[dim]
		for i := range d {
			at := x[i]
			if at < 0 || at >= n {
				// Other workers may set the same word.
				atomic.StoreInt64(&s.args.Status[slot], 1)
				at = max(0, min(at, n-1))
			}
			d[i] = at
		}
	})
}

func (c *compiler) apply(e *loop.Expr, to operand) {
	var x [3]int
	for i, a := range e.Args {
		x[i] = c.operand(a, to.lanes)
	}
	switch e.Op {
	case ir.Where:
		c.emit(moverOf(e.DType).choose(to, x))
		return
	case ir.Bitcast:
		c.emit(func(s *state) { s.regs[to.reg] = s.regs[x[0]] })
		return
	case ir.IDiv, ir.Mod:
		if y := e.Args[1]; y.Kind != loop.KindConst || y.Bits == 0 {
			c.emit(divisor(e.Op, y.DType, x[1], to.lanes))
		}
	}
	f := arithmetic(e.Op, e.Args[0].DType, e.DType)
	c.emit(func(s *state) { f(s, s.count(to.lanes), to.reg, x) })
}
