package x86

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/jit"
)

func TestPairArgs(t *testing.T) {
	var r PairRowsArgs
	var s PairStepsArgs
	for name, at := range map[string][2]uintptr{
		"Steps of rows": {unsafe.Offsetof(r.Steps), pairRowsSteps}, "Rows of rows": {unsafe.Offsetof(r.Rows), pairRowsRows}, "Halves of rows": {unsafe.Offsetof(r.Halves), pairRowsHalves},
		"Rows": {unsafe.Offsetof(s.Rows), pairStepsRows}, "Places": {unsafe.Offsetof(s.Places), pairStepsPlaces},
		"Steps": {unsafe.Offsetof(s.Steps), pairStepsSteps}, "Halves": {unsafe.Offsetof(s.Halves), pairStepsHalves},
		"a row": {unsafe.Sizeof(PairRows{}), pairRowsBytes},
	} {
		if at[0] != at[1] {
			t.Errorf("%s is at %d, the code looks at %d", name, at[0], at[1])
		}
	}
}

// pairCode is the code that puts weights into pairs.
type pairCode struct{ rows, steps *jit.Code }

func newPairCode(t testing.TB) pairCode {
	t.Helper()
	mapped := func(emit func() ([]byte, error)) *jit.Code {
		text, err := emit()
		if err != nil {
			t.Fatal(err)
		}
		code, err := jit.Map(text)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = code.Close() })
		return code
	}
	return pairCode{mapped(EmitPairRows), mapped(EmitPairSteps)}
}

// weights draws w[k][column] of a kind.
func weights(rng *rand.Rand, kind string, ks int) [][PackedCols]int8 {
	w := make([][PackedCols]int8, ks)
	for k := range w {
		for j := range w[k] {
			switch kind {
			case "bell":
				w[k][j] = int8(max(-127, min(127, math.Round(rng.NormFloat64()*40))))
			case "uniform":
				w[k][j] = int8(rng.IntN(256) - 128)
			case "least":
				w[k][j] = -128
			case "mixed": // rows that go with zeros alone, of which every second chunk has too few
				switch {
				case k/16%2 == 0 && k%16 < 3+k/32%2:
					w[k][j] = int8(127 - 255*(j%2))
				case k%16 <= 12:
					w[k][j] = int8(rng.IntN(120) - 60)
				}
			}
		}
	}
	return w
}

