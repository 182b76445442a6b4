package x86

import (
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/x86/asm"
)

// WidenArgs is what the code of EmitWiden gets in RDI. It makes steps of A for GemmWords
// of Blocks times WidenBlock bytes of each row:
//
//	for each r < Rows, step k: two lanes of two words each
//		To[r*LDTo + 8*k + 0, 2] = From[r*LDFrom + 4*k + 0], ...[4*k + 2]
//		To[r*LDTo + 8*k + 4, 6] = From[r*LDFrom + 4*k + 1], ...[4*k + 3]
type WidenArgs struct {
	From, To     unsafe.Pointer
	LDFrom, LDTo uintptr // bytes from row to row
	Rows, Blocks uintptr // at least 1
}

// WidenBlock is the bytes that a vector of AVX2 holds.
const WidenBlock = 32

// Offsets of WidenArgs' fields; a test compares.
const (
	widenFrom   = 0
	widenTo     = 8
	widenLDFrom = 16
	widenLDTo   = 24
	widenRows   = 32
	widenBlocks = 40
)

// EmitWiden emits the code that WidenArgs describes, for AVX2 and whatever has it.
func EmitWiden() ([]byte, error) {
	a := asm.New(asm.AVX2)
	const from, to, src, dst, rows, count = asm.R10, asm.R11, asm.RSI, asm.RDX, asm.RAX, asm.RCX
	const even, odd, spare, low = asm.V(0), asm.V(1), asm.V(2), asm.V(3)
	a.Op(asm.VPCMPEQD, low, low, low)
	a.Op(asm.VPSRLW, low, low, asm.Imm(8)) // the lower byte of each word
	a.Op(asm.MOV, from, asm.Ptr(gArgs, widenFrom))
	a.Op(asm.MOV, to, asm.Ptr(gArgs, widenTo))
	a.Op(asm.MOV, rows, asm.Ptr(gArgs, widenRows))
	row := a.Here()
	a.Op(asm.MOV, src, from)
	a.Op(asm.MOV, dst, to)
	a.Op(asm.MOV, count, asm.Ptr(gArgs, widenBlocks))
	again := a.Here()
	a.Op(asm.VMOVUPS, odd, asm.Ptr(src, 0))
	a.Op(asm.VPAND, even, odd, low)
	a.Op(asm.VPSRLW, odd, odd, asm.Imm(8))
	x, y, t := even, odd, turner{a, spare}
	t.both([2]asm.Op{asm.VUNPCKLPS, asm.VUNPCKHPS}, &x, &y)
	t.halves(&x, &y)
	a.Op(asm.VMOVUPS, asm.Ptr(dst, 0), x)
	a.Op(asm.VMOVUPS, asm.Ptr(dst, WidenBlock), y)
	a.Op(asm.ADD, src, asm.Imm(WidenBlock))
	a.Op(asm.ADD, dst, asm.Imm(2*WidenBlock))
	a.Op(asm.SUB, count, asm.Imm(1))
	a.J(asm.NE, again)
	a.Op(asm.ADD, from, asm.Ptr(gArgs, widenLDFrom))
	a.Op(asm.ADD, to, asm.Ptr(gArgs, widenLDTo))
	a.Op(asm.SUB, rows, asm.Imm(1))
	a.J(asm.NE, row)
	a.Op(asm.VZEROUPPER)
	a.Op(asm.RET)
	return a.Finish()
}
