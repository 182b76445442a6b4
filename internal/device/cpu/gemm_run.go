package cpu

import (
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/template"
)

// gemmStep is a product with the sizes and the memory of one run.
type gemmStep struct {
	gemmPlan
	kernel *gemmKernel
	env    ir.Env
	ptrs   []unsafe.Pointer
	status []int64

	packedB      unsafe.Pointer // nil: each task packs what it needs
	rowX, rowOut int            // strides in elements, of operands used in place
	copyX        bool           // rows of X are copied to where they do not collide in the cache
	strideA      int            // elements from row to row of a packed A
	strideC      int            // of unfinished sums
	workers      []gemmWorker
}

// gemmWorker is what one worker needs for itself.
type gemmWorker struct {
	args                 GemmArgs
	a, b, c              unsafe.Pointer // panels
	packX, packY, finish *partCall
	_                    [64]byte // no false sharing
}

// GemmArgs is what tile kernels take.
type GemmArgs = x86.GemmArgs

func (s *gemmStep) flags() []int64 { return s.status }

func (s *gemmStep) Tasks() int { return s.tasks() }

// bind fixes sizes, pointers and the way the work is cut.
func (k *gemmKernel) bind(r *binding) (jit.Step, error) {
	g := k.work
	n, err := r.sizeOf(g.BatchSize, g.Rows, g.Cols, g.K)
	if err != nil {
		return nil, err
	}
	s := &gemmStep{kernel: k, env: r.env, ptrs: r.ptrs, status: r.status}
	size := gemmSize{n[0], n[1], n[2], n[3]}
	plan := planGemm(size, k.tiles.lanes, k.tiles.Tile, r.workers, false)
	if plan.tasks() == 0 {
		s.gemmPlan = plan
		return s, nil
	}
	if s.packedB, err = k.packedY(r, &plan); err != nil {
		return nil, err
	}
	if s.packedB == nil {
		plan = planGemm(size, k.tiles.lanes, k.tiles.Tile, r.workers, true)
	}
	s.gemmPlan = plan
	if k.packX == nil {
		if s.rowX, err = evalIndex(k.x.Row, r.env, 0); err != nil {
			return nil, err
		}
		s.copyX = collides(4*s.rowX, k.tiles.Tile.Rows) && s.cols > 2*s.width
	}
	if k.plainOut {
		if s.rowOut, err = evalIndex(k.out.Row, r.env, 0); err != nil {
			return nil, err
		}
	}
	return s, s.memory(r)
}

// Rows a multiple of pageBytes apart compete for the same few lines of the
// first cache: it is indexed by the lower 12 bits of an address.
const (
	pageBytes = 4096
	ways      = 4 // half of the least associative first caches
)

// collides tells whether rows so many bytes apart push each other out of the
// first cache.
func collides(stride, rows int) bool {
	if stride == 0 {
		return false
	}
	low := stride & -stride // rows meet again after pageBytes/low of them
	return rows*min(low, pageBytes) > ways*pageBytes
}

