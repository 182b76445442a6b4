package cpu

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/ir"
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

// tileKind is what tile kernels have in common but for the tile.
type tileKind struct {
	isa    x86.ISA
	format x86.GemmFormat
	form   x86.GemmForm
}

// tileKey names a set.
type tileKey struct {
	tileKind
	tile x86.GemmTile
}

// The tile kernels depend on no program: each set is made once a process, when
// it is first wanted, and never unmapped. There are as many as candidates.
var tileSets sync.Map // from tileKey to func() (*tileSet, error)

// set gives the kernels of a tile.
func (k tileKind) set(tile x86.GemmTile) (*tileSet, error) {
	key := tileKey{k, tile}
	made, ok := tileSets.Load(key)
	if !ok {
		made, _ = tileSets.LoadOrStore(key, sync.OnceValues(func() (*tileSet, error) { return mapTiles(k, tile) }))
	}
	return made.(func() (*tileSet, error))()
}

// tileFormat chooses tile kernels for operands that have a format, and the
// format they are packed in: Single where there are no kernels for it.
func tileFormat(f template.Format, isa x86.ISA, has *cpuid.Features) (template.Format, x86.GemmFormat) {
	switch {
	case f == template.Bytes && x86.HasGemm(isa, x86.GemmAMXBytes, has):
		return f, x86.GemmAMXBytes
	case f == template.BF16 && x86.HasGemm(isa, x86.GemmAMXBF16, has):
		return f, x86.GemmAMXBF16
	case f == template.Bytes && x86.HasGemm(isa, x86.GemmBytes, has):
		return f, x86.GemmBytes
	case f == template.Bytes:
		return f, x86.GemmWords
	case f == template.BF16 && x86.HasGemm(isa, x86.GemmBF16, has):
		return f, x86.GemmBF16
	}
	return template.Single, x86.GemmF32
}

// productFormat is the same for operands of a product. Lanes of f64 hold nothing else.
// Where there is no instruction for bf16, or a slow one, weights stay short in memory and are
// widened in registers; what is packed in each run, for itself or by columns, is widened there.
func (d *Device) productFormat(g *template.Gemm) (template.Format, x86.GemmFormat) {
	if g.DType == ir.F64 {
		return template.Single, x86.GemmF64
	}
	f, kernels := tileFormat(g.Format(), d.target(), &d.has)
	if parts, ok := d.splitFormat(g); ok && kernels == x86.GemmF32 {
		return f, parts
	}
	widened := g.Format() == template.BF16 && (kernels == x86.GemmF32 || kernels == x86.GemmBF16 && d.widens)
	switch {
	case !widened:
		return f, kernels
	case g.ConstY && !g.TurnedX():
		return template.BF16, x86.GemmWide
	}
	return template.Single, x86.GemmF32
}

func mapTiles(k tileKind, tile x86.GemmTile) (*tileSet, error) {
	lanes, panel := k.format.Lanes(k.isa), k.format.PackedCols()
	if width := tile.Vectors * lanes; width%panel != 0 || lanes < panel && width > panel { // vectors are evenly apart
		return nil, fmt.Errorf("cpu: tiles of %d columns do not fit packed panels of %d", width, panel)
	}
	g, err := x86.EmitGemm(k.isa, k.format, tile, k.form)
	if err != nil {
		return nil, err
	}
	code, err := jit.Map(g.Code)
	if err != nil {
		return nil, err
	}
	t := &tileSet{GemmKernels: g, lanes: k.format.Lanes(k.isa)}
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

// byColumns tells that A is read by columns.
func (t *tileSet) byColumns() bool { return t.Form.Columns() }

// byPlaces tells that B is read where tables say.
func (t *tileSet) byPlaces() bool { return t.Form == x86.GemmPlaces }

// past tells that results are stored past the caches.
func (t *tileSet) past() bool { return t.Form == x86.GemmPast }

// fetching tells that what follows of B is fetched.
func (t *tileSet) fetching() bool { return t.Form == x86.GemmFetching }

// width is the columns of a whole panel.
func (t *tileSet) width() int { return t.Tile.Vectors * t.lanes }

// run computes cols results side by side in each of rowPanels times rows rows:
// panels of B as wide as a tile and, where cols is no multiple of their width, a
// tail, for which args are changed. VectorB 0 stands for vectors side by side.
func (t *tileSet) run(args *x86.GemmArgs, rowPanels, rows, cols int) {
	if args.VectorB == 0 {
		args.VectorB = uintptr(t.Format.Word() * t.lanes)
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
	c, before := args.C, uintptr(t.Format.Word()*(cols-rest))
	args.C = unsafe.Add(c, n*int(args.StepC))
	args.Ahead += before
	args.Beside += before
	if args.Bias != 0 {
		args.Bias += before
	}
	args.Panels = 1
	args.Finish.Col += uintptr(cols - rest)
	args.Finish.Cols = uintptr(rest)
	vectors := ceilDiv(rest, t.lanes)
	args.SetMask(t.ISA, t.Format, rest-(vectors-1)*t.lanes)
	jit.Call(t.tail[rows][vectors], unsafe.Pointer(args))
	args.C = c // where an epilogue behind the call finds the sums
}

// transposes is the code that turns squares of lanes of 32 bits, by instruction set, and
// wideTransposes that for 64 bits.
var (
	transposes     = [2]func() (uintptr, error){x86.AVX2: newTranspose(x86.AVX2, 4), x86.AVX512: newTranspose(x86.AVX512, 4)}
	wideTransposes = [2]func() (uintptr, error){x86.AVX2: newTranspose(x86.AVX2, 8), x86.AVX512: newTranspose(x86.AVX512, 8)}
)

// widening is the code that makes words of the bytes of X.
var widening = codeOf(x86.EmitWiden)

// transposesOf are those for lanes of a format.
func transposesOf(f x86.GemmFormat) *[2]func() (uintptr, error) {
	if f.Word() == 8 {
		return &wideTransposes
	}
	return &transposes
}

func newTranspose(isa x86.ISA, size int) func() (uintptr, error) {
	return codeOf(func() ([]byte, error) { return x86.EmitTranspose(isa, size) })
}

// codeOf maps what emit gives when it is first asked for, and keeps it.
func codeOf(emit func() ([]byte, error)) func() (uintptr, error) {
	return sync.OnceValues(func() (uintptr, error) {
		text, err := emit()
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
