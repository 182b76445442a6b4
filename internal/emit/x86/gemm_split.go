package x86

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/x86/asm"
)

// This file has what the formats have in common whose operands are split: an f32 is
// the sum of some shorter numbers, its parts, and AMX multiplies those. gemm_thirds.go
// and gemm_halves.go say into which.

// SplitValues is the values of k in a chunk of operands that are split.
const SplitValues = 2 * GemmChunk

// Parts is the parts of an f32, each a plane of operands: 1 where none is split.
func (f GemmFormat) Parts() int {
	switch f {
	case GemmAMXThirds:
		return thirds
	case GemmAMXHalves:
		return halves
	}
	return 1
}

// Splits tells whether operands are split.
func (f GemmFormat) Splits() bool { return f.Parts() > 1 }

// SplitSteps is the steps that so many values of k take once they are split.
func (f GemmFormat) SplitSteps(values int) int { return values / 2 * f.Parts() }

// RowBytes is the bytes of a row of A of so many values, whole chunks, once it is
// split; PanelBytes is those of a panel of B of PackedCols columns.
func (f GemmFormat) RowBytes(values int) int { return 4*f.SplitSteps(values) + f.scaleBytes() }

func (f GemmFormat) PanelBytes(values int) int {
	return 4*PackedCols*f.SplitSteps(values) + f.scaleBytes()
}

// order is the pairs of parts, of A and of B, in the order in which their products
// are added.
func (f GemmFormat) order() [][2]int {
	switch f {
	case GemmAMXThirds:
		return thirdsOrder
	case GemmAMXHalves:
		return halvesOrder
	}
	return [][2]int{{0, 0}}
}

// SplitRowsArgs is what the kernel that splits rows of A gets in RDI: Rows rows of
// Chunks whole chunks each, at least 1 row, and if Rest is not 0 one more of which
// the first numbers, whose bits it has, are there, and the others are 0. Found has a
// word for each row, which takes in what its numbers are.
type SplitRowsArgs struct {
	From, To     unsafe.Pointer
	LDFrom, LDTo uintptr // bytes from row to row
	Rows         uintptr
	Chunks       uintptr
	Rest         [2]uint32 // of the first 16 numbers, of the others
	Found        *Found
}

// SetWidth sets the numbers of a row.
func (a *SplitRowsArgs) SetWidth(n int) {
	const half = SplitValues / 2
	rest := n % SplitValues
	a.Chunks = uintptr(n / SplitValues)
	a.Rest = [2]uint32{1<<min(rest, half) - 1, 1<<max(rest-half, 0) - 1}
}

// SplitTurnedArgs is what the kernel that splits rows of A which lie by columns gets in
// RDI: Squares times PackedCols rows of Chunks whole chunks, at least 1 each. LDFrom is
// from one value of k to the next. Found has a word for each row.
type SplitTurnedArgs struct {
	From, To        unsafe.Pointer
	LDFrom, LDTo    uintptr // bytes
	Squares, Chunks uintptr
	Found           *Found
	Scratch         unsafe.Pointer // see SplitScratch, at a multiple of 64
}

// SplitPanelsArgs is what a kernel that splits panels of B, of PackedCols columns, gets
// in RDI: Panels panels of Chunks chunks, at least 1 each. Values of the steps are there,
// at least 1, and columns of the last panel; what fills them up does not count.
//
// Those of halves read columns where they lie: Panels has Pitch from one value of k to
// the next, as 4*PackedCols in packed panels, Columns has it from column to column, takes
// whole panels, and Values that are a multiple of 16. They need Scratch. Those of thirds
// know packed panels alone, which are filled up with zeros.
type SplitPanelsArgs struct {
	From, To       unsafe.Pointer
	LDFrom, LDTo   uintptr // bytes from panel to panel
	Panels, Chunks uintptr
	Found          *Found // of each panel, as of rows
	Values         uintptr
	LastColumns    uintptr        // bits
	Pitch          uintptr        // bytes
	Scratch        unsafe.Pointer // see SplitScratch, at a multiple of 64
	Ahead          uintptr        // of the PanelsAhead panels that Panels fetches while it splits as many, or 0
}

