package x86

import (
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// StoreVector writes the lanes of copy u.
func (e *emitter) StoreVector(param int, index, value, valid *node, u int) {
	d := e.Kernel.Params[param].DType
	k := e.Lanes.Tail(u)
	if valid != nil {
		k = e.within(e.MaskOf(valid, u), k)
	}
	a := e.AccessOf(index)
	if !a.Lane {
		e.NeedOneLane("a store to one element by several lanes")
		return
	}
	if native.Wide(d) {
		e.storeWide(param, index, a, e.wideVec(value, u), k, u)
		return
	}
	var x reg
	cuts := a.Unit() && e.storeCuts(value)
	switch {
	case d == ir.Bool:
		x = e.MaskOf(value, u)
	case cuts:
		x = e.floatToUnsigned(value.Operands[0], u)
	case d == ir.BF16:
		x = e.bitsOfBF16(value, u)
	default:
		x = e.vec(value.Uncast(), u)
	}
	if e.Stopped() {
		return
	}
	if cuts {
		e.do(cutStores[d], e.address(param, a, u), r(x)).mask = k
		return
	}
	if !a.Unit() {
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
	if d == ir.Bool {
		x = e.oneWhere(x, 1)
	}
	op, ok := storeOps[d]
	if !ok {
		e.NeedOneLane("stores of %v", d)
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
		e.NeedOneLane("conditional stores of %v", d)
		return
	}
	switch d {
	case ir.F16:
		e.doImm(asm.VCVTPS2PH, 0, m, r(x))
	case ir.I16, ir.U16, ir.BF16:
		e.do(asm.VMOVUPS, m, r(e.lowWords(x))).len = asm.L128
	case ir.Bool:
		e.do(asm.VMOVQ, m, r(e.lowBytes(e.oneWhere(x, 1))))
	case ir.I8, ir.U8:
		e.do(asm.VMOVQ, m, r(e.lowBytes(x)))
	default:
		e.NeedOneLane("stores of %v", d)
	}
}

// scatter writes 32-bit lanes that do not lie one after the other.
func (e *emitter) scatter(param int, index *node, a native.Access, x, k reg, u int) {
	if e.isa == AVX2 && k == 0 && e.scatterApart(param, a, x, u) {
		return
	}
	if e.isa == AVX2 || e.Kernel.Params[param].DType.Size() != 4 {
		e.NeedOneLane("scatters of %v", e.Kernel.Params[param].DType)
		return
	}
	if k == 0 {
		k = e.ConstMask(true)
	}
	if offsets, ok := e.laneOffsets(a.Stride); ok {
		e.scatterFrom(asm.VSCATTERDPS, e.vectorIndex(e.address(param, a, u), offsets, 4), x, k)
		return
	}
	wide := e.wideVec(index, u)
	for i := range wide {
		m := operand{kind: memOperand, reg: e.Word(e.Layout.Params + param), index: wide[i], scale: 4, byVec: true}
		e.scatterFrom(asm.VSCATTERQPS, m, e.half(x, i), e.maskHalf(k, i))
	}
}

// scatterFrom gives the instruction, which clears its mask, one of its own.
func (e *emitter) scatterFrom(op asm.Op, m operand, x, k reg) {
	own := e.NewReg(mask)
	e.Move(own, k)
	in := e.inst(op, classes, []operand{m, r(x)})
	in.mask = own
	e.Add(in)
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
	case ir.F64:
		e.do(asm.VMOVSD, m, r(x))
	case ir.I8, ir.U8:
		e.do(asm.MOVB, m, r(e.g(asm.VMOVD, r(x))))
	case ir.I16, ir.U16:
		e.do(asm.MOVW, m, r(e.g(asm.VMOVD, r(x))))
	case ir.F16:
		in := e.inst(asm.VCVTPS2PH, vec, []operand{r(x)})
		in.hasImm, in.len = true, asm.L128
		e.do(asm.MOVW, m, r(e.g(asm.VMOVD, r(e.Add(in).dst))))
	case ir.BF16:
		e.do(asm.MOVW, m, r(e.g(asm.VMOVD, r(e.roundToBF16(x)))))
	default:
		e.Unsupported("stores of %v", d)
	}
}
