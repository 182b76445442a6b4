package x86

import (
	"slices"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/x86/asm"
)

// TransposeArgs is what the code of EmitTranspose gets in RDI. It turns Down times
// Count squares of n x n elements of w bytes, n lanes of a vector:
//
//	for each d < Down, square s < Count, i, j < n:
//		Dst[(s*n+j)*LDDst + w*(d*n+i)] = Src[(d*n+i)*LDSrc + w*(s*n+j)]
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

// EmitTranspose emits the code that TransposeArgs describes, for elements of 4 or 8 bytes.
func EmitTranspose(isa asm.ISA, size int) ([]byte, error) {
	a, turn := asm.New(isa), turnSquare
	if size == 8 {
		turn = turnDoubles
	}
	const from, to, src, dst, ldSrc, ldDst, count, left, row = asm.R10, asm.R11, asm.RSI, asm.RDX, asm.R8, asm.R9, asm.RCX, asm.R12, asm.RAX
	for _, l := range []struct {
		reg asm.R
		at  int
	}{{from, transposeSrc}, {to, transposeDst}, {ldSrc, transposeLDSrc}, {ldDst, transposeLDDst}, {left, transposeDown}} {
		a.Op(asm.MOV, l.reg, asm.Ptr(gArgs, l.at))
	}
	n := 4 * GemmLanes(isa) / size
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
	for _, v := range turn(a, registers(0, n), asm.V(n)) {
		a.Op(asm.VMOVUPS, asm.Ptr(dst, 0), v)
		a.Op(asm.ADD, dst, ldDst)
	}
	a.Op(asm.ADD, src, asm.Imm(size*n))
	a.Op(asm.SUB, count, asm.Imm(1))
	a.J(asm.NE, again)
	a.Op(asm.IMUL, row, ldSrc, asm.Imm(n))
	a.Op(asm.ADD, from, row)
	a.Op(asm.ADD, to, asm.Imm(size*n))
	a.Op(asm.SUB, left, asm.Imm(1))
	a.J(asm.NE, down)
	a.Op(asm.VZEROUPPER)
	a.Op(asm.RET)
	return a.Finish()
}

// turner puts results into registers of which one is always spare.
type turner struct {
	*asm.Asm
	spare asm.V
}

// both has x and y be two operations' results of them.
func (t *turner) both(ops [2]asm.Op, x, y *asm.V, imm ...asm.Arg) {
	for i, to := range []asm.V{t.spare, *y} {
		args := []asm.Arg{to, *x, *y}
		if len(imm) > 0 {
			args = append(args, imm[i])
		}
		t.Op(ops[i], args...)
	}
	*x, t.spare = t.spare, *x
}

// halves has x and y be the lower and the upper 128 bits of both.
func (t *turner) halves(x, y *asm.V) {
	t.both([2]asm.Op{asm.VPERM2F128, asm.VPERM2F128}, x, y, asm.Imm(0x20), asm.Imm(0x31))
}

// groups has x and y be groups 0 and 2 of 128 bits of both, and groups 1 and 3.
func (t *turner) groups(x, y *asm.V) {
	t.both([2]asm.Op{asm.VSHUFF32X4, asm.VSHUFF32X4}, x, y, asm.Imm(0x88), asm.Imm(0xDD))
}

// turnSquare transposes the rows in so many registers as a vector has lanes; spare is
// one more. It returns where the columns are: all of these but one.
func turnSquare(a *asm.Asm, rows []asm.V, spare asm.V) []asm.V {
	v, n, t := slices.Clone(rows), len(rows), turner{a, spare}
	for i := 0; i < n; i += 2 { // pairs of rows
		t.both([2]asm.Op{asm.VUNPCKLPS, asm.VUNPCKHPS}, &v[i], &v[i+1])
	}
	for i := 0; i < n; i += 4 { // fours: v[i+j] has column j of each group of 128 bits
		for j := range 2 {
			t.both([2]asm.Op{asm.VUNPCKLPD, asm.VUNPCKHPD}, &v[i+j], &v[i+j+2])
		}
		v[i+1], v[i+2] = v[i+2], v[i+1]
	}
	if n == 8 {
		for j := range 4 {
			t.halves(&v[j], &v[4+j])
		}
		return v
	}
	for j := range 4 { // of rows 0 to 7 and of the others, then of both
		t.groups(&v[j], &v[4+j])
		t.groups(&v[8+j], &v[12+j])
	}
	for j := range 8 {
		t.groups(&v[j], &v[8+j])
	}
	return v
}

// turnDoubles is turnSquare for lanes of 64 bits.
func turnDoubles(a *asm.Asm, rows []asm.V, spare asm.V) []asm.V {
	v, n, t := slices.Clone(rows), len(rows), turner{a, spare}
	for i := 0; i < n; i += 2 { // v[i+j] has column j of each group of 128 bits, of two rows
		t.both([2]asm.Op{asm.VUNPCKLPD, asm.VUNPCKHPD}, &v[i], &v[i+1])
	}
	for j := range 2 {
		if n == 4 {
			t.halves(&v[j], &v[2+j])
			continue
		}
		t.groups(&v[j], &v[2+j])
		t.groups(&v[4+j], &v[6+j])
	}
	for j := range n / 2 {
		if n == 8 {
			t.groups(&v[j], &v[4+j])
		}
	}
	return v
}

// registers are n of them from the first on.
func registers(first asm.V, n int) []asm.V {
	all := make([]asm.V, n)
	for i := range all {
		all[i] = first + asm.V(i)
	}
	return all
}
