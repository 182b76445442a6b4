package cpu

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/x86"
)

// fetchingDevice is one with AVX2, of whose second cache 32 kB may be B.
func fetchingDevice(tb testing.TB) *Device {
	for _, d := range machines(tb) {
		if d.isa == AVX2 {
			d.core.L2 = 64 << 10
			return d
		}
	}
	tb.Skip("needs AVX2")
	return nil
}

// With AVX2 few rows of f32 fetch panels of weights that the second cache does not hold,
// and give the same bits.
func TestGemmFetching(t *testing.T) {
	rng, d := rand.New(rand.NewPCG(71, 72)), fetchingDevice(t)
	for _, c := range []struct {
		rows, cols, k int
		variable      bool
		want          x86.GemmForm
	}{
		{12, 90, 100, false, x86.GemmFetching},
		{1, 33, 1100, false, x86.GemmFetching},  // three blocks of k
		{13, 200, 600, false, x86.GemmFetching}, // row panels of two heights, two blocks of k, several of columns
		{72, 97, 90, false, x86.GemmFetching},
		{73, 97, 90, false, x86.GemmPanels},
		{12, 80, 100, false, x86.GemmPanels},
		{12, 90, 100, true, x86.GemmPanels},
	} {
		test := gemmCase{size: gemmSize{1, c.rows, c.cols, c.k}, x: "plain", y: "plain", out: "bias", const_: !c.variable, ints: true}.build(rng)
		want := test.reference(t)
		k := test.compile(t, d)
		for workers := 1; workers <= 2; workers++ {
			step, _, done := test.bindGuarded(t, d, k, workers, false)
			if got := step.(*gemmStep).tiles.Form; got != c.want {
				t.Errorf("%+v: tiles of form %d", c, got)
			}
			done()
			test.check(t, fmt.Sprintf("%+v, %d workers", c, workers), test.run(t, d, k, workers, false), want)
		}
	}
}

// Row panels that share blocks of B have the next one fetched together, over all of it; a
// single one what lies 2 kB on, from blocks as wide as others.
func TestGemmFetchedBlocks(t *testing.T) {
	d := fetchingDevice(t)
	for _, c := range []struct{ rows, panels int }{{12, 2}, {13, 2}, {7, 2}, {6, 11}, {1, 11}} {
		size := gemmSize{1, c.rows, 333, 1100}
		test := gemmCase{size: size, x: "plain", y: "plain", out: "plain", const_: true}.build(rand.New(rand.NewPCG(73, 74)))
		step, _, done := test.bindGuarded(t, d, test.compile(t, d), 1, false)
		s := step.(*gemmStep)
		if s.blockPanels != c.panels {
			t.Errorf("%v: blocks of %d panels, want %d", size, s.blockPanels, c.panels)
		}
		w, all := &s.workers[0], s.area(0)
		var starts, fetched, steps []uintptr
		var sizes []int
		for col := all.col0; col < all.col1; col += s.blockPanels {
			for kb := range s.kBlocks {
				b := area{0, 1, all.row0, all.row1, col, min(col+s.blockPanels, all.col1)}
				panels, err := s.placeB(w, all, b, nil, kb)
				if err != nil {
					t.Fatal(err)
				}
				s.placeFetch(w, all, b, panels, kb)
				sizes = append(sizes, s.packed(kb, min(col+s.blockPanels, all.col1)*s.width)-s.packed(kb, col*s.width))
				starts, fetched, steps = append(starts, uintptr(panels)), append(fetched, w.args.Fetch), append(steps, w.args.FetchStep)
				if c.panels > 2 && (w.args.Fetch != uintptr(panels)+2048 || w.args.FetchStep != x86.PackedBytes) {
					t.Errorf("%v: panels from %d on fetch what is %d bytes away", size, col, w.args.Fetch-uintptr(panels))
				}
			}
		}
		for i, last := 0, len(starts)-1; c.panels == 2 && i <= last; i++ {
			if i == last && steps[i] == 0 && fetched[i] == starts[i] {
				continue // there is no other
			}
			if i == last || fetched[i] != starts[i+1] {
				t.Fatalf("%v: block %d of %d fetches what is %d bytes away", size, i, last+1, fetched[i]-starts[i])
			}
			all, got := sizes[i+1], int(steps[i])*sizes[i]/x86.PackedBytes*s.rowPanels
			if most := sizes[i] * s.rowPanels; got < min(all, most) || got > all+sizes[i] {
				t.Errorf("%v: block %d fetches %d bytes of %d", size, i, got, all)
			}
		}
		done()
	}
}

