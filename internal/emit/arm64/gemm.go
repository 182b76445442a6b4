package arm64

import (
	"bytes"
	"fmt"
	"unsafe"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/emit/arm64/asm"
)

// GemmFormat is what 32-bit lanes of A and B hold, values of one or more
// successive k, which make up one K step, and the instruction that multiplies them.
type GemmFormat uint8

const (
	GemmF32 GemmFormat = iota // one f32 each, summed by fused multiply-adds
	// GemmSigned is four u8 of A and four s8 of B, summed exactly in s32, which
	// wraps: SDOT takes A less 128, and 128 times the sums of B's columns are added
	// at the end.
	GemmSigned
	GemmBytes // the same sums by USMMLA, in pairs
	GemmBF16  // two bf16 each, summed in f32 as BFMMLA does, in pairs
	gemmFormats
)

func (f GemmFormat) String() string {
	return [...]string{"f32", "u8*s8 by SDOT", "u8*s8 by USMMLA", "bf16 by BFMMLA"}[f]
}

// InPairs tells whether a format's instruction multiplies two rows by two columns,
// of two steps at once: then B is what Join makes of lanes by rows.
func (f GemmFormat) InPairs() bool { return f == GemmBytes || f == GemmBF16 }

// gemmVectors are the vectors of a row's sums that stay in registers.
const gemmVectors = 4

// Rows is the most rows of a block: with its sums four registers of B and two
// elements of A that take turns; GemmSigned has sums of columns and two constants
// beside.
func (f GemmFormat) Rows() int {
	switch {
	case f.InPairs():
		return 2 * mostPairs
	case f == GemmSigned:
		return 5
	}
	return 6
}

// Cols is the columns of a block of so many rows.
func (f GemmFormat) Cols(rows int) int {
	if f.InPairs() {
		return pairsCols(rows)
	}
	return gemmVectors * wide
}

// HasGemm tells whether a processor has a format's instructions.
func HasGemm(f GemmFormat, has *cpuid.Features) bool {
	switch f {
	case GemmSigned:
		return has.DotProd
	case GemmBytes:
		return has.I8MM
	case GemmBF16:
		return has.BF16
	}
	return true
}

// GemmArgs is what a tile kernel gets in X0. It computes Panels blocks of so many
// rows x Cols results, side by side in C:
//
//	for each row r, column j:  c = 0
//	for k = 0 .. K-1:          c += A[r][k] * B[k][j]
//	C[r][j] = Continue != 0 ? C[r][j] + c : c
//
// where k counts steps and the products are those of its format. A[r][k] is at
// A + r*LDA + 4*k, B[k] of the first panel at B + k*LDB; the next panel's columns
// follow the last one's in B and in C.
//
// In pairs B lies as JoinArgs says, with LDB bytes from one PairBlock of columns to
// the next, and Joined is memory that the kernel needs: JoinedBytes of rows and K.
type GemmArgs struct {
	A, B, C       unsafe.Pointer
	Joined        unsafe.Pointer
	LDA, LDB, LDC uintptr // bytes
	Panels        uintptr // at least 1
	K             uintptr
	Continue      uintptr
}

// Registers of a tile kernel.
const (
	gB     = asm.X(1)
	gC     = asm.X(2)
	gLDA   = asm.X(3)
	gLDB   = asm.X(4)
	gLDC   = asm.X(5)
	gLeft  = asm.X(6)
	gK     = asm.X(7)
	gStepB = asm.X(8) // walks over B
	gRow   = asm.X(9) // walks over C
	gKeep  = asm.X(10)
	gA     = asm.X(19) // and those behind it: rows of A

	// In pairs:
	gJoined = asm.X(11)
	gStepA  = asm.X(12) // walks over what is joined
	gTop    = asm.X(13) // of a pair of rows, before there are
	gBlocks = asm.X(13) // and the two behind it: gStepB of further blocks
)

// GemmKernels are the offsets in Code of tile kernels of one row and more, by rows,
// and of the kernel that makes B of a format in pairs.
type GemmKernels struct {
	Code []byte
	At   []int
	Join int
}

