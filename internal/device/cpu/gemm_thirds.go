package cpu

import (
	"sync"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/template"
)

// This file has products of f32 by AMX, which multiplies thirds of numbers: see
// internal/emit/x86/gemm_thirds.go. Both operands are brought into order as for
// other tiles and split on the way: packed B for each block of columns and of k,
// rows of A for each row panel. Rows of A, and panels of B, with an odd number, that
// thirds do not hold, are multiplied as f32 instead, each alone: so no result hangs
// on other rows or columns.

// thirdsSet is the kernels that split, mapped.
type thirdsSet struct{ rows, panels uintptr }

var thirdsKernels = sync.OnceValues(func() (*thirdsSet, error) {
	k, err := x86.EmitThirds()
	if err != nil {
		return nil, err
	}
	code, err := jit.Map(k.Code)
	if err != nil {
		return nil, err
	}
	return &thirdsSet{code.Entry(k.Rows), code.Entry(k.Panels)}, nil
})

// oddTile is the tile for rows and panels with odd numbers, as wide as that for
// thirds.
var oddTile = x86.GemmTile{Rows: 14, Vectors: 2}

// Products in thirds have at least so many terms and columns, and in every run so
// many rows: fewer do not repay splitting the other operand.
const (
	thirdsTerms = 96
	thirdsRows  = 64
)

// inThirds tells whether a product of f32 is by AMX: by what is known when it is
// compiled, so that a row has the same bits in all runs.
func (d *Device) inThirds(g *template.Gemm) bool {
	k, fixedK := g.K.Const()
	cols, fixedCols := g.Cols.Const()
	rows, _ := g.Rows.Bounds()
	return g.DType == ir.F32 && fixedK && fixedCols && ThirdsPay(int(rows), cols, k) &&
		x86.HasGemm(d.target(), x86.GemmAMXF32, &d.has)
}

// ThirdsPay tells whether a product of f32 of such a size is by AMX where that is
// there, if its size never changes.
func ThirdsPay(rows, cols, terms int) bool {
	return terms >= thirdsTerms && cols >= thirdsTerms && rows >= thirdsRows
}

// splits tells whether operands are split.
func (s *gemmStep) splits() bool { return s.tiles.Format == x86.GemmAMXF32 }

// thirdsBytes is the room for the thirds of so many lanes of f32.
func thirdsBytes(lanes int) int {
	return 4 * lanes * x86.ThirdsChunk / x86.ThirdsValues
}

// splitB splits the packed panels of a block and points the arguments at them.
func (s *gemmStep) splitB(w *gemmWorker, panels unsafe.Pointer, k0, k1, cols int) {
	if k0 == k1 {
		return
	}
	panel := 4 * x86.PackedCols * (k1 - k0)
	args := x86.ThirdsPanelsArgs{From: panels, To: w.thirds, LDFrom: uintptr(panel), LDTo: uintptr(thirdsBytes(panel / 4)),
		Panels: uintptr(ceilDiv(cols, x86.PackedCols)), Chunks: uintptr((k1 - k0) / x86.ThirdsValues), Odd: &w.oddPanels[0]}
	jit.Call(s.kernel.thirds.panels, unsafe.Pointer(&args))
	s.atThirds(w, k0, k1)
}

// atThirds has the arguments say how the thirds of B lie.
func (s *gemmStep) atThirds(w *gemmWorker, k0, k1 int) {
	vector := thirdsBytes(x86.PackedCols * (k1 - k0))
	w.args.LDB, w.args.VectorB, w.args.PanelB = 4*x86.PackedCols, uintptr(vector), uintptr(vector*s.tiles.Tile.Vectors)
	w.args.SetK((k1 - k0) / x86.ThirdsValues * x86.ThirdsChunk)
}

// splitA splits rows r0 to r1 of X in steps k0 to k1 and points the arguments at
// them; odd has a word for each.
func (s *gemmStep) splitA(w *gemmWorker, x unsafe.Pointer, batch, r0, r1, k0, k1 int, odd []uint32) error {
	if k0 == k1 {
		return nil
	}
	first, end := s.values(k0, k1)
	from, pitch, err := s.rowsOfX(w, x, batch, r0, r1, first, end)
	if err != nil {
		return err
	}
	args := x86.ThirdsRowsArgs{From: from, To: w.a, LDFrom: uintptr(pitch), LDTo: uintptr(4 * s.strideA), Rows: uintptr(r1 - r0), Odd: &odd[0]}
	args.SetWidth(end - first)
	jit.Call(s.kernel.thirds.rows, unsafe.Pointer(&args))
	w.args.A, w.args.LDA = w.a, uintptr(4*s.strideA)
	w.args.NextA, w.args.LDNextA = uintptr(w.a), 0 // memory that is there
	if w.packX == nil {                            // a row panel as high follows, most likely
		w.args.NextA, w.args.LDNextA = uintptr(from)+uintptr((s.row(1)-s.row(0))*pitch), uintptr(pitch)
	}
	return nil
}

// rowsOfX is where rows of X lie as f32 side by side, and the bytes from one to the
// next: they are turned or packed if they do not lie so.
func (s *gemmStep) rowsOfX(w *gemmWorker, x unsafe.Pointer, batch, r0, r1, first, end int) (from unsafe.Pointer, pitch int, err error) {
	const square = 16
	switch {
	case w.packX == nil:
		return unsafe.Add(x, 4*(r0*s.rowX+first)), 4 * s.rowX, nil
	case x != nil && r1-r0 >= square && end-first >= square:
		s.turnRows(w, unsafe.Add(x, 4*(r0+first*s.colX)), r1-r0, end-first)
	default:
		err = s.packRows(w.packX, w.narrow, batch, r0, r1, first, end)
	}
	return w.narrow, 4 * s.strideX, err
}

