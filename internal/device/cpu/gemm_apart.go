package cpu

import (
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/x86"
)

// This file has what is not multiplied by parts in products that are, see
// gemm_split.go: rows by panels of B of which x86.Found tells that they go apart.

// someApart tells whether any of the rows and any of the panels go apart.
func someApart(rows, panels []x86.Found) bool {
	var row, panel x86.Found
	for _, f := range rows {
		row |= f
	}
	for _, f := range panels {
		panel |= f
	}
	return row.Apart(panel)
}

// apart is a row panel of a block, for the last block of k, of which some rows and
// columns go apart: as f32, the others by AMX. Where unfinished sums lie aside whole
// tiles are computed, and only the rows that do not go apart are finished; the others
// follow when all row panels are done, so that B is packed once for them.
func (s *gemmStep) apart(w *gemmWorker, b area, at addresses, panel, k0, k1 int, rows []x86.Found) error {
	byTiles := w.args
	defer func() { w.args = byTiles }() // goes on so
	if s.kBlocks == 1 || !s.handsOver() {
		return s.apartAtOnce(w, b, at, s.row(panel), k0, k1, rows)
	}
	w.later = true
	w.args.Finish.Entry = 0
	s.tiles.run(&w.args, 1, len(rows), min(b.col1*s.width, s.cols)-b.col0*s.width)
	return s.finishApart(w, b, at, s.row(panel), rows, false)
}

// apartLater computes the rows of a block that go apart, with some between them, and
// finishes them.
func (s *gemmStep) apartLater(w *gemmWorker, b area, at addresses) error {
	each := func(f func(r0 int, rows []x86.Found) error) error {
		for i := b.row0; i < b.row1; i++ {
			r0 := s.row(i)
			rows := w.rows[(i-b.row0)*s.tiles.Tile.Rows:][:s.row(i+1)-r0]
			if !someApart(rows, w.panels) {
				continue
			}
			if err := f(r0, rows); err != nil {
				return err
			}
		}
		return nil
	}
	for kb := range s.kBlocks {
		if err := each(func(r0 int, rows []x86.Found) error {
			return s.stretches(w, b, rows, func(apart []bool, c0, c1 int) error {
				return eachTile(apart, s.kernel.odd.Tile.Rows, func(from, to int) error {
					return s.tileAsF32(w, b, at, kb, r0, r0+from, r0+to, c0, c1, false)
				})
			})
		}); err != nil {
			return err
		}
	}
	return each(func(r0 int, rows []x86.Found) error { return s.finishApart(w, b, at, r0, rows, true) })
}

// finishApart hands over the sums of a row panel's rows that go apart, or of the others.
func (s *gemmStep) finishApart(w *gemmWorker, b area, at addresses, r0 int, rows []x86.Found, want bool) error {
	most := s.kernel.odd.Tile.Rows
	return s.stretches(w, b, rows, func(apart []bool, c0, c1 int) error {
		return eachRun(apart, func(from, to int, is bool) error {
			for r := from; r < to && is == want; r += most {
				height := min(most, to-r)
				s.placeFinish(w, b.batch0, true)
				s.placeTile(w, b, at, r0, r0+r, height, c0)
				w.args.SetK(0)
				w.args.Continue = 1
				s.kernel.odd.run(&w.args, 1, height, c1-c0)
			}
			return nil
		})
	})
}

// stretches calls f for each stretch of columns c0 to c1 of a block whose panels are
// alike, with whether each row goes apart there.
func (s *gemmStep) stretches(w *gemmWorker, b area, rows []x86.Found, f func(apart []bool, c0, c1 int) error) error {
	vectors := s.tiles.Tile.Vectors
	cols := min(b.col1*s.width, s.cols) - b.col0*s.width
	panel := func(i int) (found x86.Found) { // of the tile's width
		for _, f := range w.panels[i*vectors:][:vectors] {
			found |= f
		}
		return found
	}
	apart := make([]bool, len(rows))
	for first, n := 0, b.col1-b.col0; first < n; {
		found, end := panel(first), first+1
		for end < n && panel(end) == found {
			end++
		}
		for i, row := range rows {
			apart[i] = row.Apart(found)
		}
		if err := f(apart, first*s.width, min(end*s.width, cols)); err != nil {
			return err
		}
		first = end
	}
	return nil
}

