package x86

import "github.com/sinterml/sinter/internal/emit/x86/asm"

// exp2Short are coefficients of 2^r for r from 0 to 1, off by at most 2^-13.7:
// package loop's testdata/minimax.py finds them.
var exp2Short = [4]float32{0x1.fff632p-1, 0x1.644456p-1, 0x1.cefc16p-3, 0x1.3f96b4p-4}

// constants loads what weights in bf16 need.
func (g *softmaxGen) constants() {
	const one, log2e = 0x3F80, 0x1.715476p0
	g.Op(asm.VBROADCASTSS, sOnes, g.U32(one<<16|one))
	g.Op(asm.VBROADCASTSS, sLog2e, g.F32(log2e))
	for i, c := range exp2Short {
		g.Op(asm.VBROADCASTSS, sPower+asm.V(i), g.F32(c))
	}
}

// expBF16 computes e^sX in place, of numbers up to 0, as exactly as bf16 can
// tell: 2^x is 2^(x - floor x), a polynomial, times 2^(floor x). Both
// instructions that take x apart know -Inf, whose fraction is 0, and NaN.
func (g *softmaxGen) expBF16() {
	const fraction, power = sX + 1, sX + 2
	const floor = 0b1001 // without exceptions
	g.Op(asm.VMULPS, sX, sX, sLog2e)
	g.Op(asm.VREDUCEPS, fraction, sX, asm.Imm(floor))
	last := len(exp2Short) - 1
	g.Op(asm.VMOVAPS, power, sPower+asm.V(last))
	for i := last - 1; i >= 0; i-- {
		g.Op(asm.VFMADD213PS, power, fraction, sPower+asm.V(i))
	}
	g.Op(asm.VSCALEFPS, sX, power, sX)
}

// storeBF16 rounds the weights, packs them into the part of the row whose
// scores were read before, or widens them again into the cell, and sums them:
// times 1, two to a lane.
func (g *softmaxGen) storeBF16(cell asm.M) {
	g.Op(asm.VCVTNEPS2BF16, sX, sX)
	if g.wide {
		const wide = sX + 1
		g.Op(asm.VPMOVZXWD, wide, sX)
		g.Op(asm.VPSLLD, wide, wide, asm.Imm(16))
		g.Op(asm.VMOVUPS, cell, wide)
	} else {
		g.Op(asm.VMOVUPS, asm.Ptr(sTo, 0), sX, asm.L256)
		g.Op(asm.ADD, sTo, asm.Imm(g.vector/2))
	}
	g.Op(asm.VDPBF16PS, sSum, sX, sOnes, asm.L256)
}
