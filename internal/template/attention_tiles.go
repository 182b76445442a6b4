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
	v := &loop.Var{Name: "tile"}
	count, body := c.tasks(v.Ref(), true, q.Rows, func(s stretch) []loop.Stmt {
		c.f0, c.f1 = s.from, s.to
		return c.sequence()
	})
	return c.tiled(&loop.Loop{Var: v, Hi: count, Range: loop.Global, Body: body})
}

// TileMemory is what a group keeps for a tile of Tiles.
func (t *Attention) TileMemory(q QueryTile) TileMemory { return newAttentionTiles(t, q).memory() }

// attentionTiles makes Tiles.
type attentionTiles struct {
	*groupTiles
	tile        QueryTile
	lanes       int // of a result that a work-item computes, in each of its rows
	stride      int // elements of a row of q or k in shared memory
	wide        int // of one of v, and of results
	q, kv, p    int // shared: rows of q, then results; of k, then of v; weights
	part        int // shared: the greatest score of a row and column of work-items
	scores      int // of a work-item: by row and key
	sums        int // by row and lane
	tops, total int // by row
	at, heads   int // the query of each row, and, where a mask needs it, the head

	f0, f1 *loop.Expr // the rows, from one to below the other
}

// weightStride is elements of a row of weights in shared memory: one more than
// there are, as banks repeat.
const weightStride = KeyBlock + 1

func newAttentionTiles(t *Attention, q QueryTile) *attentionTiles {
	c := &attentionTiles{groupTiles: newGroupTiles(t, q.Rows/q.EachRows, q.Columns()), tile: q, stride: t.Width | 1}
	c.lanes = (t.VWidth + c.cols - 1) / c.cols
	c.wide = c.lanes * c.cols
	c.q = c.near("queries", q.Rows*max(c.stride, c.wide))
	c.kv = c.near("keys", q.Keys*max(c.stride, c.wide))
	c.p = c.near("weights", q.Rows*weightStride)
	c.part = c.near("parts", q.Rows*c.cols)
	c.scores = c.private("scores", c.ct, q.EachRows*q.EachKeys)
	c.sums = c.private("sums", c.ct, q.EachRows*c.lanes)
	c.tops, c.total = c.private("tops", c.ct, q.EachRows), c.private("totals", c.ct, q.EachRows)
	c.at = c.private("at", ir.I64, q.EachRows)
	if t.Mask != nil {
		c.heads = c.private("heads", ir.I64, q.EachRows)
	}
	return c
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
