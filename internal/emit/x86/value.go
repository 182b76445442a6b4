package x86

import (
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/loop"
)

// vec returns n in vector lanes.
func (e *emitter) vec(n *node, u int) reg {
	if native.Wide(n.DType) {
		e.Unsupported("%v in one register", n.DType)
		return 0
	}
	return e.wideVec(n, u)[0]
}

func (e *emitter) makeVec(n *node, u int) val {
	if native.Wide(n.DType) {
		return e.makeWide(n, u)
	}
	if !native.Computable(n.DType) {
		e.Unsupported("%v", n.DType)
		return val{}
	}
	switch n.Kind {
	case loop.KindConst:
		return val{e.constant(uint64(n.ConstBits()), 4)}
	case loop.KindLoad:
		return val{e.load(n, u)}
	case loop.KindApply:
		return val{e.apply(n, u)}
	}
	e.Unsupported("%v of kind %d", n.DType, n.Kind)
	return val{}
}

// last returns n as an operand that may be in memory, which is the last source
// of an instruction: a constant, or a load that nothing else needs.
func (e *emitter) last(n *node, u int) operand {
	if n.Kind == loop.KindConst && native.Computable(n.DType) && n.Bits != 0 {
		return bits32(n.ConstBits())
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
