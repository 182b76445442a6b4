package template

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// groupTiles is what attention by tiles and its gradient have in common: a group
// of count work-items that stand in rows and columns, its memory, and the
// sequence that it is at. A row of queries is f, query*group + head among those
// that share the key head, with queries counted in the sequence.
type groupTiles struct {
	*attentionLoops
	group             int // query heads of a key head
	rows, cols, count int // of work-items
	params            []loop.Param
	own               []int

	kvHead, seq *loop.Expr
	qLen, kLen  *loop.Expr // of the sequence
	q0, k0      *loop.Expr // ragged: its first rows
}

func newGroupTiles(t *Attention, rows, cols int) *groupTiles {
	return &groupTiles{attentionLoops: &attentionLoops{Attention: t, ct: t.DType.Compute()}, group: t.Heads / t.KVHeads,
		rows: rows, cols: cols, count: rows * cols, params: append([]loop.Param(nil), t.Params...), own: make([]int, len(t.Params))}
}

// near is memory that the group shares; private has n elements for each work-item.
func (c *groupTiles) near(name string, n int) int { return c.scratchParam(name, c.ct, n, 0) }

func (c *groupTiles) private(name string, d ir.DType, n int) int {
	return c.scratchParam(name, d, n*c.count, n)
}

func (c *groupTiles) scratchParam(name string, d ir.DType, n, own int) int {
	c.params, c.own = append(c.params, loop.Param{Name: name, DType: d, Len: ir.N(n), Use: loop.Scratch}), append(c.own, own)
	return len(c.params) - 1
}

// keep computes a value once.
func (c *groupTiles) keep(name string, e *loop.Expr) *loop.Set {
	return &loop.Set{Local: &loop.Local{Name: name, DType: e.DType}, Value: e}
}

// when runs the body if cond is true.
func when(cond *loop.Expr, body ...loop.Stmt) *loop.Loop {
	return &loop.Loop{Var: &loop.Var{Name: "once"}, Hi: loop.Apply(ir.Cast, ir.I64, cond), Range: loop.Serial, Body: body}
}

// items is a loop over the work-items.
func (c *groupTiles) items(body func(it *loop.Var) []loop.Stmt) loop.Stmt {
	it := &loop.Var{Name: "item"}
	return &loop.Loop{Var: it, Hi: loop.Int(c.count), Range: loop.Item, Body: body(it)}
}

// query is the query of row f, head the head.
func (c *groupTiles) query(f *loop.Expr) *loop.Expr {
	if c.group == 1 {
		return f
	}
	return loop.Apply(ir.IDiv, ir.I64, f, loop.Int(c.group))
}

func (c *groupTiles) head(f *loop.Expr) *loop.Expr {
	if c.group == 1 {
		return c.kvHead
	}
	return loop.AddIndex(loop.MulIndex(c.kvHead, loop.Int(c.group)), loop.Apply(ir.Mod, ir.I64, f, loop.Int(c.group)))
}

// rowOf is row r of a work-item in the tile, colOf its column.
func (c *groupTiles) rowOf(it *loop.Var, r int) *loop.Expr {
	return loop.AddIndex(loop.Apply(ir.IDiv, ir.I64, it.Ref(), loop.Int(c.cols)), loop.Int(r*c.rows))
}

func (c *groupTiles) colOf(it *loop.Var) *loop.Expr {
	return loop.Apply(ir.Mod, ir.I64, it.Ref(), loop.Int(c.cols))
}

// mine is element n of what the work-item has to itself of a param.
func (c *groupTiles) mine(param int, it *loop.Var, n int) *loop.Expr {
	return loop.AddIndex(loop.MulIndex(it.Ref(), loop.Int(c.own[param])), loop.Int(n))
}

func (c *groupTiles) get(param int, it *loop.Var, n int) *loop.Expr {
	return loop.Load(param, c.params[param].DType, c.mine(param, it, n), nil)
}

func (c *groupTiles) set(param int, it *loop.Var, n int, v *loop.Expr) loop.Stmt {
	return &loop.Store{Param: param, Index: c.mine(param, it, n), Value: v}
}

