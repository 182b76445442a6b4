package x86

import (
	"github.com/sinterml/sinter/internal/emit/x86/asm"
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
	k := e.lanes.tail(u)
	if valid != nil {
		k = e.within(e.maskOf(valid, u), k)
	}
	a := e.accessOf(index)
	if !a.lane {
		e.needOneLane("a store to one element by several lanes")
		return
	}
	if d == ir.I64 {
		e.storeWide(param, index, a, e.wideVec(value, u), k, u)
		return
	}
	var x reg
	cuts := a.unit() && e.storeCuts(value)
	switch {
	case d == ir.Bool:
		x = e.maskOf(value, u)
	case cuts:
		x = e.floatToUnsigned(value.Operands[0], u)
	default:
		x = e.vec(uncast(value), u)
	}
	if e.stopped() {
		return
	}
	if cuts {
		e.do(cutStores[d], e.address(param, a, u), r(x)).mask = k
		return
	}
	if !a.unit() {
		e.scatter(param, index, a, x, k, u)
		return
	}
	m := e.address(param, a, u)
	if k == 0 && (d == ir.F32 || d == ir.I32 || d == ir.U32) {
		e.do(asm.VMOVUPS, m, r(x)).stream = e.mayStream(param, a)
	} else if e.isa == AVX512 {
		e.storeLanes(d, m, x, k)
	} else {
		e.storeLanes2(d, m, x, k)
	}
}

// cutStores write lanes of u32, and the largest narrow number for what is larger.
var cutStores = map[ir.DType]asm.Op{ir.U8: asm.VPMOVUSDB, ir.U16: asm.VPMOVUSDW}

// storeCuts tells whether n is a cast of a float that such a store ends.
func (e *emitter) storeCuts(n *node) bool {
	return e.isa == AVX512 && n.Kind == loop.KindApply && n.Op == ir.Cast && n.Readers <= 1 &&
		n.Operands[0].DType.Compute() == ir.F32 && cutStores[n.DType] != 0
}

// storeLanes writes lanes one after the other, with AVX-512.
func (e *emitter) storeLanes(d ir.DType, m operand, x, k reg) {
	if d == ir.F16 {
		e.doImm(asm.VCVTPS2PH, 0, m, r(x)).mask = k
		return
	}
	switch d {
	case ir.Bool:
		x = e.oneWhere(x, 1)
	case ir.BF16:
		x = e.roundToBF16(x)
	}
	op, ok := storeOps[d]
	if !ok {
		e.needOneLane("stores of %v", d)
		return
	}
	e.do(op, m, r(x)).mask = k
}

// storeLanes2 is storeLanes with AVX2, where only types of 4 bytes have masks.
func (e *emitter) storeLanes2(d ir.DType, m operand, x, k reg) {
	if d.Size() == 4 && k != 0 {
		e.do(asm.VMASKMOVPS, m, r(k), r(x))
		return
	}
	if k != 0 {
		e.needOneLane("conditional stores of %v", d)
		return
	}
	switch d {
	case ir.F16:
		e.doImm(asm.VCVTPS2PH, 0, m, r(x))
	case ir.BF16:
		e.do(asm.VMOVUPS, m, r(e.lowWords(e.roundToBF16(x)))).len = asm.L128
	case ir.I16, ir.U16:
		e.do(asm.VMOVUPS, m, r(e.lowWords(x))).len = asm.L128
	case ir.Bool:
		e.do(asm.VMOVQ, m, r(e.lowBytes(e.oneWhere(x, 1))))
	case ir.I8, ir.U8:
		e.do(asm.VMOVQ, m, r(e.lowBytes(x)))
	default:
		e.needOneLane("stores of %v", d)
	}
}

// scatter writes 32-bit lanes that do not lie one after the other.
func (e *emitter) scatter(param int, index *node, a access, x, k reg, u int) {
	if e.isa == AVX2 || e.k.Params[param].DType.Size() != 4 {
		e.needOneLane("scatters of %v", e.k.Params[param].DType)
		return
	}
	if k == 0 {
		k = e.constMask(true)
	}
	if offsets, ok := e.laneOffsets(a.stride); ok {
		e.scatterFrom(asm.VSCATTERDPS, e.vectorIndex(e.address(param, a, u), offsets, 4), x, k)
		return
	}
	wide := e.wideVec(index, u)
	for i := range wide {
		m := operand{kind: memOperand, reg: e.word(e.layout.Params + param), index: wide[i], scale: 4, byVec: true}
		e.scatterFrom(asm.VSCATTERQPS, m, e.half(x, i), e.maskHalf(k, i))
	}
}

// scatterFrom gives the instruction, which clears its mask, one of its own.
func (e *emitter) scatterFrom(op asm.Op, m operand, x, k reg) {
	own := e.newReg(mask)
	e.move(own, k)
	in := e.inst(op, classes, []operand{m, r(x)})
	in.mask = own
	e.add(in)
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
		e.do(asm.TEST, r(flag), r(flag))
		e.jumpIf(asm.EQ, skip)
	}
	e.storeOne(d, m, x)
	e.label(skip)
}

func (e *emitter) storeOne(d ir.DType, m operand, x reg) {
	switch d {
	case ir.I64:
		e.do(asm.MOV, m, r(x))
	case ir.Bool:
		e.do(asm.MOVB, m, r(x))
	case ir.F32, ir.I32, ir.U32:
		e.do(asm.VMOVSS, m, r(x))
	case ir.I8, ir.U8:
		e.do(asm.MOVB, m, r(e.g(asm.VMOVD, r(x))))
	case ir.I16, ir.U16:
		e.do(asm.MOVW, m, r(e.g(asm.VMOVD, r(x))))
	case ir.F16:
		in := e.inst(asm.VCVTPS2PH, vec, []operand{r(x)})
		in.hasImm, in.len = true, asm.L128
		e.do(asm.MOVW, m, r(e.g(asm.VMOVD, r(e.add(in).dst))))
	case ir.BF16:
		e.do(asm.MOVW, m, r(e.g(asm.VMOVD, r(e.roundToBF16(x)))))
	default:
		e.unsupported("stores of %v", d)
	}
}
