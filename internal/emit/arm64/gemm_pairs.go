package arm64

import (
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/arm64/asm"
)

// Products in pairs: USMMLA and BFMMLA take 8 bytes, two lanes, of each of two rows
// of A and of two columns of B, and add to a square of four sums in one register.
//
// A core that begins two a cycle, and adds to the same sums again up to five cycles
// later, needs ten squares to be busy: there are 16. Of 8 rows x 8 columns a step
// loads four registers of A and four of B for 16 instructions, and so one a cycle.
// Fewer rows have more columns, for 16 squares but of 5 and 6 rows, which have 12. The
// 16 registers that squares leave hold operands of two steps, for cores that do not
// rename them.
//
// Rows of A are joined once a call, in memory that stays in the first cache for all
// panels: joined in each panel of 8 columns they would cost two ZIPs beside eight
// multiplications, on the same units. Columns of B are joined when it is packed.
const (
	// PairBlock is the columns of B that lie together, step by step.
	PairBlock = 8

	pairBytes = 8 * PairBlock // of B in a step
	mostPairs = 4             // of rows
	pairSums  = 16            // registers
)

// pairsCols is the columns of a block of so many rows.
func pairsCols(rows int) int {
	switch {
	case rows <= 2:
		return 4 * PairBlock
	case rows <= 4:
		return 2 * PairBlock
	}
	return PairBlock
}

// JoinedBytes is the memory for so many rows of A, of k lanes, in pairs.
func JoinedBytes(rows, k int) int { return (rows + 1) / 2 * 16 * ((k + 1) / 2) }

// PairedBytes is what k lanes of a block of columns take in pairs.
func PairedBytes(k int) int { return pairBytes * ((k + 1) / 2) }

// JoinArgs is what the kernel of GemmKernels.Join gets in X0. It brings K rows of
// lanes, LDFrom bytes apart, into pairs:
//
//	To + j/8*LDTo + k/2*64 + j%8*8 + k%2*4 = From + k*LDFrom + 4*j
//
// for j < 8*Blocks, with zeros for the row behind the last where K is odd.
type JoinArgs struct {
	From, To     unsafe.Pointer
	LDFrom, LDTo uintptr
	K            uintptr
	Blocks       uintptr // at least 1
}

// Registers of that kernel.
const (
	jFrom, jTo, jLDFrom, jLDTo, jK, jBlocks = asm.X(1), asm.X(2), asm.X(3), asm.X(4), asm.X(5), asm.X(6)

	jRow, jNext, jBlock, jLeft = asm.X(7), asm.X(8), asm.X(9), asm.X(10)
)

// newJoin emits it.
func newJoin() *asm.Asm {
	a := asm.New()
	var g JoinArgs
	for _, l := range []struct {
		reg   asm.X
		field uintptr
	}{
		{jFrom, unsafe.Offsetof(g.From)}, {jTo, unsafe.Offsetof(g.To)}, {jLDFrom, unsafe.Offsetof(g.LDFrom)},
		{jLDTo, unsafe.Offsetof(g.LDTo)}, {jK, unsafe.Offsetof(g.K)}, {jBlocks, unsafe.Offsetof(g.Blocks)},
	} {
		a.Op(asm.LDR, l.reg, asm.Ptr(argsReg, int(l.field)))
	}
	last, end := a.NewLabel(), a.NewLabel()
	a.Op(asm.CMPI, jK, asm.Imm(2))
	a.Op(asm.BCOND, asm.LT, last)
	both := a.Here()
	joinStep(a, true)
	a.Op(asm.ADD, jFrom, jFrom, jLDFrom)
	a.Op(asm.ADD, jFrom, jFrom, jLDFrom)
	a.Op(asm.ADDI, jTo, jTo, asm.Imm(pairBytes))
	a.Op(asm.SUBI, jK, jK, asm.Imm(2))
	a.Op(asm.CMPI, jK, asm.Imm(2))
	a.Op(asm.BCOND, asm.GE, both)
	a.Bind(last)
	a.Op(asm.CBZ, jK, end)
	joinStep(a, false)
	a.Bind(end)
	a.Op(asm.RET)
	return a
}

// joinStep joins two rows in all blocks, or the last one with zeros.
func joinStep(a *asm.Asm, second bool) {
	a.Op(asm.ORR, jRow, asm.ZR, jFrom)
	a.Op(asm.ADD, jNext, jFrom, jLDFrom)
	a.Op(asm.ORR, jBlock, asm.ZR, jTo)
	a.Op(asm.ORR, jLeft, asm.ZR, jBlocks)
	block := a.Here()
	for i := range 2 {
		x, y := asm.V(2*i), asm.V(2*i+1)
		a.Op(asm.LDRVQ, x, asm.Ptr(jRow, 16*i))
		if second {
			a.Op(asm.LDRVQ, y, asm.Ptr(jNext, 16*i))
		} else {
			a.Op(asm.MOVI0, y)
		}
		a.Op(asm.ZIP14S, x+4, x, y)
		a.Op(asm.ZIP24S, y+4, x, y)
		a.Op(asm.STRVQ, x+4, asm.Ptr(jBlock, 32*i))
		a.Op(asm.STRVQ, y+4, asm.Ptr(jBlock, 32*i+16))
	}
	a.Op(asm.ADDI, jRow, jRow, asm.Imm(4*PairBlock))
	a.Op(asm.ADDI, jNext, jNext, asm.Imm(4*PairBlock))
	a.Op(asm.ADD, jBlock, jBlock, jLDTo)
	a.Op(asm.SUBI, jLeft, jLeft, asm.Imm(1))
	a.Op(asm.CBNZ, jLeft, block)
}

