package schedule

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// argBlock is how many elements are searched once more for the place of the
// extreme: a part of the first cache.
const argBlock = 1024

// extremeOf is a range's extreme element, and its place along the axis.
type extremeOf struct{ best, where *loop.Local }

// argReduce finds the first extreme element along an axis: a NaN beats every
// number, the first of equals stays.
func (b *builder) argReduce(n *ir.Node) ([]loop.Stmt, error) {
	x := n.In[0]
	axis := n.Attr.Axis()
	kept, rowIdx := b.axes("r", x.Shape, func(a int) bool { return a != axis })
	lanes := axis != lastAxis(x.Shape)
	v := b.variable("c", x.Shape[axis])
	l := &loop.Loop{Var: v, Hi: loop.SizeOf(x.Shape[axis])}
	most, _ := l.Hi.AsInt()
	found, body, err := b.extremeIn(n, rowIdx, l, most, lanes)
	if err != nil {
		return nil, err
	}
	body = append(body, b.store(n, rowIdx, castIndex64(found.where.Ref())))
	return b.overKept(kept, lanes, body), nil
}

// extremeIn searches one range, over which l runs, of at most so many elements;
// 0 is not known. With lanes it is one row of many, each in a lane.
func (b *builder) extremeIn(n *ir.Node, rowIdx []*loop.Expr, l *loop.Loop, most int, lanes bool) (extremeOf, []loop.Stmt, error) {
	x := n.In[0]
	at := append([]*loop.Expr(nil), rowIdx...)
	at[n.Attr.Axis()] = l.Var.Ref()
	e, err := b.value(x, at, nil)
	if err != nil {
		return extremeOf{}, nil, err
	}
	e = convert(e, x.DType.Compute())
	if lanes {
		f, body := b.extremeSerial(n, e, l)
		return f, body, nil
	}
	f, body := b.extremeVector(n, e, l, most)
	return f, body, nil
}

// placeType is the type in which places along an axis are counted in lanes.
func placeType(axis ir.Dim) ir.DType {
	if _, hi := axis.Bounds(); hi <= math.MaxInt32 {
		return ir.I32
	}
	return ir.I64
}

// extremeSerial looks at one element after the other.
func (b *builder) extremeSerial(n *ir.Node, e *loop.Expr, l *loop.Loop) (extremeOf, []loop.Stmt) {
	f := extremeOf{b.newLocal("best", e.DType), b.newLocal("where", placeType(n.In[0].Shape[n.Attr.Axis()]))}
	lo := loop.Int(0)
	if l.Lo != nil {
		lo = l.Lo
	}
	take := b.newLocal("take", ir.Bool)
	return f, []loop.Stmt{
		&loop.Set{Local: f.best, Value: lowest(n.Op, e.DType)},
		&loop.Set{Local: f.where, Value: castIndex(lo, f.where.DType)},
		&loop.Loop{Var: l.Var, Lo: l.Lo, Hi: l.Hi, Range: loop.Serial, Body: []loop.Stmt{
			&loop.Set{Local: take, Value: better(n.Op, e, f.best.Ref())},
			&loop.Set{Local: f.where, Value: loop.Apply(ir.Where, f.where.DType, take.Ref(), castIndex(l.Var.Ref(), f.where.DType), f.where.Ref())},
			&loop.Set{Local: f.best, Value: loop.Apply(ir.Where, e.DType, take.Ref(), e, f.best.Ref())},
		}},
	}
}

