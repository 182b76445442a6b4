package x86

import (
	"math"

	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Registers of the softmax kernel.
const (
	sScores = asm.RSI
	sState  = asm.RDX // at the row's top
	sRanges = asm.RCX
	sRows   = asm.R8
	sAt     = asm.RAX // offset in the row
	sEnd    = asm.R9
	sLeft   = asm.R10
	sTemp   = asm.R11
	sTo     = asm.R11 // bf16: where the next weights go
	sStart  = asm.RBX
	sFetch  = asm.R12 // and the two behind it

	sScale = asm.V(0)
	sTop   = asm.V(1)
	sSafe  = asm.V(2)
	sSum   = asm.V(3)
	sOld   = asm.V(4)
	sX     = asm.V(5)

	// bf16: 1 twice in a lane, and constants of the exponential.
	sOnes  = asm.V(31)
	sLog2e = asm.V(30)
	sPower = asm.V(26) // coefficients, and the three behind it
)

// softmaxGen emits the softmax kernel.
type softmaxGen struct {
	*asm.Asm
	vector int  // bytes
	bf16   bool // weights are
	wide   bool // and are stored as f32
}

func emitSoftmax(a *asm.Asm, format GemmFormat) error {
	g := &softmaxGen{Asm: a, vector: a.Length().Bytes(), bf16: format != GemmF32, wide: format == GemmWide}
	return g.kernel()
}

// kernel makes three passes over the rows. In one, the steps of a row would
// wait for each other, and loads for masked stores just in front of them; so
// the processor overlaps the rows.
func (g *softmaxGen) kernel() error {
	for _, l := range []struct {
		reg asm.R
		at  int
	}{{sStart, softmaxStart}, {sEnd, softmaxEnd}, {sRanges, softmaxRanges},
		{sFetch, softmaxFetch}, {sFetch + 1, softmaxFetch + 8}, {sFetch + 2, softmaxFetch + 16}} {
		g.Op(asm.MOV, l.reg, asm.Ptr(argsReg, l.at))
	}
	g.eachRow(func() {
		g.fetch()
		g.fill()
		g.Op(asm.ADD, sRanges, asm.Imm(16))
	})
	g.Op(asm.VBROADCASTSS, sScale, asm.Ptr(argsReg, softmaxScale))
	g.eachRow(g.max)
	if g.bf16 {
		g.constants()
	}
	var err error
	g.eachRow(func() {
		if err = g.weights(); err == nil {
			err = g.state()
		}
	})
	return err
}

// eachRow loops over the rows, with sScores and sState at each.
func (g *softmaxGen) eachRow(body func()) {
	g.Op(asm.MOV, sScores, asm.Ptr(argsReg, softmaxScores))
	g.Op(asm.MOV, sState, asm.Ptr(argsReg, softmaxState))
	g.Op(asm.ADD, sState, asm.Ptr(argsReg, softmaxTop))
	g.Op(asm.MOV, sRows, asm.Ptr(argsReg, softmaxRows))
	g.Align(32)
	row := g.Here()
	body()
	g.Op(asm.ADD, sScores, asm.Ptr(argsReg, softmaxLDScores))
	g.Op(asm.ADD, sState, asm.Ptr(argsReg, softmaxLDState))
	g.Op(asm.SUB, sRows, asm.Imm(1))
	g.J(asm.NE, row)
}

// fetch fetches what Fetch points at.
func (g *softmaxGen) fetch() {
	const line = 64
	none := g.NewLabel()
	g.Op(asm.MOV, sLeft, asm.Ptr(argsReg, softmaxBytes))
	g.Op(asm.XOR, sAt.R32(), sAt.R32())
	g.Op(asm.TEST, sLeft, sLeft)
	g.J(asm.EQ, none)
	again := g.Here()
	for i := range asm.R(3) {
		g.Op(asm.PREFETCHT1, asm.Idx(sFetch+i, sAt, 1, 0))
	}
	g.Op(asm.ADD, sAt, asm.Imm(line))
	g.Op(asm.CMP, sAt, sLeft)
	g.J(asm.ULT, again)
	for i := range 3 {
		g.Op(asm.ADD, sFetch+asm.R(i), asm.Ptr(argsReg, softmaxLDFetch+8*i))
	}
	g.Bind(none)
}

// fill makes the scores outside of the row's range ones without weight.
func (g *softmaxGen) fill() {
	const bound, lanes, fill, limit = sTemp, asm.V(1), asm.V(2), asm.V(3)
	g.Op(asm.VBROADCASTSS, fill, asm.Ptr(argsReg, softmaxFill))
	g.Op(asm.VMOVUPS, lanes, g.offsets())
	store := func(inside bool) { // the lanes below the bound, or the others
		g.Op(asm.MOV, sLeft, bound)
		g.Op(asm.SUB, sLeft, sAt)
		g.Op(asm.VMOVD, limit, sLeft.R32(), asm.L128)
		g.Op(asm.VPBROADCASTD, limit, limit)
		to := asm.Idx(sScores, sAt, 1, 0)
		if g.ISA == AVX512 {
			pred := asm.IntGE
			if inside {
				pred = asm.IntLT
			}
			g.Op(asm.VPCMPD, asm.K(1), lanes, limit, pred)
			g.Op(asm.VMOVUPS, to, fill, asm.Mask(1))
		} else {
			const mask = asm.V(4)
			g.Op(asm.VPCMPGTD, mask, limit, lanes)
			if !inside {
				g.Op(asm.VPCMPEQD, limit, limit, limit)
				g.Op(asm.VPXOR, mask, mask, limit)
			}
			g.Op(asm.VMASKMOVPS, to, mask, fill)
		}
		g.Op(asm.ADD, sAt, asm.Imm(g.vector))
	}
	low, lowDone, high, highDone := g.NewLabel(), g.NewLabel(), g.NewLabel(), g.NewLabel()
	g.Op(asm.MOV, bound, asm.Ptr(sRanges, 0))
	g.Op(asm.MOV, sAt, sStart)
	g.Bind(low)
	g.Op(asm.CMP, sAt, bound)
	g.J(asm.GE, lowDone)
	store(true)
	g.Jmp(low)
	g.Bind(lowDone)
	g.Op(asm.MOV, bound, asm.Ptr(sRanges, 8))
	g.Op(asm.MOV, sAt, bound)
	g.Op(asm.AND, sAt, asm.Imm(-g.vector))
	g.Bind(high)
	g.Op(asm.CMP, sAt, sEnd)
	g.J(asm.GE, highDone)
	store(false)
	g.Jmp(high)
	g.Bind(highDone)
}

// offsets is a constant: the byte offset of each lane.
func (g *softmaxGen) offsets() asm.M {
	var b []byte
	for i := range g.vector / 4 {
		b = append(b, byte(4*i), 0, 0, 0)
	}
	return g.Vec(b)
}

// The state of a row, behind its sums.
const (
	stateTop   = 0
	stateTotal = 4
	stateOld   = 8 // the top before
)

// max finds the row's new top.
func (g *softmaxGen) max() {
	const x = sX
	g.Op(asm.VBROADCASTSS, sTop, g.F32(float32(math.Inf(-1))))
	g.Op(asm.VMOVAPS, sOld, sTop, asm.L128)
	g.Op(asm.MOV, sAt, sStart)
	again := g.Here()
	g.Op(asm.VMULPS, x, sScale, asm.Idx(sScores, sAt, 1, 0))
	g.Op(asm.VMAXPS, sTop, x, sTop) // the second where either is NaN
	g.Op(asm.ADD, sAt, asm.Imm(g.vector))
	g.Op(asm.CMP, sAt, sEnd)
	g.J(asm.NE, again)
	fold(g.Asm, asm.VMAXPS, sTop, x)
	fresh := g.NewLabel()
	g.Op(asm.CMP, asm.Ptr(argsReg, softmaxRescale), asm.Imm(0))
	g.J(asm.EQ, fresh)
	g.Op(asm.VMOVSS, sOld, asm.Ptr(sState, stateTop))
	g.Op(asm.VMAXPS, sTop, sTop, sOld, asm.L128)
	g.Bind(fresh)
	g.Op(asm.VMOVSS, asm.Ptr(sState, stateOld), sOld)
	g.Op(asm.VMOVSS, asm.Ptr(sState, stateTop), sTop)
}

// weights makes weights of scores and sums them. What is subtracted is the top,
// or where that is -Inf a number that leaves no weight to -Inf. Only the sums depend on each
// other: the processor works on several vectors at once by itself.
func (g *softmaxGen) weights() error {
	cell := asm.Idx(sScores, sAt, 1, 0)
	g.Op(asm.VBROADCASTSS, sSafe, asm.Ptr(sState, stateTop))
	g.Op(asm.VMAXPS, sSafe, sSafe, g.F32(-math.MaxFloat32))
	g.Op(asm.VPXOR, sSum, sSum, sSum, asm.L128)
	g.Op(asm.MOV, sAt, sStart)
	if g.bf16 && !g.wide {
		g.Op(asm.MOV, sTo, sStart)
		g.Op(asm.SHR, sTo, asm.Imm(1))
		g.Op(asm.ADD, sTo, sScores)
	}
	again := g.Here()
	g.Op(asm.VMULPS, sX, sScale, cell)
	g.Op(asm.VSUBPS, sX, sX, sSafe)
	if g.bf16 {
		g.expBF16()
		g.storeBF16(cell)
	} else {
		if err := g.exp(); err != nil {
			return err
		}
		g.Op(asm.VMOVUPS, cell, sX)
		g.Op(asm.VADDPS, sSum, sSum, sX)
	}
	g.Op(asm.ADD, sAt, asm.Imm(g.vector))
	g.Op(asm.CMP, sAt, sEnd)
	g.J(asm.NE, again)
	fold(g.Asm, asm.VADDPS, sSum, sX)
	return nil
}

// exp computes e^sX in place: the expansion that all kernels share.
func (g *softmaxGen) exp() error {
	x := &loop.Local{Name: "x", DType: ir.F32}
	body := []loop.Stmt{&loop.Set{Local: x, Value: loop.Apply(ir.Exp, ir.F32, x.Ref())}}
	k := loop.Expand(&loop.Kernel{Name: "exp", Body: body})
	registers := asm.V(16)
	if g.ISA == AVX512 {
		registers = 32
	}
	var free []asm.V
	if g.bf16 {
		registers = sPower
	}
	for v := sX + 1; v < registers; v++ {
		free = append(free, v)
	}
	f := Fragment{Asm: g.Asm, Kernel: k, Vectors: free, Masks: []asm.K{1, 2}, Args: argsReg, Lane: &loop.Var{Name: "lane"}, Start: At{Reg: sAt},
		Locals: map[*loop.Local][]asm.V{x: {sX}}}
	return f.Emit(k.Body)
}

// state brings what is known of the row up to date.
func (g *softmaxGen) state() error {
	const keep, total = sX, asm.V(6)
	fresh := g.NewLabel()
	g.Op(asm.MOV, sLeft, asm.Ptr(argsReg, softmaxRescale))
	g.Op(asm.TEST, sLeft, sLeft)
	g.J(asm.EQ, fresh)
	g.Op(asm.VBROADCASTSS, keep, asm.Ptr(sState, stateOld))
	g.Op(asm.VSUBPS, keep, keep, sSafe)
	if err := g.exp(); err != nil {
		return err
	}
	g.Op(asm.VMULSS, total, keep, asm.Ptr(sState, stateTotal))
	g.Op(asm.VADDSS, sSum, sSum, total)
	g.Op(asm.MOV, sTemp, sState)
	g.Op(asm.SUB, sTemp, asm.Ptr(argsReg, softmaxTop))
	again := g.Here()
	g.Op(asm.VMULPS, total, keep, asm.Ptr(sTemp, 0))
	g.Op(asm.VMOVUPS, asm.Ptr(sTemp, 0), total)
	g.Op(asm.ADD, sTemp, asm.Imm(g.vector))
	g.Op(asm.SUB, sLeft, asm.Imm(g.vector))
	g.J(asm.NE, again)
	g.Bind(fresh)
	g.Op(asm.VMOVSS, asm.Ptr(sState, stateTotal), sSum)
	return nil
}
