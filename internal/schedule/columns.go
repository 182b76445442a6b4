package schedule

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Reductions over rows, with the columns in lanes. Few columns would leave most
// lanes empty: several rows lie side by side instead. With more columns than a
// target keeps in registers a part keeps what it has so far in memory, and goes
// over whole rows, as memory is read fastest from one end to the other.
const (
	fewColumns    = 32 // so many are widened
	registerLanes = 16 // that every target keeps in registers at once
	evenLanes     = 64 // a multiple of which every target does without a rest
)

// columns is the work on one part with columns in lanes.
type columns struct {
	*rowBuilder
	sp    *split
	state []*loop.Local // of each lane, carried from row to row
	left  []cell        // in which the parts leave the state
	lane  *loop.Var     // of the Vector loops
	width *loop.Expr    // how many lanes there are
	tick  *loop.Var     // counts rows where their place matters
	// Where rows lie side by side, the last may be shorter: total elements, of
	// which so many rows have all lanes.
	total, full *loop.Expr
}

// columns reduces one part of every column.
func (sp *split) columns(r *rowBuilder, members []*ir.Node, kept []*loop.Var) ([]loop.Stmt, error) {
	r.inner = loop.Serial
	c := &columns{rowBuilder: r, sp: sp, lane: kept[len(kept)-1], tick: &loop.Var{Name: "tick"}}
	c.width = loop.SizeOf(r.bounds[c.lane])
	var nest *loop.Loop
	var err error
	if foldable(members[0].Op) {
		c.state, nest, err = r.folds(members)
	} else {
		nest, err = c.arg(members[0])
	}
	if err != nil {
		return nil, err
	}
	rows, least := sp.g.rowShape().Numel(), r.s.limits.partRows
	if len(kept) == 1 && c.widen(&nest) {
		rows = rows.Mul(ir.N(sp.interleaved))
		width, _ := c.width.AsInt()
		least = max(1, r.s.limits.lanes/width)
	}
	nest = replaceVars(nest, map[*loop.Var]*loop.Expr{c.tick: nest.Var.Ref()})
	sp.parts = r.cut(nest, rows, least)
	for _, n := range members {
		for len(sp.left[n]) < len(c.state)/len(members) {
			key := sp.newLeft(n, c.state[len(c.left)].DType)
			c.left = append(c.left, cell{r.param(key, loop.Write), c.place()})
		}
	}
	body := append(c.reduce(nest), c.rest()...)
	return r.nest(kept[:len(kept)-1], loop.Serial, body), nil
}

// arg makes the loop that looks for the extremes of columns.
func (c *columns) arg(n *ir.Node) (*loop.Loop, error) {
	l, e, err := c.along(n, c.rowIdx)
	if err != nil {
		return nil, err
	}
	f := c.newExtreme(n, e, placeType(c.g.full[n.Attr.Axis()]))
	c.state = []*loop.Local{f.best, f.where}
	c.row = append(c.row, f.start(n.Op)...)
	l.Body, l.Range = c.candidate(n, f, e, c.tick), loop.Serial
	return l, nil
}

// widen puts rows side by side, if the lanes then still walk through memory
// one after the other.
func (c *columns) widen(nest **loop.Loop) bool {
	l := *nest
	cols, static := c.width.AsInt()
	if !static || cols > fewColumns || only(l) != nil || len(c.row) > len(c.state) || len(c.checks) > 0 {
		return false
	}
	inner := &loop.Loop{Var: c.lane, Hi: c.width, Range: loop.Vector, Body: l.Body}
	flat := loop.Collapse([]loop.Stmt{&loop.Loop{Var: l.Var, Hi: l.Hi, Range: loop.Serial, Body: []loop.Stmt{inner}}})[0].(*loop.Loop)
	if only(flat) != nil {
		return false
	}
	rows := max(1, registerLanes/cols)
	for rows*cols != registerLanes && rows*cols%evenLanes != 0 {
		rows++
	}
	c.sp.interleaved = rows
	c.lane, c.width = c.variable("r", ir.N(rows*cols)), loop.Int(rows*cols)
	c.total, c.full = flat.Hi, divIndex(flat.Hi, c.width)
	v := c.variable("c", ir.Dim{})
	at := loop.AddIndex(loop.MulIndex(v.Ref(), c.width), c.lane.Ref())
	wide := replaceVars(flat, map[*loop.Var]*loop.Expr{flat.Var: at})
	*nest = &loop.Loop{Var: v, Hi: ceilDiv(flat.Hi, c.width), Range: loop.Serial, Body: wide.Body}
	return true
}

// replaceVars replaces variables in the body of l.
func replaceVars(l *loop.Loop, with map[*loop.Var]*loop.Expr) *loop.Loop {
	body := loop.Rewrite(l.Body, func(e *loop.Expr) *loop.Expr {
		if e.Kind == loop.KindVar && with[e.Var] != nil {
			return with[e.Var]
		}
		return e
	})
	return &loop.Loop{Var: l.Var, Lo: l.Lo, Hi: l.Hi, Range: l.Range, Body: body}
}

