package x86

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/loop"
)

// The code addresses fields by number.
func TestGemmArgs(t *testing.T) {
	var g GemmArgs
	var s TransposeArgs
	for name, at := range map[string][2]uintptr{
		"A": {unsafe.Offsetof(g.A), gemmA}, "B": {unsafe.Offsetof(g.B), gemmB}, "C": {unsafe.Offsetof(g.C), gemmC},
		"LDA": {unsafe.Offsetof(g.LDA), gemmLDA}, "LDC": {unsafe.Offsetof(g.LDC), gemmLDC}, "LDB": {unsafe.Offsetof(g.LDB), gemmLDB},
		"VectorB": {unsafe.Offsetof(g.VectorB), gemmVectorB}, "PanelB": {unsafe.Offsetof(g.PanelB), gemmPanelB},
		"Panels": {unsafe.Offsetof(g.Panels), gemmPanels}, "Blocks": {unsafe.Offsetof(g.Blocks), gemmBlocks}, "Rest": {unsafe.Offsetof(g.Rest), gemmRest},
		"Continue": {unsafe.Offsetof(g.Continue), gemmContinue}, "Ahead": {unsafe.Offsetof(g.Ahead), gemmAhead},
		"LDAhead": {unsafe.Offsetof(g.LDAhead), gemmLDAhead}, "Beside": {unsafe.Offsetof(g.Beside), gemmBeside}, "LDBeside": {unsafe.Offsetof(g.LDBeside), gemmLDBeside}, "Sums": {unsafe.Offsetof(g.Sums), gemmSums}, "NextA": {unsafe.Offsetof(g.NextA), gemmNextA}, "LDNextA": {unsafe.Offsetof(g.LDNextA), gemmLDNextA}, "StepNextA": {unsafe.Offsetof(g.StepNextA), gemmStepA}, "StepsA": {unsafe.Offsetof(g.StepsA), gemmStepsA},
		"rowsNextA": {unsafe.Offsetof(g.rowsNextA), gemmDownNextA}, "fetchA": {unsafe.Offsetof(g.fetchA), gemmFetchA}, "Part": {unsafe.Offsetof(g.Part), gemmPart}, "Mask": {unsafe.Offsetof(g.Mask), gemmMask},
		"Bias": {unsafe.Offsetof(g.Bias), gemmBias}, "AddBeside": {unsafe.Offsetof(g.AddBeside), gemmAdd}, "Scale": {unsafe.Offsetof(g.Scale), gemmScale}, "nextBias": {unsafe.Offsetof(g.nextBias), gemmNextBias},
		"RowBias": {unsafe.Offsetof(g.RowBias), gemmRowBias}, "LDRowBias": {unsafe.Offsetof(g.LDRowBias), gemmLDBias}, "ReLU": {unsafe.Offsetof(g.ReLU), gemmReLU}, "rowsBias": {unsafe.Offsetof(g.rowsBias), gemmDownBias},
		"RowPanels": {unsafe.Offsetof(g.RowPanels), gemmRows}, "Follow": {unsafe.Offsetof(g.Follow), gemmFollow}, "StepC": {unsafe.Offsetof(g.StepC), gemmStepC}, "RowsC": {unsafe.Offsetof(g.RowsC), gemmRowsC},
		"nextB": {unsafe.Offsetof(g.nextB), gemmNextB}, "nextC": {unsafe.Offsetof(g.nextC), gemmNextC},
		"nextAhead": {unsafe.Offsetof(g.nextAhead), gemmNextRow}, "nextBeside": {unsafe.Offsetof(g.nextBeside), gemmNextBeside}, "panels": {unsafe.Offsetof(g.panels), gemmLeft},
		"rowsA": {unsafe.Offsetof(g.rowsA), gemmDownA}, "rowsC": {unsafe.Offsetof(g.rowsC), gemmDownC},
		"rowsBeside": {unsafe.Offsetof(g.rowsBeside), gemmDownBeside}, "rowsAhead": {unsafe.Offsetof(g.rowsAhead), gemmDownAhead}, "rowsLeft": {unsafe.Offsetof(g.rowsLeft), gemmDownLeft},
		"Finish": {unsafe.Offsetof(g.Finish), gemmFinish}, "Entry": {unsafe.Offsetof(g.Finish.Entry), finishEntry},
		"Block": {unsafe.Offsetof(g.Finish.Block), finishBlock}, "Row": {unsafe.Offsetof(g.Finish.Row), finishRow},
		"Col": {unsafe.Offsetof(g.Finish.Col), finishCol}, "Cols": {unsafe.Offsetof(g.Finish.Cols), finishCols},
		"Later": {unsafe.Offsetof(g.Finish.Later), finishLater}, "At": {unsafe.Offsetof(g.Finish.At), finishAt}, "back": {unsafe.Offsetof(g.Finish.back), finishBack},
		"row": {unsafe.Offsetof(g.Finish.row), finishDown}, "col": {unsafe.Offsetof(g.Finish.col), finishNext},
		"from": {unsafe.Offsetof(g.Finish.from), finishFrom}, "to": {unsafe.Offsetof(g.Finish.to), finishTo},
		"joinLeft": {unsafe.Offsetof(g.joinLeft), gemmJoinLeft}, "joinMask": {unsafe.Offsetof(g.joinMask), gemmJoinMask},
		"joinScale": {unsafe.Offsetof(g.joinScale), gemmJoinScale}, "saved": {unsafe.Offsetof(g.saved), gemmSaved},
		"Src": {unsafe.Offsetof(s.Src), transposeSrc}, "Dst": {unsafe.Offsetof(s.Dst), transposeDst}, "LDSrc": {unsafe.Offsetof(s.LDSrc), transposeLDSrc},
		"LDDst": {unsafe.Offsetof(s.LDDst), transposeLDDst}, "Count": {unsafe.Offsetof(s.Count), transposeCount}, "Down": {unsafe.Offsetof(s.Down), transposeDown},
	} {
		if at[0] != at[1] {
			t.Errorf("%s is at %d, the code looks at %d", name, at[0], at[1])
		}
	}
}

