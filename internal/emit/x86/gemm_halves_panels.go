package x86

import (
	"encoding/binary"

	"github.com/sinterml/sinter/internal/emit/x86/asm"
)

// This file has what splits panels of B, see gemm_halves_turned.go for Scratch.

// Registers beside those of other kernels.
const (
	hFetch   = asm.R14 // walks over the panel that follows
	hBack    = asm.R15 // to its next chunk, where columns are far apart; else
	hAhead   = asm.R15 // walks over rows of PanelsAhead panels, or is 0
	hColumns = asm.K(6)
)

// panels: of a chunk the tile of first halves, two successive k to a lane, then that
// of second ones; behind all chunks what to multiply the sums of each column by.
func (g *halvesGen) panels(byColumns bool) {
	g.begin(splitFoundB)
	g.constants()
	g.Op(asm.VMOVUPS, hPairs, g.Vec(pairsOfWords()))
	g.Op(asm.MOV, hScratch, asm.Ptr(gArgs, splitIn))
	g.Op(asm.MOV, hPitch, asm.Ptr(gArgs, splitPitch))
	if byColumns {
		g.Op(asm.IMUL, hBack, hPitch, asm.Imm(-PackedCols))
		g.Op(asm.ADD, hBack, asm.Imm(4*SplitValues))
	} else {
		g.Op(asm.MOV, hAhead, asm.Ptr(gArgs, splitAhead))
	}
	g.each(func() {
		last := g.NewLabel()
		g.Op(asm.KXNORW, hColumns, hColumns, hColumns)
		g.Op(asm.CMP, hCount, asm.Imm(1))
		g.J(asm.NE, last)
		g.Op(asm.KMOVW, hColumns, asm.Ptr(gArgs, splitLast))
		g.Bind(last)
		g.start()
		g.Op(asm.MOV, hInto, hScratch)
		g.Op(asm.MOV, hPair, asm.Ptr(gArgs, splitValues))
		if byColumns {
			g.Op(asm.SHR, hPair, asm.Imm(4)) // squares
			g.turnIn(false)
		} else {
			g.copyIn()
		}
		g.fillUp()
		g.looked()
		g.scales(g.nonzeroOfPanel, asm.Mask(hColumns))
		g.startFetch()
		g.splitPanel(byColumns)
		g.Op(asm.VMOVUPS, asm.Ptr(hTo, 0), hUnscale)
	})
}

// copyIn brings hPair vectors to hInto and looks at them.
func (g *halvesGen) copyIn() {
	for _, n := range []int{looks, 1} {
		behind, again := g.NewLabel(), g.NewLabel()
		g.Bind(again)
		g.Op(asm.CMP, hPair, asm.Imm(n))
		g.J(asm.ULT, behind)
		for i := range n {
			x := asm.V(i)
			g.Op(asm.VMOVUPS, x, asm.Ptr(hFrom, 0), asm.MaskZ(hColumns))
			g.Op(asm.ADD, hFrom, hPitch)
			g.look(i, x)
			g.Op(asm.VMOVUPS, asm.Ptr(hInto, 4*PackedCols*i), x)
		}
		g.Op(asm.ADD, hInto, asm.Imm(4*PackedCols*n))
		g.Op(asm.SUB, hPair, asm.Imm(n))
		g.Jmp(again)
		g.Bind(behind)
	}
}

// fillUp clears the rest of the last chunk, and goes back to the start of Scratch.
func (g *halvesGen) fillUp() {
	done := g.NewLabel()
	g.Op(asm.IMUL, hPair, hLeft, asm.Imm(4*PackedCols*SplitValues))
	g.Op(asm.ADD, hPair, hScratch)
	g.Op(asm.VPXOR, asm.V(0), asm.V(0), asm.V(0), asm.L128)
	again := g.Here()
	g.Op(asm.CMP, hInto, hPair)
	g.J(asm.EQ, done)
	g.Op(asm.VMOVUPS, asm.Ptr(hInto, 0), asm.V(0))
	g.Op(asm.ADD, hInto, asm.Imm(4*PackedCols))
	g.Jmp(again)
	g.Bind(done)
	g.Op(asm.MOV, hFrom, hScratch)
}

