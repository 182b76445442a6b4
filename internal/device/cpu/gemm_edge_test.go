package cpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// Sizes around the edges of tiles, panels and blocks of k, and empty ones.
func TestGemmEdges(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	devices := shortDevices(t)
	ks := []int{0, 1, 15, 16, 17, 511, 512, 513, 1024, 1030}
	rows := []int{0, 1, 5, 6, 7, 13, 16, 17, 31, 32, 33}
	cols := []int{0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 70}
	xs, ys := []string{"plain", "transposed", "relu"}, []string{"plain", "transposed", "scaled", "turned"}
	n := 60
	if testing.Short() {
		n = 12
	}
	for i := range n {
		c := gemmCase{
			dtype: []string{"", "f64", "bf16", "int8"}[rng.IntN(4)],
			size:  gemmSize{1, rows[rng.IntN(len(rows))], cols[i%len(cols)], ks[i%len(ks)]}, syms: []string{"", "m"}[i%2],
			x: xs[rng.IntN(3)], y: ys[rng.IntN(len(ys))], out: []string{"plain", "bias"}[rng.IntN(2)], const_: rng.IntN(2) == 0, ints: rng.IntN(3) == 0,
		}
		c.ints = c.ints || c.dtype == "bf16" // rounds otherwise than the loops
		test := c.build(rng)
		want := test.reference(t)
		for _, d := range devices {
			if d.isa == Generic && c.dtype == "" && !c.ints {
				continue
			}
			test.check(t, fmt.Sprintf("%v %v", c, d.isa), test.run(t, d, test.compile(t, d), 1+rng.IntN(3), rng.IntN(2) == 0), want)
		}
	}
}

// Left operands that lie by columns are read, or packed, many rows at once: as
// many as there are, and whatever is left.
func TestGemmTurned(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	devices := shortDevices(t)
	for i, rows := range []int{1, 7, 16, 47, 48, 49, 97} {
		if testing.Short() && i%3 > 0 {
			continue
		}
		for _, dtype := range []string{"", "f64", "bf16"} {
			c := gemmCase{
				dtype: dtype, size: gemmSize{1 + i%2, rows, 10 + rng.IntN(60), []int{33, 130, 515}[rng.IntN(3)]}, syms: []string{"", "m", "k"}[i%3],
				x: "transposed", y: []string{"plain", "transposed"}[rng.IntN(2)], out: []string{"plain", "bias"}[rng.IntN(2)], ints: true,
			}
			test := c.build(rng)
			want := test.reference(t)
			for _, d := range devices {
				test.check(t, fmt.Sprintf("%v %v", c, d.isa), test.run(t, d, test.compile(t, d), 1+rng.IntN(3), rng.IntN(2) == 0), want)
			}
		}
	}
}

// Narrow tiles copy columns of X that fill the first cache, for as many rows as a panel
// has: sums of one block of k and of several, results in place and finished.
func TestGemmColumnsCopied(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 20))
	devices := machines(t)
	for i, rows := range []int{1, 2, 3, 4, 5, 6, 7, 11, 27, 128} {
		c := gemmCase{
			size: gemmSize{1 + i%2, rows, 65 + rng.IntN(60), []int{257, 700, 1030}[i%3]}, syms: []string{"", "m"}[i%2],
			x: "transposed", y: "plain", out: []string{"plain", "bias"}[rng.IntN(2)], ints: true, dtype: []string{"", "f64"}[i/2%2],
		}
		test := c.build(rng)
		want := test.reference(t)
		for _, d := range devices {
			if d.isa != Generic {
				test.check(t, fmt.Sprintf("%v %v", c, d.isa), test.run(t, d, test.compile(t, d), 1+rng.IntN(3), rng.IntN(2) == 0), want)
			}
		}
	}
}

// Columns of X in memory are fetched ahead on cores that want it, those that a part has
// packed are near.
func TestGemmColumnsFar(t *testing.T) {
	for _, c := range []struct {
		x, dtype string
		want     x86.GemmForm
	}{{"plain", "f32", x86.GemmPanels}, {"transposed", "f32", x86.GemmFarColumns}, {"transposed", "f64", x86.GemmFarColumns}, {"transposed", "bf16", x86.GemmColumns}} {
		test := gemmCase{size: gemmSize{1, 30, 40, 50}, x: c.x, y: "plain", out: "plain", dtype: c.dtype}.build(rand.New(rand.NewPCG(1, 2)))
		for _, d := range machines(t) {
			for _, far := range []bool{true, false} {
				d.core.FarColumns = far
				want := c.want
				if !far && want == x86.GemmFarColumns {
					want = x86.GemmColumns
				}
				k, ok := test.compile(t, d).(*gemmKernel)
				if ok && d.isa != Generic && d.isa <= AVX512 && k.tiles.form != want {
					t.Errorf("%v: X %s of %s is read as %d, want %d", d.isa, c.x, c.dtype, k.tiles.form, want)
				}
			}
		}
	}
}

