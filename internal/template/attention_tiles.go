package template

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// KeyBlock is after how many keys an attention by tiles looks whether the
// greatest score has grown. Blocks count from the first key of a sequence, so
// that results depend on this number and on no tile.
const KeyBlock = 32

// QueryTile is what a group computes of an attention by tiles: some query rows
// of heads that share a key head. Work-item i stands at row i/cols and column
// i%cols of Rows/EachRows by cols = KeyBlock/EachKeys, and computes EachRows by
// EachKeys scores of a block of keys.
type QueryTile struct {
	Rows, EachRows, EachKeys int
	Keys                     int // that lie in shared memory at a time, a divisor of KeyBlock
}

// Columns is how many work-items share a row.
func (q QueryTile) Columns() int { return KeyBlock / q.EachKeys }

// Items is how many work-items there are.
func (q QueryTile) Items() int { return q.Rows / q.EachRows * q.Columns() }

// Tiled is a kernel of Item loops.
type Tiled struct {
	*loop.Kernel
	// Own has for each param 0, or how many of a scratch param's elements a
	// work-item has to itself: item*Own + n, n being constant.
	Own []int
}

// Tiles is Loops by tiles, in the way of FlashAttention (arXiv:2205.14135,
// algorithm 1): rows of q lie in shared memory while blocks of keys pass by, a
// row's sum of weighted values is kept relative to the greatest score so far,
// and scores exist for one block of keys.
//
// An iteration is a tile; in a ragged batch its rows may be of several
// sequences, which it goes through one after the other.
func (t *Attention) Tiles(q QueryTile) *Tiled {
	c := newAttentionTiles(t, q)
	flat := t.Queries.Mul(ir.N(c.group))
	if !t.Attr.Ragged {
		flat = t.QLen.Mul(ir.N(c.group))
	}
	blocks := loop.Apply(ir.IDiv, ir.I64, loop.AddIndex(loop.SizeOf(flat), loop.Int(q.Rows-1)), loop.Int(q.Rows))
	v := &loop.Var{Name: "tile"}
	count := loop.MulIndex(blocks, loop.Int(t.KVHeads))
	index := func(o ir.Op, a, b *loop.Expr) *loop.Expr { return loop.Apply(o, ir.I64, a, b) }
	head := c.keep("kvhead", index(ir.Mod, index(ir.IDiv, v.Ref(), blocks), loop.Int(t.KVHeads)))
	first := c.keep("first", loop.MulIndex(index(ir.Mod, v.Ref(), blocks), loop.Int(q.Rows)))
	c.kvHead = head.Local.Ref()
	body := []loop.Stmt{head, first}
	if t.Attr.Ragged {
		body = append(body, c.sequences(first.Local.Ref()))
	} else {
		seq := c.keep("seq", index(ir.IDiv, v.Ref(), count))
		last := c.keep("last", index(ir.Min, loop.AddIndex(first.Local.Ref(), loop.Int(q.Rows)), loop.SizeOf(flat)))
		c.seq, c.f0, c.f1 = seq.Local.Ref(), first.Local.Ref(), last.Local.Ref()
		c.qLen, c.kLen = loop.SizeOf(t.QLen), loop.SizeOf(t.KLen)
		body = append(append(body, seq, last), c.sequence()...)
		count = loop.MulIndex(count, loop.SizeOf(t.Batch))
	}
	tiles := &loop.Loop{Var: v, Hi: count, Range: loop.Global, Body: body}
	k := loop.Share(&loop.Kernel{Name: t.Name, Params: c.params, Slots: t.Slots, Body: []loop.Stmt{tiles}})
	return &Tiled{k, c.own}
}

