package x86

import (
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// A bool has a lane of 32 bits, or a bit. What works on lanes of 8 bytes wants two
// masks, of the lower half of the lanes and of the upper, and compares give such: they
// are kept in that form as well, so that a choice by a comparison needs neither to be
// joined nor split.

// maskHalves returns a bool as masks of the halves.
func (e *emitter) maskHalves(n *node, u int) val {
	switch n.Kind {
	case loop.KindLocal, loop.KindConst:
		return e.splitMask(e.MaskOf(n, u), e.Varies(n))
	}
	return e.Value(n, native.AsHalves, u, func() val { return e.makeHalves(n, u) })
}

func (e *emitter) makeHalves(n *node, u int) val {
	if !n.Wide || !e.Varies(n) && !n.ComparesDoubles() {
		return e.splitMask(e.MaskOf(n, u), e.Varies(n))
	}
	a := n.Operands
	switch n.Op {
	case ir.And, ir.Or, ir.Xor:
		x, y := e.maskHalves(a[0], u), e.maskHalves(a[1], u)
		if e.Stopped() {
			return val{}
		}
		return eachHalf(func(i int) reg { return e.combineMask(n.Op, x[i], y[i]) }, wideRegs(x), wideRegs(y))
	case ir.Cast:
		x := e.wideVec(a[0], u)
		if e.Stopped() {
			return val{}
		}
		if a[0].DType == ir.F64 {
			return eachHalf(func(i int) reg { return e.compare(asm.VCMPPD, asm.CmpNE, r(x[i]), r(e.zero())) }, wideRegs(x))
		}
		return eachHalf(func(i int) reg { return e.not(e.compareWide(ir.Equal, ir.I64, x[i], r(e.zero()))) }, wideRegs(x))
	}
	x, y := e.widePair(a[0], a[1], u)
	if e.Stopped() {
		return val{}
	}
	return eachHalf(func(i int) reg { return e.compareWide(n.Op, a[0].DType, x[i], y[i]) }, wideRegs(x), y)
}

// compareWide is Less or Equal of lanes of 8 bytes.
func (e *emitter) compareWide(op ir.Op, d ir.DType, x reg, y operand) reg {
	switch {
	case d == ir.F64 && op == ir.Less:
		return e.compare(asm.VCMPPD, asm.CmpLT, r(x), y)
	case d == ir.F64:
		return e.compare(asm.VCMPPD, asm.CmpEQ, r(x), y)
	case e.isa == AVX512 && op == ir.Less:
		return e.compare(asm.VPCMPQ, asm.IntLT, r(x), y)
	case e.isa == AVX512:
		return e.compare(asm.VPCMPQ, asm.IntEQ, r(x), y)
	case op == ir.Less:
		return e.v(asm.VPCMPGTQ, r(e.inRegister(y)), r(x))
	}
	return e.v(asm.VPCMPEQQ, r(x), y)
}

// splitMask is the masks of the halves; those of lanes that are all alike are too.
func (e *emitter) splitMask(k reg, varies bool) val {
	if e.isa == AVX2 && !varies {
		return val{k, k}
	}
	return val{e.maskHalf(k, 0), e.maskHalf(k, 1)}
}

// maskHalf is the mask of the low or high half of the lanes, which are of 8 bytes; 0 is
// all.
func (e *emitter) maskHalf(k reg, half int) reg {
	switch {
	case k == 0:
		return 0
	case e.isa == AVX2:
		return e.v(asm.VPMOVSXDQ, r(e.half(k, half)))
	case half == 0:
		return k
	}
	in := e.inst(asm.KSHIFTRW, mask, []operand{r(k)})
	in.imm, in.hasImm = 8, true
	return e.Add(in).dst
}

// joinMasks is one mask of those of the halves.
func (e *emitter) joinMasks(k val) reg {
	switch {
	case e.Stopped():
		return 0
	case e.isa == AVX512:
		return e.kmask(asm.KUNPCKBW, r(k[1]), r(k[0]))
	case k[0] == k[1]:
		return k[0]
	}
	return e.lowLanes(k)
}

// lowLanes is the lower 32 bits of lanes of 8 bytes, side by side.
func (e *emitter) lowLanes(v val) reg {
	if e.isa == AVX512 {
		return e.joinHalves(e.v(asm.VPMOVQD, r(v[0])), e.v(asm.VPMOVQD, r(v[1])))
	}
	const evens, inOrder = 0b10_00_10_00, 0b11_01_10_00
	return e.vImm(asm.VPERMQ, inOrder, r(e.vImm(asm.VSHUFPS, evens, r(v[0]), r(v[1]))))
}