// Results in place that are visited for each block of k go in blocks of rows, where B is
// packed before the run or read where it lies; and few steps fetch results far ahead.
func TestGemmRowBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 44))
	devices := machines(t)
	for _, c := range []gemmCase{
		{size: gemmSize{1, 2*partialRows + 7, 70, 1100}, const_: true},
		{size: gemmSize{1, partialRows + 1, 130, 520}, const_: true, dtype: "f64"},
		{size: gemmSize{2, partialRows + 5, 33, 600}},
		{size: gemmSize{1, 700, aheadResults/700 + 40, aheadSteps - 3}, const_: true},
	} {
		c.x, c.y, c.out, c.ints = "plain", "plain", "plain", true
		test := c.build(rng)
		want := test.exact(c)
		for i, d := range devices {
			if few(d, i+1) {
				continue
			}
			for _, workers := range []int{1, 2} {
				test.check(t, fmt.Sprintf("%v %v %d workers", c, d.isa, workers), test.run(t, d, test.compile(t, d), workers, rng.IntN(2) == 0), want)
			}
		}
	}
}

// exact is what reference gives for small integers and plain results, without its interpreter, which
// takes seconds for as many.
func (t *gemmTest) exact(c gemmCase) [][]byte {
	want := slices.Clone(t.data)
	want[2] = slices.Clone(t.data[2])
	for i, v := range t.doubles(c) {
		if c.dtype == "f64" {
			binary.LittleEndian.PutUint64(want[2][8*i:], math.Float64bits(v))
		} else {
			binary.LittleEndian.PutUint32(want[2][4*i:], math.Float32bits(float32(v)))
		}
	}
	return want
}

// A row's results have the same bits whatever else the product holds, however
// it is cut, and whatever tiles compute it; also those of AVX2 and AVX-512. Sums of
// halves are others.
func TestGemmSameBits(t *testing.T) {
	for _, dtype := range []string{"f32", "f64"} {
		t.Run(dtype, func(t *testing.T) { testSameBits(t, dtype) })
	}
}

func testSameBits(t *testing.T, dtype string) {
	const most, cols, k = 61, 150, 1100
	c := gemmCase{size: gemmSize{1, most, cols, k}, syms: "m", x: "plain", y: "plain", out: "bias", const_: true, dtype: dtype}
	test := c.build(rand.New(rand.NewPCG(7, 8)))
	wants := map[bool][]byte{}
	for _, d := range machines(t) {
		if d.isa == Generic {
			continue
		}
		tiles := []x86.GemmTile{{Rows: 6, Vectors: 2}, {Rows: 3, Vectors: 2}}
		halves := d.isa == AMXFP16 && dtype == "f32"
		switch d.isa {
		case AVX512:
			tiles = []x86.GemmTile{{Rows: 6, Vectors: 4}, {Rows: 14, Vectors: 2}, {Rows: 2, Vectors: 1}}
		case AMXFP16:
			tiles = []x86.GemmTile{{Rows: 32, Vectors: 1}, {Rows: 19, Vectors: 1}, {Rows: 8, Vectors: 1}}
		}
		for _, tile := range tiles {
			d, err := New(Options{ISA: d.isa, Tile: tile})
			if err != nil {
				t.Fatal(err)
			}
			made := test.compile(t, d)
			for _, rows := range []int{most, 1, 2, 7, 40} {
				got := test.first(t, rows).run(t, d, made, 1+rows%3, false)
				out := got[len(got)-1]
				if wants[halves] == nil {
					wants[halves] = out
				}
				if at := firstDifference(out, wants[halves][:len(out)]); at >= 0 {
					t.Fatalf("%v tile %v, %d rows: byte %d differs", d.isa, tile, rows, at)
				}
			}
			_ = d.Close()
		}
	}
}

