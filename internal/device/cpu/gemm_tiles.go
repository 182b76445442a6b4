package cpu

import (
	"fmt"
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

// lazyTiles is made when first wanted.
type lazyTiles func() (*tileSet, error)

// The tile kernels depend on no program: each instruction set has a set a
// process for A by rows and one for A by columns, never unmapped.
var tileSets = [2]struct{ rows, columns lazyTiles }{
	x86.AVX2:   {newTileSet(x86.AVX2, false), newTileSet(x86.AVX2, true)},
	x86.AVX512: {newTileSet(x86.AVX512, false), newTileSet(x86.AVX512, true)},
}

func newTileSet(isa x86.ISA, columns bool) lazyTiles {
	return sync.OnceValues(func() (*tileSet, error) {
		cpu := cpuid.Host()
		return mapTiles(isa, x86.BestGemmTile(isa, &cpu), columns)
	})
}

func mapTiles(isa x86.ISA, tile x86.GemmTile, columns bool) (*tileSet, error) {
	if width := tile.Vectors * x86.GemmLanes(isa); width%x86.PackedCols != 0 {
		return nil, fmt.Errorf("cpu: tiles of %d columns do not fit packed panels of %d", width, x86.PackedCols)
	}
	g, err := x86.EmitGemm(isa, tile, columns)
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

// run computes rows x cols results side by side: panels of B as wide as a tile
// and, where cols is no multiple of their width, a tail. VectorB 0 stands for
// vectors side by side.
func (t *tileSet) run(args *x86.GemmArgs, rows, cols int) {
	if args.VectorB == 0 {
		args.VectorB = uintptr(4 * t.lanes)
	}
	n := cols / t.width()
	if n > 0 {
		args.Panels = uintptr(n)
		jit.Call(t.full[rows], unsafe.Pointer(args))
	}
	rest := cols % t.width()
	if rest == 0 {
		return
	}
	tail := *args
	tail.B = unsafe.Add(args.B, n*int(args.PanelB))
	tail.C = unsafe.Add(args.C, 4*(cols-rest))
	tail.Ahead = unsafe.Add(args.Ahead, 4*(cols-rest))
	tail.Panels = 1
	vectors := ceilDiv(rest, t.lanes)
	tail.SetMask(t.ISA, rest-(vectors-1)*t.lanes)
	jit.Call(t.tail[rows][vectors], unsafe.Pointer(&tail))
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
