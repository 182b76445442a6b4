package entry

import (
	"fmt"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// fewLoops writes a product of few rows as loops of a group.
type fewLoops struct {
	*few
	ct           ir.DType
	parts        int        // param
	batch        *loop.Expr // of the group
	row0, col0   *loop.Expr // first ones of the group
	lane, column *loop.Expr // of a work-item: which values of k it has, and which columns
	sums, totals []*loop.Local
}

// fewKernel makes the entry point.
func (s Shape) fewKernel(name string, f *few) *Kernel {
	g := f.g
	l := &fewLoops{few: f, ct: g.DType.Compute(), parts: len(g.Params)}
	parts := loop.Param{Name: "parts", DType: l.ct, Len: ir.N(f.partsLen()), Use: loop.Scratch}
	work := &loop.Kernel{Name: g.Name, Params: append(append([]loop.Param(nil), g.Params...), parts), Slots: g.Slots, Body: l.body()}
	e := &Kernel{Entry: name, Work: loop.Expand(loop.Share(work)), Items: f.items, Strategy: s.Strategy}
	e.Wide = wideLoads(e.Work, false)
	s.place(e)
	return e
}

// body has a task for each group: panels of columns follow each other, then come
// the next block of rows and the next batch.
func (l *fewLoops) body() []loop.Stmt {
	g := l.g
	panels, blocks := quotient(g.Cols, l.groupCols()), quotient(g.Rows, l.rows)
	task, panel, block := &loop.Var{Name: "task"}, &loop.Var{Name: "panel"}, &loop.Var{Name: "block"}
	l.col0 = loop.MulIndex(panel.Ref(), loop.Int(l.groupCols()))
	l.row0 = loop.MulIndex(block.Ref(), loop.Int(l.rows))
	l.batch = g.Batch.Ref()
	outer := task.Ref() // without the panel
	var around []*loop.Loop
	one := func(v *loop.Var, at *loop.Expr) {
		around = append(around, &loop.Loop{Var: v, Lo: at, Hi: loop.AddIndex(at, loop.Int(1)), Range: loop.Serial})
	}
	single, few := g.BatchSize.IsConst(1), blocks.IsInt(1)
	if single && few {
		task = panel
	} else {
		outer = loop.Apply(ir.IDiv, ir.I64, task.Ref(), panels)
		one(panel, loop.Apply(ir.Mod, ir.I64, task.Ref(), panels))
	}
	switch {
	case few:
		l.row0 = loop.Int(0)
	case single:
		one(block, outer)
	default:
		one(block, loop.Apply(ir.Mod, ir.I64, outer, blocks))
		outer = loop.Apply(ir.IDiv, ir.I64, outer, blocks)
	}
	if single {
		l.batch = loop.Int(0)
	} else {
		one(g.Batch, outer)
	}
	body := []loop.Stmt{l.products(), l.results()}
	for i := len(around) - 1; i >= 0; i-- {
		around[i].Body = body
		body = []loop.Stmt{around[i]}
	}
	count := loop.MulIndex(loop.MulIndex(loop.SizeOf(g.BatchSize), blocks), panels)
	return []loop.Stmt{&loop.Loop{Var: task, Hi: count, Range: loop.Global, Body: body}}
}

// quotient is d/n, rounded up.
func quotient(d ir.Dim, n int) *loop.Expr {
	if size, ok := d.Const(); ok {
		return loop.Int((size + n - 1) / n)
	}
	return loop.Apply(ir.IDiv, ir.I64, loop.AddIndex(loop.SizeOf(d), loop.Int(n-1)), loop.Int(n))
}

// products has each work-item sum up its share and leave that to all.
func (l *fewLoops) products() *loop.Loop {
	item := &loop.Var{Name: "item"}
	beside := loop.Int(l.items / l.lanes)
	l.lane, l.column = loop.Apply(ir.IDiv, ir.I64, item.Ref(), beside), loop.Apply(ir.Mod, ir.I64, item.Ref(), beside)
	if l.deep {
		lanes := loop.Int(l.lanes)
		l.column, l.lane = loop.Apply(ir.IDiv, ir.I64, item.Ref(), lanes), loop.Apply(ir.Mod, ir.I64, item.Ref(), lanes)
	}
	if l.items == l.lanes {
		l.lane, l.column = item.Ref(), loop.Int(0)
	}
	l.locals()
	body := l.zero(l.sums)
	from := l.sums
	turns := l.turns()
	if n, ok := l.longest(); ok && n <= blockTurns(l.step) {
		body = append(body, l.chain(loop.Int(0), turns)...)
	} else {
		body = append(l.zero(l.totals), l.blocks(turns))
		from = l.totals
	}
	for n, sum := range from {
		r, c := n/l.cols, n%l.cols
		at := loop.AddIndex(l.result(loop.Int(r), l.at(c)), l.lane)
		body = append(body, &loop.Store{Param: l.parts, Index: at, Value: sum.Ref()})
	}
	return &loop.Loop{Var: item, Hi: loop.Int(l.items), Range: loop.Item, Body: apart(body)}
}

func (l *fewLoops) locals() {
	local := func(name string, i int, d ir.DType) *loop.Local {
		return &loop.Local{Name: fmt.Sprint(name, i), DType: d}
	}
	for n := range l.rows * l.cols {
		l.sums, l.totals = append(l.sums, local("sum", n, l.ct)), append(l.totals, local("total", n, l.ct))
	}
}

// result is where the parts of a result of the group begin.
func (l *fewLoops) result(row, col *loop.Expr) *loop.Expr {
	n := loop.AddIndex(loop.MulIndex(row, loop.Int(l.groupCols())), col)
	return loop.MulIndex(n, loop.Int(l.lanes+1))
}

// at is the c-th column of a work-item in the group.
func (l *fewLoops) at(c int) *loop.Expr {
	if l.deep || l.beside {
		return loop.AddIndex(loop.MulIndex(l.column, loop.Int(l.cols)), loop.Int(c))
	}
	return loop.AddIndex(l.column, loop.Int(c*l.items/l.lanes))
}

func (l *fewLoops) zero(locals []*loop.Local) []loop.Stmt {
	var body []loop.Stmt
	for _, s := range locals {
		body = append(body, &loop.Set{Local: s, Value: loop.Const(l.ct, 0)})
	}
	return body
}

// turns is how often a work-item takes the values of k of a step, each time
// those behind what all others have taken.
func (l *fewLoops) turns() *loop.Expr {
	if n, ok := l.g.K.Const(); ok && n%(l.step*l.lanes) == 0 {
		return loop.Int(n / (l.step * l.lanes)) // of each
	}
	steps := quotient(l.g.K, l.step)
	left := loop.AddIndex(steps, loop.Int(l.lanes-1))
	return loop.Apply(ir.IDiv, ir.I64, loop.SubIndex(left, l.lane), loop.Int(l.lanes))
}

// longest is the most turns that a work-item has, if that is known.
func (l *fewLoops) longest() (int, bool) {
	n, ok := l.g.K.Const()
	each := l.step * l.lanes
	return (n + each - 1) / each, ok
}

// blockTurns are the turns of a block of a sum: as many products as in those of
// tiles.
func blockTurns(step int) int { return max(1, template.SumBlock/step) }

// blocks sums up in blocks.
func (l *fewLoops) blocks(turns *loop.Expr) *loop.Loop {
	block := &loop.Var{Name: "block"}
	n := blockTurns(l.step)
	from, count := loop.MulIndex(block.Ref(), loop.Int(n)), loop.Int(n)
	if all, ok := turns.AsInt(); !ok || all%n != 0 {
		count = loop.Apply(ir.Min, ir.I64, count, loop.SubIndex(turns, from))
	}
	body := append(l.zero(l.sums), l.chain(from, count)...)
	for i, t := range l.totals {
		body = append(body, &loop.Set{Local: t, Value: loop.Apply(ir.Add, l.ct, t.Ref(), l.sums[i].Ref())})
	}
	all := loop.Apply(ir.IDiv, ir.I64, loop.AddIndex(turns, loop.Int(n-1)), loop.Int(n))
	return &loop.Loop{Var: block, Hi: all, Range: loop.Serial, Body: body}
}

// chain adds the products of count turns, a few together, so that what these read
// is on its way at once.
func (l *fewLoops) chain(from, count *loop.Expr) []loop.Stmt {
	n := l.together()
	whole := loop.Apply(ir.IDiv, ir.I64, count, loop.Int(n))
	all, known := count.AsInt()
	if known {
		whole = loop.Int(all / n)
	}
	body := []loop.Stmt{l.each(from, whole, n)}
	if n > 1 && (!known || all%n != 0) {
		done := loop.MulIndex(whole, loop.Int(n))
		body = append(body, l.each(loop.AddIndex(from, done), loop.SubIndex(count, done), 1))
	}
	return body
}

// each takes count times n turns.
func (l *fewLoops) each(from, count *loop.Expr, n int) *loop.Loop {
	v := &loop.Var{Name: "turn"}
	first := loop.AddIndex(from, loop.MulIndex(v.Ref(), loop.Int(n)))
	var body []loop.Stmt
	for i := range n {
		body = append(body, l.turn(loop.AddIndex(first, loop.Int(i)))...)
	}
	return &loop.Loop{Var: v, Hi: count, Range: loop.Serial, Body: body}
}

// together is how many turns a work-item takes at a time: as many as there are
// registers for the factors of, beside sums, or bytes for, where compilers convert
// factors when they multiply them.
func (l *fewLoops) together() int {
	most := fewTurns
	longest, known := l.longest()
	if known {
		most = min(most, longest)
	}
	words := max(1, l.ct.Size()/4)
	each, limit := words*l.step*(l.rows+l.cols), fewFactors-words*l.rows*l.cols
	switch {
	case l.ahead > 0:
		each, limit = l.step*(l.rows*l.read(l.g.X)+l.cols*l.read(l.g.Y)), l.ahead
	case !known || longest > blockTurns(l.step): // totals and, of lengths that are not known, addresses take as many
		limit = 0
	}
	n := 1
	for 2*n <= most && 2*n*each <= limit && l.part() == l.step {
		n *= 2
	}
	return n
}

// read is the bytes that an operand reads for a value of k.
func (l *fewLoops) read(operand *loop.Expr) int {
	n := 1
	operand.Walk(func(e *loop.Expr) {
		if e.Kind == loop.KindLoad && e.Uses(l.g.Inner) {
			n = max(n, e.DType.Size())
		}
	})
	return n
}

// part is how many values of k of a step there are registers for.
func (l *fewLoops) part() int {
	n := l.step
	for n > 1 && n*(l.rows+l.cols) > fewFactors {
		n /= 2
	}
	return n
}

// turn adds the products of one step.
func (l *fewLoops) turn(turn *loop.Expr) []loop.Stmt {
	first := loop.AddIndex(loop.MulIndex(turn, loop.Int(l.lanes)), l.lane)
	first = loop.MulIndex(first, loop.Int(l.step))
	n := l.part()
	if n == l.step {
		return l.factors(first, n)
	}
	part := &loop.Var{Name: "part"}
	first = loop.AddIndex(first, loop.MulIndex(part.Ref(), loop.Int(n)))
	return []loop.Stmt{&loop.Loop{Var: part, Hi: loop.Int(l.step / n), Range: loop.Serial, Body: l.factors(first, n)}}
}

// factors adds the products of n values of k.
func (l *fewLoops) factors(first *loop.Expr, n int) []loop.Stmt {
	g := l.g
	var body []loop.Stmt
	operand := func(e *loop.Expr, name string, v *loop.Var, at, k *loop.Expr) *loop.Expr {
		e = loop.Substitute(e, map[*loop.Var]*loop.Expr{v: at, g.Inner: k, g.Batch: l.batch})
		if e.DType != l.ct {
			e = loop.Apply(ir.Cast, l.ct, e)
		}
		local := &loop.Local{Name: name, DType: l.ct}
		body = append(body, &loop.Set{Local: local, Value: e})
		return local.Ref()
	}
	for i := range n {
		k := loop.AddIndex(first, loop.Int(i))
		x, y := make([]*loop.Expr, l.rows), make([]*loop.Expr, l.cols)
		for r := range x {
			x[r] = operand(g.X, fmt.Sprintf("x%d_%d", r, i), g.Row, l.row(r), k)
		}
		for c := range y {
			y[c] = operand(g.Y, fmt.Sprintf("y%d_%d", c, i), g.Col, l.col(c), k)
		}
		for n, sum := range l.sums {
			a, b := x[n/l.cols], y[n%l.cols]
			next := loop.Apply(ir.FMA, l.ct, a, b, sum.Ref())
			if !l.ct.IsFloat() {
				next = loop.Apply(ir.Add, l.ct, loop.Apply(ir.Mul, l.ct, a, b), sum.Ref())
			}
			body = append(body, &loop.Set{Local: sum, Value: next})
		}
	}
	return body
}

// row is the r-th row of the group, or the last that there is.
func (l *fewLoops) row(r int) *loop.Expr {
	row := loop.AddIndex(l.row0, loop.Int(r))
	if n, ok := l.g.Rows.Const(); ok && n%l.rows == 0 {
		return row
	}
	return loop.Apply(ir.Min, ir.I64, row, loop.AddIndex(loop.SizeOf(l.g.Rows), loop.Int(-1)))
}

// col is the c-th column of a work-item, or one that there is.
func (l *fewLoops) col(c int) *loop.Expr {
	if n, ok := l.g.Cols.Const(); ok && n%l.groupCols() == 0 {
		return loop.AddIndex(l.col0, l.at(c))
	}
	cols := loop.SizeOf(l.g.Cols)
	if l.beside { // all of them
		first := loop.Apply(ir.Min, ir.I64, loop.AddIndex(l.col0, l.at(0)), loop.AddIndex(cols, loop.Int(-l.cols)))
		return loop.AddIndex(first, loop.Int(c))
	}
	return loop.Apply(ir.Min, ir.I64, loop.AddIndex(l.col0, l.at(c)), loop.AddIndex(cols, loop.Int(-1)))
}

// results has work-items side by side join the parts of results side by side,
// lane by lane, and run the epilogue for those that lie in the product.
func (l *fewLoops) results() *loop.Loop {
	g := l.g
	item := &loop.Var{Name: "item"}
	count, items := l.rows*l.groupCols(), l.items
	number := item.Ref()
	turn := &loop.Var{Name: "turn"}
	if count > items {
		number = loop.AddIndex(item.Ref(), loop.MulIndex(turn.Ref(), loop.Int(items)))
	}
	wide := loop.Int(l.groupCols())
	r, c := loop.Apply(ir.IDiv, ir.I64, number, wide), loop.Apply(ir.Mod, ir.I64, number, wide)
	sum, lane := &loop.Local{Name: "sum", DType: l.ct}, &loop.Var{Name: "lane"}
	part := loop.Load(l.parts, l.ct, loop.AddIndex(loop.MulIndex(number, loop.Int(l.lanes+1)), lane.Ref()), nil)
	acc := sum.Ref()
	if g.DType != l.ct {
		acc = loop.Apply(ir.Cast, g.DType, acc)
	}
	inside := append([]loop.Stmt{&loop.Set{Local: g.Acc, Value: acc}}, l.epilogue()...)
	inside = []loop.Stmt{l.only(g.Col, loop.AddIndex(l.col0, c), g.Cols, inside)}
	body := append(l.zero([]*loop.Local{sum}),
		&loop.Loop{Var: lane, Hi: loop.Int(l.lanes), Range: loop.Unroll, Body: []loop.Stmt{
			&loop.Set{Local: sum, Value: loop.Apply(ir.Add, l.ct, sum.Ref(), part)},
		}}, l.only(g.Row, loop.AddIndex(l.row0, r), g.Rows, inside))
	if count > items {
		left := loop.SubIndex(loop.Int(count+items-1), item.Ref())
		turns := loop.Apply(ir.IDiv, ir.I64, left, loop.Int(items))
		body = []loop.Stmt{&loop.Loop{Var: turn, Hi: turns, Range: loop.Serial, Body: body}}
	}
	return &loop.Loop{Var: item, Hi: loop.Int(min(count, items)), Range: loop.Item, Body: body}
}

// only runs body with v at a place, if that lies below size.
func (l *fewLoops) only(v *loop.Var, at *loop.Expr, size ir.Dim, body []loop.Stmt) *loop.Loop {
	hi := loop.Apply(ir.Min, ir.I64, loop.SizeOf(size), loop.AddIndex(at, loop.Int(1)))
	return &loop.Loop{Var: v, Lo: at, Hi: hi, Range: loop.Serial, Body: body}
}

// epilogue is that of the product, for the group's batch.
func (l *fewLoops) epilogue() []loop.Stmt {
	if l.batch.Kind == loop.KindVar {
		return l.g.Epilogue
	}
	return loop.Rewrite(l.g.Epilogue, func(e *loop.Expr) *loop.Expr {
		if e.Kind == loop.KindVar && e.Var == l.g.Batch {
			return l.batch
		}
		return e
	})
}