// memory gives each worker its panels.
func (s *gemmStep) memory(r *binding) error {
	k, tile := s.kernel, s.kernel.tiles.Tile
	pad := s.lanes // keeps rows of the panels from colliding
	s.strideA, s.strideC = s.maxK()+pad, s.blockPanels*s.width+pad
	size, at := 0, [6]int{}
	room := func(i, bytes int) {
		at[i] = size
		size += (bytes + 63) &^ 63
	}
	if k.packX != nil || s.copyX {
		room(0, 4*tile.Rows*s.strideA)
	}
	if s.packedB == nil {
		room(1, 4*s.blockPanels*s.width*s.maxK())
		room(3, k.packY.spill)
	}
	if k.finish != nil {
		rows := tile.Rows
		if s.kBlocks > 1 {
			rows *= s.blockRows
		}
		room(2, 4*rows*s.strideC)
		room(4, k.finish.spill)
	}
	if k.packX != nil {
		room(5, k.packX.spill)
	}
	own, err := r.scratch(max(size, 64))
	if err != nil {
		return err
	}
	s.workers = make([]gemmWorker, r.workers)
	for i := range s.workers {
		w := &s.workers[i]
		place := func(j int) unsafe.Pointer { return unsafe.Add(own[i], at[j]) }
		w.a, w.b, w.c = place(0), place(1), place(2)
		for _, p := range []struct {
			part *part
			call **partCall
			used bool
			area int
		}{{k.packY, &w.packY, s.packedB == nil, 3}, {k.finish, &w.finish, k.finish != nil, 4}, {k.packX, &w.packX, k.packX != nil, 5}} {
			if !p.used {
				continue
			}
			if *p.call, err = p.part.call(r, place(p.area)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Do computes one task: for each block of columns, block of rows and block of
// k, the row panels.
func (s *gemmStep) Do(worker, task int) error {
	w, t := &s.workers[worker], s.area(task)
	blockRows := t.row1 - t.row0
	if s.kernel.finish != nil && s.kBlocks > 1 {
		blockRows = s.blockRows
	}
	for batch := t.batch0; batch < t.batch1; batch++ {
		for col := t.col0; col < t.col1; col += s.blockPanels {
			for row := t.row0; row < t.row1; row += blockRows {
				b := area{batch, batch + 1, row, min(row+blockRows, t.row1), col, min(col+s.blockPanels, t.col1)}
				if err := s.block(w, b); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// block computes the results of one block over all k.
func (s *gemmStep) block(w *gemmWorker, b area) error {
	x, out, err := s.bases(b.batch0)
	if err != nil {
		return err
	}
	k := s.kernel
	col0, col1 := b.col0*s.width, min(b.col1*s.width, s.cols)
	for kb := range s.kBlocks {
		k0, k1 := s.kStart(kb), s.kStart(kb+1)
		packed, err := s.panelsOf(w, b, kb)
		if err != nil {
			return err
		}
		w.args.SetK(k1 - k0)
		w.args.Continue = uintptr(kb)
		for i := b.row0; i < b.row1; i++ {
			r0, r1 := s.row(i), s.row(i+1)
			if err := s.rowsOfX(w, x, b.batch0, r0, r1, k0, k1); err != nil {
				return err
			}
			w.args.B = packed
			s.placeC(w, b, out, r0, col0)
			k.tiles.run(&w.args, r1-r0, col1-col0)
			if k.finish != nil && kb == s.kBlocks-1 {
				if err := s.finishRows(w, b.batch0, r0, r1, col0, col1); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// placeC says where the sums of a row panel go, and the results after them.
func (s *gemmStep) placeC(w *gemmWorker, b area, out unsafe.Pointer, row, col int) {
	if s.kernel.plainOut {
		w.args.Ahead, w.args.LDAhead = unsafe.Add(out, 4*(row*s.rowOut+col)), uintptr(4*s.rowOut)
	}
	if s.kernel.finish == nil {
		w.args.C, w.args.LDC = w.args.Ahead, w.args.LDAhead
		return
	}
	above := 0
	if s.kBlocks > 1 {
		above = row - s.row(b.row0)
	}
	w.args.C, w.args.LDC = unsafe.Add(w.c, 4*above*s.strideC), uintptr(4*s.strideC)
	if !s.kernel.plainOut {
		w.args.Ahead, w.args.LDAhead = w.args.C, w.args.LDC
	}
}

// bases are the addresses of X and of the results of one batch where they are
// used in place.
func (s *gemmStep) bases(batch int) (x, out unsafe.Pointer, err error) {
	k := s.kernel
	if k.packX == nil {
		at, err := evalIndex(k.x.Base, s.env, batch)
		if err != nil {
			return nil, nil, err
		}
		x = unsafe.Add(s.ptrs[k.x.Param], 4*at)
	}
	if k.plainOut {
		at, err := evalIndex(k.out.Base, s.env, batch)
		if err != nil {
			return nil, nil, err
		}
		out = unsafe.Add(s.ptrs[k.out.Param], 4*at)
	}
	return x, out, nil
}

// panelsOf is where the packed panels of a block of B lie.
func (s *gemmStep) panelsOf(w *gemmWorker, b area, kb int) (unsafe.Pointer, error) {
	if s.packedB != nil {
		return unsafe.Add(s.packedB, 4*(b.batch0*s.k*s.packedCols()+s.packed(kb, b.col0))), nil
	}
	bytes := 4 * s.blockPanels * s.width * s.maxK()
	return w.b, packPanels(w.packY, &s.gemmPlan, b.batch0, kb, b.col0, b.col1, w.b, bytes)
}

// rowsOfX points the arguments at rows of A, packed where that is needed.
func (s *gemmStep) rowsOfX(w *gemmWorker, x unsafe.Pointer, batch, r0, r1, k0, k1 int) error {
	if w.packX != nil {
		c := w.packX
		c.set(template.AtBatch, batch)
		c.set(template.FirstRow, r0)
		c.set(template.FirstK, k0)
		c.set(template.EndK, k1)
		c.set(template.Stride, s.strideA)
		c.panel(w.a, 4*s.kernel.tiles.Tile.Rows*s.strideA)
		w.args.A, w.args.LDA = w.a, uintptr(4*s.strideA)
		return c.run(r0, r1)
	}
	at := unsafe.Add(x, 4*(r0*s.rowX+k0))
	w.args.A, w.args.LDA = at, uintptr(4*s.rowX)
	if s.copyX {
		for r := range r1 - r0 {
			from := unsafe.Slice((*float32)(unsafe.Add(at, 4*r*s.rowX)), k1-k0)
			copy(unsafe.Slice((*float32)(unsafe.Add(w.a, 4*r*s.strideA)), k1-k0), from)
		}
		w.args.A, w.args.LDA = w.a, uintptr(4*s.strideA)
	}
	return nil
}

// finishRows runs the epilogue of finished sums.
func (s *gemmStep) finishRows(w *gemmWorker, batch, r0, r1, col0, col1 int) error {
	c := w.finish
	c.set(template.AtBatch, batch)
	c.set(template.FirstRow, r0)
	c.set(template.FirstCol, col0)
	c.set(template.EndCol, col1)
	c.set(template.Stride, s.strideC)
	c.panel(w.args.C, 4*(r1-r0)*s.strideC)
	return c.run(r0, r1)
}