// PanelsAhead is how many panels are fetched at once: of each row so much, side by side,
// that the processor's own prefetching goes on from there.
const PanelsAhead = 8

// Found is what the numbers of a row, or of a panel's columns, are.
type Found uint32

const (
	FoundOdd   Found = 1 << iota // some do not fit the format
	FoundTiny                    // halves: some, not 0, are so small beside the greatest that they lose digits
	FoundSmall                   // halves: some are small, or 0
)

// Apart tells whether a row and a column are not to be multiplied by parts. What tiny
// numbers lose counts where the great ones beside them meet small numbers.
func (f Found) Apart(column Found) bool {
	return (f|column)&FoundOdd != 0 || f&FoundTiny != 0 && column&FoundSmall != 0 || f&FoundSmall != 0 && column&FoundTiny != 0
}

// Offsets of all; a test compares.
const (
	splitFrom   = 0
	splitTo     = 8
	splitLDFrom = 16
	splitLDTo   = 24
	splitCount  = 32 // rows, panels
	splitChunks = 40
	splitRest   = 48
	splitFoundA = 56
	splitFoundB = 48
	splitValues = 56
	splitLast   = 64

	splitPitch = 72
	splitIn    = 80
	splitAhead = 88

	splitScratch = 56
)

// SplitKernels are the offsets of the kernels in Code: of rows of A and of panels of B,
// and of halves alone of both where they lie by columns.
type SplitKernels struct {
	Code            []byte
	Rows, Panels    int
	Turned, Columns int
}

// EmitSplit emits those of a format that splits.
func EmitSplit(format GemmFormat) (*SplitKernels, error) {
	k := &SplitKernels{}
	type part struct {
		at   *int
		emit func(*splitGen)
	}
	parts := []part{
		{&k.Rows, func(g *splitGen) { (&thirdsGen{g}).rows() }},
		{&k.Panels, func(g *splitGen) { (&thirdsGen{g}).panels() }},
	}
	if format == GemmAMXHalves {
		parts = []part{
			{&k.Rows, func(g *splitGen) { (&halvesGen{g}).rows() }},
			{&k.Panels, func(g *splitGen) { (&halvesGen{g}).panels(false) }},
			{&k.Turned, func(g *splitGen) { (&halvesGen{g}).turned() }},
			{&k.Columns, func(g *splitGen) { (&halvesGen{g}).panels(true) }},
		}
	}
	for _, part := range parts {
		g := &splitGen{Asm: asm.New(asm.AVX512)}
		part.emit(g)
		g.Op(asm.VZEROUPPER)
		g.Op(asm.RET)
		code, err := g.Finish()
		if err != nil {
			return nil, fmt.Errorf("split %v: %w", format, err)
		}
		for len(k.Code)%64 != 0 {
			k.Code = append(k.Code, 0xCC) // int3
		}
		*part.at = len(k.Code)
		k.Code = append(k.Code, code...)
	}
	return k, nil
}

// Registers of all.
const (
	hFrom  = asm.RSI
	hTo    = asm.RDX
	hLeft  = asm.RCX // chunks
	hCount = asm.R8
	hWords = asm.R9
	hRowF  = asm.R10
	hRowT  = asm.R11
	hPair  = asm.RAX

	hMagnitude = asm.V(31)
	hLeast     = asm.V(30)
	hRange     = asm.V(29)
	hSplit     = asm.V(28)
	hScale     = asm.V(27)
)

// hFound is the lanes of odd numbers so far.
var hFound = asm.K(3)

// splitGen is what both formats' kernels have in common.
type splitGen struct {
	*asm.Asm
	wordOfLane bool // what is found is told of each lane
}

// limits loads what check compares with.
func (g *splitGen) limits(least, most float32) {
	for _, c := range []struct {
		to   asm.V
		bits uint32
	}{{hMagnitude, 1<<31 - 1}, {hLeast, math.Float32bits(least)}, {hRange, math.Float32bits(most) - math.Float32bits(least)}} {
		g.Op(asm.VBROADCASTSS, c.to, g.U32(c.bits))
	}
}

