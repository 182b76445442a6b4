package template

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// RowLoops is Loops with one iteration a query row and head, for devices that
// want more to do at once than there are sequences. In a ragged batch each
// counts the sequences that end before its row.
func (t *Attention) RowLoops() *loop.Kernel {
	k := t.Loops()
	c := &attentionLoops{Attention: t, ct: t.DType.Compute(), scratch: len(t.Params)}
	v := &loop.Var{Name: "rowhead"}
	row := loop.Apply(ir.IDiv, ir.I64, v.Ref(), loop.Int(t.Heads))
	places := map[*loop.Var]*loop.Expr{t.Row: row, t.Head: loop.Apply(ir.Mod, ir.I64, v.Ref(), loop.Int(t.Heads))}
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
	rows := &loop.Loop{Var: v, Hi: loop.SizeOf(t.Queries.Mul(ir.N(t.Heads))), Range: loop.Global, Body: append(before, replaced(c.row(), places)...)}
	return loop.Share(&loop.Kernel{Name: k.Name, Params: k.Params, Slots: k.Slots, Body: []loop.Stmt{rows}})
}
