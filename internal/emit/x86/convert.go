package x86

import (
	"math"

	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// castGeneral converts a scalar to i64.
func (e *emitter) castGeneral(a *node) reg {
	switch a.DType {
	case ir.I64:
		return e.General(a)
	case ir.Bool:
		return e.Flag(a)
	}
	if a.Kind == loop.KindLoad && a.DType.IsInt() {
		return e.LoadGeneral(a)
	}
	switch a.DType.Compute() {
	case ir.I32:
		return e.g(asm.MOVSXD, r(e.g(asm.VMOVD, r(e.vec(a, 0)))))
	case ir.U32:
		return e.g(asm.VMOVD, r(e.vec(a, 0)))
	case ir.F32:
		return e.floatToGeneral(asm.VCVTTSS2SI, asm.VUCOMISS, e.vec(a, 0), e.constant(0x5F000000, 4))
	case ir.F64:
		return e.floatToGeneral(asm.VCVTTSD2SI, asm.VUCOMISD, e.wideVec(a, 0)[0], e.constant(two63, 8))
	}
	e.Unsupported("cast of %v to i64", a.DType)
	return 0
}

// widenedLoad loads an integer of any width, or a bool.
func (e *emitter) widenedLoad(d ir.DType, m operand) reg {
	switch d {
	case ir.I8:
		return e.g(asm.MOVSX8, m)
	case ir.U8, ir.Bool:
		return e.g(asm.MOVZX8, m)
	case ir.I16:
		return e.g(asm.MOVSX16, m)
	case ir.U16:
		return e.g(asm.MOVZX16, m)
	case ir.I32:
		return e.g(asm.MOVSXD, m)
	case ir.U32:
		in := e.inst(asm.MOV, gpr, []operand{m})
		in.narrow = true
		return e.Add(in).dst
	case ir.I64, ir.U64:
		return e.g(asm.MOV, m)
	}
	e.Unsupported("loads of %v", d)
	return 0
}

// floatToGeneral saturates from most on, 2^63 in x's type: the instruction gives the least
// number for all it cannot represent.
func (e *emitter) floatToGeneral(convert, compare asm.Op, x, most reg) reg {
	y := e.g(convert, r(x))
	e.do(compare, r(x), r(most))
	y = e.gTied(asm.CMOV(asm.UGE), r(y), r(e.gImm(asm.MOV, math.MaxInt64)))
	none := e.gImm(asm.MOV, 0)
	e.do(compare, r(x), r(x))
	return e.gTied(asm.CMOV(asm.PAR), r(y), r(none))
}