// placed is a body at a query, its row among all being a function of that, in a
// head.
func (c *groupTiles) placed(body []loop.Stmt, length ir.Dim, first, i, head, lane *loop.Expr) []loop.Stmt {
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
func (c *groupTiles) operand(e *loop.Expr, length ir.Dim, first, i, head, lane *loop.Expr) *loop.Expr {
	return c.widen(c.placed([]loop.Stmt{&loop.Set{Value: e}}, length, first, i, head, lane)[0].(*loop.Set).Value)
}

// spread has the work-items take turns at n elements, laid out where it is known
// how many each has.
func (c *groupTiles) spread(it *loop.Var, n *loop.Expr, body func(e *loop.Expr) []loop.Stmt) []loop.Stmt {
	if known, ok := n.AsInt(); ok && known%c.count == 0 {
		return steps(known/c.count, func(turn *loop.Expr) []loop.Stmt { return body(c.turn(it, turn)) })
	}
	return c.turns(it, n, body)
}

// turns is spread with one turn after the other.
func (c *groupTiles) turns(it *loop.Var, n *loop.Expr, body func(e *loop.Expr) []loop.Stmt) []loop.Stmt {
	turn := &loop.Var{Name: "turn"}
	turns := loop.Apply(ir.IDiv, ir.I64, loop.AddIndex(loop.SubIndex(n, it.Ref()), loop.Int(c.count-1)), loop.Int(c.count))
	return []loop.Stmt{&loop.Loop{Var: turn, Hi: turns, Range: loop.Serial, Body: body(c.turn(it, turn.Ref()))}}
}

// turn is the element that a work-item takes in a turn.
func (c *groupTiles) turn(it *loop.Var, turn *loop.Expr) *loop.Expr {
	return loop.AddIndex(loop.MulIndex(turn, loop.Int(c.count)), it.Ref())
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

// tiled closes the kernel.
func (c *groupTiles) tiled(l *loop.Loop) *Tiled {
	k := &loop.Kernel{Name: c.Name, Params: c.params, Slots: c.Slots, Body: []loop.Stmt{l}}
	return &Tiled{loop.Share(k), c.own}
}

// TileMemory is what a group keeps for a tile.
type TileMemory struct {
	Shared int // bytes
	Own    int // words of 32 bits of a work-item, beside products on the way
}

func (c *groupTiles) memory() (m TileMemory) {
	for i, p := range c.params {
		n, _ := p.Len.Const()
		switch {
		case p.Use != loop.Scratch:
		case c.own[i] > 0:
			m.Own += c.own[i] * p.DType.Size() / 4
		default:
			m.Shared += n * p.DType.Size()
		}
	}
	return m
}

// stretch is the rows of a tile that are of one sequence, from one to below the
// other, counted in the sequence.
type stretch struct{ from, to *loop.Expr }

// tasks is the work of a group as a function of its number: a tile of so many of
// length rows for each key head and, where sequences are dense, each of these.
// Rows of queries are group to a query.
func (c *groupTiles) tasks(task *loop.Expr, queries bool, rows int, body func(s stretch) []loop.Stmt) (count *loop.Expr, all []loop.Stmt) {
	index := func(o ir.Op, a, b *loop.Expr) *loop.Expr { return loop.Apply(o, ir.I64, a, b) }
	length, each := c.KLen, 1
	if c.Attr.Ragged {
		length = c.Keys
	}
	if queries {
		length, each = c.QLen, c.group
		if c.Attr.Ragged {
			length = c.Queries
		}
	}
	flat := loop.SizeOf(length.Mul(ir.N(each)))
	blocks := index(ir.IDiv, loop.AddIndex(flat, loop.Int(rows-1)), loop.Int(rows))
	count = loop.MulIndex(blocks, loop.Int(c.KVHeads))
	head := c.keep("kvhead", index(ir.Mod, index(ir.IDiv, task, blocks), loop.Int(c.KVHeads)))
	first := c.keep("first", loop.MulIndex(index(ir.Mod, task, blocks), loop.Int(rows)))
	c.kvHead = head.Local.Ref()
	all = []loop.Stmt{head, first}
	if c.Attr.Ragged {
		return count, append(all, c.sequences(first.Local.Ref(), queries, rows, body))
	}
	seq := c.keep("seq", index(ir.IDiv, task, count))
	last := c.keep("last", index(ir.Min, loop.AddIndex(first.Local.Ref(), loop.Int(rows)), flat))
	c.seq, c.qLen, c.kLen = seq.Local.Ref(), loop.SizeOf(c.QLen), loop.SizeOf(c.KLen)
	all = append(append(all, seq, last), body(stretch{first.Local.Ref(), last.Local.Ref()})...)
	return loop.MulIndex(count, loop.SizeOf(c.Batch)), all
}

// sequences goes through those that have rows of a tile which begins at first,
// counted among all rows.
func (c *groupTiles) sequences(first *loop.Expr, queries bool, rows int, body func(s stretch) []loop.Stmt) loop.Stmt {
	seq := &loop.Var{Name: "seq"}
	offset := func(name string, param, more int) *loop.Set {
		at := loop.AddIndex(seq.Ref(), loop.Int(more))
		return c.keep(name, loop.Apply(ir.Cast, ir.I64, loop.Load(param, ir.I32, at, nil)))
	}
	q0, q1, k0, k1 := offset("q0", c.QOffsets, 0), offset("q1", c.QOffsets, 1), offset("k0", c.KOffsets, 0), offset("k1", c.KOffsets, 1)
	c.seq, c.q0, c.k0 = seq.Ref(), q0.Local.Ref(), k0.Local.Ref()
	c.qLen, c.kLen = loop.SubIndex(q1.Local.Ref(), c.q0), loop.SubIndex(k1.Local.Ref(), c.k0)
	before, behind := c.k0, k1.Local.Ref()
	if queries {
		before, behind = loop.MulIndex(c.q0, loop.Int(c.group)), loop.MulIndex(q1.Local.Ref(), loop.Int(c.group))
	}
	from := loop.Apply(ir.Max, ir.I64, first, before)
	to := loop.Apply(ir.Min, ir.I64, loop.AddIndex(first, loop.Int(rows)), behind)
	f0, f1 := c.keep("f0", loop.SubIndex(from, before)), c.keep("f1", loop.SubIndex(to, before))
	s := stretch{f0.Local.Ref(), f1.Local.Ref()}
	all := []loop.Stmt{q0, q1, k0, k1, f0, f1, when(loop.Apply(ir.Less, ir.Bool, s.from, s.to), body(s)...)}
	return &loop.Loop{Var: seq, Hi: loop.SizeOf(c.Batch), Range: loop.Serial, Body: all}
}
