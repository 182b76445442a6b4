package arm64

import (
	"github.com/sinterml/sinter/internal/emit/arm64/asm"
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// A bool has a lane of 32 bits. What works on lanes of 8 bytes wants two masks, of the
// lower half of the lanes and of the upper, and compares give such: they are kept in that
// form as well, so that a choice by a comparison needs neither to be joined nor split.

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
		return eachHalf(func(i int) reg { return e.combineMask(n.Op, x[i], y[i]) }, x, y)
	case ir.Cast:
		x := e.wideVec(a[0], u)
		op := asm.CMEQ2D
		if a[0].DType == ir.F64 { // a NaN is not zero
			op = asm.FCMEQ2D
		}
		return eachHalf(func(i int) reg { return e.v(asm.NOT16B, e.v(op, x[i], e.zero())) }, x)
	}
	x, y := e.widePair(a[0], a[1], u)
	return eachHalf(func(i int) reg { return e.compareWide(n.Op, a[0].DType, x[i], y[i]) }, x, y)
}

// compareWide is Less or Equal of lanes of 8 bytes.
func (e *emitter) compareWide(op ir.Op, d ir.DType, x, y reg) reg {
	switch {
	case op == ir.Equal && d == ir.F64:
		return e.v(asm.FCMEQ2D, x, y)
	case op == ir.Equal:
		return e.v(asm.CMEQ2D, x, y)
	case d == ir.F64:
		return e.v(asm.FCMGT2D, y, x)
	}
	return e.v(asm.CMGT2D, y, x)
}

// splitMask is the masks of the halves; those of lanes that are all alike are too.
func (e *emitter) splitMask(k reg, varies bool) val {
	if !varies {
		return val{k, k}
	}
	return val{e.vImm(asm.SXTL2D, 0, k), e.vImm(asm.SXTL2D2, 0, k)}
}

// joinMasks is one mask of those of the halves.
func (e *emitter) joinMasks(k val) reg {
	if k[0] == k[1] {
		return k[0]
	}
	return e.lowLanes(k)
}

// lowLanes is the lower 32 bits of lanes of 8 bytes, side by side.
func (e *emitter) lowLanes(v val) reg { return e.v(asm.UZP14S, v[0], v[1]) }
