package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
	"unsafe"
	"weak"

	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
)

// onPairs is a device that puts weights in bytes into pairs.
func onPairs(tb testing.TB) *Device {
	tb.Helper()
	for _, d := range machines(tb) {
		if d.isa == AVX2 {
			d.has.AVXVNNI = false
			return d
		}
	}
	tb.Skip("this machine has no AVX2")
	return nil
}

// Products of weights in bytes, by pairs, against the interpreted loops, and where these
// would take long against the tiles that weights which may change have. Weights that pairs
// are not worth it for, as many would need two orders, have those tiles too.
func TestGemmPairs(t *testing.T) {
	const interpreted = 400_000 // products
	d := onPairs(t)
	rng := rand.New(rand.NewPCG(61, 62))
	for _, c := range []struct {
		weights string
		gemmCase
	}{
		{"bell", gemmCase{size: gemmSize{1, 1, 16, 32}}},
		{"bell", gemmCase{size: gemmSize{1, 7, 33, 64}, out: "bias"}},
		{"bell", gemmCase{size: gemmSize{1, 23, 70, 100}, x: "wide", out: "gelu"}},
		{"bell", gemmCase{size: gemmSize{1, 6, 17, 31}, y: "transposed"}},
		{"bell", gemmCase{size: gemmSize{1, 12, 48, 1}, x: "transposed", out: "residual"}},
		{"bell", gemmCase{size: gemmSize{3, 9, 40, 65}, y: "plain"}}, // too few terms for three chunks
		{"bell", gemmCase{size: gemmSize{3, 9, 40, 91}, y: "plain"}},
		{"bell", gemmCase{size: gemmSize{1, 25, 48, 30}, x: "transposed", out: "residual"}},
		{"bell", gemmCase{size: gemmSize{3, 5, 40, 96}, y: "shared", out: "two"}},
		{"bell", gemmCase{size: gemmSize{1, 11, 20, 90}, syms: "m", x: "step"}},
		{"bell", gemmCase{size: gemmSize{1, 300, 390, 384}}},
		{"bell", gemmCase{size: gemmSize{1, 2*partialRows + 9, 40, 2200}, out: "bias"}}, // two blocks of k
		{"bell", gemmCase{size: gemmSize{2, 30, 35, 4200}, y: "plain"}},                 // three, of each of two weights
		{"bell", gemmCase{size: gemmSize{1, 16, 64, 4096}}},                             // rows that collide
		{"twice", gemmCase{size: gemmSize{1, 13, 100, 400}}},
		{"twice", gemmCase{size: gemmSize{2, 8, 50, 2500}, y: "plain", out: "bias"}},
		{"uniform", gemmCase{size: gemmSize{1, 13, 50, 96}}},
		{"uniform", gemmCase{size: gemmSize{2, 30, 35, 4200}, y: "plain"}},
	} {
		c.dtype, c.const_ = "int8", true
		for _, s := range []*string{&c.x, &c.y, &c.out} {
			if *s == "" {
				*s = "plain"
			}
		}
		test := c.build(rng)
		test.weigh(rng, c.weights, c.size)
		var want [][]byte
		if s := c.size; s.batch*s.rows*s.cols*s.k <= interpreted {
			want = test.reference(t)
		} else {
			test.g.ConstY = false
			want = test.run(t, d, test.compile(t, d), 1, false)
			test.g.ConstY = true
		}
		k := test.compile(t, d)
		for _, workers := range []int{1, 3} {
			name := fmt.Sprintf("%s %v %d workers", c.weights, c, workers)
			step, _, done := test.bindGuarded(t, d, k, workers, false)
			s := step.(*gemmStep)
			if by := s.tiles.Format == x86.GemmPairs; by != (s.pairB > 0) || by != (worthPairs(c.size.k) && c.weights != "uniform") {
				t.Errorf("%s: by pairs %v, in panels of %d bytes", name, by, s.pairB)
			}
			done()
			test.check(t, name, test.run(t, d, k, workers, workers == 1), want)
		}
	}
}

