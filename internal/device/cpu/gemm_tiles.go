package cpu

import (
	"sync"
	"unsafe"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/jit"
)

// tileSet is the tile kernels of one instruction set, mapped.
type tileSet struct {
	*x86.GemmKernels
	lanes int
	full  []uintptr   // by rows
	tail  [][]uintptr // by rows and vectors
}

// The tile kernels depend on no program: each instruction set has one set a
// process, made when first wanted and never unmapped.
var tileSets = [2]func() (*tileSet, error){
	x86.AVX2:   sync.OnceValues(func() (*tileSet, error) { return newTileSet(x86.AVX2) }),
	x86.AVX512: sync.OnceValues(func() (*tileSet, error) { return newTileSet(x86.AVX512) }),
}

func newTileSet(isa x86.ISA) (*tileSet, error) {
	cpu := cpuid.Host()
	return mapTiles(isa, x86.BestGemmTile(isa, &cpu))
}

func mapTiles(isa x86.ISA, tile x86.GemmTile) (*tileSet, error) {
	g, err := x86.EmitGemm(isa, tile)
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

// run computes rows x cols results side by side from packed panels: whole ones
// and, where cols is no multiple of their width, a tail.
func (t *tileSet) run(args *x86.GemmArgs, rows, cols int) {
	width := t.Tile.Vectors * t.lanes
	if n := cols / width; n > 0 {
		args.Panels = uintptr(n)
		jit.Call(t.full[rows], unsafe.Pointer(args))
	}
	rest := cols % width
	if rest == 0 {
		return
	}
	whole := cols - rest
	tail := *args
	tail.B = unsafe.Add(args.B, 4*whole*(int(args.Blocks)*x86.GemmUnroll+int(args.Rest)))
	tail.C = unsafe.Add(args.C, 4*whole)
	tail.Panels = 1
	vectors := ceilDiv(rest, t.lanes)
	tail.SetMask(t.ISA, rest-(vectors-1)*t.lanes)
	jit.Call(t.tail[rows][vectors], unsafe.Pointer(&tail))
}
