package x86

import "github.com/sinterml/sinter/internal/emit/x86/asm"

// This file is where tile kernels find their operands, and what they fetch meanwhile.

// Registers of a tile kernel.
const (
	gArgs      = asm.RDI
	gB         = asm.RDX
	gLDA       = asm.R8
	gLDB       = asm.R9
	gVectorB   = asm.RBX
	gVectorB3  = asm.RSI // three times gVectorB
	gRows      = asm.R9  // walks over the table of distances
	gAt        = asm.RDX // one of them
	gCount     = asm.RAX
	gRow       = asm.R15 // walks over C, Ahead and Beside
	gNextB     = asm.R15 // walks over the next panel of B while sums are made
	gPitch     = asm.RCX // from row to row of these
	gFetchStep = asm.RSI // of GemmFetching, whose tiles have no fourth vector
	gNextRows  = asm.RCX // from rows of A to those that are fetched meanwhile
)

// gPlaces are the addresses of vectors in a kernel by places.
var gPlaces = [...]asm.R{asm.RBX, asm.RSI, asm.R15, asm.RCX}

// A row's address is a base for each three rows plus 0, 1 or 2 times LDA,
// which an address can hold. By columns one base walks over k.
var gBases = [...]asm.R{asm.R10, asm.R11, asm.R12, asm.R13, asm.R14}

const rowsPerBase = 3

// operands points to the start of A and of this panel of B, and notes where
// the next one is. What was in registers before may be gone.
func (t *tileGen) operands() {
	for _, l := range []struct {
		reg asm.R
		at  int
	}{{gLDA, gemmLDA}, {gLDB, gemmLDB}, {gVectorB, gemmVectorB}} {
		t.Op(asm.MOV, l.reg, asm.Ptr(gArgs, l.at))
	}
	if t.form != GemmPlaces {
		t.Op(asm.LEA, gVectorB3, asm.Idx(gVectorB, gVectorB, 2, 0))
	}
	switch {
	case !t.tail:
	case t.ISA == asm.AVX512:
		t.Op(asm.KMOVW, asm.K(1), asm.Ptr(gArgs, gemmMask))
	case !t.lateMask():
		t.Op(asm.VMOVUPS, t.mask(), asm.Ptr(gArgs, gemmMask))
	}
	if t.format == GemmWide {
		t.Op(asm.VBROADCASTSS, t.upper(), t.U32(0xFFFF0000))
	}
	t.Op(asm.MOV, gB, asm.Ptr(gArgs, gemmNextB))
	t.Op(asm.MOV, gCount, asm.Ptr(gArgs, gemmPanelB))
	t.Op(asm.ADD, asm.Ptr(gArgs, gemmNextB), gCount)
	switch {
	case t.form == GemmFetching:
		t.Op(asm.MOV, gNextB, asm.Ptr(gArgs, gemmFetch))
		t.Op(asm.MOV, gFetchStep, asm.Ptr(gArgs, gemmFetches))
	case t.fetchB:
		t.Op(asm.MOV, gNextB, asm.Ptr(gArgs, gemmNextB))
	}
	if t.form == GemmPlaces {
		for v := range t.tile.Vectors {
			t.Op(asm.MOV, gPlaces[v], asm.Ptr(gB, 8*v))
		}
	}
	t.Op(asm.MOV, gBases[0], asm.Ptr(gArgs, gemmDownA))
	for g := 1; g < t.bases(); g++ {
		t.Op(asm.LEA, gBases[g], asm.Idx(gBases[g-1], gLDA, 2, 0))
		t.Op(asm.ADD, gBases[g], gLDA)
	}
	if t.fetchesRows() {
		t.nextPanelsRows()
	}
}

// fetchesRows tells whether the rows of A of the next row panel are fetched into the
// second cache, where they come from beyond it: by AVX2, whose tiles would wait for a
// twentieth of their time. By AVX-512 it costs more than it gains.
func (t *tileGen) fetchesRows() bool {
	taken := t.form == GemmPlaces && t.tile.Vectors == len(gPlaces) // gNextRows is an address of these
	return t.ISA == asm.AVX2 && t.format.Plain() && !t.form.Columns() && !taken
}

// nextPanelsRows sets gNextRows to what lies between this row panel's first row of each
// base and the row that this panel of B fetches: one of the row panel below, or where
// these are fetched already, or there is none, the row itself.
func (t *tileGen) nextPanelsRows() {
	none := t.NewLabel()
	t.Op(asm.XOR, gNextRows, gNextRows)
	t.Op(asm.MOV, gCount, asm.Ptr(gArgs, gemmDownLeft))
	t.Op(asm.ADD, gCount, asm.Ptr(gArgs, gemmFollow))
	t.Op(asm.CMP, gCount, asm.Imm(2))
	t.J(asm.LT, none)
	t.Op(asm.MOV, gCount, asm.Ptr(gArgs, gemmPanels))
	t.Op(asm.SUB, gCount, asm.Ptr(gArgs, gemmLeft))
	t.Op(asm.CMP, gCount, asm.Imm(rowsPerBase))
	t.J(asm.GE, none)
	t.Op(asm.LEA, gNextRows, asm.Ptr(gCount, t.tile.Rows))
	t.Op(asm.IMUL, gNextRows, gLDA)
	t.Bind(none)
}

// bases is the number of base registers for A.
func (t *tileGen) bases() int {
	if t.form.Columns() {
		return 1
	}
	return (t.tile.Rows + rowsPerBase - 1) / rowsPerBase
}

// element is the address of lane i of A[r] from the start of the round.
func (t *tileGen) element(r, i int) asm.M {
	word := t.format.Word()
	if t.form.Columns() { // the base is at k
		return asm.Ptr(gBases[0], word*r)
	}
	base := gBases[r/rowsPerBase]
	if n := r % rowsPerBase; n > 0 {
		return asm.Idx(base, gLDA, n, word*i)
	}
	return asm.Ptr(base, word*i)
}

// vectorB is the address of vector v of B.
func (t *tileGen) vectorB(v int) asm.M {
	if t.form == GemmPlaces {
		return asm.Idx(gPlaces[v], gAt, 1, 0)
	}
	return vectorAt(gB, v)
}

// vectorAt is the address of vector v of a panel.
func vectorAt(panel asm.R, v int) asm.M {
	switch v {
	case 0:
		return asm.Ptr(panel, 0)
	case 3:
		return asm.Idx(panel, gVectorB3, 1, 0)
	}
	return asm.Idx(panel, gVectorB, v, 0)
}

// fetchNext fetches this step's vectors of the next panel, which lies behind
// this one, into the second cache: into the first it would come too early.
func (t *tileGen) fetchNext() {
	if !t.fetchB {
		return
	}
	if t.form == GemmFetching {
		t.Op(asm.PREFETCHT1, asm.Ptr(gNextB, 0))
		t.Op(asm.ADD, gNextB, gFetchStep)
		return
	}
	const line = 64
	for v := 0; v < t.tile.Vectors; v += line / t.bytes { // by AVX2 two are a line
		t.Op(asm.PREFETCHT1, vectorAt(gNextB, v))
	}
	t.Op(asm.ADD, gNextB, gLDB)
}

// fetchColumns fetches the line behind this step's elements of A by columns into the second
// cache, as row panels to come take theirs from it: not all processors foresee lines that
// lie far apart.
func (t *tileGen) fetchColumns() {
	const line = 64
	if t.form == GemmFarColumns {
		t.Op(asm.PREFETCHT1, asm.Ptr(gBases[0], line))
	}
}
