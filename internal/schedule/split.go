package schedule

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// A reduction to fewer results than there is work for is split: a first kernel
// reduces parts of the operand, on all workers, a second one combines what the
// parts have left. What is a part goes by the sizes alone, so that the bits are
// the same for any number of workers.
type splitLimits struct {
	total int64 // elements of an operand that is worth a second kernel
	tasks int64 // rows: so many are work enough
	row   int64 // elements of a row: one that fits into the first cache stays whole
	rows  int64 // rows that are reduced to one
	// More columns than that are work enough. They are worth it where strips of
	// them would be read from memory: an operand beyond the caches,
	far  int64 // of so many elements
	tall int64 // and rows,
	wide int64 // and no more columns than the first caches hold sums of.

	part     int // elements of the smallest part
	partRows int // rows of the smallest part of columns
	lanes    int // elements of the smallest part of columns that lie side by side
	parts    int // at most: keeps memory, and the second kernel, small
}

var usualSplit = splitLimits{total: 1 << 18, tasks: 8, row: 1 << 15, rows: 256, far: 1 << 21, tall: 1 << 10, wide: 1 << 14, part: vectorBlock, partRows: 64, lanes: 1 << 15, parts: 256}

// splits tells whether the reduction n is done in parts.
func (s *partition) splits(n *ir.Node) bool {
	if n.Op.Class() != ir.ClassReduce || !s.opt.on("split") {
		return false
	}
	x := n.In[0].Shape
	reduced := ir.N(1)
	for _, a := range n.Attr.Axes {
		reduced = reduced.Mul(x[a])
	}
	_, results := n.Shape.Numel().Bounds()
	_, terms := reduced.Bounds()
	if results < 1 || terms < s.limits.total/results {
		return false
	}
	if contains(n.Attr.Axes, lastAxis(x)) {
		return results < s.limits.tasks && terms >= s.limits.row
	}
	if results < s.limits.tasks*evenLanes {
		return terms >= s.limits.rows
	}
	return results <= s.limits.wide && terms >= s.limits.tall && terms >= s.limits.far/results
}

// splitMember tells whether n can be in a group that splits: a reduction over
// the same elements, or a value of the row.
func (s *partition) splitMember(n *ir.Node, g *group) bool {
	if n.Op.Class() == ir.ClassReduce {
		return !s.reads(n, g)
	}
	return n.Shape.Equal(g.rowShape())
}

// partials is the memory that the first kernel leaves to the second: for each
// part in order, a value for each result.
type partials struct {
	dtype ir.DType
	len   ir.Dim
}

// split lowers one group to two kernels.
type split struct {
	s     *partition
	g     *group
	parts parts
	// interleaved is how many rows lie side by side in the lanes: a part leaves
	// as many values for each result, each of every interleaved-th row.
	interleaved int
	left        map[*ir.Node][]bufferKey // what each reduction leaves
}

func (s *partition) lowerSplit(g *group) ([]lowered, error) {
	sp := &split{s: s, g: g, interleaved: 1, left: map[*ir.Node][]bufferKey{}}
	first, err := sp.first()
	if err != nil {
		return nil, err
	}
	second, err := sp.second()
	if err != nil {
		return nil, err
	}
	return []lowered{first, second}, nil
}

// reductions are the members that are reduced in parts; the others are values
// of the row.
func (sp *split) reductions() (reductions, values []*ir.Node) {
	for _, m := range sp.g.members {
		if m.Op.Class() == ir.ClassReduce {
			reductions = append(reductions, m)
		} else {
			values = append(values, m)
		}
	}
	return reductions, values
}

// rowBuilder starts a kernel over the rows of the group.
func (sp *split) rowBuilder(suffix string) (r *rowBuilder, kept []*loop.Var) {
	b := sp.s.newBuilder()
	b.name = groupName(sp.g) + suffix
	kept, rowIdx := b.axes("r", sp.g.full, func(a int) bool { return !contains(sp.g.axes, a) })
	return &rowBuilder{builder: b, g: sp.g, rowIdx: rowIdx, inner: loop.Vector}, kept
}

// first makes the kernel that reduces the parts.
func (sp *split) first() (lowered, error) {
	r, kept := sp.rowBuilder("_parts")
	members, _ := sp.reductions()
	lanes := len(kept) > 0 && !contains(sp.g.axes, lastAxis(sp.g.full))
	var body []loop.Stmt
	var err error
	switch {
	case lanes:
		body, err = sp.columns(r, members, kept)
	case foldable(members[0].Op):
		body, err = sp.firstFold(r, members)
		body = loop.Collapse(r.nest(kept, loop.Serial, body))
	default:
		body, err = sp.firstArg(r, members[0])
		body = loop.Collapse(r.nest(kept, loop.Serial, body))
	}
	if err != nil {
		return lowered{}, err
	}
	return lowered{r.builder, r.kernel(sp.parts.around(body)), sp.s.nodesOf(&group{members: members})}, nil
}

