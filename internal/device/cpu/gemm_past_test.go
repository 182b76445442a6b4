package cpu

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/x86"
)

// pastDevice is one with AVX-512, its instruction for bytes too, on which the smallest
// results go past the caches.
func pastDevice(tb testing.TB) *Device {
	for _, d := range machines(tb) {
		if d.isa == AVX512 && d.has.AVX512VNNI {
			d.core.Past = 1
			return d
		}
	}
	tb.Skip("needs AVX-512 and VNNI")
	return nil
}

// orPlain is the case with operands and results that are plain, where it says nothing.
func (c gemmCase) orPlain() gemmCase {
	for _, way := range []*string{&c.x, &c.y, &c.out} {
		if *way == "" {
			*way = "plain"
		}
	}
	return c
}

// Rows that begin anywhere in a line, at each place as many or more and less; all columns
// of a block, some, and those behind it that begin a line; steps with a part of bytes.
func TestGemmPast(t *testing.T) {
	rng, d := rand.New(rand.NewPCG(51, 52)), pastDevice(t)
	for _, c := range []gemmCase{
		{size: gemmSize{1, 192, 256, 16}, dtype: "int8"}, // all begin a line
		{size: gemmSize{1, 200, 257, 5}, dtype: "int8"},
		{size: gemmSize{1, 193, 642, 7}, dtype: "int8"}, // every eighth
		{size: gemmSize{2, 211, 396, 37}, dtype: "int8", x: "wide"},
		{size: gemmSize{3, 205, 271, 3}, dtype: "int8", y: "shared", out: "wide"},
		{size: gemmSize{1, 1200, 319, 4}, dtype: "int8"}, // whose rows are shared out, too
		{size: gemmSize{1, 230, 530, 4 * x86.PastSteps}, dtype: "int8"},
		{size: gemmSize{1, 222, 1029, 1}, dtype: "f32"},
		{size: gemmSize{2, 250, 299, x86.PastSteps}, dtype: "f32", x: "wide", out: "wide"},
		{size: gemmSize{1, 300, 333, 5}, dtype: "f32", y: "transposed"},
		{size: gemmSize{1, 194, 262, 3}, dtype: "f32", syms: "mn"},
	} {
		c.const_ = true
		test := c.orPlain().build(rng)
		want := test.reference(t)
		for workers := 1; workers <= 3; workers++ {
			test.check(t, fmt.Sprintf("%v %d workers", c, workers), test.run(t, d, test.compile(t, d), workers, rng.IntN(2) == 0), want)
			if !test.past {
				t.Errorf("%v with %d workers: results go through the caches", c, workers)
			}
		}
	}
}

// Results stay in the caches where they are few, where multiplying takes longer, and where
// something else becomes of them.
func TestGemmNotPast(t *testing.T) {
	rng, d := rand.New(rand.NewPCG(53, 54)), pastDevice(t)
	for _, c := range []gemmCase{
		{size: gemmSize{1, x86.PastRows - 1, 300, 9}, dtype: "int8", const_: true},
		{size: gemmSize{1, 200, x86.PastCols - 1, 9}, dtype: "int8", const_: true},
		{size: gemmSize{1, 200, 300, 4*x86.PastSteps + 1}, dtype: "int8", const_: true},
		{size: gemmSize{1, 200, 300, x86.PastSteps + 1}, dtype: "f32", const_: true},
		{size: gemmSize{1, 200, 300, 9}, dtype: "bf16", const_: true, ints: true},
		{size: gemmSize{1, 200, 300, 9}, dtype: "f64", const_: true},
		{size: gemmSize{1, 200, 300, 9}, dtype: "int8"},
		{size: gemmSize{1, 200, 300, 9}, dtype: "int8", const_: true, out: "bias"},
		{size: gemmSize{1, 200, 300, 9}, dtype: "f32", const_: true, x: "transposed"},
		{size: gemmSize{1, 200, 300, 0}, dtype: "f32", const_: true},
	} {
		test := c.orPlain().build(rng)
		test.check(t, c.String(), test.run(t, d, test.compile(t, d), 2, false), test.reference(t))
		if test.past {
			t.Errorf("%v: results go past the caches", c)
		}
	}
}

