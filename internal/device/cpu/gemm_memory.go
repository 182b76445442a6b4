package cpu

import (
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/x86"
)

// gemmRooms says where things are in a worker's memory, in bytes from its start.
type gemmRooms struct {
	a, narrow, parts, b, c, own int // as in gemmWorker, and GemmArgs.Room
	spills                      [gemmParts]int
	slots                       int  // blocks of B that are packed, or split
	keep                        bool // these are kept for further blocks of a task
	size                        int
}

// room is size bytes of it, at a whole line, if they are used.
func (g *gemmRooms) room(used bool, size int) (at int) {
	if used {
		at = g.size
		g.size += (size + 63) &^ 63
	}
	return at
}

// Parts of a product that a worker calls.
const (
	gemmPackX = iota
	gemmPackY
	gemmFinish
	gemmParts
)

// parts are those that this run calls, nil for others.
func (s *gemmStep) parts() (all [gemmParts]*part) {
	all = [gemmParts]*part{gemmPackX: s.kernel.packX, gemmFinish: s.finish()}
	if s.packsB() {
		all[gemmPackY] = s.kernel.packY
	}
	return all
}

// packsB tells that workers pack B; of odd numbers it may be wanted as it is where it is
// split already.
func (s *gemmStep) packsB() bool { return (s.packedB == nil || s.splits()) && !s.directB }

// memory gives each worker its panels.
func (s *gemmStep) memory(r *binding) error {
	s.panelStrides()
	g := s.rooms()
	if s.tiles.Format.FinishLater(s.group*min(s.steps, s.kCut.block), s.kernel.finishOps) {
		s.finishLater = 1
	}
	s.left.Store(int32(s.tasks()))
	own, err := r.scratch(g.size + 64) // also where a part needs nothing its pointer is inside
	if err != nil {
		return err
	}
	s.workers = make([]gemmWorker, r.workers)
	for i := range s.workers {
		if err := s.equip(&s.workers[i], r, own[i], &g); err != nil {
			return err
		}
	}
	return nil
}

// panelStrides fixes those of what workers pack.
func (s *gemmStep) panelStrides() {
	pad := s.lanes // keeps rows of the panels from colliding
	s.strideC = s.blockPanels*s.width + pad
	f, steps := s.tiles.Format, min(s.steps, s.kCut.block)
	switch { // by AMX whole lines, and an odd number of them
	case s.splits():
		s.strideX, s.strideA = steps|pad, f.RowBytes(steps)/4|pad
	case f.AMX():
		s.strideA = steps | pad
	default:
		s.strideA = s.maxK()*f.StepA()/s.word + pad
	}
	if s.tileC = s.handsOver() && s.kBlocks == 1; s.tileC {
		s.strideC = s.width
	}
}

// rooms lays out the memory of a worker.
func (s *gemmStep) rooms() (g gemmRooms) {
	k, tile, steps := s.kernel, s.tiles.Tile, min(s.steps, s.kCut.block)
	rowsC := tile.Rows
	if s.kBlocks > 1 {
		rowsC *= s.blockRows
	}
	rowsA := tile.Rows
	switch {
	case k.packX != nil && s.tiles.byColumns():
		rowsA = max(rowsA, maxTurned)
	case k.turnX != 0: // by squares
		rowsA = ceilDiv(rowsA, s.lanes) * s.lanes
	}
	rowsX := s.word * rowsA * max(s.strideA, s.strideX)
	if s.splits() {
		rowsX = max(rowsX, x86.SplitScratch(steps))
	}
	g.slots, g.keep = 1, s.packedB == nil && s.keepsPacked()
	if g.keep {
		g.slots = s.slots()
	}
	whole := g.slots // blocks of B that are not split
	if s.splits() {
		whole = 1
	}
	if s.keepsRows() {
		g.a = g.room(true, s.keptPanels()*s.keptRows())
	} else {
		g.a = g.room(k.packX != nil || s.copyX || s.splits(), s.word*rowsA*s.strideA)
	}
	g.narrow = g.room(k.packX != nil && (s.copyX || k.turnX != 0) || s.splits(), rowsX)
	g.parts = g.room(s.splits() && s.packedB == nil, g.slots*s.keptBytes())
	if s.tiles.past() {
		g.b = g.room(true, s.byRowsBytes())
	} else {
		g.b = g.room(s.packsB(), whole*s.slotBytes())
	}
	g.c = g.room(s.finish() != nil, s.word*rowsC*s.strideC)
	g.own = g.room(true, s.tiles.Format.RoomBytes(tile))
	for i, p := range s.parts() {
		if p != nil {
			g.spills[i] = g.room(true, p.spill)
		}
	}
	return g
}

// equip gives a worker its memory, and the parts that it calls.
func (s *gemmStep) equip(w *gemmWorker, r *binding, own unsafe.Pointer, g *gemmRooms) (err error) {
	w.a, w.b, w.c = unsafe.Add(own, g.a), unsafe.Add(own, g.b), unsafe.Add(own, g.c)
	w.narrow = unsafe.Add(own, g.narrow)
	w.args.Room = unsafe.Add(own, g.own)
	if s.splits() {
		w.parts = unsafe.Add(own, g.parts)
		w.rows, w.panels = make([]x86.Found, min(s.rowPanels, s.blockRows)*s.tiles.Tile.Rows), make([]x86.Found, s.blockPanels*s.tiles.Tile.Vectors)
		w.packed.found = make([]x86.Found, g.slots*len(w.panels))
	}
	if s.packsB() && g.keep {
		w.packed.have = make([]bool, g.slots)
	}
	calls := [gemmParts]**partCall{gemmPackX: &w.packX, gemmPackY: &w.packY, gemmFinish: &w.finish}
	for i, p := range s.parts() {
		if p == nil {
			continue
		}
		if *calls[i], err = p.call(r, unsafe.Add(own, g.spills[i])); err != nil {
			return err
		}
	}
	if s.handsOver() {
		w.finish.behind(&w.args)
	}
	return nil
}
