package entry_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	_ "github.com/sinterml/sinter/internal/effort" // collects garbage less often
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// gpu is a shape such as GPUs have.
var gpu = entry.Shape{Items: 256, Near: 24 << 10, Flat: 64, Units: 132, Product: flat.Product, Tiles: entry.GroupTiles(256, 6<<10)}

// results are those of a product by a strategy, on what rng draws.
func results(t *testing.T, f flattest.Few, c entry.Strategy) []byte {
	t.Helper()
	g, a := f.Gemm(rand.New(rand.NewPCG(5, 0)), true)
	k := gpu.With(c).Gemm("few", g)
	if k.Gemm != nil {
		t.Fatalf("%v, %+v: tiles", f, c)
	}
	a.End = 1 << 30
	var err error
	if _, a.End, err = k.Work.Span(a.Sizes); err == nil {
		for i, p := range k.Work.Params {
			if p.Use == loop.Scratch {
				n, _ := p.Len.Const()
				a.Buffers = append(a.Buffers[:i:i], make([]byte, n*p.DType.Size()))
			}
		}
		err = loop.Interpret(k.Work, a)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a.Buffers[len(g.Params)-1]
}

// TestFewRowsBits computes a product by every strategy: the bits are the same.
// So they are in the first of several rows.
func TestFewRowsBits(t *testing.T) {
	for _, f := range []flattest.Few{
		{Sizes: flattest.Sizes{Batch: 1, Rows: 8, Cols: 48, K: 272}, X: ir.F32, Y: ir.F32, Sum: ir.F32, Deep: true},
		{Sizes: flattest.Sizes{Batch: 1, Rows: 5, Cols: 48, K: 272}, X: ir.BF16, Y: ir.BF16, Sum: ir.F32, Deep: true},
		{Sizes: flattest.Sizes{Batch: 1, Rows: 7, Cols: 48, K: 100}, X: ir.F16, Y: ir.F16, Sum: ir.F16},
		{Sizes: flattest.Sizes{Batch: 2, Rows: 3, Cols: 37, K: 101}, X: ir.F32, Y: ir.F32, Sum: ir.F32, Deep: true},
		{Sizes: flattest.Sizes{Batch: 1, Rows: 12, Cols: 64, K: 90}, X: ir.F32, Y: ir.F32, Sum: ir.F32},
	} {
		g, _ := f.Gemm(rand.New(rand.NewPCG(5, 0)), true)
		table := gpu.ProductTable(g)
		if len(table) < 4 || len(table) > entry.MaxStrategies {
			t.Errorf("%v: %d strategies", f, len(table))
		}
		want := results(t, f, entry.Strategy{})
		for _, c := range table[1:] {
			if !bytes.Equal(results(t, f, c), want) {
				t.Errorf("%v: other bits by %+v", f, c)
			}
		}
	}
}

// TestFewRowsItems has groups of any size, of which the work-items that share a
// sum are a part: work-items, parts of sums and columns go together.
func TestFewRowsItems(t *testing.T) {
	for _, deep := range []bool{false, true} {
		f := flattest.Few{Sizes: flattest.Sizes{Batch: 1, Rows: 3, Cols: 48, K: 272}, X: ir.F32, Y: ir.F32, Sum: ir.F32, Deep: deep}
		for _, near := range []int{2 << 10, 24 << 10} {
			for items := 2; items <= 128; items += 1 + items/4 {
				shape := gpu
				shape.Items, shape.Near = items, near
				g, want := f.Gemm(rand.New(rand.NewPCG(5, 0)), false)
				k := shape.Gemm("few", g)
				got := *want
				last := len(got.Buffers) - 1
				got.Buffers = slices.Clone(want.Buffers)
				got.Buffers[last] = make([]byte, len(want.Buffers[last]))
				parts, _ := k.Work.Params[len(g.Params)].Len.Const()
				got.Buffers = append(got.Buffers, make([]byte, 4*parts))
				var err error
				if _, got.End, err = k.Work.Span(got.Sizes); err == nil {
					err = loop.Interpret(k.Work, &got)
				}
				if err != nil {
					t.Errorf("deep %v, groups of %d, %d bytes near: %v", deep, k.Items, near, err)
					continue
				}
				if err := loop.Interpret(loop.Expand(g.Loops()), want); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got.Buffers[last], want.Buffers[last]) {
					t.Errorf("deep %v, groups of %d, %d bytes near: results differ", deep, k.Items, near)
				}
			}
		}
	}
}

