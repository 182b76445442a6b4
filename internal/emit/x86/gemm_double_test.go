package x86

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/jit"
)

// TestGemmTiles for f64: all heights, vectors and masks, K around the unrolling, fresh
// and continued, A by rows and by columns, B packed and in place, with and without a
// kernel behind.
func TestGemmDoubleTiles(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		for _, tile := range GemmTiles(isa, GemmF64) {
			for _, form := range []GemmForm{GemmPanels, GemmColumns, GemmFarColumns} {
				g, err := EmitGemm(isa, GemmF64, tile, form)
				if err != nil {
					t.Fatal(err)
				}
				code, err := jit.Map(g.Code)
				if err != nil {
					t.Fatal(err)
				}
				testDoubleTiles(t, g, code)
				_ = code.Close()
			}
		}
		if _, err := EmitGemm(isa, GemmF64, GemmTiles(isa, GemmF64)[0], GemmPlaces); err == nil {
			t.Errorf("%v: kernels of f64 by places", isa)
		}
	})
}

func testDoubleTiles(t *testing.T, g *GemmKernels, code *jit.Code) {
	rng := rand.New(rand.NewPCG(5, 6))
	copies := newFinish(t, g.ISA, g.Tile.Vectors, doubleCopyKernel)
	defer func() { _ = copies.code.Close() }()
	lanes := GemmF64.Lanes(g.ISA)
	for rows := 1; rows <= g.Tile.Rows; rows++ {
		for v := 1; v <= g.Tile.Vectors; v++ {
			for _, k := range []int{0, 1, 3, 4, 5, 9} {
				c := doubleCase{tileCase: tileCase{rows: rows, k: k, panels: 1, rowPanels: 1, columns: g.Form.Columns(), inPlace: rng.IntN(2) == 0, again: rng.IntN(2) == 0}, kernels: g, vectors: v}
				c.cols = v*lanes - rng.IntN(lanes)
				c.run(t, rng, code.Entry(g.Tail[rows][v]))
				if v == g.Tile.Vectors {
					c.cols, c.panels, c.rowPanels, c.inPlace = v*lanes, 1+rng.IntN(3), 1+rng.IntN(3), rng.IntN(2) == 0
					c.finish, c.shared = copies, !c.again && rng.IntN(2) == 0
					c.run(t, rng, code.Entry(g.Full[rows]))
				}
			}
		}
	}
}

// doubleCopyKernel is copyKernel for sums of 64 bits.
var doubleCopyKernel = fmt.Sprintf(finishText, "i64", "")

// doubleCase is a tileCase of f64 in so many vectors.
type doubleCase struct {
	tileCase
	kernels *GemmKernels
	vectors int
}

func (c doubleCase) height() int { return c.rows * c.rowPanels }
func (c doubleCase) total() int  { return c.panels * c.cols }

// placeA is where A[r][k] is, and placeB where B[k][j] is.
func (c doubleCase) placeA(r, k int) int {
	if c.columns {
		return k*c.height() + r
	}
	return r*c.k + k
}

func (c doubleCase) placeB(k, j int) int {
	if c.inPlace {
		return k*c.total() + j
	}
	lanes := GemmF64.Lanes(c.kernels.ISA)
	p, in := j/(c.vectors*lanes), j%(c.vectors*lanes)
	return ((p*c.vectors+in/lanes)*c.k+k)*lanes + in%lanes
}

// matrices are A, B and C right before unmapped pages. A number that is not part of B is
// no number.
func (c doubleCase) matrices(t *testing.T, rng *rand.Rand) (mem [3]*jit.Guarded, f [3][]float64) {
	t.Helper()
	sizeB := c.k * c.total()
	if !c.inPlace {
		sizeB = c.k * c.panels * c.vectors * GemmF64.Lanes(c.kernels.ISA)
	}
	for i, n := range []int{c.height() * c.k, sizeB, c.height() * c.total()} {
		var err error
		if mem[i], err = jit.AllocGuarded(8*n, 1); err != nil {
			t.Fatal(err)
		}
		f[i] = unsafe.Slice((*float64)(mem[i].Pointer()), n)
		for j := range f[i] {
			f[i][j] = math.NaN()
			if i != 1 {
				f[i][j] = rng.NormFloat64()
			}
		}
	}
	for k := range c.k {
		for j := range c.total() {
			f[1][c.placeB(k, j)] = rng.NormFloat64()
		}
	}
	return mem, f
}

// args are those of a call.
func (c doubleCase) args(mem [3]*jit.Guarded) *GemmArgs {
	lanes := GemmF64.Lanes(c.kernels.ISA)
	pitch := uintptr(8 * c.total())
	g := &GemmArgs{A: mem[0].Pointer(), B: mem[1].Pointer(), C: mem[2].Pointer(), Ahead: uintptr(mem[2].Pointer()), LDA: uintptr(8 * c.k), LDC: pitch, LDAhead: pitch,
		LDB: uintptr(8 * lanes), VectorB: uintptr(8 * lanes * c.k), PanelB: uintptr(8 * lanes * c.k * c.vectors),
		Panels: uintptr(c.panels), RowPanels: uintptr(c.rowPanels), StepC: uintptr(8 * c.cols), RowsC: uintptr(c.rows) * pitch}
	if c.inPlace {
		g.LDB, g.VectorB, g.PanelB = pitch, uintptr(8*lanes), uintptr(8*lanes*c.vectors)
	}
	if c.columns {
		g.LDA = uintptr(8 * c.height())
	}
	if c.again {
		g.Continue, g.Beside, g.LDBeside = 1, uintptr(g.C), g.LDC // what is fetched beside changes nothing
	}
	g.SetK(c.k)
	g.SetMask(c.kernels.ISA, GemmF64, c.cols-(c.vectors-1)*lanes)
	return g
}

func (c doubleCase) run(t *testing.T, rng *rand.Rand, entry uintptr) {
	t.Helper()
	mem, f := c.matrices(t, rng)
	before := append([]float64(nil), f[2]...)
	g := c.args(mem)
	call := func(results []float64) {
		t.Helper()
		if err := jit.Protect(func() error { jit.Call(entry, unsafe.Pointer(g)); return nil }); err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		for i := range before {
			r, j, want := i/c.total(), i%c.total(), 0.0
			for k := range c.k {
				want = math.FMA(f[0][c.placeA(r, k)], f[1][c.placeB(k, j)], want)
			}
			if c.again {
				want += before[i]
			}
			if math.Float64bits(results[i]) != math.Float64bits(want) {
				t.Fatalf("%v %v %+v: result %d is %v, want %v", c.kernels.ISA, c.kernels.Tile, c.tileCase, i, results[i], want)
			}
		}
	}
	call(f[2])
	if c.finish != nil {
		copy(f[2], before)
		if c.shared {
			g.LDC, g.StepC, g.RowsC = uintptr(8*c.cols), 0, 0
		}
		results := make([]float64, len(before)+1) // there is a first one
		c.finish.place(g, unsafe.Pointer(&results[0]), c.height(), c.total(), c.cols)
		call(results)
	}
	for i, m := range mem {
		if err := m.Close(); err != nil {
			t.Errorf("%+v: matrix %c: %v", c.tileCase, 'A'+i, err)
		}
	}
}
