package x86

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/x86/asm"
)

// This file emits the kernels around products of GemmAMXF32. An f32 of 24 digits
// is the sum of three bf16 of 8, its thirds, each the nearest to what those before
// it leave. Of the nine products of thirds the three smallest, together at most 2^-24
// of a product, are left out, so that sums are as exact as those of f32:
//
//	a*b = a0*b0 + a0*b1 + a1*b0 + a1*b1 + a0*b2 + a2*b0
//
// AMX takes subnormal numbers for 0 and makes none. So A is multiplied by
// ThirdsScale beforehand, sums are divided by it, and numbers from ThirdsLeast to
// ThirdsMost, and 0, lose nothing; others are odd, and not to be multiplied so.
// (The idea is that of "Leveraging the bfloat16 Artificial Intelligence Datatype
// For Higher-Precision Computations", Henry, Tang and Heinecke, 2019.)

// What products of GemmAMXF32 can multiply without loss, beside 0.
const (
	ThirdsScale = 0x1p48
	ThirdsLeast = 0x1p-74
	ThirdsMost  = 0x1p32
)

// ThirdsValues is the values of k in a chunk of GemmAMXF32, whose thirds take
// ThirdsChunk steps: those of A lie as three times 64 bytes of a row, those of a
// vector of B as three tiles.
const (
	ThirdsValues = 2 * GemmChunk
	ThirdsChunk  = thirds * GemmChunk
	thirds       = 3
)

// thirdsOrder is the pairs of thirds, of A and of B, in the order in which their
// products are added: the largest last, each with one third of the pair before it.
var thirdsOrder = [][2]int{{0, 2}, {0, 1}, {1, 1}, {1, 0}, {2, 0}, {0, 0}}

// ThirdsRowsArgs is what the kernel that splits rows of A gets in RDI: Rows rows of
// Chunks whole chunks each, at least 1 row, and if Rest is not 0 one more of which
// the first numbers, whose bits it has, are there, and the others are 0. Odd has a
// word for each row: it is set to 1 where a number is odd, else left as it is.
type ThirdsRowsArgs struct {
	From, To     unsafe.Pointer
	LDFrom, LDTo uintptr // bytes from row to row
	Rows         uintptr
	Chunks       uintptr
	Rest         [2]uint32 // of the first 16 numbers, of the others
	Odd          *uint32
}

// SetWidth sets the numbers of a row.
func (a *ThirdsRowsArgs) SetWidth(n int) {
	const half = ThirdsValues / 2
	rest := n % ThirdsValues
	a.Chunks = uintptr(n / ThirdsValues)
	a.Rest = [2]uint32{1<<min(rest, half) - 1, 1<<max(rest-half, 0) - 1}
}

// ThirdsPanelsArgs is what the kernel that splits packed panels of B, of PackedCols
// columns, gets in RDI: Panels panels of Chunks chunks, at least 1 each.
type ThirdsPanelsArgs struct {
	From, To       unsafe.Pointer
	LDFrom, LDTo   uintptr // bytes from panel to panel
	Panels, Chunks uintptr
	Odd            *uint32 // of each panel, as of rows
}

// Offsets of both; a test compares.
const (
	thirdsFrom   = 0
	thirdsTo     = 8
	thirdsLDFrom = 16
	thirdsLDTo   = 24
	thirdsCount  = 32 // rows, panels
	thirdsChunks = 40
	thirdsRest   = 48
	thirdsOddA   = 56
	thirdsOddB   = 48
)

// ThirdsKernels are the offsets of the two kernels in Code.
type ThirdsKernels struct {
	Code         []byte
	Rows, Panels int
}

