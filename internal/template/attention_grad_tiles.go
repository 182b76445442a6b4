package template

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// PairTile is what a group computes of an attention's gradient: the gradients of
// some rows, while so many others pass by at a time. Work-item i stands at row
// i/cols and column i%cols of Rows/EachRows by cols = Cols/EachCols, and computes
// EachRows by EachCols pairs.
type PairTile struct {
	Rows, Cols, EachRows, EachCols int
}

// Tiles is Loops by tiles of keys and tiles of queries, in the way of Dao
// ("FlashAttention-2", arXiv:2307.08691, algorithm 2) but without sums that
// several groups add to. First come tiles of keys, with the rows of k and v in
// shared memory while queries pass by, for dk and dv; then tiles of queries,
// while keys pass by, for dq. A pair is computed in both.
//
// A sum goes through what passes by in order, so that no bit depends on the tile.
func (t *AttentionGrad) Tiles(p PairTile) *Tiled {
	c := newGradientTiles(t, p)
	v := &loop.Var{Name: "tile"}
	half := func(queries bool, task *loop.Expr) (count *loop.Expr, body []loop.Stmt) {
		c.queries = queries
		return c.tasks(task, queries, p.Rows, c.sequence)
	}
	if !t.Grads[1].Wanted() && !t.Grads[2].Wanted() {
		count, body := half(true, v.Ref())
		return c.tiled(&loop.Loop{Var: v, Hi: count, Range: loop.Global, Body: body})
	}
	if !t.Grads[0].Wanted() {
		count, body := half(false, v.Ref())
		return c.tiled(&loop.Loop{Var: v, Hi: count, Range: loop.Global, Body: body})
	}
	// Loops of one iteration or none, whose variables are known not to be negative.
	k, q := &loop.Var{Name: "keys"}, &loop.Var{Name: "queries"}
	index := func(o ir.Op, a, b *loop.Expr) *loop.Expr { return loop.Apply(o, ir.I64, a, b) }
	keys, ofKeys := half(false, k.Ref())
	queries, ofQueries := half(true, q.Ref())
	next := loop.AddIndex(v.Ref(), loop.Int(1))
	body := []loop.Stmt{
		&loop.Loop{Var: k, Lo: v.Ref(), Hi: index(ir.Min, next, keys), Range: loop.Serial, Body: ofKeys},
		&loop.Loop{Var: q, Lo: index(ir.Max, loop.SubIndex(v.Ref(), keys), loop.Int(0)), Hi: loop.SubIndex(next, keys), Range: loop.Serial, Body: ofQueries},
	}
	return c.tiled(&loop.Loop{Var: v, Hi: loop.AddIndex(keys, queries), Range: loop.Global, Body: body})
}

// TileMemory is what a group keeps for a tile of Tiles.
func (t *AttentionGrad) TileMemory(p PairTile) TileMemory { return newGradientTiles(t, p).memory() }

// gradientTiles makes Tiles. Arrays of two are of what is as wide as k, and of
// what is as wide as v.
type gradientTiles struct {
	*groupTiles
	t          *AttentionGrad
	tile       PairTile
	widths     [2]int
	strides    [2]int // elements of a row in shared memory
	lanes      [2]int // of a result that a work-item computes, in each of its rows
	still      [2]int // shared: the tile's rows, then their results
	passing    [2]int // shared: the rows that pass by
	factors    [2]int // shared, by row and column: ds and w, which are products before
	lse, delta int    // shared: of queries, be they rows or columns
	sums       [2]int // of a work-item: by row and lane

	queries bool // rows are queries and columns keys, else the other way round
	rowsOf  stretch
}

func newGradientTiles(t *AttentionGrad, p PairTile) *gradientTiles {
	c := &gradientTiles{groupTiles: newGroupTiles(&t.Attention, p.Rows/p.EachRows, p.Cols/p.EachCols), t: t, tile: p, widths: [2]int{t.Width, t.VWidth}}
	for i, width := range c.widths {
		c.strides[i] = width | 1 // banks repeat
		c.lanes[i] = (width + c.cols - 1) / c.cols
		name := [...]string{"k", "v"}[i]
		c.still[i] = c.near("rows_"+name, p.Rows*c.strides[i])
		c.passing[i] = c.near("passing_"+name, p.Cols*c.strides[i])
		c.factors[i] = c.near([...]string{"slopes", "weights"}[i], p.Rows*c.factorStride())
		c.sums[i] = c.private("sums_"+name, c.ct, p.EachRows*c.lanes[i])
	}
	c.lse, c.delta = c.near("logsumexps", max(p.Rows, p.Cols)), c.near("deltas", max(p.Rows, p.Cols))
	return c
}

