package x86

import (
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// A value that is the same in all lanes, a scalar, and one that differs are
// alike in vector registers: a scalar fills its register. Each value is held
// in one of four ways.
type form uint8

const (
	asVec     form = iota // lanes of the compute type; i64 in two registers, low lanes first
	asMask                // bool: a mask register with AVX-512, lanes of all ones or zeros with AVX2
	asGeneral             // scalar i64
	asFlag                // scalar bool, 0 or 1 in a general register
	asPoly                // an integer sum, by key
)

// val is a value's registers: the second is for i64 lanes.
type val [2]reg

type memoKey struct {
	n    *node
	copy uint8
	form form
	poly string
}

type memoEntry struct {
	val  val
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
func (e *emitter) known(level int, k memoKey) (val, bool) {
	if level < e.top() {
		if x, ok := e.scopes[level+1].before[k]; ok {
			return x.val, true
		}
	}
	x, ok := e.scopes[level].inside[k]
	return x.val, ok
}

// remember notes a value that was made at level.
func (e *emitter) remember(level int, k memoKey, v val, d deps) {
	m := e.scopes[level].inside
	if level < e.top() {
		m = e.scopes[level+1].before
	}
	m[k] = memoEntry{v, d}
}

// value returns n in a form, for copy u, made by make where it does not exist
// yet: in the outermost loop in which it does not change.
func (e *emitter) value(n *node, f form, u int, make func() val) val {
	level := e.depth(n.Deps)
	if level > e.at {
		level = e.at
	}
	if e.lanes.level == 0 || level < e.lanes.level {
		u = 0
	}
	key := memoKey{n: n, copy: uint8(u), form: f}
	if v, ok := e.known(level, key); ok {
		return v
	}
	if e.stopped() {
		return val{}
	}
	from, early := e.at, e.early
	e.at, e.early = level, false
	v := make()
	e.at, e.early = from, early
	e.remember(level, key, v, n.Deps)
	return v
}

// vec returns n in vector lanes.
func (e *emitter) vec(n *node, u int) reg { return e.wideVec(n, u)[0] }

// wideVec is vec for types of 8 bytes as well.
func (e *emitter) wideVec(n *node, u int) val {
	if n.Kind == loop.KindLocal {
		v := e.readLocal(n, u)
		if v[0] == 0 || e.vregs[v[0]].Class != gpr {
			return v
		}
	}
	return e.value(n, asVec, u, func() val { return e.makeVec(n, u) })
}

func (e *emitter) makeVec(n *node, u int) val {
	if n.DType == ir.I64 {
		if !e.varies(n) {
			x := e.broadcastGeneral(e.general(n), asm.VPBROADCASTQ)
			return val{x, x}
		}
		return e.wideLanes(n, u)
	}
	if !computable(n.DType) {
		e.unsupported("%v", n.DType)
		return val{}
	}
	switch n.Kind {
	case loop.KindConst:
		return val{e.constant(uint64(constBits(n)), 4)}
	case loop.KindLoad:
		return val{e.load(n, u)}
	case loop.KindApply:
		return val{e.apply(n, u)}
	}
	e.unsupported("%v of kind %d", n.DType, n.Kind)
	return val{}
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

// last returns n as an operand that may be in memory, which is the last source
// of an instruction: a constant, or a load that nothing else needs.
func (e *emitter) last(n *node, u int) operand {
	if n.Kind == loop.KindConst && computable(n.DType) && n.Bits != 0 {
		return bits32(constBits(n))
	}
	if m, ok := e.foldLoad(n, u); ok {
		return m
	}
	return r(e.vec(n, u))
}

// free tells whether last(n) needs no register.
func (e *emitter) free(n *node, u int) bool {
	return n.Kind == loop.KindConst && n.Bits != 0 || e.foldable(n, u)
}

// pair evaluates two operands of which the second may be in memory; the one
// that needs more registers goes first.
func (e *emitter) pair(a, b *node, u int) (reg, operand) {
	if !e.free(b, u) && b.Need > a.Need {
		y := e.vec(b, u)
		return e.vec(a, u), r(y)
	}
	x := e.vec(a, u)
	return x, e.last(b, u)
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
		return e.readLocal(n, 0)[0]
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
		return e.readLocal(n, u)[0]
	case loop.KindConst:
		return e.constMask(n.Bits != 0)
	}
	return e.value(n, asMask, u, func() val { return val{e.makeMask(n, u)} })[0]
}

// flag returns a scalar bool as 0 or 1.
func (e *emitter) flag(n *node) reg {
	if e.varies(n) {
		e.needOneLane("a condition that differs from lane to lane")
		return 0
	}
	return e.value(n, asFlag, 0, func() val { return val{e.makeFlag(n)} })[0]
}
