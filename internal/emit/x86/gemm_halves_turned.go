package x86

import "github.com/sinterml/sinter/internal/emit/x86/asm"

// This file has what splits rows of A that lie by columns, and what turns numbers for
// that and for columns of B that lie so. They are brought to Scratch first, in the order
// in which they are split, and looked at on the way: where they lie they are read once,
// as those of one row or column of a matrix may push each other out of the first cache.

// SplitScratch is the bytes of Scratch that a block of so many values, whole chunks, needs:
// PackedCols rows or columns, and their scales.
func SplitScratch(values int) int { return 64*values + 2*64 }

// Registers beside those of other kernels.
const (
	hPitch   = asm.RBX // from k to k, or from column to column
	hScratch = asm.R12
	hInto    = asm.R13 // walks over Scratch
	hWalk    = asm.R14
)

// squareBytes is what a square of PackedCols rows of as many numbers takes.
const squareBytes = 4 * PackedCols * PackedCols

// turnIn brings hPair squares from hFrom to hInto, turned: vectors that are hPitch apart
// become lanes. They are looked at before, so that lanes of what is found are those of
// memory, and the next square is below; or behind, and the next one is beside.
func (g *halvesGen) turnIn(before bool) {
	rows := append(registers(0, 8), registers(16, 8)...)
	const spare = hUnscale
	again := g.Here()
	from := hWalk
	if before {
		from = hFrom
	} else {
		g.Op(asm.MOV, hWalk, hFrom)
	}
	for i, v := range rows {
		g.Op(asm.VMOVUPS, v, asm.Ptr(from, 0))
		g.Op(asm.ADD, from, hPitch)
		if before {
			g.look(i%looks, v)
		}
	}
	for i, v := range turnSquare(g.Asm, rows, spare) {
		if !before {
			g.look(i%looks, v)
		}
		g.Op(asm.VMOVUPS, asm.Ptr(hInto, 64*i), v)
	}
	if !before {
		g.Op(asm.ADD, hFrom, asm.Imm(4*PackedCols))
	}
	g.Op(asm.ADD, hInto, asm.Imm(squareBytes))
	g.Op(asm.SUB, hPair, asm.Imm(1))
	g.J(asm.NE, again)
}

// turned emits what splits rows of A that lie by columns, as many as a panel has columns
// after the other.
func (g *halvesGen) turned() {
	g.wordOfLane = true
	g.begin(splitFoundB)
	g.constants()
	g.Op(asm.MOV, hScratch, asm.Ptr(gArgs, splitScratch))
	g.Op(asm.MOV, hPitch, asm.Ptr(gArgs, splitLDFrom))
	rows := g.Here()
	g.Op(asm.KXORW, hFound, hFound, hFound)
	g.start()
	g.squaresOfChunks()
	g.turnIn(true)
	g.looked()
	g.scales(func() { // of what is found, lanes are rows
		g.squaresOfChunks()
		square := g.Here()
		for range PackedCols {
			g.Op(asm.VMOVUPS, asm.V(0), asm.Ptr(hFrom, 0))
			g.Op(asm.ADD, hFrom, hPitch)
			g.lookNonzero(asm.V(0))
		}
		g.Op(asm.ADD, hInto, asm.Imm(squareBytes))
		g.Op(asm.SUB, hPair, asm.Imm(1))
		g.J(asm.NE, square)
	})
	g.report(FoundOdd, hFound)
	g.Op(asm.VMOVUPS, asm.Ptr(hInto, 0), hScale)
	g.Op(asm.VMOVUPS, asm.Ptr(hInto, 64), hUnscale)
	g.splitTurned()
	g.Op(asm.ADD, hRowF, asm.Imm(4*PackedCols))
	g.Op(asm.ADD, hWords, asm.Imm(4*PackedCols))
	g.Op(asm.SUB, hCount, asm.Imm(1))
	g.J(asm.NE, rows)
}

// squaresOfChunks begins with all squares of some rows, and with Scratch.
func (g *halvesGen) squaresOfChunks() {
	g.Op(asm.MOV, hFrom, hRowF)
	g.Op(asm.MOV, hInto, hScratch)
	g.Op(asm.IMUL, hPair, asm.Ptr(gArgs, splitChunks), asm.Imm(SplitValues/PackedCols))
}

// splitTurned splits the rows in Scratch, behind which hInto points to their scales, and
// goes to those that follow in A.
func (g *halvesGen) splitTurned() {
	const x, first, second = asm.V(0), asm.V(2), asm.V(4)
	g.Op(asm.MOV, hWalk, hScratch)
	g.Op(asm.MOV, hPair, asm.Imm(PackedCols))
	row := g.Here()
	g.Op(asm.MOV, hFrom, hWalk)
	g.Op(asm.MOV, hTo, hRowT)
	g.Op(asm.MOV, hLeft, asm.Ptr(gArgs, splitChunks))
	g.Op(asm.VBROADCASTSS, hScale, asm.Ptr(hInto, 0))
	chunk := g.Here()
	for half := range 2 {
		i := asm.V(half)
		g.Op(asm.VMULPS, x+i, hScale, asm.Ptr(hFrom, half*squareBytes))
		g.halve(x+i, first+i, second+i)
		g.storeHalves(half, first+i, second+i)
	}
	g.Op(asm.ADD, hFrom, asm.Imm(2*squareBytes))
	g.Op(asm.ADD, hTo, asm.Imm(64*halves))
	g.Op(asm.SUB, hLeft, asm.Imm(1))
	g.J(asm.NE, chunk)
	g.Op(asm.MOV, hLeft.R32(), asm.Ptr(hInto, 64))
	g.Op(asm.MOV, asm.Ptr(hTo, 0), hLeft.R32())
	g.Op(asm.ADD, hInto, asm.Imm(4))
	g.Op(asm.ADD, hWalk, asm.Imm(4*PackedCols))
	g.Op(asm.ADD, hRowT, asm.Ptr(gArgs, splitLDTo))
	g.Op(asm.SUB, hPair, asm.Imm(1))
	g.J(asm.NE, row)
}