// EmitThirds emits both.
func EmitThirds() (*ThirdsKernels, error) {
	k := &ThirdsKernels{}
	for _, part := range []struct {
		at   *int
		emit func(g *thirdsGen)
	}{{&k.Rows, (*thirdsGen).rows}, {&k.Panels, (*thirdsGen).panels}} {
		g := &thirdsGen{Asm: asm.New(asm.AVX512)}
		part.emit(g)
		g.Op(asm.VZEROUPPER)
		g.Op(asm.RET)
		code, err := g.Finish()
		if err != nil {
			return nil, fmt.Errorf("thirds: %w", err)
		}
		for len(k.Code)%64 != 0 {
			k.Code = append(k.Code, 0xCC) // int3
		}
		*part.at = len(k.Code)
		k.Code = append(k.Code, code...)
	}
	return k, nil
}

// Registers of both.
const (
	hFrom  = asm.RSI
	hTo    = asm.RDX
	hLeft  = asm.RCX // chunks
	hCount = asm.R8
	hOdd   = asm.R9
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

type thirdsGen struct{ *asm.Asm }

// constants loads what split and check need. 2^16+1 takes the upper 8 digits of a
// product with it apart (Dekker, "A floating-point technique for extending the
// available precision", 1971).
func (g *thirdsGen) constants() {
	least, most := math.Float32bits(ThirdsLeast), math.Float32bits(ThirdsMost)
	for _, c := range []struct {
		to   asm.V
		bits uint32
	}{{hMagnitude, 1<<31 - 1}, {hLeast, least}, {hRange, most - least}, {hSplit, math.Float32bits(1<<16 + 1)}, {hScale, math.Float32bits(ThirdsScale)}} {
		g.Op(asm.VBROADCASTSS, c.to, g.U32(c.bits))
	}
}

// check notes which lanes of x are odd; t is changed.
func (g *thirdsGen) check(x, t asm.V) {
	g.Op(asm.VPANDD, t, x, hMagnitude)
	g.Op(asm.VPTESTMD, asm.K(1), t, t)
	g.Op(asm.VPSUBD, t, t, hLeast)
	g.Op(asm.VPCMPUD, asm.K(2), t, hRange, asm.IntGT, asm.Mask(1))
	g.Op(asm.KORW, hFound, hFound, asm.K(2))
}

// split takes x apart: its first third comes to first, its last stays in x, the
// second comes to second; t is changed.
func (g *thirdsGen) split(x, first, second, t asm.V) {
	take := func(to asm.V) {
		g.Op(asm.VMULPS, t, x, hSplit)
		g.Op(asm.VSUBPS, to, t, x)
		g.Op(asm.VSUBPS, to, t, to)
		g.Op(asm.VSUBPS, x, x, to)
	}
	take(first)
	take(second)
}

// report sets the word at hOdd where a number was odd, and goes on to the next.
func (g *thirdsGen) report() {
	none := g.NewLabel()
	g.Op(asm.KORTESTW, hFound, hFound)
	g.J(asm.EQ, none)
	g.Op(asm.MOV, hPair.R32(), asm.Imm(1))
	g.Op(asm.MOV, asm.Ptr(hOdd, 0), hPair.R32())
	g.Bind(none)
	g.Op(asm.ADD, hOdd, asm.Imm(4))
}

// begin loads the arguments that both have.
func (g *thirdsGen) begin(odd int) {
	g.constants()
	for _, l := range []struct {
		reg asm.R
		at  int
	}{{hRowF, thirdsFrom}, {hRowT, thirdsTo}, {hCount, thirdsCount}, {hOdd, odd}} {
		g.Op(asm.MOV, l.reg, asm.Ptr(gArgs, l.at))
	}
}

// each loops over rows or panels.
func (g *thirdsGen) each(body func()) {
	again := g.Here()
	g.Op(asm.MOV, hFrom, hRowF)
	g.Op(asm.MOV, hTo, hRowT)
	g.Op(asm.MOV, hLeft, asm.Ptr(gArgs, thirdsChunks))
	g.Op(asm.KXORW, hFound, hFound, hFound)
	body()
	g.report()
	g.Op(asm.ADD, hRowF, asm.Ptr(gArgs, thirdsLDFrom))
	g.Op(asm.ADD, hRowT, asm.Ptr(gArgs, thirdsLDTo))
	g.Op(asm.SUB, hCount, asm.Imm(1))
	g.J(asm.NE, again)
}

// rows: of a chunk the first thirds of its numbers side by side, then the second
// ones, then the last.
func (g *thirdsGen) rows() {
	g.begin(thirdsOddA)
	g.Op(asm.KMOVW, asm.K(4), asm.Ptr(gArgs, thirdsRest))
	g.Op(asm.KMOVW, asm.K(5), asm.Ptr(gArgs, thirdsRest+4))
	chunk := func(load func(to asm.V, half int)) {
		const x, first, second, t = asm.V(0), asm.V(2), asm.V(4), asm.V(6)
		for half := range 2 {
			i := asm.V(half)
			load(x+i, half)
			g.check(x+i, t+i)
			g.Op(asm.VMULPS, x+i, x+i, hScale)
			g.split(x+i, first+i, second+i, t+i)
		}
		for n, third := range []asm.V{first, second, x} {
			g.Op(asm.VCVTNE2PS2BF16, third, third+1, third) // nothing is left to round
			g.Op(asm.VMOVUPS, asm.Ptr(hTo, 64*n), third)
		}
		g.Op(asm.ADD, hFrom, asm.Imm(4*ThirdsValues))
		g.Op(asm.ADD, hTo, asm.Imm(64*thirds))
	}
	g.each(func() {
		whole, done := g.NewLabel(), g.NewLabel()
		g.Op(asm.TEST, hLeft, hLeft)
		g.J(asm.EQ, whole)
		again := g.Here()
		chunk(func(to asm.V, half int) { g.Op(asm.VMOVUPS, to, asm.Ptr(hFrom, 64*half)) })
		g.Op(asm.SUB, hLeft, asm.Imm(1))
		g.J(asm.NE, again)
		g.Bind(whole)
		g.Op(asm.KORTESTW, asm.K(4), asm.K(4))
		g.J(asm.EQ, done)
		chunk(func(to asm.V, half int) {
			g.Op(asm.VMOVUPS, to, asm.Ptr(hFrom, 64*half), asm.MaskZ(asm.K(4+half)))
		})
		g.Bind(done)
	})
}

// panels: of a chunk the tile of first thirds, two successive k to a lane, then
// that of second ones, then the last.
func (g *thirdsGen) panels() {
	g.begin(thirdsOddB)
	g.each(func() {
		chunk := g.Here()
		g.Op(asm.MOV, hPair, asm.Imm(GemmChunk))
		pair := g.Here()
		const x, first, second, t = asm.V(0), asm.V(2), asm.V(4), asm.V(6)
		for k := range 2 {
			i := asm.V(k)
			g.Op(asm.VMOVUPS, x+i, asm.Ptr(hFrom, 4*PackedCols*k))
			g.check(x+i, t+i)
			g.split(x+i, first+i, second+i, t+i)
		}
		for n, third := range []asm.V{first, second, x} { // their lower halves are 0
			g.Op(asm.VPSRLD, third, third, asm.Imm(16))
			g.Op(asm.VPORD, third, third, third+1)
			g.Op(asm.VMOVUPS, asm.Ptr(hTo, n*64*GemmChunk), third)
		}
		g.Op(asm.ADD, hFrom, asm.Imm(2*4*PackedCols))
		g.Op(asm.ADD, hTo, asm.Imm(64))
		g.Op(asm.SUB, hPair, asm.Imm(1))
		g.J(asm.NE, pair)
		g.Op(asm.ADD, hTo, asm.Imm((thirds-1)*64*GemmChunk))
		g.Op(asm.SUB, hLeft, asm.Imm(1))
		g.J(asm.NE, chunk)
	})
}
