package cpu

import (
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/x86"
)

// Results of few steps of k that the caches do not hold: a tile is done before the lines
// it writes have come from memory, only to be written whole and to go back there. Stores
// past the caches need no lines, but are whole lines themselves, while rows begin anywhere
// in one. Rows that begin at the same place of a line, each 16th at most, are therefore
// multiplied together, from their first whole line on; what lies in front of that, and
// behind the last one, is stored as elsewhere.
//
// Columns of a tile then begin anywhere in a panel of B, which is laid out by rows for
// that, a block at a time. Such a block stays in the first cache: loads from beyond it
// would wait in line with the stores.

// storesPast tells whether results of a product whose right operand is packed go past the
// caches.
func (k *gemmKernel) storesPast(r *binding, s gemmSize) bool {
	return k.mayStorePast(r.module.device, s) && wordAligned(r.ptrs[k.out.Param])
}

// mayStorePast tells whether they may, as far as the size tells.
func (k *gemmKernel) mayStorePast(d *Device, s gemmSize) bool {
	t := k.tiles
	if t.form != x86.GemmPanels || !k.plainOut || k.finish != nil || k.packX != nil || k.constY == nil {
		return false
	}
	return d.core.StoresPast(t.isa, t.format, x86.GemmShape{Rows: s.rows, Cols: s.cols, Steps: ceilDiv(s.k, t.format.Group())}, d.workers())
}

func wordAligned(p unsafe.Pointer) bool { return uintptr(p)%4 == 0 }

// linePeriod is the number of rows from one to the next that begins at the same place of
// a line.
func (s *gemmStep) linePeriod() int { return s.lanes / min(s.lanes, s.rowOut&-s.rowOut) }

// blockPast computes the results of one block of a task.
func (s *gemmStep) blockPast(w *gemmWorker, t, b area, at *addresses) error {
	panels, err := s.placeB(w, t, b, at.y, 0)
	if err != nil {
		return err
	}
	col0, col1 := b.col0*s.width, min(b.col1*s.width, s.cols)
	s.setK(w, 0, s.steps)
	s.layByRows(w, panels, col0, col1)
	first, end := s.row(b.row0), s.row(b.row1)
	period := s.linePeriod()
	for row := first; row < min(first+period, end); row++ {
		r := rowsPast{first: row, count: ceilDiv(end-row, period), apart: period}
		skip := s.skip(at.out, row)
		if col0 == 0 {
			s.runPast(w, at, r, 0, 0, skip)
		}
		s.runPast(w, at, r, col0, col0+skip, min(col1+skip, s.cols))
	}
	return nil
}

// skip is the results of a row in front of its first whole line.
func (s *gemmStep) skip(out unsafe.Pointer, row int) int {
	at := uintptr(out)/uintptr(s.word) + uintptr(row*s.rowOut)
	return int(-at % uintptr(s.lanes))
}

// rowsPast is rows that begin at the same place of a line.
type rowsPast struct{ first, count, apart int }

// runPast computes columns from one to end of rows, of a block of B that begins at column
// block.
func (s *gemmStep) runPast(w *gemmWorker, at *addresses, r rowsPast, block, col, end int) {
	if col >= end {
		return
	}
	g := &w.args
	out, x := uintptr(s.word*s.rowOut), uintptr(s.sizeX*s.rowX) // from row to row
	g.LDC, g.LDA, g.StepC = uintptr(r.apart)*out, uintptr(r.apart)*x, uintptr(s.word*s.width)
	for done := 0; done < r.count; {
		height, panels := evenly(r.count-done, s.tiles.Tile.Rows)
		panels = min(panels, s.panelsACall(height, ceilDiv(end-col, s.lanes), s.steps))
		row := r.first + done*r.apart
		g.A, g.C = unsafe.Add(at.x, row*int(x)), unsafe.Add(at.out, row*int(out)+s.word*col)
		g.B, g.RowsC = unsafe.Add(w.b, s.word*(col-block)), uintptr(height)*g.LDC
		s.tiles.run(g, panels, height, end-col)
		done += panels * height
	}
}

// evenly cuts rows into panels of at most so many, as even as can be: how high the first of
// them are, and how many are as high.
func evenly(rows, most int) (height, same int) {
	panels := ceilDiv(rows, most)
	height = ceilDiv(rows, panels)
	return height, panels - (height*panels - rows)
}

// pitchByRows is the columns from step to step of a block of B by rows: room for columns
// that begin with any of a line, and an odd number of lines, so that steps do not meet in
// the first cache.
func (s *gemmStep) pitchByRows() int {
	return (ceilDiv(s.blockPanels*s.width, s.lanes) + 1 | 1) * s.lanes
}

// byRowsBytes is the room for such a block.
func (s *gemmStep) byRowsBytes() int { return s.word * s.pitchByRows() * s.steps }

// layByRows lays out a block of packed B by rows, with the columns behind it that rows which
// begin anywhere in a line take.
func (s *gemmStep) layByRows(w *gemmWorker, panels unsafe.Pointer, col0, col1 int) {
	type line = [x86.PackedBytes]byte
	pitch := s.word * s.pitchByRows()
	for col := col0; col < min(col1+s.lanes, s.cols); col += s.lanes {
		from, to := unsafe.Add(panels, (col-col0)*s.word*s.steps), unsafe.Add(w.b, (col-col0)*s.word)
		for k := range s.steps {
			*(*line)(unsafe.Add(to, k*pitch)) = *(*line)(unsafe.Add(from, k*x86.PackedBytes))
		}
	}
	w.args.LDB, w.args.VectorB, w.args.PanelB = uintptr(pitch), uintptr(s.word*s.lanes), uintptr(s.word*s.width)
}