// Rows that are packed for a block of columns stay for the others of a task, unless they are
// many, and are packed anew for the next matrix.
func TestGemmKeptRows(t *testing.T) {
	rng, d := rand.New(rand.NewPCG(75, 76)), fetchingDevice(t)
	for _, c := range []struct {
		gemmCase
		want x86.GemmForm
	}{
		{gemmCase{size: gemmSize{1, 13, 133, 1100}, dtype: "bf16", x: "plain"}, x86.GemmFetching}, // two blocks of k, five of columns
		{gemmCase{size: gemmSize{3, 8, 50, 1301}, dtype: "bf16", x: "relu", y: "shared"}, x86.GemmFetching},
		{gemmCase{size: gemmSize{2, 14, 40, 1025}, x: "relu"}, x86.GemmFetching}, // a block of one k
		{gemmCase{size: gemmSize{1, 3, 60, 700}, dtype: "bf16", x: "step"}, x86.GemmFetching},
		{gemmCase{size: gemmSize{1, 64, 33, 1024}, dtype: "bf16", x: "plain"}, x86.GemmFetching},
		{gemmCase{size: gemmSize{1, 64, 33, 1025}, dtype: "bf16", x: "plain"}, x86.GemmPanels},
		{gemmCase{size: gemmSize{1, 64, 33, 1025}, x: "plain"}, x86.GemmFetching}, // rows in place
	} {
		c.const_, c.ints = true, true
		test := c.orPlain().build(rng)
		want := test.reference(t)
		k := test.compile(t, d)
		for _, workers := range []int{1, 2, 3, 5, 8} {
			step, guards, done := test.bindGuarded(t, d, k, workers, false)
			if got := step.(*gemmStep).tiles.Form; got != c.want {
				t.Errorf("%v: tiles of form %d", c, got)
			}
			runBackwards(t, step.(*gemmStep), workers)
			got := copiesOf(guards)
			done()
			test.check(t, fmt.Sprintf("%v, %d workers", c, workers), got, want)
		}
	}
}

// runBackwards does the tasks of a product from the last to the first, the workers in turns,
// whose memory has been others'.
func runBackwards(t *testing.T, s *gemmStep, workers int) {
	t.Helper()
	g := s.rooms()
	behind := g.size
	for _, at := range []int{g.narrow, g.parts, g.b, g.c, g.own} {
		if at > g.a {
			behind = min(behind, at)
		}
	}
	for i := range s.workers {
		own := unsafe.Slice((*byte)(unsafe.Add(s.workers[i].a, -g.a)), g.size)
		for j := range own {
			own[j] = 0xFF
		}
	}
	for task := s.tasks() - 1; task >= 0; task-- {
		if err := s.Do(task%workers, task); err != nil {
			t.Fatal(err)
		}
		w, rows := &s.workers[task%workers], s.area(task)
		if at := uintptr(w.args.A) - uintptr(w.a); s.keepsRows() && int(at)+s.keptRows() > behind-g.a {
			t.Errorf("row panel %d of %+v is at %d of %d bytes", rows.row1, rows, at, behind-g.a)
		}
	}
}

// A program has the kernels for all its sizes when it is compiled, and shows them.
func TestGemmFetchingKernels(t *testing.T) {
	d := fetchingDevice(t)
	for _, syms := range []string{"", "m", "n", "k", "mk", "bmnk"} {
		for _, c := range []gemmCase{{x: "plain"}, {x: "relu"}, {dtype: "bf16", x: "plain"}} {
			c.size, c.syms, c.const_ = gemmSize{1, 12, 130, 1300}, syms, true
			test := c.orPlain().build(rand.New(rand.NewPCG(77, 78)))
			tileSets.Clear()
			k := test.compile(t, d)
			fetching := k.(*gemmKernel).tiles
			fetching.form = x86.GemmFetching
			if _, ok := tileSets.Load(tileKey{fetching, x86.GemmTile{Rows: 6, Vectors: 2}}); !ok {
				t.Errorf("%v: a run has to make the kernels that fetch", c)
			}
			step, _, done := test.bindGuarded(t, d, k, 1, false)
			if !step.(*gemmStep).tiles.fetching() {
				t.Errorf("%v: nothing is fetched", c)
			}
			done()
			look := &sight{c: &compiler{device: d}, all: []kernel{k}}
			if p, ok := look.product(0, test.env); !ok || !strings.Contains(p.Main.Name, "fetched") {
				t.Errorf("%v: %q is shown", c, p.Main.Name)
			}
		}
	}
}