// firstFold reduces one part of a row.
func (sp *split) firstFold(r *rowBuilder, members []*ir.Node) ([]loop.Stmt, error) {
	accs, nest, err := r.folds(members)
	if err != nil {
		return nil, err
	}
	sp.parts = r.cut(nest, sp.g.rowShape().Numel(), 1)
	body := append(r.row, r.inBlocks([]loop.Stmt{sp.parts.loop}, sp.parts.most)...)
	for i, n := range members {
		body = append(body, sp.leave(r, n, accs[i]))
	}
	return body, nil
}

// folds makes a local for each reduction, set in r.row, and the loops over the
// reduced axes.
func (r *rowBuilder) folds(members []*ir.Node) (accs []*loop.Local, nest *loop.Loop, err error) {
	vars, idx := r.axes("c", r.g.full, func(a int) bool { return contains(r.g.axes, a) })
	at := merge(r.rowIdx, idx, r.g.axes)
	r.hoist = r.rowValue
	var inside []loop.Stmt
	for _, n := range members {
		acc, stmts, err := r.reduce(n, at)
		if err != nil {
			return nil, nil, err
		}
		accs = append(accs, acc)
		r.row = append(r.row, &loop.Set{Local: acc, Value: convert(identity(n.Op, n.DType), acc.DType)})
		inside = append(inside, stmts...)
	}
	return accs, loop.Collapse(r.nest(vars, r.inner, inside))[0].(*loop.Loop), nil
}

// leave stores the value of a part for the second kernel.
func (sp *split) leave(r *rowBuilder, n *ir.Node, l *loop.Local) *loop.Store {
	p := r.param(sp.newLeft(n, l.DType), loop.Write)
	return &loop.Store{Param: p, Index: sp.index(r, sp.parts.number), Value: l.Ref()}
}

// newLeft adds memory for what the parts of n leave.
func (sp *split) newLeft(n *ir.Node, d ir.DType) bufferKey {
	size := sp.g.rowShape().Numel().Mul(ir.N(sp.parts.bound * sp.interleaved))
	key := bufferKey{node: n, parts: &partials{d, size}}
	sp.left[n] = append(sp.left[n], key)
	return key
}

// index is where a part has left its value for the present row.
func (sp *split) index(r *rowBuilder, part *loop.Expr) *loop.Expr {
	row := sp.g.rowShape()
	return loop.AddIndex(loop.MulIndex(part, loop.SizeOf(row.Numel())), linear(r.rowIdx, row))
}

// leftParts is how many values for each result are left.
func (sp *split) leftParts() *loop.Expr {
	return loop.MulIndex(sp.parts.count, loop.Int(sp.interleaved))
}

// second makes the kernel that combines the parts in order and computes the
// values of the row.
func (sp *split) second() (lowered, error) {
	r, kept := sp.rowBuilder("")
	r.inner = loop.Serial
	if len(kept) == 0 {
		r.inner = loop.Vector
	}
	members, values := sp.reductions()
	combine := sp.secondFold
	if !foldable(members[0].Op) {
		combine = sp.secondArg
	}
	body := combine(r, members)
	for _, n := range values {
		e, err := r.compute(n, r.rowIdx, nil)
		if err != nil {
			return lowered{}, err
		}
		l := r.newLocal("v", n.DType)
		body = append(body, &loop.Set{Local: l, Value: e})
		body = append(body, r.result(n, l.Ref())...)
	}
	nodes := append(append([]*ir.Node(nil), members...), sp.s.nodesOf(&group{members: values})...)
	return lowered{r.builder, r.kernel(r.overKept(kept, true, body)), nodes}, nil
}

// secondFold combines what the parts left. Each is a large part of the sum, so
// that blocks of them, and the blocks, are both as few as can be.
func (sp *split) secondFold(r *rowBuilder, members []*ir.Node) []loop.Stmt {
	part := r.variable("part", ir.Dim{})
	var inside, body, after []loop.Stmt
	for _, n := range members {
		key := sp.left[n][0]
		acc := r.newLocal("acc", key.parts.dtype)
		body = append(body, &loop.Set{Local: acc, Value: convert(identity(n.Op, n.DType), acc.DType)})
		inside = append(inside, &loop.Acc{Local: acc, Op: foldOp(n.Op), Value: sp.found(r, key, part)})
		after = append(after, r.result(n, convert(acc.Ref(), n.DType))...)
	}
	l := &loop.Loop{Var: part, Hi: sp.leftParts(), Range: r.inner, Body: inside}
	most, size := sp.parts.bound*sp.interleaved, 1
	for size*size < most {
		size *= 2
	}
	if r.inner == loop.Vector {
		size = vectorBlock
	}
	body = append(body, r.inBlocksOf(size, []loop.Stmt{l}, most)...)
	return append(body, after...)
}

// found reads what a part has left for the present row.
func (sp *split) found(r *rowBuilder, key bufferKey, part *loop.Var) *loop.Expr {
	return loop.Load(r.param(key, loop.Read), key.parts.dtype, sp.index(r, part.Ref()), nil)
}

// result makes a value of the row known, and stores it where it is needed.
func (r *rowBuilder) result(n *ir.Node, value *loop.Expr) []loop.Stmt {
	r.local[n] = func([]*loop.Expr) *loop.Expr { return value }
	if !r.needed(n) {
		return nil
	}
	return []loop.Stmt{r.store(n, r.rowIdx, value)}
}
