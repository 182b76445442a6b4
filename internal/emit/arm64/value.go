package arm64

import (
	"github.com/sinterml/sinter/internal/emit/arm64/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// A value that is the same in all lanes, a scalar, and one that differs are
// alike in vector registers: a scalar fills its register. Each value is held
// in one of four ways.
type form uint8

const (
	asVec     form = iota // lanes of the compute type, 32 bits
	asMask                // bool: lanes of all ones or zeros
	asGeneral             // scalar i64
	asFlag                // scalar bool, 0 or 1 in a general register
	asPoly                // an integer sum, by key
)

type memoKey struct {
	n    *node
	copy uint8
	form form
	poly string
}

type memoEntry struct {
	reg  reg
	deps deps
}

// memo holds the values that exist already.
type memo map[memoKey]memoEntry

func (m memo) drop(d deps) {
	for k, x := range m {
		if x.deps.Meets(d) {
			delete(m, k)
		}
	}
}

// known looks a value up that belongs to scope number level.
func (e *emitter) known(level int, k memoKey) (reg, bool) {
	if level < e.top() {
		if x, ok := e.scopes[level+1].before[k]; ok {
			return x.reg, true
		}
	}
	x, ok := e.scopes[level].inside[k]
	return x.reg, ok
}

// remember notes a value that was made at level.
func (e *emitter) remember(level int, k memoKey, x reg, d deps) {
	m := e.scopes[level].inside
	if level < e.top() {
		m = e.scopes[level+1].before
	}
	m[k] = memoEntry{x, d}
}

// value returns n in a form, for copy u, made by make where it does not exist
// yet: in the outermost loop in which it does not change.
func (e *emitter) value(n *node, f form, u int, make func() reg) reg {
	level := min(e.depth(n.Deps), e.at)
	if e.lanes.level == 0 || level < e.lanes.level {
		u = 0
	}
	key := memoKey{n: n, copy: uint8(u), form: f}
	if x, ok := e.known(level, key); ok {
		return x
	}
	if e.stopped() {
		return 0
	}
	from, early := e.at, e.early
	e.at, e.early = level, false
	x := make()
	e.at, e.early = from, early
	e.remember(level, key, x, n.Deps)
	return x
}

// vec returns n in vector lanes.
func (e *emitter) vec(n *node, u int) reg {
	if n.Kind == loop.KindLocal {
		if x := e.readLocal(n, u); x == 0 || e.vregs[x].Class == vec {
			return x
		}
	}
	return e.value(n, asVec, u, func() reg { return e.makeVec(n, u) })
}

func (e *emitter) makeVec(n *node, u int) reg {
	if !computable(n.DType) {
		if n.DType == ir.I64 {
			e.needOneLane("i64 lanes")
		} else {
			e.unsupported("%v", n.DType)
		}
		return 0
	}
	switch n.Kind {
	case loop.KindConst:
		return e.constant(constBits(n))
	case loop.KindLoad:
		return e.load(n, u)
	case loop.KindApply:
		return e.apply(n, u)
	}
	e.unsupported("%v of kind %d", n.DType, n.Kind)
	return 0
}

// computable tells whether d is computed in 32-bit lanes.
func computable(d ir.DType) bool {
	switch d.Compute() {
	case ir.F32, ir.I32, ir.U32:
		return true
	}
	return false
}

// constBits is a constant in its compute type.
func constBits(n *node) uint32 {
	switch n.DType {
	case ir.F16:
		return f32bits(ir.F16ToFloat32(uint16(n.Bits)))
	case ir.BF16:
		return f32bits(ir.BF16ToFloat32(uint16(n.Bits)))
	case ir.I8:
		return uint32(int32(int8(n.Bits)))
	case ir.I16:
		return uint32(int32(int16(n.Bits)))
	}
	return uint32(n.Bits)
}

// pair evaluates two operands, the one that needs more registers first.
func (e *emitter) pair(a, b *node, u int) (x, y reg) {
	if b.Need > a.Need {
		y = e.vec(b, u)
		return e.vec(a, u), y
	}
	x = e.vec(a, u)
	return x, e.vec(b, u)
}

// general returns a scalar i64 in a general register.
func (e *emitter) general(n *node) reg {
	if n.DType != ir.I64 {
		e.unsupported("%v as an index", n.DType)
		return 0
	}
	if e.varies(n) {
		e.needOneLane("an index that differs from lane to lane")
		return 0
	}
	if n.Kind == loop.KindLocal {
		return e.readLocal(n, 0)
	}
	p := e.graph.PolyOf(n)
	if len(p.Monos) == 1 && p.C == 0 && p.Monos[0].Coef == 1 && len(p.Monos[0].Atoms) == 1 && p.Monos[0].Atoms[0] == n {
		return e.atom(n)
	}
	return e.sum(p)
}

// maskOf returns a bool as lanes.
func (e *emitter) maskOf(n *node, u int) reg {
	if n.DType != ir.Bool {
		e.unsupported("%v as a condition", n.DType)
		return 0
	}
	switch n.Kind {
	case loop.KindLocal:
		return e.readLocal(n, u)
	case loop.KindConst:
		return e.constMask(n.Bits != 0)
	}
	return e.value(n, asMask, u, func() reg { return e.makeMask(n, u) })
}

// flag returns a scalar bool as 0 or 1.
func (e *emitter) flag(n *node) reg {
	if e.varies(n) {
		e.needOneLane("a condition that differs from lane to lane")
		return 0
	}
	return e.value(n, asFlag, 0, func() reg { return e.makeFlag(n) })
}

// broadcast fills the lanes with the low half of a general register.
func (e *emitter) broadcast(x reg) reg { return e.v(asm.DUP4SX, x) }
