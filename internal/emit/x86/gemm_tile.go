package x86

import (
	"fmt"

	"github.com/sinterml/sinter/internal/emit/x86/asm"
)

// tileGen emits one tile kernel. A K step is one lane of A, broadcast,
// times a vector of lanes of B: so many values of k as its format says.
type tileGen struct {
	*asm.Asm
	format    GemmFormat
	tile      GemmTile
	tail      bool // the last vector of a row is masked: by K(1), with AVX2 by t.mask
	form      GemmForm
	fetchB    bool // the next panel of B is fetched
	bytes     int  // of a vector
	registers int
	broadcast asm.Op
	multiply  asm.Op // and, except with GemmWords and GemmPairs, add
	add       asm.Op
	move      asm.Op // of vectors whose lanes may be masked, by AVX2 with maskMove
	maskMove  asm.Op
	behind    []func() // emit code that lies behind the kernel's own
}

// emitGemmTile emits the kernel that GemmArgs describes.
func emitGemmTile(isa asm.ISA, format GemmFormat, tile GemmTile, tail bool, form GemmForm, fetchB bool) (*asm.Asm, error) {
	t := newTileGen(isa, format, tile, tail)
	t.form, t.fetchB = form, fetchB && form != GemmPlaces && form != GemmPast || form == GemmFetching
	t.broadcast, t.multiply, t.add = format.ops()
	t.move, t.maskMove = format.moves()
	t.bytes = t.Length().Bytes()
	if !t.fits() {
		return nil, fmt.Errorf("gemm tile %dx%d does not fit %d vector registers", tile.Rows, tile.Vectors, t.registers)
	}
	if form.Columns() && !format.Plain() && (format != GemmBF16 || form == GemmFarColumns) {
		return nil, fmt.Errorf("gemm tile of %v reads A by rows alone", format)
	}
	if form == GemmPlaces && (format != GemmF32 || tile.Vectors > len(gPlaces)) {
		return nil, fmt.Errorf("gemm tile of %v and %d vectors reads B in panels alone", format, tile.Vectors)
	}
	if form == GemmPast && (isa != asm.AVX512 || format != GemmBytes && format != GemmF32) { // AVX2's vectors are half lines
		return nil, fmt.Errorf("gemm tile of %v stores in the caches alone with %v", format, isa)
	}
	if form == GemmFetching && (isa != asm.AVX2 || format != GemmF32 && format != GemmWide || tile.Vectors > 3) {
		return nil, fmt.Errorf("gemm tile of %v fetches by its shape alone with %v", format, isa)
	}
	t.kernel()
	return t.Asm, nil
}

func newTileGen(isa asm.ISA, format GemmFormat, tile GemmTile, tail bool) *tileGen {
	t := &tileGen{Asm: asm.New(isa), format: format, tile: tile, tail: tail, registers: 16}
	if isa == asm.AVX512 {
		t.registers = 32
	}
	return t
}

// fits tells whether the kernel has registers enough.
func (t *tileGen) fits() bool {
	if t.format.AMX() {
		return t.ISA == asm.AVX512 && t.tile.fitsAMX(t.format)
	}
	if t.format == GemmPairs && (t.ISA != asm.AVX2 || t.tile.Vectors*t.format.Lanes(t.ISA) > PackedCols || t.tile.Rows > PairsSteps) {
		return false
	}
	return t.tile.Rows >= 1 && t.tile.Vectors >= 1 && t.tile.Vectors <= 4 && t.free() >= 1 && t.tile.Rows <= rowsPerBase*len(gBases)
}

// Fits tells whether a format has kernels of the tile.
func (t GemmTile) Fits(isa asm.ISA, f GemmFormat) bool { return newTileGen(isa, f, t, true).fits() }

// acc is the accumulator of row r, vector v.
func (t *tileGen) acc(r, v int) asm.V { return asm.V(r*t.tile.Vectors + v) }

// b is the register for vector v of B.
func (t *tileGen) b(v int) asm.V { return asm.V(t.tile.Rows*t.tile.Vectors + v) }

// mask is AVX2's mask of the last vector: of loads of B in place and of results.
// Where B is always packed it is wanted after the sums alone.
func (t *tileGen) mask() asm.V { return asm.V(t.registers - 1) }

// lateMask tells that the mask is loaded when the sums are done, into a register
// that these needed.
func (t *tileGen) lateMask() bool { return t.tail && t.ISA == asm.AVX2 && !t.format.Plain() }

// free counts the registers for broadcast elements.
func (t *tileGen) free() int {
	n := t.registers - int(t.product())
	if t.tail && t.ISA == asm.AVX2 && !t.lateMask() {
		n-- // mask
	}
	return n - t.format.spare()
}

