package loop

import "github.com/sinterml/sinter/internal/ir"

// Rewrite returns body with every expression replaced by f's result for it, f
// being given each expression after its operands have been replaced.
func Rewrite(body []Stmt, f func(*Expr) *Expr) []Stmt {
	memo := map[*Expr]*Expr{}
	var expr func(e *Expr) *Expr
	expr = func(e *Expr) *Expr {
		if e == nil {
			return nil
		}
		if r, ok := memo[e]; ok {
			return r
		}
		n := e
		for i, a := range e.Args {
			if r := expr(a); r != a {
				if n == e {
					c := *e
					c.Args = append([]*Expr(nil), e.Args...)
					n = &c
				}
				n.Args[i] = r
			}
		}
		r := f(n)
		memo[e] = r
		return r
	}
	var stmts func([]Stmt) []Stmt
	stmts = func(in []Stmt) []Stmt {
		out := make([]Stmt, len(in))
		for i, s := range in {
			switch s := s.(type) {
			case *Loop:
				out[i] = &Loop{Var: s.Var, Lo: expr(s.Lo), Hi: expr(s.Hi), Range: s.Range, Body: stmts(s.Body)}
			case *Set:
				out[i] = &Set{s.Local, expr(s.Value)}
			case *Acc:
				out[i] = &Acc{s.Local, s.Op, expr(s.Value)}
			case *Store:
				out[i] = &Store{s.Param, expr(s.Index), expr(s.Value), expr(s.Valid)}
			}
		}
		return out
	}
	return stmts(body)
}

// Substitute replaces variables in e.
func Substitute(e *Expr, with map[*Var]*Expr) *Expr {
	return substitute([]Stmt{&Set{Value: e}}, with)[0].(*Set).Value
}

// substitute replaces variables, building index arithmetic anew so that it is
// simplified again.
func substitute(body []Stmt, with map[*Var]*Expr) []Stmt {
	return Rewrite(body, func(e *Expr) *Expr { return substituteOne(e, with) })
}

func substituteOne(e *Expr, with map[*Var]*Expr) *Expr {
	switch {
	case e.Kind == KindVar && with[e.Var] != nil:
		return with[e.Var]
	case e.Kind == KindApply && e.DType == ir.I64 && e.Op == ir.Add:
		return AddIndex(e.Args[0], e.Args[1])
	case e.Kind == KindApply && e.DType == ir.I64 && e.Op == ir.Sub:
		return SubIndex(e.Args[0], e.Args[1])
	case e.Kind == KindApply && e.DType == ir.I64 && e.Op == ir.Mul:
		return MulIndex(e.Args[0], e.Args[1])
	}
	return e
}

// Collapse merges loops that are nested directly wherever every access walks
// the pair as one: fewer, longer loops. The inner loop's range stays.
func Collapse(body []Stmt) []Stmt {
	if len(body) != 1 {
		return body
	}
	outer, ok := body[0].(*Loop)
	if !ok {
		return body
	}
	inside := Collapse(outer.Body)
	if len(inside) == 1 {
		if inner, ok := inside[0].(*Loop); ok && outer.Lo == nil && inner.Lo == nil && mergeable(outer, inner) {
			v := &Var{Name: inner.Var.Name}
			merged := substitute(inner.Body, map[*Var]*Expr{outer.Var: Int(0), inner.Var: v.Ref()})
			return []Stmt{&Loop{Var: v, Hi: times(outer.Hi, inner.Hi), Range: inner.Range, Body: merged}}
		}
	}
	return []Stmt{&Loop{Var: outer.Var, Lo: outer.Lo, Hi: outer.Hi, Range: outer.Range, Body: inside}}
}

// times multiplies two extents, keeping a size a size.
func times(a, b *Expr) *Expr {
	x, ok1 := a.dim()
	y, ok2 := b.dim()
	if ok1 && ok2 {
		return SizeOf(x.Mul(y))
	}
	return MulIndex(a, b)
}