// eachTile calls f for every instruction set, format and candidate.
func eachTile(f func(isa ISA, format GemmFormat, tile GemmTile)) {
	for _, isa := range []ISA{AVX512, AVX2} {
		for format := range gemmFormats {
			if isa == AVX2 && (format == GemmBF16 || format == GemmWide || format.AMX()) {
				continue
			}
			for _, tile := range GemmTiles(isa, format) {
				f(isa, format, tile)
			}
		}
	}
}

// The loop over k holds the multiply-adds we count on, one load of B a vector
// and one broadcast a row, and nothing else that touches memory.
func TestGemmInnerLoop(t *testing.T) {
	eachTile(func(isa ISA, format GemmFormat, tile GemmTile) {
		if format.AMX() {
			return // TestAMXInnerLoop
		}
		a, err := emitGemmTile(isa, format, tile, false, GemmPanels, tile.fetches(isa, format))
		if err != nil {
			t.Fatal(err)
		}
		broadcast, multiply, add := format.ops()
		op, _ := format.moves()
		move := op.String()
		loop := innerLoop(a.Lines())
		count := map[string]int{}
		for _, l := range loop {
			op, operands, _ := strings.Cut(strings.TrimPrefix(l.Text, "{vex} "), " ")
			count[op]++
			if strings.Contains(operands, "ptr") && !slices.Contains([]string{move, "vpandd", "vpslld", "prefetcht1", broadcast.String()}, op) {
				t.Errorf("%v %v %v: %s touches memory", isa, format, tile, l.Text)
			}
			if strings.Contains(operands, "rdi") {
				t.Errorf("%v %v %v: %s spills", isa, format, tile, l.Text)
			}
		}
		want := map[string]int{
			multiply.String(): GemmUnroll * tile.Rows * tile.Vectors, broadcast.String(): GemmUnroll * tile.Rows,
			move:  GemmUnroll * tile.Vectors,
			"add": GemmUnroll + (tile.Rows+rowsPerBase-1)/rowsPerBase, // B each step, the bases of A each round
			"sub": 1, "jne": 1,
		}
		if format == GemmWords { // two halves of a step
			want[multiply.String()] *= 2
			want[broadcast.String()] *= 2
			want[add.String()] = want[multiply.String()]
			want["vpsllw"], want["vpsraw"] = want[move], 2*want[move]
			want[move] *= 2
		}
		if format == GemmWide {
			want[multiply.String()] *= 2
			want[broadcast.String()] *= 2
			want["vpandd"], want["vpslld"] = want[move], want[move]
			delete(want, move)
		}
		if tile.fetches(isa, format) {
			want["prefetcht1"] = GemmUnroll * tile.Vectors
			want["add"] += GemmUnroll
		}
		if isa == AVX2 && format.Plain() { // a line of a row for each base of A
			want["prefetcht1"] += (tile.Rows + rowsPerBase - 1) / rowsPerBase
		}
		total := 0
		for op, n := range want {
			total += n
			if count[op] != n {
				t.Errorf("%v %v %v: %d %s, want %d", isa, format, tile, count[op], op, n)
			}
		}
		if n := len(loop) - total; n != 0 {
			t.Errorf("%v %v %v: %d other instructions", isa, format, tile, n)
		}
	})
}

