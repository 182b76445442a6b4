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
		return e.floatToGeneral(e.vec(a, 0))
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

// floatToGeneral saturates: the instruction gives the least number for all it
// cannot represent.
func (e *emitter) floatToGeneral(x reg) reg {
	const two63 = 0x5F000000
	y := e.g(asm.VCVTTSS2SI, r(x))
	e.do(asm.VUCOMISS, r(x), r(e.constant(two63, 4)))
	most := e.gImm(asm.MOV, math.MaxInt64)
	y = e.gTied(asm.CMOV(asm.UGE), r(y), r(most))
	none := e.gImm(asm.MOV, 0)
	e.do(asm.VUCOMISS, r(x), r(x))
	return e.gTied(asm.CMOV(asm.PAR), r(y), r(none))
}
