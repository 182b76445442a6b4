package arm64

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/jit"
)

// eachFormat calls f with the mapped kernels of the formats that this processor has
// instructions for.
func eachFormat(t *testing.T, f func(t *testing.T, k *gemmCode)) {
	needNEON(t)
	host := cpuid.Host()
	for format := range gemmFormats {
		if !HasGemm(format, &host.Features) {
			t.Logf("this processor has no instructions for %v", format)
			continue
		}
		t.Run(format.String(), func(t *testing.T) {
			g, err := EmitGemm(format)
			if err != nil {
				t.Fatal(err)
			}
			code, err := jit.Map(g.Code)
			if err != nil {
				t.Fatal(err)
			}
			defer code.Close()
			f(t, &gemmCode{GemmKernels: g, Code: code, format: format})
		})
	}
}

// gemmCode is mapped kernels of a format.
type gemmCode struct {
	*GemmKernels
	*jit.Code
	format GemmFormat
}

// Every format and height, with and without sums to continue, beside a plain loop;
// floats are small whole numbers, so that sums are exact.
func TestGemm(t *testing.T) {
	eachFormat(t, func(t *testing.T, code *gemmCode) {
		rng := rand.New(rand.NewPCG(1, 2))
		for rows := 1; rows <= code.format.Rows(); rows++ {
			for _, k := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 31} {
				for panels := 1; panels <= 3; panels++ {
					for keep := range 2 {
						p := newProduct(rng, code.format, rows, k, panels)
						p.run(t, code, keep)
						if err := p.check(keep != 0); err != nil {
							t.Fatalf("%d rows, k %d, %d panels, continue %d: %v\n%s", rows, k, panels, keep, err, newTile(code.format, rows).Listing())
						}
					}
				}
			}
		}
	})
}

// product is operands in lanes of 32 bits, by rows, and what C holds before and after.
type product struct {
	format                GemmFormat
	rows, k, panels, cols int
	lda, ldb, ldc         int
	a, b, c, before       []uint32
}

func newProduct(rng *rand.Rand, f GemmFormat, rows, k, panels int) *product {
	cols := panels * f.Cols(rows)
	p := &product{format: f, rows: rows, k: k, panels: panels, cols: cols, lda: k + 3, ldb: cols + 5, ldc: cols + 2}
	// What lies between rows, and behind the last, belongs to no element.
	p.a, p.b, p.c = make([]uint32, max(rows-1, 0)*p.lda+k), make([]uint32, max(k-1, 0)*p.ldb+min(k, 1)*cols), make([]uint32, rows*p.ldc)
	for _, m := range [][]uint32{p.a, p.b} {
		for i := range m {
			m[i] = f.element(rng)
		}
	}
	for i := range p.c {
		if p.c[i] = rng.Uint32(); f.floats() {
			p.c[i] = small(rng)
		}
	}
	p.before = slices.Clone(p.c)
	return p
}

// small is a whole number as f32.
func small(rng *rand.Rand) uint32 { return math.Float32bits(float32(rng.IntN(17) - 8)) }

func (f GemmFormat) floats() bool { return f == GemmF32 || f == GemmBF16 }

// element draws a lane of A or B.
func (f GemmFormat) element(rng *rand.Rand) uint32 {
	switch f {
	case GemmF32:
		return small(rng)
	case GemmBF16:
		return small(rng) | small(rng)>>16
	}
	return rng.Uint32()
}

// guarded is memory behind which there is none, with the contents of from.
func guarded(t *testing.T, from []uint32, n int) unsafe.Pointer {
	t.Helper()
	mem, err := jit.AllocGuarded(4*n, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mem.Close() })
	copy(unsafe.Slice((*uint32)(mem.Pointer()), n), from)
	return mem.Pointer()
}

// run computes C.
func (p *product) run(t *testing.T, code *gemmCode, keep int) {
	t.Helper()
	args := &GemmArgs{
		A: guarded(t, p.a, len(p.a)), B: guarded(t, p.b, len(p.b)), C: unsafe.Pointer(&p.c[0]),
		LDA: uintptr(4 * p.lda), LDB: uintptr(4 * p.ldb), LDC: uintptr(4 * p.ldc),
		Panels: uintptr(p.panels), K: uintptr(p.k), Continue: uintptr(keep),
	}
	if p.format.InPairs() {
		block := PairedBytes(p.k) / 4
		args.Joined = guarded(t, nil, JoinedBytes(p.rows, p.k)/4)
		join := &JoinArgs{From: args.B, To: guarded(t, nil, p.cols/PairBlock*block), LDFrom: args.LDB, LDTo: uintptr(4 * block), K: uintptr(p.k), Blocks: uintptr(p.cols / PairBlock)}
		jit.Call(code.Entry(code.Join), unsafe.Pointer(join))
		args.B, args.LDB = join.To, join.LDTo
		runtime.KeepAlive(join)
	}
	jit.Call(code.Entry(code.At[p.rows]), unsafe.Pointer(args))
	runtime.KeepAlive(args)
}

