package arm64

import (
	"github.com/sinterml/sinter/internal/emit/arm64/asm"
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// vec returns n in vector lanes.
func (e *emitter) vec(n *node, u int) reg {
	if n.Kind == loop.KindLocal {
		if x := e.ReadLocal(n, u)[0]; x == 0 || e.Regs[x].Class == vec {
			return x
		}
	}
	return e.Value(n, native.AsVec, u, func() val { return val{e.makeVec(n, u)} })[0]
}

func (e *emitter) makeVec(n *node, u int) reg {
	if !native.Computable(n.DType) {
		if n.DType == ir.I64 {
			e.NeedOneLane("i64 lanes")
		} else {
			e.Unsupported("%v", n.DType)
		}
		return 0
	}
	switch n.Kind {
	case loop.KindConst:
		return e.constant(n.ConstBits())
	case loop.KindLoad:
		return e.load(n, u)
	case loop.KindApply:
		return e.apply(n, u)
	}
	e.Unsupported("%v of kind %d", n.DType, n.Kind)
	return 0
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
