package cpu

import (
	"sort"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
)

// Sizes of blocks. A block of keys and its values, packed, stay in the second
// cache, the scores of a block of rows in the first.
const (
	// keyBlock is where the softmax starts anew and the sums are scaled, counted
	// from the sequence's start: results depend on it, and on nothing else here.
	keyBlock   = 512
	scoreRows  = 28  // or one tile's: whose scores are held at once, at most: whole tiles
	chunkRows  = 256 // of sums, over all heads that share a key head
	splitQuery = 64  // rows that make up for packing the keys again
)

// attentionStep is an attention with the sizes and the memory of one run. Its
// work is cut into units: a key head of a sequence and a part of the query
// rows, for all heads that share the key head.
type attentionStep struct {
	*attentionKernel
	env       ir.Env
	ptrs      []unsafe.Pointer
	status    []int64
	sequences *sequences
	qAt       strides
	kAt, vAt  strides
	fetches   bool // rows of the next head while one is computed

	firstUnit []int // of each sequence, and behind the last
	perTask   int
	keys      int // of the largest block
	chunk     int // rows of a chunk, of one head
	blockRows int
	workers   []attentionWorker
}

// attentionWorker is what one worker needs for itself.
type attentionWorker struct {
	gemm    x86.GemmArgs
	softmax x86.SoftmaxArgs
	turn    x86.TurnRowsArgs
	test    x86.FiniteArgs

	keys, values unsafe.Pointer // packed
	scores       unsafe.Pointer
	sums         unsafe.Pointer // and what the softmax knows, a row of rowState elements each
	rowsQ, rowsK unsafe.Pointer

	copyQ, copyK, packV, score, finish *partCall

	packed  packedKeys
	ranges  [][2]int64 // of the rows of a block: what each sees
	tiles   []rowTiles // of a block
	started []bool     // of each block of rows of a chunk
	_       [64]byte   // no false sharing
}

// packedKeys says which keys and values are packed.
type packedKeys struct {
	some             bool
	seq, head, block int
}

func (s *attentionStep) flags() []int64 { return s.status }

// Tasks is the number of tasks.
func (s *attentionStep) Tasks() int { return ceilDiv(s.units(), s.perTask) }

func (s *attentionStep) units() int { return s.firstUnit[len(s.firstUnit)-1] }

// bind fixes sizes, pointers and the way the work is cut.
func (k *attentionKernel) bind(r *binding) (jit.Step, error) {
	s := &attentionStep{attentionKernel: k, env: r.env, ptrs: r.ptrs, status: r.status}
	var err error
	if s.sequences, err = newSequences(k.work, r); err != nil {
		return nil, err
	}
	for _, o := range []struct {
		to   *strides
		from *rowsAt
	}{{&s.qAt, &k.q}, {&s.kAt, &k.k}, {&s.vAt, &k.v}} {
		if *o.to, err = o.from.strides(r.env, k.element); err != nil {
			return nil, err
		}
	}
	s.fetches = k.q.plain && k.k.plain && k.v.plain && k.work.Heads == k.work.KVHeads
	if err := s.cut(r.workers); err != nil {
		return nil, err
	}
	if s.units() == 0 {
		return s, nil
	}
	return s, s.memory(r)
}

// cut decides how many units each sequence makes. Where the offsets are the
// result of another kernel their lengths are not known yet.
func (s *attentionStep) cut(workers int) error {
	t, n := s.work, s.sequences.count
	s.keys = min(keyBlock, max(1, s.sequences.keys))
	s.firstUnit = make([]int, n+1)
	target, want := 0.0, float64(workers*tasksPerThread)
	work := make([]float64, n) // multiply-adds for one key head
	if s.sequences.known {
		s.keys = 1
		total := 0.0
		for seq := range n {
			r, err := s.sequences.of(seq)
			if err != nil {
				return err
			}
			s.keys = max(s.keys, min(keyBlock, r.k1-r.k0))
			work[seq] = float64(t.Heads/t.KVHeads) * float64(r.q1-r.q0) * float64(r.k1-r.k0) * float64(t.Width+t.VWidth)
			total += work[seq] * float64(t.KVHeads)
		}
		target = max(total/want, minTaskWork)
	}
	for seq := range n {
		parts := 1
		if workers > 1 && work[seq] > target && s.sequences.known {
			r, _ := s.sequences.of(seq) // checked above
			parts = max(1, min(int(work[seq]/target), (r.q1-r.q0)/splitQuery))
		}
		s.firstUnit[seq+1] = s.firstUnit[seq] + parts*t.KVHeads
	}
	s.perTask = max(1, int(float64(s.units())/want))
	return nil
}

