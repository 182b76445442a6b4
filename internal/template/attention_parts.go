package template

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// The methods of this file make the parts that a driver calls around its own
// loops over scores. They are for attention in f32.

// newPart makes a part without a body, with a panel of a dtype.
func (t *Attention) newPart(name string, d ir.DType, use loop.Use) *attentionPart {
	return &attentionPart{startPart(t.Loops(), t.Params, d, name, use), t}
}

type attentionPart struct {
	*partBuilder
	t *Attention
}

// body closes the part: heads and the sequence become arguments.
func (b *attentionPart) body(body ...loop.Stmt) *Part {
	head, seq := b.size(AtHead), b.size(AtSequence)
	body = loop.Rewrite(body, func(e *loop.Expr) *loop.Expr {
		switch {
		case e.Kind != loop.KindVar:
		case e.Var == b.t.Head:
			return head
		case e.Var == b.t.Seq:
			return seq
		}
		return e
	})
	k := b.part.Kernel
	k.Body = body
	b.part.Kernel = loop.Share(k)
	return b.part
}

// above is the first element of a row of the panel, where rows count from
// FirstRow.
func (b *attentionPart) above(row *loop.Var) *loop.Expr {
	return loop.MulIndex(loop.SubIndex(row.Ref(), b.size(FirstRow)), b.size(Stride))
}

// rows is the Global loop.
func (b *attentionPart) rows(row *loop.Var, count ir.Dim, body ...loop.Stmt) *loop.Loop {
	return &loop.Loop{Var: row, Hi: loop.SizeOf(count), Range: loop.Global, Body: body}
}

// CopyQ is the part that writes rows of q in the head AtHead,
//
//	panel[(row-FirstRow)*Stride + lane] = Q(row, head, lane)
//
// and CopyK is the same of k, whose heads are fewer. The panel has the dtype of
// the operand.
func (t *Attention) CopyQ() *Part { return t.copyRows("copy_q", t.Q, t.Queries) }

// CopyK: see CopyQ.
func (t *Attention) CopyK() *Part { return t.copyRows("copy_k", t.K, t.Keys) }

func (t *Attention) copyRows(name string, from *loop.Expr, count ir.Dim) *Part {
	b := t.newPart(name, from.DType, loop.Write)
	st := &loop.Store{Param: b.part.Panel, Index: loop.AddIndex(b.above(t.Row), t.Lane.Ref()), Value: from}
	lanes := &loop.Loop{Var: t.Lane, Hi: loop.Int(t.Width), Range: loop.Vector, Body: []loop.Stmt{st}}
	return b.body(b.rows(t.Row, count, lanes))
}

// PackV is the part that writes v in panels of width lanes, Stride elements
// from panel to panel: within a panel the lanes of a row lie side by side, row
// after row from FirstRow on. The last panel is as wide as its lanes need in
// steps of round; what is there beyond them becomes 0.
//
// In bf16 two successive rows make one of u32, the first in the lower bits, and
// iterations count these from FirstRow on; what would lie at EndK becomes 0.
func (t *Attention) PackV(width, round int) *Part {
	d := t.DType
	pairs := t.V.DType == ir.BF16
	if pairs {
		d = ir.U32
	}
	b := t.newPart("pack_v", d, loop.Write)
	iteration, value := t.Row, t.V
	at := loop.SubIndex(t.Row.Ref(), b.size(FirstRow))
	if pairs {
		iteration = &loop.Var{Name: "pair"}
		at = iteration.Ref()
		value = t.pairV(loop.AddIndex(b.size(FirstRow), loop.MulIndex(at, loop.Int(2))), b.size(EndK))
	}
	var panels []loop.Stmt
	for first := 0; first < t.VWidth; first += width {
		lanes := min(width, t.VWidth-first)
		wide := (lanes + round - 1) / round * round
		row := loop.AddIndex(loop.MulIndex(at, loop.Int(wide)), loop.MulIndex(b.size(Stride), loop.Int(first/width)))
		store := func(lo, hi int, value func(lane *loop.Expr) *loop.Expr) *loop.Loop {
			lane := &loop.Var{Name: "lane"}
			st := &loop.Store{Param: b.part.Panel, Index: loop.AddIndex(row, lane.Ref()), Value: value(lane.Ref())}
			return &loop.Loop{Var: lane, Lo: loop.Int(lo), Hi: loop.Int(hi), Range: loop.Vector, Body: []loop.Stmt{st}}
		}
		panels = append(panels, store(0, lanes, func(lane *loop.Expr) *loop.Expr {
			return loop.Substitute(value, map[*loop.Var]*loop.Expr{t.Lane: loop.AddIndex(loop.Int(first), lane)})
		}))
		if lanes < wide {
			panels = append(panels, store(lanes, wide, func(*loop.Expr) *loop.Expr { return loop.Const(d, 0) }))
		}
	}
	return b.body(b.rows(iteration, t.Keys, panels...))
}