// So have those of bf16 where tiles of AMX, which add in an order of their own,
// compute them.
func TestAMXSameBits(t *testing.T) {
	for i, k := range []int{30, 33, 383, 385, 2000} { // around chunks and blocks
		c := gemmCase{size: gemmSize{1, 97, 150, k}, syms: "m", x: []string{"plain", "relu", "wide"}[i%3], y: "plain", out: "bias", const_: i%2 == 0, dtype: "bf16"}
		test := c.build(rand.New(rand.NewPCG(uint64(k), 8)))
		var want []byte
		for _, tile := range append(x86.GemmTiles(x86.AVX512, x86.GemmAMXBF16), x86.GemmTile{Rows: 19, Vectors: 1}) {
			d, err := New(Options{ISA: AMX, Tile: tile})
			if err != nil {
				t.Skip(err)
			}
			made := test.compile(t, d)
			for _, rows := range []int{97, 1, 2, 16, 17, 33} {
				got := test.first(t, rows).run(t, d, made, 1+rows%3, false)
				out := got[len(got)-1]
				if want == nil {
					want = out
				}
				if at := firstDifference(out, want[:len(out)]); at >= 0 {
					t.Fatalf("%v, tile %v, %d rows: byte %d differs", c, tile, rows, at)
				}
			}
			_ = d.Close()
		}
	}
}

// A tile may be asked for that some numbers have no kernels of, or that has rows
// turned by squares: results are the same.
func TestTileOfSome(t *testing.T) {
	vectors, err := New(Options{ISA: AVX512})
	if err != nil {
		t.Skip(err)
	}
	defer vectors.Close()
	rng := rand.New(rand.NewPCG(31, 32))
	for _, tile := range []x86.GemmTile{{Rows: 6, Vectors: 4}, {Rows: 14, Vectors: 2}, {Rows: 16, Vectors: 4}, {Rows: 19, Vectors: 2}, {Rows: 32, Vectors: 1}} {
		d, err := New(Options{ISA: AMX, Tile: tile})
		if err != nil {
			t.Skip(err)
		}
		for _, c := range []gemmCase{
			{size: gemmSize{1, 40, 70, 33}, x: "transposed", y: "plain", out: "bias"},
			{size: gemmSize{1, partsRows, 150, partsTerms}, x: "transposed", y: "plain", out: "residual"},
			{size: gemmSize{1, 40, 70, 700}, x: "transposed", y: "plain", out: "plain", dtype: "bf16"},
			{size: gemmSize{1, 40, 70, 700}, x: "plain", y: "plain", out: "plain", dtype: "int8"},
		} {
			c.ints = true
			test := c.build(rng)
			if s := c.size; c.dtype == "" { // odd in thirds, and lost in whole numbers
				setFloat(test.data[0], 3, 0x1p-80)
				setFloat(test.data[1], 9*s.cols+40, 0x1p-80)
			}
			want := test.run(t, vectors, test.compile(t, vectors), 1, false)
			test.check(t, fmt.Sprint(c, " tile ", tile), test.run(t, d, test.compile(t, d), 2, false), want)
		}
		_ = d.Close()
	}
}

// first is the test with its first rows alone, whose number is the symbol m.
func (t *gemmTest) first(tb testing.TB, rows int) *gemmTest {
	tb.Helper()
	part := *t
	part.env = ir.Env{"m": rows}
	part.data = slices.Clone(t.data)
	for i, p := range t.g.Params {
		n, err := p.Len.Eval(part.env)
		if err != nil {
			tb.Fatal(err)
		}
		part.data[i] = t.data[i][:n*p.DType.Size()]
	}
	return &part
}

// Products of 16-bit floats are sums in f32, rounded once.
func TestGemmHalf(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, dt := range []ir.DType{ir.BF16, ir.F16} {
		for _, size := range []gemmSize{{1, 9, 70, 33}, {2, 5, 17, 600}} {
			c := gemmCase{size: size, x: "plain", y: "plain", out: "plain", const_: true}
			test := c.build(rng)
			test.asType(dt, rng)
			want := test.reference(t)
			for _, d := range withSlow(t) {
				if d.isa != Generic {
					test.check(t, fmt.Sprintf("%v %v %v", dt, size, d.isa), test.run(t, d, test.compile(t, d), 2, false), want)
				}
			}
		}
	}
}

// asType makes a plain product of f32 one of d.
func (t *gemmTest) asType(d ir.DType, rng *rand.Rand) {
	g := t.g
	g.DType, g.Acc.DType = d, d
	for i := range g.Params {
		g.Params[i].DType = d
		n, _ := g.Params[i].Len.Eval(t.env)
		t.data[i] = make([]byte, n*d.Size())
		for j := range n { // between 1 and 2, or of either sign below
			bits := uint16(0x3F80 | rng.IntN(0x80) | rng.IntN(2)<<15)
			if d == ir.F16 {
				bits = uint16(0x3C00 | rng.IntN(0x400) | rng.IntN(2)<<15)
			}
			t.data[i][2*j], t.data[i][2*j+1] = byte(bits), byte(bits>>8)
		}
	}
	as := func(e *loop.Expr) *loop.Expr { return loop.Load(e.Param, d, e.Args[0], nil) }
	g.X, g.Y = as(g.X), as(g.Y)
	s := g.Epilogue[0].(*loop.Store)
	g.Epilogue = []loop.Stmt{&loop.Store{Param: s.Param, Index: s.Index, Value: g.Acc.Ref()}}
}