// EmitGemm emits the tile kernels of a format.
func EmitGemm(f GemmFormat) (*GemmKernels, error) {
	g := &GemmKernels{At: make([]int, f.Rows()+1)}
	for rows := 1; rows <= f.Rows(); rows++ {
		code, err := newTile(f, rows).Finish()
		if err != nil {
			return nil, fmt.Errorf("arm64: tile of %d rows: %w", rows, err)
		}
		g.At[rows] = len(g.Code)
		g.Code = append(g.Code, code...)
	}
	if f.InPairs() {
		code, err := newJoin().Finish()
		if err != nil {
			return nil, fmt.Errorf("arm64: pairs of columns: %w", err)
		}
		g.Join = len(g.Code)
		g.Code = append(g.Code, code...)
	}
	return g, nil
}

// tile emits one tile kernel.
type tile struct {
	*asm.Asm
	format   GemmFormat
	rows     int
	multiply asm.Op // and add
	add      asm.Op
}

func newTile(f GemmFormat, rows int) *tile {
	t := &tile{Asm: asm.New(), format: f, rows: rows, multiply: asm.FMLA4SLANE, add: asm.FADD4S}
	switch f {
	case GemmSigned:
		t.multiply, t.add = asm.SDOTLANE, asm.ADD4S
	case GemmBytes:
		t.multiply, t.add = asm.USMMLA, asm.ADD4S
	case GemmBF16:
		t.multiply = asm.BFMMLA
	}
	t.kernel()
	return t
}

func (t *tile) cols() int { return t.format.Cols(t.rows) }

// acc is the sums of a vector of columns in a row: in pairs once they are taken
// apart.
func (t *tile) acc(r, v int) asm.V {
	if t.format.InPairs() {
		return t.square(r/2, 2*v+r%2)
	}
	return asm.V(r*gemmVectors + v)
}

func (t *tile) b(v int) asm.V {
	if t.format.InPairs() {
		return asm.V(pairSums + v)
	}
	return asm.V(t.format.Rows()*gemmVectors + v)
}

// x is the register for the i-th element of A.
func (t *tile) x(i int) asm.V { return t.b(gemmVectors) + asm.V(i%2) }

// column is GemmSigned's sum of a vector of B.
func (t *tile) column(v int) asm.V { return t.x(0) + 2 + asm.V(v) }

// GemmSigned's constants: bytes of 1, and of 128, which turns u8 into u8 - 128.
const (
	gemmOnes = asm.V(30)
	gemmFlip = asm.V(31)
)

func (t *tile) kernel() {
	at := func(field uintptr) asm.Mem { return asm.Ptr(argsReg, int(field)) }
	var g GemmArgs
	for _, l := range []struct {
		reg   asm.X
		field uintptr
	}{
		{gB, unsafe.Offsetof(g.B)}, {gC, unsafe.Offsetof(g.C)}, {gLDA, unsafe.Offsetof(g.LDA)}, {gLDB, unsafe.Offsetof(g.LDB)},
		{gLDC, unsafe.Offsetof(g.LDC)}, {gLeft, unsafe.Offsetof(g.Panels)}, {gKeep, unsafe.Offsetof(g.Continue)},
	} {
		t.Op(asm.LDR, l.reg, at(l.field))
	}
	if t.format == GemmSigned {
		t.Op(asm.LDRLIT, gemmOnes, t.Const([16]byte(bytes.Repeat([]byte{1}, 16))))
		t.Op(asm.LDRLIT, gemmFlip, t.Const([16]byte(bytes.Repeat([]byte{128}, 16))))
	}
	if t.format.InPairs() {
		t.Op(asm.LDR, gJoined, at(unsafe.Offsetof(g.Joined)))
		t.joinRows()
	}
	panel := t.Here()
	t.start()
	t.steps()
	t.results()
	t.nextPanel()
	t.Op(asm.SUBI, gLeft, gLeft, asm.Imm(1))
	t.Op(asm.CBNZ, gLeft, panel)
	t.Op(asm.RET)
}

// start makes sums 0 and goes to the first step.
func (t *tile) start() {
	at := func(field uintptr) asm.Mem { return asm.Ptr(argsReg, int(field)) }
	var g GemmArgs
	if t.format == GemmSigned {
		for v := range gemmVectors {
			t.Op(asm.MOVI0, t.column(v))
		}
	}
	for r := range t.rows + t.alone() {
		for v := range t.cols() / wide {
			t.Op(asm.MOVI0, t.acc(r, v))
		}
	}
	t.Op(asm.LDR, gK, at(unsafe.Offsetof(g.K)))
	t.Op(asm.ORR, gStepB, asm.ZR, gB)
	if t.format.InPairs() {
		t.startPairs()
		return
	}
	t.Op(asm.LDR, gA, at(unsafe.Offsetof(g.A)))
	for r := 1; r < t.rows; r++ {
		t.Op(asm.ADD, gA+asm.X(r), gA+asm.X(r-1), gLDA)
	}
}

