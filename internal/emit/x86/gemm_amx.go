package x86

import "github.com/sinterml/sinter/internal/emit/x86/asm"

// This file emits tile kernels that multiply by AMX: up to four blocks of 16 x 16
// sums, one or two of A and what registers are left of B. A chunk is the
// GemmChunk K steps that one instruction takes.

// GemmChunk is the number of K steps of an AMX instruction: rows of a tile of B,
// and 64 bytes of a row of A.
const GemmChunk = 16

const (
	amxRows  = 16 // of a tile register
	amxBytes = 64 // of one of its rows
	amxTiles = 8
)

// Registers beside those of every tile kernel.
const (
	gLine  = asm.R14 // from row to row of B
	gStepB = gRow    // from chunk to chunk of B
	gLower = asm.R11 // rows of A from the 17th on
	gFetch = asm.R12 // walks over rows of A that are fetched
	gAside = asm.R13 // from row to row of these
)

// amxVectorB are the bases of vectors of B.
var amxVectorB = [...]asm.R{gB, gVectorB, gVectorB3, gLDB}

// AMX tells whether the format's kernels multiply by AMX: they take whole chunks
// of K steps, packed B, and Sums.
func (f GemmFormat) AMX() bool { return f == GemmAMXBF16 || f == GemmAMXBytes || f.Splits() }

// heights are the rows of the tile's blocks, one below the other.
func (t GemmTile) heights() []int {
	if t.Rows <= amxRows {
		return []int{t.Rows}
	}
	return []int{amxRows, t.Rows - amxRows}
}

// fitsAMX tells whether sums, A and at least one vector of B have registers.
func (t GemmTile) fitsAMX(f GemmFormat) bool {
	if f.sums() > 1 && t.Vectors > 1 { // registers of joinRows
		return false
	}
	return t.Rows >= 1 && t.Rows <= 2*amxRows && t.Vectors >= 1 && t.Vectors <= len(amxVectorB) && len(t.heights())*(f.sums()*t.Vectors+1) < amxTiles
}

// amxSum is the register of a sum of block i, vector v.
func (t *tileGen) amxSum(sum, i, v int) asm.T {
	return asm.T((sum*len(t.tile.heights())+i)*t.tile.Vectors + v)
}

// amxA is the register for rows of block i of A.
func (t *tileGen) amxA(i int) asm.T {
	return t.amxSum(t.format.sums(), 0, 0) + asm.T(i)
}

// amxB is the register for a plane of vector v of B: those that are left take turns.
func (t *tileGen) amxB(v, plane int) asm.T {
	first := t.amxA(len(t.tile.heights()))
	if t.format == GemmAMXHalves { // one vector
		v = plane
	}
	return first + asm.T(v%(amxTiles-int(first)))
}

// configure gives the registers their sizes. See "Intel AMX: tile configuration"
// in volume 1 of Intel's manual: a palette, bytes of a row by register from byte
// 16 on, rows from byte 48 on.
func (t *tileGen) configure() {
	const palette, widths, rows = 1, 16, 48
	config := make([]byte, 64)
	config[0] = palette
	heights := t.tile.heights()
	set := func(r asm.T, height int) { config[widths+2*int(r)], config[rows+int(r)] = amxBytes, byte(height) }
	for i, h := range heights {
		set(t.amxA(i), h)
		for v := range t.tile.Vectors {
			for sum := range t.format.sums() {
				set(t.amxSum(sum, i, v), h)
			}
			for plane := range t.format.Parts() {
				set(t.amxB(v, plane), GemmChunk)
			}
		}
	}
	t.Op(asm.LDTILECFG, t.Vec(config))
}

// amxOperands points to the start of A and of this panel of B. Tiles keep what
// configure gave them; what was in registers before may be gone.
func (t *tileGen) amxOperands() {
	t.Op(asm.MOV, gLine, asm.Ptr(gArgs, gemmLDB))
	t.Op(asm.IMUL, gStepB, gLine, asm.Imm(GemmChunk*t.format.Parts()))
	t.Op(asm.MOV, gLDA, asm.Ptr(gArgs, gemmLDA))
	t.Op(asm.MOV, gBases[0], asm.Ptr(gArgs, gemmDownA))
	if len(t.tile.heights()) > 1 {
		t.Op(asm.IMUL, gLower, gLDA, asm.Imm(amxRows))
		t.Op(asm.ADD, gLower, gBases[0])
	}
	t.Op(asm.MOV, gAside, asm.Ptr(gArgs, gemmLDNextA))
	t.Op(asm.MOV, gFetch, asm.Ptr(gArgs, gemmFetchA))
	t.Op(asm.MOV, gCount, gFetch)
	t.Op(asm.ADD, gCount, asm.Ptr(gArgs, gemmStepsA))
	t.Op(asm.MOV, asm.Ptr(gArgs, gemmFetchA), gCount)
	t.Op(asm.MOV, gPitch, asm.Ptr(gArgs, gemmVectorB))
	t.Op(asm.MOV, gB, asm.Ptr(gArgs, gemmNextB))
	for v := 1; v < t.tile.Vectors; v++ {
		t.Op(asm.LEA, amxVectorB[v], asm.Idx(amxVectorB[v-1], gPitch, 1, 0))
	}
	t.Op(asm.MOV, gCount, asm.Ptr(gArgs, gemmPanelB))
	t.Op(asm.ADD, asm.Ptr(gArgs, gemmNextB), gCount)
}

