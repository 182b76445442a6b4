package template

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// The methods of this file make what a work-item does with its scores of a block
// of keys, and with the sums behind the last.

// sees is whether row r of a work-item sees key j, from what the statements set.
func (c *attentionTiles) sees(it *loop.Var, r int) ([]loop.Stmt, func(j *loop.Expr) *loop.Expr) {
	from, to := c.seen(c.get(c.at, it, r), c.qLen, c.kLen)
	end := c.keep("to", to)
	body := []loop.Stmt{end}
	var start *loop.Set
	if !from.IsInt(0) {
		start = c.keep("from", loop.AddIndex(from, loop.Int(-1)))
		body = append(body, start)
	}
	return body, func(j *loop.Expr) *loop.Expr {
		below := loop.Apply(ir.Less, ir.Bool, j, end.Local.Ref())
		if start == nil {
			return below
		}
		return loop.And(loop.Apply(ir.Less, ir.Bool, start.Local.Ref(), j), below)
	}
}

// higher is the greater of two, of which y may be NaN: then its weight is NaN
// whatever the greatest score is.
func (c *attentionTiles) higher(x, y *loop.Expr) *loop.Expr {
	return c.op(ir.Where, loop.Apply(ir.Less, ir.Bool, x, y), y, x)
}

// score computes a work-item's scores of the keys in shared memory, part n of a
// block, which begin at first. Behind the last part it leaves the greatest.
func (c *attentionTiles) score(it *loop.Var, first *loop.Expr, n int) []loop.Stmt {
	rows, keys := c.tile.EachRows, c.keysEach()
	dots := make([]*loop.Local, rows*keys)
	var body []loop.Stmt
	for i := range dots {
		set := c.keep("dot", c.number(0))
		dots[i], body = set.Local, append(body, set)
	}
	body = append(body, steps(c.Width, func(d *loop.Expr) []loop.Stmt { return c.multiply(it, d, dots) })...)
	for r := range rows {
		seen, sees := c.sees(it, r)
		body = append(body, seen...)
		for k := range keys {
			j := loop.AddIndex(loop.AddIndex(first, loop.Int(k*c.cols)), c.colOf(it))
			own := r*c.tile.EachKeys + n*keys + k
			body = append(body, c.scoreOf(it, r, own, dots[r*keys+k], j, sees(j))...)
		}
		if (n+1)*keys < c.tile.EachKeys {
			continue
		}
		top := c.keep("most", c.get(c.scores, it, r*c.tile.EachKeys))
		body = append(body, top)
		for k := 1; k < c.tile.EachKeys; k++ {
			body = append(body, &loop.Set{Local: top.Local, Value: c.higher(top.Local.Ref(), c.get(c.scores, it, r*c.tile.EachKeys+k))})
		}
		at := loop.AddIndex(loop.MulIndex(c.rowOf(it, r), loop.Int(c.cols)), c.colOf(it))
		body = append(body, &loop.Store{Param: c.part, Index: at, Value: top.Local.Ref()})
	}
	return body
}

// keysEach is how many of the keys in shared memory are a work-item's.
func (c *attentionTiles) keysEach() int { return c.tile.EachKeys * c.tile.Keys / KeyBlock }

// multiply adds the products of lane d to the scores' dots.
func (c *attentionTiles) multiply(it *loop.Var, d *loop.Expr, dots []*loop.Local) []loop.Stmt {
	var q, k, all []loop.Stmt
	load := func(name string, param int, at *loop.Expr) *loop.Set {
		return c.keep(name, loop.Load(param, c.ct, loop.AddIndex(loop.MulIndex(at, loop.Int(c.stride)), d), nil))
	}
	for r := range c.tile.EachRows {
		q = append(q, load("q", c.q, c.rowOf(it, r)))
	}
	for n := range c.keysEach() {
		k = append(k, load("k", c.kv, loop.AddIndex(c.colOf(it), loop.Int(n*c.cols))))
	}
	all = append(append(all, q...), k...)
	for i, dot := range dots {
		x, y := q[i/len(k)].(*loop.Set).Local.Ref(), k[i%len(k)].(*loop.Set).Local.Ref()
		all = append(all, &loop.Set{Local: dot, Value: c.op(ir.FMA, x, y, dot.Ref())})
	}
	return all
}