// nonzeroOfPanel looks for small numbers in Scratch.
func (g *halvesGen) nonzeroOfPanel() {
	g.Op(asm.MOV, hInto, hScratch)
	g.Op(asm.MOV, hPair, asm.Ptr(gArgs, splitValues))
	again := g.Here()
	g.Op(asm.VMOVUPS, asm.V(0), asm.Ptr(hInto, 0))
	g.lookNonzero(asm.V(0))
	g.Op(asm.ADD, hInto, asm.Imm(4*PackedCols))
	g.Op(asm.SUB, hPair, asm.Imm(1))
	g.J(asm.NE, again)
}

// startFetch points to the panel that follows, or to this one if it is the last.
func (g *halvesGen) startFetch() {
	last := g.NewLabel()
	g.Op(asm.MOV, hFetch, hRowF)
	g.Op(asm.CMP, hCount, asm.Imm(1))
	g.J(asm.EQ, last)
	g.Op(asm.ADD, hFetch, asm.Ptr(gArgs, splitLDFrom))
	g.Bind(last)
}

// splitPanel splits what is in Scratch; meanwhile the panel that follows is fetched.
func (g *halvesGen) splitPanel(byColumns bool) {
	const x, first, second = asm.V(0), asm.V(2), asm.V(4)
	chunk := g.Here()
	if !byColumns {
		g.fetchAhead()
	}
	g.Op(asm.MOV, hPair, asm.Imm(GemmChunk))
	pair := g.Here()
	if byColumns { // two lines of a column
		g.Op(asm.PREFETCHT0, asm.Ptr(hFetch, 0))
		g.Op(asm.PREFETCHT0, asm.Ptr(hFetch, 64))
		g.Op(asm.ADD, hFetch, hPitch)
	} else {
		g.Op(asm.PREFETCHT0, asm.Ptr(hFetch, 0))
		g.Op(asm.PREFETCHT0, asm.Idx(hFetch, hPitch, 1, 0))
		g.Op(asm.LEA, hFetch, asm.Idx(hFetch, hPitch, 2, 0))
	}
	for k := range asm.V(2) {
		g.Op(asm.VMULPS, x+k, hScale, asm.Ptr(hFrom, 4*PackedCols*int(k)))
		g.halve(x+k, first+k, second+k)
	}
	for n, half := range []asm.V{first, second} {
		g.Op(asm.VINSERTI64X4, half, half, half+1, asm.Imm(1))
		g.Op(asm.VPERMW, half, hPairs, half)
		g.Op(asm.VMOVUPS, asm.Ptr(hTo, n*64*GemmChunk), half)
	}
	g.Op(asm.ADD, hTo, asm.Imm(64))
	g.Op(asm.ADD, hFrom, asm.Imm(2*4*PackedCols))
	g.Op(asm.SUB, hPair, asm.Imm(1))
	g.J(asm.NE, pair)
	if byColumns {
		g.Op(asm.ADD, hFetch, hBack)
	}
	g.Op(asm.ADD, hTo, asm.Imm((halves-1)*64*GemmChunk))
	g.Op(asm.SUB, hLeft, asm.Imm(1))
	g.J(asm.NE, chunk)
}

// fetchAhead fetches what a chunk of one of PanelsAhead panels has of all of them: some
// rows of each.
func (g *halvesGen) fetchAhead() {
	none := g.NewLabel()
	g.Op(asm.TEST, hAhead, hAhead)
	g.J(asm.EQ, none)
	for range SplitValues / PanelsAhead {
		for p := range PanelsAhead {
			g.Op(asm.PREFETCHT1, asm.Ptr(hAhead, 4*PackedCols*p))
		}
		g.Op(asm.ADD, hAhead, hPitch)
	}
	g.Bind(none)
}

// pairsOfWords are indices that bring words of the lower half and of the upper half of
// a vector side by side.
func pairsOfWords() []byte {
	const words = 32
	order := make([]byte, 0, 2*words)
	for i := range words {
		order = binary.LittleEndian.AppendUint16(order, uint16(i/2+i%2*words/2))
	}
	return order
}
