package cpu

import (
	"sync"
	"unsafe"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/emit/arm64"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/template"
)

// neonSet is the tile kernels of arm64 for a format.
type neonSet struct {
	format arm64.GemmFormat
	tiles  []uintptr // by rows
	join   uintptr   // of a format in pairs
}

// neonSets know no shape: each is made once a process, and never unmapped.
var neonSets = [...]func() (*neonSet, error){
	arm64.GemmF32:    newNEONSet(arm64.GemmF32),
	arm64.GemmSigned: newNEONSet(arm64.GemmSigned),
	arm64.GemmBytes:  newNEONSet(arm64.GemmBytes),
	arm64.GemmBF16:   newNEONSet(arm64.GemmBF16),
}

func newNEONSet(f arm64.GemmFormat) func() (*neonSet, error) {
	return sync.OnceValues(func() (*neonSet, error) {
		g, err := arm64.EmitGemm(f)
		if err != nil {
			return nil, err
		}
		code, err := jit.Map(g.Code)
		if err != nil {
			return nil, err
		}
		set := &neonSet{format: f, tiles: make([]uintptr, len(g.At))}
		for rows := 1; rows < len(g.At); rows++ {
			set.tiles[rows] = code.Entry(g.At[rows])
		}
		if f.InPairs() {
			set.join = code.Entry(g.Join)
		}
		return set, nil
	})
}

// neonFormat chooses tile kernels for operands that have a format, and the format
// they are packed in: Single where there are none for it.
func neonFormat(f template.Format, has *cpuid.Features) (template.Format, arm64.GemmFormat) {
	for _, tiles := range map[template.Format][]arm64.GemmFormat{
		template.Bytes: {arm64.GemmBytes, arm64.GemmSigned},
		template.BF16:  {arm64.GemmBF16},
	}[f] {
		if arm64.HasGemm(tiles, has) {
			return f, tiles
		}
	}
	return template.Single, arm64.GemmF32
}

// neonPanel is the panel of Y that tiles read: the worker's lanes by rows, or those
// in pairs, which are put into the memory of another panel where there is one.
func (s *genericStep) neonPanel(w *genericWorker, into genericPanel) genericPanel {
	set := s.kernel.neon
	if !set.format.InPairs() {
		return genericPanel{rows: w.b}
	}
	const blocks = genericCols / arm64.PairBlock
	block := arm64.PairedBytes(s.steps)
	if into.rows == nil {
		into.rows = make([]float32, blocks*block/4)
	}
	w.join = arm64.JoinArgs{
		From: unsafe.Pointer(unsafe.SliceData(w.b)), To: unsafe.Pointer(unsafe.SliceData(into.rows)),
		LDFrom: 4 * genericCols, LDTo: uintptr(block), K: uintptr(s.steps), Blocks: blocks,
	}
	jit.Call(set.join, unsafe.Pointer(&w.join))
	return into
}

// neonJoined is memory of a worker for rows in pairs; nil where the format is none
// of them.
func (s *genericStep) neonJoined() []float32 {
	if set := s.kernel.neon; set != nil && set.format.InPairs() {
		return make([]float32, arm64.JoinedBytes(set.format.Rows(), min(s.steps, template.SumBlock))/4)
	}
	return nil
}

// multiply adds products of steps k0 to k1 up in c, rows of genericCols sums, for
// rows of the worker's a and a panel y as neonPanel makes it. first says that c holds
// nothing yet. k0 is even.
func (s *genericStep) multiply(w *genericWorker, y []float32, c unsafe.Pointer, rows, k0, k1 int, first bool) {
	g, set := &w.tile, s.kernel.neon
	g.LDA, g.LDB, g.LDC = uintptr(4*s.steps), 4*genericCols, 4*genericCols
	g.B = unsafe.Pointer(unsafe.SliceData(y[k0*genericCols:]))
	if set.format.InPairs() {
		g.LDB, g.Joined = uintptr(arm64.PairedBytes(s.steps)), unsafe.Pointer(unsafe.SliceData(w.joined))
		g.B = unsafe.Pointer(unsafe.SliceData(y[arm64.PairedBytes(k0)/4:]))
	}
	g.K, g.Continue = uintptr(k1-k0), 1
	if first {
		g.Continue = 0
	}
	for r := 0; r < rows; r += set.format.Rows() {
		high := min(rows-r, set.format.Rows())
		g.Panels = uintptr(genericCols / set.format.Cols(high))
		g.A = unsafe.Pointer(unsafe.SliceData(w.a[r*s.steps+k0:]))
		g.C = unsafe.Add(c, 4*r*genericCols)
		jit.Call(set.tiles[high], unsafe.Pointer(g))
	}
}