// Two programs that multiply by one weight share what is packed of it, though
// they number their params differently; another expression of it is another
// pack.
func TestGemmSharedPack(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, d := range machines(t) {
		size := gemmSize{1, 8, 40, 24}
		first := gemmCase{size: size, x: "plain", y: "plain", out: "plain", const_: true, ints: true}.build(rng)
		second := gemmCase{size: size, x: "plain", y: "plain", out: "bias", const_: true, ints: true}.build(rng)
		third := gemmCase{size: gemmSize{1, 8, 24, 40}, x: "plain", y: "transposed", out: "plain", const_: true, ints: true}.build(rng)
		weight := makeBuffer(first.data[1], nil)
		for i, test := range []*gemmTest{first, second, third} {
			test.weights = map[int]*buffer{1: weight}
			test.data[1] = weight.data
			test.check(t, fmt.Sprintf("%v product %d", d.isa, i), test.run(t, d, test.compile(t, d), 1, false)[2:], test.reference(t)[2:])
		}
		if n := weight.Count(); n != 2 {
			t.Errorf("%v: %d packs of one weight, want 2", d.isa, n)
		}
	}
}

// A weight is packed apart for instructions that want it in another order.
func TestGemmPacksOfAllDevices(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for _, dtype := range []string{"f64", "bf16", "int8"} {
		test := gemmCase{size: gemmSize{1, 5, 40, 27}, x: "plain", y: "plain", out: "plain", const_: true, ints: true, dtype: dtype}.build(rng)
		test.weights = map[int]*buffer{1: makeBuffer(test.data[1], nil)}
		want := test.reference(t)
		for _, d := range shortDevices(t) {
			test.check(t, fmt.Sprintf("%s %v %+v", dtype, d.isa, d.has), test.run(t, d, test.compile(t, d), 1, false), want)
		}
	}
}

// Every element belongs to one task, whatever the sizes and the workers.
func TestGemmPlan(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range 300 {
		s := gemmSize{1 + rng.IntN(4), 1 + rng.IntN(300), 1 + rng.IntN(500), rng.IntN(3000)}
		tile := x86.GemmTile{Rows: 1 + rng.IntN(14), Vectors: 1 + rng.IntN(4)}
		format := []x86.GemmFormat{x86.GemmF32, x86.GemmBF16, x86.GemmBytes, x86.GemmAMXBytes, x86.GemmF64}[rng.IntN(5)]
		cut := cutOf(format)
		cut.whole = rng.IntN(2) == 0
		p := planGemm(s, cut, format.Lanes(x86.AVX512), tile, 1+rng.IntN(8), rng.IntN(2) == 0)
		seen := map[[3]int]int{}
		for task := range p.tasks() {
			a := p.area(task)
			for b := a.batch0; b < a.batch1; b++ {
				for r := a.row0; r < a.row1; r++ {
					for c := a.col0; c < a.col1; c++ {
						seen[[3]int{b, r, c}]++
					}
				}
			}
		}
		if len(seen) != p.batch*p.rowPanels*p.panels {
			t.Fatalf("%+v: %d blocks of %d", p, len(seen), p.batch*p.rowPanels*p.panels)
		}
		for at, n := range seen {
			if n != 1 {
				t.Fatalf("%+v: block %v belongs to %d tasks", p, at, n)
			}
		}
		for i := range p.rowPanels {
			if n := p.row(i+1) - p.row(i); n < 1 || n > tile.Rows {
				t.Fatalf("%+v: row panel %d has %d rows", p, i, n)
			}
		}
		last := 0
		for b := range p.kBlocks {
			n := p.kStart(b+1) - p.kStart(b)
			if p.kStart(b) != last || n > p.maxK() || n > template.SumBlock {
				t.Fatalf("%+v: block %d of k begins at %d and has %d", p, b, p.kStart(b), n)
			}
			last += n
		}
		if last*p.group < p.k || (last-p.chunk)*p.group >= max(p.k, 1) {
			t.Fatalf("%+v: blocks of k end at %d", p, last)
		}
	}
}