// product is the register for products that are still to be added, behind the sums and,
// but for GemmPairs, B.
func (t *tileGen) product() asm.V {
	if t.format == GemmPairs {
		return asm.V(t.tile.Rows * t.tile.Vectors)
	}
	return asm.V((t.tile.Rows + 1) * t.tile.Vectors)
}

// spare counts the registers that steps of a format take beside operands and sums: a
// product, GemmWide's mask, or a product and words of 1.
func (f GemmFormat) spare() int {
	switch f {
	case GemmWords, GemmWide:
		return 1
	case GemmPairs:
		return 2
	}
	return 0
}

// x is the register for the i-th broadcast element: two take turns where there
// is room.
func (t *tileGen) x(i int) asm.V {
	return t.product() + asm.V(t.format.spare()+i%min(2, t.free()))
}

func (t *tileGen) kernel() {
	if t.format.Linear() {
		t.copyArgs([][2]int{{gemmDownBias, gemmRowBias}})
	}
	t.copyArgs([][2]int{{gemmDownA, gemmA}, {gemmDownC, gemmC}, {gemmDownAhead, gemmAhead}, {gemmDownBeside, gemmBeside}, {gemmDownLeft, gemmRows}, {gemmFinish + finishDown, gemmFinish + finishRow}})
	if t.format.AMX() {
		t.configure()
		t.copyArgs([][2]int{{gemmDownNextA, gemmNextA}})
		if t.format == GemmAMXHalves {
			t.joinBegin()
		}
		t.Op(asm.MOV, finishField(finishFrom), asm.Imm(0))
		t.Op(asm.MOV, finishField(finishTo), asm.Imm(0))
	}
	rows := t.Here()
	if t.format.AMX() {
		t.copyArgs([][2]int{{gemmFetchA, gemmDownNextA}})
	}
	t.copyArgs([][2]int{{gemmNextB, gemmB}, {gemmNextC, gemmDownC}, {gemmNextRow, gemmDownAhead}, {gemmNextBeside, gemmDownBeside}, {gemmLeft, gemmPanels}, {gemmFinish + finishNext, gemmFinish + finishCol}})
	if t.format.Linear() {
		t.copyArgs([][2]int{{gemmNextBias, gemmBias}})
	}
	panel := t.Here()
	if t.format.AMX() {
		t.fetchAhead()
		t.amxStart()
		t.amxOperands()
		t.amxSteps()
		t.amxFinish()
	} else {
		t.start()
		t.operands()
		if t.format == GemmPairs {
			t.pairs()
		} else {
			t.steps(gemmBlocks, GemmUnroll)
			t.steps(gemmRest, 1)
		}
		if t.format.TakesPart(t.ISA) {
			t.part()
		}
		if t.form == GemmFetching {
			t.Op(asm.MOV, asm.Ptr(gArgs, gemmFetch), gNextB)
		}
		t.finish()
	}
	t.handOver()
	t.Op(asm.MOV, gCount, asm.Ptr(gArgs, gemmStepC))
	t.Op(asm.ADD, asm.Ptr(gArgs, gemmNextC), gCount)
	t.Op(asm.SUB, asm.Ptr(gArgs, gemmLeft), asm.Imm(1))
	t.J(asm.NE, panel)
	t.joinLast()
	t.nextRows()
	t.Op(asm.SUB, asm.Ptr(gArgs, gemmDownLeft), asm.Imm(1))
	t.J(asm.NE, rows)
	t.finishRest()
	if t.format.AMX() {
		t.Op(asm.TILERELEASE)
	}
	if t.form == GemmPast {
		t.Op(asm.SFENCE) // whoever learns that the call is over finds the results
	}
	t.Op(asm.VZEROUPPER)
	t.Op(asm.RET)
	for _, emit := range t.behind {
		emit()
	}
}

// copyArgs copies words of the arguments, from the second offset to the first.
func (t *tileGen) copyArgs(offsets [][2]int) {
	for _, at := range offsets {
		t.Op(asm.MOV, gCount, asm.Ptr(gArgs, at[1]))
		t.Op(asm.MOV, asm.Ptr(gArgs, at[0]), gCount)
	}
}

