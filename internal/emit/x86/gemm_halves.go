package x86

import "github.com/sinterml/sinter/internal/emit/x86/asm"

// This file emits the kernels around products of GemmAMXHalves. An f32 is, but for at
// most 2^-23 of it, the sum of two f16 of 11 digits, its halves: the nearest f16, and
// the nearest to 2^11 times what that leaves. Of the four products of halves the
// smallest, at most 2^-22 of a product and in the mean a fifth of that, is left out.
// The others are two sums, as their scales differ:
//
//	a*b = a0*b0 + (a0*b1 + a1*b0) / 2^11
//
// An f16 has few exponents. So each block of k of a row of A, or of a column of B, is
// multiplied beforehand by the power of two that brings its greatest number to
// halvesTop, and sums are divided by both. Numbers down to 2^-27 of that power lose no
// more than others; those below, tiny ones, may lack 2^-50 of the greatest. That counts
// only where the greatest meets a number that is small, by 2^-22 of the other operand's
// greatest, or 0: else each tiny number adds at most 3*2^-28 of the product of the
// greatest one to the error, half as much again by the product that is left out as by
// what it lacks. So rows with tiny numbers are not multiplied so by columns with
// small ones, nor the reverse, see Found. Rows and columns whose greatest number is not
// from HalvesLeast to HalvesMost, nor 0, are odd.
//
// (The idea is that of "Recovering single precision accuracy from Tensor Cores while
// surpassing the FP32 theoretical peak performance", Ootomo and Yokota, 2022.)

// What the greatest number of a row or column can be, beside 0.
const (
	HalvesLeast = 0x1p-74
	HalvesMost  = 0x1p60
)

// Halves of a chunk of A lie as two times 64 bytes of a row, those of a vector of B
// as two tiles. Behind those of all chunks is what sums are to be multiplied by: an
// f32, or one for each column. They have room for halvesScale bytes.
const (
	halves      = 2
	halvesShift = 11 // of the second half
	halvesTop   = 14 // exponent of the greatest number
	halvesScale = 64
	halvesTiny  = 27 // binary digits below the greatest number, from where halves lack some
	halvesSmall = 22
)

// halvesOrder is the pairs of halves. Those of the first sum come first, so that the
// second one of the tile before is stored meanwhile, see firstChunk.
var halvesOrder = [][2]int{{0, 0}, {0, 1}, {1, 0}}

func (f GemmFormat) scaleBytes() int {
	if f == GemmAMXHalves {
		return halvesScale
	}
	return 0
}

// sums is the sums of a block of results.
func (f GemmFormat) sums() int {
	if f == GemmAMXHalves {
		return 2
	}
	return 1
}

// sumOf is the one that products of a pair of parts go to.
func (f GemmFormat) sumOf(pair [2]int) int { return min(f.sums()-1, pair[0]+pair[1]) }

// halvesGen emits what splits.
type halvesGen struct{ *splitGen }

// Registers beside those of every such kernel.
const (
	hGreatest = asm.V(8)  // and those behind it
	hSmallest = asm.V(12) // the least magnitudes, 0 among them
	hNonzero  = asm.V(16) // the least beside 0, less one in the last place
	hTop      = asm.V(17) // exponents of the greatest
	hOne      = asm.V(25)
	hUnscale  = asm.V(26)
	hPairs    = asm.V(24) // indices of words
	hEnd      = asm.RBX   // bytes of a row before its scale
)

func (g *halvesGen) constants() {
	g.limits(HalvesLeast, HalvesMost)
	g.Op(asm.VBROADCASTSS, hSplit, g.F32(1<<halvesShift))
	g.Op(asm.VBROADCASTSS, hOne, g.U32(1))
}

// start begins to look at numbers.
func (g *halvesGen) start() {
	for i := range asm.V(looks) {
		g.Op(asm.VPXORD, hGreatest+i, hGreatest+i, hGreatest+i)
		g.Op(asm.VPTERNLOGD, hSmallest+i, hSmallest+i, hSmallest+i, asm.Imm(0xFF)) // NaN, which counts for nothing
	}
}

// look takes in the magnitudes of x, a register or memory; in the least one those
// numbers that mask has. NaN counts for nothing, or makes forget what was before it in its
// lane if it is a signalling one: sums with it are NaN either way.
func (g *halvesGen) look(turn int, x asm.Arg, mask ...asm.Arg) {
	most, least := hGreatest+asm.V(turn), hSmallest+asm.V(turn)
	g.Op(asm.VRANGEPS, most, most, x, asm.Imm(rangeGreatest))
	g.Op(asm.VRANGEPS, append([]asm.Arg{least, least, x, asm.Imm(rangeLeast)}, mask...)...)
}

