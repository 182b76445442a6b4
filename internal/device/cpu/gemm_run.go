package cpu

import (
	"sync/atomic"
	"unsafe"
	"weak"

	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/template"
)

// gemmStep is a product with the sizes and the memory of one run.
type gemmStep struct {
	gemmPlan
	kernel *gemmKernel
	tiles  *tileSet
	env    ir.Env
	ptrs   []unsafe.Pointer
	status []int64

	packedB  *jit.Memory // constant B, and for the next run; else
	lastB    weak.Pointer[jit.Memory]
	foundB   []x86.Found   // where it is split: see foundOf
	pairB    int           // where it is for GemmPairs: bytes of a panel; else 0
	unpaired *atomic.Int64 // where it may be so in a later run: rows multiplied before
	fromB    []uint64      // numbers of the buffers that it was packed from, or is once they stay
	commonB  *jit.Memory   // B that several products of the run have: packedB, but of the one that packs it
	places   *places       // of a Y that is packed by tables
	linear   bool          // tile kernels do what the epilogue does, to results where they lie
	directB  bool          // B is read where it lies, or each task packs what it needs
	copyX    bool          // rows of X, or those packed, are copied: apart in the cache, or widened; columns, see spreads
	partX    bool          // rows of X, used in place or copied, end with a part of a step

	// Strides in elements, of operands used in place.
	rowX, colX, rowY, colY, rowOut int
	sizeX, sizeY                   int     // bytes of their elements
	strideA                        int     // of packed rows of X, in lanes
	strideX                        int     // of rows of X that are packed to be split
	strideC                        int     // of unfinished sums
	tileC                          bool    // these are those of one tile, finished at once
	rowBeside                      int     // of what the epilogue reads
	finishLater                    uintptr // for GemmFinish.Later

	workers []gemmWorker
	left    atomic.Int32 // tasks that are not done
}

// gemmWorker is what one worker needs for itself.
type gemmWorker struct {
	args                 x86.GemmArgs
	a, b, c              unsafe.Pointer // packed rows of X, packed panels of Y or a block of it by rows, sums
	narrow               unsafe.Pointer // packed rows of X that are copied to a, or split; of what is split, scratch memory
	parts                unsafe.Pointer // of B
	vectors              []uintptr      // where those of B are, if by places
	rows, panels         []x86.Found    // what numbers of a block are, where operands are split
	wholeK               int            // one more than the block of k that b holds as f32, if any
	later                bool           // some rows of the block are for apartLater
	packX, packY, finish *partCall
	packed               packedPart
	_                    [64]byte // no false sharing
}

