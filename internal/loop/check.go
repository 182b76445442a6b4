package loop

import (
	"errors"
	"fmt"

	"github.com/sinterml/sinter/internal/ir"
)

// Check tells whether a kernel is well formed: what every emitter may rely on.
// It does not prove that accesses are in bounds, nor that lanes and iterations
// are independent.
func Check(k *Kernel) error {
	c := &checker{k: k, set: map[*Local]bool{}, home: map[*Local]*Loop{}, scope: map[*Var]bool{}}
	err := c.all()
	if err != nil {
		return fmt.Errorf("kernel %q: %w", k.Name, err)
	}
	return nil
}

type checker struct {
	k      *Kernel
	set    map[*Local]bool  // locals that have a value here
	home   map[*Local]*Loop // the Vector loop a local is set in, nil for none
	scope  map[*Var]bool    // variables of the loops around
	vector *Loop            // the Vector or Item loop around, if any
	sums   map[*Local]ir.Op // locals from outside that the Vector loop around accumulates
}

func (c *checker) all() error {
	for i, p := range c.k.Params {
		if !p.DType.Valid() {
			return fmt.Errorf("param %d %s has no dtype", i, p.Name)
		}
		if p.Use < Read || p.Use > Scratch {
			return fmt.Errorf("param %d %s has no use", i, p.Name)
		}
	}
	if err := c.shape(); err != nil {
		return err
	}
	var failed error
	c.k.WalkExprs(func(e *Expr) {
		if failed == nil {
			failed = c.types(e)
		}
	})
	if failed != nil {
		return failed
	}
	return c.body(c.k.Body, 0)
}

// shape finds what is missing altogether, so that walking is safe.
func (c *checker) shape() error {
	seen := map[*Expr]bool{}
	var whole func(e *Expr) error
	whole = func(e *Expr) error {
		if e == nil {
			return errors.New("an expression is missing")
		}
		if seen[e] {
			return nil
		}
		seen[e] = true
		for _, a := range e.Args {
			if err := whole(a); err != nil {
				return err
			}
		}
		return nil
	}
	var failed error
	eachStmt(c.k.Body, func(s Stmt) {
		need, err := exprsOf(s)
		for _, e := range need {
			if err == nil {
				err = whole(e)
			}
		}
		if failed == nil {
			failed = err
		}
	})
	return failed
}

// exprsOf lists the expressions of a statement, nil for one that is missing.
func exprsOf(s Stmt) ([]*Expr, error) {
	var all, optional []*Expr
	ok := true
	switch s := s.(type) {
	case *Loop:
		ok, all, optional = s.Var != nil, []*Expr{s.Hi}, []*Expr{s.Lo}
	case *Set:
		ok, all = s.Local != nil, []*Expr{s.Value}
	case *Acc:
		ok, all = s.Local != nil, []*Expr{s.Value}
	case *Store:
		all, optional = []*Expr{s.Index, s.Value}, []*Expr{s.Valid}
	default:
		return nil, fmt.Errorf("unknown statement %T", s)
	}
	if !ok {
		return nil, errors.New("a loop has no variable, or a statement no local")
	}
	for _, e := range optional {
		if e != nil {
			all = append(all, e)
		}
	}
	return all, nil
}

// arity is how few and how many operands an expression may have.
var arity = map[Kind][2]int{KindLoad: {1, 2}, KindIndex: {1, 1}, KindApply: {1, 3}}

// types checks one expression whose operands have been checked.
func (c *checker) types(e *Expr) error {
	if n := arity[e.Kind]; len(e.Args) < n[0] || len(e.Args) > n[1] {
		return fmt.Errorf("an expression of kind %d has %d operands", e.Kind, len(e.Args))
	}
	want := ir.I64
	switch e.Kind {
	case KindConst:
		if !e.DType.Valid() {
			return errors.New("a constant has no dtype")
		}
		if size := e.DType.Size(); size < 8 && e.Bits>>(8*size) != 0 || e.DType == ir.Bool && e.Bits > 1 {
			return fmt.Errorf("constant bits %#x are no %v", e.Bits, e.DType)
		}
		return nil
	case KindSize:
	case KindVar:
		if e.Var == nil {
			return errors.New("a reference to no variable")
		}
	case KindLocal:
		if e.Local == nil || !e.Local.DType.Valid() {
			return errors.New("a reference to a local without a dtype")
		}
		want = e.Local.DType
	case KindLoad:
		if err := c.access(e.Param, e.Args[0]); err != nil {
			return err
		}
		if len(e.Args) == 2 && e.Args[1].DType != ir.Bool {
			return fmt.Errorf("the condition of a load is %v, not bool", e.Args[1].DType)
		}
		want = c.k.Params[e.Param].DType
	case KindIndex:
		if x := e.Args[0].DType; x != ir.I64 {
			return fmt.Errorf("index guards an i64, not %v: use Cast", x)
		}
		if e.Slot < 0 || e.Slot >= c.k.Slots {
			return fmt.Errorf("status slot %d is outside the kernel's %d", e.Slot, c.k.Slots)
		}
	case KindApply:
		d, err := applyType(e)
		if err != nil {
			return err
		}
		want = d
	default:
		return fmt.Errorf("unknown expression kind %d", e.Kind)
	}
	if e.DType != want {
		return fmt.Errorf("an expression of kind %d %v is %v, not %v", e.Kind, e.Op, e.DType, want)
	}
	return nil
}

