package cpu

import "github.com/sinterml/sinter/internal/emit/x86"

// A right operand that changes from run to run is packed by whoever needs it.
// Each worker keeps what it has packed until the step ends. Tasks of the same
// columns follow one another, and a worker is given tasks side by side.

// packedBytes is what a worker keeps at most; where that is not enough for a
// task's columns, it packs each block anew.
const packedBytes = 4 << 20

// packedPart is what a worker has packed of B: blocks of columns and of k of one
// task's part of the columns.
type packedPart struct {
	batch, col int
	have       []bool      // by block; nil: nothing is kept
	found      []x86.Found // of the panels of each, where they are split: see gemmWorker
}

// keepable tells whether that is enough for a task's columns.
func (p *gemmPlan) keepable() bool {
	return p.size*p.steps*ceilDiv(p.panels, p.cParts)*p.width <= packedBytes
}

// slots is the blocks of columns and of k in a task's part.
func (p *gemmPlan) slots() int {
	return ceilDiv(ceilDiv(p.panels, p.cParts), p.blockPanels) * p.kBlocks
}

// slotBytes is the room for one of them.
func (p *gemmPlan) slotBytes() int { return p.word * p.blockPanels * p.width * p.maxK() }

// keptBytes is the room for one of them as it is kept, which may be split.
func (s *gemmStep) keptBytes() int {
	if !s.splits() {
		return s.slotBytes()
	}
	values := ceilDiv(s.maxK(), s.chunk) * s.chunk
	return s.blockPanels * s.tiles.Tile.Vectors * s.tiles.Format.PanelBytes(values)
}

// keepsPacked tells whether a worker may need a block again, and has room for
// all of a task's.
func (s *gemmStep) keepsPacked() bool {
	again := s.rowParts > 1 || s.batch > s.packedBatches() || s.inBlocks() && s.rowPanels > s.blockRows
	return again && s.slots()*s.keptBytes() <= packedBytes
}

// slot is which block of B of a task's part one is among those kept, and whether it
// has to be packed first.
func (s *gemmStep) slot(w *gemmWorker, part, b area, kb int) (i int, missing bool) {
	have := &w.packed
	if have.have == nil {
		return 0, true
	}
	batch := b.batch0 % s.packedBatches()
	if have.batch != batch || have.col != part.col0 {
		have.batch, have.col = batch, part.col0
		clear(have.have)
	}
	i = (b.col0-part.col0)/s.blockPanels*s.kBlocks + kb
	missing, have.have[i] = !have.have[i], true
	return i, missing
}

// done notes that a task is; behind the last one the step is as new.
func (s *gemmStep) done() {
	if s.left.Add(-1) > 0 {
		return
	}
	s.left.Store(int32(s.tasks()))
	if s.unpaired != nil {
		s.unpaired.Add(s.rowsOfEach())
	}
	for i := range s.workers {
		clear(s.workers[i].packed.have)
	}
}