// Do computes one task: for each block of columns, block of rows and block of
// k, the row panels.
func (s *gemmStep) Do(worker, task int) error {
	w, t := &s.workers[worker], s.area(task)
	defer s.done()
	blockRows := t.row1 - t.row0
	if s.inBlocks() {
		blockRows = s.blockRows
	}
	for batch := t.batch0; batch < t.batch1; batch++ {
		for col := t.col0; col < t.col1; col += s.blockPanels {
			for row := t.row0; row < t.row1; row += blockRows {
				b := area{batch, batch + 1, row, min(row+blockRows, t.row1), col, min(col+s.blockPanels, t.col1)}
				if err := s.block(w, t, b); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// inBlocks tells that rows go in blocks: their sums lie aside, what their numbers are is
// noted, or results are read again for the next block of k, and of all rows the second
// cache would not hold them. What is packed for this step alone would be read again for
// each block from further away than that saves.
func (s *gemmStep) inBlocks() bool {
	if s.splits() || s.kBlocks == 1 {
		return s.splits()
	}
	return s.finish() != nil || !s.packsB() && !s.tiles.Format.AMX()
}

// block computes the results of one block of a task over all k.
func (s *gemmStep) block(w *gemmWorker, t, b area) error {
	at, err := s.bases(b.batch0)
	if err != nil {
		return err
	}
	if s.tiles.past() {
		return s.blockPast(w, t, b, &at)
	}
	col0, col1 := b.col0*s.width, min(b.col1*s.width, s.cols)
	clear(w.rows)
	clear(w.panels)
	w.wholeK, w.later = 0, false
	for kb := range s.kBlocks {
		k0, k1 := s.kStart(kb), s.kStart(kb+1)
		var panels unsafe.Pointer
		if s.splits() {
			panels, err = s.placeParts(w, t, b, at.y, kb)
		} else {
			panels, err = s.placeB(w, t, b, at.y, kb)
			s.setK(w, k0, k1)
		}
		if err != nil {
			return err
		}
		w.args.Continue = uintptr(kb)
		last := kb == s.kBlocks-1
		s.placeFinish(w, b.batch0, last)
		if s.tiles.fetching() {
			s.placeFetch(w, t, b, panels, kb)
		}
		for i, n := b.row0, 0; i < b.row1; i += n {
			r0, r1 := s.row(i), s.row(i+1)
			n = s.together(i, b, k1-k0)
			var found []x86.Found
			if s.splits() {
				found = w.rows[(i-b.row0)*s.tiles.Tile.Rows:][:r1-r0]
				err = s.splitA(w, at.x, b, i, k0, k1, found)
				if s.packedB != nil && b.row1-b.row0 == 1 {
					w.args.FetchParts(s.tiles.Format, uintptr(panels)) // no row panel follows here, and they are far away if B is read but once
				}
			} else if s.keepsRows() {
				err = s.placeKept(w, t, b, i, kb)
			} else {
				err = s.placeA(w, at.x, b.batch0, r0, s.row(i+n), k0, k1)
			}
			if err != nil {
				return err
			}
			w.args.Follow = 0
			if s.inPlaceX() && i+n < b.row1 {
				w.args.Follow = 1
			}
			s.placeC(w, b, at.out, r0, r1-r0, col0)
			s.placeBeside(w, &at, r0, col0, last)
			if !last && s.finish() != nil {
				w.args.LDAhead = 0 // results come later
			}
			w.args.B, w.args.Finish.Row, w.args.Finish.Col = panels, uintptr(r0), uintptr(col0)
			if last && someApart(found, w.panels) {
				if err := s.apart(w, b, at, i, k0, k1, found); err != nil {
					return err
				}
			} else {
				s.tiles.run(&w.args, n, r1-r0, col1-col0)
			}
			if last && s.finish() != nil && !s.handsOver() {
				if err := s.finishRows(w, b.batch0, r0, r1, col0, col1); err != nil {
					return err
				}
			}
		}
	}
	if w.later {
		return s.apartLater(w, b, at)
	}
	return nil
}

// fetchAhead is how far one row panel fetches ahead: a whole panel of B is 0.9 as fast.
const fetchAhead = 2 << 10

// placeFetch has tiles fetch what follows of B: one row panel what it comes to soon, several the
// next block, a part each. That may have more steps or fewer than this one.
func (s *gemmStep) placeFetch(w *gemmWorker, t, b area, panels unsafe.Pointer, kb int) {
	g, rows := &w.args, b.row1-b.row0
	at := func(kb, panel int) int { return s.packed(kb, panel*s.width) }
	here, end := at(kb, b.col0), at(kb, b.col1)
	var next, behind int
	switch {
	case rows == 1:
		next, behind = here+fetchAhead, end+fetchAhead
	case kb+1 < s.kBlocks:
		next, behind = at(kb+1, b.col0), at(kb+1, b.col1)
	case b.col1 < t.col1:
		next, behind = at(0, b.col1), at(0, min(b.col1+s.blockPanels, t.col1))
	default: // none of this task's
		g.Fetch, g.FetchStep = uintptr(panels), 0
		return
	}
	lines := (end - here) / x86.PackedBytes * rows // that are multiplied meanwhile
	g.Fetch, g.FetchStep = uintptr(panels)+uintptr(next-here), uintptr(min(x86.PackedBytes, ceilDiv(behind-next, lines)))
}

// setK says which steps of k follow.
func (s *gemmStep) setK(w *gemmWorker, k0, k1 int) {
	part := 0
	if s.partX && k1 == s.steps {
		k1--
		part = s.k % s.group * s.sizeX
	}
	w.args.SetK(k1 - k0)
	w.args.SetPart(part)
}

// callSteps is the vectors of results times steps of k that a call of the tile
// kernels may compute, as the collector waits for its end: about 50 microseconds.
const callSteps = 180_000

// together is the number of row panels from i on that one call computes.
func (s *gemmStep) together(i int, b area, steps int) int {
	k := s.kernel
	turned := k.packX != nil && s.tiles.byColumns()
	if k.packX != nil && !turned || s.copyX || s.splits() || s.finish() != nil && !s.handsOver() {
		return 1 // each is prepared or finished for itself
	}
	height := s.row(i+1) - s.row(i)
	most := s.panelsACall(height, s.tiles.Tile.Vectors*(b.col1-b.col0), steps)
	if turned {
		most = min(most, max(1, maxTurned/height))
	}
	return min(most, s.sameHeight(i, b.row1))
}

// panelsACall is the number of row panels of a height and so many vectors that one call
// computes at most.
func (p *gemmPlan) panelsACall(height, vectors, steps int) int {
	return max(1, p.work(callSteps)/(height*vectors*max(steps, 1)))
}

// inPlaceX tells that tile kernels read the rows of X where they lie.
func (s *gemmStep) inPlaceX() bool { return s.kernel.packX == nil && !s.copyX }

// addresses are those of one batch's matrices, of what is used in place.
type addresses struct {
	x, y, out, beside unsafe.Pointer
	bias, rowBias     unsafe.Pointer // that tile kernels add: of columns, of rows
	ldRowBias         int            // bytes from row to row
	scale             float32        // of sums, where tile kernels add what lies beside
}

func (s *gemmStep) bases(batch int) (a addresses, err error) {
	k := s.kernel
	if (k.packX == nil || k.turnX != 0 && s.splits()) && s.k > 0 { // nothing is read of an empty matrix, which may lie nowhere
		a.x, err = s.base(k.x, batch)
	}
	if err == nil && s.k > 0 && (s.directB || k.columns != nil || k.transpose != 0 || k.yRows && s.splits()) {
		a.y, err = s.base(k.y, batch)
	}
	if err == nil && k.plainOut {
		a.out, err = s.base(k.out, batch)
	}
	if err == nil && k.hasBeside {
		a.beside, err = s.base(k.beside, batch)
	}
	if err == nil && s.linear {
		err = s.linearOperands(&a, batch)
	}
	return a, err
}

// base is the address of element (0, 0) of a matrix.
func (s *gemmStep) base(p template.Plain, batch int) (unsafe.Pointer, error) {
	at, err := evalIndex(p.Base, s.env, batch)
	return unsafe.Add(s.ptrs[p.Param], s.kernel.work.Params[p.Param].DType.Size()*at), err
}

// placeB sets the strides of a block of B in a task, packed where that is needed,
// and returns where it begins.
func (s *gemmStep) placeB(w *gemmWorker, t, b area, y unsafe.Pointer, kb int) (unsafe.Pointer, error) {
	col0, col1 := b.col0*s.width, min(b.col1*s.width, s.cols)
	if s.k == 0 {
		return nil, nil // nothing is read
	}
	if s.tiles.byPlaces() {
		return s.placesOfB(w, y, s.kStart(kb), col0, b.col1-b.col0), nil
	}
	if s.directB {
		w.args.LDB, w.args.VectorB, w.args.PanelB = uintptr(s.word*s.rowY), uintptr(s.word*s.lanes), uintptr(s.word*s.width)
		return unsafe.Add(y, s.word*(s.kStart(kb)*s.rowY+col0)), nil
	}
	ks := s.kStart(kb+1) - s.kStart(kb)
	w.args.LDB, w.args.VectorB, w.args.PanelB = x86.PackedBytes, uintptr(s.word*ks*s.lanes), uintptr(s.word*ks*s.width)
	if s.lanes < s.panelCols() { // two vectors to a panel, never more to a tile
		w.args.VectorB = uintptr(s.word * s.lanes)
	}
	if s.pairB > 0 {
		w.args.PanelB = uintptr(s.pairB)
		return s.pairPanel(b.batch0, kb, b.col0), nil
	}
	if s.packedB != nil {
		return unsafe.Add(s.packedB.Pointer(), s.packedBatch(b.batch0)+s.packed(kb, col0)), nil
	}
	if s.forAll(b) {
		at := s.packed(kb, col0)
		to := unsafe.Add(s.commonB.Pointer(), at)
		return to, s.packCols(w.packY, b.batch0, y, kb, col0, col1, to, s.commonB.Len()-at)
	}
	i, missing := s.slot(w, t, b, kb)
	to := unsafe.Add(w.b, i*s.slotBytes())
	if !missing {
		return to, nil
	}
	return to, s.packCols(w.packY, b.batch0, y, kb, col0, col1, to, s.slotBytes())
}

// A tile of few steps is done before the lines of its results have come from beyond the
// second cache: those of one so many tiles on are fetched. At the end of a row panel these
// are the first ones of rows that are written already.
const (
	aheadSteps   = 20
	aheadTiles   = 3
	aheadResults = 1 << 18
)

// placeC says where the sums of row panels of a height go, and the results after
// them.
func (s *gemmStep) placeC(w *gemmWorker, b area, out unsafe.Pointer, row, height, col int) {
	g := &w.args
	if s.kernel.plainOut {
		g.C, g.LDC = unsafe.Add(out, s.word*(row*s.rowOut+col)), uintptr(s.word*s.rowOut)
		g.Ahead, g.LDAhead = uintptr(g.C), g.LDC
		switch {
		case s.tiles.Format.AMX() && s.rowOut%s.lanes == 0:
			g.LDAhead = 0 // to fetch whole lines takes longer than to wait for them behind the next tile
		case !s.tiles.Format.AMX() && s.steps < aheadSteps && s.rows*s.cols > aheadResults:
			g.Ahead += uintptr(aheadTiles * s.word * s.width)
		}
	}
	if s.finish() != nil { // else it is plain
		above := 0
		if s.kBlocks > 1 {
			above = row - s.row(b.row0)
		}
		g.C, g.LDC = unsafe.Add(w.c, s.word*above*s.strideC), uintptr(s.word*s.strideC)
	}
	g.StepC, g.RowsC = uintptr(s.word*s.width), uintptr(height)*g.LDC
	if s.tileC {
		g.StepC, g.RowsC = 0, 0
	}
}

// placeBeside has what the epilogue reads fetched during the last block of k, and added
// there by tile kernels that do that.
func (s *gemmStep) placeBeside(w *gemmWorker, at *addresses, row, col int, last bool) {
	g := &w.args
	g.Beside, g.LDBeside, g.Bias, g.RowBias, g.AddBeside, g.ReLU = 0, 0, 0, 0, 0, 0
	if !last {
		return
	}
	if at.beside != nil {
		g.Beside, g.LDBeside = uintptr(at.beside)+uintptr(s.word*(row*s.rowBeside+col)), uintptr(s.word*s.rowBeside)
		if s.linear && s.kernel.linear.Beside {
			g.AddBeside, g.Scale = 1, at.scale
		}
	}
	if at.bias != nil {
		g.Bias = uintptr(at.bias) + uintptr(s.word*col)
	}
	if at.rowBias != nil {
		g.RowBias, g.LDRowBias = uintptr(at.rowBias)+uintptr(row*at.ldRowBias), uintptr(at.ldRowBias)
	}
	if s.linear && s.kernel.linear.ReLU {
		g.ReLU = 1
	}
}

// placeFinish has the tile kernels run the epilogue, or not yet.
func (s *gemmStep) placeFinish(w *gemmWorker, batch int, last bool) {
	f := &w.args.Finish
	f.Entry, f.Later = 0, 0
	if last && s.handsOver() {
		f.Entry = w.finish.entry
		f.Later = s.finishLater
		w.finish.set(template.AtBatch, batch)
		w.finish.set(template.Stride, s.strideC)
	}
}

// finishRows runs the epilogue of finished sums.
func (s *gemmStep) finishRows(w *gemmWorker, batch, r0, r1, col0, col1 int) error {
	c := w.finish
	c.set(template.AtBatch, batch)
	c.set(template.FirstRow, r0)
	c.set(template.FirstCol, col0)
	c.set(template.EndCol, col1)
	c.set(template.Stride, s.strideC)
	c.panel(w.args.C, s.word*(r1-r0)*s.strideC)
	return c.run(r0, r1)
}
