package schedule

import (
	"math"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// rows lowers a group around reductions that share their rows. Reductions of
// one level share a pass over the row; a value that needs a reduction's result
// is computed in a later pass.
func (b *builder) rows(g *group) ([]loop.Stmt, error) {
	reduced := map[int]bool{}
	for _, a := range g.axes {
		reduced[a] = true
	}
	kept, rowIdx := b.axes("r", g.full, func(a int) bool { return !reduced[a] })
	lanesOutside := len(kept) > 0 && (!reduced[lastAxis(g.full)] || g.shortWindows(reduced))
	r := &rowBuilder{builder: b, g: g, rowIdx: rowIdx, inner: loop.Vector}
	if lanesOutside {
		r.inner = loop.Serial
	}
	body, err := r.passes()
	if err != nil {
		return nil, err
	}
	return b.overKept(kept, lanesOutside, body), nil
}

// A window lies across lanes, one of which has all of it, though its own elements could
// lie in them, if its last axis has so few, and all of it so many at most.
const (
	shortAxis = 4
	shortRow  = 32
)

// shortWindows tells whether the rows of a group, whose last axis is reduced, are such
// windows. That depends on what is reduced alone: neither other axes nor what else the
// kernel computes may change the order of a sum.
func (g *group) shortWindows(reduced map[int]bool) bool {
	row := 1
	for a, d := range g.full {
		if reduced[a] {
			n, ok := d.Const()
			if row *= n; !ok || row > shortRow {
				return false
			}
		}
	}
	if n, _ := g.full[lastAxis(g.full)].Const(); n > shortAxis {
		return false
	}
	for _, m := range g.members {
		if m.Op.Class() == ir.ClassReduce && !ofWindows(m.In[0], map[*ir.Node]bool{}) {
			return false
		}
	}
	return true
}

// ofWindows tells whether x is computed element by element from windows.
func ofWindows(x *ir.Node, seen map[*ir.Node]bool) bool {
	if x.Op == ir.Window {
		return true
	}
	if seen[x] || !x.Op.Pointwise() && x.Op.Class() != ir.ClassMovement {
		return false
	}
	seen[x] = true
	return slices.ContainsFunc(x.In, func(in *ir.Node) bool { return ofWindows(in, seen) })
}

// overKept runs body for every index of the kept axes, the last of which is
// spread over lanes where lanes says so.
func (b *builder) overKept(kept []*loop.Var, lanes bool, body []loop.Stmt) []loop.Stmt {
	if len(kept) == 0 {
		return body
	}
	last := loop.Serial
	if lanes {
		last = loop.Vector
	}
	return b.parallel(loop.Collapse(b.nest(kept, last, body)))
}

// lastAxis is the last axis that is not of size 1.
func lastAxis(s ir.Shape) int {
	for i := len(s) - 1; i >= 0; i-- {
		if !s[i].IsConst(1) {
			return i
		}
	}
	return len(s) - 1
}

// rowBuilder lowers the work on one row.
type rowBuilder struct {
	*builder
	g      *group
	rowIdx []*loop.Expr // index of the row; 0 along the reduced axes
	inner  loop.Range   // of the innermost loop over the reduced axes
	level  map[*ir.Node]int
	row    []loop.Stmt // sets row values for the pass being built
}

// passes lays out the members by level: row values that are ready, then one
// pass over the row for all that can be done.
func (r *rowBuilder) passes() ([]loop.Stmt, error) {
	level := r.levels()
	top := 0
	for _, l := range level {
		top = max(top, l)
	}
	r.level = level
	held := r.heldInScratch()
	r.hoist = r.rowValue
	var body []loop.Stmt
	for l := 0; l <= top; l++ {
		var now []*ir.Node
		for _, m := range r.g.members {
			if level[m] == l {
				now = append(now, m)
			}
		}
		stmts, err := r.pass(now, held[l])
		if err != nil {
			return nil, err
		}
		body = append(body, stmts...)
	}
	return body, nil
}

// levels numbers the members: what a reduction's result goes into comes one
// level later.
func (r *rowBuilder) levels() map[*ir.Node]int {
	level := map[*ir.Node]int{}
	member := map[*ir.Node]bool{}
	for _, m := range r.g.members {
		member[m] = true
	}
	var of func(n *ir.Node, seen map[*ir.Node]int) int
	of = func(n *ir.Node, seen map[*ir.Node]int) int {
		if l, ok := seen[n]; ok {
			return l
		}
		l := 0
		for _, in := range n.In {
			switch {
			case member[in] && in.Op.Class() == ir.ClassReduce:
				l = max(l, level[in]+1)
			case member[in]:
				l = max(l, level[in])
			case !r.s.isBuffer(in):
				l = max(l, of(in, seen))
			}
		}
		seen[n] = l
		return l
	}
	seen := map[*ir.Node]int{}
	for _, m := range r.g.members {
		level[m] = of(m, seen)
	}
	return level
}

// pass emits one level: values of the row, then a loop over it.
func (r *rowBuilder) pass(members, held []*ir.Node) ([]loop.Stmt, error) {
	var inside, after []loop.Stmt
	r.row = nil
	vars, idx := r.axes("c", r.g.full, func(a int) bool { return contains(r.g.axes, a) })
	at := merge(r.rowIdx, idx, r.g.axes)
	for _, n := range members {
		for ; len(held) > 0 && held[0].ID < n.ID; held = held[1:] { // each may need the other
			e, err := r.compute(held[0], at, nil)
			if err != nil {
				return nil, err
			}
			inside = append(inside, r.hold(held[0], at, e))
		}
		full := n.Shape.Equal(r.g.full)
		switch {
		case n.Op.Class() == ir.ClassReduce:
			acc, stmts, err := r.reduce(n, at)
			if err != nil {
				return nil, err
			}
			r.row = append(r.row, &loop.Set{Local: acc, Value: convert(identity(n.Op, n.DType), acc.DType)})
			inside = append(inside, stmts...)
			ref := convert(acc.Ref(), n.DType)
			r.local[n] = func([]*loop.Expr) *loop.Expr { return ref }
			if r.needed(n) {
				after = append(after, r.store(n, r.rowIdx, ref))
			}
		case full:
			e, err := r.compute(n, at, nil)
			if err != nil {
				return nil, err
			}
			inside = append(inside, r.store(n, at, e))
			r.keep(n, at, e)
		default: // a value of the row
			e, err := r.compute(n, r.rowIdx, nil)
			if err != nil {
				return nil, err
			}
			l := r.newLocal("v", n.DType)
			ref := l.Ref()
			r.row = append(r.row, &loop.Set{Local: l, Value: e})
			r.local[n] = func([]*loop.Expr) *loop.Expr { return ref }
			if r.needed(n) {
				after = append(after, r.store(n, r.rowIdx, ref))
			}
		}
	}
	body := r.row
	if len(vars) == 0 {
		body = append(body, inside...)
	} else if len(inside) > 0 {
		row := loop.Collapse(r.nest(vars, r.inner, inside))
		most, _ := row[0].(*loop.Loop).Hi.AsInt()
		body = append(body, r.inBlocks(row, most)...)
	}
	return append(body, after...), nil
}

// rowValue keeps what is computed once a row in a local: for this row, as a view
// may ask for the value of another.
func (r *rowBuilder) rowValue(n *ir.Node, idx []*loop.Expr, e *loop.Expr) *loop.Expr {
	if !n.Op.Pointwise() || e.Kind != loop.KindApply || !n.Shape.Equal(r.g.rowShape()) || r.s.isBuffer(n) || !r.ofRow(e) || !r.thisRow(idx) {
		return e
	}
	l := r.newLocal("v", n.DType)
	r.row = append(r.row, &loop.Set{Local: l, Value: e})
	ref := l.Ref()
	r.local[n] = func(idx []*loop.Expr) *loop.Expr {
		if !r.thisRow(idx) {
			return nil
		}
		return ref
	}
	return ref
}

// thisRow tells whether idx is that of the row being worked on.
func (r *rowBuilder) thisRow(idx []*loop.Expr) bool {
	return slices.EqualFunc(idx, r.rowIdx, loop.SameIndex)
}

// ofRow tells whether e is the same all along the row. A row value that is part
// of a concatenation is not: it is asked for where there may be none.
func (r *rowBuilder) ofRow(e *loop.Expr) bool {
	row := map[*loop.Var]bool{}
	for _, i := range r.rowIdx {
		i.Walk(func(x *loop.Expr) {
			if x.Kind == loop.KindVar {
				row[x.Var] = true
			}
		})
	}
	same := true
	e.Walk(func(x *loop.Expr) { same = same && (x.Kind != loop.KindVar || row[x.Var]) })
	return same
}

// heldInScratch finds, for each level, the inlined nodes of full shape that
// this and later passes need and that are too dear to compute again: the row
// of their values is kept beside the kernel. A view of one, such as a flip, reads
// elements that are not there yet, of another row, or none: what views are of is
// computed again.
func (r *rowBuilder) heldInScratch() map[int][]*ir.Node {
	if r.inner != loop.Vector {
		return nil
	}
	found := map[*ir.Node]*needed{}
	var all []*ir.Node
	for _, m := range r.g.members {
		level := r.level[m]
		var walk func(n *ir.Node, view bool)
		walk = func(n *ir.Node, view bool) {
			view = view || !n.Op.Pointwise() && n.Op.Class() != ir.ClassReduce
			for _, in := range n.In {
				if r.s.isBuffer(in) {
					continue
				}
				f := found[in]
				if f == nil {
					f = &needed{first: level}
					found[in], all = f, append(all, in)
				}
				if f.by == m && (f.viewed || !view) {
					continue
				}
				f.by, f.viewed = m, f.viewed || view
				f.first, f.last = min(f.first, level), max(f.last, level)
				walk(in, view)
			}
		}
		walk(m, false)
	}
	held := map[int][]*ir.Node{}
	slices.SortFunc(all, func(a, b *ir.Node) int { return a.ID - b.ID })
	for _, n := range all {
		f := found[n]
		if f.last == f.first || f.viewed || !n.Op.Pointwise() || !n.Shape.Equal(r.g.full) || r.s.cost(n) <= functionCost || r.coveredBy(n, found) {
			continue
		}
		held[f.first] = append(held[f.first], n)
	}
	return held
}

// needed is how an inlined node is needed: from one level of passes to another, by a
// member last, and by way of a view.
type needed struct {
	first, last int
	by          *ir.Node
	viewed      bool
}

// coveredBy tells whether keeping n's users keeps it: each is held as long.
func (r *rowBuilder) coveredBy(n *ir.Node, found map[*ir.Node]*needed) bool {
	of := found[n]
	return !slices.ContainsFunc(r.s.users[n.ID], func(u *ir.Node) bool {
		f := found[u]
		return f == nil || !u.Op.Pointwise() || !u.Shape.Equal(r.g.full) || f.first != of.first || f.last != of.last
	})
}

// hold stores n's value into scratch for later passes.
func (r *rowBuilder) hold(n *ir.Node, at []*loop.Expr, e *loop.Expr) loop.Stmt {
	shape := make(ir.Shape, len(r.g.full))
	for i, d := range r.g.full {
		shape[i] = ir.N(1)
		if contains(r.g.axes, i) {
			shape[i] = d
		}
	}
	p := r.scratch(n.DType, shape.Numel())
	here := &at[0]
	r.local[n] = func(idx []*loop.Expr) *loop.Expr {
		if &idx[0] == here {
			return e
		}
		return loop.Load(p, n.DType, linear(idx, shape), nil)
	}
	return &loop.Store{Param: p, Index: linear(at, shape), Value: e}
}

// keep makes a stored element available: as the expression within its own
// pass, as a load in later ones.
func (r *rowBuilder) keep(n *ir.Node, at []*loop.Expr, e *loop.Expr) {
	here := &at[0]
	r.local[n] = func(idx []*loop.Expr) *loop.Expr {
		if len(idx) > 0 && &idx[0] == here {
			return e
		}
		return loop.Load(r.param(bufferKey{node: n}, loop.Write), n.DType, linear(idx, n.Shape), nil)
	}
}

// needed tells whether anything outside of the kernel reads n.
func (r *rowBuilder) needed(n *ir.Node) bool {
	if r.s.out[n.ID] {
		return true
	}
	in := map[*ir.Node]bool{}
	for _, m := range r.g.members {
		in[m] = true
	}
	var outside func(n *ir.Node) bool
	outside = func(n *ir.Node) bool {
		for _, u := range r.s.users[n.ID] {
			if r.s.root[u.ID] {
				if !in[u] {
					return true
				}
			} else if outside(u) {
				return true
			}
		}
		return false
	}
	return outside(n)
}

// reduce accumulates n's operand at index at.
func (r *rowBuilder) reduce(n *ir.Node, at []*loop.Expr) (*loop.Local, []loop.Stmt, error) {
	x, err := r.value(n.In[0], at, nil)
	if err != nil {
		return nil, nil, err
	}
	acc := r.newLocal("acc", n.DType.Compute()) // narrow types are rounded once, at the end
	return acc, []loop.Stmt{&loop.Acc{Local: acc, Op: foldOp(n.Op), Value: convert(x, acc.DType)}}, nil
}

func convert(e *loop.Expr, d ir.DType) *loop.Expr {
	if e.DType == d {
		return e
	}
	return loop.Apply(ir.Cast, d, e)
}

func foldOp(op ir.Op) ir.Op {
	switch op {
	case ir.ReduceProd:
		return ir.Mul
	case ir.ReduceMax:
		return ir.Max
	case ir.ReduceMin:
		return ir.Min
	}
	return ir.Add
}

// identity is the value that a reduction over nothing has.
func identity(op ir.Op, d ir.DType) *loop.Expr {
	v := 0.0
	switch op {
	case ir.ReduceProd:
		v = 1
	case ir.ReduceMax, ir.ReduceMin:
		sign := -1
		if op == ir.ReduceMin {
			sign = 1
		}
		if d.IsInt() {
			return loop.Const(d, extreme(d, sign))
		}
		v = math.Inf(sign)
	}
	bits, _ := ir.Bits(d, v) // 0, 1 and infinities fit every type they are asked for
	return loop.Const(d, bits)
}

// extreme is the bits of the smallest (sign < 0) or largest integer of type d.
func extreme(d ir.DType, sign int) uint64 {
	width := 8 * d.Size()
	all := ^uint64(0) >> (64 - width)
	switch {
	case d.IsUnsigned() && sign < 0:
		return 0
	case d.IsUnsigned():
		return all
	case sign < 0:
		return 1 << (width - 1)
	}
	return all >> 1
}

func contains(axes []int, a int) bool {
	for _, x := range axes {
		if x == a {
			return true
		}
	}
	return false
}