// reduce goes over the rows of the part that have all lanes.
func (c *columns) reduce(nest *loop.Loop) []loop.Stmt {
	l := *c.sp.parts.loop
	if c.full != nil {
		l.Hi = loop.Apply(ir.Min, ir.I64, l.Hi, c.full)
	}
	width, static := c.width.AsInt()
	if static && width <= registerLanes || only(nest) != nil {
		body := append(c.row, c.inBlocks([]loop.Stmt{&l}, c.sp.parts.most)...)
		return c.lanes(c.width, append(body, c.stores(c.left)...))
	}
	body := c.lanes(c.width, append(c.row, c.stores(c.left)...))
	sums := c.sums(l.Body)
	if most := c.sp.parts.most; len(sums) == 0 || most > 0 && most <= serialBlock {
		l.Body = c.lanes(c.width, c.step(c.left, l.Body))
		return append(body, &l)
	}
	return append(body, c.blocks(&l, sums))
}

// cell is where the state of a lane is kept.
type cell struct {
	param int
	index *loop.Expr
}

// step goes on from what the cells hold.
func (c *columns) step(cells []cell, body []loop.Stmt) []loop.Stmt {
	carried := map[*loop.Local]bool{}
	var out []loop.Stmt
	for i, s := range c.state {
		carried[s] = true
		out = append(out, &loop.Set{Local: s, Value: loop.Load(cells[i].param, s.DType, cells[i].index, nil)})
	}
	for _, s := range c.row {
		if !carried[s.(*loop.Set).Local] {
			out = append(out, s)
		}
	}
	return append(append(out, body...), c.stores(cells)...)
}

func (c *columns) stores(cells []cell) []loop.Stmt {
	var out []loop.Stmt
	for i, s := range c.state {
		out = append(out, &loop.Store{Param: cells[i].param, Index: cells[i].index, Value: s.Ref()})
	}
	return out
}

// sums lists the state that is a sum of floats.
func (c *columns) sums(body []loop.Stmt) (at []int) {
	for i, s := range c.state {
		for _, stmt := range body {
			if a, ok := stmt.(*loop.Acc); ok && a.Local == s && a.Op == ir.Add && s.DType.IsFloat() {
				at = append(at, i)
			}
		}
	}
	return at
}

// blocks keeps the sums of a block of rows apart until it has ended, as
// inBlocks does.
func (c *columns) blocks(l *loop.Loop, sums []int) loop.Stmt {
	cells := append([]cell(nil), c.left...)
	var start, end []loop.Stmt
	for _, i := range sums {
		s := c.state[i]
		cells[i] = cell{c.scratch(s.DType, c.bounds[c.lane]), c.lane.Ref()}
		start = append(start, &loop.Store{Param: cells[i].param, Index: cells[i].index, Value: identity(ir.ReduceSum, s.DType)})
		sum := loop.Apply(ir.Add, s.DType, loop.Load(c.left[i].param, s.DType, c.left[i].index, nil), loop.Load(cells[i].param, s.DType, cells[i].index, nil))
		end = append(end, &loop.Store{Param: c.left[i].param, Index: c.left[i].index, Value: sum})
	}
	outer, rows := c.blocksOf(l, serialBlock)
	rows.Body = c.lanes(c.width, c.step(cells, l.Body))
	outer.Body = append(append(c.lanes(c.width, start), &rows), c.lanes(c.width, end)...)
	return outer
}

// rest goes over the row that is shorter, in the part that has it.
func (c *columns) rest() []loop.Stmt {
	if c.full == nil {
		return nil
	}
	if n, ok := c.total.AsInt(); ok {
		if width, _ := c.width.AsInt(); n%width == 0 {
			return nil
		}
	}
	l := *c.sp.parts.loop
	l.Lo = loop.Apply(ir.Max, ir.I64, l.Lo, c.full)
	lanes := loop.SubIndex(c.total, loop.MulIndex(l.Var.Ref(), c.width))
	l.Body = c.lanes(lanes, c.step(c.left, l.Body))
	return []loop.Stmt{&l}
}

func (c *columns) lanes(n *loop.Expr, body []loop.Stmt) []loop.Stmt {
	return []loop.Stmt{&loop.Loop{Var: c.lane, Hi: n, Range: loop.Vector, Body: body}}
}

// place is where the part leaves the state of a lane.
func (c *columns) place() *loop.Expr {
	if c.full == nil {
		return c.sp.index(c.rowBuilder, c.sp.parts.number)
	}
	return loop.AddIndex(loop.MulIndex(c.sp.parts.number, c.width), c.lane.Ref())
}
