package cpu

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/template"
)

// tileSet is the tile kernels of one instruction set, mapped.
type tileSet struct {
	*x86.GemmKernels
	lanes int
	full  []uintptr   // by rows
	tail  [][]uintptr // by rows and vectors
}

// lazyTiles is made when first wanted.
type lazyTiles func() (*tileSet, error)

// The tile kernels depend on no program: each instruction set has a set a
// process for every format with A by rows, and one for f32 with A by columns,
// never unmapped.
var tileSets = [2]struct {
	rows    [4]lazyTiles // by format
	columns lazyTiles
}{
	x86.AVX2:   {newTileSets(x86.AVX2), newTileSet(x86.AVX2, x86.GemmF32, true)},
	x86.AVX512: {newTileSets(x86.AVX512), newTileSet(x86.AVX512, x86.GemmF32, true)},
}

func newTileSets(isa x86.ISA) (all [4]lazyTiles) {
	for format := range all {
		all[format] = newTileSet(isa, x86.GemmFormat(format), false)
	}
	return all
}

func newTileSet(isa x86.ISA, format x86.GemmFormat, columns bool) lazyTiles {
	return sync.OnceValues(func() (*tileSet, error) {
		cpu := cpuid.Host()
		return mapTiles(isa, format, x86.BestGemmTile(isa, &cpu), columns)
	})
}

// tileFormat chooses tile kernels for operands that have a format, and the
// format they are packed in: Single where there are no kernels for it.
func tileFormat(f template.Format, isa x86.ISA, has *cpuid.Features) (template.Format, x86.GemmFormat) {
	switch {
	case f == template.Bytes && x86.HasGemm(isa, x86.GemmBytes, has):
		return f, x86.GemmBytes
	case f == template.Bytes:
		return f, x86.GemmWords
	case f == template.BF16 && x86.HasGemm(isa, x86.GemmBF16, has):
		return f, x86.GemmBF16
	}
	return template.Single, x86.GemmF32
}

func mapTiles(isa x86.ISA, format x86.GemmFormat, tile x86.GemmTile, columns bool) (*tileSet, error) {
	if width := tile.Vectors * x86.GemmLanes(isa); width%x86.PackedCols != 0 {
		return nil, fmt.Errorf("cpu: tiles of %d columns do not fit packed panels of %d", width, x86.PackedCols)
	}
	g, err := x86.EmitGemm(isa, format, tile, columns)
	if err != nil {
		return nil, err
	}
	code, err := jit.Map(g.Code)
	if err != nil {
		return nil, err
	}
	t := &tileSet{GemmKernels: g, lanes: x86.GemmLanes(isa)}
	t.full, t.tail = make([]uintptr, len(g.Full)), make([][]uintptr, len(g.Tail))
	for rows := 1; rows < len(g.Full); rows++ {
		t.full[rows] = code.Entry(g.Full[rows])
		t.tail[rows] = make([]uintptr, len(g.Tail[rows]))
		for v := 1; v < len(g.Tail[rows]); v++ {
			t.tail[rows][v] = code.Entry(g.Tail[rows][v])
		}
	}
	return t, nil
}

// width is the columns of a whole panel.
func (t *tileSet) width() int { return t.Tile.Vectors * t.lanes }

// run computes cols results side by side in each of rowPanels times rows rows:
// panels of B as wide as a tile and, where cols is no multiple of their width, a
// tail, for which args are changed. VectorB 0 stands for vectors side by side.
func (t *tileSet) run(args *x86.GemmArgs, rowPanels, rows, cols int) {
	if args.VectorB == 0 {
		args.VectorB = uintptr(4 * t.lanes)
	}
	args.RowPanels = uintptr(rowPanels)
	n, rest := cols/t.width(), cols%t.width()
	if n > 0 {
		args.Panels, args.Finish.Cols = uintptr(n), uintptr(t.width())
		jit.Call(t.full[rows], unsafe.Pointer(args))
	}
	if rest == 0 {
		return
	}
	if args.B != nil { // there is something to read
		args.B = unsafe.Add(args.B, n*int(args.PanelB))
	}
	args.C = unsafe.Add(args.C, n*int(args.StepC))
	for _, p := range []*unsafe.Pointer{&args.Ahead, &args.Beside} {
		if *p != nil { // else it would become no address
			*p = unsafe.Add(*p, 4*(cols-rest))
		}
	}
	args.Panels = 1
	args.Finish.Col += uintptr(cols - rest)
	args.Finish.Cols = uintptr(rest)
	vectors := ceilDiv(rest, t.lanes)
	args.SetMask(t.ISA, rest-(vectors-1)*t.lanes)
	jit.Call(t.tail[rows][vectors], unsafe.Pointer(args))
}

// transposes is the code that turns squares of f32, by instruction set.
var transposes = [2]func() (uintptr, error){
	x86.AVX2:   newTranspose(x86.AVX2),
	x86.AVX512: newTranspose(x86.AVX512),
}

func newTranspose(isa x86.ISA) func() (uintptr, error) {
	return sync.OnceValues(func() (uintptr, error) {
		text, err := x86.EmitTranspose(isa)
		if err != nil {
			return 0, err
		}
		code, err := jit.Map(text)
		if err != nil {
			return 0, err
		}
		return code.Entry(0), nil
	})
}
