package x86

import (
	"fmt"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/x86/asm"
)

// This file is the interface of attention's inner kernels. Like the tile
// kernels of the matrix product, which compute the scores and the weighted
// sums, they know no shape: one set, emitted once a process, serves every
// attention.

// SoftmaxArgs is what the softmax kernel gets in RDI. For each of Rows rows of
// scores it computes, over the elements of the row's Range, an online softmax
// step:
//
//	top'  = max(top, max(Scale*score))          NaN left out: it comes in by the sum
//	score = exp(Scale*score - max(top', -MaxFloat32))
//	keep  = exp(top - max(top', -MaxFloat32))
//	total = keep*total + sum(score)
//	the first Rescale bytes of the row's state *= keep
//
// and sets the scores of Start to End outside of the Range to 0. Start and End
// are byte offsets in a row, multiples of a vector, and a Range lies within
// them. The state of a row holds top at the byte offset Top, total behind it,
// and has room for one more. With Rescale = 0 there is no state yet: top is
// -Inf and total 0.
//
// For each row it fetches FetchBytes bytes at each of Fetch, which move on by
// LDFetch from row to row, into the second cache: rows of operands lie too far
// apart for the processor to guess the next.
//
// The sum runs by lanes, a lane being the offset in the row modulo a vector,
// and then over the lanes in one fixed order: zeros around a Range do not
// change it.
//
// The kernel for bf16 rounds each new score to it before the sum, from a value
// that is off by at most 2^-13, and packs those of a row: that of byte offset x
// is stored at x/2, a 16-bit element. That for GemmWide widens them to f32 again,
// each where its score was.
type SoftmaxArgs struct {
	Scores   unsafe.Pointer
	LDScores uintptr // bytes from row to row
	State    unsafe.Pointer
	LDState  uintptr
	Ranges   *[2]int64 // of each row: byte offsets
	Rows     uintptr   // at least 1
	Start    uintptr
	End      uintptr // above Start
	Top      uintptr
	Rescale  uintptr // a multiple of a vector
	Scale    float32
	Fill     float32 // an infinity that Scale makes negative

	Fetch      [3]uintptr // no pointers: they may lie beyond what they walk over
	LDFetch    [3]uintptr
	FetchBytes uintptr // 0: nothing is fetched
}

// Offsets of SoftmaxArgs' fields, as the code knows them; a test compares.
const (
	softmaxScores   = 0
	softmaxLDScores = 8
	softmaxState    = 16
	softmaxLDState  = 24
	softmaxRanges   = 32
	softmaxRows     = 40
	softmaxStart    = 48
	softmaxEnd      = 56
	softmaxTop      = 64
	softmaxRescale  = 72
	softmaxScale    = 80
	softmaxFill     = 84
	softmaxFetch    = 88
	softmaxLDFetch  = 112
	softmaxBytes    = 136
)

// TurnRowsArgs is what the kernel that packs keys gets in RDI: it writes
//
//	To[k][r] = Rows[r][k]    f32, for k below the width, all lanes r
//
// with LDTo bytes from k to k+1. The width is Chunks vectors, at least 1, the
// last with the lanes of Mask; To needs room for whole vectors of k. All
// GemmLanes rows must be there: repeat one where they are fewer.
type TurnRowsArgs struct {
	Rows   [16]unsafe.Pointer
	To     unsafe.Pointer
	LDTo   uintptr
	Chunks uintptr
	Mask   [8]uint32 // as in GemmArgs
}

const (
	turnRows   = 0
	turnTo     = 128
	turnLDTo   = 136
	turnChunks = 144
	turnMask   = 152
)

// SetWidth sets the number of columns, at least 1.
func (t *TurnRowsArgs) SetWidth(isa ISA, width int) {
	lanes := GemmLanes(isa)
	chunks := (width + lanes - 1) / lanes
	t.Chunks = uintptr(chunks)
	var g GemmArgs
	g.SetMask(isa, GemmF32, width-(chunks-1)*lanes)
	t.Mask = g.Mask
}

// FiniteArgs is what the test for infinities and NaN gets in RDI: it clears
// Finite if any of the Vectors vectors of a row, at least 1, holds one: of f32,
// or of bf16. The first of Rows rows, at least 1, is at From.
type FiniteArgs struct {
	From    unsafe.Pointer
	LD      uintptr // bytes from row to row
	Rows    uintptr
	Vectors uintptr
	Finite  uint64
}

const (
	finiteFrom    = 0
	finiteLD      = 8
	finiteRows    = 16
	finiteVectors = 24
	finiteResult  = 32
)

// AttentionKernels are the offsets of attention's kernels in Code.
type AttentionKernels struct {
	Code                      []byte
	Softmax, TurnRows, Finite int
}

