package template

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// RowLoops is Loops with one iteration a query row and head, for devices that
// want more to do at once than there are sequences. In a ragged batch each
// counts the sequences that end before its row.
func (t *Attention) RowLoops() *loop.Kernel {
	v := &loop.Var{Name: "rowhead"}
	body := t.oneRow(loop.Apply(ir.IDiv, ir.I64, v.Ref(), loop.Int(t.Heads)), loop.Apply(ir.Mod, ir.I64, v.Ref(), loop.Int(t.Heads)))
	return t.parallel(&loop.Loop{Var: v, Hi: loop.SizeOf(t.Queries.Mul(ir.N(t.Heads))), Range: loop.Global, Body: body})
}

// TileLoops is Loops with one iteration a tile of so many rows of the query heads
// that share a key head: row f is query f / group of head f % group among those,
// with queries counted in the sequence, or among all in a ragged batch.
func (t *Attention) TileLoops(rows int) *loop.Kernel {
	group := t.Heads / t.KVHeads
	index := func(o ir.Op, a, b *loop.Expr) *loop.Expr { return loop.Apply(o, ir.I64, a, b) }
	v, f := &loop.Var{Name: "tile"}, &loop.Var{Name: "f"}
	length := t.Queries
	if !t.Attr.Ragged {
		length = t.QLen
	}
	all := loop.SizeOf(length.Mul(ir.N(group)))
	blocks := index(ir.IDiv, loop.AddIndex(all, loop.Int(rows-1)), loop.Int(rows))
	first := loop.MulIndex(index(ir.Mod, v.Ref(), blocks), loop.Int(rows))
	kvHead := index(ir.Mod, index(ir.IDiv, v.Ref(), blocks), loop.Int(t.KVHeads))
	row := index(ir.IDiv, f.Ref(), loop.Int(group))
	count := loop.MulIndex(blocks, loop.Int(t.KVHeads))
	if !t.Attr.Ragged {
		row = loop.AddIndex(loop.MulIndex(index(ir.IDiv, v.Ref(), count), loop.SizeOf(t.QLen)), row)
		count = loop.MulIndex(count, loop.SizeOf(t.Batch))
	}
	head := loop.AddIndex(loop.MulIndex(kvHead, loop.Int(group)), index(ir.Mod, f.Ref(), loop.Int(group)))
	one := &loop.Loop{Var: f, Lo: first, Hi: index(ir.Min, loop.AddIndex(first, loop.Int(rows)), all), Range: loop.Serial, Body: t.oneRow(row, head)}
	return t.parallel(&loop.Loop{Var: v, Hi: count, Range: loop.Global, Body: []loop.Stmt{one}})
}

func (t *Attention) parallel(l *loop.Loop) *loop.Kernel {
	k := t.Loops()
	return loop.Share(&loop.Kernel{Name: k.Name, Params: k.Params, Slots: k.Slots, Body: []loop.Stmt{l}})
}

// oneRow computes a row among all in a head.
func (t *Attention) oneRow(row, head *loop.Expr) []loop.Stmt {
	c := &attentionLoops{Attention: t, ct: t.DType.Compute(), scratch: len(t.Params)}
	places := map[*loop.Var]*loop.Expr{t.Row: row, t.Head: head}
	var before []loop.Stmt
	if t.Attr.Ragged {
		seq, s := &loop.Local{Name: "seq", DType: ir.I64}, &loop.Var{Name: "s"}
		end := loop.Apply(ir.Cast, ir.I64, loop.Load(t.QOffsets, ir.I32, loop.AddIndex(s.Ref(), loop.Int(1)), nil))
		past := loop.Apply(ir.Cast, ir.I64, loop.Apply(ir.Less, ir.Bool, end, loop.AddIndex(row, loop.Int(1))))
		before = []loop.Stmt{
			&loop.Set{Local: seq, Value: loop.Int(0)},
			&loop.Loop{Var: s, Hi: loop.SizeOf(t.Batch), Range: loop.Vector, Body: []loop.Stmt{&loop.Acc{Local: seq, Op: ir.Add, Value: past}}},
		}
		places[t.Seq] = seq.Ref()
	} else {
		places[t.Seq] = loop.Apply(ir.IDiv, ir.I64, row, loop.SizeOf(t.QLen))
	}
	return append(before, replaced(c.row(), places)...)
}
