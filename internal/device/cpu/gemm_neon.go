package cpu

import (
	"sync"
	"unsafe"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/emit/arm64"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/template"
)

// neonTiles are the tile kernels of arm64 by rows, for a format. They know no
// shape: made once a process, and never unmapped.
var neonTiles = [...]func() ([]uintptr, error){
	arm64.GemmF32:    newNEONTiles(arm64.GemmF32),
	arm64.GemmMixed:  newNEONTiles(arm64.GemmMixed),
	arm64.GemmSigned: newNEONTiles(arm64.GemmSigned),
}

func newNEONTiles(f arm64.GemmFormat) func() ([]uintptr, error) {
	return sync.OnceValues(func() ([]uintptr, error) {
		g, err := arm64.EmitGemm(f)
		if err != nil {
			return nil, err
		}
		code, err := jit.Map(g.Code)
		if err != nil {
			return nil, err
		}
		entries := make([]uintptr, len(g.At))
		for rows := 1; rows < len(g.At); rows++ {
			entries[rows] = code.Entry(g.At[rows])
		}
		return entries, nil
	})
}

// neonFormat chooses tile kernels for operands that have a format, and the format
// they are packed in: Single where there are none for it. bf16 is widened: BFDOT
// neither rounds as the operations do nor keeps subnormals.
func neonFormat(f template.Format, has *cpuid.Features) (template.Format, arm64.GemmFormat) {
	switch {
	case f == template.Bytes && arm64.HasGemm(arm64.GemmMixed, has):
		return f, arm64.GemmMixed
	case f == template.Bytes && arm64.HasGemm(arm64.GemmSigned, has):
		return f, arm64.GemmSigned
	}
	return template.Single, arm64.GemmF32
}

// multiply adds products of steps k0 to k1 up in c, rows of genericCols sums, for
// rows of the worker's a and a panel y by rows. first says that c holds nothing yet.
func (s *genericStep) multiply(w *genericWorker, y []float32, c unsafe.Pointer, rows, k0, k1 int, first bool) {
	g := &w.tile
	g.LDA, g.LDB, g.LDC = uintptr(4*s.steps), 4*genericCols, 4*genericCols
	g.Panels, g.K, g.Continue = genericCols/arm64.GemmCols, uintptr(k1-k0), 1
	if first {
		g.Continue = 0
	}
	g.B = unsafe.Pointer(unsafe.SliceData(y[k0*genericCols:]))
	high := len(s.kernel.tiles) - 1
	for r := 0; r < rows; r += high {
		g.A = unsafe.Pointer(unsafe.SliceData(w.a[r*s.steps+k0:]))
		g.C = unsafe.Add(c, 4*r*genericCols)
		jit.Call(s.kernel.tiles[min(rows-r, high)], unsafe.Pointer(g))
	}
}
