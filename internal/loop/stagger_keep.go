package loop

import (
	"fmt"

	"github.com/sinterml/sinter/internal/ir"
)

// What several passes compute from memory alone, such as the sum of two tensors
// whose layer norm it is, the first of them keeps in scratch: to read the
// arguments again for three rows at once would take more places of the cache
// than they have, and almost twice the time.

// keep has the passes after the first load such values from scratch.
func (s *staggering) keep() {
	firsts := map[*Expr]int{}
	again := map[*Expr]bool{}
	memory := map[*Expr]bool{}
	var order []*Expr
	for i, p := range s.passes {
		(&Kernel{Body: p}).WalkExprs(func(e *Expr) {
			memory[e] = s.fromMemory(e, memory)
			if !memory[e] || !s.worthKeeping(e) {
				return
			}
			if at, ok := firsts[e]; !ok {
				firsts[e] = i
				order = append(order, e)
			} else if at < i {
				again[e] = true
			}
		})
	}
	for _, e := range order {
		if again[e] && !insideOf(e, again) {
			s.keepOne(e, firsts[e])
		}
	}
}

// fromMemory tells whether e follows from constants and what nothing writes.
func (s *staggering) fromMemory(e *Expr, known map[*Expr]bool) bool {
	switch e.Kind {
	case KindConst:
		return true
	case KindLoad:
		return s.k.Params[e.Param].Use == Read
	case KindApply:
		for _, a := range e.Args {
			if !known[a] {
				return false
			}
		}
		return e.DType != ir.I64
	}
	return false
}

// worthKeeping tells whether e is computed from a place of its row that
// follows the lane.
func (s *staggering) worthKeeping(e *Expr) bool {
	if e.DType != ir.F32 || e.Kind == KindConst {
		return false
	}
	found := false
	e.Walk(func(x *Expr) {
		found = found || x.Kind == KindLoad && x.Args[0].Uses(s.rows.Var) && x.Args[0].Uses(s.lane)
	})
	return found
}

// insideOf tells whether e is part of another of the values.
func insideOf(e *Expr, values map[*Expr]bool) bool {
	inside := false
	for v := range values {
		if v != e {
			v.Walk(func(x *Expr) { inside = inside || x == e })
		}
	}
	return inside
}

// keepOne stores e in pass first and loads it in those behind.
func (s *staggering) keepOne(e *Expr, first int) {
	k := *s.k
	at := len(k.Params)
	k.Params = append(append([]Param(nil), k.Params...), Param{Name: fmt.Sprintf("kept%d", at), DType: e.DType, Len: ir.N(s.width), Use: Scratch})
	s.k = &k
	load := Load(at, e.DType, s.lane.Ref(), nil)
	for i := first + 1; i < len(s.passes); i++ {
		s.passes[i] = Rewrite(s.passes[i], func(x *Expr) *Expr {
			if x == e {
				return load
			}
			return x
		})
	}
	s.passes[first] = append(s.passes[first][:len(s.passes[first]):len(s.passes[first])], &Store{Param: at, Index: s.lane.Ref(), Value: e})
}