// amxSteps adds the products of all chunks.
func (t *tileGen) amxSteps() {
	done := t.NewLabel()
	t.Op(asm.MOV, gCount, asm.Ptr(gArgs, gemmBlocks))
	t.Op(asm.TEST, gCount, gCount)
	if t.defers() {
		t.firstChunk(done)
	} else {
		t.J(asm.EQ, done)
	}
	t.Align(32)
	again := t.Here()
	t.amxChunk(func() {})
	t.Op(asm.SUB, gCount, asm.Imm(t.chunkBlocks()))
	t.J(asm.NE, again)
	t.Bind(done)
}

// chunkBlocks is what a chunk is in GemmArgs.Blocks.
func (t *tileGen) chunkBlocks() int { return t.format.Parts() * GemmChunk / GemmUnroll }

// amxChunk adds the products of a chunk; behind those of the first parts something else
// is done.
func (t *tileGen) amxChunk(then func()) {
	t.amxFetch()
	held := map[asm.T][2]int{}
	for i, parts := range t.format.order() {
		t.amxMultiply(parts, held)
		if i == 0 {
			then()
		}
	}
	t.joinSome()
	t.finishSome()
	planes := t.format.Parts()
	for _, base := range t.amxBases() {
		t.Op(asm.ADD, base, asm.Imm(amxBytes*planes))
	}
	for v := range t.tile.Vectors {
		t.Op(asm.ADD, amxVectorB[v], gStepB)
	}
}

// amxBases are the registers that walk over rows of A, for each of the tile's blocks.
func (t *tileGen) amxBases() []asm.R { return []asm.R{gBases[0], gLower}[:len(t.tile.heights())] }

// amxMultiply adds the products of one plane of A and one of B. What registers hold of
// the chunk is not loaded again. B is loaded past the first cache: a panel of it would
// push out rows of A, which every panel needs again.
func (t *tileGen) amxMultiply(planes [2]int, held map[asm.T][2]int) {
	load := func(op asm.Op, r asm.T, what [2]int, from asm.M) {
		if now, ok := held[r]; !ok || now != what {
			t.Op(op, r, from)
			held[r] = what
		}
	}
	for i, base := range t.amxBases() {
		load(asm.TILELOADD, t.amxA(i), [2]int{i, planes[0]}, asm.Idx(base, gLDA, 1, planes[0]*amxBytes))
		for v := range t.tile.Vectors {
			b := t.amxB(v, planes[1])
			load(asm.TILELOADDT1, b, [2]int{v, planes[1]}, asm.Idx(amxVectorB[v], gLine, 1, planes[1]*GemmChunk*amxBytes))
			t.Op(t.multiply, t.amxSum(t.format.sumOf(planes), i, v), t.amxA(i), b)
		}
	}
}

// amxFetch fetches what a chunk takes of some rows of A, see GemmArgs.NextA, into the
// second cache: of fetchedRows.
func (t *tileGen) amxFetch() {
	t.Op(asm.LEA, gPitch, asm.Idx(gFetch, gAside, 2, 0))
	for at := 0; at < t.format.fetchedBytes(); at += amxBytes {
		for _, base := range []asm.R{gFetch, gPitch} {
			t.Op(asm.PREFETCHT1, asm.Ptr(base, at))
			t.Op(asm.PREFETCHT1, asm.Idx(base, gAside, 1, at))
		}
	}
	t.Op(asm.ADD, gFetch, asm.Ptr(gArgs, gemmStepA))
}

// amxStart loads the sums that are to be continued, or clears the registers.
func (t *tileGen) amxStart() {
	if t.tail {
		t.Op(asm.KMOVW, asm.K(1), asm.Ptr(gArgs, gemmMask))
	}
	fresh, done := t.NewLabel(), t.NewLabel()
	if t.format.Splits() { // those of blocks of k are added later
		t.clearSum(0)
		if t.format.sums() > 1 && !t.defers() { // else that of the tile before is there
			t.clearSum(1)
		}
		return
	}
	t.Op(asm.CMP, asm.Ptr(gArgs, gemmContinue), asm.Imm(0))
	t.J(asm.EQ, fresh)
	if t.tail {
		t.Op(asm.MOV, gB, asm.Ptr(gArgs, gemmRoom))
		t.eachRow(func(r, v int) {
			t.load(0, t.cell(v), v)
			t.Op(asm.VMOVUPS, t.amxCell(r, v), asm.V(0))
		})
	}
	t.amxPlace()
	t.amxMove(func(sum asm.T, at asm.M) { t.Op(asm.TILELOADD, sum, at) })
	t.Jmp(done)
	t.Bind(fresh)
	t.clearSum(0)
	t.Bind(done)
}

