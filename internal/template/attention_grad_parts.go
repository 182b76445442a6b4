package template

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// The methods of this file make the parts that a driver calls around its own
// products of blocks of queries with blocks of keys. They are for gradients that
// are computed in f32.

// newGradientPart makes a part without a body, with a panel of f32.
func (t *AttentionGrad) newGradientPart(name string, use loop.Use) *attentionPart {
	return &attentionPart{startPart(t.Loops(), t.Params, ir.F32, name, use), &t.Attention}
}

// CopyQ is the part that writes rows of q in the head AtHead,
//
//	panel[(row-FirstRow)*Stride + lane] = Q(row, head, lane)
//
// and 0 in the lanes behind them up to a multiple of round, and in rows that see
// nothing. CopyK, CopyV and CopyDOut are the same of the other operands.
func (t *AttentionGrad) CopyQ(round int) *Part {
	return t.copyWide("copy_q", t.alone(convert(t.Q, ir.F32)), t.Queries, t.Width, round)
}

// CopyK: see CopyQ.
func (t *AttentionGrad) CopyK(round int) *Part {
	return t.copyWide("copy_k", t.K, t.Keys, t.Width, round)
}

// CopyV: see CopyQ.
func (t *AttentionGrad) CopyV(round int) *Part {
	return t.copyWide("copy_v", t.V, t.Keys, t.VWidth, round)
}

// CopyDOut: see CopyQ.
func (t *AttentionGrad) CopyDOut(round int) *Part {
	return t.copyWide("copy_dout", t.alone(convert(t.DOut, ir.F32)), t.Queries, t.VWidth, round)
}

func (t *AttentionGrad) copyWide(name string, from *loop.Expr, count ir.Dim, width, round int) *Part {
	b := t.newGradientPart(name, loop.Write)
	lanes := func(lo, hi int, value *loop.Expr) *loop.Loop {
		st := &loop.Store{Param: b.part.Panel, Index: loop.AddIndex(b.above(t.Row), t.Lane.Ref()), Value: value}
		return &loop.Loop{Var: t.Lane, Lo: loop.Int(lo), Hi: loop.Int(hi), Range: loop.Vector, Body: []loop.Stmt{st}}
	}
	body := []loop.Stmt{lanes(0, width, convert(from, ir.F32))}
	if wide := (width + round - 1) / round * round; wide > width {
		body = append(body, lanes(width, wide, loop.Const(ir.F32, 0)))
	}
	return b.body(b.rows(t.Row, count, body...))
}

// Weigh is the part that makes weights and gradients of scores, in place: for
// queries i of the Global loop and keys j from FirstCol to EndCol, both by
// position in the sequence,
//
//	panel[(i-FirstRow)*Stride + j-FirstK]             q*k becomes w
//	panel[(i-FirstRow)*Stride + j-FirstK + Second]    dout*v becomes ds
//
// and 0 where i does not see j. RowsBefore is where the sequence's queries begin
// among all, QueryCount and KeyCount are its sizes.
func (t *AttentionGrad) Weigh() *Part {
	b := t.newGradientPart("weigh", loop.Update)
	c := &attentionLoops{Attention: &t.Attention, ct: ir.F32}
	at := loop.AddIndex(b.above(t.I), loop.SubIndex(t.J.Ref(), b.size(FirstK)))
	behind := loop.AddIndex(at, b.size(Second))
	load := func(at *loop.Expr) *loop.Expr { return loop.Load(b.part.Panel, ir.F32, at, nil) }
	stores := func(lo, hi, w, ds *loop.Expr) *loop.Loop {
		kept := [2]*loop.Local{{Name: "w", DType: ir.F32}, {Name: "ds", DType: ir.F32}} // the stores change what they are made from
		body := []loop.Stmt{
			&loop.Set{Local: kept[0], Value: w}, &loop.Set{Local: kept[1], Value: ds},
			&loop.Store{Param: b.part.Panel, Index: at, Value: kept[0].Ref()}, &loop.Store{Param: b.part.Panel, Index: behind, Value: kept[1].Ref()},
		}
		return &loop.Loop{Var: t.J, Lo: lo, Hi: hi, Range: loop.Vector, Body: body}
	}
	p, body := t.newPair(c, map[*loop.Var]*loop.Expr{t.Row: loop.AddIndex(b.size(RowsBefore), t.I.Ref())})
	var mask *loop.Expr
	if t.Mask != nil {
		mask = c.widen(t.Mask)
	}
	w, ds := p.weigh(load(at), load(behind), mask)

	within := func(x, lo *loop.Expr) *loop.Expr {
		return loop.Apply(ir.Min, ir.I64, loop.Apply(ir.Max, ir.I64, x, lo), b.size(EndCol))
	}
	from, to := c.seen(t.I.Ref(), b.size(QueryCount), b.size(KeyCount))
	from = within(from, b.size(FirstCol))
	to = within(to, from)
	body = append(body, stores(b.size(FirstCol), from, c.number(0), c.number(0)), stores(from, to, w, ds), stores(to, b.size(EndCol), c.number(0), c.number(0)))
	return b.body(b.rows(t.I, t.Queries, body...))
}

// Finish is the part that hands dq, dk or dv over: rows of the Global loop in
// the head AtHead, whose sums are
//
//	panel[(row-FirstRow)*Stride + lane]
//
// A query that sees nothing has 0.
func (t *AttentionGrad) Finish(i int) *Part {
	g := &t.Grads[i]
	b := t.newGradientPart([...]string{"store_q", "store_k", "store_v"}[i], loop.Read)
	count, width := t.Keys, t.Width
	switch i {
	case 0:
		count = t.Queries
	case 2:
		width = t.VWidth
	}
	sum := loop.Load(b.part.Panel, ir.F32, loop.AddIndex(b.above(t.Row), t.Lane.Ref()), nil)
	if i == 0 {
		sum = t.alone(sum)
	}
	body := append([]loop.Stmt{&loop.Set{Local: g.Acc, Value: convert(sum, g.Acc.DType)}}, g.Store...)
	return b.body(b.rows(t.Row, count, &loop.Loop{Var: t.Lane, Hi: loop.Int(width), Range: loop.Vector, Body: body}))
}