// attentionTiles makes Tiles. A row of a tile is f, query*group + head among
// those that share the key head, with queries counted in the sequence.
type attentionTiles struct {
	*attentionLoops
	tile        QueryTile
	group       int // query heads of a key head
	rows, cols  int // of work-items
	lanes       int // of a result that a work-item computes, in each of its rows
	stride      int // elements of a row of q or k in shared memory
	wide        int // of one of v, and of results
	params      []loop.Param
	own         []int
	q, kv, p    int // shared: rows of q, then results; of k, then of v; weights
	part        int // shared: the greatest score of a row and column of work-items
	scores      int // of a work-item: by row and key
	sums        int // by row and lane
	tops, total int // by row
	at, heads   int // the query of each row, and, where a mask needs it, the head

	kvHead, seq *loop.Expr
	f0, f1      *loop.Expr // the rows, from one to below the other
	qLen, kLen  *loop.Expr // of the sequence
	q0, k0      *loop.Expr // ragged: its first rows
}

// weightStride is elements of a row of weights in shared memory: one more than
// there are, as banks repeat.
const weightStride = KeyBlock + 1

func newAttentionTiles(t *Attention, q QueryTile) *attentionTiles {
	c := &attentionTiles{attentionLoops: &attentionLoops{Attention: t, ct: t.DType.Compute()}, tile: q, group: t.Heads / t.KVHeads,
		rows: q.Rows / q.EachRows, cols: q.Columns(), stride: t.Width | 1}
	c.lanes = (t.VWidth + c.cols - 1) / c.cols
	c.wide = c.lanes * c.cols
	c.params = append([]loop.Param(nil), t.Params...)
	c.own = make([]int, len(t.Params))
	near := func(name string, n int) int { return c.scratchParam(name, c.ct, n, 0) }
	mine := func(name string, d ir.DType, n int) int { return c.scratchParam(name, d, n*q.Items(), n) }
	c.q = near("queries", q.Rows*max(c.stride, c.wide))
	c.kv = near("keys", q.Keys*max(c.stride, c.wide))
	c.p = near("weights", q.Rows*weightStride)
	c.part = near("parts", q.Rows*c.cols)
	c.scores = mine("scores", c.ct, q.EachRows*q.EachKeys)
	c.sums = mine("sums", c.ct, q.EachRows*c.lanes)
	c.tops, c.total = mine("tops", c.ct, q.EachRows), mine("totals", c.ct, q.EachRows)
	c.at = mine("at", ir.I64, q.EachRows)
	if t.Mask != nil {
		c.heads = mine("heads", ir.I64, q.EachRows)
	}
	return c
}

func (c *attentionTiles) scratchParam(name string, d ir.DType, n, own int) int {
	c.params, c.own = append(c.params, loop.Param{Name: name, DType: d, Len: ir.N(n), Use: loop.Scratch}), append(c.own, own)
	return len(c.params) - 1
}

// keep computes a value once.
func (c *attentionTiles) keep(name string, e *loop.Expr) *loop.Set {
	return &loop.Set{Local: &loop.Local{Name: name, DType: e.DType}, Value: e}
}

// when runs the body if cond is true.
func when(cond *loop.Expr, body ...loop.Stmt) *loop.Loop {
	return &loop.Loop{Var: &loop.Var{Name: "once"}, Hi: loop.Apply(ir.Cast, ir.I64, cond), Range: loop.Serial, Body: body}
}

// sequences goes through those that have rows of a tile which begins at first,
// counted among all rows.
func (c *attentionTiles) sequences(first *loop.Expr) loop.Stmt {
	seq := &loop.Var{Name: "seq"}
	offset := func(name string, param, more int) *loop.Set {
		at := loop.AddIndex(seq.Ref(), loop.Int(more))
		return c.keep(name, loop.Apply(ir.Cast, ir.I64, loop.Load(param, ir.I32, at, nil)))
	}
	q0, q1, k0, k1 := offset("q0", c.QOffsets, 0), offset("q1", c.QOffsets, 1), offset("k0", c.KOffsets, 0), offset("k1", c.KOffsets, 1)
	c.seq, c.q0, c.k0 = seq.Ref(), q0.Local.Ref(), k0.Local.Ref()
	c.qLen, c.kLen = loop.SubIndex(q1.Local.Ref(), c.q0), loop.SubIndex(k1.Local.Ref(), c.k0)
	before := loop.MulIndex(c.q0, loop.Int(c.group))
	from := loop.Apply(ir.Max, ir.I64, first, before)
	to := loop.Apply(ir.Min, ir.I64, loop.AddIndex(first, loop.Int(c.tile.Rows)), loop.MulIndex(q1.Local.Ref(), loop.Int(c.group)))
	f0, f1 := c.keep("f0", loop.SubIndex(from, before)), c.keep("f1", loop.SubIndex(to, before))
	c.f0, c.f1 = f0.Local.Ref(), f1.Local.Ref()
	body := []loop.Stmt{q0, q1, k0, k1, f0, f1, when(loop.Apply(ir.Less, ir.Bool, c.f0, c.f1), c.sequence()...)}
	return &loop.Loop{Var: seq, Hi: loop.SizeOf(c.Batch), Range: loop.Serial, Body: body}
}

