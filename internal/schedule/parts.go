package schedule

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// parts says how the loops over the reduced axes are cut. The outermost that is
// long enough runs over ranges; a part is one range of it for one iteration of
// the loops around it.
type parts struct {
	loop   *loop.Loop   // over one range
	most   int          // iterations that has at most; 0 if not known
	outer  []*loop.Loop // the loops around it, then that over the ranges
	number *loop.Expr   // of the part, while it runs
	count  *loop.Expr   // of parts
	bound  int          // of count
}

// shortLoop is not enough iterations to be cut into ranges.
const shortLoop = 64

// cut finds the parts of a nest of loops, of which each iteration does so many
// rows. A range has at least so many iterations.
func (b *builder) cut(l *loop.Loop, rows ir.Dim, least int) parts {
	var p parts
	around := 1
	p.number = loop.Int(0)
	for {
		n, static := l.Hi.AsInt()
		inner := only(l)
		if !static || n >= shortLoop || inner == nil {
			break
		}
		p.outer = append(p.outer, l)
		p.number = loop.AddIndex(loop.MulIndex(p.number, l.Hi), l.Var.Ref())
		around *= n
		l = inner
	}
	granule := b.s.limits.smallestRange(l, rows, least)
	limit := max(1, b.s.limits.parts/around)
	chunk, count := ranges(l.Hi, granule, limit)
	bound := limit
	if n, ok := count.AsInt(); ok {
		bound = n
	}
	v := b.variable("part", ir.Dim{})
	p.number = loop.AddIndex(loop.MulIndex(p.number, count), v.Ref())
	p.outer = append(p.outer, &loop.Loop{Var: v, Hi: count, Range: loop.Serial})
	p.count, p.bound = loop.MulIndex(loop.Int(around), count), around*bound
	p.most, _ = chunk.AsInt()
	lo := loop.MulIndex(v.Ref(), chunk)
	hi := loop.Apply(ir.Min, ir.I64, loop.AddIndex(lo, chunk), l.Hi)
	p.loop = &loop.Loop{Var: l.Var, Lo: lo, Hi: hi, Range: l.Range, Body: l.Body}
	return p
}

// only is the loop that is all there is in l, nil if it is none.
func only(l *loop.Loop) *loop.Loop {
	if len(l.Body) != 1 {
		return nil
	}
	inner, _ := l.Body[0].(*loop.Loop)
	return inner
}

// smallestRange is how many iterations of l make the smallest part.
func (s *splitLimits) smallestRange(l *loop.Loop, rows ir.Dim, least int) int {
	_, each := rows.Bounds()
	for inner := only(l); inner != nil; inner = only(inner) {
		n, static := inner.Hi.AsInt()
		if !static {
			n = s.part
		}
		each *= int64(n)
	}
	return max(least, int((int64(s.part)+each-1)/each))
}

// ranges cuts n iterations into at most limit ranges, of a multiple of granule
// iterations each.
func ranges(n *loop.Expr, granule, limit int) (size, count *loop.Expr) {
	most := int64(granule) * int64(limit)
	times := loop.AddIndex(divIndex(n, loop.Int(int(most))), loop.Int(1))
	if upper(n) < most {
		times = loop.Int(1)
	}
	size = loop.MulIndex(times, loop.Int(granule))
	return size, ceilDiv(n, size)
}

// upper bounds a number of iterations.
func upper(n *loop.Expr) int64 {
	switch n.Kind {
	case loop.KindConst:
		return int64(n.Bits)
	case loop.KindSize:
		_, hi := n.Size.Bounds()
		return hi
	}
	if c, ok := n.Args[len(n.Args)-1].AsInt(); ok {
		switch hi := upper(n.Args[0]); n.Op {
		case ir.IDiv:
			return hi / int64(c)
		case ir.Add:
			return min(hi, math.MaxInt64-max(int64(c), 0)) + int64(c)
		}
	}
	return math.MaxInt64
}

// around makes the parts iterations of the Global loop.
func (p parts) around(body []loop.Stmt) []loop.Stmt {
	last := p.outer[len(p.outer)-1]
	last.Body = body
	for i := len(p.outer) - 2; i >= 0; i-- {
		outer := p.outer[i]
		outer.Body = []loop.Stmt{last}
		last = loop.Flatten(outer, last)
	}
	last.Range = loop.Global
	return []loop.Stmt{last}
}