// nextRows goes to the row panel below.
func (t *tileGen) nextRows() {
	move := func(at int, by asm.Arg) {
		t.Op(asm.MOV, gCount, by)
		t.Op(asm.IMUL, gCount, gCount, asm.Imm(t.tile.Rows))
		t.Op(asm.ADD, asm.Ptr(gArgs, at), gCount)
	}
	if t.form.Columns() {
		t.Op(asm.ADD, asm.Ptr(gArgs, gemmDownA), asm.Imm(t.format.Word()*t.tile.Rows))
	} else {
		move(gemmDownA, asm.Ptr(gArgs, gemmLDA))
	}
	if t.format.AMX() {
		move(gemmDownNextA, asm.Ptr(gArgs, gemmLDNextA))
	}
	move(gemmDownAhead, asm.Ptr(gArgs, gemmLDAhead))
	move(gemmDownBeside, asm.Ptr(gArgs, gemmLDBeside))
	if t.format.Linear() {
		move(gemmDownBias, asm.Ptr(gArgs, gemmLDBias))
	}
	t.Op(asm.MOV, gCount, asm.Ptr(gArgs, gemmRowsC))
	t.Op(asm.ADD, asm.Ptr(gArgs, gemmDownC), gCount)
	t.Op(asm.ADD, asm.Ptr(gArgs, gemmFinish+finishDown), asm.Imm(t.tile.Rows))
}

// width is the bytes of a row of the tile.
func (t *tileGen) width() int { return t.tile.Vectors * t.bytes }

// start clears the accumulators.
func (t *tileGen) start() {
	for r := range t.tile.Rows {
		for v := range t.tile.Vectors {
			t.zero(t.acc(r, v))
		}
	}
	if t.form != GemmPast {
		t.fetchAhead()
	}
}

// finish stores the sums, added to what is there if the arguments say so.
func (t *tileGen) finish() {
	if t.lateMask() {
		t.Op(asm.VMOVUPS, t.mask(), asm.Ptr(gArgs, gemmMask))
	}
	fresh := t.NewLabel()
	t.Op(asm.CMP, asm.Ptr(gArgs, gemmContinue), asm.Imm(0))
	t.J(asm.EQ, fresh)
	t.eachRow(func(r, v int) {
		t.load(t.b(v), t.cell(v), v)
		t.Op(t.add, t.acc(r, v), t.b(v), t.acc(r, v))
	})
	t.Bind(fresh)
	if t.format.Linear() {
		t.linear()
	}
	t.eachRow(func(r, v int) { t.store(t.cell(v), t.acc(r, v), v) })
}

// fetchAhead fetches the lines that will be written, and read beside the sums,
// some thousand cycles later. What is read is fetched as if to be written, too:
// on Zen 4 an ordinary fetch leaves two thirds of it to be waited for.
func (t *tileGen) fetchAhead() {
	t.fetch(gemmNextBeside, gemmLDBeside)
	t.fetch(gemmNextRow, gemmLDAhead)
}

// fetch fetches a tile's rows of one of the matrices laid out as C, if it is
// there, and goes on to the next tile.
func (t *tileGen) fetch(matrix, pitch int) {
	const line = 64
	none := t.NewLabel()
	t.Op(asm.CMP, asm.Ptr(gArgs, pitch), asm.Imm(0))
	t.J(asm.EQ, none)
	t.walk(matrix, pitch, func(int) {
		for at := 0; at < t.width(); at += line {
			t.Op(asm.PREFETCHW, asm.Ptr(gRow, at))
		}
	})
	t.Op(asm.ADD, asm.Ptr(gArgs, matrix), asm.Imm(t.width()))
	t.Bind(none)
}

// walk calls f for every row while gRow is at its start, in the matrix and with
// the pitch that the arguments at these offsets give.
func (t *tileGen) walk(matrix, pitch int, f func(r int)) {
	t.Op(asm.MOV, gRow, asm.Ptr(gArgs, matrix))
	t.Op(asm.MOV, gPitch, asm.Ptr(gArgs, pitch))
	for r := range t.tile.Rows {
		f(r)
		if r+1 < t.tile.Rows {
			t.Op(asm.ADD, gRow, gPitch)
		}
	}
}

// eachRow calls f for every accumulator while gRow is at its row in C.
func (t *tileGen) eachRow(f func(r, v int)) {
	t.walk(gemmNextC, gemmLDC, func(r int) {
		for v := range t.tile.Vectors {
			f(r, v)
		}
	})
}

// zero clears a register: by VEX where that reaches, being shorter.
func (t *tileGen) zero(v asm.V) {
	if v < 16 {
		t.Op(asm.VPXOR, v, v, v, asm.L128)
		return
	}
	t.Op(asm.VPXORD, v, v, v)
}

func (t *tileGen) cell(v int) asm.M { return asm.Ptr(gRow, v*t.bytes) }

func (t *tileGen) masked(v int) bool { return t.tail && v == t.tile.Vectors-1 }

// load reads vector v of a row.
func (t *tileGen) load(to asm.V, from asm.M, v int) {
	switch {
	case !t.masked(v):
		t.Op(t.move, to, from)
	case t.ISA == asm.AVX512:
		t.Op(t.move, to, from, asm.MaskZ(1))
	default:
		t.Op(t.maskMove, to, t.mask(), from)
	}
}

