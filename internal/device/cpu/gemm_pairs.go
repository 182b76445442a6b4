package cpu

import (
	"context"
	"errors"
	"sync/atomic"
	"unsafe"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/jit"
)

// Weights in bytes that do not change are multiplied by pairs where the processor has no
// VNNI: see x86.GemmPairs. They are packed as for other tiles first. If too many of them
// cannot be put into pairs, or there is no room for that, they are packed for those.

// pairsFrom is the rows that make up for putting weights into pairs, as long as a program has
// them: one that is run once for a short text does without.
const pairsFrom = 512

// A chunk takes some 0.75 of its time by pairs, and one that is there twice twice that.
const (
	pairsMore   = 8 // chunks of a panel beside those of a block of k
	pairsShared = 5 // of so many chunks one may be there twice
)

// mayPair tells whether the weights of a product may be put into pairs.
func (k *gemmKernel) mayPair(d *Device) bool {
	t := k.tiles
	return t.format == x86.GemmWords && x86.HasGemm(t.isa, x86.GemmPairs, &d.has) && k.constY != nil && !k.constY.changes
}

// worthPairs tells whether they had better be, for so many terms: these are filled up to
// whole chunks.
func worthPairs(terms int) bool {
	whole := func(of int) int { return ceilDiv(terms, of) * of }
	return terms > 0 && 3*whole(x86.PairsChunk) <= 4*whole(x86.GemmWords.Group())
}

// pairsDue tells whether weights by which so many rows were multiplied had better be in pairs
// for those of this run. Where memory is limited they are at once, as later there would be the
// other form as well.
func (s *gemmStep) pairsDue(r *binding, rows *atomic.Int64) bool {
	d := r.module.device
	return d.limit.Load() > 0 || rows.Load()+s.rowsOfEach() >= int64(d.pairsFrom)
}

// rowsOfEach is the rows that are multiplied by each of the matrices Y.
func (s *gemmStep) rowsOfEach() int64 { return int64(s.rows * s.batch / s.packedBatches()) }

// pairPanel is where a panel begins in weights that are.
func (s *gemmStep) pairPanel(batch, block, panel int) unsafe.Pointer {
	at := (batch%s.packedBatches()*s.kBlocks+block)*s.panels + panel
	return unsafe.Add(s.packedB.Pointer(), at*s.pairB)
}

// pairsLen is the bytes of Y in pairs where each chunk needs one order.
func (p *gemmPlan) pairsLen() int {
	return p.kBlocks * p.panels * x86.PairPanelBytes(p.kStart(1)/x86.PairsSteps)
}

// pairRows and pairSteps are the code that puts them into pairs.
var (
	pairRows  = codeOf(x86.EmitPairRows)
	pairSteps = codeOf(x86.EmitPairSteps)
)

// packPairs packs Y for GemmPairs, for which the step is cut, and returns the bytes of a
// panel; no memory if pairs are not worth it, or there is none for both forms.
func (s *gemmStep) packPairs(r *binding) (*jit.Memory, int, error) {
	code, err := pairSteps()
	if err != nil {
		return nil, 0, err
	}
	plain, _, err := s.packAll(r)
	if err != nil {
		return nil, 0, unlessFull(err)
	}
	defer func() { _ = plain.Close() }()
	orders, most, err := s.findPairs(r, plain)
	if err != nil || most == 0 {
		return nil, 0, err
	}
	bytes := x86.PairPanelBytes(most)
	mem, err := r.module.device.memory(bytes * len(orders))
	if err != nil {
		return nil, 0, unlessFull(err)
	}
	err = s.eachPanel(r, plain, func(i int, rows []x86.PairRows) {
		o := orders[i]
		steps := x86.PairHead(unsafe.Slice((*byte)(unsafe.Add(mem.Pointer(), i*bytes)), bytes), o)
		places := x86.PairPlaces(make([]uint32, 0, x86.PairsChunk*len(o)), o)
		args := x86.PairStepsArgs{Rows: unsafe.Pointer(&rows[0]), Places: unsafe.Pointer(&places[0]), Steps: unsafe.Pointer(&steps[0]), Halves: uintptr(2 * len(o))}
		jit.Call(code, unsafe.Pointer(&args))
	})
	if err != nil {
		_ = mem.Close()
		return nil, 0, err
	}
	return mem, bytes, nil
}

// unlessFull is err unless it says that memory is short.
func unlessFull(err error) error {
	if _, full := errors.AsType[*device.OutOfMemoryError](err); full {
		return nil
	}
	return err
}

// findPairs finds the orders of all panels, and how many one has at most: 0 where pairs are
// not worth it.
func (s *gemmStep) findPairs(r *binding, plain *jit.Memory) (orders [][]x86.PairOrder, most int, err error) {
	orders = make([][]x86.PairOrder, s.pairPanels())
	var chunks, all atomic.Int64
	var hopeless atomic.Bool
	err = s.eachPanel(r, plain, func(i int, rows []x86.PairRows) {
		if hopeless.Load() {
			return
		}
		of := len(rows) / 2
		orders[i] = x86.PairOrders(make([]x86.PairOrder, 0, of+pairsMore), rows, of+pairsMore)
		if orders[i] == nil {
			hopeless.Store(true)
		}
		chunks.Add(int64(of))
		all.Add(int64(len(orders[i])))
	})
	if err != nil || hopeless.Load() || all.Load()-chunks.Load() > chunks.Load()/pairsShared {
		return nil, 0, err
	}
	for _, o := range orders {
		most = max(most, len(o))
	}
	return orders, most, nil
}

// pairPanels is the panels of all blocks and batches.
func (s *gemmStep) pairPanels() int { return s.packedBatches() * s.kBlocks * s.panels }

// eachPanel calls f, from several workers, for the panels of packed weights, each laid out
// by rows.
func (s *gemmStep) eachPanel(r *binding, plain *jit.Memory, f func(i int, rows []x86.PairRows)) error {
	code, err := pairRows()
	if err != nil {
		return err
	}
	halves := func(steps int) int { return 2 * steps / x86.PairsSteps }
	rooms := make([][]x86.PairRows, r.workers)
	return r.module.device.pool.Run(context.Background(), s.pairPanels(), r.workers, func(worker, i int) error {
		if rooms[worker] == nil {
			rooms[worker] = make([]x86.PairRows, halves(s.kStart(1)))
		}
		p, rest := i%s.panels, i/s.panels
		block, batch := rest%s.kBlocks, rest/s.kBlocks
		rows := rooms[worker][:halves(s.kStart(block+1)-s.kStart(block))]
		at := s.packedBatch(batch) + s.packed(block, p*s.panelCols())
		args := x86.PairRowsArgs{Steps: unsafe.Add(plain.Pointer(), at), Rows: unsafe.Pointer(&rows[0]), Halves: uintptr(len(rows))}
		jit.Call(code, unsafe.Pointer(&args))
		if cols := s.cols - p*s.panelCols(); cols < s.panelCols() { // the others are whatever the memory held
			for i := range rows {
				rows[i].KeepColumns(cols)
			}
		}
		f(i, rows)
		return nil
	})
}