// factorStride is elements of a row of factors in shared memory.
func (c *gradientTiles) factorStride() int { return c.tile.Cols + 1 }

// results are the gradients that a tile computes, nil where nobody asks.
func (c *gradientTiles) results() (g [2]*Gradient) {
	if c.queries {
		return [2]*Gradient{&c.t.Grads[0]}
	}
	for i := range g {
		if c.t.Grads[1+i].Wanted() {
			g[i] = &c.t.Grads[1+i]
		}
	}
	return g
}

// sequence computes the rows of the tile that are of one sequence.
func (c *gradientTiles) sequence(s stretch) []loop.Stmt {
	c.rowsOf = s
	from, someTo := c.partners(s.from)
	allFrom, to := c.partners(loop.AddIndex(s.to, loop.Int(-1)))
	begin, end := c.keep("begin", from), c.keep("end", to)
	block := &loop.Var{Name: "block"}
	first := c.keep("pass", loop.AddIndex(begin.Local.Ref(), loop.MulIndex(block.Ref(), loop.Int(c.tile.Cols))))
	at := first.Local.Ref()
	body := []loop.Stmt{first,
		c.items(func(it *loop.Var) []loop.Stmt { return c.bring(it, c.passing, c.tile.Cols, !c.queries, at, c.passed()) }),
		c.items(func(it *loop.Var) []loop.Stmt { return c.pairs(it, at) }),
	}
	var full *loop.Expr // 1 where all rows and columns see each other, else 0; nil: what does not is 0
	if c.Attr.Causal || c.Attr.Window > 0 {
		less := func(a, b *loop.Expr) *loop.Expr { return loop.Apply(ir.Less, ir.Bool, a, b) }
		whole := loop.And(less(allFrom, loop.AddIndex(at, loop.Int(1))), less(loop.AddIndex(at, loop.Int(c.tile.Cols-1)), someTo))
		all := c.keep("full", loop.Apply(ir.Cast, ir.I64, whole))
		full = all.Local.Ref()
		body = append(body, all)
	}
	body = append(body, c.items(func(it *loop.Var) []loop.Stmt {
		added := c.add(it, at, full)
		if c.queries {
			return added
		}
		return append(added, c.bringSums(it, loop.AddIndex(at, loop.Int(c.tile.Cols)), c.tile.Cols, c.passed())...)
	}))
	count := loop.AddIndex(loop.SubIndex(end.Local.Ref(), begin.Local.Ref()), loop.Int(c.tile.Cols-1))
	blocks := &loop.Loop{Var: block, Hi: loop.Apply(ir.IDiv, ir.I64, count, loop.Int(c.tile.Cols)), Range: loop.Serial, Body: body}
	return append([]loop.Stmt{begin, end, c.items(func(it *loop.Var) []loop.Stmt { return c.begin(it, begin.Local.Ref()) }), blocks, c.items(c.finish)}, c.stores()...)
}

// passed is how many rows there are of those that pass by.
func (c *gradientTiles) passed() *loop.Expr {
	if c.queries {
		return c.kLen
	}
	return loop.MulIndex(c.qLen, loop.Int(c.group))
}

// partners is the range of what a row of the tile sees, or of what sees it. It
// ends below its start where there is none.
func (c *gradientTiles) partners(row *loop.Expr) (from, to *loop.Expr) {
	if c.queries {
		return c.seen(c.query(row), c.qLen, c.kLen)
	}
	from, to = c.seeing(row)
	return loop.MulIndex(from, loop.Int(c.group)), loop.MulIndex(to, loop.Int(c.group))
}

