package arm64

import (
	"github.com/sinterml/sinter/internal/emit/arm64/asm"
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
		return val{e.constant(n.ConstBits())}
	case loop.KindLoad:
		return val{e.load(n, u)}
	case loop.KindApply:
		return val{e.apply(n, u)}
	}
	e.Unsupported("%v of kind %d", n.DType, n.Kind)
	return val{}
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

// broadcast fills the lanes with the low half of a general register.
func (e *emitter) broadcast(x reg) reg { return e.v(asm.DUP4SX, x) }
