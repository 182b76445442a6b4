package x86

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/loop"
)

// finishText is a kernel behind tiles that stores an expression of the sum.
const finishText = `kernel "finish"
symbol M 0 1000
symbol N 0 1000
symbol col0 0 1000
symbol col1 0 1000
symbol row0 0 1000
symbol stride 0 1000
param y %[1]s[M*N] write
param panel %[1]s[M*N] read
for global i < size(M) {
	for vector j = size(col0) to size(col1) {
		y[i*size(N) + j] = panel[(i - size(row0))*size(stride) + (j - size(col0))]%[2]s
	}
}
`

var (
	finishKernel = fmt.Sprintf(finishText, "f32", " + cast.f32(cast.i32(100*i + j))") // tells where a sum is
	copyKernel   = fmt.Sprintf(finishText, "i32", "")                                 // of the bits
)

// Two row panels of two panels each, which share the memory of their sums: what
// follows a block sees its sums before the next block overwrites them, and is
// told where it is.
func TestGemmFinish(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		tile := GemmTile{3, 2}
		finish := newFinish(t, isa, tile.Vectors, finishKernel)
		defer func() { _ = finish.code.Close() }()
		g, err := EmitGemm(isa, GemmF32, tile, GemmPanels)
		if err != nil {
			t.Fatal(err)
		}
		tiles, err := jit.Map(g.Code)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tiles.Close() }()

		const depth, row, col = 5, 4, 7 // steps; numbers of the first row and column
		width := tile.Vectors * GemmLanes(isa)
		rows, cols := row+2*tile.Rows, col+2*width
		a, b := make([]float32, 2*tile.Rows*depth), make([]float32, 2*width*depth)
		sums, y := make([]float32, tile.Rows*width+16), make([]float32, rows*cols+16)
		for i := range a {
			a[i] = float32(i%7 - 3)
		}
		for i := range b {
			b[i] = float32(i%5 - 2)
		}
		x := &GemmArgs{A: unsafe.Pointer(&a[0]), B: unsafe.Pointer(&b[0]), C: unsafe.Pointer(&sums[0]), LDA: 4 * depth, LDC: uintptr(4 * width),
			LDB: uintptr(4 * width), VectorB: uintptr(2 * width), PanelB: uintptr(4 * width * depth), Panels: 2, RowPanels: 2}
		x.SetK(depth)
		finish.place(x, unsafe.Pointer(&y[0]), rows, cols, width)
		x.Finish.Row, x.Finish.Col = row, col
		jit.Call(tiles.Entry(g.Full[tile.Rows]), unsafe.Pointer(x))

		for i := range rows {
			for j := range cols {
				want := float32(0)
				if i >= row && j >= col {
					for s := range depth {
						want += a[(i-row)*depth+s] * b[((j-col)/width*depth+s)*width+(j-col)%width]
					}
					want += float32(100*i + j)
				}
				if got := y[i*cols+j]; got != want {
					t.Fatalf("row %d, column %d is %v, want %v", i, j, got, want)
				}
			}
		}
	})
}

// finish is a kernel that sums are handed over to.
type finish struct {
	kernel *loop.Kernel
	code   *jit.Code
	block  []uint64
	spill  []uint64 // eight words more than it takes
}

func newFinish(t *testing.T, isa ISA, vectors int, text string) *finish {
	t.Helper()
	f := &finish{kernel: parse(t, text)}
	if err := loop.Check(f.kernel); err != nil {
		t.Fatal(err)
	}
	code, err := EmitFinish(f.kernel, isa, vectors)
	if err != nil {
		t.Fatal(err)
	}
	f.spill = make([]uint64, code.SpillBytes/8+8)
	if f.code, err = jit.Map(code.Text); err != nil {
		t.Fatal(err)
	}
	return f
}

// place has tiles so wide, of a matrix of rows times cols, handed over to write y.
func (f *finish) place(g *GemmArgs, y unsafe.Pointer, rows, cols, width int) {
	layout, args, spare := FinishLayout(f.kernel)
	f.block = make([]uint64, layout.Words)
	at := func(name string) uintptr {
		for i, s := range f.kernel.Symbols() {
			if s.Name == name {
				return uintptr(8 * (layout.Symbols + i))
			}
		}
		return uintptr(8 * spare)
	}
	f.block[at("M")/8], f.block[at("N")/8], f.block[at("stride")/8] = uint64(rows), uint64(cols), uint64(g.LDC)/uint64(f.kernel.Params[1].DType.Size())
	f.block[layout.Params] = uint64(uintptr(y))
	f.block[args] = uint64(uintptr(unsafe.Pointer(g)))
	f.block[layout.Spill] = uint64(uintptr(unsafe.Pointer(&f.spill[0]))+63) &^ 63
	g.Finish = GemmFinish{Entry: f.code.Entry(0), Block: uintptr(unsafe.Pointer(&f.block[0])), Cols: uintptr(width)}
	g.Finish.At = [FinishAts]uintptr{FinishRow: at("row0"), FinishCol: at("col0"), FinishEnd: at("col1"), FinishPanel: uintptr(8 * (layout.Params + 1))}
}