// panel puts weights of whole chunks into a panel of room for so many orders, or returns
// nil. Between its steps and in its rows it reads and writes nothing else.
func (c pairCode) panel(t *testing.T, w [][PackedCols]int8, most int) (panel []byte, orders []PairOrder) {
	t.Helper()
	halves := len(w) / pairsHalf
	guarded := func(bytes int) *jit.Guarded {
		m, err := jit.AllocGuarded(bytes, 1)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	plain, rows := guarded(PackedCols*len(w)), guarded(halves*pairRowsBytes)
	for k := range w {
		for j, v := range w[k] {
			plain.Bytes()[k/4*PackedBytes+4*j+k%4] = byte(v)
		}
	}
	call := func(code *jit.Code, args unsafe.Pointer) {
		t.Helper()
		if err := jit.Protect(func() error { jit.Call(code.Entry(0), args); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	toRows := PairRowsArgs{Steps: plain.Pointer(), Rows: rows.Pointer(), Halves: uintptr(halves)}
	call(c.rows, unsafe.Pointer(&toRows))
	all := unsafe.Slice((*PairRows)(rows.Pointer()), halves)
	if orders = PairOrders(nil, all, most); orders == nil {
		return nil, nil
	}
	panel = make([]byte, PairPanelBytes(len(orders)))
	steps := PairHead(panel, orders)
	places := PairPlaces(nil, orders)
	out := guarded(len(steps))
	toSteps := PairStepsArgs{Rows: rows.Pointer(), Places: unsafe.Pointer(&places[0]), Steps: out.Pointer(), Halves: uintptr(2 * len(orders))}
	call(c.steps, unsafe.Pointer(&toSteps))
	copy(steps, out.Bytes())
	for _, m := range []*jit.Guarded{plain, rows, out} {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	return panel, orders
}

// A panel has each weight once, beside one with which its sum is a byte, where its order
// says, and of few weights that are distributed as in models two orders for a chunk.
func TestPairPanels(t *testing.T) {
	eachISA(t, func(t *testing.T, _ ISA) { // both have AVX2
		code := newPairCode(t)
		rng := rand.New(rand.NewPCG(1, 2))
		for kind, most := range map[string]float64{"bell": 1.06, "uniform": 2, "least": 2, "mixed": 1.5, "zeros": 1} {
			chunks, all := 0, 0
			for n := range 12 {
				w := weights(rng, kind, (1+n)*PairsChunk)
				panel, orders := code.panel(t, w, 2*(1+n))
				checkPanel(t, kind, w, panel)
				chunks, all = chunks+1+n, all+len(orders)
			}
			if got := float64(all) / float64(chunks); got > most || got < most-0.3 {
				t.Errorf("%s: %.2f orders a chunk, want %.2f or little less", kind, got, most)
			}
		}
		w := weights(rng, "least", 3*PairsChunk)
		if panel, _ := code.panel(t, w, 5); panel != nil {
			t.Error("six orders are made where five are the most")
		}
	})
}

func checkPanel(t *testing.T, kind string, w [][PackedCols]int8, panel []byte) {
	t.Helper()
	word := func(at int) int { return int(binary.LittleEndian.Uint64(panel[at:])) }
	n, start := word(0), word(8)
	if start%PackedBytes != 0 || len(panel) != start+n*PairsSteps*PackedBytes {
		t.Fatalf("%s: %d orders and steps at %d in a panel of %d bytes", kind, n, start, len(panel))
	}
	seen := make([]int, len(w))
	k0 := 0
	for i := range n {
		at := 16 + i*(8+PairsChunk)
		order := panel[at+8:][:PairsChunk]
		for b, from := range order {
			k := k0 + b/16*16 + int(from&15)
			if from < 16 {
				seen[k]++
			}
			for j := range PackedCols {
				got := func(b int) int8 { return int8(panel[start+(i*PairsSteps+b/4)*PackedBytes+4*j+b%4]) }
				want := int8(0)
				if from < 16 {
					want = w[k][j]
				}
				if got(b) != want {
					t.Fatalf("%s: order %d, byte %d, column %d is %d, want %d", kind, i, b, j, got(b), want)
				}
				if sum := int(got(b)) + int(got(b^1)); sum < -128 || sum > 127 {
					t.Fatalf("%s: order %d, bytes %d and %d, column %d: the sum is %d", kind, i, b, b^1, j, sum)
				}
			}
		}
		skip := word(at)
		if last := i == n-1; skip != 0 && (skip != PairsChunk || last) {
			t.Fatalf("%s: order %d of %d skips %d", kind, i, n, skip)
		}
		k0 += skip
	}
	if i := slices.IndexFunc(seen, func(n int) bool { return n != 1 }); i >= 0 {
		t.Fatalf("%s: k = %d is there %d times", kind, i, seen[i])
	}
}

// Kernels by pairs of every height and width, against Go, with operands right before
// unmapped pages: the greatest sums of products too.
func TestPairTiles(t *testing.T) {
	eachISA(t, func(t *testing.T, _ ISA) { // both have AVX2
		tile := GemmTiles(asm.AVX2, GemmPairs)[0]
		g, err := EmitGemm(asm.AVX2, GemmPairs, tile, GemmPanels)
		if err != nil {
			t.Fatal(err)
		}
		kernels, err := jit.Map(g.Code)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = kernels.Close() }()
		rng := rand.New(rand.NewPCG(5, 6))
		code := newPairCode(t)
		for rows := 1; rows <= tile.Rows; rows++ {
			for _, kind := range []string{"bell", "uniform", "least", "mixed"} {
				for _, chunks := range []int{1, 2, 5} {
					p := pairProduct{rows: rows, rowPanels: 1 + rng.IntN(3), panels: 1 + rng.IntN(3), cols: PackedCols, chunks: chunks, again: rng.IntN(2) == 0, ones: kind == "least"}
					p.run(t, rng, code, kind, kernels.Entry(g.Full[rows]))
					p.panels, p.rowPanels = 1, 1
					for v := 1; v <= tile.Vectors; v++ {
						p.cols = v*8 - rng.IntN(8)
						p.run(t, rng, code, kind, kernels.Entry(g.Tail[rows][v]))
					}
				}
			}
		}
	})
}

// pairProduct is a call of a kernel by pairs.
type pairProduct struct {
	rows, rowPanels, panels, cols, chunks int
	again                                 bool // adds to C
	ones                                  bool // A is 255
}

func (p pairProduct) run(t *testing.T, rng *rand.Rand, code pairCode, kind string, entry uintptr) {
	t.Helper()
	name := fmt.Sprintf("%s %+v", kind, p)
	height, total, ks := p.rows*p.rowPanels, p.cols*p.panels, p.chunks*PairsChunk
	stride := ks + 3
	var panels [][]byte
	var w [][][PackedCols]int8
	longest := 0
	for range p.panels {
		w = append(w, weights(rng, kind, ks))
		panel, _ := code.panel(t, w[len(w)-1], 2*p.chunks)
		panels, longest = append(panels, panel), max(longest, len(panel))
	}
	sizes := []int{(height-1)*stride + ks, (p.panels-1)*longest + len(panels[p.panels-1]), 4 * height * total, GemmPairs.RoomBytes(GemmTile{p.rows, 2})}
	var mem [4]*jit.Guarded
	for i, n := range sizes {
		var err error
		if mem[i], err = jit.AllocGuarded(n, 1); err != nil {
			t.Fatal(err)
		}
		for j := range mem[i].Bytes() {
			mem[i].Bytes()[j] = byte(rng.IntN(256))
			if p.ones && i == 0 {
				mem[i].Bytes()[j] = 255
			}
		}
	}
	a, c := mem[0].Bytes(), mem[2].Bytes()
	for i, panel := range panels {
		copy(mem[1].Bytes()[i*longest:], panel)
	}
	want := make([]uint32, height*total)
	for r := range height {
		for j := range total {
			sum := uint32(0)
			if p.again {
				sum = binary.LittleEndian.Uint32(c[4*(r*total+j):])
			}
			for k := range ks {
				sum += uint32(int32(a[r*stride+k]) * int32(w[j/p.cols][k][j%p.cols]))
			}
			want[r*total+j] = sum
		}
	}
	args := GemmArgs{
		A: mem[0].Pointer(), B: mem[1].Pointer(), C: mem[2].Pointer(), Room: mem[3].Pointer(), LDA: uintptr(stride), LDC: uintptr(4 * total),
		PanelB: uintptr(longest), Panels: uintptr(p.panels), RowPanels: uintptr(p.rowPanels), StepC: uintptr(4 * p.cols), RowsC: uintptr(4 * p.rows * total),
	}
	args.SetMask(asm.AVX2, GemmPairs, (p.cols-1)%8+1)
	if p.again {
		args.Continue = 1
	}
	if err := jit.Protect(func() error { jit.Call(entry, unsafe.Pointer(&args)); return nil }); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for i, want := range want {
		if got := binary.LittleEndian.Uint32(c[4*i:]); got != want {
			t.Fatalf("%s: result %d is %#x, want %#x", name, i, got, want)
		}
	}
	for i, m := range mem {
		if err := m.Close(); err != nil {
			t.Errorf("%s: memory %d: %v", name, i, err)
		}
	}
}

// BenchmarkPairs puts a weight of 384 x 384 into pairs.
func BenchmarkPairs(b *testing.B) {
	const ks, panels = 384, 384 / PackedCols
	code := newPairCode(b)
	rng := rand.New(rand.NewPCG(7, 8))
	plain, rows, out := make([]byte, ks*PackedCols), make([]PairRows, ks/pairsHalf), make([]byte, PairPanelBytes(2*ks/PairsChunk))
	for k, row := range weights(rng, "bell", ks) {
		for j, v := range row {
			plain[k/4*PackedBytes+4*j+k%4] = byte(v)
		}
	}
	var orders []PairOrder
	var places []uint32
	for b.Loop() {
		for range panels {
			toRows := PairRowsArgs{Steps: unsafe.Pointer(&plain[0]), Rows: unsafe.Pointer(&rows[0]), Halves: uintptr(len(rows))}
			jit.Call(code.rows.Entry(0), unsafe.Pointer(&toRows))
			orders = PairOrders(orders[:0], rows, 2*ks/PairsChunk)
			steps := PairHead(out, orders)
			places = PairPlaces(places[:0], orders)
			toSteps := PairStepsArgs{Rows: unsafe.Pointer(&rows[0]), Places: unsafe.Pointer(&places[0]), Steps: unsafe.Pointer(&steps[0]), Halves: uintptr(2 * len(orders))}
			jit.Call(code.steps.Entry(0), unsafe.Pointer(&toSteps))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*ks*ks), "ns/weight")
}