// mergeable tells whether both variables occur in addresses alone, and in each
// with a stride of the outer that is the inner's times its extent.
func mergeable(outer, inner *Loop) bool {
	n, ok := inner.Hi.dim()
	if _, ok2 := outer.Hi.dim(); !ok || !ok2 {
		return false
	}
	addresses := map[*Expr]bool{}
	k := Kernel{Body: inner.Body}
	k.WalkExprs(func(e *Expr) {
		if e.Kind == KindLoad {
			addresses[e.Args[0]] = true
		}
	})
	walkStores(inner.Body, func(s *Store) { addresses[s.Index] = true })
	for a := range addresses {
		_, so, ok1 := Affine(a, outer.Var)
		_, si, ok2 := Affine(a, inner.Var)
		if !ok1 || !ok2 {
			return false
		}
		do, ok1 := so.dim()
		di, ok2 := si.dim()
		if !ok1 || !ok2 || !do.Equal(di.Mul(n)) {
			return false
		}
	}
	return !usedElsewhere(inner.Body, addresses, outer.Var) && !usedElsewhere(inner.Body, addresses, inner.Var)
}

func walkStores(body []Stmt, visit func(*Store)) {
	for _, s := range body {
		switch s := s.(type) {
		case *Loop:
			walkStores(s.Body, visit)
		case *Store:
			visit(s)
		}
	}
}

// usedElsewhere tells whether v occurs outside of addresses, e.g. as a value
// or in a condition.
func usedElsewhere(body []Stmt, addresses map[*Expr]bool, v *Var) bool {
	found := false
	seen := map[*Expr]bool{}
	var look func(e *Expr)
	look = func(e *Expr) {
		if e == nil || seen[e] || found || addresses[e] {
			return
		}
		seen[e] = true
		found = e.Kind == KindVar && e.Var == v
		for _, a := range e.Args {
			look(a)
		}
	}
	var stmts func([]Stmt)
	stmts = func(body []Stmt) {
		for _, s := range body {
			switch s := s.(type) {
			case *Loop:
				look(s.Lo)
				look(s.Hi)
				stmts(s.Body)
			case *Set:
				look(s.Value)
			case *Acc:
				look(s.Value)
			case *Store:
				look(s.Value)
				look(s.Valid)
			}
		}
	}
	stmts(body)
	return found
}

// Split cuts a Vector loop from 0 into blocks of the given size, over which a
// Global loop runs. A loop that is known to be no longer stays whole.
func Split(l *Loop, block *Var, size int) []Stmt {
	if n, ok := l.Hi.AsInt(); ok && n <= size {
		return []Stmt{l}
	}
	lo := MulIndex(block.Ref(), Int(size))
	hi := Apply(ir.Min, ir.I64, AddIndex(lo, Int(size)), l.Hi)
	blocks := Apply(ir.IDiv, ir.I64, AddIndex(l.Hi, Int(size-1)), Int(size))
	if n, ok := l.Hi.AsInt(); ok {
		blocks = Int((n + size - 1) / size)
	}
	inner := &Loop{Var: l.Var, Lo: lo, Hi: hi, Range: l.Range, Body: l.Body}
	return []Stmt{&Loop{Var: block, Hi: blocks, Range: Global, Body: []Stmt{inner}}}
}

// Flatten makes one serial loop of two nested ones; the variables become a
// quotient and a remainder.
func Flatten(outer, inner *Loop) *Loop {
	v := &Var{Name: outer.Var.Name + inner.Var.Name}
	body := substitute(inner.Body, map[*Var]*Expr{
		outer.Var: Apply(ir.IDiv, ir.I64, v.Ref(), inner.Hi),
		inner.Var: Apply(ir.Mod, ir.I64, v.Ref(), inner.Hi),
	})
	return &Loop{Var: v, Hi: times(outer.Hi, inner.Hi), Range: outer.Range, Body: body}
}

// shareKey is an expression up to the identity of its operands.
type shareKey struct {
	kind    Kind
	dtype   ir.DType
	op      ir.Op
	bits    uint64
	v       *Var
	local   *Local
	param   int
	slot    int
	size    string
	a, b, c *Expr
}

// Share makes equal expressions one, so that emitters find common values by
// identity.
func Share(k *Kernel) *Kernel {
	table := map[shareKey]*Expr{}
	body := Rewrite(k.Body, func(e *Expr) *Expr {
		key := shareKey{kind: e.Kind, dtype: e.DType, op: e.Op, bits: e.Bits, v: e.Var, local: e.Local, param: e.Param, slot: e.Slot}
		if e.Kind == KindSize || e.Kind == KindIndex {
			key.size = e.Size.String()
		}
		for i, a := range e.Args {
			*[]**Expr{&key.a, &key.b, &key.c}[i] = a
		}
		if have, ok := table[key]; ok {
			return have
		}
		table[key] = e
		return e
	})
	return &Kernel{Name: k.Name, Params: k.Params, Slots: k.Slots, Body: body}
}