// sequence computes the rows of the tile that are of one sequence.
func (c *attentionTiles) sequence() []loop.Stmt {
	i0, i1 := c.keep("i0", c.query(c.f0)), c.keep("i1", c.query(loop.AddIndex(c.f1, loop.Int(-1))))
	from, someTo := c.seen(i0.Local.Ref(), c.qLen, c.kLen)
	allFrom, to := c.seen(i1.Local.Ref(), c.qLen, c.kLen)
	block := &loop.Var{Name: "block"}
	j0 := c.keep("j0", loop.MulIndex(block.Ref(), loop.Int(KeyBlock)))
	j := j0.Local.Ref()
	body := []loop.Stmt{j0}
	parts := KeyBlock / c.tile.Keys
	for n := range parts {
		first := loop.AddIndex(j, loop.Int(n*c.tile.Keys))
		body = append(body, c.items(func(it *loop.Var) []loop.Stmt { return c.bringKeys(it, first) }))
		body = append(body, c.items(func(it *loop.Var) []loop.Stmt { return c.score(it, first, n) }))
	}
	var full *loop.Expr // 1 where all rows see all keys of the block, else 0; nil: what they do not see is 0
	if c.Attr.Causal || c.Attr.Window > 0 {
		less := func(a, b *loop.Expr) *loop.Expr { return loop.Apply(ir.Less, ir.Bool, a, b) }
		all := c.keep("full", loop.Apply(ir.Cast, ir.I64, loop.And(less(allFrom, loop.AddIndex(j, loop.Int(1))), less(loop.AddIndex(j, loop.Int(KeyBlock-1)), someTo))))
		full = all.Local.Ref()
		body = append(body, all)
	}
	for n := range parts {
		first := loop.AddIndex(j, loop.Int(n*c.tile.Keys))
		body = append(body, c.items(func(it *loop.Var) []loop.Stmt {
			var weights []loop.Stmt
			if n == 0 {
				weights = c.weigh(it)
			}
			return append(weights, c.bringValues(it, first)...)
		}))
		body = append(body, c.items(func(it *loop.Var) []loop.Stmt { return c.add(it, first, n, full) }))
	}
	index := func(e *loop.Expr) *loop.Expr { return loop.Apply(ir.IDiv, ir.I64, e, loop.Int(KeyBlock)) }
	blocks := &loop.Loop{Var: block, Lo: index(from), Hi: index(loop.AddIndex(to, loop.Int(KeyBlock-1))), Range: loop.Serial, Body: body}
	all := []loop.Stmt{i0, i1, c.items(c.begin), blocks, c.items(c.finish), c.items(c.store)}
	if c.Sums != nil {
		all = append(all, c.items(c.storeSums))
	}
	return all
}

// items is a loop over the work-items.
func (c *attentionTiles) items(body func(it *loop.Var) []loop.Stmt) loop.Stmt {
	it := &loop.Var{Name: "item"}
	return &loop.Loop{Var: it, Hi: loop.Int(c.tile.Items()), Range: loop.Item, Body: body(it)}
}

// query is the query of row f, head the head.
func (c *attentionTiles) query(f *loop.Expr) *loop.Expr {
	if c.group == 1 {
		return f
	}
	return loop.Apply(ir.IDiv, ir.I64, f, loop.Int(c.group))
}

func (c *attentionTiles) head(f *loop.Expr) *loop.Expr {
	if c.group == 1 {
		return c.kvHead
	}
	return loop.AddIndex(loop.MulIndex(c.kvHead, loop.Int(c.group)), loop.Apply(ir.Mod, ir.I64, f, loop.Int(c.group)))
}

