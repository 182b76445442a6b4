package arm64

import (
	"github.com/sinterml/sinter/internal/emit/arm64/asm"
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/ir"
)

// StoreVector writes the lanes of copy u.
func (e *emitter) StoreVector(param int, index, value, valid *node, u int) {
	d := e.Kernel.Params[param].DType
	a := e.AccessOf(index)
	switch {
	case valid != nil:
		e.NeedOneLane("a conditional store")
	case !a.Unit():
		e.NeedOneLane("a scatter")
	}
	if e.Stopped() {
		return
	}
	if native.Wide(d) {
		x := e.wideVec(value, u)
		if !e.Stopped() {
			e.storeWide(e.address(param, a, u), x)
		}
		return
	}
	var x reg
	if d == ir.Bool {
		x = e.MaskOf(value, u)
	} else {
		x = e.vec(value.Uncast(), u)
	}
	if e.Stopped() {
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
		e.Unsupported("stores of %v", d)
	}
}

// StoreScalar writes one element, unless valid is false.
func (e *emitter) StoreScalar(param int, index, value, valid *node) {
	d := e.Kernel.Params[param].DType
	var flag reg
	if valid != nil {
		flag = e.Flag(valid)
	}
	var x reg
	switch d {
	case ir.I64:
		x = e.General(value)
	case ir.Bool:
		x = e.Flag(value)
	case ir.F64:
		x = e.wideVec(value, 0)[0]
	default:
		x = e.vec(value.Uncast(), 0)
	}
	m := e.pointer(param, e.Graph.PolyOf(index))
	if e.Stopped() {
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
	case ir.F64:
		e.storeTo(asm.STRVD, m, x)
	case ir.I8, ir.U8:
		e.storeTo(asm.STRVB, m, x)
	case ir.I16, ir.U16:
		e.storeTo(asm.STRVH, m, x)
	case ir.F16:
		e.storeTo(asm.STRVH, m, e.v(asm.FCVTN4H, x))
	case ir.BF16:
		e.storeTo(asm.STRVH, m, e.roundToBF16(x))
	default:
		e.Unsupported("stores of %v", d)
	}
}
