package x86

import (
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// applyDouble is an operation that gives f64 lanes.
func (e *emitter) applyDouble(n *node, u int) val {
	a := n.Operands
	switch n.Op {
	case ir.Cast:
		return e.castToDouble(a[0], u)
	case ir.Bitcast:
		if native.Wide(a[0].DType) {
			return e.wideVec(a[0], u)
		}
		e.Unsupported("bitcast of %v to f64", a[0].DType)
		return val{}
	case ir.Where:
		return e.whereWide(n, u)
	case ir.FMA:
		return e.fmaDouble(n, u)
	}
	if len(a) == 1 {
		x := e.lastWide(a[0], u)
		if e.Stopped() {
			return val{}
		}
		return eachHalf(func(i int) reg { return e.unaryFloat(&double, n.Op, x[i]) }, x)
	}
	b := a[1]
	if n.Op.Commutes() && e.free(a[0], u) && !e.free(b, u) {
		a, b = []*node{b}, a[0]
	}
	if b.Kind == loop.KindConst && clampable(&double, n.Op, b.Bits) {
		x := e.lastWide(a[0], u)
		if e.Stopped() {
			return val{}
		}
		return eachHalf(func(i int) reg { return e.clampConst(&double, n.Op, x[i], b.Bits) }, x)
	}
	x, y := e.widePair(a[0], b, u)
	return e.combineWide(n.Op, ir.F64, x, y)
}

// fmaDouble is fma for f64.
func (e *emitter) fmaDouble(n *node, u int) val {
	f := e.planFMA(n, u)
	var src [3]wideOperand
	for _, i := range f.order {
		if i == f.inMemory {
			src[i] = e.lastWide(f.args[i], u)
		} else {
			src[i] = wideRegs(e.wideVec(f.args[i], u))
		}
	}
	if e.Stopped() {
		return val{}
	}
	return eachHalf(func(i int) reg {
		in := f.inst(e, [3]operand{src[0][i], src[1][i], src[2][i]})
		in.wide = true
		return e.Add(in).dst
	}, src[:]...)
}