// pairV is v of a row and the next one, 0 from the row end on, as a u32.
func (t *Attention) pairV(row, end *loop.Expr) *loop.Expr {
	bits := func(row *loop.Expr) *loop.Expr {
		v := loop.Substitute(t.V, map[*loop.Var]*loop.Expr{t.Row: row})
		return convert(loop.Apply(ir.Bitcast, ir.U16, v), ir.U32)
	}
	next := loop.AddIndex(row, loop.Int(1))
	high := bits(loop.Apply(ir.Min, ir.I64, next, loop.AddIndex(end, loop.Int(-1))))
	high = loop.Apply(ir.Where, ir.U32, loop.Apply(ir.Less, ir.Bool, next, end), high, loop.Const(ir.U32, 0))
	high = loop.Apply(ir.Shl, ir.U32, high, loop.Const(ir.U32, 16))
	return loop.Apply(ir.Or, ir.U32, bits(row), high)
}

// PlainScores tells whether a score is no more than the product times Scale.
func (t *Attention) PlainScores() bool { return t.Mask == nil && t.Attr.SoftCap == 0 }

// Score is the part that makes scores of products in place: for queries i of
// the Global loop and keys j from FirstCol to EndCol, both by position in the
// sequence,
//
//	panel[(i-FirstRow)*Stride + j-FirstK]
func (t *Attention) Score() *Part {
	b := t.newPart("score", t.DType, loop.Update)
	c := &attentionLoops{Attention: t, ct: t.DType.Compute()}
	at := loop.AddIndex(b.above(t.I), loop.SubIndex(t.J.Ref(), b.size(FirstK)))
	v := c.scaled(loop.Load(b.part.Panel, t.DType, at, nil))
	if t.Mask != nil {
		v = c.op(ir.Add, v, t.Mask)
	}
	st := &loop.Store{Param: b.part.Panel, Index: at, Value: v}
	keys := &loop.Loop{Var: t.J, Lo: b.size(FirstCol), Hi: b.size(EndCol), Range: loop.Vector, Body: []loop.Stmt{st}}
	return b.body(b.rows(t.I, t.Queries, keys))
}

// Finish is the part behind the sums, for rows of the Global loop:
//
//	panel[(row-FirstRow)*Stride + ...]
//
// holds a row's sum of weighted values, one a lane, at top the greatest score
// and at total the sum of the weights. No weights give 0.
func (t *Attention) Finish(top, total int) *Part {
	b := t.newPart("finish", t.DType, loop.Read)
	c := &attentionLoops{Attention: t, ct: t.DType.Compute()}
	load := func(lane *loop.Expr) *loop.Expr {
		return loop.Load(b.part.Panel, t.DType, loop.AddIndex(b.above(t.Row), lane), nil)
	}
	weights := &loop.Local{Name: "weights", DType: t.DType}
	none := loop.Apply(ir.Equal, ir.Bool, weights.Ref(), c.number(0))
	// Whether weights of 0 were added to a sum of -0 depends on how the rows
	// were cut; one more 0 makes it 0 either way.
	sum := c.op(ir.Add, load(t.Lane.Ref()), c.number(0))
	result := c.op(ir.Where, none, c.number(0), c.op(ir.Div, sum, weights.Ref()))
	lanes := &loop.Loop{Var: t.Lane, Hi: loop.Int(t.VWidth), Range: loop.Vector,
		Body: append([]loop.Stmt{&loop.Set{Local: t.Acc, Value: c.narrow(result, t.Acc.DType)}}, t.Epilogue...)}
	body := []loop.Stmt{&loop.Set{Local: weights, Value: load(loop.Int(total))}, lanes}
	if t.Sums != nil {
		lse := c.op(ir.Where, none, c.number(math.Inf(-1)), c.op(ir.Add, load(loop.Int(top)), c.op(ir.Log, weights.Ref())))
		body = append(append(body, &loop.Set{Local: t.LSE, Value: c.narrow(lse, t.LSE.DType)}), t.Sums...)
	}
	return b.body(b.rows(t.Row, t.Queries, body...))
}