// amxFinish stores the sums.
func (t *tileGen) amxFinish() {
	if t.format == GemmAMXHalves {
		t.joinSums()
		return
	}
	t.finishRest() // of the tile before
	t.storeSums()
	switch {
	case t.format == GemmAMXThirds:
		t.scaleSums()
	case t.tail:
		t.Op(asm.MOV, gB, asm.Ptr(gArgs, gemmRoom))
		t.eachRow(func(r, v int) {
			t.Op(asm.VMOVUPS, asm.V(0), t.amxCell(r, v))
			t.store(t.cell(v), 0, v)
		})
	}
}

// storeSums stores the registers of sums.
func (t *tileGen) storeSums() {
	if t.format.Splits() {
		t.storeSum(0, gB, gPitch)
		return
	}
	t.amxPlace()
	t.amxMove(func(sum asm.T, at asm.M) { t.Op(asm.TILESTORED, at, sum) })
}

// storeSum stores those of one sum in Sums; base and pitch are changed.
func (t *tileGen) storeSum(n int, base, pitch asm.R) {
	t.Op(asm.MOV, base, asm.Ptr(gArgs, gemmRoom))
	t.Op(asm.MOV, pitch, asm.Imm(t.width()))
	t.eachSum(n, func(sum asm.T, at int) { t.Op(asm.TILESTORED, asm.Idx(base, pitch, 1, at), sum) })
}

// clearSum clears those of one sum.
func (t *tileGen) clearSum(n int) {
	t.eachSum(n, func(sum asm.T, _ int) { t.Op(asm.TILEZERO, sum) })
}

// eachSum calls f for every register of a sum and where it is in Sums.
func (t *tileGen) eachSum(n int, f func(sum asm.T, at int)) {
	for i := range t.tile.heights() {
		for v := range t.tile.Vectors {
			f(t.amxSum(n, i, v), (n*t.tile.Rows+i*amxRows)*t.width()+v*amxBytes)
		}
	}
}

// scaleSums stores Sums divided by ThirdsScale, or adds that to what is there, with
// one rounding; -0 becomes 0, as in sums that are finished later.
func (t *tileGen) scaleSums() {
	const sum, scale, before, zero = asm.V(0), asm.V(1), asm.V(2), asm.V(3)
	t.zero(zero)
	again, done := t.NewLabel(), t.NewLabel()
	t.Op(asm.VBROADCASTSS, scale, t.F32(1/ThirdsScale))
	t.Op(asm.MOV, gB, asm.Ptr(gArgs, gemmRoom))
	t.Op(asm.CMP, asm.Ptr(gArgs, gemmContinue), asm.Imm(0))
	t.J(asm.NE, again)
	t.eachRow(func(r, v int) {
		t.Op(asm.VMOVUPS, sum, t.amxCell(r, v))
		t.Op(asm.VFMADD213PS, sum, scale, zero)
		t.store(t.cell(v), sum, v)
	})
	t.Jmp(done)
	t.Bind(again)
	t.eachRow(func(r, v int) {
		t.load(before, t.cell(v), v)
		t.Op(asm.VFMADD231PS, before, scale, t.amxCell(r, v))
		t.Op(asm.VADDPS, before, before, zero)
		t.store(t.cell(v), before, v)
	})
	t.Bind(done)
}

// amxPlace points gB to where registers of sums are stored and loaded: C, or Sums
// where a lane is masked, as those instructions have no mask.
func (t *tileGen) amxPlace() {
	if t.tail {
		t.Op(asm.MOV, gB, asm.Ptr(gArgs, gemmRoom))
		t.Op(asm.MOV, gPitch, asm.Imm(t.width()))
		return
	}
	t.Op(asm.MOV, gB, asm.Ptr(gArgs, gemmNextC))
	t.Op(asm.MOV, gPitch, asm.Ptr(gArgs, gemmLDC))
}

// amxMove calls f for every register of sums and its place.
func (t *tileGen) amxMove(f func(sum asm.T, at asm.M)) {
	base := gB
	for i := range t.tile.heights() {
		if i > 0 {
			base = gLower
			t.Op(asm.IMUL, base, gPitch, asm.Imm(amxRows))
			t.Op(asm.ADD, base, gB)
		}
		for v := range t.tile.Vectors {
			f(t.amxSum(0, i, v), asm.Idx(base, gPitch, 1, v*amxBytes))
		}
	}
}

// amxCell is a vector of Sums, with gB at its start.
func (t *tileGen) amxCell(r, v int) asm.M { return asm.Ptr(gB, r*t.width()+v*amxBytes) }
