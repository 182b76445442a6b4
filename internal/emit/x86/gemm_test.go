package x86

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/jit"
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
		"LDAhead": {unsafe.Offsetof(g.LDAhead), gemmLDAhead}, "Beside": {unsafe.Offsetof(g.Beside), gemmBeside}, "LDBeside": {unsafe.Offsetof(g.LDBeside), gemmLDBeside}, "Room": {unsafe.Offsetof(g.Room), gemmRoom}, "NextA": {unsafe.Offsetof(g.NextA), gemmNextA}, "LDNextA": {unsafe.Offsetof(g.LDNextA), gemmLDNextA}, "StepNextA": {unsafe.Offsetof(g.StepNextA), gemmStepA}, "StepsA": {unsafe.Offsetof(g.StepsA), gemmStepsA},
		"rowsNextA": {unsafe.Offsetof(g.rowsNextA), gemmDownNextA}, "fetchA": {unsafe.Offsetof(g.fetchA), gemmFetchA}, "Fetch": {unsafe.Offsetof(g.Fetch), gemmFetch}, "FetchStep": {unsafe.Offsetof(g.FetchStep), gemmFetches}, "Part": {unsafe.Offsetof(g.Part), gemmPart}, "Mask": {unsafe.Offsetof(g.Mask), gemmMask},
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
			if isa == AVX2 && (format == GemmBF16 || format.AMX()) || isa == AVX512 && format == GemmPairs {
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
			memory := []string{move, "vpand", "vpandd", "vpslld", "prefetcht1", broadcast.String()}
			if format == GemmPairs { // rows that are put in order
				memory = append(memory, "vpshufb", "mov", multiply.String())
			}
			if strings.Contains(operands, "ptr") && !slices.Contains(memory, op) {
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
		if format == GemmPairs { // a chunk, and another one put in order
			bases := (tile.Rows + rowsPerBase - 1) / rowsPerBase
			sums := PairsSteps * tile.Rows * tile.Vectors
			want = map[string]int{
				multiply.String(): sums, "vpmaddwd": sums, add.String(): sums, broadcast.String(): PairsSteps * tile.Rows,
				move: 2 * tile.Rows, "vpshufb": tile.Rows, "prefetcht1": PairsSteps + 1, "add": 2 + bases, "mov": 4, "sub": 1, "jne": 1,
			}
		}
		if format == GemmWide {
			want[multiply.String()] *= 2
			want[broadcast.String()] *= 2
			and := "vpandd"
			if want["vpslld"] = want[move]; isa == AVX2 { // which shifts in registers alone
				and = "vpand"
			} else {
				delete(want, move)
			}
			want[and] = want["vpslld"]
		}
		if tile.fetches(isa, format) {
			want["prefetcht1"] = GemmUnroll * tile.Vectors * format.Lanes(isa) / format.PackedCols() // lines
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
	for tile, isa := range map[GemmTile]ISA{{5, 2}: AVX512, {2, 3}: AVX2, {9, 1}: AVX2} { // two vectors of 8 are a panel, and rows are put in order one a step
		if _, err := emitGemmTile(isa, GemmPairs, tile, false, GemmPanels, false); err == nil {
			t.Errorf("no error for %v by pairs of %v", tile, isa)
		}
	}
	for format, isa := range map[GemmFormat]ISA{GemmF32: AVX512, GemmF64: AVX2, GemmPairs: AVX2} {
		if _, err := emitGemmTile(isa, format, GemmTile{2, 2}, false, GemmFetching, false); err == nil {
			t.Errorf("no error for %v of %v that fetches", format, isa)
		}
	}
	if _, err := emitGemmTile(AVX2, GemmF32, GemmTile{2, 4}, false, GemmFetching, false); err == nil {
		t.Error("no error for a tile that fetches and has no register for that")
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
			if format == GemmF64 || format == GemmPairs {
				continue // TestGemmDoubleTiles, TestPairTiles
			}
			tiles := GemmTiles(isa, format)
			if isa == AVX2 && format == GemmF32 { // as wide as kernels are
				tiles = append(tiles, GemmTile{2, 4})
			}
			for _, tile := range tiles {
				for _, form := range []GemmForm{GemmPanels, GemmColumns, GemmFarColumns, GemmPlaces, GemmPast, GemmFetching} {
					switch {
					case form == GemmPast && (isa != AVX512 || format != GemmBytes && format != GemmF32),
						form == GemmFetching && (isa != AVX2 || format != GemmF32 && format != GemmWide || tile.Vectors > 3),
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