// innerLoop is the longest loop with none in it.
func innerLoop(lines []asm.Line) (best []asm.Line) {
	begins := map[string]int{}
	inner := 0 // where the last loop begins, as one that begins before it is around it
	var ops []asm.Line
	for _, l := range lines {
		if name, ok := strings.CutSuffix(l.Text, ":"); ok {
			begins[name] = len(ops)
			continue
		}
		ops = append(ops, l)
		op, label, _ := strings.Cut(l.Text, " ")
		if begin, ok := begins[label]; ok && op[0] == 'j' && op != "jmp" && begin >= inner {
			inner = begin
			if loop := ops[begin:]; len(loop) > len(best) {
				best = loop
			}
		}
	}
	return best
}

// The text of one small kernel, to be looked at when it changes.
func TestGemmListing(t *testing.T) {
	a, err := emitGemmTile(AVX512, GemmF32, GemmTile{2, 2}, true, GemmPanels, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Finish(); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, l := range a.Lines() {
		b.WriteString(l.Text + "\n")
	}
	const name = "testdata/listings/gemm_2x32_tail.s"
	if *update {
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("%s differs; if that is meant, run go test -update\n%s", name, b.String())
	}
}

func TestGemmTileRefused(t *testing.T) {
	for _, tile := range []GemmTile{{0, 1}, {1, 0}, {7, 4}, {16, 1}, {1, 5}} {
		if _, err := emitGemmTile(AVX512, GemmF32, tile, false, GemmPanels, false); err == nil {
			t.Errorf("no error for %v", tile)
		}
	}
	if _, err := emitGemmTile(AVX512, GemmWords, GemmTile{15, 2}, false, GemmPanels, false); err == nil {
		t.Error("no error for a tile without room for words")
	}
	for format, form := range map[GemmFormat]GemmForm{GemmBytes: GemmColumns, GemmBF16: GemmFarColumns} {
		if _, err := emitGemmTile(AVX512, format, GemmTile{6, 4}, false, form, false); err == nil {
			t.Errorf("no error for %v by columns %d", format, form)
		}
	}
}

// Every tile kernel against Go, its matrices right before unmapped pages: all
// heights, vectors and masks, K around the unrolling, fresh and continued, A by
// rows and by columns, B packed and in place.
func TestGemmTiles(t *testing.T) {
	host := cpuid.Host()
	host.AMXFP16 = host.AMXFP16 || cpuid.HidesAMXFP16()
	eachISA(t, func(t *testing.T, isa ISA) {
		for format := range gemmFormats {
			if !HasGemm(isa, format, &host.Features) {
				t.Logf("without %v of %v", format, isa)
				continue
			}
			if format == GemmF64 {
				continue // TestGemmDoubleTiles
			}
			tiles := GemmTiles(isa, format)
			if isa == AVX2 && format == GemmF32 { // as wide as kernels are
				tiles = append(tiles, GemmTile{2, 4})
			}
			for _, tile := range tiles {
				for _, form := range []GemmForm{GemmPanels, GemmColumns, GemmFarColumns, GemmPlaces, GemmPast} {
					switch {
					case form == GemmPast && (isa != AVX512 || format != GemmBytes && format != GemmF32),
						form == GemmColumns && format != GemmF32 && format != GemmBF16,
						(form == GemmFarColumns || form == GemmPlaces) && format != GemmF32:
						continue
					}
					g, err := EmitGemm(isa, format, tile, form)
					if err != nil {
						t.Fatal(err)
					}
					code, err := jit.Map(g.Code)
					if err != nil {
						t.Fatal(err)
					}
					testTiles(t, g, code)
					_ = code.Close()
				}
			}
		}
	})
}

func testTiles(t *testing.T, g *GemmKernels, code *jit.Code) {
	rng := rand.New(rand.NewPCG(3, 4))
	lanes := GemmLanes(g.ISA)
	copies := newFinish(t, g.ISA, g.Tile.Vectors, copyKernel)
	defer func() { _ = copies.code.Close() }()
	for rows := 1; rows <= g.Tile.Rows; rows++ {
		for v := 1; v <= g.Tile.Vectors; v++ {
			for _, k := range []int{0, 1, 3, 4, 5, 9} {
				if g.Format.AMX() {
					k *= GemmChunk * g.Format.Parts()
				}
				c := tileCase{rows: rows, k: k, columns: g.Form.Columns(), places: g.Form == GemmPlaces, inPlace: g.Format == GemmF32 && rng.IntN(2) == 0, again: rng.IntN(2) == 0}
				if g.Format.TakesPart(g.ISA) && (g.Form == GemmPanels || g.Form == GemmPast) {
					size := 4 / g.Format.Group() // of an element
					c.part = size * rng.IntN(g.Format.Group())
				}
				c.cols = v*lanes - rng.IntN(lanes)
				c.run(t, rng, g, code.Entry(g.Tail[rows][v]), v)
				if v == g.Tile.Vectors {
					c.cols, c.panels, c.rowPanels = v*lanes, 1+rng.IntN(3), 1+rng.IntN(3)
					if c.later, c.shared = rng.IntN(2) == 0, !c.again && rng.IntN(2) == 0; g.Form != GemmPast {
						c.finish = copies
					}
					c.run(t, rng, g, code.Entry(g.Full[rows]), v)
				}
			}
		}
	}
}

// tileCase is one call of a tile kernel.
type tileCase struct {
	rows, cols, k     int // of a block; k in steps
	panels, rowPanels int
	columns           bool    // A by columns
	inPlace           bool    // B by rows, not packed
	places            bool    // these in an order that tables tell, panels from the last to the first
	again             bool    // adds to C
	part              int     // bytes of A in one more step
	finish            *finish // run a second time with it
	later, shared     bool    // rows are handed over later; C is that of one tile then
}

// element draws a lane of a matrix: of bf16 small integers, whose sums are exact.
func (f GemmFormat) element(rng *rand.Rand, matrix int) uint32 {
	small := func() uint32 { return math.Float32bits(float32(rng.IntN(9)-4)) >> 16 }
	switch {
	case f == GemmF32:
		return math.Float32bits(float32(rng.NormFloat64()))
	case f == GemmBF16 && matrix < 2:
		return small() | small()<<16
	case f == GemmBF16:
		return small() << 16
	case f == GemmAMXHalves && matrix < 2:
		return uint32(ir.F16FromFloat32(float32(rng.NormFloat64()))) | uint32(ir.F16FromFloat32(float32(rng.NormFloat64())))<<16
	case (f == GemmAMXBF16 || f == GemmAMXThirds) && matrix < 2:
		return bf16Pair(float32(rng.NormFloat64()), float32(rng.NormFloat64()))
	case f == GemmAMXBF16 || f.Splits():
		return math.Float32bits(float32(rng.NormFloat64()))
	case f == GemmWide && matrix == 0: // widened
		return math.Float32bits(float32(rng.NormFloat64())) &^ 0xFFFF
	case f == GemmWide && matrix == 1:
		return bf16Pair(float32(rng.NormFloat64()), float32(rng.NormFloat64()))
	case f == GemmWide:
		return math.Float32bits(float32(rng.NormFloat64()))
	case f == GemmWords && matrix == 0: // widened bytes
		return rng.Uint32() & 0xFF00FF
	}
	return rng.Uint32()
}

// bf16Pair is a lane of two numbers, cut off.
func bf16Pair(first, second float32) uint32 {
	return math.Float32bits(first)>>16 | math.Float32bits(second)&^0xFFFF
}

// accumulate is c plus the products of a step of A and one lane of B.
func (f GemmFormat) accumulate(c uint32, a []uint32, b uint32) uint32 {
	float := math.Float32frombits
	switch f {
	case GemmF32:
		return math.Float32bits(loop.FMA32(float(a[0]), float(b), float(c)))
	case GemmBF16:
		const high = 0xFFFF0000
		return math.Float32bits(float(c) + float(a[0]<<16)*float(b<<16) + float(a[0]&high)*float(b&high))
	case GemmWide:
		second := loop.FMA32(float(a[1]), float(b&^0xFFFF), float(c))
		return math.Float32bits(loop.FMA32(float(a[0]), float(b<<16), second))
	case GemmWords:
		for i := range 4 {
			c += uint32(int32(a[i%2]>>(8*(i&2))&0xFF) * int32(int8(b>>(8*i))))
		}
		return c
	}
	for i := range 4 {
		c += uint32(int32(a[0]>>(8*i)&0xFF) * int32(int8(b>>(8*i))))
	}
	return c
}

// sum is C + c.
func (f GemmFormat) sum(have, c uint32) uint32 {
	if f == GemmF32 || f == GemmBF16 || f == GemmWide {
		return math.Float32bits(math.Float32frombits(have) + math.Float32frombits(c))
	}
	return have + c
}

// joined is C plus the sums of a format that splits, or those alone, times what
// belongs to the row and to the column.
func joined(sums [2]uint32, have, row, col uint32, again bool) uint32 {
	float := math.Float32frombits
	sum := loop.FMA32(float(sums[1]), 1.0/(1<<halvesShift), float(sums[0])) * float(row)
	if !again {
		have = 0
	}
	if sum = loop.FMA32(sum, float(col), float(have)); sum == 0 {
		return 0 // never -0
	}
	return math.Float32bits(sum)
}

func (c tileCase) run(t *testing.T, rng *rand.Rand, g *GemmKernels, entry uintptr, vectors int) {
	t.Helper()
	name := fmt.Sprintf("%v %+v", g.Format, c)
	c.panels, c.rowPanels = max(c.panels, 1), max(c.rowPanels, 1)
	height := c.rows * c.rowPanels
	lanes, stepA := GemmLanes(g.ISA), g.Format.StepA()/4
	total := c.panels * c.cols
	pitch := total // of C
	if g.Form == GemmPast {
		pitch = (total + lanes - 1) / lanes * lanes
	}
	steps := c.k
	if c.part > 0 {
		steps++
	}
	scale := g.Format.scaleBytes() // behind each row of A, and each vector of B
	depth := steps + scale/(4*lanes)
	// B[k][j] lies at bAt(k, j).
	bAt := func(k, j int) int {
		p, in := j/(vectors*lanes), j%(vectors*lanes)
		return ((p*vectors+in/lanes)*depth+k)*lanes + in%lanes
	}
	sizeB := c.panels * vectors * depth * lanes
	rowA := 4*stepA*c.k + c.part + scale
	args := GemmArgs{LDA: uintptr(rowA), LDC: uintptr(4 * pitch), LDAhead: uintptr(4 * pitch), Panels: uintptr(c.panels)}
	args.LDB, args.VectorB, args.PanelB = uintptr(4*lanes), uintptr(4*lanes*depth), uintptr(4*lanes*depth*vectors)
	args.RowPanels, args.StepC, args.RowsC = uintptr(c.rowPanels), uintptr(4*c.cols), uintptr(4*c.rows*pitch)
	if c.inPlace {
		bAt = func(k, j int) int { return k*total + j }
		sizeB = c.k * total
		args.LDB, args.VectorB, args.PanelB = uintptr(4*total), uintptr(4*lanes), uintptr(4*lanes*vectors)
	}
	var rows, starts []uintptr // tables
	if c.places {
		for _, row := range rng.Perm(c.k) {
			rows = append(rows, uintptr(4*row*total))
		}
		for p := range c.panels {
			for v := range vectors {
				starts = append(starts, uintptr(4*((c.panels-1-p)*c.cols+v*lanes)))
			}
		}
		from := slices.Clone(starts)
		bAt = func(k, j int) int {
			p, in := j/(vectors*lanes), j%(vectors*lanes)
			return int(rows[k]+from[p*vectors+in/lanes])/4 + in%lanes
		}
		sizeB = c.k * total
		rows = append(rows, 0) // so that there is a first
		args.LDB, args.VectorB, args.PanelB = uintptr(unsafe.Pointer(&rows[0])), 0, uintptr(8*vectors)
	}
	if c.columns {
		args.LDA = uintptr(4 * height)
	}
	args.SetK(c.k)
	args.SetPart(c.part)
	args.Sums = sumsOf(g.Format, g.Tile)
	args.FetchRows(g.Format, uintptr(args.Sums), 64) // what is fetched changes nothing
	args.SetMask(g.ISA, g.Format, c.cols-(vectors-1)*lanes)
	if c.again {
		args.Continue = 1
	}
	var mem [3]*jit.Guarded
	var f [3][]uint32
	for i, bytes := range []int{height * rowA, 4 * sizeB, 4 * height * pitch} {
		var err error
		if mem[i], err = jit.AllocGuarded(bytes, 1); err != nil {
			t.Fatal(err)
		}
		f[i] = make([]uint32, (bytes+3)/4)
		for j := range f[i] {
			f[i][j] = g.Format.element(rng, i)
		}
		if scale > 0 && i < 2 { // what belongs to rows and columns is positive
			for j := range max(height, total) {
				at := min(j, height-1)*rowA/4 + steps
				if i == 1 {
					at = bAt(steps, min(j, total-1))
				}
				f[i][at] &^= 1 << 31
			}
		}
		copy(mem[i].Bytes(), lanesAsBytes(f[i]))
	}
	// lane is lane i of A's row r: behind its end there are zeros.
	lane := func(r, i int) uint32 {
		var four [4]byte
		copy(four[:], mem[0].Bytes()[r*rowA:][:rowA][4*i:])
		return binary.LittleEndian.Uint32(four[:])
	}
	args.A, args.B, args.C, args.Ahead = mem[0].Pointer(), mem[1].Pointer(), mem[2].Pointer(), uintptr(mem[2].Pointer())
	if c.places {
		for i := range starts {
			starts[i] += uintptr(args.B)
		}
		args.B = unsafe.Pointer(&starts[0])
	}
	if c.again { // what is fetched beside changes nothing
		args.Beside, args.LDBeside = uintptr(args.C), args.LDC
	}
	want := slices.Clone(f[2])
	a := make([]uint32, stepA)
	for r := range height {
		for j := range total {
			sum := uint32(0)
			if c.again && g.Format.AMX() {
				sum = f[2][r*pitch+j]
			}
			if g.Format.Splits() {
				at := func(k int) (a, b uint32) { return lane(r, k), f[1][bAt(k, j)] }
				row, col := math.Float32bits(1), math.Float32bits(1/ThirdsScale)
				if scale > 0 {
					row, col = at(steps)
				}
				want[r*pitch+j] = joined(g.Format.partsSums(steps, at), sum, row, col, c.again)
				continue
			}
			var chunk amxChunk
			for k := range steps {
				for i := range a {
					a[i] = lane(r, k*stepA+i)
				}
				if c.columns {
					a[0] = f[0][k*height+r]
				}
				if g.Format == GemmAMXBF16 {
					sum = chunk.add(g.Format, sum, k, a[0], f[1][bAt(k, j)])
				} else {
					sum = g.Format.accumulate(sum, a, f[1][bAt(k, j)])
				}
			}
			if c.again && !g.Format.AMX() {
				sum = g.Format.sum(f[2][r*pitch+j], sum)
			}
			want[r*pitch+j] = sum
		}
	}
	call := func(results []byte) {
		t.Helper()
		if err := jit.Protect(func() error { jit.Call(entry, unsafe.Pointer(&args)); return nil }); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i := range want {
			got, nan := binary.LittleEndian.Uint32(results[4*i:]), func(v uint32) bool { return g.Format.Linear() && v&^(1<<31) > 0x7F800000 }
			if got != want[i] && !(nan(got) && nan(want[i])) {
				t.Fatalf("%s: result %d is %#x, want %#x", name, i, got, want[i])
			}
		}
	}
	call(mem[2].Bytes())
	if g.Format.Linear() && g.Form != GemmPast {
		copy(mem[2].Bytes(), lanesAsBytes(f[2])) // as before
		sums := want
		want = askLinear(t, rng, &args, sums, height, total)
		call(mem[2].Bytes())
		args.askNothing()
		want = sums
	}
	if c.finish != nil {
		copy(mem[2].Bytes(), lanesAsBytes(f[2])) // as before
		if c.shared {
			args.LDC, args.StepC, args.RowsC = uintptr(4*c.cols), 0, 0
		}
		results := make([]byte, len(mem[2].Bytes())+1) // there is a first one
		c.finish.place(&args, unsafe.Pointer(&results[0]), height, total, c.cols)
		if c.later {
			args.Finish.Later = 1
		}
		call(results)
	}
	for i, m := range mem {
		if err := m.Close(); err != nil {
			t.Errorf("%s: matrix %c: %v", name, 'A'+i, err)
		}
	}
}

func lanesAsBytes(lanes []uint32) []byte {
	var b []byte
	for _, l := range lanes {
		b = binary.LittleEndian.AppendUint32(b, l)
	}
	return b
}

func TestTranspose(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		t.Run("32 bits", func(t *testing.T) { testTranspose[uint32](t, isa) })
		t.Run("64 bits", func(t *testing.T) { testTranspose[uint64](t, isa) })
	})
}