// TestFewRowsOfOthers has a row alone, and among others.
func TestFewRowsOfOthers(t *testing.T) {
	f := flattest.Few{Sizes: flattest.Sizes{Batch: 1, Cols: 40, K: 272}, X: ir.F32, Y: ir.F32, Sum: ir.F32}
	for _, f.Deep = range []bool{false, true} {
		var first []byte
		for f.Rows = 1; f.Rows <= 16; f.Rows++ {
			g, a := f.Gemm(rand.New(rand.NewPCG(5, 0)), true)
			k := gpu.Gemm("few", g)
			same := rand.New(rand.NewPCG(6, 0))
			for i, p := range []int{f.K, f.K * f.Cols, f.Cols, f.Cols} { // the first row of each
				for j := range p * 4 {
					a.Buffers[i][j] = byte(same.Uint32())
					if j%4 == 3 { // no NaN, and no sum that is lost beside another
						a.Buffers[i][j] = 0x3f
					}
				}
			}
			parts, _ := k.Work.Params[len(g.Params)].Len.Const()
			a.Buffers = append(a.Buffers, make([]byte, 4*parts))
			var err error
			if _, a.End, err = k.Work.Span(a.Sizes); err == nil {
				err = loop.Interpret(k.Work, a)
			}
			if err != nil {
				t.Fatal(err)
			}
			row := a.Buffers[len(g.Params)-1][:4*f.Cols]
			if first == nil {
				first = slices.Clone(row)
			}
			if !bytes.Equal(row, first) {
				t.Errorf("deep %v: the first of %d rows has other bits", f.Deep, f.Rows)
			}
		}
	}
}

// TestFewRowsWork shows how many groups share a product of few rows, and how many
// bytes they read of it, beside those of tiles: each of them the part of X and Y
// that its results need.
func TestFewRowsWork(t *testing.T) {
	for _, f := range []flattest.Few{
		{Sizes: flattest.Sizes{Rows: 1, Cols: 4096, K: 4096}, X: ir.F16, Y: ir.F16, Sum: ir.F16, Deep: true},
		{Sizes: flattest.Sizes{Rows: 1, Cols: 4096, K: 4096}, X: ir.F16, Y: ir.F16, Sum: ir.F16},
		{Sizes: flattest.Sizes{Rows: 8, Cols: 4096, K: 4096}, X: ir.F16, Y: ir.F16, Sum: ir.F16, Deep: true},
		{Sizes: flattest.Sizes{Rows: 1, Cols: 32000, K: 4096}, X: ir.BF16, Y: ir.BF16, Sum: ir.BF16, Deep: true},
		{Sizes: flattest.Sizes{Rows: 1, Cols: 14336, K: 4096}, X: ir.U8, Y: ir.I8, Sum: ir.I32, Deep: true},
		{Sizes: flattest.Sizes{Rows: 1, Cols: 384, K: 1536}, X: ir.F32, Y: ir.F32, Sum: ir.F32},
		{Sizes: flattest.Sizes{Rows: 4, Cols: 1536, K: 384}, X: ir.F32, Y: ir.F32, Sum: ir.F32},
		{Sizes: flattest.Sizes{Rows: 12, Cols: 1536, K: 384}, X: ir.F32, Y: ir.F32, Sum: ir.F32},
	} {
		f.Batch = 1
		k := gpu.Gemm("few", f.Product())
		_, groups, err := k.Work.Span(nil)
		if k.Gemm != nil || err != nil {
			t.Fatalf("%v: tiles, %v", f, err)
		}
		tile := entry.GroupTile
		across, down := (f.Cols+tile.Cols-1)/tile.Cols, (f.Rows+tile.Rows-1)/tile.Rows
		bytes := func(groups, blocks int) int { // of X by each group, of Y by each block of rows
			return (groups/blocks*f.Rows*f.X.Size() + blocks*f.Cols*f.Y.Size()) * f.K
		}
		blocks := (f.Rows + 7) / 8
		t.Logf("%2dx%5dx%4d %v by %v, deep %-5v: %3d groups read %6.2f MB as tiles, %4d of %d work-items %6.2f MB, %d elements of a turn by wide loads",
			f.Rows, f.Cols, f.K, f.X, f.Y, f.Deep, across*down, float64(bytes(across*down, down))/1e6, groups, k.Items, float64(bytes(groups, blocks))/1e6, len(k.Wide))
		if groups < 4*across*down {
			t.Errorf("%v: %d groups, where tiles have %d", f, groups, across*down)
		}
		if bytes(groups, blocks) > (blocks+2)*f.Cols*f.Y.Size()*f.K {
			t.Errorf("%v: %d bytes are read of a weight of %d", f, bytes(groups, blocks), f.Cols*f.Y.Size()*f.K)
		}
		if many := f.Cols >= 4096; many != (len(k.Wide) > 0) { // else columns are better spread over units
			t.Errorf("%v: %d elements are loaded with others", f, len(k.Wide))
		}
	}
}
