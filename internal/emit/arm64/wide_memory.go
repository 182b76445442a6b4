package arm64

import (
	"github.com/sinterml/sinter/internal/emit/arm64/asm"
	"github.com/sinterml/sinter/internal/emit/native"
)

// loadWide reads f64 or i64 lanes.
func (e *emitter) loadWide(n *node, u int) val {
	if !e.Varies(n) {
		x := e.loadScalar(n)
		return val{x, x}
	}
	if len(n.Operands) == 2 {
		e.NeedOneLane("a conditional load")
		return val{}
	}
	a := e.AccessOf(n.Operands[0])
	switch {
	case e.Stopped():
		return val{}
	case !a.Lane:
		x := e.loadScalar(n)
		return val{x, x}
	case a.Unit():
		m := e.address(n.Param, a, u)
		return both(func(i int) reg { return e.loadFrom(vec, asm.LDRVQ, m.half(i)) })
	case a.Stride != nil:
		return both(func(i int) reg { return e.collectWide(n.Param, a, u*wide+i*wide/2) })
	}
	e.NeedOneLane("a gather")
	return val{}
}

// half is where half of the lanes of 8 bytes lies.
func (m address) half(i int) address { return address{m.base, m.disp + int64(16*i)} }

// collectWide reads two lanes, from one on, that lie at equal distances.
func (e *emitter) collectWide(param int, a native.Access, lane int) reg {
	x := e.loadFrom(vec, asm.LDRVD, e.pointer(param, a.From(lane)))
	return e.v(asm.ZIP12D, x, e.loadFrom(vec, asm.LDRVD, e.pointer(param, a.From(lane+1))))
}

// storeWide writes f64 or i64 lanes one after the other.
func (e *emitter) storeWide(m address, x val) {
	for i := range x {
		e.storeTo(asm.STRVQ, m.half(i), x[i])
	}
}