// looked brings together what all turns of look found.
func (g *halvesGen) looked() {
	for i := asm.V(1); i < looks; i++ {
		g.Op(asm.VRANGEPS, hGreatest, hGreatest, hGreatest+i, asm.Imm(rangeGreatest))
		g.Op(asm.VRANGEPS, hSmallest, hSmallest, hSmallest+i, asm.Imm(rangeLeast))
	}
}

// looks is the registers each that look takes in turns, as it would wait for one.
const looks = 4

// Of a float32: digits of the mantissa, and what is added to the exponent.
const (
	mantissa = 23
	bias     = 127
)

// What VRANGEPS chooses: of magnitudes, and without a sign.
const (
	rangeLeast    = 0b10_10
	rangeGreatest = 0b10_11
)

// scales makes hScale, and hUnscale, its inverse, of hGreatest by its exponent, and
// reports what was found in the lanes that count. Where some are small, nonzero has to
// make hNonzero of all numbers.
func (g *halvesGen) scales(nonzero func(), lanes ...asm.Arg) {
	const t, exponents = asm.V(0), asm.V(2)
	g.check(hGreatest, t)
	g.Op(asm.VPMAXUD, t, hGreatest, hLeast)
	g.Op(asm.VBROADCASTSS, exponents, g.U32(0xFF<<mantissa))
	g.Op(asm.VPANDD, hTop, t, exponents)
	g.Op(asm.VBROADCASTSS, exponents, g.U32(halvesTop<<mantissa))
	g.Op(asm.VPSUBD, hUnscale, hTop, exponents)
	g.invert()
	const found = asm.K(2)
	below := func(x asm.V, digits, less uint32) {
		g.Op(asm.VBROADCASTSS, t, g.U32(digits<<mantissa+less))
		g.Op(asm.VPSUBD, t, hTop, t)
		g.Op(asm.VPCMPUD, append([]asm.Arg{found, x, t, asm.IntLT}, lanes...)...)
	}
	none := g.NewLabel()
	below(hSmallest, halvesSmall, 0)
	g.Op(asm.KORTESTW, found, found)
	g.J(asm.EQ, none)
	g.report(FoundSmall, found)
	g.Op(asm.VPTERNLOGD, hNonzero, hNonzero, hNonzero, asm.Imm(0xFF)) // all ones
	nonzero()
	below(hNonzero, halvesTiny, 1)
	g.report(FoundTiny, found)
	g.Bind(none)
}

// invert makes hScale of hUnscale, a power of two.
func (g *halvesGen) invert() {
	g.Op(asm.VBROADCASTSS, hScale, g.U32(2*bias<<mantissa))
	g.Op(asm.VPSUBD, hScale, hScale, hUnscale)
}

// lookNonzero takes the numbers of x, which is changed, in hNonzero in.
func (g *halvesGen) lookNonzero(x asm.V) {
	g.Op(asm.VPANDD, x, x, hMagnitude)
	g.Op(asm.VPSUBD, x, x, hOne)
	g.Op(asm.VPMINUD, hNonzero, hNonzero, x)
}

// halve takes a scaled x apart: its halves come to the lower 256 bits of first and
// of second; x is changed.
func (g *halvesGen) halve(x, first, second asm.V) {
	const nearest = 0
	g.Op(asm.VCVTPS2PH, first, x, asm.Imm(nearest))
	g.Op(asm.VCVTPH2PS, second, first)
	g.Op(asm.VSUBPS, x, x, second)
	g.Op(asm.VMULPS, x, x, hSplit)
	g.Op(asm.VCVTPS2PH, second, x, asm.Imm(nearest))
}

// storeHalves stores those of the first or the second numbers of a row's chunk.
func (g *halvesGen) storeHalves(part int, first, second asm.V) {
	for n, half := range []asm.V{first, second} {
		g.Op(asm.VMOVUPS, asm.Ptr(hTo, 64*n+32*part), half, asm.L256)
	}
}

// spread brings the greatest lane of hGreatest to all.
func (g *halvesGen) spread() {
	const t = asm.V(0)
	fold := func(l asm.Length) { g.Op(asm.VPMAXUD, hGreatest, hGreatest, t, l) }
	g.Op(asm.VEXTRACTI64X4, t, hGreatest, asm.Imm(1))
	fold(asm.L256)
	g.Op(asm.VEXTRACTI128, t, hGreatest, asm.Imm(1))
	fold(asm.L128)
	for _, order := range []int{0b01_00_11_10, 0b10_11_00_01} {
		g.Op(asm.VPSHUFD, t, hGreatest, asm.Imm(order), asm.L128)
		fold(asm.L128)
	}
	g.Op(asm.VPBROADCASTD, hGreatest, hGreatest)
}

