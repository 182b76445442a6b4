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
	l, e, err := b.along(n, rowIdx)
	if err != nil {
		return nil, err
	}
	var f extremeOf
	var body []loop.Stmt
	lanes := axis != lastAxis(x.Shape)
	if lanes {
		f = b.newExtreme(n, e, placeType(x.Shape[axis]))
		l.Body, l.Range = b.candidate(n, f, e, l.Var), loop.Serial
		body = append(f.start(n.Op), l)
	} else {
		most, _ := l.Hi.AsInt()
		f, body = b.extremeVector(n, e, l, most)
	}
	body = append(body, b.store(n, rowIdx, castIndex64(f.where.Ref())))
	return b.overKept(kept, lanes, body), nil
}

// along makes the loop along n's axis, without a body, and the element there.
func (b *builder) along(n *ir.Node, rowIdx []*loop.Expr) (*loop.Loop, *loop.Expr, error) {
	x, axis := n.In[0], n.Attr.Axis()
	v := b.variable("c", x.Shape[axis])
	at := append([]*loop.Expr(nil), rowIdx...)
	at[axis] = v.Ref()
	e, err := b.value(x, at, nil)
	if err != nil {
		return nil, nil, err
	}
	return &loop.Loop{Var: v, Hi: loop.SizeOf(x.Shape[axis]), Range: loop.Vector}, convert(e, x.DType.Compute()), nil
}

// placeType is the type in which places along an axis are counted in lanes.
func placeType(axis ir.Dim) ir.DType {
	if _, hi := axis.Bounds(); hi <= math.MaxInt32 {
		return ir.I32
	}
	return ir.I64
}

func (b *builder) newExtreme(n *ir.Node, e *loop.Expr, place ir.DType) extremeOf {
	return extremeOf{b.newLocal("best", e.DType), b.newLocal("where", place)}
}

// start makes the extreme that of no elements. All that are the lowest value
// leave the place as it is: the first.
func (f extremeOf) start(op ir.Op) []loop.Stmt {
	return []loop.Stmt{
		&loop.Set{Local: f.best, Value: lowest(op, f.best.DType)},
		&loop.Set{Local: f.where, Value: loop.Const(f.where.DType, 0)},
	}
}

// candidate takes e, at the given place, if it is better than what came before.
func (b *builder) candidate(n *ir.Node, f extremeOf, e *loop.Expr, place *loop.Var) []loop.Stmt {
	take := b.newLocal("take", ir.Bool)
	return []loop.Stmt{
		&loop.Set{Local: take, Value: better(n.Op, e, f.best.Ref())},
		&loop.Set{Local: f.where, Value: loop.Apply(ir.Where, f.where.DType, take.Ref(), castIndex(place.Ref(), f.where.DType), f.where.Ref())},
		&loop.Set{Local: f.best, Value: loop.Apply(ir.Where, e.DType, take.Ref(), e, f.best.Ref())},
	}
}

// extremeVector finds the extreme of each block in lanes, remembers the first
// block that has it, and searches that one for its place.
func (b *builder) extremeVector(n *ir.Node, e *loop.Expr, l *loop.Loop, most int) (extremeOf, []loop.Stmt) {
	f := b.newExtreme(n, e, ir.I64)
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
func (sp *split) firstArg(r *rowBuilder, n *ir.Node) ([]loop.Stmt, error) {
	l, e, err := r.along(n, r.rowIdx)
	if err != nil {
		return nil, err
	}
	sp.parts = r.cut(l, n.Shape.Numel(), 1)
	f, body := r.extremeVector(n, e, sp.parts.loop, sp.parts.most)
	return append(body, sp.leave(r, n, f.best), sp.leave(r, n, f.where)), nil
}

// secondArg finds the first part that has the extreme; where rows are
// interleaved, the part in which it has the first place.
func (sp *split) secondArg(r *rowBuilder, members []*ir.Node) []loop.Stmt {
	n := members[0]
	part := r.variable("part", ir.Dim{})
	left := sp.left[n]
	e, place := sp.found(r, left[0], part), sp.found(r, left[1], part)
	f := extremeOf{r.newLocal("best", e.DType), r.newLocal("where", place.DType)}
	body := f.start(n.Op)
	take := better(n.Op, e, f.best.Ref())
	if sp.interleaved > 1 {
		among := loop.Apply(ir.Mod, ir.I64, part.Ref(), loop.Int(sp.interleaved))
		place = loop.Apply(ir.Add, place.DType, loop.Apply(ir.Mul, place.DType, place, loop.Const(place.DType, uint64(sp.interleaved))), castIndex(among, place.DType))
		body[1] = &loop.Set{Local: f.where, Value: loop.Const(place.DType, extreme(place.DType, 1))}
		take = loop.Apply(ir.Or, ir.Bool, take, loop.Apply(ir.And, ir.Bool, alike(e, f.best.Ref()), loop.Apply(ir.Less, ir.Bool, place, f.where.Ref())))
	}
	takes := r.newLocal("take", ir.Bool)
	body = append(body, &loop.Loop{Var: part, Hi: sp.leftParts(), Range: loop.Serial, Body: []loop.Stmt{
		&loop.Set{Local: takes, Value: take},
		&loop.Set{Local: f.where, Value: loop.Apply(ir.Where, place.DType, takes.Ref(), place, f.where.Ref())},
		&loop.Set{Local: f.best, Value: loop.Apply(ir.Where, e.DType, takes.Ref(), e, f.best.Ref())},
	}})
	return append(body, r.result(n, castIndex64(f.where.Ref()))...)
}

// alike tells whether neither of two is better: they are equal, or both NaN.
func alike(x, y *loop.Expr) *loop.Expr {
	same := loop.Apply(ir.Equal, ir.Bool, x, y)
	if !x.DType.IsFloat() {
		return same
	}
	return loop.Apply(ir.Or, ir.Bool, same, loop.Apply(ir.And, ir.Bool, isNaN(x), isNaN(y)))
}
