package loop

import "github.com/sinterml/sinter/internal/ir"

// Grouping says how a device of work-groups runs a kernel. An iteration of the
// Global loop is the work of one group.
type Grouping struct {
	// Width is how many partial results a Vector loop accumulates, a power of
	// two: the order of sums depends on it.
	Width int
	// Items spreads the lanes of Vector loops over Width work-items. Without,
	// a group is one work-item, and its Vector loops stay.
	Items bool
	// Each, if above 1, gives each of Width/Each work-items so many lanes side by
	// side of every Width, see Each.
	Each int
}

// Grouped is k with reductions over lanes written out: Width partial results in
// scratch memory, combined as a tree that depends on nothing but Width. With
// Items every Vector loop becomes an Item loop over Width work-items, each of
// which takes every Width-th lane. What stands outside of Item loops is the same
// for all work-items: each computes it, one stores it. All work-items have ended
// an Item loop before any goes on to what depends on it, and the other way round.
func Grouped(k *Kernel, g Grouping) *Kernel {
	b := &grouper{Grouping: g, k: &Kernel{Name: k.Name, Params: append([]Param(nil), k.Params...), Slots: k.Slots}}
	b.k.Body = b.body(k.Body)
	return Share(b.k)
}

type grouper struct {
	Grouping
	k    *Kernel
	rows map[ir.DType][]int // params for partial results, which loops share
	used map[ir.DType]int   // of these by the loop being written
}

func (b *grouper) body(body []Stmt) []Stmt {
	var out []Stmt
	for _, s := range body {
		l, ok := s.(*Loop)
		switch {
		case !ok:
			out = append(out, s)
		case l.Range == Vector:
			out = append(out, b.vector(l)...)
		default:
			out = append(out, &Loop{Var: l.Var, Lo: l.Lo, Hi: l.Hi, Range: l.Range, Body: b.body(l.Body)})
		}
	}
	return out
}

// folded is a local that a Vector loop accumulates: its partial results are a
// row of scratch memory.
type folded struct {
	acc *Acc
	row int
}

func (b *grouper) vector(l *Loop) []Stmt {
	folds := b.folds(l.Body)
	var out []Stmt
	switch {
	case b.Items && b.Each > 1:
		out = append(out, b.packs(l, folds))
	case b.Items:
		out = append(out, b.items(l, folds))
	case len(folds) == 0:
		return []Stmt{l}
	default:
		out = b.strips(l, folds)
	}
	for half := b.Width / 2; len(folds) > 0 && half > 0; half /= 2 {
		out = append(out, b.tree(folds, half))
	}
	for _, f := range folds {
		out = append(out, &Acc{f.acc.Local, f.acc.Op, b.part(f, Int(0))})
	}
	return out
}

// folds finds what a Vector loop accumulates from outside, and room for it.
func (b *grouper) folds(body []Stmt) []folded {
	set := map[*Local]bool{}
	at := map[*Local]bool{}
	b.used = map[ir.DType]int{}
	var all []folded
	eachStmt(body, func(s Stmt) {
		switch s := s.(type) {
		case *Set:
			set[s.Local] = true
		case *Acc:
			if !set[s.Local] && !at[s.Local] {
				at[s.Local] = true
				all = append(all, folded{s, b.row(s.Local.DType)})
			}
		}
	})
	return all
}

// row is scratch memory for one value of each of Width lanes.
func (b *grouper) row(d ir.DType) int {
	n := b.used[d]
	b.used[d]++
	if n == len(b.rows[d]) {
		if b.rows == nil {
			b.rows = map[ir.DType][]int{}
		}
		b.rows[d] = append(b.rows[d], len(b.k.Params))
		b.k.Params = append(b.k.Params, Param{Name: "parts", DType: d, Len: ir.N(b.Width), Use: Scratch})
	}
	return b.rows[d][n]
}

func (b *grouper) part(f folded, t *Expr) *Expr { return Load(f.row, f.acc.Local.DType, t, nil) }

func (b *grouper) setPart(f folded, t, value *Expr) *Store {
	return &Store{Param: f.row, Index: t, Value: value}
}

