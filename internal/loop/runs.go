package loop

import "github.com/sinterml/sinter/internal/ir"

// Runs is l, a loop that stores, as loops over the runs within which quotients of its
// variable by constants stay the same. Windows that are read where they lie are runs of
// memory, for example, and l would look up each element by quotients of its own. It is l
// itself if its variable is divided by nothing, or by what is no constant, or if runs
// would be shorter than minRun.
func Runs(l *Loop) *Loop {
	length := runLength(l)
	if length < minRun {
		return l
	}
	run, within := &Var{Name: l.Var.Name + "q"}, &Var{Name: l.Var.Name}
	begin := MulIndex(run.Ref(), Int(length))
	at := AddIndex(begin, within.Ref())
	below := map[*Var]int{within: length}
	lo := l.Lo
	if lo == nil {
		lo = Int(0)
	}
	put := func(e *Expr) *Expr {
		return FoldWithin(Substitute(e, map[*Var]*Expr{l.Var: at}), below)
	}
	var body []Stmt
	for _, s := range l.Body {
		s := s.(*Store)
		body = append(body, &Store{Param: s.Param, Index: put(s.Index), Value: put(s.Value)})
	}
	inner := &Loop{Var: within, Range: l.Range, Body: body,
		Lo: Apply(ir.Max, ir.I64, SubIndex(lo, begin), Int(0)),
		Hi: Apply(ir.Min, ir.I64, SubIndex(l.Hi, begin), Int(length))}
	return &Loop{Var: run, Range: Serial, Body: []Stmt{inner},
		Lo: Apply(ir.IDiv, ir.I64, lo, Int(length)),
		Hi: Apply(ir.IDiv, ir.I64, AddIndex(l.Hi, Int(length-1)), Int(length))}
}

// minRun is a vector or two: to begin a run takes as long as looking up some elements.
// Who has a copy to choose instead asks for more: see ir.ConvAsProduct.
const minRun = 16

// runLength is the greatest common divisor of what the variable of l is divided by,
// where those are constants; 0 if it is divided by nothing.
func runLength(l *Loop) int {
	length := 0
	for _, s := range l.Body {
		s, ok := s.(*Store)
		if !ok || s.Valid != nil {
			return 0
		}
		s.Value.Walk(func(e *Expr) {
			if e.Kind != KindApply || e.Op != ir.IDiv && e.Op != ir.Mod || e.Args[0].Kind != KindVar || e.Args[0].Var != l.Var {
				return
			}
			c, ok := e.Args[1].AsInt()
			if !ok {
				c = 1 // of what is not known there are no runs
			}
			length = gcd(length, max(c, 1))
		})
	}
	return length
}
