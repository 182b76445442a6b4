package x86

import (
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Scalar i64 arithmetic in general registers: indices, bounds, positions.

// monoDepth is the innermost scope that m changes in.
func (e *emitter) monoDepth(m mono) int {
	level := 0
	for _, a := range m.Atoms {
		level = max(level, e.depth(a.Deps))
	}
	return min(level, e.at)
}

func monoDeps(m mono) (d deps) {
	for _, a := range m.Atoms {
		d = d.Or(a.Deps)
	}
	return d
}

// split separates the summands that change in the scope being written from
// those that are known further out.
func (e *emitter) split(p *poly) (outer, here *poly, level int) {
	outer, here = &poly{}, &poly{}
	for _, m := range p.Monos {
		if l := e.monoDepth(m); l == e.at {
			here.Monos = append(here.Monos, m)
		} else {
			outer.Monos = append(outer.Monos, m)
			level = max(level, l)
		}
	}
	return outer, here, level
}

// sum computes p, each summand in the outermost loop in which it does not
// change.
func (e *emitter) sum(p *poly) reg {
	if len(p.Monos) == 0 {
		return e.gImm(asm.MOV, p.C) // cheaper than holding on to it
	}
	level := 0
	for _, m := range p.Monos {
		level = max(level, e.monoDepth(m))
	}
	return e.keyed(p, 's', 0, level, func() reg {
		outer, here, _ := e.split(p)
		var x reg
		if len(outer.Monos) > 0 {
			x = e.sum(outer)
		}
		for _, m := range here.Monos {
			x = e.plusMono(x, m)
		}
		if x == 0 {
			x = e.gImm(asm.MOV, 0)
		}
		return e.addTo(x, p.C)
	})
}

// keyed is value for a poly. What variables and sizes alone decide is computed
// even if the loop it is for does not run, so that the loops after it share it.
func (e *emitter) keyed(p *poly, prefix byte, param, level int, make func() reg) reg {
	key := memoKey{form: asPoly, poly: p.Key(prefix, param)}
	if v, ok := e.known(level, key); ok {
		return v[0]
	}
	if e.stopped() {
		return 0
	}
	var d deps
	early := true
	for _, m := range p.Monos {
		d = d.Or(monoDeps(m))
		for _, a := range m.Atoms {
			early = early && (a.Kind == loop.KindVar || a.Kind == loop.KindSize)
		}
	}
	at, outer := e.at, e.early
	e.at, e.early = level, early
	x := make()
	e.at, e.early = at, outer
	if early {
		e.scopes[level].inside[key] = memoEntry{val{x}, d}
	} else {
		e.remember(level, key, val{x}, d)
	}
	return x
}

// addTo is x + c.
func (e *emitter) addTo(x reg, c int64) reg {
	switch {
	case c == 0:
		return x
	case int64(int32(c)) != c:
		return e.g(asm.LEA, operand{kind: memOperand, reg: x, index: e.gImm(asm.MOV, c), scale: 1})
	}
	return e.g(asm.LEA, operand{kind: memOperand, reg: x, disp: int32(c)})
}

// scale1248 tells whether an address can scale an index by coef.
func scale1248(coef int64) bool { return coef == 1 || coef == 2 || coef == 4 || coef == 8 }

// plusMono is x + m; x may be none.
func (e *emitter) plusMono(x reg, m mono) reg {
	if x != 0 && len(m.Atoms) == 1 && scale1248(m.Coef) {
		return e.g(asm.LEA, operand{kind: memOperand, reg: x, index: e.atomValue(m.Atoms[0]), scale: uint8(m.Coef)})
	}
	y := e.product(m)
	if x == 0 {
		return y
	}
	return e.g(asm.LEA, operand{kind: memOperand, reg: x, index: y, scale: 1})
}

// product computes m, the factors that are known further out first.
func (e *emitter) product(m mono) reg {
	level := e.monoDepth(m)
	return e.keyed(&poly{Monos: []mono{m}}, 'm', 0, level, func() reg {
		inner := 0
		for i, a := range m.Atoms {
			if e.depth(a.Deps) >= e.depth(m.Atoms[inner].Deps) {
				inner = i
			}
		}
		x := e.atomValue(m.Atoms[inner])
		if len(m.Atoms) == 1 {
			return e.timesConst(x, m.Coef)
		}
		rest := append(append([]*node{}, m.Atoms[:inner]...), m.Atoms[inner+1:]...)
		return e.gTied(asm.IMUL, r(e.product(mono{Coef: m.Coef, Atoms: rest})), r(x))
	})
}

func (e *emitter) timesConst(x reg, c int64) reg {
	switch {
	case c == 1:
		return x
	case int64(int32(c)) == c:
		return e.gImm(asm.IMUL, c, r(x))
	}
	return e.gTied(asm.IMUL, r(e.gImm(asm.MOV, c)), r(x))
}

// atomValue is what atom makes, made once.
func (e *emitter) atomValue(n *node) reg {
	if n.Kind == loop.KindLocal {
		return e.general(n)
	}
	return e.atom(n)
}

// atom computes an i64 that is neither a sum nor a product.
func (e *emitter) atom(n *node) reg {
	switch n.Kind {
	case loop.KindVar:
		return e.variable(n)
	case loop.KindSize:
		return e.size(n)
	case loop.KindLocal:
		return e.general(n)
	}
	if e.varies(n) {
		e.needOneLane("an index that differs from lane to lane")
		return 0
	}
	return e.value(n, asGeneral, 0, func() val {
		switch n.Kind {
		case loop.KindLoad:
			return val{e.loadGeneral(n)}
		case loop.KindIndex:
			return val{e.clampIndex(n)}
		case loop.KindApply:
			return val{e.applyGeneral(n)}
		}
		e.unsupported("an index of kind %d", n.Kind)
		return val{}
	})[0]
}

func (e *emitter) variable(n *node) reg {
	if x := e.fixedVars[n.Var]; x != 0 {
		return x
	}
	for i := e.top(); i > 0; i-- {
		if e.scopes[i].loop.Var == n.Var {
			return e.scopes[i].v
		}
	}
	e.unsupported("variable %s outside its loop", n.Var.Name)
	return 0
}

func (e *emitter) size(n *node) reg {
	if s, ok := n.Size.Symbol(); ok {
		if w, ok := e.symbols[s.Name]; ok {
			return e.word(w)
		}
		e.unsupported("symbol %s is not passed", s.Name)
		return 0
	}
	return e.sum(e.graph.PolyOf(n))
}

// generalOrImm is a scalar i64 as a source of a compare.
func (e *emitter) generalOrImm(n *node) operand {
	if c, ok := e.graph.PolyOf(n).Constant(); ok && int64(int32(c)) == c {
		return imm(c)
	}
	return r(e.general(n))
}

func (e *emitter) applyGeneral(n *node) reg {
	a := n.Operands
	switch n.Op {
	case ir.Cast:
		return e.castGeneral(a[0])
	case ir.Where:
		flag := e.flag(a[0])
		yes, no := e.general(a[1]), e.general(a[2])
		e.do(asm.TEST, r(flag), r(flag))
		return e.gTied(asm.CMOV(asm.NE), r(no), r(yes))
	case ir.Abs:
		x := e.general(a[0])
		y := e.gTied(asm.NEG, r(x))
		e.do(asm.TEST, r(x), r(x))
		return e.gTied(asm.CMOV(asm.GE), r(y), r(x))
	case ir.IDiv, ir.Mod:
		return e.divideGeneral(n.Op, a[0], a[1])
	case ir.Shl, ir.Shr:
		return e.shiftGeneral(n.Op, a[0], a[1])
	case ir.Neg:
		return e.gTied(asm.NEG, r(e.general(a[0])))
	case ir.Sub:
		x := e.general(a[0])
		return e.gTied(asm.SUB, r(x), r(e.general(a[1])))
	case ir.Add, ir.Mul, ir.Min, ir.Max, ir.And, ir.Or, ir.Xor:
		x := e.general(a[0])
		return e.combineGeneral(n.Op, x, e.general(a[1]))
	}
	e.unsupported("%v of i64", n.Op)
	return 0
}

// combineGeneral is an associative operation on i64.
func (e *emitter) combineGeneral(op ir.Op, x, y reg) reg {
	switch op {
	case ir.Add:
		return e.gTied(asm.ADD, r(x), r(y))
	case ir.Mul:
		return e.gTied(asm.IMUL, r(x), r(y))
	case ir.And:
		return e.gTied(asm.AND, r(x), r(y))
	case ir.Or:
		return e.gTied(asm.OR, r(x), r(y))
	case ir.Xor:
		return e.gTied(asm.XOR, r(x), r(y))
	case ir.Min, ir.Max:
		cc := asm.LT
		if op == ir.Min {
			cc = asm.GT
		}
		e.do(asm.CMP, r(x), r(y))
		return e.gTied(asm.CMOV(cc), r(x), r(y))
	}
	e.unsupported("%v of i64", op)
	return 0
}

// clampIndex is KindIndex: the value within [0, size), 0 where size is 0, and
// the status word set if it was outside.
func (e *emitter) clampIndex(n *node) reg {
	x := e.general(n.Operands[0])
	size := e.sum(e.graph.DimPoly(n.Size))
	inside := e.a.NewLabel()
	result := e.newReg(gpr)
	e.move(result, x)
	e.do(asm.CMP, r(x), r(size))
	e.jumpIf(asm.ULT, inside)
	one := e.gImm(asm.MOV, 1)
	e.do(asm.MOV, operand{kind: memOperand, reg: e.word(e.layout.Status), disp: int32(8 * n.Slot)}, r(one))
	zero := e.gImm(asm.MOV, 0)
	last := e.addTo(size, -1)
	e.do(asm.CMP, r(last), r(zero))
	last = e.gTied(asm.CMOV(asm.LT), r(last), r(zero))
	e.do(asm.CMP, r(x), r(zero))
	last = e.gTied(asm.CMOV(asm.LT), r(last), r(zero))
	e.move(result, last)
	e.label(inside)
	return result
}