// check notes which lanes of x are odd: beyond the limits and not 0. t is changed.
func (g *splitGen) check(x, t asm.V) {
	g.Op(asm.VPANDD, t, x, hMagnitude)
	g.Op(asm.VPTESTMD, asm.K(1), t, t)
	g.Op(asm.VPSUBD, t, t, hLeast)
	g.Op(asm.VPCMPUD, asm.K(2), t, hRange, asm.IntGT, asm.Mask(1))
	g.Op(asm.KORW, hFound, hFound, asm.K(2))
}

// report adds to the word at hWords what was found in any lane, or to the words that
// begin there what was found in each.
func (g *splitGen) report(what Found, lanes asm.K) {
	none := g.NewLabel()
	g.Op(asm.KORTESTW, lanes, lanes)
	g.J(asm.EQ, none)
	if g.wordOfLane {
		const t, words = asm.V(0), asm.V(2)
		g.Op(asm.VBROADCASTSS, t, g.U32(uint32(what)))
		g.Op(asm.VMOVUPS, words, asm.Ptr(hWords, 0))
		g.Op(asm.VPORD, words, words, t, asm.Mask(lanes))
		g.Op(asm.VMOVUPS, asm.Ptr(hWords, 0), words)
	} else {
		g.Op(asm.MOV, hPair.R32(), asm.Imm(int(what)))
		g.Op(asm.OR, asm.Ptr(hWords, 0), hPair.R32())
	}
	g.Bind(none)
}

// begin loads the arguments that both have.
func (g *splitGen) begin(found int) {
	for _, l := range []struct {
		reg asm.R
		at  int
	}{{hRowF, splitFrom}, {hRowT, splitTo}, {hCount, splitCount}, {hWords, found}} {
		g.Op(asm.MOV, l.reg, asm.Ptr(gArgs, l.at))
	}
}

// beginRows is begin for rows.
func (g *splitGen) beginRows() {
	g.begin(splitFoundA)
	g.Op(asm.KMOVW, asm.K(4), asm.Ptr(gArgs, splitRest))
	g.Op(asm.KMOVW, asm.K(5), asm.Ptr(gArgs, splitRest+4))
}

// each loops over rows or panels.
func (g *splitGen) each(body func()) {
	again := g.Here()
	g.Op(asm.MOV, hTo, hRowT)
	g.toStart()
	g.Op(asm.KXORW, hFound, hFound, hFound)
	body()
	g.report(FoundOdd, hFound)
	g.Op(asm.ADD, hWords, asm.Imm(4))
	g.Op(asm.ADD, hRowF, asm.Ptr(gArgs, splitLDFrom))
	g.Op(asm.ADD, hRowT, asm.Ptr(gArgs, splitLDTo))
	g.Op(asm.SUB, hCount, asm.Imm(1))
	g.J(asm.NE, again)
}

// toStart goes to the first chunk of a row or panel.
func (g *splitGen) toStart() {
	g.Op(asm.MOV, hFrom, hRowF)
	g.Op(asm.MOV, hLeft, asm.Ptr(gArgs, splitChunks))
}

// chunks calls f for the whole chunks of a row and for what is left behind them:
// load reads half of one, with zeros for what is not there, of which K(4+half) has the
// bits where rest is set.
func (g *splitGen) chunks(f func(load func(to asm.V, half int), rest bool)) {
	rest, done := g.NewLabel(), g.NewLabel()
	g.Op(asm.TEST, hLeft, hLeft)
	g.J(asm.EQ, rest)
	again := g.Here()
	f(func(to asm.V, half int) { g.Op(asm.VMOVUPS, to, asm.Ptr(hFrom, 64*half)) }, false)
	g.Op(asm.SUB, hLeft, asm.Imm(1))
	g.J(asm.NE, again)
	g.Bind(rest)
	g.Op(asm.KORTESTW, asm.K(4), asm.K(4))
	g.J(asm.EQ, done)
	f(func(to asm.V, half int) { g.Op(asm.VMOVUPS, to, asm.Ptr(hFrom, 64*half), asm.MaskZ(asm.K(4+half))) }, true)
	g.Bind(done)
}
