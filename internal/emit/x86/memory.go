package x86

import (
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// foldable tells whether a load can be the memory operand of the instruction
// that uses it: full registers, used once, here.
func (e *emitter) foldable(n *node, u int) bool {
	if n.Kind != loop.KindLoad || len(n.Operands) != 1 || n.Readers != 1 || n.DType.Size() != 4 && n.DType != ir.F64 {
		return false
	}
	if !e.InVector() || e.Lanes.Tail(u) != 0 || e.Depth(n.Deps) < e.At || !e.Varies(n.Operands[0]) {
		return false
	}
	a := e.AccessOf(n.Operands[0])
	return a.Unit()
}

func (e *emitter) foldLoad(n *node, u int) (operand, bool) {
	if !e.foldable(n, u) {
		return operand{}, false
	}
	return e.address(n.Param, e.AccessOf(n.Operands[0]), u), true
}

// load reads lanes of 32 bits, widening narrow types.
func (e *emitter) load(n *node, u int) reg {
	if !e.Varies(n) {
		return e.loadScalar(n)
	}
	a := e.AccessOf(n.Operands[0])
	k := e.Lanes.Tail(u)
	if len(n.Operands) == 2 {
		k = e.within(e.MaskOf(n.Operands[1], u), k)
	}
	switch {
	case e.Stopped():
		return 0
	case !a.Lane:
		return e.loadSame(n, k)
	case a.Unit():
		return e.loadLanes(n.DType, e.address(n.Param, a, u), k)
	}
	return e.gather(n, a, u, k)
}

// within is condition k where tail holds, which may be 0 for everywhere.
func (e *emitter) within(k, tail reg) reg {
	if tail == 0 || e.Stopped() {
		return k
	}
	return e.combineMask(ir.And, k, tail)
}

// loadSame reads one element into the lanes of k, 0 into the others.
func (e *emitter) loadSame(n *node, k reg) reg {
	if e.isa == AVX2 || n.DType.Size() != 4 || len(n.Operands) == 1 {
		if len(n.Operands) == 2 {
			e.NeedOneLane("a conditional load of one %v", n.DType)
			return 0
		}
		return e.loadScalar(n)
	}
	return e.vZero(k, asm.VBROADCASTSS, e.element(n))
}

var (
	loadOps = map[ir.DType]asm.Op{
		ir.F32: asm.VMOVUPS, ir.I32: asm.VMOVUPS, ir.U32: asm.VMOVUPS,
		ir.I8: asm.VPMOVSXBD, ir.U8: asm.VPMOVZXBD, ir.Bool: asm.VPMOVZXBD,
		ir.I16: asm.VPMOVSXWD, ir.U16: asm.VPMOVZXWD, ir.BF16: asm.VPMOVZXWD, ir.F16: asm.VCVTPH2PS,
	}
	storeOps = map[ir.DType]asm.Op{
		ir.F32: asm.VMOVUPS, ir.I32: asm.VMOVUPS, ir.U32: asm.VMOVUPS,
		ir.I8: asm.VPMOVDB, ir.U8: asm.VPMOVDB, ir.Bool: asm.VPMOVDB,
		ir.I16: asm.VPMOVDW, ir.U16: asm.VPMOVDW, ir.BF16: asm.VPMOVDW,
	}
)

// loadLanes reads elements that lie one after the other.
func (e *emitter) loadLanes(d ir.DType, m operand, k reg) reg {
	op, ok := loadOps[d]
	if !ok {
		e.NeedOneLane("loads of %v", d)
		return 0
	}
	var x reg
	switch {
	case k == 0:
		x = e.v(op, m)
	case e.isa == AVX512:
		x = e.vZero(k, op, m)
	case d.Size() == 4:
		return e.v(asm.VMASKMOVPS, r(k), m)
	default:
		e.NeedOneLane("conditional loads of %v", d)
		return 0
	}
	if d == ir.BF16 {
		x = e.vImm(asm.VPSLLD, 16, r(x))
	}
	return x
}

// loadScalar reads one element and fills the register with it; 0 where the
// condition is false.
func (e *emitter) loadScalar(n *node) reg {
	if len(n.Operands) == 1 {
		return e.loadOne(n.DType, e.element(n))
	}
	flag := e.Flag(n.Operands[1])
	m := e.element(n)
	skip := e.a.NewLabel()
	x := e.NewReg(vec)
	in := e.slab.new()
	in.kind, in.dst = zeroing, x
	e.Add(in)
	e.do(asm.TEST, r(flag), r(flag))
	e.jumpIf(asm.EQ, skip)
	e.Move(x, e.loadOne(n.DType, m))
	e.label(skip)
	return x
}

func (e *emitter) loadOne(d ir.DType, m operand) reg {
	switch d {
	case ir.F32, ir.I32, ir.U32:
		return e.v(asm.VBROADCASTSS, m)
	case ir.F64:
		return e.v(asm.VBROADCASTSD, m)
	case ir.I8:
		return e.broadcastGeneral(e.g(asm.MOVSX8, m), asm.VPBROADCASTD)
	case ir.U8, ir.Bool:
		return e.broadcastGeneral(e.g(asm.MOVZX8, m), asm.VPBROADCASTD)
	case ir.I16:
		return e.broadcastGeneral(e.g(asm.MOVSX16, m), asm.VPBROADCASTD)
	case ir.U16:
		return e.broadcastGeneral(e.g(asm.MOVZX16, m), asm.VPBROADCASTD)
	case ir.F16:
		x := e.broadcastGeneral(e.g(asm.MOVZX16, m), asm.VPBROADCASTD)
		return e.v(asm.VBROADCASTSS, r(e.vLen(asm.L128, asm.VCVTPH2PS, r(x))))
	case ir.BF16:
		return e.vImm(asm.VPSLLD, 16, r(e.broadcastGeneral(e.g(asm.MOVZX16, m), asm.VPBROADCASTD)))
	}
	e.Unsupported("loads of %v", d)
	return 0
}

// loadMask reads bools.
func (e *emitter) loadMask(n *node, u int) reg {
	if !e.Varies(n) {
		return e.maskFromFlag(e.Flag(n))
	}
	return e.maskFromLanes(e.load(n, u))
}

// LoadGeneral reads a scalar integer or bool; 0 where its condition is false.
func (e *emitter) LoadGeneral(n *node) reg {
	if len(n.Operands) == 1 {
		return e.widenedLoad(n.DType, e.element(n))
	}
	flag := e.Flag(n.Operands[1])
	m := e.element(n)
	skip := e.a.NewLabel()
	x := e.NewReg(gpr)
	e.Move(x, e.gImm(asm.MOV, 0))
	e.do(asm.TEST, r(flag), r(flag))
	e.jumpIf(asm.EQ, skip)
	e.Move(x, e.widenedLoad(n.DType, m))
	e.label(skip)
	return x
}

// gather reads 32-bit elements that do not lie one after the other.
func (e *emitter) gather(n *node, a native.Access, u int, k reg) reg {
	if k == 0 && backwards(a) {
		return e.loadBackwards(n, a, u)
	}
	if e.isa == AVX2 && k == 0 {
		if x, ok := e.gatherApart(n, a, u); ok {
			return x
		}
	}
	if e.isa == AVX2 || n.DType.Size() != 4 {
		e.NeedOneLane("gathers of %v", n.DType)
		return 0
	}
	if k == 0 {
		k = e.ConstMask(true)
	}
	if index, ok := e.laneOffsets(a.Stride); ok {
		m := e.address(n.Param, a, u)
		m = e.vectorIndex(m, index, 4)
		return e.gatherInto(asm.VGATHERDPS, e.zero(), k, m)
	}
	wide := e.wideVec(n.Operands[0], u)
	var half [2]reg
	for i := range half {
		m := operand{kind: memOperand, reg: e.Word(e.Layout.Params + n.Param), index: wide[i], scale: 4, byVec: true}
		half[i] = e.gatherInto(asm.VGATHERQPS, e.zero(), e.maskHalf(k, i), m)
	}
	return e.joinHalves(half[0], half[1])
}

// gatherInto clears its mask as it goes, so it gets a copy.
func (e *emitter) gatherInto(op asm.Op, old, k reg, m operand) reg {
	own := e.NewReg(mask)
	e.Move(own, k)
	in := e.inst(op, vec, []operand{r(old), m})
	in.mask, in.tied, in.early = own, true, true
	return e.Add(in).dst
}