// rowOf is row r of a work-item in the tile, colOf its column.
func (c *attentionTiles) rowOf(it *loop.Var, r int) *loop.Expr {
	return loop.AddIndex(loop.Apply(ir.IDiv, ir.I64, it.Ref(), loop.Int(c.cols)), loop.Int(r*c.rows))
}

func (c *attentionTiles) colOf(it *loop.Var) *loop.Expr {
	return loop.Apply(ir.Mod, ir.I64, it.Ref(), loop.Int(c.cols))
}

// mine is element n of what the work-item has to itself of a param.
func (c *attentionTiles) mine(param int, it *loop.Var, n int) *loop.Expr {
	return loop.AddIndex(loop.MulIndex(it.Ref(), loop.Int(c.own[param])), loop.Int(n))
}

func (c *attentionTiles) get(param int, it *loop.Var, n int) *loop.Expr {
	return loop.Load(param, c.params[param].DType, c.mine(param, it, n), nil)
}

func (c *attentionTiles) set(param int, it *loop.Var, n int, v *loop.Expr) loop.Stmt {
	return &loop.Store{Param: param, Index: c.mine(param, it, n), Value: v}
}

// placed is a body at a query, its row among all being a function of that, in a
// head.
func (c *attentionTiles) placed(body []loop.Stmt, length ir.Dim, first, i, head, lane *loop.Expr) []loop.Stmt {
	by := map[*loop.Var]*loop.Expr{c.Row: loop.AddIndex(loop.MulIndex(c.seq, loop.SizeOf(length)), i), c.Head: head, c.Seq: c.seq, c.I: i}
	if lane != nil {
		by[c.Lane] = lane
	}
	if c.Attr.Ragged {
		by[c.Row] = loop.AddIndex(first, i)
	} else {
		body = loop.Rewrite(body, c.apart(length))
	}
	return replaced(body, by)
}

// operand is q, k or v at a lane, see placed.
func (c *attentionTiles) operand(e *loop.Expr, length ir.Dim, first, i, head, lane *loop.Expr) *loop.Expr {
	return c.widen(c.placed([]loop.Stmt{&loop.Set{Value: e}}, length, first, i, head, lane)[0].(*loop.Set).Value)
}

// spread has the work-items take turns at n elements.
func (c *attentionTiles) spread(it *loop.Var, n *loop.Expr, body func(e *loop.Expr) []loop.Stmt) []loop.Stmt {
	items := c.tile.Items()
	element := func(turn *loop.Expr) []loop.Stmt {
		return body(loop.AddIndex(loop.MulIndex(turn, loop.Int(items)), it.Ref()))
	}
	if known, ok := n.AsInt(); ok && known%items == 0 {
		return steps(known/items, element)
	}
	turn := &loop.Var{Name: "turn"}
	turns := loop.Apply(ir.IDiv, ir.I64, loop.AddIndex(loop.SubIndex(n, it.Ref()), loop.Int(items-1)), loop.Int(items))
	return []loop.Stmt{&loop.Loop{Var: turn, Hi: turns, Range: loop.Serial, Body: element(turn.Ref())}}
}

// begin brings the rows of q.
func (c *attentionTiles) begin(it *loop.Var) []loop.Stmt {
	within := func(row *loop.Expr) *loop.Expr { // rows behind the last are as it is
		return loop.Apply(ir.Min, ir.I64, loop.AddIndex(c.f0, row), loop.AddIndex(c.f1, loop.Int(-1)))
	}
	all := c.spread(it, loop.Int(c.tile.Rows*c.Width), func(e *loop.Expr) []loop.Stmt {
		row, lane := loop.Apply(ir.IDiv, ir.I64, e, loop.Int(c.Width)), loop.Apply(ir.Mod, ir.I64, e, loop.Int(c.Width))
		f := c.keep("f", within(row))
		v := c.operand(c.Q, c.QLen, c.q0, c.query(f.Local.Ref()), c.head(f.Local.Ref()), lane)
		return []loop.Stmt{f, &loop.Store{Param: c.q, Index: loop.AddIndex(loop.MulIndex(row, loop.Int(c.stride)), lane), Value: v}}
	})
	for r := range c.tile.EachRows {
		f := c.keep("f", within(c.rowOf(it, r)))
		all = append(all, f, c.set(c.at, it, r, c.query(f.Local.Ref())),
			c.set(c.tops, it, r, c.number(math.Inf(-1))), c.set(c.total, it, r, c.number(0)))
		if c.Mask != nil {
			all = append(all, c.set(c.heads, it, r, c.head(f.Local.Ref())))
		}
		for l := range c.lanes {
			all = append(all, c.set(c.sums, it, r*c.lanes+l, c.number(0)))
		}
	}
	return all
}

