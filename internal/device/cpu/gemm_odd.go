package cpu

import "unsafe"

// This file has what cannot be split in products that are: see gemm_split.go.

// oddBlock is a block with odd numbers, for the last block of k of a row panel: rows
// and columns without any go by AMX, others as f32.
func (s *gemmStep) oddBlock(w *gemmWorker, t, b area, at addresses, r0, r1, k0, k1 int, odd []uint32) error {
	byTiles := w.args
	defer func() { w.args = byTiles }()     // goes on so
	panels := make([]uint32, b.col1-b.col0) // of the tile's width
	for i := range panels {
		for v := range s.tiles.Tile.Vectors {
			panels[i] |= w.oddPanels[i*s.tiles.Tile.Vectors+v]
		}
	}
	if s.kBlocks > 1 && s.kernel.handsOver() {
		return s.oddAside(w, t, b, at, r0, r1, odd[:r1-r0], panels)
	}
	return s.oddCells(w, t, b, at, r0, r1, k0, k1, odd[:r1-r0], panels)
}

// oddAside is oddBlock where unfinished sums lie aside: each way computes whole tiles,
// with rows between those it is for, and only the rows of each are finished by it.
func (s *gemmStep) oddAside(w *gemmWorker, t, b area, at addresses, r0, r1 int, odd, panels []uint32) error {
	cols := min(b.col1*s.width, s.cols) - b.col0*s.width
	w.args.Finish.Entry = 0
	s.tiles.run(&w.args, 1, r1-r0, cols)
	// finish hands over the rows that are odd, or the others, of some columns.
	finish := func(rows []uint32, want bool, c0, c1 int) error {
		return eachRun(rows, func(from, to int, is bool) error {
			for r := from; r < to && is == want; r += s.kernel.odd.Tile.Rows {
				height := min(s.kernel.odd.Tile.Rows, to-r)
				s.placeFinish(w, b.batch0, true)
				s.placeTile(w, b, at, r0, r0+r, height, c0)
				w.args.SetK(0)
				w.args.Continue = 1
				s.kernel.odd.run(&w.args, 1, height, c1-c0)
			}
			return nil
		})
	}
	all := make([]uint32, len(odd)) // rows
	// each calls f with the rows that are odd in each stretch of panels.
	each := func(f func(rows []uint32, c0, c1 int) error) error {
		return eachRun(panels, func(first, end int, oddCols bool) error {
			rows := odd
			if oddCols {
				rows = all
			}
			return f(rows, first*s.width, min(end*s.width, cols))
		})
	}
	for i := range all {
		all[i] = 1
	}
	if err := each(func(rows []uint32, c0, c1 int) error { return finish(rows, false, c0, c1) }); err != nil {
		return err
	}
	for kb := range s.kBlocks {
		panels, err := s.placeB(w, t, b, at.y, kb)
		if err != nil {
			return err
		}
		s.placeFinish(w, b.batch0, false)
		if err := each(func(rows []uint32, c0, c1 int) error {
			return eachTile(rows, s.kernel.odd.Tile.Rows, func(from, to int) error {
				return s.tileAsF32(w, b, at, panels, kb, r0, r0+from, r0+to, c0, c1)
			})
		}); err != nil {
			return err
		}
	}
	return each(func(rows []uint32, c0, c1 int) error { return finish(rows, true, c0, c1) })
}

// eachTile calls f for stretches of at most so many words that hold all which are not
// 0, and begin and end with one.
func eachTile(words []uint32, most int, f func(from, to int) error) error {
	for from := 0; from < len(words); from++ {
		if words[from] == 0 {
			continue
		}
		to := min(from+most, len(words))
		for words[to-1] == 0 {
			to--
		}
		if err := f(from, to); err != nil {
			return err
		}
		from = to - 1
	}
	return nil
}

// oddCells is oddBlock where sums are finished, or results, at once.
func (s *gemmStep) oddCells(w *gemmWorker, t, b area, at addresses, r0, r1, k0, k1 int, odd, panels []uint32) error {
	cols := min(b.col1*s.width, s.cols) - b.col0*s.width
	a, parts := w.args.A, w.args.B
	return eachRun(odd, func(from, to int, oddRows bool) error {
		if oddRows {
			return s.asF32(w, t, b, at, r0, r0+from, r0+to, 0, cols)
		}
		return eachRun(panels, func(first, end int, oddCols bool) error {
			c0, c1 := first*s.width, min(end*s.width, cols)
			if oddCols {
				return s.asF32(w, t, b, at, r0, r0+from, r0+to, c0, c1)
			}
			s.atParts(w, k0, k1)
			w.args.Continue, w.args.LDA = uintptr(s.kBlocks-1), uintptr(4*s.strideA)
			w.args.A, w.args.B = unsafe.Add(a, 4*from*s.strideA), unsafe.Add(parts, first*int(w.args.PanelB))
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
		panels, err := s.placeB(w, t, b, at.y, kb)
		if err != nil {
			return err
		}
		s.placeFinish(w, b.batch0, kb == s.kBlocks-1)
		most := s.kernel.odd.Tile.Rows
		for r := from; r < to; r += most {
			if err := s.tileAsF32(w, b, at, panels, kb, panel, r, min(r+most, to), c0, c1); err != nil {
				return err
			}
		}
	}
	return nil
}

// tileAsF32 is asF32 for rows of one tile and a block of k, of which placeB gave the
// panels.
func (s *gemmStep) tileAsF32(w *gemmWorker, b area, at addresses, panels unsafe.Pointer, kb, panel, from, to, c0, c1 int) error {
	first, end := s.values(s.kStart(kb), s.kStart(kb+1))
	rows, pitch, err := s.rowsOfX(w, at.x, b.batch0, from, to, first, end)
	if err != nil {
		return err
	}
	s.placeTile(w, b, at, panel, from, to-from, c0)
	w.args.SetK(end - first)
	w.args.Continue = uintptr(kb)
	w.args.A, w.args.LDA = rows, uintptr(pitch)
	w.args.B = unsafe.Add(panels, c0/s.width*int(w.args.PanelB))
	s.kernel.odd.run(&w.args, 1, to-from, c1-c0)
	return nil
}