// Where rows are few every worker has a task, unless there is next to nothing to read.
func TestGemmPlanSharesOut(t *testing.T) {
	tile := x86.GemmTile{Rows: 12, Vectors: 2}
	for _, f := range []x86.GemmFormat{x86.GemmF32, x86.GemmF64, x86.GemmBF16, x86.GemmBytes, x86.GemmAMXBytes} {
		cut := cutOf(f)
		for _, c := range []struct {
			cols, k     int
			least, most int // tasks for two workers
		}{{384, 1536, 2, 16}, {1536, 384, 2, 16}, {64, 64, 1, 1}} {
			p := planGemm(gemmSize{1, 12, c.cols, c.k}, cut, f.Lanes(x86.AVX512), tile, 2, false)
			if n := p.tasks(); n < c.least || n > c.most {
				t.Errorf("%v: 12 x %d x %d is cut into %d tasks", f, c.cols, c.k, n)
			}
		}
	}
}

// Results of few terms go out in long rows; where B of all k is more than the second
// cache holds, each block of it serves many rows.
func TestGemmPlanBlocks(t *testing.T) {
	tile := x86.GemmTile{Rows: 32, Vectors: 2}
	plan := func(f x86.GemmFormat, whole bool, k int) gemmPlan {
		cut := cutOf(f)
		cut.whole = whole
		return planGemm(gemmSize{1, 2000, 3200, k}, cut, 16, tile, 1, false)
	}
	for _, c := range []struct {
		format          x86.GemmFormat
		whole           bool
		k, panels, rows int // of a block; of sums aside
	}{
		{x86.GemmBytes, false, 40, 15, partialRows}, {x86.GemmBytes, true, 40, 100, partialRows}, {x86.GemmBytes, true, 2000, 8, partialRows},
		{x86.GemmAMXBF16, true, 40, 100, 32}, {x86.GemmAMXBF16, true, 1000, 15, 32}, {x86.GemmAMXBF16, true, 2000, 15, amxAside},
		{x86.GemmAMXBytes, true, 2000, 15, 32}, {x86.GemmAMXBytes, true, 4000, 15, amxAside},
	} {
		p := plan(c.format, c.whole, c.k)
		if p.blockPanels != c.panels || p.blockRows*tile.Rows != c.rows {
			t.Errorf("%v of %d terms: blocks of %d panels and %d rows, want %d and %d", c.format, c.k, p.blockPanels, p.blockRows*tile.Rows, c.panels, c.rows)
		}
	}
}

// An index outside its table in an operand sets the status word, and reads
// nothing.
func TestGemmStatus(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for _, d := range machines(t) {
		for _, bad := range []bool{false, true} {
			c := gemmCase{size: gemmSize{1, 7, 20, 9}, x: "plain", y: "plain", out: "plain", ints: true}
			test := c.build(rng)
			g := test.g
			// The rows of X are those that a list of i32 names.
			g.Params = append(g.Params, loop.Param{Name: "rows", DType: ir.I32, Len: g.Rows, Use: loop.Read})
			list := make([]byte, 4*c.size.rows)
			for i := range c.size.rows {
				list[4*i] = byte(i * 3 % c.size.rows)
			}
			if bad {
				list[4*5] = byte(c.size.rows)
			}
			test.data = append(test.data, list)
			row := loop.Index(loop.Apply(ir.Cast, ir.I64, loop.Load(len(g.Params)-1, ir.I32, g.Row.Ref(), nil)), g.Rows, 0)
			g.X = loop.Load(0, ir.F32, loop.AddIndex(loop.MulIndex(row, loop.SizeOf(g.K)), g.Inner.Ref()), nil)
			g.Slots = 1
			got := test.run(t, d, test.compile(t, d), 2, false)
			if (test.status[0] != 0) != bad {
				t.Errorf("%v: status %d for an index outside: %v", d.isa, test.status[0], bad)
			}
			if !bad {
				test.check(t, d.isa.String(), got, test.reference(t))
			}
		}
	}
}

// Workers that pack B themselves share the longer side.
func TestOwnParts(t *testing.T) {
	for _, c := range []struct{ rows, cols, workers, want int }{
		{768, 512, 2, 1}, {512, 512, 2, 1}, {128, 784, 2, 2}, {2048, 1536, 16, 4}, {1, 4096, 8, 8}, {4096, 16, 8, 1}, {300, 300, 1, 1},
	} {
		p := gemmPlan{gemmSize: gemmSize{batch: 1, rows: c.rows, cols: c.cols}}
		if got := p.ownParts(c.workers); got != c.want {
			t.Errorf("%d rows, %d columns, %d workers: %d parts of the columns, want %d", c.rows, c.cols, c.workers, got, c.want)
		}
	}
}