// bringKeys brings keys from first on. Behind the last key it is there again,
// as no row sees those.
func (c *attentionTiles) bringKeys(it *loop.Var, first *loop.Expr) []loop.Stmt {
	return c.spread(it, loop.Int(c.tile.Keys*c.Width), func(e *loop.Expr) []loop.Stmt {
		key, lane := loop.Apply(ir.IDiv, ir.I64, e, loop.Int(c.Width)), loop.Apply(ir.Mod, ir.I64, e, loop.Int(c.Width))
		j := loop.Apply(ir.Min, ir.I64, loop.AddIndex(first, key), loop.AddIndex(c.kLen, loop.Int(-1)))
		v := c.operand(c.K, c.KLen, c.k0, j, c.kvHead, lane)
		return []loop.Stmt{&loop.Store{Param: c.kv, Index: loop.AddIndex(loop.MulIndex(key, loop.Int(c.stride)), lane), Value: v}}
	})
}

// bringValues does so with values, which are 0 behind the last key and in lanes
// behind the last.
func (c *attentionTiles) bringValues(it *loop.Var, first *loop.Expr) []loop.Stmt {
	return c.spread(it, loop.Int(c.tile.Keys*c.wide), func(e *loop.Expr) []loop.Stmt {
		key, lane := loop.Apply(ir.IDiv, ir.I64, e, loop.Int(c.wide)), loop.Apply(ir.Mod, ir.I64, e, loop.Int(c.wide))
		j := loop.AddIndex(first, key)
		valid := loop.Apply(ir.Less, ir.Bool, j, c.kLen)
		inside := lane
		if c.wide > c.VWidth {
			valid = loop.And(valid, loop.Apply(ir.Less, ir.Bool, lane, loop.Int(c.VWidth)))
			inside = loop.Apply(ir.Min, ir.I64, lane, loop.Int(c.VWidth-1))
		}
		j = loop.Apply(ir.Min, ir.I64, j, loop.AddIndex(c.kLen, loop.Int(-1)))
		v := c.op(ir.Where, valid, c.operand(c.V, c.KLen, c.k0, j, c.kvHead, inside), c.number(0))
		return []loop.Stmt{&loop.Store{Param: c.kv, Index: loop.AddIndex(loop.MulIndex(key, loop.Int(c.wide)), lane), Value: v}}
	})
}

// steps runs a body for 0 to n, laid out a few at a time.
func steps(n int, body func(at *loop.Expr) []loop.Stmt) []loop.Stmt {
	const unit = 4
	var all []loop.Stmt
	if n >= unit {
		outer, inner := &loop.Var{Name: "strip"}, &loop.Var{Name: "step"}
		at := loop.AddIndex(loop.MulIndex(outer.Ref(), loop.Int(unit)), inner.Ref())
		laid := &loop.Loop{Var: inner, Hi: loop.Int(unit), Range: loop.Unroll, Body: body(at)}
		all = append(all, &loop.Loop{Var: outer, Hi: loop.Int(n / unit), Range: loop.Serial, Body: []loop.Stmt{laid}})
	}
	if n%unit > 0 {
		v := &loop.Var{Name: "step"}
		all = append(all, &loop.Loop{Var: v, Lo: loop.Int(n - n%unit), Hi: loop.Int(n), Range: loop.Unroll, Body: body(v.Ref())})
	}
	return all
}
