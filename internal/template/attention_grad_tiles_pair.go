package template

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// The methods of this file make what a work-item does with its pairs of a block,
// and with the sums behind the last.

func (c *gradientTiles) lowest() *loop.Expr { return c.number(math.Inf(-1)) }

// factorAt is where the factor of a row and a column is.
func (c *gradientTiles) factorAt(row, col *loop.Expr) *loop.Expr {
	return loop.AddIndex(loop.MulIndex(row, loop.Int(c.factorStride())), col)
}

// pairs computes the factors of a work-item's pairs with the columns that begin
// at first. Products come first: then all registers are theirs.
func (c *gradientTiles) pairs(it *loop.Var, first *loop.Expr) []loop.Stmt {
	var all []loop.Stmt
	for n := range c.widths {
		all = append(all, c.products(it, n)...)
	}
	r, k := &loop.Var{Name: "r"}, &loop.Var{Name: "k"}
	row := loop.AddIndex(c.rowOf(it, 0), loop.MulIndex(r.Ref(), loop.Int(c.rows)))
	col := loop.AddIndex(c.colOf(it), loop.MulIndex(k.Ref(), loop.Int(c.cols)))
	set, sees := c.sees(row)
	columns := &loop.Loop{Var: k, Hi: loop.Int(c.tile.EachCols), Range: loop.Unroll, Body: c.pair(row, col, loop.AddIndex(first, col), sees)}
	return append(all, &loop.Loop{Var: r, Hi: loop.Int(c.tile.EachRows), Range: loop.Serial, Body: append(set, columns)})
}

// products leaves products of rows and columns where their factors will be: of q
// and k, or of the result's gradient and v.
func (c *gradientTiles) products(it *loop.Var, n int) []loop.Stmt {
	rows, cols := c.tile.EachRows, c.tile.EachCols
	dots := make([]*loop.Local, rows*cols)
	var all []loop.Stmt
	for i := range dots {
		set := c.keep("dot", c.number(0))
		dots[i], all = set.Local, append(all, set)
	}
	all = append(all, steps(c.widths[n], func(d *loop.Expr) []loop.Stmt {
		var x, y, sums []loop.Stmt
		load := func(name string, param int, row *loop.Expr) *loop.Set {
			return c.keep(name, loop.Load(param, c.ct, loop.AddIndex(loop.MulIndex(row, loop.Int(c.strides[n])), d), nil))
		}
		for r := range rows {
			x = append(x, load("x", c.still[n], c.rowOf(it, r)))
		}
		for k := range cols {
			y = append(y, load("y", c.passing[n], loop.AddIndex(c.colOf(it), loop.Int(k*c.cols))))
		}
		for i, dot := range dots {
			x, y := x[i/cols].(*loop.Set).Local.Ref(), y[i%cols].(*loop.Set).Local.Ref()
			sums = append(sums, &loop.Set{Local: dot, Value: c.op(ir.FMA, x, y, dot.Ref())})
		}
		return append(append(x, y...), sums...)
	})...)
	for i, dot := range dots {
		at := c.factorAt(c.rowOf(it, i/cols), loop.AddIndex(c.colOf(it), loop.Int(i%cols*c.cols)))
		all = append(all, &loop.Store{Param: c.factors[n], Index: at, Value: dot.Ref()})
	}
	return all
}

// sees is whether a row of the tile and what passes by see each other, from what
// the statements set. Rows behind the last see what that sees.
func (c *gradientTiles) sees(row *loop.Expr) ([]loop.Stmt, func(p *loop.Expr) *loop.Expr) {
	f := c.keep("row", loop.Apply(ir.Min, ir.I64, loop.AddIndex(c.rowsOf.from, row), loop.AddIndex(c.rowsOf.to, loop.Int(-1))))
	from, to := c.partners(f.Local.Ref())
	end := c.keep("to", to)
	all := []loop.Stmt{f, end}
	var start *loop.Set
	if !from.IsInt(0) {
		start = c.keep("from", loop.AddIndex(from, loop.Int(-1)))
		all = append(all, start)
	}
	return all, func(p *loop.Expr) *loop.Expr {
		below := loop.Apply(ir.Less, ir.Bool, p, end.Local.Ref())
		if start == nil {
			return below
		}
		return loop.And(loop.Apply(ir.Less, ir.Bool, start.Local.Ref(), p), below)
	}
}