// scoreOf sets one score, which is -Inf where the row does not see the key: then
// the mask is not looked at either.
func (c *attentionTiles) scoreOf(it *loop.Var, r, own int, dot *loop.Local, j, seen *loop.Expr) []loop.Stmt {
	v := c.scaled(dot.Ref())
	none := c.number(math.Inf(-1))
	if c.Mask == nil {
		return []loop.Stmt{c.set(c.scores, it, own, c.op(ir.Where, seen, v, none))}
	}
	by := map[*loop.Var]*loop.Expr{c.Seq: c.seq, c.I: c.get(c.at, it, r), c.Head: c.get(c.heads, it, r), c.J: j}
	score := c.keep("score", none)
	masked := &loop.Set{Local: score.Local, Value: c.op(ir.Add, v, c.widen(loop.Substitute(c.Mask, by)))}
	return []loop.Stmt{score, when(seen, masked), c.set(c.scores, it, own, score.Local.Ref())}
}

// weigh makes weights of scores, and what was summed so far relative to the
// greatest score.
func (c *attentionTiles) weigh(it *loop.Var) []loop.Stmt {
	var body []loop.Stmt
	for r := range c.tile.EachRows {
		top := c.keep("top", c.get(c.tops, it, r))
		parts := steps(c.cols, func(n *loop.Expr) []loop.Stmt {
			part := loop.Load(c.part, c.ct, loop.AddIndex(loop.MulIndex(c.rowOf(it, r), loop.Int(c.cols)), n), nil)
			return []loop.Stmt{&loop.Set{Local: top.Local, Value: c.higher(top.Local.Ref(), part)}}
		})
		none := loop.Apply(ir.Equal, ir.Bool, top.Local.Ref(), c.number(math.Inf(-1)))
		safe := c.keep("safe", c.op(ir.Where, none, c.number(0), top.Local.Ref()))
		factor := c.keep("factor", c.op(ir.Exp, c.op(ir.Sub, c.get(c.tops, it, r), safe.Local.Ref())))
		body = append(append(append(body, top), parts...), safe, factor, c.set(c.tops, it, r, top.Local.Ref()))
		scale := func(param, n int) {
			body = append(body, c.set(param, it, n, c.op(ir.Mul, c.get(param, it, n), factor.Local.Ref())))
		}
		scale(c.total, r)
		for l := range c.lanes {
			scale(c.sums, r*c.lanes+l)
		}
		for k := range c.tile.EachKeys {
			score := c.get(c.scores, it, r*c.tile.EachKeys+k)
			at := loop.AddIndex(c.weightAt(it, r), loop.AddIndex(loop.Int(k*c.cols), c.colOf(it)))
			body = append(body, &loop.Store{Param: c.p, Index: at, Value: c.rounded(c.op(ir.Exp, c.op(ir.Sub, score, safe.Local.Ref())))})
		}
	}
	return body
}

// weightAt is where the weights of a row begin.
func (c *attentionTiles) weightAt(it *loop.Var, r int) *loop.Expr {
	return loop.MulIndex(c.rowOf(it, r), loop.Int(weightStride))
}

// add adds weighted values of the keys in shared memory, part n of a block, which
// begin at first. Where a row does not see all keys, a weight of 0 is not enough
// to keep out an infinity.
func (c *attentionTiles) add(it *loop.Var, first *loop.Expr, n int, full *loop.Expr) []loop.Stmt {
	over := func(sees []func(j *loop.Expr) *loop.Expr) []loop.Stmt {
		return steps(c.tile.Keys, func(key *loop.Expr) []loop.Stmt { return c.addKey(it, key, first, n, sees) })
	}
	if full == nil {
		return over(nil)
	}
	var body []loop.Stmt
	var sees []func(j *loop.Expr) *loop.Expr
	for r := range c.tile.EachRows {
		set, of := c.sees(it, r)
		body, sees = append(body, set...), append(sees, of)
	}
	part := func(count *loop.Expr, body []loop.Stmt) loop.Stmt {
		return &loop.Loop{Var: &loop.Var{Name: "once"}, Hi: count, Range: loop.Serial, Body: body}
	}
	return []loop.Stmt{part(full, over(nil)), part(loop.SubIndex(loop.Int(1), full), append(body, over(sees)...))}
}

