package x86

import (
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
)

// loadWide reads f64 or i64 lanes.
func (e *emitter) loadWide(n *node, u int) val {
	if !e.Varies(n) {
		x := e.loadScalar(n)
		return val{x, x}
	}
	a := e.AccessOf(n.Operands[0])
	k := e.loadHalves(n, u)
	switch {
	case e.Stopped():
		return val{}
	case a.Unit():
		m := wideOperand{e.address(n.Param, a, u)}
		m[1] = e.upperHalf(m[0])
		return both(func(i int) reg { return e.loadHalf(m[i], k[i]) })
	case !a.Lane && (e.isa == AVX2 || n.DType == ir.I64):
		e.NeedOneLane("a conditional load of one %v", n.DType)
		return val{}
	case !a.Lane:
		m := e.element(n)
		return both(func(i int) reg { return e.vZero(k[i], asm.VBROADCASTSD, m) })
	case k[0] == 0 && backwards(a):
		return e.loadWideBackwards(n, a, u)
	case e.isa == AVX2:
		return e.gatherWideApart(n, a, k, u)
	}
	index := e.wideVec(n.Operands[0], u)
	if e.Stopped() {
		return val{}
	}
	return both(func(i int) reg {
		if k[i] == 0 {
			k[i] = e.ConstMask(true)
		}
		m := operand{kind: memOperand, reg: e.Word(e.Layout.Params + n.Param), index: index[i], scale: 8, byVec: true}
		return e.gatherInto(asm.VPGATHERQQ, e.zero(), k[i], m)
	})
}

// loadHalves are the masks of a load of lanes of 8 bytes, 0 where all are read.
func (e *emitter) loadHalves(n *node, u int) val {
	tail := e.Lanes.Tail(u)
	switch {
	case len(n.Operands) == 1 && tail == 0:
		return val{}
	case len(n.Operands) == 1:
		return e.splitMask(tail, true)
	case tail == 0:
		return e.maskHalves(n.Operands[1], u)
	}
	return e.splitMask(e.within(e.MaskOf(n.Operands[1], u), tail), true)
}

// loadHalf reads half of the lanes, of k alone if that is not 0.
func (e *emitter) loadHalf(m operand, k reg) reg {
	switch {
	case k == 0:
		return e.v(asm.VMOVUPD, m)
	case e.isa == AVX2:
		return e.v(asm.VMASKMOVPD, r(k), m)
	}
	return e.vZero(k, asm.VMOVUPD, m)
}

// gatherWideApart is gatherApart for lanes of 8 bytes.
func (e *emitter) gatherWideApart(n *node, a native.Access, k val, u int) val {
	if k[0] != 0 || !evenlyApart(a, n.DType) {
		e.NeedOneLane("gathers of %v", n.DType)
		return val{}
	}
	lane := e.lanesApart(n.Param, a, u)
	two := func(i int) reg { return e.vImm(asm.VPINSRQ, 1, r(e.v(asm.VMOVSD, lane(i))), lane(i+1)) }
	return both(func(i int) reg {
		x := two(4 * i)
		return e.joinHalves(x, two(4*i+2))
	})
}

// storeWide writes f64 or i64 lanes.
func (e *emitter) storeWide(param int, index *node, a native.Access, x val, k reg, u int) {
	if e.Stopped() {
		return
	}
	if a.Unit() {
		m := e.address(param, a, u)
		for i := range x {
			switch half := e.maskHalf(k, i); {
			case k == 0:
				e.do(asm.VMOVUPS, m, r(x[i])).stream = e.mayStream(param, a)
			case e.isa == AVX2:
				e.do(asm.VMASKMOVPD, m, r(half), r(x[i]))
			default:
				e.do(asm.VMOVUPD, m, r(x[i])).mask = half
			}
			m = e.upperHalf(m)
		}
		return
	}
	if e.isa == AVX2 {
		e.scatterWideApart(param, a, x, k, u)
		return
	}
	if k == 0 {
		k = e.ConstMask(true)
	}
	wide := e.wideVec(index, u)
	if e.Stopped() {
		return
	}
	for i := range x {
		m := operand{kind: memOperand, reg: e.Word(e.Layout.Params + param), index: wide[i], scale: 8, byVec: true}
		e.scatterFrom(asm.VPSCATTERQQ, m, x[i], e.maskHalf(k, i))
	}
}

// scatterWideApart is scatterApart for lanes of 8 bytes.
func (e *emitter) scatterWideApart(param int, a native.Access, v val, k reg, u int) {
	d := e.Kernel.Params[param].DType
	if k != 0 || !evenlyApart(a, d) {
		e.NeedOneLane("scatters of %v", d)
		return
	}
	lane := e.lanesApart(param, a, u)
	for i, x := range v {
		for j := 0; j < 4; j += 2 {
			if j > 0 {
				x = e.half(x, 1)
			}
			e.do(asm.VMOVSD, lane(4*i+j), r(x))
			e.doImm(asm.VPEXTRQ, 1, lane(4*i+j+1), r(x))
		}
	}
}
