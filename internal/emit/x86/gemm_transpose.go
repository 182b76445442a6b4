package x86

import (
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/x86/asm"
)

// TransposeArgs is what the code of EmitTranspose gets in RDI. It turns Down times
// Count squares of n x n 32-bit elements, n lanes of a vector:
//
//	for each d < Down, square s < Count, i, j < n:
//		Dst[(s*n+j)*LDDst + 4*(d*n+i)] = Src[(d*n+i)*LDSrc + 4*(s*n+j)]
type TransposeArgs struct {
	Src, Dst     unsafe.Pointer
	LDSrc, LDDst uintptr // bytes from row to row
	Count, Down  uintptr // at least 1
}

// Offsets of TransposeArgs' fields; a test compares.
const (
	transposeSrc   = 0
	transposeDst   = 8
	transposeLDSrc = 16
	transposeLDDst = 24
	transposeCount = 32
	transposeDown  = 40
)

// EmitTranspose emits the code that TransposeArgs describes.
func EmitTranspose(isa asm.ISA) ([]byte, error) {
	a := asm.New(isa)
	const from, to, src, dst, ldSrc, ldDst, count, left, row = asm.R10, asm.R11, asm.RSI, asm.RDX, asm.R8, asm.R9, asm.RCX, asm.R12, asm.RAX
	for _, l := range []struct {
		reg asm.R
		at  int
	}{{from, transposeSrc}, {to, transposeDst}, {ldSrc, transposeLDSrc}, {ldDst, transposeLDDst}, {left, transposeDown}} {
		a.Op(asm.MOV, l.reg, asm.Ptr(gArgs, l.at))
	}
	n := GemmLanes(isa)
	down := a.Here()
	a.Op(asm.MOV, src, from)
	a.Op(asm.MOV, dst, to)
	a.Op(asm.MOV, count, asm.Ptr(gArgs, transposeCount))
	again := a.Here()
	a.Op(asm.MOV, row, src)
	for i := range n {
		a.Op(asm.VMOVUPS, asm.V(i), asm.Ptr(row, 0))
		a.Op(asm.ADD, row, ldSrc)
	}
	for _, v := range turnSquare(a, n) {
		a.Op(asm.VMOVUPS, asm.Ptr(dst, 0), v)
		a.Op(asm.ADD, dst, ldDst)
	}
	a.Op(asm.ADD, src, asm.Imm(4*n))
	a.Op(asm.SUB, count, asm.Imm(1))
	a.J(asm.NE, again)
	a.Op(asm.IMUL, row, ldSrc, asm.Imm(n))
	a.Op(asm.ADD, from, row)
	a.Op(asm.ADD, to, asm.Imm(4*n))
	a.Op(asm.SUB, left, asm.Imm(1))
	a.J(asm.NE, down)
	a.Op(asm.VZEROUPPER)
	a.Op(asm.RET)
	return a.Finish()
}

// turnSquare transposes the rows in registers 0 to n-1 with the next n as
// scratch; it returns where the columns are.
func turnSquare(a *asm.Asm, n int) []asm.V {
	t := func(i int) asm.V { return asm.V(n + i) }
	for i := 0; i < n; i += 2 { // pairs of rows
		a.Op(asm.VUNPCKLPS, t(i), asm.V(i), asm.V(i+1))
		a.Op(asm.VUNPCKHPS, t(i+1), asm.V(i), asm.V(i+1))
	}
	for i := 0; i < n; i += 4 { // fours: V(i+j) has column j of each group of 128 bits
		for h := range 2 {
			a.Op(asm.VUNPCKLPD, asm.V(i+2*h), t(i+h), t(i+2+h))
			a.Op(asm.VUNPCKHPD, asm.V(i+2*h+1), t(i+h), t(i+2+h))
		}
	}
	turned := make([]asm.V, n)
	if n == 8 {
		for j := range 4 {
			turned[j], turned[4+j] = t(j), t(4+j)
			a.Op(asm.VPERM2F128, t(j), asm.V(j), asm.V(4+j), asm.Imm(0x20))
			a.Op(asm.VPERM2F128, t(4+j), asm.V(j), asm.V(4+j), asm.Imm(0x31))
		}
		return turned
	}
	const even, odd = asm.Imm(0x88), asm.Imm(0xDD) // groups 0 and 2, or 1 and 3, of both operands
	for j := range 4 {
		for h := range 2 { // rows 0 to 7, rows 8 to 15
			a.Op(asm.VSHUFF32X4, t(4*h+j), asm.V(8*h+j), asm.V(8*h+4+j), even)
			a.Op(asm.VSHUFF32X4, t(8+4*h+j), asm.V(8*h+j), asm.V(8*h+4+j), odd)
		}
	}
	for j := range 4 {
		for g, half := range []asm.Imm{even, odd} {
			turned[8*g+j], turned[8*g+4+j] = asm.V(8*g+j), asm.V(8*g+4+j)
			a.Op(asm.VSHUFF32X4, turned[8*g+j], t(j), t(4+j), half)
			a.Op(asm.VSHUFF32X4, turned[8*g+4+j], t(8+j), t(12+j), half)
		}
	}
	return turned
}
