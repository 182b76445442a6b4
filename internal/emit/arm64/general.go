package arm64

import (
	"math/bits"

	"github.com/sinterml/sinter/internal/emit/arm64/asm"
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
		return e.number(p.C) // cheaper than holding on to it
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
		return e.addTo(x, p.C)
	})
}

// keyed is value for a sum. What variables and sizes alone decide is computed
// even if the loop it is for does not run, so that the loops after it share it.
func (e *emitter) keyed(p *poly, prefix byte, param, level int, make func() reg) reg {
	key := memoKey{form: asPoly, poly: p.Key(prefix, param)}
	if x, ok := e.known(level, key); ok {
		return x
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
		e.scopes[level].inside[key] = memoEntry{x, d}
	} else {
		e.remember(level, key, x, d)
	}
	return x
}

// addTo is x + c.
func (e *emitter) addTo(x reg, c int64) reg {
	switch {
	case c == 0:
		return x
	case c > 0 && c < 4096:
		return e.gImm(asm.ADDI, c, x)
	case c < 0 && c > -4096:
		return e.gImm(asm.SUBI, -c, x)
	}
	return e.g(asm.ADD, x, e.number(c))
}

// plusMono is x + m; x may be none. A coefficient that is a power of two is a
// shift in the addition.
func (e *emitter) plusMono(x reg, m mono) reg {
	if x == 0 {
		return e.product(m)
	}
	op, size := asm.ADD, uint64(m.Coef)
	if m.Coef < 0 {
		op, size = asm.SUB, -size
	}
	if bits.OnesCount64(size) == 1 {
		return e.gImm(op, int64(bits.TrailingZeros64(size)), x, e.product(mono{Coef: 1, Atoms: m.Atoms}))
	}
	return e.g(asm.ADD, x, e.product(m))
}

// product computes m, the factors that are known further out first.
func (e *emitter) product(m mono) reg {
	if m.Coef == 1 && len(m.Atoms) == 1 {
		return e.atomValue(m.Atoms[0])
	}
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
		return e.g(asm.MUL, e.product(mono{Coef: m.Coef, Atoms: rest}), x)
	})
}

func (e *emitter) timesConst(x reg, c int64) reg {
	if c > 0 && bits.OnesCount64(uint64(c)) == 1 {
		return e.gImm(asm.LSL, int64(bits.TrailingZeros64(uint64(c))), x)
	}
	return e.g(asm.MUL, x, e.number(c))
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
	return e.value(n, asGeneral, 0, func() reg {
		switch n.Kind {
		case loop.KindLoad:
			return e.loadGeneral(n)
		case loop.KindIndex:
			return e.clampIndex(n)
		case loop.KindApply:
			return e.applyGeneral(n)
		}
		e.unsupported("an index of kind %d", n.Kind)
		return 0
	})
}

func (e *emitter) variable(n *node) reg {
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

// compareGeneral compares two scalar i64.
func (e *emitter) compareGeneral(a, b *node) {
	x := e.general(a)
	if c, ok := e.graph.PolyOf(b).Constant(); ok {
		e.cmpImm(x, c)
		return
	}
	e.cmp(x, e.general(b))
}

var generalOps = map[ir.Op]asm.Op{ir.Add: asm.ADD, ir.Sub: asm.SUB, ir.Mul: asm.MUL, ir.And: asm.AND, ir.Or: asm.ORR, ir.Xor: asm.EOR}

func (e *emitter) applyGeneral(n *node) reg {
	a := n.Operands
	switch n.Op {
	case ir.Cast:
		return e.castGeneral(a[0])
	case ir.Where:
		flag := e.flag(a[0])
		yes, no := e.general(a[1]), e.general(a[2])
		e.cmpImm(flag, 0)
		return e.choose(asm.NE, yes, no)
	case ir.Abs:
		x := e.general(a[0])
		y := e.g(asm.SUB, e.number(0), x)
		e.cmpImm(x, 0)
		return e.choose(asm.GE, x, y)
	case ir.IDiv, ir.Mod:
		return e.divideGeneral(n.Op, a[0], a[1])
	case ir.Shl, ir.Shr:
		return e.shiftGeneral(n.Op, a[0], a[1])
	case ir.Neg:
		return e.g(asm.SUB, e.number(0), e.general(a[0]))
	}
	if len(a) != 2 {
		e.unsupported("%v of i64", n.Op)
		return 0
	}
	x := e.general(a[0])
	return e.combineGeneral(n.Op, x, e.general(a[1]))
}

// combineGeneral is an operation on two i64.
func (e *emitter) combineGeneral(op ir.Op, x, y reg) reg {
	if o, ok := generalOps[op]; ok {
		return e.g(o, x, y)
	}
	switch op {
	case ir.Min:
		e.cmp(x, y)
		return e.choose(asm.LT, x, y)
	case ir.Max:
		e.cmp(x, y)
		return e.choose(asm.GT, x, y)
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
	e.cmp(x, size)
	e.jumpIf(asm.ULT, inside)
	e.storeTo(asm.STR, address{base: e.word(e.layout.Status), disp: int64(8 * n.Slot)}, e.number(1))
	zero := e.number(0)
	last := e.addTo(size, -1)
	e.cmpImm(last, 0)
	last = e.choose(asm.LT, zero, last)
	e.cmpImm(x, 0)
	e.move(result, e.choose(asm.LT, zero, last))
	e.label(inside)
	return result
}

// divideGeneral is the floor of x/y or its remainder. The machine cuts towards
// zero; by 0 it gives 0, and the least number by -1 is itself, without a fault.
func (e *emitter) divideGeneral(op ir.Op, a, b *node) reg {
	x := e.general(a)
	if c, ok := e.graph.PolyOf(b).Constant(); ok && c > 0 && c&(c-1) == 0 {
		shift := int64(bits.TrailingZeros64(uint64(c)))
		switch {
		case op == ir.IDiv:
			return e.gImm(asm.ASR, shift, x)
		case shift == 0:
			return e.number(0)
		}
		return e.gImm(asm.UBFX, shift, x)
	}
	y := e.general(b)
	q := e.g(asm.SDIV, x, y)
	rest := e.g(asm.MSUB, q, y, x)
	// Where a remainder is left whose sign differs from the divisor's, the floor
	// is one less.
	signs := e.g(asm.EOR, rest, y)
	e.cmpImm(signs, 0)
	differ := e.flagIf(asm.LT)
	e.cmpImm(rest, 0)
	adjust := e.g(asm.AND, differ, e.flagIf(asm.NE))
	if op == ir.IDiv {
		return e.g(asm.SUB, q, adjust)
	}
	return e.g(asm.MADD, adjust, y, rest)
}

// shiftGeneral shifts; a count from 64 on, or below 0, gives 0.
func (e *emitter) shiftGeneral(op ir.Op, a, b *node) reg {
	x, count := e.general(a), e.general(b)
	ins := asm.ASRV
	if op == ir.Shl {
		ins = asm.LSLV
	}
	y := e.g(ins, x, count)
	none := e.number(0)
	e.cmpImm(count, 63)
	return e.choose(asm.UGT, none, y)
}