// pair makes the factors of a row and a column, at p among those that pass by,
// of their products: 0 where they do not see each other. Then the mask is not
// looked at either.
func (c *gradientTiles) pair(row, col, p *loop.Expr, sees func(p *loop.Expr) *loop.Expr) []loop.Stmt {
	query := col
	if c.queries {
		query = row
	}
	seen := c.keep("seen", sees(p))
	g, all := c.t.pair(c.attentionLoops, loop.Load(c.lse, c.ct, query, nil), loop.Load(c.delta, c.ct, query, nil))
	all = append(all, seen)
	var mask *loop.Expr
	if c.Mask != nil {
		f, j := p, loop.AddIndex(c.rowsOf.from, row)
		if c.queries {
			f, j = j, p
		}
		by := map[*loop.Var]*loop.Expr{c.Seq: c.seq, c.I: c.query(f), c.Head: c.head(f), c.J: j}
		masked := c.keep("mask", c.number(0))
		within := loop.Apply(ir.Less, ir.Bool, row, loop.SubIndex(c.rowsOf.to, c.rowsOf.from)) // else it may read behind the end
		all = append(all, masked, when(loop.And(seen.Local.Ref(), within), &loop.Set{Local: masked.Local, Value: c.widen(loop.Substitute(c.Mask, by))}))
		mask = masked.Local.Ref()
	}
	at := c.factorAt(row, col)
	w, ds := g.weigh(loop.Load(c.factors[0], c.ct, at, nil), loop.Load(c.factors[1], c.ct, at, nil), mask)
	kept := [2]*loop.Set{c.keep("ds", ds), c.keep("w", w)} // the stores change what they are made from
	all = append(all, kept[0], kept[1])
	for i, x := range kept {
		all = append(all, &loop.Store{Param: c.factors[i], Index: at, Value: c.op(ir.Where, seen.Local.Ref(), x.Local.Ref(), c.number(0))})
	}
	return all
}

// add adds what passes by, from first on, times its factors. Where a row does not
// see all of it, a factor of 0 is not enough to keep out an infinity.
func (c *gradientTiles) add(it *loop.Var, first, full *loop.Expr) []loop.Stmt {
	var rows []int
	for r := range c.tile.EachRows {
		rows = append(rows, r)
	}
	all := steps(c.tile.Cols, func(col *loop.Expr) []loop.Stmt { return c.addColumn(it, col, rows, nil) })
	if full == nil {
		return all
	}
	var part []loop.Stmt // row by row and not laid out: most blocks are seen by all rows, or there are few
	for _, r := range rows {
		set, sees := c.sees(c.rowOf(it, r))
		col := &loop.Var{Name: "col"}
		seen := c.keep("seen", sees(loop.AddIndex(first, col.Ref())))
		body := append([]loop.Stmt{seen}, c.addColumn(it, col.Ref(), []int{r}, seen.Local.Ref())...)
		part = append(append(part, set...), &loop.Loop{Var: col, Hi: loop.Int(c.tile.Cols), Range: loop.Serial, Body: body})
	}
	times := func(count *loop.Expr, body []loop.Stmt) loop.Stmt {
		return &loop.Loop{Var: &loop.Var{Name: "once"}, Hi: count, Range: loop.Serial, Body: body}
	}
	return []loop.Stmt{times(full, all), times(loop.SubIndex(loop.Int(1), full), part)}
}

