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

// Every format and height, with and without sums to continue, beside a plain loop;
// floats are small whole numbers, so that sums are exact.
func TestGemm(t *testing.T) {
	needNEON(t)
	host := cpuid.Host()
	for format := GemmF32; format <= GemmSigned; format++ {
		if !HasGemm(format, &host.Features) {
			t.Logf("this processor has no instructions for format %d", format)
			continue
		}
		g, err := EmitGemm(format)
		if err != nil {
			t.Fatal(err)
		}
		code, err := jit.Map(g.Code)
		if err != nil {
			t.Fatal(err)
		}
		defer code.Close()
		rng := rand.New(rand.NewPCG(1, 2))
		for rows := 1; rows <= format.Rows(); rows++ {
			for _, k := range []int{0, 1, 3, 4, 5, 8, 31} {
				for panels := 1; panels <= 3; panels++ {
					for keep := range 2 {
						c := newProduct(rng, format, rows, k, panels*GemmCols)
						c.run(code.Entry(g.At[rows]), panels, keep)
						if err := c.check(keep != 0); err != nil {
							t.Fatalf("format %d, %d rows, k %d, %d panels, continue %d: %v\n%s", format, rows, k, panels, keep, err, newTile(format, rows).Listing())
						}
					}
				}
			}
		}
	}
}

// product is operands in lanes of 32 bits, and what C holds before and after.
type product struct {
	format          GemmFormat
	rows, k, cols   int
	lda, ldb, ldc   int
	a, b, c, before []uint32
}

func newProduct(rng *rand.Rand, f GemmFormat, rows, k, cols int) *product {
	p := &product{format: f, rows: rows, k: k, cols: cols, lda: k + 3, ldb: cols + 5, ldc: cols + 2}
	draw := func(n int) []uint32 {
		x := make([]uint32, n+1)
		for i := range x {
			if x[i] = rng.Uint32(); f == GemmF32 {
				x[i] = math.Float32bits(float32(rng.IntN(17) - 8))
			}
		}
		return x
	}
	p.a, p.b, p.c = draw(rows*p.lda), draw(k*p.ldb), draw(rows*p.ldc)
	p.before = slices.Clone(p.c)
	return p
}

func (p *product) run(entry uintptr, panels, keep int) {
	args := &GemmArgs{
		A: unsafe.Pointer(&p.a[0]), B: unsafe.Pointer(&p.b[0]), C: unsafe.Pointer(&p.c[0]),
		LDA: uintptr(4 * p.lda), LDB: uintptr(4 * p.ldb), LDC: uintptr(4 * p.ldc),
		Panels: uintptr(panels), K: uintptr(p.k), Continue: uintptr(keep),
	}
	jit.Call(entry, unsafe.Pointer(args))
	runtime.KeepAlive(args)
}

// check compares every element of C, those between its rows too.
func (p *product) check(keep bool) error {
	for i, got := range p.c {
		want := p.before[i]
		if r, j := i/p.ldc, i%p.ldc; r < p.rows && j < p.cols {
			if want = p.sum(r, j); keep && p.format == GemmF32 {
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
	float, whole := float32(0), int32(0)
	for k := range p.k {
		x, y := p.a[r*p.lda+k], p.b[k*p.ldb+j]
		float += math.Float32frombits(x) * math.Float32frombits(y)
		for i := range 4 {
			whole += int32(uint8(x>>(8*i))) * int32(int8(y>>(8*i)))
		}
	}
	if p.format == GemmF32 {
		return math.Float32bits(float)
	}
	return uint32(whole)
}

// The main loop multiplies and adds, four steps of six rows and four vectors, and
// keeps its sums in registers.
func TestGemmLoop(t *testing.T) {
	_, round, _ := strings.Cut(newTile(GemmF32, GemmF32.Rows()).Listing(), "b.lt")
	round, _, _ = strings.Cut(round, "b.ge")
	for op, want := range map[string]int{"fmla": 96, "ldr ": 40, "str ": 0, "add ": 10} {
		if got := strings.Count(round, "  "+op); got != want {
			t.Errorf("%d of %q instead of %d in the main loop", got, op, want)
		}
	}
}