func (t *tileGen) store(to asm.M, from asm.V, v int) {
	switch {
	case !t.masked(v) && t.form == GemmPast:
		t.Op(asm.VMOVNTPS, to, from)
	case !t.masked(v):
		t.Op(t.move, to, from)
	case t.ISA == asm.AVX512:
		t.Op(t.move, to, from, asm.Mask(1))
	default:
		t.Op(t.maskMove, to, t.mask(), from)
	}
}

// steps loops as often as the argument at offset count says over unroll K
// steps.
func (t *tileGen) steps(count, unroll int) {
	done := t.NewLabel()
	t.Op(asm.MOV, gCount, asm.Ptr(gArgs, count))
	t.Op(asm.TEST, gCount, gCount)
	t.J(asm.EQ, done)
	t.Align(32)
	again := t.Here()
	if unroll == GemmUnroll && t.fetchesRows() {
		for g := range t.bases() {
			t.Op(asm.PREFETCHT1, asm.Idx(gBases[g], gNextRows, 1, 0))
		}
	}
	for k := range unroll {
		t.step(k, t.spread)
	}
	if !t.form.Columns() {
		for g := range t.bases() {
			t.Op(asm.ADD, gBases[g], asm.Imm(t.format.StepA()*unroll))
		}
	}
	if t.form == GemmPlaces {
		t.Op(asm.ADD, gRows, asm.Imm(8*unroll))
	}
	t.Op(asm.SUB, gCount, asm.Imm(1))
	t.J(asm.NE, again)
	t.Bind(done)
}

// part adds a step of which A holds a part, if the arguments say that there is
// one.
func (t *tileGen) part() {
	none := t.NewLabel()
	t.Op(asm.CMP, asm.Ptr(gArgs, gemmPart), asm.Imm(0))
	t.J(asm.EQ, none)
	t.Op(asm.KMOVW, asm.K(2), asm.Ptr(gArgs, gemmPart))
	t.step(0, func(to asm.V, from asm.M) {
		t.Op(asm.VMOVDQU8, to, from, asm.MaskZ(2), asm.L128)
		t.Op(t.broadcast, to, to)
	})
	t.Bind(none)
}

// spread loads an element into all lanes. It is an instruction of its own: as
// an operand of the multiply-add it would be loaded once a vector.
func (t *tileGen) spread(to asm.V, from asm.M) { t.Op(t.broadcast, to, from) }

// step adds the products of one K step, whose elements of A spread loads.
func (t *tileGen) step(k int, spread func(to asm.V, from asm.M)) {
	switch t.format {
	case GemmWords:
		t.stepWords(k)
		return
	case GemmWide:
		t.stepWide(k)
		return
	}
	if t.form == GemmPlaces {
		t.Op(asm.MOV, gAt, asm.Ptr(gRows, 8*k))
	}
	for v := range t.tile.Vectors {
		if t.format.Plain() {
			t.load(t.b(v), t.vectorB(v), v)
		} else { // packed, with room for whole vectors
			t.Op(asm.VMOVUPS, t.b(v), t.vectorB(v))
		}
	}
	if t.form != GemmPlaces {
		t.Op(asm.ADD, gB, gLDB)
	}
	t.fetchNext()
	t.fetchColumns()
	for r := range t.tile.Rows {
		spread(t.x(r), t.element(r, k))
		for v := range t.tile.Vectors {
			t.Op(t.multiply, t.acc(r, v), t.x(r), t.b(v))
		}
	}
	if t.form.Columns() {
		t.Op(asm.ADD, gBases[0], gLDA)
	}
}

// stepWords is the step of GemmWords: the even bytes of B's lanes, then the odd
// ones, each widened to words. A sum of two products of an unsigned and a signed
// byte fits 17 bits.
func (t *tileGen) stepWords(k int) {
	const even, odd = 0, 1
	for half := even; half <= odd; half++ {
		for v := range t.tile.Vectors {
			t.Op(asm.VMOVUPS, t.b(v), t.vectorB(v))
			if half == even {
				t.Op(asm.VPSLLW, t.b(v), t.b(v), asm.Imm(8))
			}
			t.Op(asm.VPSRAW, t.b(v), t.b(v), asm.Imm(8))
		}
		if half == odd {
			t.Op(asm.ADD, gB, gLDB)
			t.fetchNext()
		}
		for r := range t.tile.Rows {
			x := t.x(half*t.tile.Rows + r)
			t.Op(t.broadcast, x, t.element(r, 2*k+half))
			for v := range t.tile.Vectors {
				t.Op(t.multiply, t.product(), x, t.b(v))
				t.Op(t.add, t.acc(r, v), t.acc(r, v), t.product())
			}
		}
	}
}