// rows: of a chunk the first halves of its numbers side by side, then the second
// ones; behind all chunks what to multiply sums by. All rows are looked at before the
// first is split: else that would wait for the scale.
func (g *halvesGen) rows() {
	const x, first, second = asm.V(0), asm.V(2), asm.V(4)
	g.beginRows()
	g.constants()
	g.endOfRow()
	scale := asm.Idx(hRowT, hEnd, 1, 0)
	g.each(func() {
		g.start()
		g.chunks(func(load func(to asm.V, half int), rest bool) {
			for half := range 2 {
				if rest {
					load(x, half)
					g.look(half, x, asm.Mask(asm.K(4+half)))
				} else {
					g.look(half, asm.Ptr(hFrom, 64*half))
				}
			}
			g.Op(asm.ADD, hFrom, asm.Imm(4*SplitValues))
		})
		g.looked()
		g.spread()
		g.scales(func() {
			g.toStart()
			g.chunks(func(load func(to asm.V, half int), _ bool) {
				for half := range 2 {
					load(x, half)
					g.lookNonzero(x)
				}
				g.Op(asm.ADD, hFrom, asm.Imm(4*SplitValues))
			})
		})
		g.Op(asm.VMOVSS, scale, hUnscale)
	})
	g.beginRows()
	g.each(func() {
		g.Op(asm.VBROADCASTSS, hUnscale, scale)
		g.invert()
		g.chunks(func(load func(to asm.V, half int), _ bool) {
			for half := range 2 {
				i := asm.V(half)
				load(x+i, half)
				g.Op(asm.VMULPS, x+i, x+i, hScale)
				g.halve(x+i, first+i, second+i)
				g.storeHalves(half, first+i, second+i)
			}
			g.Op(asm.ADD, hFrom, asm.Imm(4*SplitValues))
			g.Op(asm.ADD, hTo, asm.Imm(64*halves))
		})
	})
}

// endOfRow makes hEnd, the bytes of a row's chunks.
func (g *halvesGen) endOfRow() {
	const chunk = 64 * halves
	whole := g.NewLabel()
	g.Op(asm.IMUL, hEnd, asm.Ptr(gArgs, splitChunks), asm.Imm(chunk))
	g.Op(asm.KORTESTW, asm.K(4), asm.K(4))
	g.J(asm.EQ, whole)
	g.Op(asm.ADD, hEnd, asm.Imm(chunk))
	g.Bind(whole)
}

// To store the sums of a tile, and to join two Sums into C, would keep multiplications
// waiting. So the second sum is stored while the first products of the next tile are
// added to its first one, and rows are joined behind that, some for each chunk.

// Registers of a tile whose sums are being joined; tiles are one vector wide.
const (
	jSums  = asm.RBX // its next row, in the first Sums
	jC     = asm.RSI
	jScale = asm.R9 // what the row is multiplied by

	jColumns = asm.V(8) // what columns are multiplied by
	jShift   = asm.V(9)
	jZero    = asm.V(10)
)

// jBefore has the lanes of C that sums are added to: all or none.
const jBefore = asm.K(2)

// joinedRows is the rows joined for a chunk: all of 32 in six chunks.
const joinedRows = 6

// defers tells whether rows are joined later.
func (t *tileGen) defers() bool {
	return t.format == GemmAMXHalves && t.tile.Rows > joinedRows && !t.tail
}

// joinSums stores the sums and has their rows joined, at once or later. What a row is
// multiplied by lies behind its chunks, as does what columns are.
func (t *tileGen) joinSums() {
	t.joinRest() // of the tile before
	t.finishRest()
	t.joinConstants(gB)
	t.Op(asm.MOV, asm.Ptr(gArgs, gemmJoinScale), gB)
	t.Op(asm.MOV, jScale, gBases[0])
	t.storeSum(0, gB, gPitch)
	t.Op(asm.MOV, jSums, gB)
	t.Op(asm.MOV, jC, asm.Ptr(gArgs, gemmNextC))
	if !t.defers() {
		t.storeSum(1, gB, gPitch)
		t.joinRows(t.tile.Rows)
		return
	}
	t.Op(asm.MOV, asm.Ptr(gArgs, gemmJoinLeft), asm.Imm(t.tile.Rows))
}

// joinConstants loads what all rows of a tile are joined with; what columns are multiplied
// by lies at scale.
func (t *tileGen) joinConstants(scale asm.R) {
	t.Op(asm.VMOVUPS, jColumns, asm.Ptr(scale, 0))
	t.Op(asm.VBROADCASTSS, jShift, t.F32(1.0/(1<<halvesShift)))
	t.zero(jZero)
	t.Op(asm.KMOVW, jBefore, asm.Ptr(gArgs, gemmJoinMask))
}