// Nor where a line holds no whole number of them, where the right operand is not packed, or
// they are fewer than a core's.
func TestGemmNotPastHere(t *testing.T) {
	d := pastDevice(t)
	test := gemmCase{size: gemmSize{1, 200, 300, 9}, dtype: "int8", const_: true}.orPlain().build(rand.New(rand.NewPCG(55, 56)))
	want := test.reference(t)
	out := len(test.data) - 1
	room := make([]uint64, len(want[out])/8+1)
	apart := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(&room[0]), 2)), len(want[out]))
	test.weights = map[int]*buffer{out: makeBuffer(apart, nil)}
	test.run(t, d, test.compile(t, d), 2, false)
	if at := firstDifference(apart, want[out]); at >= 0 || test.past {
		t.Errorf("words that lie across lines: byte %d differs, past the caches: %v", at, test.past)
	}
	test.weights = nil
	test.g.ConstY, test.g.SteadyY = false, true // which the first run does not pack as a whole
	if test.check(t, "steady", test.run(t, d, test.compile(t, d), 2, false), want); test.past {
		t.Error("results of what is not packed go past the caches")
	}
	test.g.ConstY = true
	d.core.Past = 4*200*300 + 1
	if test.run(t, d, test.compile(t, d), 2, false); test.past {
		t.Error("fewer results than the core's go past the caches")
	}
}

// A step that is bound for results at whole words is bound anew where they lie across lines.
func TestGemmPastMoves(t *testing.T) {
	d := pastDevice(t)
	test := gemmCase{size: gemmSize{1, 200, 300, 9}, dtype: "int8", const_: true}.orPlain().build(rand.New(rand.NewPCG(57, 58)))
	step, _, done := test.bindGuarded(t, d, test.compile(t, d), 2, true)
	defer done()
	r := test.bound
	if s := step.(*gemmStep); !s.move(r, true) {
		t.Error("the same memory is no good")
	}
	r.ptrs[len(r.ptrs)-1] = unsafe.Add(r.ptrs[len(r.ptrs)-1], 2)
	if s := step.(*gemmStep); s.move(r, true) {
		t.Error("the step goes on with words that lie across lines")
	}
}

// A program has the kernels for all its sizes when it is compiled, takes the tile whose lines
// lie side by side, and shows them.
func TestGemmPastKernels(t *testing.T) {
	d := pastDevice(t)
	for _, syms := range []string{"", "m", "n", "k", "mnk", "b"} {
		test := gemmCase{size: gemmSize{1, 1913, 300, 37}, syms: syms, dtype: "int8", const_: true}.orPlain().build(rand.New(rand.NewPCG(59, 60)))
		tileSets.Clear()
		k := test.compile(t, d).(*gemmKernel)
		past := k.tiles
		past.form = x86.GemmPast
		tile := k.tile(d, past, gemmSize{1, 1913, 300, 37}, false)
		if _, ok := tileSets.Load(tileKey{past, tile}); !ok || tile.Vectors != 4 {
			t.Errorf("symbols %q: the kernels of %v are there: %v", syms, tile, ok)
		}
		look := &sight{c: &compiler{device: d}, all: []kernel{k}}
		if p, ok := look.product(0, test.env); !ok || !strings.Contains(p.Main.Name, "past the caches") {
			t.Errorf("symbols %q: %q is shown", syms, p.Main.Name)
		}
	}
}

// Rows are cut as even as can be, and a call takes no longer than others.
func TestEvenly(t *testing.T) {
	for rows := 1; rows < 40; rows++ {
		var heights []int
		done := 0
		for done < rows {
			height, same := evenly(rows-done, 6)
			for range same {
				heights = append(heights, height)
			}
			done += height * same
		}
		if n := len(heights); done != rows || n != ceilDiv(rows, 6) || heights[0] > 6 || heights[0]-heights[n-1] > 1 {
			t.Errorf("%d rows: %v", rows, heights)
		}
	}
	p := gemmPlan{kCut: kCut{speed: 1}}
	for _, c := range []struct{ height, vectors, steps, want int }{{6, 24, 10, 125}, {6, 24, 0, 1250}, {14, 1 << 20, 500, 1}} {
		if n := p.panelsACall(c.height, c.vectors, c.steps); n != c.want {
			t.Errorf("%+v: %d", c, n)
		}
	}
}

// Blocks of B are such as the first cache holds; workers share columns before rows are
// fewer than tiles of each sixteenth want.
func TestGemmPlanPast(t *testing.T) {
	cut := cutOf(x86.GemmBytes)
	cut.past, cut.whole = true, true
	tile := x86.GemmTiles(x86.AVX512, x86.GemmBytes)[0]
	for _, c := range []struct{ rows, cols, k, panels, rowParts, cParts int }{
		{1913, 3253, 37, 6, 2, 8}, {2071, 2054, 61, 4, 2, 8}, {20000, 300, 37, 5, 16, 1},
	} {
		p := planGemm(gemmSize{1, c.rows, c.cols, c.k}, cut, 16, tile, 2, false)
		if p.blockPanels != c.panels || p.rowParts != c.rowParts || p.cParts != c.cParts {
			t.Errorf("%d x %d x %d: blocks of %d panels, %d x %d tasks, want %d, %d x %d", c.rows, c.cols, c.k, p.blockPanels, p.rowParts, p.cParts, c.panels, c.rowParts, c.cParts)
		}
	}
}
