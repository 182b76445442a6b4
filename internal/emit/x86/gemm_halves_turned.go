package x86

import "github.com/sinterml/sinter/internal/emit/x86/asm"

// TurnedScratch is the bytes that the kernel of SplitTurnedArgs needs: halves of a
// chunk of so many rows, and their scales.
const TurnedScratch = halves*64*GemmChunk + 2*64

// Where they are in Scratch, and registers beside those of other kernels.
const (
	turnedScale   = halves * 64 * GemmChunk
	turnedUnscale = turnedScale + 64

	hScratch = asm.R12
	hRow     = asm.R13 // walks over rows
)

// turned emits what splits rows of A that lie by columns, a square of as many rows as
// columns of a panel after the other. Numbers are split as they lie, two successive k
// to a lane as in panels, and turned in lanes: both halves of a chunk of a row take as
// many lanes as its numbers do.
func (g *halvesGen) turned() {
	g.wordOfLane = true
	g.begin(splitFoundB)
	g.constants()
	g.Op(asm.MOV, hScratch, asm.Ptr(gArgs, splitScratch))
	g.Op(asm.MOV, hPitch, asm.Ptr(gArgs, splitLDFrom))
	square := g.Here()
	g.Op(asm.KXORW, hFound, hFound, hFound)
	g.start()
	g.ofChunks(2, func(i int, from asm.M) { g.look(i, from) })
	g.looked()
	g.scales(func() {
		g.ofChunks(1, func(_ int, from asm.M) {
			g.Op(asm.VMOVUPS, asm.V(0), from)
			g.lookNonzero(asm.V(0))
		})
	})
	g.report(FoundOdd, hFound)
	g.Op(asm.VMOVUPS, asm.Ptr(hScratch, turnedScale), hScale)
	g.Op(asm.VMOVUPS, asm.Ptr(hScratch, turnedUnscale), hUnscale)
	g.toStart()
	g.Op(asm.MOV, hTo, hRowT)
	chunk := g.Here()
	g.splitPairs()
	for half := range halves {
		for i := range GemmChunk {
			g.Op(asm.VMOVUPS, asm.V(i), asm.Ptr(hScratch, 64*(half*GemmChunk+i)))
		}
		g.Op(asm.LEA, hRow, asm.Ptr(hTo, 64*half))
		for r, v := range turnSquare(g.Asm, GemmChunk) {
			if r > 0 {
				g.Op(asm.ADD, hRow, asm.Ptr(gArgs, splitLDTo))
			}
			g.Op(asm.VMOVUPS, asm.Ptr(hRow, 0), v)
		}
	}
	g.Op(asm.ADD, hTo, asm.Imm(64*halves))
	g.Op(asm.SUB, hLeft, asm.Imm(1))
	g.J(asm.NE, chunk)
	for r := range PackedCols { // hTo is behind the chunks
		g.Op(asm.MOV, hPair.R32(), asm.Ptr(hScratch, turnedUnscale+4*r))
		g.Op(asm.MOV, asm.Ptr(hTo, 0), hPair.R32())
		g.Op(asm.ADD, hTo, asm.Ptr(gArgs, splitLDTo))
	}
	g.Op(asm.IMUL, hPair, asm.Ptr(gArgs, splitLDTo), asm.Imm(PackedCols))
	g.Op(asm.ADD, hRowT, hPair)
	g.Op(asm.ADD, hRowF, asm.Imm(4*PackedCols))
	g.Op(asm.ADD, hWords, asm.Imm(4*PackedCols))
	g.constants() // turnSquare takes all registers
	g.Op(asm.SUB, hCount, asm.Imm(1))
	g.J(asm.NE, square)
}

// ofChunks calls f for the vectors of a square, for so many at once.
func (g *halvesGen) ofChunks(together int, f func(i int, from asm.M)) {
	g.toStart()
	g.Op(asm.IMUL, hLeft, hLeft, asm.Imm(SplitValues/together))
	again := g.Here()
	for i := range together {
		f(i, asm.Ptr(hFrom, 0))
		g.Op(asm.ADD, hFrom, hPitch)
	}
	g.Op(asm.SUB, hLeft, asm.Imm(1))
	g.J(asm.NE, again)
}

// splitPairs splits the vectors of a chunk and goes to the next: its halves come to
// Scratch.
func (g *halvesGen) splitPairs() {
	const x, first, second = asm.V(0), asm.V(2), asm.V(4)
	g.Op(asm.VMOVUPS, hScale, asm.Ptr(hScratch, turnedScale))
	g.Op(asm.VBROADCASTSS, hSplit, g.F32(1<<halvesShift))
	g.Op(asm.VMOVUPS, hPairs, g.Vec(pairsOfWords()))
	g.Op(asm.MOV, hRow, hScratch)
	g.Op(asm.MOV, hPair, asm.Imm(GemmChunk))
	pair := g.Here()
	for k := range asm.V(2) {
		g.Op(asm.VMULPS, x+k, hScale, asm.Ptr(hFrom, 0))
		g.Op(asm.ADD, hFrom, hPitch)
		g.halve(x+k, first+k, second+k)
	}
	g.storePairs(first, second, hRow)
	g.Op(asm.ADD, hRow, asm.Imm(64))
	g.Op(asm.SUB, hPair, asm.Imm(1))
	g.J(asm.NE, pair)
}

// storePairs stores the first halves of two successive k, two to a lane, and a tile
// behind them the second ones.
func (g *halvesGen) storePairs(first, second asm.V, to asm.R) {
	for n, half := range []asm.V{first, second} {
		g.Op(asm.VINSERTI64X4, half, half, half+1, asm.Imm(1))
		g.Op(asm.VPERMW, half, hPairs, half)
		g.Op(asm.VMOVUPS, asm.Ptr(to, n*64*GemmChunk), half)
	}
}