// apartAtOnce is apart where sums are finished, or results, at once.
func (s *gemmStep) apartAtOnce(w *gemmWorker, b area, at addresses, r0, k0, k1 int, rows []x86.Found) error {
	a, parts := w.args.A, w.args.B
	return s.stretches(w, b, rows, func(apart []bool, c0, c1 int) error {
		return eachRun(apart, func(from, to int, is bool) error {
			if is {
				return s.asF32(w, b, at, r0, r0+from, r0+to, c0, c1)
			}
			s.atParts(w, k0, k1)
			w.args.Continue, w.args.LDA = uintptr(s.kBlocks-1), uintptr(4*s.strideA)
			w.args.A, w.args.B = unsafe.Add(a, 4*from*s.strideA), unsafe.Add(parts, c0/s.width*int(w.args.PanelB))
			s.placeFinish(w, b.batch0, true)
			s.placeTile(w, b, at, r0, r0+from, to-from, c0)
			s.tiles.run(&w.args, 1, to-from, c1-c0)
			return nil
		})
	})
}

// eachRun calls f for each stretch of what is the same.
func eachRun(all []bool, f func(from, to int, is bool) error) error {
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && all[to] == all[from] {
			to++
		}
		if err := f(from, to, all[from]); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// eachTile calls f for stretches of at most so many that hold all which are true, and
// begin and end with one.
func eachTile(all []bool, most int, f func(from, to int) error) error {
	for from := 0; from < len(all); from++ {
		if !all[from] {
			continue
		}
		to := min(from+most, len(all))
		for !all[to-1] {
			to--
		}
		if err := f(from, to); err != nil {
			return err
		}
		from = to - 1
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
		if s.finish() != nil {
			g.C = unsafe.Add(g.C, 4*col)
		}
	}
	s.placeBeside(w, &at, row, first, true)
	g.Finish.Row, g.Finish.Col = uintptr(row), uintptr(first)
}

// asF32 computes rows from to to of the row panel that begins at panel, and columns c0
// to c1 of a block, over all k, and finishes them.
func (s *gemmStep) asF32(w *gemmWorker, b area, at addresses, panel, from, to, c0, c1 int) error {
	most := s.kernel.odd.Tile.Rows
	for kb := range s.kBlocks { // outside: B may be packed for each
		for r := from; r < to; r += most {
			if err := s.tileAsF32(w, b, at, kb, panel, r, min(r+most, to), c0, c1, kb == s.kBlocks-1); err != nil {
				return err
			}
		}
	}
	return nil
}

// packWhole packs a block of B as f32, if the one before was another.
func (s *gemmStep) packWhole(w *gemmWorker, b area, y unsafe.Pointer, kb int) error {
	if w.wholeK == kb+1 {
		return nil
	}
	w.wholeK = kb + 1
	return s.packCols(w.packY, b.batch0, y, kb, b.col0*s.width, min(b.col1*s.width, s.cols), w.b, s.slotBytes())
}

// tileAsF32 multiplies rows of one tile by a block of k of some columns.
func (s *gemmStep) tileAsF32(w *gemmWorker, b area, at addresses, kb, panel, from, to, c0, c1 int, finish bool) error {
	if err := s.packWhole(w, b, at.y, kb); err != nil {
		return err
	}
	k0, k1 := s.kStart(kb), s.kStart(kb+1)
	first, end := s.values(k0, k1)
	rows, pitch, err := s.rowsOfX(w, at.x, b.batch0, from, to, first, end)
	if err != nil {
		return err
	}
	s.placeFinish(w, b.batch0, finish)
	s.placeTile(w, b, at, panel, from, to-from, c0)
	g, vector := &w.args, 4*(k1-k0)*s.lanes
	g.LDB, g.VectorB, g.PanelB = 4*x86.PackedCols, uintptr(vector), uintptr(vector*s.tiles.Tile.Vectors)
	g.SetK(end - first)
	g.Continue = uintptr(kb)
	g.A, g.LDA, g.B = rows, uintptr(pitch), unsafe.Add(w.b, c0/s.lanes*vector)
	s.kernel.odd.run(g, 1, to-from, c1-c0)
	return nil
}
