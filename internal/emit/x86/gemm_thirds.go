package x86

import (
	"github.com/sinterml/sinter/internal/emit/x86/asm"
)

// This file emits the kernels around products of GemmAMXThirds. An f32 of 24 digits
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

// What products of GemmAMXThirds can multiply without loss, beside 0.
const (
	ThirdsScale = 0x1p48
	ThirdsLeast = 0x1p-74
	ThirdsMost  = 0x1p32
)

// thirds is how many there are: those of a chunk of A lie as three times 64 bytes of
// a row, those of a vector of B as three tiles.
const thirds = 3

// thirdsOrder is the pairs of thirds, of A and of B, in the order in which their
// products are added: the largest last, each with one third of the pair before it.
var thirdsOrder = [][2]int{{0, 2}, {0, 1}, {1, 1}, {1, 0}, {2, 0}, {0, 0}}

// thirdsGen emits what splits.
type thirdsGen struct{ *splitGen }

// constants loads what split and check need. 2^16+1 takes the upper 8 digits of a
// product with it apart (Dekker, "A floating-point technique for extending the
// available precision", 1971).
func (g *thirdsGen) constants() {
	g.limits(ThirdsLeast, ThirdsMost)
	g.Op(asm.VBROADCASTSS, hSplit, g.F32(1<<16+1))
	g.Op(asm.VBROADCASTSS, hScale, g.F32(ThirdsScale))
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

// rows: of a chunk the first thirds of its numbers side by side, then the second
// ones, then the last.
func (g *thirdsGen) rows() {
	g.beginRows()
	g.constants()
	chunk := func(load func(to asm.V, half int), _ bool) {
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
		g.Op(asm.ADD, hFrom, asm.Imm(4*SplitValues))
		g.Op(asm.ADD, hTo, asm.Imm(64*thirds))
	}
	g.each(func() { g.chunks(chunk) })
}

// panels: of a chunk the tile of first thirds, two successive k to a lane, then
// that of second ones, then the last.
func (g *thirdsGen) panels() {
	g.begin(splitFoundB)
	g.constants()
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