// EmitAttention emits the kernels for operands and weights of a format: f32,
// bf16, or GemmWide's, which has VCVTNEPS2BF16 round weights. Pairs of bf16 are
// turned as lanes of f32 are.
func EmitAttention(isa ISA, format GemmFormat) (*AttentionKernels, error) {
	if format != GemmF32 && (format != GemmBF16 && format != GemmWide || isa != AVX512) {
		return nil, fmt.Errorf("there is no attention of %v for %v", format, isa)
	}
	k := &AttentionKernels{}
	at := []*int{&k.Softmax, &k.TurnRows, &k.Finite}
	for i, part := range attentionParts {
		_, code, err := part.assemble(isa, format)
		if err != nil {
			return nil, err
		}
		for len(k.Code)%64 != 0 {
			k.Code = append(k.Code, 0xCC) // int3
		}
		*at[i] = len(k.Code)
		k.Code = append(k.Code, code...)
	}
	return k, nil
}

// attentionParts are the kernels of an attention.
var attentionParts = []attentionPart{{"softmax", emitSoftmax}, {"turn rows", emitTurnRows}, {"finite", emitFinite}}

type attentionPart struct {
	name string
	emit func(a *asm.Asm, format GemmFormat) error
}

func (p attentionPart) assemble(isa ISA, format GemmFormat) (a *asm.Asm, code []byte, err error) {
	a = asm.New(isa)
	if err = p.emit(a, format); err == nil {
		a.Op(asm.VZEROUPPER)
		a.Op(asm.RET)
		code, err = a.Finish()
	}
	if err != nil {
		err = fmt.Errorf("attention's %s kernel: %w", p.name, err)
	}
	return a, code, err
}

// AttentionListing is the kernels of EmitAttention for people.
func AttentionListing(isa ISA, format GemmFormat) ([]Listing, error) {
	var all []Listing
	for _, part := range attentionParts {
		a, code, err := part.assemble(isa, format)
		if err != nil {
			return nil, err
		}
		all = append(all, Listing{"attention's " + part.name, a.Listing(), len(code)})
	}
	return all, nil
}

// emitFinite multiplies by 0, which makes NaN of infinities and NaN and a zero of
// all else, and puts the bits together: no zero makes a number of NaN. A lane of
// two bf16 is an f32 that is finite if the upper one is; shifted, if
// the lower one is.
func emitFinite(a *asm.Asm, format GemmFormat) error {
	const row, rows, at, left, all, zero, x = asm.RDX, asm.R8, asm.RSI, asm.RCX, asm.V(0), asm.V(1), asm.V(2)
	a.Op(asm.MOV, row, asm.Ptr(argsReg, finiteFrom))
	a.Op(asm.MOV, rows, asm.Ptr(argsReg, finiteRows))
	a.Op(asm.VPXOR, all, all, all, asm.L128)
	a.Op(asm.VPXOR, zero, zero, zero, asm.L128)
	below := a.Here()
	a.Op(asm.MOV, at, row)
	a.Op(asm.MOV, left, asm.Ptr(argsReg, finiteVectors))
	again := a.Here()
	a.Op(asm.VMULPS, x, zero, asm.Ptr(at, 0))
	a.Op(asm.VORPS, all, all, x)
	if format != GemmF32 {
		a.Op(asm.VPSLLD, x, asm.Ptr(at, 0), asm.Imm(16))
		a.Op(asm.VMULPS, x, zero, x)
		a.Op(asm.VORPS, all, all, x)
	}
	a.Op(asm.ADD, at, asm.Imm(a.Length().Bytes()))
	a.Op(asm.SUB, left, asm.Imm(1))
	a.J(asm.NE, again)
	a.Op(asm.ADD, row, asm.Ptr(argsReg, finiteLD))
	a.Op(asm.SUB, rows, asm.Imm(1))
	a.J(asm.NE, below)
	fold(a, asm.VORPS, all, x)
	done := a.NewLabel()
	a.Op(asm.VUCOMISS, all, all)
	a.J(asm.NOPAR, done)
	a.Op(asm.MOV, asm.Ptr(argsReg, finiteResult), asm.Imm(0))
	a.Bind(done)
	return nil
}

// fold combines the lanes of v into its lowest, halves first; t is changed.
func fold(a *asm.Asm, op asm.Op, v, t asm.V) {
	if a.Length() == asm.L512 {
		a.Op(asm.VEXTRACTF64X4, t, v, asm.Imm(1))
		a.Op(op, v, v, t, asm.L256)
	}
	a.Op(asm.VEXTRACTF128, t, v, asm.Imm(1), asm.L256)
	a.Op(op, v, v, t, asm.L128)
	a.Op(asm.VPERMILPS, t, v, asm.Imm(0b01_00_11_10), asm.L128)
	a.Op(op, v, v, t, asm.L128)
	a.Op(asm.VPERMILPS, t, v, asm.Imm(0b10_11_00_01), asm.L128)
	a.Op(op, v, v, t, asm.L128)
}
