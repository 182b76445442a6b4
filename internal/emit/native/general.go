package native

import "github.com/sinterml/sinter/internal/loop"

// Scalar i64 arithmetic in general registers: indices, bounds, positions.

// monoDepth is the innermost scope that m changes in.
func (b *Builder[I]) monoDepth(m Mono) int {
	level := 0
	for _, a := range m.Atoms {
		level = max(level, b.Depth(a.Deps))
	}
	return min(level, b.At)
}

// depthOf is the innermost scope that a summand of p changes in.
func (b *Builder[I]) depthOf(p *Poly) int {
	level := 0
	for _, m := range p.Monos {
		level = max(level, b.monoDepth(m))
	}
	return level
}

// Split separates the summands that change in the scope being written from those
// that are known further out. It leaves out the constant.
func (b *Builder[I]) Split(p *Poly) (outer, here *Poly) {
	outer, here = &Poly{}, &Poly{}
	for _, m := range p.Monos {
		if b.monoDepth(m) == b.At {
			here.Monos = append(here.Monos, m)
		} else {
			outer.Monos = append(outer.Monos, m)
		}
	}
	return outer, here
}

// Sum computes p, each summand in the outermost loop in which it does not
// change.
func (b *Builder[I]) Sum(p *Poly) Reg {
	if len(p.Monos) == 0 {
		return b.machine.Number(p.C) // cheaper than holding on to it
	}
	return b.keyed(p, 's', 0, b.depthOf(p), func() Reg {
		outer, here := b.Split(p)
		var x Reg
		if len(outer.Monos) > 0 {
			x = b.Sum(outer)
		}
		for _, m := range here.Monos {
			x = b.machine.PlusMono(x, m)
		}
		if x == 0 {
			x = b.machine.Number(0)
		}
		return b.machine.AddTo(x, p.C)
	})
}

// Product computes m, the factors that are known further out first.
func (b *Builder[I]) Product(m Mono) Reg {
	if m.Coef == 1 && len(m.Atoms) == 1 {
		return b.AtomValue(m.Atoms[0])
	}
	return b.keyed(&Poly{Monos: []Mono{m}}, 'm', 0, b.monoDepth(m), func() Reg {
		inner := 0
		for i, a := range m.Atoms {
			if b.Depth(a.Deps) >= b.Depth(m.Atoms[inner].Deps) {
				inner = i
			}
		}
		x := b.AtomValue(m.Atoms[inner])
		if len(m.Atoms) == 1 {
			return b.machine.TimesConst(x, m.Coef)
		}
		rest := append(append([]*Node{}, m.Atoms[:inner]...), m.Atoms[inner+1:]...)
		return b.machine.Times(b.Product(Mono{Coef: m.Coef, Atoms: rest}), x)
	})
}

// Base is the address of a buffer plus p bytes, each summand added in the
// outermost loop in which it does not change.
func (b *Builder[I]) Base(param int, p *Poly) Reg {
	buffer := b.Word(b.Layout.Params + param)
	if len(p.Monos) == 0 && p.C == 0 {
		return buffer
	}
	return b.keyed(p, 'p', param, b.depthOf(p), func() Reg {
		outer, here := b.Split(p)
		x := buffer
		if len(here.Monos) > 0 && len(outer.Monos) > 0 {
			x = b.Base(param, outer)
		} else {
			here = p
		}
		for _, m := range here.Monos {
			x = b.machine.PlusMono(x, m)
		}
		return b.machine.AddTo(x, p.C)
	})
}

// AtomValue is what atom makes, made once.
func (b *Builder[I]) AtomValue(n *Node) Reg {
	if n.Kind == loop.KindLocal {
		return b.General(n)
	}
	return b.atom(n)
}

// atom computes an i64 that is neither a sum nor a product.
func (b *Builder[I]) atom(n *Node) Reg {
	switch n.Kind {
	case loop.KindVar:
		return b.variable(n)
	case loop.KindSize:
		return b.size(n)
	case loop.KindLocal:
		return b.General(n)
	}
	if b.Varies(n) {
		b.NeedOneLane("an index that differs from lane to lane")
		return 0
	}
	return b.Value(n, AsGeneral, 0, func() Val {
		switch n.Kind {
		case loop.KindLoad:
			return Val{b.machine.LoadGeneral(n)}
		case loop.KindIndex:
			return Val{b.machine.ClampIndex(n)}
		case loop.KindApply:
			return Val{b.machine.ApplyGeneral(n)}
		}
		b.Unsupported("an index of kind %d", n.Kind)
		return Val{}
	})[0]
}

func (b *Builder[I]) variable(n *Node) Reg {
	if x := b.FixedVars[n.Var]; x != 0 {
		return x
	}
	for i := b.Top(); i > 0; i-- {
		if b.Scopes[i].Loop.Var == n.Var {
			return b.Scopes[i].Var
		}
	}
	b.Unsupported("variable %s outside its loop", n.Var.Name)
	return 0
}

func (b *Builder[I]) size(n *Node) Reg {
	if s, ok := n.Size.Symbol(); ok {
		if w, ok := b.Symbols[s.Name]; ok {
			return b.Word(w)
		}
		b.Unsupported("symbol %s is not passed", s.Name)
		return 0
	}
	return b.Sum(b.Graph.PolyOf(n))
}