// turnRows writes rows that lie by columns, at least as many as a vector has lanes,
// of as many values at least. Squares at the ends overlap those before them.
func (s *gemmStep) turnRows(w *gemmWorker, from unsafe.Pointer, rows, values int) {
	n := s.lanes
	args := x86.TransposeArgs{LDSrc: uintptr(4 * s.colX), LDDst: uintptr(4 * s.strideX)}
	turn := func(row, k, count int) {
		args.Src, args.Dst = unsafe.Add(from, 4*(row+k*s.colX)), unsafe.Add(w.narrow, 4*(row*s.strideX+k))
		args.Count = uintptr(count)
		jit.Call(s.kernel.turnX, unsafe.Pointer(&args))
	}
	for k := 0; k < values; k += n {
		at := min(k, values-n)
		turn(0, at, rows/n)
		if rows%n > 0 {
			turn(rows-n, at, 1)
		}
	}
}

// oddBlock is a block with odd numbers, for the last block of k of a row panel: rows
// and columns without any go by AMX, in the order of rows, others as f32.
func (s *gemmStep) oddBlock(w *gemmWorker, t, b area, at addresses, r0, r1, k0, k1 int, odd []uint32) error {
	cols := min(b.col1*s.width, s.cols) - b.col0*s.width
	panels := make([]uint32, b.col1-b.col0) // of the tile's width
	for i := range panels {
		for v := range s.tiles.Tile.Vectors {
			panels[i] |= w.oddPanels[i*s.tiles.Tile.Vectors+v]
		}
	}
	byTiles, a, thirds := w.args, w.args.A, w.args.B
	defer func() { w.args = byTiles }() // goes on so
	return eachRun(odd[:r1-r0], func(from, to int, oddRows bool) error {
		if oddRows {
			return s.asF32(w, t, b, at, r0, r0+from, r0+to, 0, cols)
		}
		return eachRun(panels, func(first, end int, oddCols bool) error {
			c0, c1 := first*s.width, min(end*s.width, cols)
			if oddCols {
				return s.asF32(w, t, b, at, r0, r0+from, r0+to, c0, c1)
			}
			s.atThirds(w, k0, k1)
			w.args.Continue, w.args.LDA = uintptr(s.kBlocks-1), uintptr(4*s.strideA)
			w.args.A, w.args.B = unsafe.Add(a, 4*from*s.strideA), unsafe.Add(thirds, first*int(w.args.PanelB))
			s.placeFinish(w, b.batch0, true)
			s.placeTile(w, b, at, r0, r0+from, to-from, c0)
			s.tiles.run(&w.args, 1, to-from, c1-c0)
			return nil
		})
	})
}

// eachRun calls f for each stretch of words that are all 0 or all not.
func eachRun(words []uint32, f func(from, to int, odd bool) error) error {
	for from := 0; from < len(words); {
		to := from + 1
		for to < len(words) && (words[to] != 0) == (words[from] != 0) {
			to++
		}
		if err := f(from, to, words[from] != 0); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// placeTile says where the sums of some rows of the row panel that begins at panel
// go, from a column of the block on, and what belongs to them in the last block of k.
func (s *gemmStep) placeTile(w *gemmWorker, b area, at addresses, panel, row, height, col int) {
	g, first := &w.args, b.col0*s.width+col
	s.placeC(w, b, at.out, panel, height, first)
	g.Ahead += uintptr(row-panel) * g.LDAhead
	if !s.tileC {
		g.C = unsafe.Add(g.C, (row-panel)*int(g.LDC))
		if s.kernel.finish != nil {
			g.C = unsafe.Add(g.C, 4*col)
		}
	}
	s.placeBeside(w, at.beside, row, first, true)
	g.Finish.Row, g.Finish.Col = uintptr(row), uintptr(first)
}

// asF32 computes rows from to to of the row panel that begins at panel, and columns c0
// to c1 of a block, over all k.
func (s *gemmStep) asF32(w *gemmWorker, t, b area, at addresses, panel, from, to, c0, c1 int) error {
	for kb := range s.kBlocks { // outside: B may be packed anew for each
		first, end := s.values(s.kStart(kb), s.kStart(kb+1))
		panels, err := s.placeB(w, t, b, at.y, kb)
		if err != nil {
			return err
		}
		s.placeFinish(w, b.batch0, kb == s.kBlocks-1)
		for r := from; r < to; r += oddTile.Rows {
			height := min(oddTile.Rows, to-r)
			rows, pitch, err := s.rowsOfX(w, at.x, b.batch0, r, r+height, first, end)
			if err != nil {
				return err
			}
			s.placeTile(w, b, at, panel, r, height, c0)
			w.args.SetK(end - first)
			w.args.Continue = uintptr(kb)
			w.args.A, w.args.LDA = rows, uintptr(pitch)
			w.args.B = unsafe.Add(panels, c0/s.width*int(w.args.PanelB))
			s.kernel.odd.run(&w.args, 1, height, c1-c0)
		}
	}
	return nil
}
