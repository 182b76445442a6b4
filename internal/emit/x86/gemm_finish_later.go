package x86

import (
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
)

// AMX multiplies on its own: what is done with the sums of a tile would keep it waiting,
// as the processor does not look past an epilogue of hundreds of instructions. So
// kernels by AMX have rows of a tile finished, some for each chunk, while the next tile
// is multiplied, and all that are left before its sums are stored, perhaps in their place.
// But while AMX multiplies, vector arithmetic goes on as if it had one of its two ports, see
// BenchmarkBesideAMX: an epilogue of many operations is run at once, see FinishLater.

// FinishLater tells whether rows of sums with so many operations on each are better
// finished while the next tile of so many values of k is multiplied. The products of a pair
// of planes take a cycle for a chunk of a row, an instruction on a vector one on one port
// and half of one on two; there are two thirds as many as operations, as multiply-adds
// count twice.
func (f GemmFormat) FinishLater(values int, operations float64) bool {
	chunks := values / (f.Group() * GemmChunk)
	if f.Splits() {
		chunks = values / SplitValues
	}
	return f.AMX() && operations <= float64(3*chunks*len(f.order()))
}

// finishedRows is the rows finished for a chunk: those that have been joined, where sums are.
const finishedRows = joinedRows

// finishesLater tells whether rows are finished so.
func (t *tileGen) finishesLater() bool {
	return t.format.AMX() && !t.tail && (t.format != GemmAMXHalves || t.defers())
}

// handOverLater has the rows of this tile finished later or, if the arguments say so, at
// once, and binds done.
func (t *tileGen) handOverLater(done asm.Label) {
	later := t.NewLabel()
	t.Op(asm.CMP, finishField(finishLater), asm.Imm(0))
	t.J(asm.NE, later)
	t.joinLast()
	t.Bind(later)
	t.tellFinish()
	t.Op(asm.MOV, finishField(finishFrom), fValue)
	t.Op(asm.ADD, fValue, asm.Imm(t.tile.Rows))
	t.Op(asm.MOV, finishField(finishTo), fValue)
	t.Op(asm.CMP, finishField(finishLater), asm.Imm(0))
	t.J(asm.NE, done)
	t.finishRest()
	t.Bind(done)
}

// liveWhileMultiplying are the registers whose contents the loop over chunks needs.
var liveWhileMultiplying = [...]asm.R{asm.RAX, asm.RBX, asm.RDX, asm.RSI, asm.R8, asm.R9, asm.R10, asm.R11, asm.R12, asm.R13, asm.R14, asm.R15}

// finishSome finishes the next rows of the tile before, if there are any left.
func (t *tileGen) finishSome() { t.finishNext(finishedRows) }

// finishRest finishes all that are left.
func (t *tileGen) finishRest() { t.finishNext(t.tile.Rows) }

// finishNext finishes at most n rows, by code that lies behind the kernel's own.
func (t *tileGen) finishNext(n int) {
	if !t.finishesLater() {
		return
	}
	some, done := t.NewLabel(), t.NewLabel()
	t.Op(asm.MOV, fValue, finishField(finishFrom))
	t.Op(asm.CMP, fValue, finishField(finishTo))
	t.J(asm.NE, some)
	t.Bind(done)
	t.behind = append(t.behind, func() {
		t.Bind(some)
		t.finishRows(n)
		t.Jmp(done)
	})
}

// finishRows finishes rows from fValue on. Registers are as before, but for fValue.
func (t *tileGen) finishRows(n int) {
	for i, r := range liveWhileMultiplying {
		t.Op(asm.MOV, asm.Ptr(gArgs, gemmSaved+8*i), r)
	}
	t.Op(asm.MOV, fBlock, finishField(finishBlock))
	t.Op(asm.MOV, asm.Ptr(fBlock, 8*native.WordStart), fValue)
	if n < t.tile.Rows {
		enough := t.NewLabel()
		t.Op(asm.ADD, fValue, asm.Imm(n))
		t.Op(asm.CMP, fValue, finishField(finishTo))
		t.J(asm.ULE, enough)
		t.Op(asm.MOV, fValue, finishField(finishTo))
		t.Bind(enough)
	} else {
		t.Op(asm.MOV, fValue, finishField(finishTo))
	}
	t.Op(asm.MOV, asm.Ptr(fBlock, 8*native.WordEnd), fValue)
	t.Op(asm.MOV, finishField(finishFrom), fValue)
	t.goThroughFinish()
	for i, r := range liveWhileMultiplying {
		t.Op(asm.MOV, r, asm.Ptr(gArgs, gemmSaved+8*i))
	}
	if t.defers() {
		t.Op(asm.MOV, fValue, asm.Ptr(gArgs, gemmJoinScale))
		t.joinConstants(fValue)
	}
}
