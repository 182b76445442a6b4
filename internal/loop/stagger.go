package loop

import (
	"fmt"

	"github.com/sinterml/sinter/internal/ir"
)

// Stagger makes of a kernel that passes over each of its rows several times one
// whose passes share a loop, each a row behind the one before it:
//
//	for global row {                 for global block {
//	    for vector c { first }           for serial step over the block's rows {
//	    for vector c { second }              for vector c { first of step; second of step-1 }
//	}                                    }
//	                                 }
//
// The first pass waits for memory, and the others, over what it brought into the
// cache, leave memory alone: in one loop neither rests. A block takes as many
// steps more as there are passes behind the first. In those a pass whose row
// would be outside of the block takes the block's first or last row; what it then
// computes is either right or computed again before it is used.
//
// Each row is computed by the same operations in the same order; a local in named
// is one pass's copy of the local that it maps to. The result is nil where the
// kernel has another form, or where working on a row before its values are known
// could do harm.
func Stagger(k *Kernel, block int) (staggered *Kernel, named map[*Local]*Local) {
	s := splitPasses(k)
	if s == nil || !s.harmless() {
		return nil, nil
	}
	s.keep()
	if !s.findRings() {
		return nil, nil
	}
	s.findLocals()
	return s.build(block), s.named
}

// staggering is a kernel's loop over rows, taken apart. Stage i is what stands
// before pass i and the pass itself; row-level statements behind the last pass
// belong to its stage.
type staggering struct {
	k       *Kernel
	rows    *Loop
	lane    *Var // of all passes
	width   int
	between [][]Stmt // before pass i; the last behind the last pass
	passes  [][]Stmt

	rings  map[int]ring        // of params
	copies map[*Local][]*Local // by stage
	named  map[*Local]*Local
}

// splitPasses is nil if the kernel is not rows of passes that are equally long.
func splitPasses(k *Kernel) *staggering {
	rows := k.global()
	if rows == nil || rows.Lo != nil {
		return nil
	}
	s := &staggering{k: k, rows: rows, lane: &Var{Name: "c"}, named: map[*Local]*Local{}}
	body := make([]Stmt, 0, len(rows.Body))
	for _, st := range rows.Body {
		if l, ok := st.(*Loop); ok {
			n, static := l.Hi.AsInt()
			if l.Range != Vector || l.Lo != nil || !static || n < 1 || s.width != 0 && n != s.width {
				return nil
			}
			s.width = n
			st = &Loop{Var: s.lane, Hi: l.Hi, Range: Vector, Body: substitute(l.Body, map[*Var]*Expr{l.Var: s.lane.Ref()})}
		}
		body = append(body, st)
	}
	start := 0
	body = Share(&Kernel{Body: body}).Body
	for i, st := range body {
		if l, ok := st.(*Loop); ok {
			s.between = append(s.between, body[start:i])
			s.passes = append(s.passes, l.Body)
			start = i + 1
		}
	}
	s.between = append(s.between, body[start:])
	if len(s.passes) < 2 {
		return nil
	}
	return s
}

// stages lists what each stage does, in order.
func (s *staggering) stages() [][]Stmt {
	all := make([][]Stmt, len(s.passes))
	for i, p := range s.passes {
		all[i] = append(append(all[i], s.between[i]...), p...)
	}
	last := len(all) - 1
	all[last] = append(all[last], s.between[len(s.passes)]...)
	return all
}

// harmless tells whether a stage may run over a row before the stage ahead did:
// addresses and divisors are known, nothing sets a status, and what is stored is
// stored again by the same statement. Two statements could store different values
// to one element, and a stage behind would see the first of them when the last row
// is done again.
func (s *staggering) harmless() bool {
	ok := true
	stored := map[int]int{}
	for i, stage := range s.stages() {
		eachStmt(stage, func(st Stmt) {
			switch st := st.(type) {
			case *Loop:
				ok = false
			case *Store:
				_, again := stored[st.Param]
				ok = ok && !again && s.k.Params[st.Param].Use != Update && placesOnly(st.Index) && placesOnly(st.Valid)
				stored[st.Param] = i
			}
		})
		(&Kernel{Body: stage}).WalkExprs(func(e *Expr) {
			switch {
			case e.Kind == KindIndex:
				ok = false
			case e.Kind == KindLoad:
				at, known := stored[e.Param]
				ok = ok && (s.k.Params[e.Param].Use == Read || known && at <= i)
				for _, a := range e.Args {
					ok = ok && placesOnly(a)
				}
			case e.Kind == KindApply && (e.Op == ir.IDiv || e.Op == ir.Mod) && !e.DType.IsFloat():
				ok = ok && placesOnly(e)
			}
		})
	}
	return ok
}

// placesOnly tells whether e (nil: true) depends on variables and sizes alone.
func placesOnly(e *Expr) bool {
	only := true
	if e != nil {
		e.Walk(func(x *Expr) { only = only && x.Kind != KindLoad && x.Kind != KindLocal && x.Kind != KindIndex })
	}
	return only
}