// firstChunk is the first chunk of a tile, if there is one: in it the second sum of the
// tile before is stored, or what is there.
func (t *tileGen) firstChunk(last asm.Label) {
	store := func() {
		t.storeSum(1, gPitch, gCount)
		t.clearSum(1)
	}
	some := t.NewLabel()
	t.J(asm.NE, some)
	store()
	t.Jmp(last)
	t.Bind(some)
	t.amxChunk(store)
	t.Op(asm.MOV, gCount, asm.Ptr(gArgs, gemmBlocks))
	t.Op(asm.SUB, gCount, asm.Imm(t.chunkBlocks()))
	t.J(asm.EQ, last)
}

// joinLast stores the second sum and joins all rows.
func (t *tileGen) joinLast() {
	if t.defers() {
		t.storeSum(1, gPitch, gCount)
		t.joinRest()
	}
}

// joinBegin notes which lanes of C sums are added to.
func (t *tileGen) joinBegin() {
	added := t.NewLabel()
	t.Op(asm.MOV, gCount, asm.Imm(1<<16-1))
	if t.tail {
		t.Op(asm.MOV, gCount, asm.Ptr(gArgs, gemmMask))
	}
	t.Op(asm.CMP, asm.Ptr(gArgs, gemmContinue), asm.Imm(0))
	t.J(asm.NE, added)
	t.Op(asm.XOR, gCount.R32(), gCount.R32())
	t.Bind(added)
	t.Op(asm.MOV, asm.Ptr(gArgs, gemmJoinMask), gCount)
	t.Op(asm.MOV, asm.Ptr(gArgs, gemmJoinLeft), asm.Imm(0))
}

// joinSome joins rows of the tile before, if there are any left.
func (t *tileGen) joinSome() {
	if !t.defers() {
		return
	}
	none := t.NewLabel()
	t.joinNext(none)
	t.Bind(none)
}

// joinNext does so, or jumps.
func (t *tileGen) joinNext(none asm.Label) {
	t.Op(asm.CMP, asm.Ptr(gArgs, gemmJoinLeft), asm.Imm(0))
	t.J(asm.EQ, none)
	last, done := t.NewLabel(), t.NewLabel()
	rest := t.tile.Rows % joinedRows
	if rest > 0 {
		t.Op(asm.CMP, asm.Ptr(gArgs, gemmJoinLeft), asm.Imm(rest))
		t.J(asm.EQ, last)
	}
	t.joinRows(joinedRows)
	t.Op(asm.SUB, asm.Ptr(gArgs, gemmJoinLeft), asm.Imm(joinedRows))
	t.Bind(done)
	if rest > 0 {
		t.behind = append(t.behind, func() {
			t.Bind(last)
			t.joinRows(rest)
			t.Op(asm.MOV, asm.Ptr(gArgs, gemmJoinLeft), asm.Imm(0))
			t.Jmp(done)
		})
	}
}

// joinRest joins those that are left.
func (t *tileGen) joinRest() {
	if !t.defers() {
		return
	}
	done := t.NewLabel()
	again := t.Here()
	t.joinNext(done)
	t.Jmp(again)
	t.Bind(done)
}

// joinRows adds the next rows of both Sums, in the scale of C, to what is there, with
// one rounding.
func (t *tileGen) joinRows(n int) {
	t.Op(asm.MOV, gPitch, asm.Ptr(gArgs, gemmLDC))
	for r := range n {
		sum, before := asm.V(2*(r%4)), asm.V(2*(r%4)+1)
		t.Op(asm.VMOVUPS, sum, asm.Ptr(jSums, (t.tile.Rows+r)*amxBytes))
		t.Op(asm.VFMADD213PS, sum, jShift, asm.Ptr(jSums, r*amxBytes))
		t.Op(asm.VMULPS, sum, sum, asm.Ptr(jScale, 0).Bcast())
		t.Op(asm.VMOVUPS, before, asm.Ptr(jC, 0), asm.MaskZ(jBefore))
		t.Op(asm.VFMADD231PS, before, sum, jColumns)
		t.Op(asm.VADDPS, before, before, jZero) // not -0, as in sums that are finished later
		t.store(asm.Ptr(jC, 0), before, 0)
		t.Op(asm.ADD, jScale, gLDA)
		t.Op(asm.ADD, jC, gPitch)
	}
	t.Op(asm.ADD, jSums, asm.Imm(n*amxBytes))
}