// pairTest is a product of weights of a kind in a buffer, which the caller closes. Those that
// a batch shares are as models' are.
func pairTest(t *testing.T, d *Device, kind string, size gemmSize) (*gemmTest, *buffer) {
	t.Helper()
	rng := rand.New(rand.NewPCG(63, 64))
	y := "plain"
	if kind == "shared" {
		kind, y = "bell", kind
	}
	test := gemmCase{size: size, x: "plain", y: y, out: "plain", dtype: "int8", const_: true}.build(rng)
	test.weigh(rng, kind, size)
	w, err := d.newBuffer(len(test.data[1]))
	if err != nil {
		t.Fatal(err)
	}
	copy(w.data, test.data[1])
	test.weights = map[int]*buffer{1: w}
	return test, w
}

// Runs that find weights packed, in pairs or not, multiply by what they find; those of a
// program to which they are a variable do not find pairs.
func TestGemmPairsFound(t *testing.T) {
	d := onPairs(t)
	for kind, packs := range map[string]int{"bell": 1, "uniform": 2} { // that pairs are not worth it is kept, too
		test, w := pairTest(t, d, kind, gemmSize{1, 9, 40, 100})
		want := test.reference(t)
		_, _, done := test.bindGuarded(t, d, test.compile(t, d), 1, false) // holds what it packed
		run := func(k kernel) {
			got := test.run(t, d, k, 1, false)
			if at := firstDifference(got[2], want[2]); at >= 0 {
				t.Errorf("%s, a variable %v: results differ at byte %d", kind, test.g.SteadyY, at)
			}
		}
		for range 2 {
			run(test.compile(t, d))
		}
		if n := w.Count(); n != packs {
			t.Errorf("%s: %d packs are kept, want %d", kind, n, packs)
		}
		test.g.ConstY, test.g.SteadyY = false, true
		k := test.compile(t, d)
		for range 3 { // it is packed in the second run
			run(k)
		}
		done()
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Weights are put into pairs once that many rows have been multiplied by them, whichever
// programs did, and are then kept in no other form. Where pairs are not worth it nothing is
// tried again.
func TestGemmPairsLater(t *testing.T) {
	for _, c := range []struct {
		kind string
		size gemmSize
		runs int // before weights are in pairs
		want x86.GemmFormat
	}{
		{"bell", gemmSize{1, 9, 40, 100}, 3, x86.GemmPairs},
		{"bell", gemmSize{1, 30, 40, 100}, 0, x86.GemmPairs},
		{"bell", gemmSize{4, 7, 40, 100}, 4, x86.GemmPairs},   // each of four weights has seven rows in a run
		{"shared", gemmSize{4, 3, 40, 100}, 2, x86.GemmPairs}, // one has twelve
		{"uniform", gemmSize{1, 9, 40, 100}, 3, x86.GemmWords},
	} {
		d := onPairs(t)
		d.pairsFrom = 30
		test, w := pairTest(t, d, c.kind, c.size)
		want := test.reference(t)
		for i := range 2 { // programs
			k := test.compile(t, d)
			step, guards, done := test.bindGuarded(t, d, k, 1, false)
			s := step.(*gemmStep)
			for run := range c.runs + 3 {
				if run > 0 && !s.move(test.bound, false) {
					step, err := k.bind(test.bound)
					if err != nil {
						t.Fatal(err)
					}
					if s = step.(*gemmStep); run != c.runs {
						t.Errorf("%s %v: bound anew in run %d", c.kind, c.size, run)
					}
				}
				if got := s.tiles.Format; got != c.want && run >= c.runs || got != x86.GemmWords && i == 0 && run < c.runs {
					t.Errorf("%s %v: %v in run %d", c.kind, c.size, got, run)
				}
				runBackwards(t, s, 1)
				test.check(t, fmt.Sprintf("%s %v, run %d", c.kind, c.size, run), copiesOf(guards), want)
			}
			if got := s.tiles.Format; got != c.want || s.unpaired != nil {
				t.Errorf("%s %v: multiplied as %v at last", c.kind, c.size, got)
			}
			if n := w.Count(); (n == 1) != (c.want == x86.GemmPairs) {
				t.Errorf("%s %v: %d packs are kept", c.kind, c.size, n)
			}
			done()
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Steps bound twice for a run, as its scratch grew, count it once. One who waits for pairs does
// not hold those of others, and a limit of memory has no run wait.
func TestGemmPairsWaiting(t *testing.T) {
	d, err := New(Options{ISA: AVX2})
	if err != nil {
		t.Skip(err)
	}
	defer d.Close()
	d.has.AVXVNNI = false
	size := gemmSize{1, pairsFrom/2 + 1, 40, 100}
	test, w := pairTest(t, d, "bell", size)
	k := test.compile(t, d)
	var waits []*gemmStep
	for range 3 {
		step, _, done := test.bindGuarded(t, d, k, 1, false)
		defer done()
		if s := step.(*gemmStep); s.tiles.Format != x86.GemmWords {
			t.Fatalf("%v although nothing has run", s.tiles.Format)
		} else {
			waits = append(waits, s)
		}
	}
	d.SetMemoryLimit(1 << 30)
	if waits[0].move(test.bound, false) {
		t.Error("a run waits for pairs under a limit of memory")
	}
	d.SetMemoryLimit(0)
	runBackwards(t, waits[0], 1)
	made := weak.Make(test.packOf(t, k, x86.GemmPairs))
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	test.bound.params = nil
	for end := time.Now().Add(10 * time.Second); made.Value() != nil; runtime.GC() {
		if time.Now().After(end) {
			t.Fatal("pairs stay for those who wait for them")
		}
	}
	runtime.KeepAlive(waits)
}

// packOf binds k once more, to tiles of a format, and returns its weights as they are packed.
func (test *gemmTest) packOf(t *testing.T, k kernel, format x86.GemmFormat) *jit.Memory {
	t.Helper()
	step, err := k.bind(test.bound)
	if err != nil {
		t.Fatal(err)
	}
	s := step.(*gemmStep)
	if s.tiles.Format != format {
		t.Fatalf("multiplied as %v, want %v", s.tiles.Format, format)
	}
	return s.packedB
}

// Where memory is too short for both forms weights are multiplied as they are packed first.
func TestGemmPairsLimit(t *testing.T) {
	size := gemmSize{1, 2, 512, 2048}
	bytes := size.cols * size.k
	for limit, want := range map[int]x86.GemmFormat{bytes * 7 / 5: x86.GemmWords, 4 * bytes: x86.GemmPairs} {
		d := onPairs(t)
		test, w := pairTest(t, d, "bell", size)
		k := test.compile(t, d)
		d.SetMemoryLimit(d.alloc.Stats().Live + int64(limit))
		step, _, done := test.bindGuarded(t, d, k, 1, false)
		if got := step.(*gemmStep).tiles.Format; got != want {
			t.Errorf("with %.1f times the memory of the weights they are multiplied as %v, want %v", float64(limit)/float64(bytes), got, want)
		}
		done()
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What memory held before has no influence on pairs: columns behind the last are none.
func TestGemmPairsColumns(t *testing.T) {
	size := gemmSize{1, 3, 17, 1024}
	var sizes []int
	for _, held := range []byte{0, 0x7F} {
		d := onPairs(t)
		test, w := pairTest(t, d, "bell", size)
		m, err := d.memory(2 * x86.PackedCols * size.k) // as packed weights are
		if err != nil {
			t.Fatal(err)
		}
		fill := unsafe.Slice((*byte)(m.Pointer()), m.Len())
		for i := range fill {
			fill[i] = held
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		step, _, done := test.bindGuarded(t, d, test.compile(t, d), 1, false)
		sizes = append(sizes, step.(*gemmStep).pairB)
		done()
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if sizes[0] == 0 || sizes[0] != sizes[1] {
		t.Errorf("panels are of %d bytes", sizes)
	}
}

// Terms are filled up to whole chunks of 32, which are multiplied in 0.75 of the time.
func TestGemmPairsWorth(t *testing.T) {
	for terms, want := range map[int]bool{0: false, 1: false, 20: false, 21: true, 32: true, 33: false, 45: true, 64: true, 65: false, 384: true, 400: true} {
		if got := worthPairs(terms); got != want {
			t.Errorf("%d terms: %v, want %v", terms, got, want)
		}
	}
}

// weigh draws the right operand, by rows, anew: as that of models, such that one chunk in
// seven needs two orders, or such that most do.
func (t *gemmTest) weigh(rng *rand.Rand, kind string, size gemmSize) {
	for i, p := range t.g.Params {
		if p.DType != ir.I8 {
			continue
		}
		for j := range t.data[i] {
			v := math.Round(max(-127, min(127, rng.NormFloat64()*35)))
			switch k := j / size.cols % size.k; {
			case kind == "uniform":
				v = float64(rng.IntN(256) - 128)
			case kind == "twice" && k/x86.PairsChunk%7 == 0 && k%16 < 9:
				v = 127
			}
			t.data[i][j] = byte(int8(v))
		}
	}
}