func (t *tile) pairs() int { return (t.rows + 1) / 2 }

// square is the register of a pair of rows and a pair of columns.
func (t *tile) square(pair, v int) asm.V { return asm.V(pair*t.cols()/2 + v) }

// joinRows writes, for each two lanes of k, 16 bytes a pair of rows: those of the
// first row and of the second. A last row alone is paired with itself.
func (t *tile) joinRows() {
	var g GemmArgs
	at := func(field uintptr) asm.Mem { return asm.Ptr(argsReg, int(field)) }
	const second = gA + 1
	step := 16 * t.pairs()
	x, y, low, high := asm.V(0), asm.V(1), asm.V(2), asm.V(3)
	load := func(op asm.Op) {
		t.Op(op, x, asm.Ptr(gA, 0))
		t.Op(op, y, asm.Ptr(second, 0))
		t.Op(asm.ZIP12D, low, x, y)
		t.Op(asm.STRVQ, low, asm.Ptr(gStepA, 0))
	}
	t.Op(asm.LDR, gTop, at(unsafe.Offsetof(g.A)))
	for pair := range t.pairs() {
		two, one, end := t.NewLabel(), t.NewLabel(), t.NewLabel()
		t.Op(asm.ORR, gA, asm.ZR, gTop)
		t.Op(asm.ORR, second, asm.ZR, gTop)
		if 2*pair+1 < t.rows {
			t.Op(asm.ADD, second, gTop, gLDA)
			t.Op(asm.ADD, gTop, second, gLDA)
		}
		t.Op(asm.ADDI, gStepA, gJoined, asm.Imm(16*pair))
		t.Op(asm.LDR, gK, at(unsafe.Offsetof(g.K)))
		t.Op(asm.CMPI, gK, asm.Imm(4))
		t.Op(asm.BCOND, asm.LT, two)
		round := t.Here()
		load(asm.LDRVQ)
		t.Op(asm.ZIP22D, high, x, y)
		t.Op(asm.STRVQ, high, asm.Ptr(gStepA, step))
		t.Op(asm.ADDI, gA, gA, asm.Imm(16))
		t.Op(asm.ADDI, second, second, asm.Imm(16))
		t.Op(asm.ADDI, gStepA, gStepA, asm.Imm(2*step))
		t.Op(asm.SUBI, gK, gK, asm.Imm(4))
		t.Op(asm.CMPI, gK, asm.Imm(4))
		t.Op(asm.BCOND, asm.GE, round)
		t.Bind(two)
		t.Op(asm.CMPI, gK, asm.Imm(2))
		t.Op(asm.BCOND, asm.LT, one)
		load(asm.LDRVD)
		t.Op(asm.ADDI, gA, gA, asm.Imm(8))
		t.Op(asm.ADDI, second, second, asm.Imm(8))
		t.Op(asm.ADDI, gStepA, gStepA, asm.Imm(step))
		t.Op(asm.SUBI, gK, gK, asm.Imm(2))
		t.Bind(one)
		t.Op(asm.CBZ, gK, end)
		load(asm.LDRVS) // and zeros
		t.Bind(end)
	}
}

// alone is 1 where the last row has no other.
func (t *tile) alone() int {
	if t.format.InPairs() {
		return t.rows % 2
	}
	return 0
}

// blockB walks over a block of B.
func (t *tile) blockB(i int) asm.X {
	if i == 0 {
		return gStepB
	}
	return gBlocks + asm.X(i-1)
}

func (t *tile) startPairs() {
	t.Op(asm.ADDI, gK, gK, asm.Imm(1))
	t.Op(asm.LSR, gK, gK, asm.Imm(1))
	t.Op(asm.ORR, gStepA, asm.ZR, gJoined)
	for i := 1; i < t.cols()/PairBlock; i++ {
		t.Op(asm.ADD, t.blockB(i), t.blockB(i-1), gLDB)
	}
}

func (t *tile) stepPairs(k int) {
	const inBlock = PairBlock / 2
	pairs := t.pairs()
	a := func(pair int) asm.V { return asm.V(pairSums + k%2*pairs + pair) }
	first := pairSums + 2*pairs
	b := func(v int) asm.V { return asm.V(first + (k*t.cols()/2+v)%(32-first)) }
	for pair := range pairs {
		t.Op(asm.LDRVQ, a(pair), asm.Ptr(gStepA, 16*(k*pairs+pair)))
	}
	for i := range t.cols() / PairBlock {
		for v := range inBlock {
			t.Op(asm.LDRVQ, b(i*inBlock+v), asm.Ptr(t.blockB(i), pairBytes*k+16*v))
		}
		for v := i * inBlock; v < (i+1)*inBlock; v++ {
			for pair := range pairs {
				t.Op(t.multiply, t.square(pair, v), a(pair), b(v))
			}
		}
	}
}

func (t *tile) advancePairs(steps int) {
	t.Op(asm.ADDI, gStepA, gStepA, asm.Imm(16*t.pairs()*steps))
	for i := range t.cols() / PairBlock {
		t.Op(asm.ADDI, t.blockB(i), t.blockB(i), asm.Imm(pairBytes*steps))
	}
}

// takeApart makes rows of squares: of two beside each other the upper halves are
// the first row's four sums, the lower ones the second's.
func (t *tile) takeApart() {
	for pair := range t.pairs() {
		for v := 0; v < t.cols()/2; v += 2 {
			x, y, spare := t.square(pair, v), t.square(pair, v+1), t.b(0)
			t.Op(asm.ZIP12D, spare, x, y)
			t.Op(asm.ZIP22D, y, x, y)
			t.Op(asm.ORR16B, x, spare, spare)
		}
	}
}
