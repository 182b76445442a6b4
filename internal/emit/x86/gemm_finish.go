package x86

import (
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/loop"
)

// GemmFinish has a kernel of loops, emitted by EmitFinish, run behind each block
// of sums: its rows are those of the Global loop, and it is told their number,
// that of its first column and of the one behind its last, and where the sums
// are. Tile kernel and loops jump to each other instead of calling, so that the
// stack is that of one leaf.
type GemmFinish struct {
	Entry    uintptr // of the kernel's code; 0: nothing follows
	Block    uintptr // its argument block, as FinishLayout says
	Row, Col uintptr // numbers of the first
	Cols     uintptr // of each block
	At       [FinishAts]uintptr

	back, row, col uintptr // for the tile kernel alone: where it goes on, the next row and column
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
	finishAt    = 40
	finishBack  = finishAt + 8*FinishAts
	finishDown  = finishBack + 8  // row
	finishNext  = finishBack + 16 // col
	finishSize  = finishBack + 24
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

// handOver goes through the kernel that follows the sums, if there is one. No
// register but gArgs survives.
func (t *tileGen) handOver() {
	const block, value, at = asm.RAX, asm.RCX, asm.RDX
	none, back := t.NewLabel(), t.NewLabel()
	field := func(n int) asm.M { return asm.Ptr(gArgs, gemmFinish+n) }
	put := func(what int) {
		t.Op(asm.MOV, at, field(finishAt+8*what))
		t.Op(asm.MOV, asm.Idx(block, at, 1, 0), value)
	}
	t.Op(asm.CMP, field(finishEntry), asm.Imm(0))
	t.J(asm.EQ, none)
	t.Op(asm.MOV, block, field(finishBlock))
	t.Op(asm.MOV, value, field(finishDown))
	t.Op(asm.MOV, asm.Ptr(block, 8*native.WordStart), value)
	put(FinishRow)
	t.Op(asm.ADD, value, asm.Imm(t.tile.Rows))
	t.Op(asm.MOV, asm.Ptr(block, 8*native.WordEnd), value)
	t.Op(asm.MOV, value, field(finishNext))
	put(FinishCol)
	t.Op(asm.ADD, value, field(finishCols))
	t.Op(asm.MOV, field(finishNext), value)
	put(FinishEnd)
	t.Op(asm.MOV, value, asm.Ptr(gArgs, gemmNextC))
	put(FinishPanel)
	t.Op(asm.LEA, value, asm.Rip(back, 0))
	t.Op(asm.MOV, field(finishBack), value)
	t.Op(asm.MOV, value, field(finishEntry))
	t.Op(asm.MOV, gArgs, block)
	t.Op(asm.JMP, value)
	t.Bind(back)
	t.Bind(none)
}