// nextPanel moves B and C on.
func (t *tile) nextPanel() {
	if t.format.InPairs() {
		for range t.cols() / PairBlock {
			t.Op(asm.ADD, gB, gB, gLDB)
		}
	} else {
		t.Op(asm.ADDI, gB, gB, asm.Imm(4*t.cols()))
	}
	t.Op(asm.ADDI, gC, gC, asm.Imm(4*t.cols()))
}

// gemmUnroll is the k in one round of the main loop.
const gemmUnroll = 4

// steps adds the products of all k, in rounds and then one by one.
func (t *tile) steps() {
	rest, end := t.NewLabel(), t.NewLabel()
	t.Op(asm.CMPI, gK, asm.Imm(gemmUnroll))
	t.Op(asm.BCOND, asm.LT, rest)
	round := t.Here()
	for k := range gemmUnroll {
		t.step(k)
	}
	t.advance(gemmUnroll)
	t.Op(asm.CMPI, gK, asm.Imm(gemmUnroll))
	t.Op(asm.BCOND, asm.GE, round)
	t.Bind(rest)
	t.Op(asm.CBZ, gK, end)
	one := t.Here()
	t.step(0)
	t.advance(1)
	t.Op(asm.CBNZ, gK, one)
	t.Bind(end)
}

func (t *tile) step(k int) {
	if t.format.InPairs() {
		t.stepPairs(k)
		return
	}
	for v := range gemmVectors {
		t.Op(asm.LDRVQ, t.b(v), asm.Ptr(gStepB, 16*v))
	}
	t.Op(asm.ADD, gStepB, gStepB, gLDB)
	if t.format == GemmSigned {
		for v := range gemmVectors {
			t.Op(asm.SDOT, t.column(v), t.b(v), gemmOnes)
		}
	}
	for r := range t.rows {
		t.Op(asm.LDRVS, t.x(r), asm.Ptr(gA+asm.X(r), 4*k))
		if t.format == GemmSigned {
			t.Op(asm.EOR16B, t.x(r), t.x(r), gemmFlip)
		}
		for v := range gemmVectors {
			t.Op(t.multiply, t.acc(r, v), t.b(v), t.x(r), asm.Imm(0))
		}
	}
}

func (t *tile) advance(steps int) {
	t.Op(asm.SUBI, gK, gK, asm.Imm(steps))
	if t.format.InPairs() {
		t.advancePairs(steps)
		return
	}
	for r := range t.rows {
		t.Op(asm.ADDI, gA+asm.X(r), gA+asm.X(r), asm.Imm(4*steps))
	}
}

// results stores the sums, added to what is there if the arguments say so.
func (t *tile) results() {
	if t.format.InPairs() {
		t.takeApart()
	}
	if t.format == GemmSigned {
		for v := range gemmVectors {
			t.Op(asm.SHL4S, t.column(v), t.column(v), asm.Imm(7))
			for r := range t.rows {
				t.Op(asm.ADD4S, t.acc(r, v), t.acc(r, v), t.column(v))
			}
		}
	}
	fresh := t.NewLabel()
	t.Op(asm.CBZ, gKeep, fresh)
	t.eachRow(func(r, v int) {
		t.Op(asm.LDRVQ, t.b(v), asm.Ptr(gRow, 16*v))
		t.Op(t.add, t.acc(r, v), t.b(v), t.acc(r, v))
	})
	t.Bind(fresh)
	t.eachRow(func(r, v int) { t.Op(asm.STRVQ, t.acc(r, v), asm.Ptr(gRow, 16*v)) })
}

// eachRow calls f for every accumulator while gRow is at its row in C.
func (t *tile) eachRow(f func(r, v int)) {
	t.Op(asm.ORR, gRow, asm.ZR, gC)
	for r := range t.rows {
		for v := range t.cols() / wide {
			f(r, v)
		}
		t.Op(asm.ADD, gRow, gRow, gLDC)
	}
}