// items spreads the lanes over work-items.
func (b *grouper) items(l *Loop, folds []folded) Stmt {
	t, turn := &Var{Name: "item"}, &Var{Name: "turn"}
	lo := b.from(l)
	lane := AddIndex(AddIndex(lo, t.Ref()), MulIndex(turn.Ref(), Int(b.Width)))
	left := SubIndex(SubIndex(l.Hi, lo), t.Ref())
	turns := turnsOf(left, b.Width)
	inner := &Loop{Var: turn, Hi: turns, Range: Serial, Body: substitute(l.Body, map[*Var]*Expr{l.Var: lane})}
	var before, after []Stmt
	for _, f := range folds {
		own := &Local{Name: f.acc.Local.Name + "_part", DType: f.acc.Local.DType}
		inner.Body = accumulateInto(inner.Body, f.acc.Local, func(a *Acc) Stmt { return &Acc{own, a.Op, a.Value} })
		before = append(before, &Set{own, neutral(f.acc.Op, own.DType)})
		after = append(after, b.setPart(f, t.Ref(), own.Ref()))
	}
	return &Loop{Var: t, Hi: Int(b.Width), Range: Item, Body: append(append(before, inner), after...)}
}

// strips runs Width lanes at a time, each with its own partial result.
func (b *grouper) strips(l *Loop, folds []folded) []Stmt {
	lo := b.from(l)
	count := SubIndex(l.Hi, lo)
	start := &Loop{Var: &Var{Name: "lane"}, Hi: Int(b.Width), Range: Vector}
	for _, f := range folds {
		start.Body = append(start.Body, b.setPart(f, start.Var.Ref(), neutral(f.acc.Op, f.acc.Local.DType)))
	}
	strip := func(from, n *Expr) *Loop {
		t := &Var{Name: "lane"}
		body := substitute(l.Body, map[*Var]*Expr{l.Var: AddIndex(from, t.Ref())})
		for _, f := range folds {
			body = accumulateInto(body, f.acc.Local, func(a *Acc) Stmt {
				return b.setPart(f, t.Ref(), Apply(a.Op, a.Local.DType, b.part(f, t.Ref()), a.Value))
			})
		}
		return &Loop{Var: t, Hi: n, Range: Vector, Body: body}
	}
	if n, ok := count.AsInt(); ok && n <= b.Width {
		return []Stmt{start, strip(lo, count)}
	}
	turn := &Var{Name: "strip"}
	whole := Apply(ir.IDiv, ir.I64, count, Int(b.Width))
	if n, ok := count.AsInt(); ok {
		whole = Int(n / b.Width)
	}
	main := &Loop{Var: turn, Hi: whole, Range: Serial, Body: []Stmt{strip(AddIndex(lo, MulIndex(turn.Ref(), Int(b.Width))), Int(b.Width))}}
	// A count below zero is rounded down too; the rest then is none.
	done := MulIndex(Apply(ir.Max, ir.I64, whole, Int(0)), Int(b.Width))
	if n, ok := whole.AsInt(); ok {
		done = Int(n * b.Width)
		if c, _ := count.AsInt(); c == n*b.Width {
			return []Stmt{start, main}
		}
	}
	return []Stmt{start, main, strip(AddIndex(lo, done), SubIndex(count, done))}
}

// tree adds the upper half of the partial results to the lower.
func (b *grouper) tree(folds []folded, half int) Stmt {
	l := &Loop{Var: &Var{Name: "item"}, Hi: Int(half), Range: Vector}
	if b.Items {
		l.Range = Item
	}
	t := l.Var.Ref()
	items := half
	if b.Items && b.Each > 1 { // of which there may be fewer
		items = min(half, b.Width/b.Each)
		l.Hi = Int(items)
	}
	for at := 0; at < half; at += items {
		here := AddIndex(t, Int(at))
		for _, f := range folds {
			sum := Apply(f.acc.Op, f.acc.Local.DType, b.part(f, here), b.part(f, AddIndex(here, Int(half))))
			l.Body = append(l.Body, b.setPart(f, here, sum))
		}
	}
	return l
}

// accumulateInto replaces the accumulations into one local.
func accumulateInto(body []Stmt, to *Local, with func(*Acc) Stmt) []Stmt {
	out := make([]Stmt, len(body))
	for i, s := range body {
		out[i] = s
		switch s := s.(type) {
		case *Loop:
			out[i] = &Loop{Var: s.Var, Lo: s.Lo, Hi: s.Hi, Range: s.Range, Body: accumulateInto(s.Body, to, with)}
		case *Acc:
			if s.Local == to {
				out[i] = with(s)
			}
		}
	}
	return out
}

// neutral changes nothing that it is folded into; sums, which start from +0,
// take no -0.
func neutral(op ir.Op, d ir.DType) *Expr {
	switch op {
	case ir.Mul:
		one, _ := ir.Bits(d, 1)
		return Const(d, one)
	case ir.And:
		if d == ir.Bool {
			return Const(d, 1)
		}
		return Const(d, ^uint64(0)>>(64-8*d.Size()))
	case ir.Max:
		return Const(d, ir.Lowest(d))
	case ir.Min:
		return Const(d, ir.Highest(d))
	}
	return Const(d, 0)
}
