package schedule

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// scatter copies the operand and then applies the updates along the axis in
// order. Other axes are independent, so the result does not depend on threads.
func (b *builder) scatter(n *ir.Node) ([]loop.Stmt, error) {
	x, index, updates := n.In[0], n.In[1], n.In[2]
	axis := n.Attr.Axis()
	kept, at := b.axes("r", x.Shape, func(a int) bool { return a != axis })
	v := b.variable("c", x.Shape[axis])
	from := append([]*loop.Expr(nil), at...)
	from[axis] = v.Ref()
	start, err := b.value(x, from, nil)
	if err != nil {
		return nil, err
	}
	u := b.variable("u", index.Shape[axis])
	iu := append([]*loop.Expr(nil), at...)
	iu[axis] = u.Ref()
	i, err := b.value(index, iu, nil)
	if err != nil {
		return nil, err
	}
	up, err := b.value(updates, iu, nil)
	if err != nil {
		return nil, err
	}
	size := x.Shape[axis]
	slot := b.check(n, size)
	to := append([]*loop.Expr(nil), at...)
	to[axis] = loop.Index(castIndex64(i), size, slot)
	if n.Attr.Mode == "add" {
		old := loop.Load(b.param(bufferKey{node: n}, loop.Write), n.DType, linear(to, n.Shape), nil)
		up = loop.Apply(ir.Add, n.DType, old, up)
	}
	body := []loop.Stmt{
		&loop.Loop{Var: v, Hi: loop.SizeOf(size), Range: loop.Serial, Body: []loop.Stmt{b.store(n, from, start)}},
	}
	if _, hi := size.Bounds(); hi > 0 {
		body = append(body, &loop.Loop{Var: u, Hi: loop.SizeOf(index.Shape[axis]), Range: loop.Serial, Body: []loop.Stmt{b.store(n, to, up)}})
	}
	return b.overKept(kept, axis != lastAxis(x.Shape), body), nil
}

// scan runs along an axis and stores each step.
func (b *builder) scan(n *ir.Node) ([]loop.Stmt, error) {
	x := n.In[0]
	axis := n.Attr.Axis()
	kept, at := b.axes("r", x.Shape, func(a int) bool { return a != axis })
	v := b.variable("c", x.Shape[axis])
	idx := append([]*loop.Expr(nil), at...)
	idx[axis] = v.Ref()
	e, err := b.value(x, idx, nil)
	if err != nil {
		return nil, err
	}
	kind := map[string]ir.Op{"sum": ir.ReduceSum, "prod": ir.ReduceProd, "max": ir.ReduceMax}[n.Attr.Mode]
	acc := b.newLocal("acc", n.DType.Compute())
	start := &loop.Set{Local: acc, Value: convert(identity(kind, n.DType), acc.DType)}
	step := &loop.Set{Local: acc, Value: loop.Apply(foldOp(kind), acc.DType, acc.Ref(), convert(e, acc.DType))}
	row := &loop.Loop{Var: v, Hi: loop.SizeOf(x.Shape[axis]), Range: loop.Serial, Body: []loop.Stmt{step, b.store(n, idx, convert(acc.Ref(), n.DType))}}
	body := []loop.Stmt{start, row}
	if _, most := x.Shape[axis].Bounds(); most > serialBlock && kind == ir.ReduceSum && acc.DType.IsFloat() {
		// As a sum: that of the blocks before, and that of the block so far.
		total := b.newLocal("total", acc.DType)
		whole := loop.Apply(ir.Add, acc.DType, total.Ref(), acc.Ref())
		blocks, span := b.blocksOf(row, serialBlock)
		span.Body = []loop.Stmt{step, b.store(n, idx, convert(whole, n.DType))}
		blocks.Body = []loop.Stmt{start, &span, &loop.Set{Local: total, Value: whole}}
		body = []loop.Stmt{&loop.Set{Local: total, Value: start.Value}, blocks}
	}
	return b.overKept(kept, axis != lastAxis(x.Shape), body), nil
}

// segmentIDs fills each segment's rows with its number.
func (b *builder) segmentIDs(n *ir.Node) ([]loop.Stmt, error) {
	seg, lo, hi, err := b.segment(n.In[0])
	if err != nil {
		return nil, err
	}
	v := b.variable("r", n.Shape[0])
	st := b.store(n, []*loop.Expr{v.Ref()}, castIndex(seg.Ref(), n.DType))
	return []loop.Stmt{&loop.Loop{Var: seg, Hi: loop.SizeOf(b.bounds[seg]), Range: loop.Global, Body: []loop.Stmt{
		&loop.Loop{Var: v, Lo: lo, Hi: hi, Range: loop.Vector, Body: []loop.Stmt{st}},
	}}}, nil
}

// segment makes a variable over the segments that offsets bound, and the first
// row and the row behind the last of each.
func (b *builder) segment(offsets *ir.Node) (seg *loop.Var, lo, hi *loop.Expr, err error) {
	seg = b.variable("b", offsets.Shape[0].Plus(-1))
	ends := make([]*loop.Expr, 2)
	for i := range ends {
		e, err := b.value(offsets, []*loop.Expr{loop.AddIndex(seg.Ref(), loop.Int(i))}, nil)
		if err != nil {
			return nil, nil, nil, err
		}
		ends[i] = castIndex64(e)
	}
	return seg, ends[0], ends[1], nil
}

// segmentReduce folds the rows of each segment; an empty one gives the
// identity.
func (b *builder) segmentReduce(n *ir.Node) ([]loop.Stmt, error) {
	seg, lo, hi, err := b.segment(n.In[1])
	if err != nil {
		return nil, err
	}
	kept, at := b.axes("c", n.Shape, func(a int) bool { return a > 0 })
	row := b.variable("r", n.In[0].Shape[0])
	from := append([]*loop.Expr(nil), at...)
	from[0] = row.Ref()
	e, err := b.value(n.In[0], from, nil)
	if err != nil {
		return nil, err
	}
	kind := ir.ReduceSum
	if n.Attr.Mode == "max" {
		kind = ir.ReduceMax
	}
	acc := b.newLocal("acc", n.DType.Compute())
	at[0] = seg.Ref()
	rows := &loop.Loop{Var: row, Lo: lo, Hi: hi, Range: loop.Serial, Body: []loop.Stmt{&loop.Acc{Local: acc, Op: foldOp(kind), Value: convert(e, acc.DType)}}}
	_, most := n.In[0].Shape[0].Bounds()
	body := []loop.Stmt{&loop.Set{Local: acc, Value: convert(identity(kind, n.DType), acc.DType)}}
	body = append(body, b.inBlocks([]loop.Stmt{rows}, int(most))...)
	body = append(body, b.store(n, at, convert(acc.Ref(), n.DType)))
	if len(kept) > 0 {
		body = loop.Collapse(b.nest(kept, loop.Vector, body))
	}
	return []loop.Stmt{&loop.Loop{Var: seg, Hi: loop.SizeOf(b.bounds[seg]), Range: loop.Global, Body: body}}, nil
}
