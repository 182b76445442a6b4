package x86

import (
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/loop"
)

// GemmFinish has a kernel of loops, emitted by EmitFinish, run behind each block
// of sums: its rows are those of the Global loop, and it is told their number,
// that of its first column and of the one behind its last, and where the sums
// are. By AMX it is run for some rows at a time. Tile kernel and loops jump to each
// other instead of calling, so that the stack is that of one leaf.
type GemmFinish struct {
	Entry    uintptr // of the kernel's code; 0: nothing follows
	Block    uintptr // its argument block, as FinishLayout says
	Row, Col uintptr // numbers of the first
	Cols     uintptr // of each block
	Later    uintptr // by AMX: 0 for all rows at once, see FinishLater; tails and other kernels finish them so in any case
	At       [FinishAts]uintptr

	back, row, col uintptr // for the tile kernel alone: where it goes on, the next row and column
	from, to       uintptr // for those by AMX: rows that wait for the kernel
}

// What a GemmFinish says in words of the block, at the byte offsets of At: the
// spare word for what the kernel does not ask for.
const (
	FinishRow   = iota // the first row
	FinishCol          // the first column
	FinishEnd          // the column behind the last
	FinishPanel        // the address of the sums
	FinishAts
)

// Offsets of GemmFinish' fields.
const (
	finishEntry = 0
	finishBlock = 8
	finishRow   = 16
	finishCol   = 24
	finishCols  = 32
	finishLater = 40
	finishAt    = 48
	finishBack  = finishAt + 8*FinishAts
	finishDown  = finishBack + 8  // row
	finishNext  = finishBack + 16 // col
	finishFrom  = finishBack + 24
	finishTo    = finishBack + 32
	finishSize  = finishBack + 40
)

// FinishLayout is the layout of the argument block of a kernel behind tiles: two
// words more than others have, the address of the tiles' GemmArgs and one
// without meaning.
func FinishLayout(k *loop.Kernel) (l native.Layout, args, spare int) {
	l = native.LayoutOf(k)
	args, spare = l.Words, l.Words+1
	l.Words += 2
	return l, args, spare
}

// EmitFinish is Emit for a kernel behind tiles of so many vectors: it works on no
// more of a row at once.
func EmitFinish(k *loop.Kernel, isa ISA, vectors int) (*Code, error) {
	_, args, _ := FinishLayout(k)
	code, _, err := emit(k, isa, emitOptions{finish: args, vectors: vectors})
	return code, err
}

// returnToTile ends a kernel behind tiles.
func returnToTile(a *asm.Asm, args int) {
	a.Op(asm.MOV, argsReg, asm.Ptr(argsReg, 8*args))
	a.Op(asm.MOV, asm.RAX, asm.Ptr(argsReg, gemmFinish+finishBack))
	a.Op(asm.JMP, asm.RAX)
}

// handOver goes through the kernel that follows the sums, if there is one, or has that
// done while the next tile is multiplied. No register but gArgs survives.
func (t *tileGen) handOver() {
	none := t.NewLabel()
	t.Op(asm.CMP, finishField(finishEntry), asm.Imm(0))
	t.J(asm.EQ, none)
	if t.finishesLater() {
		t.handOverLater(none)
		return
	}
	t.tellFinish()
	t.Op(asm.MOV, asm.Ptr(fBlock, 8*native.WordStart), fValue)
	t.Op(asm.ADD, fValue, asm.Imm(t.tile.Rows))
	t.Op(asm.MOV, asm.Ptr(fBlock, 8*native.WordEnd), fValue)
	t.goThroughFinish()
	t.Bind(none)
}

// Registers of what hands over.
const (
	fBlock = asm.RAX
	fValue = asm.RCX
	fAt    = asm.RDX
)

func finishField(n int) asm.M { return asm.Ptr(gArgs, gemmFinish+n) }

// tellFinish writes what a GemmFinish says of this tile into the block, to which fBlock
// points then; fValue is the first row. The next tile is the one beside it.
func (t *tileGen) tellFinish() {
	put := func(what int) {
		t.Op(asm.MOV, fAt, finishField(finishAt+8*what))
		t.Op(asm.MOV, asm.Idx(fBlock, fAt, 1, 0), fValue)
	}
	t.Op(asm.MOV, fBlock, finishField(finishBlock))
	t.Op(asm.MOV, fValue, finishField(finishNext))
	put(FinishCol)
	t.Op(asm.ADD, fValue, finishField(finishCols))
	t.Op(asm.MOV, finishField(finishNext), fValue)
	put(FinishEnd)
	t.Op(asm.MOV, fValue, asm.Ptr(gArgs, gemmNextC))
	put(FinishPanel)
	t.Op(asm.MOV, fValue, finishField(finishDown))
	put(FinishRow)
}

// goThroughFinish jumps to the kernel with its block, and goes on here.
func (t *tileGen) goThroughFinish() {
	back := t.NewLabel()
	t.Op(asm.LEA, fValue, asm.Rip(back, 0))
	t.Op(asm.MOV, finishField(finishBack), fValue)
	t.Op(asm.MOV, fValue, finishField(finishEntry))
	t.Op(asm.MOV, gArgs, fBlock)
	t.Op(asm.JMP, fValue)
	t.Bind(back)
}