// applyType asks the rules of the graph. In loops alone there is shl of f32.
func applyType(e *Expr) (ir.DType, error) {
	if !e.Op.Pointwise() {
		return 0, fmt.Errorf("%v is not pointwise", e.Op)
	}
	if e.isScale() && len(e.Args) == 2 && e.Args[0].DType == ir.F32 && e.Args[1].DType == ir.F32 {
		return ir.F32, nil
	}
	in := make([]ir.Type, len(e.Args))
	for i, a := range e.Args {
		in[i] = ir.Type{DType: a.DType}
	}
	out, err := ir.Infer(e.Op, &ir.Attr{DType: e.DType}, in)
	if err != nil {
		return 0, fmt.Errorf("%v: %w", e.Op, err)
	}
	return out[0].DType, nil
}

func (c *checker) access(param int, index *Expr) error {
	if param < 0 || param >= len(c.k.Params) {
		return fmt.Errorf("param %d is outside the kernel's %d", param, len(c.k.Params))
	}
	if index.DType != ir.I64 {
		return fmt.Errorf("an index of param %s is %v, not i64", c.k.Params[param].Name, index.DType)
	}
	return nil
}

func (c *checker) body(body []Stmt, depth int) error {
	for _, s := range body {
		var err error
		switch s := s.(type) {
		case *Loop:
			err = c.loop(s, depth == 0 && len(body) == 1, depth)
		case *Set:
			err = c.setLocal(s)
		case *Acc:
			err = c.acc(s)
		case *Store:
			err = c.store(s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) loop(l *Loop, alone bool, depth int) error {
	for _, b := range []*Expr{l.Lo, l.Hi} {
		if b == nil {
			continue
		}
		if b.DType != ir.I64 {
			return fmt.Errorf("a bound of loop %s is %v, not i64", l.Var.Name, b.DType)
		}
		if err := c.inScope(b); err != nil {
			return err
		}
		if c.vector != nil && c.vector.Range == Vector && c.varies(b) {
			return fmt.Errorf("a bound of loop %s differs from lane to lane of the vector loop %s", l.Var.Name, c.vector.Var.Name)
		}
	}
	if c.scope[l.Var] {
		return fmt.Errorf("loop %s is inside another of the same variable", l.Var.Name)
	}
	switch l.Range {
	case Global:
		if !alone {
			return fmt.Errorf("global loop %s is not the only statement of the kernel", l.Var.Name)
		}
		if !sizesOnly(l.Lo) || !sizesOnly(l.Hi) {
			return fmt.Errorf("a bound of global loop %s needs more than sizes", l.Var.Name)
		}
	case Unroll:
		if _, ok := l.Hi.AsInt(); !ok || l.Lo != nil && l.Lo.Kind != KindConst {
			return fmt.Errorf("a bound of unrolled loop %s is not constant", l.Var.Name)
		}
	case Vector, Item:
		if c.vector != nil {
			return fmt.Errorf("%v loop %s is inside %v loop %s", l.Range, l.Var.Name, c.vector.Range, c.vector.Var.Name)
		}
		if _, ok := l.Hi.AsInt(); l.Range == Item && (!ok || l.Lo != nil) {
			return fmt.Errorf("item loop %s does not run from 0 to a constant", l.Var.Name)
		}
	case Serial:
	default:
		return fmt.Errorf("loop %s has no range", l.Var.Name)
	}
	return c.inside(l, depth)
}

// inside checks the body of l: what it sets is unset again behind it, as it
// may run no iteration.
func (c *checker) inside(l *Loop, depth int) error {
	before := make(map[*Local]bool, len(c.set))
	for s := range c.set {
		before[s] = true
	}
	c.scope[l.Var] = true
	if l.Range == Vector || l.Range == Item {
		c.vector, c.sums = l, map[*Local]ir.Op{}
		for s := range reduced(l.Body, before) {
			c.sums[s] = ir.NoOp
			if l.Range == Item {
				return fmt.Errorf("local %s is set outside item loop %s and accumulated inside", s.Name, l.Var.Name)
			}
		}
	}
	err := c.body(l.Body, depth+1)
	if l.Range == Vector || l.Range == Item {
		c.vector, c.sums = nil, nil
	}
	delete(c.scope, l.Var)
	c.set = before
	return err
}

// reduced lists the locals that the body of a Vector loop accumulates into
// and that were set before it.
func reduced(body []Stmt, before map[*Local]bool) map[*Local]bool {
	all := map[*Local]bool{}
	eachStmt(body, func(s Stmt) {
		if a, ok := s.(*Acc); ok && before[a.Local] {
			all[a.Local] = true
		}
	})
	return all
}

// eachStmt visits statements and those inside loops, in order.
func eachStmt(body []Stmt, visit func(Stmt)) {
	for _, s := range body {
		visit(s)
		if l, ok := s.(*Loop); ok {
			eachStmt(l.Body, visit)
		}
	}
}

func (c *checker) setLocal(s *Set) error {
	if err := c.inScope(s.Value); err != nil {
		return err
	}
	if s.Value.DType != s.Local.DType {
		return fmt.Errorf("local %s is %v, its value %v", s.Local.Name, s.Local.DType, s.Value.DType)
	}
	if c.set[s.Local] && c.home[s.Local] != c.vector {
		return fmt.Errorf("local %s is set outside vector loop %s and inside", s.Local.Name, c.vector.Var.Name)
	}
	c.set[s.Local], c.home[s.Local] = true, c.vector
	return nil
}

func (c *checker) acc(s *Acc) error {
	l := s.Local
	if err := c.inScope(s.Value); err != nil {
		return err
	}
	if !c.set[l] {
		return fmt.Errorf("local %s is accumulated before it is set", l.Name)
	}
	switch s.Op {
	case ir.Add, ir.Mul, ir.Min, ir.Max, ir.And, ir.Or:
	default:
		return fmt.Errorf("%v does not accumulate", s.Op)
	}
	e := Apply(s.Op, l.DType, l.Ref(), s.Value)
	if _, err := applyType(e); err != nil {
		return fmt.Errorf("local %s: %w", l.Name, err)
	}
	if op, ok := c.sums[l]; ok && c.vector != nil {
		if op != ir.NoOp && op != s.Op {
			return fmt.Errorf("local %s is accumulated by %v and %v in one vector loop", l.Name, op, s.Op)
		}
		c.sums[l] = s.Op
	}
	return nil
}

func (c *checker) store(s *Store) error {
	if err := c.access(s.Param, s.Index); err != nil {
		return err
	}
	p := &c.k.Params[s.Param]
	if p.Use == Read {
		return fmt.Errorf("param %s is read only", p.Name)
	}
	if s.Value.DType != p.DType {
		return fmt.Errorf("param %s is %v, the value stored %v", p.Name, p.DType, s.Value.DType)
	}
	if s.Valid != nil && s.Valid.DType != ir.Bool {
		return fmt.Errorf("the condition of a store to %s is %v, not bool", p.Name, s.Valid.DType)
	}
	for _, e := range []*Expr{s.Index, s.Value, s.Valid} {
		if e == nil {
			continue
		}
		if err := c.inScope(e); err != nil {
			return err
		}
	}
	return nil
}

// inScope checks that what e reads has a value here.
func (c *checker) inScope(e *Expr) error {
	var failed error
	e.Walk(func(x *Expr) {
		switch x.Kind {
		case KindVar:
			if !c.scope[x.Var] {
				failed = fmt.Errorf("variable %s is read outside its loop", x.Var.Name)
			}
		case KindLocal:
			if !c.set[x.Local] {
				failed = fmt.Errorf("local %s is read before it is set", x.Local.Name)
			}
			if _, ok := c.sums[x.Local]; ok {
				failed = fmt.Errorf("local %s is read in vector loop %s that accumulates it", x.Local.Name, c.vector.Var.Name)
			}
		}
	})
	return failed
}

// varies tells whether e may differ between lanes of the Vector loop around.
func (c *checker) varies(e *Expr) bool {
	found := false
	e.Walk(func(x *Expr) {
		found = found || x.Kind == KindVar && x.Var == c.vector.Var ||
			x.Kind == KindLocal && c.home[x.Local] == c.vector
	})
	return found
}

// sizesOnly tells whether e (nil: 0) can be computed from the sizes alone.
func sizesOnly(e *Expr) bool {
	if e == nil {
		return true
	}
	only := true
	e.Walk(func(x *Expr) {
		only = only && (x.Kind == KindConst || x.Kind == KindSize || x.Kind == KindApply)
	})
	return only
}
