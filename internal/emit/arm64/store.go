package arm64

import (
	"github.com/sinterml/sinter/internal/emit/arm64/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// store writes a value, of each lane or of the one there is.
func (e *emitter) store(s *loop.Store, u int) {
	index, value := e.graph.Node(s.Index), e.graph.Node(s.Value)
	var valid *node
	if s.Valid != nil {
		valid = e.graph.Node(s.Valid)
	}
	if e.inVector() {
		e.storeVector(s.Param, index, value, valid, u)
	} else {
		e.storeScalar(s.Param, index, value, valid)
	}
	e.changed(deps{Params: e.graph.ParamBit(s.Param)})
}

// uncast returns the operand of a cast to a narrower type that the store does
// by itself: the value is not needed rounded in lanes.
func uncast(n *node) *node {
	if n.Kind != loop.KindApply || n.Op != ir.Cast || n.Readers > 1 {
		return n
	}
	from, to := n.Operands[0].DType, n.DType
	if from == to.Compute() && from != to && (from == ir.F32 || from.IsInt()) {
		return n.Operands[0]
	}
	return n
}

func (e *emitter) storeVector(param int, index, value, valid *node, u int) {
	d := e.k.Params[param].DType
	a := e.accessOf(index)
	switch {
	case valid != nil:
		e.needOneLane("a conditional store")
	case !a.unit():
		e.needOneLane("a scatter")
	case d == ir.I64:
		e.needOneLane("stores of i64")
	}
	if e.stopped() {
		return
	}
	var x reg
	if d == ir.Bool {
		x = e.maskOf(value, u)
	} else {
		x = e.vec(uncast(value), u)
	}
	if e.stopped() {
		return
	}
	e.storeLanes(d, e.address(param, a, u), x)
}

// storeLanes writes lanes one after the other.
func (e *emitter) storeLanes(d ir.DType, m address, x reg) {
	switch d {
	case ir.F32, ir.I32, ir.U32:
		e.storeTo(asm.STRVQ, m, x)
	case ir.F16:
		e.storeTo(asm.STRVD, m, e.v(asm.FCVTN4H, x))
	case ir.BF16:
		e.storeTo(asm.STRVD, m, e.v(asm.XTN4H, e.roundToBF16(x)))
	case ir.I16, ir.U16:
		e.storeTo(asm.STRVD, m, e.v(asm.XTN4H, x))
	case ir.I8, ir.U8:
		e.storeTo(asm.STRVS, m, e.v(asm.XTN8B, e.v(asm.XTN4H, x)))
	case ir.Bool:
		e.storeTo(asm.STRVS, m, e.v(asm.XTN8B, e.v(asm.XTN4H, e.oneWhere(x, 1))))
	default:
		e.unsupported("stores of %v", d)
	}
}

// storeScalar writes one element, unless valid is false.
func (e *emitter) storeScalar(param int, index, value, valid *node) {
	d := e.k.Params[param].DType
	var flag reg
	if valid != nil {
		flag = e.flag(valid)
	}
	var x reg
	switch d {
	case ir.I64:
		x = e.general(value)
	case ir.Bool:
		x = e.flag(value)
	default:
		x = e.vec(uncast(value), 0)
	}
	m := e.pointer(param, e.graph.PolyOf(index))
	if e.stopped() {
		return
	}
	skip := e.a.NewLabel()
	if valid != nil {
		e.jumpZero(flag, skip)
	}
	e.storeOne(d, m, x)
	e.label(skip)
}

func (e *emitter) storeOne(d ir.DType, m address, x reg) {
	switch d {
	case ir.I64:
		e.storeTo(asm.STR, m, x)
	case ir.Bool:
		e.storeTo(asm.STRB, m, x)
	case ir.F32, ir.I32, ir.U32:
		e.storeTo(asm.STRVS, m, x)
	case ir.I8, ir.U8:
		e.storeTo(asm.STRVB, m, x)
	case ir.I16, ir.U16:
		e.storeTo(asm.STRVH, m, x)
	case ir.F16:
		e.storeTo(asm.STRVH, m, e.v(asm.FCVTN4H, x))
	case ir.BF16:
		e.storeTo(asm.STRVH, m, e.roundToBF16(x))
	default:
		e.unsupported("stores of %v", d)
	}
}
