package sinter_test

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/effort"
)

// These tests hold what the documentation promises about cost: what is never
// compiled twice, what memory stays bounded, what does not depend on threads.

func openCPU(t testing.TB, o sinter.CPUOptions) *sinter.Device {
	t.Helper()
	d, err := sinter.OpenCPU(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

const (
	encoderVocab  = 40
	encoderWidth  = 48
	encoderHeads  = 4
	encoderBlocks = 2
)

// encoder is a small one, with random weights: ids and offsets in, a vector for
// each sequence out.
func encoder() *sinter.Graph {
	rng := rand.New(rand.NewPCG(1, 2))
	weight := func(shape ...int) sinter.Tensor {
		n := 1
		for _, s := range shape {
			n *= s
		}
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(rng.NormFloat64()) / 6
		}
		return sinter.Of(v, shape...)
	}
	const w = encoderWidth
	ids := sinter.Input("ids", sinter.I32, sinter.Sym("tokens", 0, 1<<16))
	offsets := sinter.Input("offsets", sinter.I32, sinter.Sym("texts", 0, 1<<12).Plus(1))
	x := weight(encoderVocab, w).Take(ids, 0)
	for range encoderBlocks {
		project := func() sinter.Tensor {
			return sinter.Linear(x, weight(w, w), weight(w)).Reshape(-1, encoderHeads, w/encoderHeads)
		}
		a, _ := sinter.Attention(project(), project(), project(), sinter.AttentionOptions{QOffsets: offsets})
		x = sinter.LayerNorm(x.Add(sinter.Linear(a.Reshape(-1, w), weight(w, w), weight(w))), weight(w), weight(w), 1e-5)
		f := sinter.Linear(x, weight(4*w, w), weight(4*w)).GELU()
		x = sinter.LayerNorm(x.Add(sinter.Linear(f, weight(w, 4*w), weight(w))), weight(w), weight(w), 1e-5)
	}
	return sinter.Capture(sinter.SegmentMean(x, offsets))
}

// texts are random ids in sequences of the given lengths.
func texts(lengths ...int) map[string]sinter.Tensor {
	rng := rand.New(rand.NewPCG(7, uint64(len(lengths))))
	ids, offsets := []int32{}, []int32{0}
	for _, n := range lengths {
		for range n {
			ids = append(ids, int32(rng.IntN(encoderVocab)))
		}
		offsets = append(offsets, int32(len(ids)))
	}
	return map[string]sinter.Tensor{"ids": sinter.Of(ids, len(ids)), "offsets": sinter.Of(offsets, len(offsets))}
}

func compile(t testing.TB, g *sinter.Graph, d *sinter.Device) *sinter.Program {
	t.Helper()
	p, err := sinter.Compile(g, sinter.Options{Device: d})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// run returns the values of the first output.
func run(t testing.TB, p *sinter.Program, in map[string]sinter.Tensor) []float32 {
	t.Helper()
	out, err := p.Run(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	v, err := sinter.Values[float32](context.Background(), out[0])
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// executable is how many bytes of this process may be executed, beside files;
// 0 where the system does not tell.
func executable(t *testing.T) int {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0
	}
	total := 0
	for line := range strings.Lines(string(maps)) {
		f := strings.Fields(line)
		if len(f) == 5 && strings.Contains(f[1], "x") { // without a path
			total += mapped(t, f[0])
		}
	}
	return total
}

func mapped(t *testing.T, span string) int {
	from, to, ok := strings.Cut(span, "-")
	var ends [2]int
	for i, s := range []string{from, to} {
		for _, c := range s {
			ends[i] = ends[i]<<4 | strings.IndexRune("0123456789abcdef", c)
		}
	}
	if !ok || ends[0] > ends[1] {
		t.Fatalf("unknown line of maps: %q", span)
	}
	return ends[1] - ends[0]
}

// A length that a program has never seen costs no compilation: none is counted
// and no code is mapped.
func TestNewLengthsCompileNothing(t *testing.T) {
	d := openCPU(t, sinter.CPUOptions{})
	p := compile(t, encoder(), d)
	before, code := d.Stats(), executable(t)
	for _, lengths := range [][]int{{5}, {1}, {}, {0}, {130}, {3, 0, 17, 64}, {512}, {7, 7, 7, 7, 7, 7, 7, 7}} {
		if v := run(t, p, texts(lengths...)); len(v) != len(lengths)*encoderWidth {
			t.Errorf("%d sequences give %d values", len(lengths), len(v))
		}
	}
	after := d.Stats()
	if after.Compiled != before.Compiled || after.CodeBytes != before.CodeBytes || after.Programs != before.Programs {
		t.Errorf("%+v became %+v", before, after)
	}
	if now := executable(t); now > code {
		t.Errorf("%d bytes of code became %d", code, now)
	}
}

// A hundred goroutines that run one program get equal bits, and the memory in
// use stays below that of the eight runs which go on at once and the results.
func TestHundredGoroutines(t *testing.T) {
	in := texts(40, 3, 80, 7, 0, 30)
	alone := openCPU(t, sinter.CPUOptions{})
	want := run(t, compile(t, encoder(), alone), in)
	one := alone.Stats().Peak
	d := openCPU(t, sinter.CPUOptions{})
	p := compile(t, encoder(), d)
	var wait sync.WaitGroup
	for range 100 {
		wait.Go(func() {
			for range 5 {
				out, err := p.Run(context.Background(), in)
				if err != nil {
					t.Error(err)
					return
				}
				v, err := sinter.Values[float32](context.Background(), out[0])
				if err != nil || !slices.Equal(v, want) {
					t.Errorf("results differ (%v)", err)
					return
				}
			}
		})
	}
	wait.Wait()
	results := int64(100 * 5 * 4 * len(want)) // if the collector never ran
	if peak := d.Stats().Peak; peak > 8*one+results {
		t.Errorf("%d bytes in use; one run took %d", peak, one)
	}
}

// x = f(x) again and again holds memory flat.
func TestLongLoopHoldsMemory(t *testing.T) {
	steps := effort.Of(10_000, 10_000, 100_000, 100_000)
	d := openCPU(t, sinter.CPUOptions{})
	ctx := sinter.WithDevice(context.Background(), d)
	half, one := sinter.Scalar(0.5), sinter.Scalar(1)
	x := sinter.Zeros(sinter.F32, sinter.N(64))
	loop := func(n int) {
		for range n {
			next, err := sinter.Eval(ctx, x.Mul(half).Add(one))
			if err != nil {
				t.Fatal(err)
			}
			x = next[0]
		}
	}
	loop(1000)
	heap, allocated := sinter.LiveHeap(), d.Stats().Allocated
	begin := time.Now()
	loop(steps)
	took := time.Since(begin)
	t.Logf("%v a step", took/time.Duration(steps))
	if now := sinter.LiveHeap(); now > heap+1<<20 {
		t.Errorf("%d bytes of heap became %d", heap, now)
	}
	if now := d.Stats(); now.Allocated > allocated+1<<20 || now.Compiled > 2 {
		t.Errorf("%d bytes on the device became %+v", allocated, now)
	}
	if v, err := sinter.Values[float32](ctx, x); err != nil || v[0] != 2 {
		t.Errorf("%v, %v", v, err)
	}
}

// A graph that is built anew for each batch compiles once, on every device.
func TestRebuiltGraphCompilesOnce(t *testing.T) {
	d := openCPU(t, sinter.CPUOptions{})
	ctx := sinter.WithDevice(context.Background(), d)
	for i := range 1000 {
		x := sinter.Of([]float32{float32(i), 1, 2, 3}, 2, 2)
		w := sinter.Of([]float32{1, float32(-i), 0.5, 2}, 2, 2)
		v, err := sinter.Values[float32](ctx, sinter.Linear(x, w, sinter.Tensor{}).ReLU().Sum(1))
		if err != nil {
			t.Fatal(err)
		}
		if want := []float32{0.5*float32(i) + 2, 7 + max(0, 2-3*float32(i))}; !slices.Equal(v, want) {
			t.Fatalf("step %d: %v, want %v", i, v, want)
		}
	}
	if s := d.Stats(); s.Compiled != 1 || s.Reused != 999 {
		t.Errorf("%+v", s)
	}
}

// The number of threads changes no bit of a result.
func TestThreadsChangeNoBit(t *testing.T) {
	for _, isa := range []string{"amx-fp16", "amx", "avx512", "avx2", "neon", "generic"} {
		one, err := sinter.OpenCPU(sinter.CPUOptions{ISA: isa, Threads: 1})
		if err != nil {
			t.Logf("%s: %v", isa, err)
			continue
		}
		if err := one.Close(); err != nil {
			t.Fatal(err)
		}
		lone := compile(t, encoder(), openCPU(t, sinter.CPUOptions{ISA: isa, Threads: 1}))
		pair := compile(t, encoder(), openCPU(t, sinter.CPUOptions{ISA: isa, Threads: 2}))
		batches := [][]int{{1}, {64, 3, 0, 120, 9}, {300}, {20, 20, 20, 20, 20, 20, 20}}
		if testing.Short() || isa == "generic" && effort.Less() {
			batches = batches[:2]
		}
		for _, lengths := range batches {
			x, y := run(t, lone, texts(lengths...)), run(t, pair, texts(lengths...))
			if !slices.EqualFunc(x, y, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }) {
				t.Errorf("%q at lengths %v: one thread and two differ", isa, lengths)
			}
		}
	}
}

// The result of a sequence does not depend on what else is in the batch.
func TestBatchChangesNoBit(t *testing.T) {
	p := compile(t, encoder(), openCPU(t, sinter.CPUOptions{}))
	lengths := []int{9, 1, 33, 64, 0, 5, 120}
	in := texts(lengths...)
	all := run(t, p, in)
	ids, err := sinter.Values[int32](context.Background(), in["ids"])
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for i, n := range lengths {
		one := run(t, p, map[string]sinter.Tensor{"ids": sinter.Of(ids[at:at+n], n), "offsets": sinter.Of([]int32{0, int32(n)}, 2)})
		at += n
		if want := all[i*encoderWidth : (i+1)*encoderWidth]; !bytes.Equal(bits(one), bits(want)) {
			t.Errorf("sequence %d of %d tokens differs alone", i, n)
		}
	}
}

func bits(v []float32) []byte {
	var b []byte
	for _, f := range v {
		u := math.Float32bits(f)
		b = append(b, byte(u), byte(u>>8), byte(u>>16), byte(u>>24))
	}
	return b
}
