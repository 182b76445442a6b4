package loop

import (
	"fmt"

	"github.com/sinterml/sinter/internal/ir"
)

// An instruction computes an expression from the values at places x, y and z. Those that
// it has no use for are places of 0, that of a load's condition of 1.
type instruction struct {
	task    task
	to      int
	x, y, z int
	fn      func(x, y, z uint64) uint64 // taskApply, taskDivide
	size    int64                       // taskIndex
	e       *Expr
}

// task is what an instruction does.
type task uint8

const (
	taskApply  task = iota
	taskDivide      // by y, which must not be 0
	taskLoad
	taskIndex
	// What is applied most has no function: additions and products of i64, which indices
	// are made of, and fused ones of f32.
	taskAdd
	taskMul
	taskFMA
)

// An action is a statement behind the code that computes its expressions, operands
// first and each once.
type action struct {
	stmt   Stmt
	code   []instruction
	to     int // place of the variable, local or index
	value  int // Set, Acc, Store
	valid  int // Store
	lo, hi int // Loop
	body   []action
	fn     func(x, y, z uint64) uint64 // Acc
}

// Places that are always there.
const (
	placeZero = iota
	placeOne
)

// translator gives expressions, variables and locals their places.
type translator struct {
	*interp
	exprs  map[*Expr]int
	vars   map[*Var]int
	locals map[*Local]int
	err    error // the first
}

// translate prepares the kernel's statements.
func (in *interp) translate() ([]action, error) {
	in.vals = []uint64{placeZero: 0, placeOne: 1}
	t := &translator{interp: in, exprs: map[*Expr]int{}, vars: map[*Var]int{}, locals: map[*Local]int{}}
	body := t.body(in.k.Body)
	return body, t.err
}

func (t *translator) fail(err error) {
	if t.err == nil && err != nil {
		t.err = fmt.Errorf("kernel %q: %w", t.k.Name, err)
	}
}

func (t *translator) newPlace(v uint64) int {
	t.vals = append(t.vals, v)
	return len(t.vals) - 1
}

// placeOf is the place of a key, a new one when first asked for.
func placeOf[K comparable](t *translator, places map[K]int, key K) int {
	p, ok := places[key]
	if !ok {
		p = t.newPlace(0)
		places[key] = p
	}
	return p
}

func (t *translator) body(stmts []Stmt) []action {
	all := make([]action, len(stmts))
	for i, s := range stmts {
		all[i] = t.action(s)
	}
	return all
}

func (t *translator) action(s Stmt) action {
	a := action{stmt: s}
	done := map[*Expr]bool{}
	place := func(e *Expr, none int) int {
		if e == nil {
			return none
		}
		return t.place(e, &a.code, done)
	}
	switch s := s.(type) {
	case *Loop:
		a.to = placeOf(t, t.vars, s.Var)
		a.lo, a.hi = place(s.Lo, placeZero), place(s.Hi, placeZero)
		a.body = t.body(s.Body)
	case *Set:
		a.to, a.value = placeOf(t, t.locals, s.Local), place(s.Value, placeZero)
	case *Acc:
		a.to, a.value = placeOf(t, t.locals, s.Local), place(s.Value, placeZero)
		a.fn = t.function(s.Op, s.Local.DType, s.Local.DType)
	case *Store:
		a.to, a.value, a.valid = place(s.Index, placeZero), place(s.Value, placeZero), place(s.Valid, placeOne)
	default:
		t.fail(fmt.Errorf("unknown statement %T", s))
	}
	return a
}

func (t *translator) function(op ir.Op, from, to ir.DType) func(x, y, z uint64) uint64 {
	fn := Scalar(op, from, to)
	if fn == nil {
		t.fail(fmt.Errorf("%v of %v gives no %v", op, from, to))
	}
	return fn
}

func (t *translator) size(e *Expr) int64 {
	n, err := e.Size.Eval(t.args.Sizes)
	t.fail(err)
	return int64(n)
}

// place is where the value of e is once the code has run. Code of a statement, which
// has what is done, computes an expression anew.
func (t *translator) place(e *Expr, code *[]instruction, done map[*Expr]bool) int {
	switch e.Kind {
	case KindVar:
		return placeOf(t, t.vars, e.Var)
	case KindLocal:
		return placeOf(t, t.locals, e.Local)
	}
	to, known := t.exprs[e]
	if !known {
		to = t.newPlace(0)
		t.exprs[e] = to
	}
	switch {
	case known && (done[e] || e.Kind == KindConst || e.Kind == KindSize):
		return to
	case e.Kind == KindConst:
		t.vals[to] = e.Bits
		return to
	case e.Kind == KindSize:
		t.vals[to] = uint64(t.size(e))
		return to
	}
	done[e] = true
	c := t.instruction(e, to, code, done) // after those of its operands
	*code = append(*code, c)
	return to
}

func (t *translator) instruction(e *Expr, to int, code *[]instruction, done map[*Expr]bool) instruction {
	var at [3]int
	if e.Kind == KindLoad {
		at[1] = placeOne
	}
	for i, a := range e.Args {
		at[i] = t.place(a, code, done)
	}
	c := instruction{to: to, x: at[0], y: at[1], z: at[2], e: e}
	switch e.Kind {
	case KindApply:
		c.task, c.fn = taskOf(e), t.function(e.Op, e.Args[0].DType, e.DType)
	case KindIndex:
		c.task, c.size = taskIndex, t.size(e)
	case KindLoad:
		c.task = taskLoad
	default:
		t.fail(fmt.Errorf("unknown expression kind %d", e.Kind))
	}
	return c
}

// taskOf is what the instruction for an operation does.
func taskOf(e *Expr) task {
	switch from := e.Args[0].DType; {
	case e.Op == ir.IDiv || e.Op == ir.Mod:
		return taskDivide
	case e.Op == ir.Add && from == ir.I64:
		return taskAdd
	case e.Op == ir.Mul && from == ir.I64:
		return taskMul
	case e.Op == ir.FMA && from == ir.F32:
		return taskFMA
	}
	return taskApply
}