func testTranspose[E uint32 | uint64](t *testing.T, isa ISA) {
	size := int(unsafe.Sizeof(E(0)))
	text, err := EmitTranspose(isa, size)
	if err != nil {
		t.Fatal(err)
	}
	code, err := jit.Map(text)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = code.Close() }()
	n := 4 * GemmLanes(isa) / size
	const squares, down, gap = 3, 2, 5
	ldSrc, ldDst := squares*n+gap, down*n+gap
	src, err := jit.AllocGuarded(size*((down*n-1)*ldSrc+squares*n), 1)
	if err != nil {
		t.Fatal(err)
	}
	dst, err := jit.AllocGuarded(size*((squares*n-1)*ldDst+down*n), 1)
	if err != nil {
		t.Fatal(err)
	}
	from := unsafe.Slice((*E)(src.Pointer()), len(src.Bytes())/size)
	to := unsafe.Slice((*E)(dst.Pointer()), len(dst.Bytes())/size)
	for i := range from {
		from[i] = E(i)
	}
	args := TransposeArgs{Src: src.Pointer(), Dst: dst.Pointer(), LDSrc: uintptr(size * ldSrc), LDDst: uintptr(size * ldDst), Count: squares, Down: down}
	jit.Call(code.Entry(0), unsafe.Pointer(&args))
	for i := range down * n {
		for j := range squares * n {
			if got := to[j*ldDst+i]; got != from[i*ldSrc+j] {
				t.Fatalf("element (%d, %d) is %d, want %d", j, i, got, from[i*ldSrc+j])
			}
		}
	}
	if err := src.Close(); err != nil {
		t.Error(err)
	}
	if err := dst.Close(); err != nil {
		t.Error(err)
	}
}