// addColumn is add for one column to some rows of the work-item. Where seen is
// not nil it says whether they see it.
func (c *gradientTiles) addColumn(it *loop.Var, col *loop.Expr, rows []int, seen *loop.Expr) []loop.Stmt {
	var all []loop.Stmt
	for i, g := range c.results() {
		if g == nil {
			continue
		}
		var values []*loop.Set
		for l := range c.lanes[i] {
			lane := loop.AddIndex(c.colOf(it), loop.Int(l*c.cols))
			if (l+1)*c.cols > c.widths[i] { // there is no such lane
				lane = loop.Apply(ir.Min, ir.I64, lane, loop.Int(c.widths[i]-1))
			}
			v := c.keep("v", loop.Load(c.passing[i], c.ct, loop.AddIndex(loop.MulIndex(col, loop.Int(c.strides[i])), lane), nil))
			values, all = append(values, v), append(all, v)
		}
		for _, r := range rows {
			factor := c.keep("factor", loop.Load(c.factors[i], c.ct, c.factorAt(c.rowOf(it, r), col), nil))
			all = append(all, factor)
			for l, v := range values {
				before := c.get(c.sums[i], it, r*c.lanes[i]+l)
				sum := c.op(ir.FMA, factor.Local.Ref(), v.Local.Ref(), before)
				if seen != nil {
					sum = c.op(ir.Where, seen, sum, before)
				}
				all = append(all, c.set(c.sums[i], it, r*c.lanes[i]+l, sum))
			}
		}
	}
	return all
}

// finish leaves results where the tile's rows were. Queries that see nothing
// have 0.
func (c *gradientTiles) finish(it *loop.Var) []loop.Stmt {
	var all []loop.Stmt
	for i, g := range c.results() {
		for n := 0; g != nil && n < c.tile.EachRows*c.lanes[i]; n++ {
			r, l := n/c.lanes[i], n%c.lanes[i]
			row, lane := c.rowOf(it, r), loop.AddIndex(c.colOf(it), loop.Int(l*c.cols))
			// A factor of 0 may have made a sum of -0 one of 0, depending on the tile.
			sum := c.op(ir.Add, c.get(c.sums[i], it, n), c.number(0))
			if c.queries {
				none := loop.Apply(ir.Equal, ir.Bool, loop.Load(c.lse, c.ct, row, nil), c.lowest())
				sum = c.op(ir.Where, none, c.number(0), sum)
			}
			st := &loop.Store{Param: c.still[i], Index: loop.AddIndex(loop.MulIndex(row, loop.Int(c.strides[i])), lane), Value: sum}
			if (l+1)*c.cols > c.widths[i] {
				st.Valid = loop.Apply(ir.Less, ir.Bool, lane, loop.Int(c.widths[i]))
			}
			all = append(all, st)
		}
	}
	return all
}

// stores hand the results of the tile over.
func (c *gradientTiles) stores() []loop.Stmt {
	var all []loop.Stmt
	for i, g := range c.results() {
		if g == nil {
			continue
		}
		width := loop.Int(c.widths[i])
		all = append(all, c.items(func(it *loop.Var) []loop.Stmt {
			n := loop.MulIndex(loop.SubIndex(c.rowsOf.to, c.rowsOf.from), width)
			return c.spread(it, n, func(e *loop.Expr) []loop.Stmt {
				row, lane := loop.Apply(ir.IDiv, ir.I64, e, width), loop.Apply(ir.Mod, ir.I64, e, width)
				v := loop.Load(c.still[i], c.ct, loop.AddIndex(loop.MulIndex(row, loop.Int(c.strides[i])), lane), nil)
				f := c.keep("f", loop.AddIndex(c.rowsOf.from, row))
				set := &loop.Set{Local: g.Acc, Value: c.narrow(v, g.Acc.DType)}
				length, first, at, head := c.KLen, c.k0, f.Local.Ref(), c.kvHead
				if c.queries {
					length, first, at, head = c.QLen, c.q0, c.query(f.Local.Ref()), c.head(f.Local.Ref())
				}
				return append([]loop.Stmt{f, set}, c.placed(g.Store, length, first, at, head, lane)...)
			})
		}))
	}
	return all
}