// memory gives each worker its scratch.
func (s *attentionStep) memory(r *binding) error {
	t, lanes, width, group := s.work, s.tiles.lanes, s.tiles.width(), s.work.Heads/s.work.KVHeads
	s.blockRows = max(1, scoreRows/s.tiles.Tile.Rows) * s.tiles.Tile.Rows
	s.chunk = ceilDiv(max(1, chunkRows/group), s.blockRows) * s.blockRows
	keys := ceilDiv(s.keys, width) * width
	var at [7]int
	size := 0
	room := func(i, words int) { // of 32 bits
		at[i] = size
		size += (4*words + 63) &^ 63
	}
	room(0, keys*s.steps(t.Width)+width*lanes)
	room(1, s.stepsV(s.keys)*s.wideValues())
	room(2, s.blockRows*s.strideS(s.keys))
	room(3, group*s.chunk*s.rowState)
	room(4, ceilDiv(s.left*s.blockRows*s.strideQ(), 4))
	room(5, s.steps(keys*t.Width))
	if s.tiles.Format.AMX() {
		room(6, s.tiles.Tile.Rows*width)
	}
	calls := []struct {
		part *part
		to   func(w *attentionWorker) **partCall
	}{
		{s.copyQ, func(w *attentionWorker) **partCall { return &w.copyQ }},
		{s.copyK, func(w *attentionWorker) **partCall { return &w.copyK }},
		{s.packV, func(w *attentionWorker) **partCall { return &w.packV }},
		{s.score, func(w *attentionWorker) **partCall { return &w.score }},
		{s.finish, func(w *attentionWorker) **partCall { return &w.finish }},
	}
	spill := size
	size += 64 // no pointer is to lie behind the memory
	for _, c := range calls {
		if c.part != nil {
			size = max(size, spill+c.part.spill)
		}
	}
	own, err := r.scratch(size)
	if err != nil {
		return err
	}
	s.workers = make([]attentionWorker, r.workers)
	for i := range s.workers {
		w := &s.workers[i]
		for j, p := range []*unsafe.Pointer{&w.keys, &w.values, &w.scores, &w.sums, &w.rowsQ, &w.rowsK} {
			*p = unsafe.Add(own[i], at[j])
		}
		w.ranges, w.tiles = make([][2]int64, s.blockRows), make([]rowTiles, 0, s.blockRows/s.tiles.Tile.Rows+1)
		w.started = make([]bool, group*ceilDiv(s.chunk, s.blockRows))
		w.turn.SetWidth(s.tiles.ISA, s.steps(t.Width))
		w.gemm.StepC = uintptr(4 * width)
		w.gemm.Room = unsafe.Add(own[i], at[6])
		w.gemm.FetchNothing(w.scores)
		for _, c := range calls {
			if c.part == nil {
				continue
			}
			if *c.to(w), err = c.part.call(r, unsafe.Add(own[i], spill)); err != nil {
				return err
			}
		}
	}
	return nil
}

// steps is the lanes of 32 bits that hold n elements.
func (k *attentionKernel) steps(n int) int { return ceilDiv(n, k.group) }

// stepsV is the lanes of 32 bits that hold the values of n keys in a column, in
// whole chunks of the tile kernels.
func (k *attentionKernel) stepsV(n int) int {
	chunk := cutOf(k.tiles.Format).chunk
	return ceilDiv(n, k.group*chunk) * chunk
}

// span is the keys whose weights are made, and multiplied, together.
func (k *attentionKernel) span() int {
	return max(k.tiles.lanes, k.group*cutOf(k.tiles.Format).chunk)
}

// strideS is the elements from row to row of scores of so many keys: whole
// vectors, and one more, so that rows do not collide in the cache and a whole span
// has room.
func (s *attentionStep) strideS(keys int) int {
	return ceilDiv(keys, s.tiles.lanes)*s.tiles.lanes + s.tiles.lanes
}

func (s *attentionStep) strideQ() int { return s.work.Width + s.tiles.lanes }

// roundV is what the lanes of the last panel of values are rounded to. Where
// there are several panels all are of one width.
func (k *attentionKernel) roundV() int {
	if k.work.VWidth > k.tiles.width() {
		return k.tiles.width()
	}
	return k.tiles.lanes
}

// Do computes the units of a task.
func (s *attentionStep) Do(worker, task int) error {
	w := &s.workers[worker]
	end := min((task+1)*s.perTask, s.units())
	for u := task * s.perTask; u < end; {
		seq := sort.SearchInts(s.firstUnit, u+1) - 1
		rows, err := s.sequences.of(seq)
		if err != nil {
			return err
		}
		n, first, next := rows.q1-rows.q0, s.firstUnit[seq], s.firstUnit[seq+1]
		parts := (next - first) / s.work.KVHeads
		for ; u < min(next, end); u++ {
			part := (u - first) % parts
			c := attentionChunk{sequenceRows: rows, seq: seq, kvHead: (u - first) / parts}
			last := n * (part + 1) / parts
			for row := n * part / parts; row < last; row += s.chunk {
				c.first, c.end = row, min(row+s.chunk, last)
				if err := s.run(w, &c); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