// extremeVector finds the extreme of each block in lanes, remembers the first
// block that has it, and searches that one for its place.
func (b *builder) extremeVector(n *ir.Node, e *loop.Expr, l *loop.Loop, most int) (extremeOf, []loop.Stmt) {
	f := extremeOf{b.newLocal("best", e.DType), b.newLocal("where", ir.I64)}
	start, lo := loop.Int(0), loop.Int(0)
	if l.Lo != nil {
		start, lo = l.Lo, l.Lo
	}
	hi := l.Hi
	fold := foldOp(ir.ReduceMax)
	if n.Op == ir.ArgMin {
		fold = foldOp(ir.ReduceMin)
	}
	body := []loop.Stmt{&loop.Set{Local: f.best, Value: lowest(n.Op, e.DType)}}
	if most > 0 && most <= argBlock {
		body = append(body, &loop.Loop{Var: l.Var, Lo: l.Lo, Hi: hi, Range: loop.Vector, Body: []loop.Stmt{
			&loop.Acc{Local: f.best, Op: fold, Value: e},
		}})
	} else {
		outer, span := b.blocksOf(l, argBlock)
		top, take, chosen := b.newLocal("top", e.DType), b.newLocal("take", ir.Bool), b.newLocal("chosen", ir.I64)
		span.Range = loop.Vector
		span.Body = []loop.Stmt{&loop.Acc{Local: top, Op: fold, Value: e}}
		outer.Body = []loop.Stmt{
			&loop.Set{Local: top, Value: lowest(n.Op, e.DType)},
			&span,
			&loop.Set{Local: take, Value: better(n.Op, top.Ref(), f.best.Ref())},
			&loop.Set{Local: chosen, Value: loop.Apply(ir.Where, ir.I64, take.Ref(), span.Lo, chosen.Ref())},
			&loop.Set{Local: f.best, Value: loop.Apply(ir.Where, e.DType, take.Ref(), top.Ref(), f.best.Ref())},
		}
		body = append(body, &loop.Set{Local: chosen, Value: lo}, outer)
		start = chosen.Ref()
		hi = loop.Apply(ir.Min, ir.I64, loop.AddIndex(start, loop.Int(argBlock)), hi)
	}
	none := loop.Const(ir.I32, math.MaxInt32)
	place := b.newLocal("place", ir.I32)
	again := &loop.Var{Name: l.Var.Name + "again"}
	element := loop.Substitute(e, map[*loop.Var]*loop.Expr{l.Var: again.Ref()})
	hit := loop.Apply(ir.Equal, ir.Bool, element, f.best.Ref())
	if e.DType.IsFloat() {
		hit = loop.Apply(ir.Or, ir.Bool, hit, isNaN(element))
	}
	here := loop.Apply(ir.Cast, ir.I32, loop.SubIndex(again.Ref(), start))
	body = append(body,
		&loop.Set{Local: place, Value: none},
		&loop.Loop{Var: again, Lo: start, Hi: hi, Range: loop.Vector, Body: []loop.Stmt{
			&loop.Acc{Local: place, Op: ir.Min, Value: loop.Apply(ir.Where, ir.I32, hit, here, none)},
		}},
		&loop.Set{Local: f.where, Value: loop.AddIndex(start, castIndex64(place.Ref()))})
	return f, body
}

// lowest is beaten by every element that is not as low itself.
func lowest(op ir.Op, d ir.DType) *loop.Expr {
	if op == ir.ArgMin {
		return identity(ir.ReduceMin, d)
	}
	return identity(ir.ReduceMax, d)
}

// better tells whether e takes the place of best, which came before.
func better(op ir.Op, e, best *loop.Expr) *loop.Expr {
	isBool := func(op ir.Op, p, q *loop.Expr) *loop.Expr { return loop.Apply(op, ir.Bool, p, q) }
	yes := isBool(ir.Less, best, e)
	if op == ir.ArgMin {
		yes = isBool(ir.Less, e, best)
	}
	if !e.DType.IsFloat() {
		return yes
	}
	return isBool(ir.And, isBool(ir.Or, yes, isNaN(e)), isBool(ir.Equal, best, best))
}

func isNaN(e *loop.Expr) *loop.Expr {
	same := loop.Apply(ir.Equal, ir.Bool, e, e)
	return loop.Apply(ir.Xor, ir.Bool, same, loop.Const(ir.Bool, 1))
}

// firstArg searches one part of a row.
func (sp *split) firstArg(r *rowBuilder, members []*ir.Node, lanes bool) ([]loop.Stmt, error) {
	n := members[0]
	axis := n.Attr.Axis()
	v := r.variable("c", sp.g.full[axis])
	sp.parts = r.cut(&loop.Loop{Var: v, Hi: loop.SizeOf(sp.g.full[axis])}, n.Shape, lanes)
	f, body, err := r.extremeIn(n, r.rowIdx, sp.parts.loop, sp.parts.most, lanes)
	if err != nil {
		return nil, err
	}
	return append(body, sp.leave(r, n, f.best), sp.leave(r, n, f.where)), nil
}

// secondArg finds the first part that has the extreme. Where nothing is better
// than the lowest value, the first element is as good.
func (sp *split) secondArg(r *rowBuilder, members []*ir.Node) []loop.Stmt {
	n := members[0]
	part := r.variable("part", ir.Dim{})
	left := sp.left[n]
	e, place := sp.found(r, left[0], part), sp.found(r, left[1], part)
	best, where, take := r.newLocal("best", e.DType), r.newLocal("where", place.DType), r.newLocal("take", ir.Bool)
	body := []loop.Stmt{
		&loop.Set{Local: best, Value: lowest(n.Op, e.DType)},
		&loop.Set{Local: where, Value: loop.Const(where.DType, 0)},
		&loop.Loop{Var: part, Hi: sp.parts.count, Range: loop.Serial, Body: []loop.Stmt{
			&loop.Set{Local: take, Value: better(n.Op, e, best.Ref())},
			&loop.Set{Local: where, Value: loop.Apply(ir.Where, where.DType, take.Ref(), place, where.Ref())},
			&loop.Set{Local: best, Value: loop.Apply(ir.Where, best.DType, take.Ref(), e, best.Ref())},
		}},
	}
	return append(body, r.result(n, castIndex64(where.Ref()))...)
}