// check compares every element of C, those between its rows too.
func (p *product) check(keep bool) error {
	for i, got := range p.c {
		want := p.before[i]
		if r, j := i/p.ldc, i%p.ldc; r < p.rows && j < p.cols {
			if want = p.sum(r, j); keep && p.format.floats() {
				want = math.Float32bits(math.Float32frombits(want) + math.Float32frombits(p.before[i]))
			} else if keep {
				want += p.before[i]
			}
		}
		if got != want {
			return fmt.Errorf("element %d is %#x, not %#x", i, got, want)
		}
	}
	return nil
}

func (p *product) sum(r, j int) uint32 {
	float, whole := float32(0), uint32(0)
	value := math.Float32frombits
	for k := range p.k {
		x, y := p.a[r*p.lda+k], p.b[k*p.ldb+j]
		switch p.format {
		case GemmF32:
			float += value(x) * value(y)
		case GemmBF16:
			const high = 0xFFFF0000
			float += value(x<<16)*value(y<<16) + value(x&high)*value(y&high)
		default:
			for i := range 4 {
				whole += uint32(int32(uint8(x>>(8*i))) * int32(int8(y>>(8*i))))
			}
		}
	}
	if p.format.floats() {
		return math.Float32bits(float)
	}
	return whole
}

// Sums of bytes wrap, and no product of two of them is cut off.
func TestByteSumsWrap(t *testing.T) {
	const k = 1<<31/(4*255*127) + 9
	eachFormat(t, func(t *testing.T, code *gemmCode) {
		if code.format.floats() {
			return
		}
		for rows := 1; rows <= 3; rows++ {
			p := newProduct(rand.New(rand.NewPCG(3, 4)), code.format, rows, k, 1)
			for i := range p.a {
				p.a[i] = 0xFFFFFFFF
			}
			for i := range p.b { // every other column falls
				p.b[i] = []uint32{0x7F7F7F7F, 0x80808080}[i%p.ldb%2]
			}
			p.run(t, code, 0)
			if err := p.check(false); err != nil {
				t.Errorf("%d rows: %v", rows, err)
			}
		}
	})
}

// loopOf is the main loop of a tile.
func loopOf(f GemmFormat, rows int) string {
	text := newTile(f, rows).Listing()
	if f.InPairs() { // the first loop joins rows
		for range (rows + 1) / 2 {
			_, text, _ = strings.Cut(text, "b.ge")
		}
		_, text, _ = strings.Cut(text, "movi")
	}
	_, round, _ := strings.Cut(text, "b.lt")
	round, _, _ = strings.Cut(round, "b.ge")
	return round
}

// The main loop multiplies and adds, four steps of six rows and four vectors, or of
// eight rows and columns, and keeps its sums in registers.
func TestGemmLoop(t *testing.T) {
	for _, c := range []struct {
		format GemmFormat
		rows   int
		want   map[string]int
	}{
		{GemmF32, 6, map[string]int{"fmla": 96, "ldr ": 40, "str ": 0, "add ": 10}},
		{GemmBytes, 8, map[string]int{"usmmla": 64, "ldr ": 32, "str ": 0, "zip": 0, "add ": 2}},
		{GemmBF16, 8, map[string]int{"bfmmla": 64, "ldr ": 32, "str ": 0, "zip": 0, "add ": 2}},
		{GemmBF16, 4, map[string]int{"bfmmla": 64, "ldr ": 40, "str ": 0, "zip": 0, "add ": 3}},
		{GemmBF16, 1, map[string]int{"bfmmla": 64, "ldr ": 68, "str ": 0, "zip": 0, "add ": 5}},
	} {
		round := loopOf(c.format, c.rows)
		for op, want := range c.want {
			if got := strings.Count(round, "  "+op); got != want {
				t.Errorf("%v, %d rows: %d of %q instead of %d in the main loop:\n%s", c.format, c.rows, got, op, want, round)
			}
		}
	}
}