// addKey is add for a key; sees is nil where all rows see it.
func (c *attentionTiles) addKey(it *loop.Var, key, first *loop.Expr, n int, sees []func(j *loop.Expr) *loop.Expr) []loop.Stmt {
	var values, all []loop.Stmt
	for l := range c.lanes {
		at := loop.AddIndex(loop.MulIndex(key, loop.Int(c.wide)), loop.AddIndex(c.colOf(it), loop.Int(l*c.cols)))
		values = append(values, c.keep("v", loop.Load(c.kv, c.ct, at, nil)))
	}
	all = append(all, values...)
	for r := range c.tile.EachRows {
		at := loop.AddIndex(c.weightAt(it, r), loop.AddIndex(key, loop.Int(n*c.tile.Keys)))
		weight := c.keep("weight", loop.Load(c.p, c.ct, at, nil))
		w := weight.Local.Ref()
		all = append(all, weight, c.set(c.total, it, r, c.op(ir.Add, c.get(c.total, it, r), w)))
		var seen *loop.Set
		if sees != nil {
			seen = c.keep("seen", sees[r](loop.AddIndex(first, key)))
			all = append(all, seen)
		}
		for l, v := range values {
			before := c.get(c.sums, it, r*c.lanes+l)
			sum := c.op(ir.FMA, w, v.(*loop.Set).Local.Ref(), before)
			if seen != nil {
				sum = c.op(ir.Where, seen.Local.Ref(), sum, before)
			}
			all = append(all, c.set(c.sums, it, r*c.lanes+l, sum))
		}
	}
	return all
}

// finish leaves results where rows of q were, and logsumexps where the greatest
// scores were. No weights give 0.
func (c *attentionTiles) finish(it *loop.Var) []loop.Stmt {
	var body []loop.Stmt
	for r := range c.tile.EachRows {
		total := c.keep("total", c.get(c.total, it, r))
		none := loop.Apply(ir.Equal, ir.Bool, total.Local.Ref(), c.number(0))
		body = append(body, total)
		for l := range c.lanes {
			// A weight of 0 may have made a sum of -0 one of 0, depending on the tile.
			sum := c.op(ir.Add, c.get(c.sums, it, r*c.lanes+l), c.number(0))
			v := c.op(ir.Where, none, c.number(0), c.op(ir.Div, sum, total.Local.Ref()))
			at := loop.AddIndex(loop.MulIndex(c.rowOf(it, r), loop.Int(c.wide)), loop.AddIndex(loop.Int(l*c.cols), c.colOf(it)))
			body = append(body, &loop.Store{Param: c.q, Index: at, Value: v})
		}
		if c.Sums != nil {
			lse := c.op(ir.Where, none, c.number(math.Inf(-1)), c.op(ir.Add, c.get(c.tops, it, r), c.op(ir.Log, total.Local.Ref())))
			first := loop.Apply(ir.Equal, ir.Bool, c.colOf(it), loop.Int(0))
			body = append(body, &loop.Store{Param: c.part, Index: loop.MulIndex(c.rowOf(it, r), loop.Int(c.cols)), Value: lse, Valid: first})
		}
	}
	return body
}

// store hands the results of the tile over.
func (c *attentionTiles) store(it *loop.Var) []loop.Stmt {
	n := loop.MulIndex(loop.SubIndex(c.f1, c.f0), loop.Int(c.VWidth))
	return c.spread(it, n, func(e *loop.Expr) []loop.Stmt {
		row, lane := loop.Apply(ir.IDiv, ir.I64, e, loop.Int(c.VWidth)), loop.Apply(ir.Mod, ir.I64, e, loop.Int(c.VWidth))
		v := loop.Load(c.q, c.ct, loop.AddIndex(loop.MulIndex(row, loop.Int(c.wide)), lane), nil)
		return c.handOver(row, lane, &loop.Set{Local: c.Acc, Value: c.narrow(v, c.Acc.DType)}, c.Epilogue)
	})
}

// storeSums does so with the logsumexps.
func (c *attentionTiles) storeSums(it *loop.Var) []loop.Stmt {
	return c.spread(it, loop.SubIndex(c.f1, c.f0), func(row *loop.Expr) []loop.Stmt {
		v := loop.Load(c.part, c.ct, loop.MulIndex(row, loop.Int(c.cols)), nil)
		return c.handOver(row, nil, &loop.Set{Local: c.LSE, Value: c.narrow(v, c.LSE.DType)}, c.Sums)
	})
}

// handOver runs a body for a row of the tile.
func (c *attentionTiles) handOver(row, lane *loop.Expr, value *loop.Set, body []loop.Stmt) []loop.Stmt {
	f := c.keep("f", loop.AddIndex(c.f0, row))
	i, head := c.keep("i", c.query(f.Local.Ref())), c.keep("head", c.head(f.Local.Ref()))
	return append([]loop.Stmt{f, i, head, value}, c.placed(body, c.QLen, c.q0, i.Local.Ref(), head.Local.Ref(), lane)...)
}