// findLocals makes a copy of each local for each stage from that which sets it
// to the last that reads it.
func (s *staggering) findLocals() {
	s.copies = map[*Local][]*Local{}
	for i, stage := range s.stages() {
		use := func(l *Local) {
			c := s.copies[l]
			if c == nil {
				c = make([]*Local, i, len(s.passes))
			}
			for len(c) <= i {
				n := &Local{Name: fmt.Sprintf("%s_%d", l.Name, len(c)+1), DType: l.DType}
				s.named[n] = l
				c = append(c, n)
			}
			s.copies[l] = c
		}
		for _, st := range stage { // a value is set before it is read
			switch st := st.(type) {
			case *Set:
				use(st.Local)
			case *Acc:
				use(st.Local)
			}
		}
		(&Kernel{Body: stage}).WalkExprs(func(e *Expr) {
			if e.Kind == KindLocal {
				use(e.Local)
			}
		})
	}
}

// build writes the kernel.
func (s *staggering) build(block int) *Kernel {
	stages := len(s.passes)
	b, step := &Var{Name: "block"}, &Var{Name: "step"}
	lo := MulIndex(b.Ref(), Int(block))
	hi := Apply(ir.Min, ir.I64, AddIndex(lo, Int(block)), s.rows.Hi)
	var before, body, shared, late []Stmt
	for i := range stages {
		row := s.row(i, step, lo, hi)
		body = append(body, s.stage(i, s.between[i], row, step)...)
		for _, st := range s.stage(i, s.passes[i], row, step) {
			if w, ok := st.(*Store); ok && s.rings[w.Param].late {
				l := &Local{Name: fmt.Sprintf("late%d", len(late)), DType: w.Value.DType}
				late = append(late, &Store{w.Param, w.Index, l.Ref(), w.Valid})
				st = &Set{Local: l, Value: w.Value}
			}
			shared = append(shared, st)
		}
	}
	body = append(body, &Loop{Var: s.lane, Hi: Int(s.width), Range: Vector, Body: append(shared, late...)})
	body = append(body, s.stage(stages-1, s.between[stages], s.row(stages-1, step, lo, hi), step)...)
	for i := stages - 1; i > 0; i-- {
		for _, l := range s.carried() {
			if c := s.copies[l]; i < len(c) && c[i-1] != nil {
				before = append(before, &Set{Local: c[i], Value: Const(l.DType, 0)})
				body = append(body, &Set{Local: c[i], Value: c[i-1].Ref()})
			}
		}
	}
	all := append(before, &Loop{Var: step, Lo: lo, Hi: AddIndex(hi, Int(stages-1)), Range: Serial, Body: body})
	blocks := Apply(ir.IDiv, ir.I64, AddIndex(s.rows.Hi, Int(block-1)), Int(block))
	if n, ok := s.rows.Hi.AsInt(); ok {
		blocks = Int((n + block - 1) / block)
	}
	out := *s.k
	out.Name += ", staggered"
	out.Body = []Stmt{&Loop{Var: b, Hi: blocks, Range: Global, Body: all}}
	return Share(&out)
}

// row is what stage i works on in a step: a row from lo up to, not including, hi.
func (s *staggering) row(i int, step *Var, lo, hi *Expr) *Expr {
	row := AddIndex(step.Ref(), Int(-i))
	if i < len(s.passes)-1 {
		row = Apply(ir.Min, ir.I64, row, SubIndex(hi, Int(1)))
	}
	if i > 0 {
		row = Apply(ir.Max, ir.I64, row, lo)
	}
	return row
}

// carried lists the locals that are set between passes, in order.
func (s *staggering) carried() []*Local {
	var all []*Local
	seen := map[*Local]bool{}
	for _, body := range s.between {
		for _, st := range body {
			if st, ok := st.(*Set); ok && !seen[st.Local] {
				seen[st.Local] = true
				all = append(all, st.Local)
			}
		}
	}
	return all
}

// stage is body for one row, with the locals and the rows of scratch of stage i.
func (s *staggering) stage(i int, body []Stmt, row *Expr, step *Var) []Stmt {
	body = Rewrite(substitute(body, map[*Var]*Expr{s.rows.Var: row}), func(e *Expr) *Expr {
		switch {
		case e.Kind == KindLocal:
			return s.copies[e.Local][i].Ref()
		case e.Kind == KindLoad:
			c := *e
			c.Args = append([]*Expr{s.place(i, e.Param, e.Args[0], step)}, e.Args[1:]...)
			return &c
		}
		return e
	})
	for _, st := range body { // of this copy alone: Rewrite made it
		switch st := st.(type) {
		case *Set:
			st.Local = s.copies[st.Local][i]
		case *Acc:
			st.Local = s.copies[st.Local][i]
		case *Store:
			st.Index = s.place(i, st.Param, st.Index, step)
		}
	}
	return body
}