// seeing is the range of queries that see key j, by position in the sequence: the
// inverse of seen.
func (c *gradientTiles) seeing(j *loop.Expr) (from, to *loop.Expr) {
	own := loop.SubIndex(loop.AddIndex(j, c.qLen), c.kLen) // the key's position among the queries
	low := func(from *loop.Expr) *loop.Expr { return loop.Apply(ir.Max, ir.I64, loop.Int(0), from) }
	from, to = loop.Int(0), c.qLen
	w := c.Attr.Window
	switch {
	case c.Attr.Causal:
		from = low(own)
	case w > 0:
		from = low(loop.AddIndex(own, loop.Int(1-w)))
	}
	if w > 0 {
		to = loop.Apply(ir.Min, ir.I64, to, loop.AddIndex(own, loop.Int(w)))
	}
	return from, to
}

// begin brings the rows of the tile, and what belongs to the first queries.
func (c *gradientTiles) begin(it *loop.Var, first *loop.Expr) []loop.Stmt {
	all := c.bring(it, c.still, c.tile.Rows, c.queries, c.rowsOf.from, c.rowsOf.to)
	if c.queries {
		all = append(all, c.bringSums(it, c.rowsOf.from, c.tile.Rows, c.rowsOf.to)...)
	} else {
		some := loop.Apply(ir.Less, ir.Bool, loop.Int(0), c.passed())
		all = append(all, when(some, c.bringSums(it, first, c.tile.Cols, c.passed())...))
	}
	for i, g := range c.results() {
		for n := 0; g != nil && n < c.tile.EachRows*c.lanes[i]; n++ {
			all = append(all, c.set(c.sums[i], it, n, c.number(0)))
		}
	}
	return all
}

// bring brings rows from first on, of queries or of keys. Those that pass by and
// see nothing, and those from end on, are 0, as they meet factors of 0.
func (c *gradientTiles) bring(it *loop.Var, to [2]int, rows int, queries bool, first, end *loop.Expr) []loop.Stmt {
	operands := [2]*loop.Expr{c.K, c.V}
	if queries {
		operands = [2]*loop.Expr{c.Q, c.t.DOut}
	}
	passing := to == c.passing
	var all []loop.Stmt
	for n, e := range operands {
		spread := c.spread
		if !passing {
			spread = c.turns
		}
		all = append(all, spread(it, loop.Int(rows*c.widths[n]), func(at *loop.Expr) []loop.Stmt {
			row, lane := loop.Apply(ir.IDiv, ir.I64, at, loop.Int(c.widths[n])), loop.Apply(ir.Mod, ir.I64, at, loop.Int(c.widths[n]))
			f := c.keep("f", loop.Apply(ir.Min, ir.I64, loop.AddIndex(first, row), loop.AddIndex(end, loop.Int(-1))))
			x := c.rowOperand(e, queries, f.Local.Ref(), lane)
			if passing {
				there := loop.Apply(ir.Less, ir.Bool, loop.AddIndex(first, row), end)
				if queries {
					there = loop.And(there, loop.Apply(ir.Less, ir.Bool, c.lowest(), loop.Load(c.lse, c.ct, row, nil)))
				}
				x = c.op(ir.Where, there, x, c.number(0))
			}
			return []loop.Stmt{f, &loop.Store{Param: to[n], Index: loop.AddIndex(loop.MulIndex(row, loop.Int(c.strides[n])), lane), Value: x}}
		})...)
	}
	return all
}

// bringSums brings what belongs to so many rows of queries from first on. What is
// behind the last is as that is.
func (c *gradientTiles) bringSums(it *loop.Var, first *loop.Expr, rows int, end *loop.Expr) []loop.Stmt {
	return c.spread(it, loop.Int(rows), func(row *loop.Expr) []loop.Stmt {
		f := c.keep("f", loop.Apply(ir.Min, ir.I64, loop.AddIndex(first, row), loop.AddIndex(end, loop.Int(-1))))
		return []loop.Stmt{f,
			&loop.Store{Param: c.lse, Index: row, Value: c.rowOperand(c.t.Logsumexp, true, f.Local.Ref(), nil)},
			&loop.Store{Param: c.delta, Index: row, Value: c.rowOperand(c.t.Delta, true, f.Local.Ref(), nil)},
		}
	})
}

// rowOperand is an operand at row f, of queries or of keys.
func (c *gradientTiles) rowOperand(e *loop.Expr, queries bool, f, lane *loop.Expr) *loop.Expr {
	if queries {
		return c.operand(e, c.QLen, c.q0, c.query(f), c.head(f), lane)
	}
	return c.operand(e, c.KLen, c.k0, f, c.kvHead, lane)
}
