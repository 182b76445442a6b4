package loop

import (
	"errors"
	"fmt"

	"github.com/sinterml/sinter/internal/ir"
)

// Cost is what a run of a kernel takes at given sizes. What does not change in
// a loop counts once for the loop, as every target computes it.
type Cost struct {
	// Operations of arithmetic on elements: a multiply-add is two, a cast or
	// index arithmetic none. Of a function that targets expand (Expand) it is
	// one: expand first.
	Operations float64
	// Reads and Writes are the accesses to the elements of each param.
	Reads, Writes []float64
}

// Bytes is what the kernel has to move between memory and the processor: no
// element of a param more than once each way, none of scratch memory.
func (c *Cost) Bytes(k *Kernel, env ir.Env) (read, written float64, err error) {
	for i, p := range k.Params {
		if p.Use == Scratch {
			continue
		}
		n, err := p.Len.Eval(env)
		if err != nil {
			return 0, 0, err
		}
		size := float64(p.DType.Size())
		if p.Use != Write {
			read += size * min(c.Reads[i], float64(n))
		}
		written += size * min(c.Writes[i], float64(n))
	}
	return read, written, nil
}

// CostOf counts k at the sizes of env.
func CostOf(k *Kernel, env ir.Env) (Cost, error) {
	c := counter{
		env: env, vars: map[*Var]int64{}, levels: map[*Var]int{}, locals: map[*Local]int{},
		cost: Cost{Reads: make([]float64, len(k.Params)), Writes: make([]float64, len(k.Params))},
		runs: []float64{1},
	}
	if err := c.body(k.Body); err != nil {
		return Cost{}, fmt.Errorf("cost of kernel %s: %w", k.Name, err)
	}
	return c.cost, nil
}

// counter walks statements inside loops numbered from 1; level 0 is outside.
type counter struct {
	env    ir.Env
	vars   map[*Var]int64
	levels map[*Var]int   // number of the variable's loop
	locals map[*Local]int // number of the loop that a local was last set in
	runs   []float64      // how often a statement at a level runs
	seen   map[*Expr]int  // levels of what is counted, in this iteration of the loops that are walked one by one
	cost   Cost
}

func (c *counter) value(v *Var) int64 { return c.vars[v] }

func (c *counter) level() int { return len(c.runs) - 1 }

func (c *counter) body(body []Stmt) error {
	if c.seen == nil {
		c.seen = map[*Expr]int{}
	}
	for _, s := range body {
		switch s := s.(type) {
		case *Loop:
			if err := c.loop(s); err != nil {
				return err
			}
		case *Set:
			c.locals[s.Local] = c.level()
			c.expr(s.Value)
		case *Acc:
			c.expr(s.Value)
			c.locals[s.Local] = c.level()
			if s.Local.DType != ir.I64 {
				c.cost.Operations += c.runs[c.level()]
			}
		case *Store:
			c.expr(s.Index)
			c.expr(s.Value)
			c.expr(s.Valid)
			c.cost.Writes[s.Param] += c.runs[c.level()]
		}
	}
	return nil
}

// maxWalked is how many iterations are looked at one by one.
const maxWalked = 1024

// loop counts the body once for all iterations; one by one, or some for all,
// where bounds of loops inside depend on the variable.
func (c *counter) loop(l *Loop) error {
	lo := int64(0)
	var err error
	if l.Lo != nil {
		if lo, err = EvalIndex(l.Lo, c.env, c.value); err != nil {
			return err
		}
	}
	hi, err := EvalIndex(l.Hi, c.env, c.value)
	if err != nil || hi <= lo {
		return err
	}
	n, steps := hi-lo, int64(1)
	if boundsUse(l.Body, l.Var) {
		steps = min(n, maxWalked)
	}
	c.levels[l.Var] = c.level() + 1
	c.runs = append(c.runs, c.runs[c.level()]*float64(n)/float64(steps))
	outer := c.seen
	for i := range steps {
		if steps > 1 {
			c.seen = nil
		}
		c.vars[l.Var] = lo + i*n/steps
		if err := c.body(l.Body); err != nil {
			return err
		}
	}
	c.seen = outer
	c.runs = c.runs[:c.level()]
	return nil
}

// boundsUse tells whether the bounds of a loop in body depend on v.
func boundsUse(body []Stmt, v *Var) bool {
	uses := false
	for _, s := range body {
		l, ok := s.(*Loop)
		if !ok {
			continue
		}
		for _, e := range []*Expr{l.Lo, l.Hi} {
			if e != nil {
				e.Walk(func(x *Expr) { uses = uses || x.Kind == KindVar && x.Var == v })
			}
		}
		uses = uses || boundsUse(l.Body, v)
	}
	return uses
}

// expr counts an expression and returns the innermost level in which it
// changes.
func (c *counter) expr(e *Expr) (level int) {
	if e == nil {
		return 0
	}
	switch e.Kind {
	case KindVar:
		return c.levels[e.Var]
	case KindLocal:
		return c.locals[e.Local]
	}
	if level, ok := c.seen[e]; ok {
		return level
	}
	for _, a := range e.Args {
		level = max(level, c.expr(a))
	}
	level = min(level, c.level())
	c.seen[e] = level
	switch {
	case e.Kind == KindLoad:
		c.cost.Reads[e.Param] += c.runs[level]
	case e.Kind == KindApply && e.DType != ir.I64:
		c.cost.Operations += c.runs[level] * operations(e.Op)
	}
	return level
}

func operations(op ir.Op) float64 {
	switch op {
	case ir.FMA:
		return 2
	case ir.Cast, ir.Bitcast:
		return 0
	}
	return 1
}

// EvalIndex computes index arithmetic over sizes and variables; value is nil
// where there are none.
func EvalIndex(e *Expr, env ir.Env, value func(*Var) int64) (int64, error) {
	switch e.Kind {
	case KindConst:
		return int64(e.Bits), nil
	case KindSize:
		n, err := e.Size.Eval(env)
		return int64(n), err
	case KindVar:
		return value(e.Var), nil
	case KindApply:
		if len(e.Args) != 2 || e.DType != ir.I64 {
			break
		}
		x, err := EvalIndex(e.Args[0], env, value)
		if err != nil {
			return 0, err
		}
		y, err := EvalIndex(e.Args[1], env, value)
		if err != nil {
			return 0, err
		}
		if y == 0 && (e.Op == ir.IDiv || e.Op == ir.Mod) {
			return 0, fmt.Errorf("an index is %v of %d and 0", e.Op, x)
		}
		return BinaryInt[int64](e.Op)(x, y), nil
	}
	return 0, errors.New("a loop bound that is known only while the kernel runs")
}
