package cpu

import (
	"math"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/template"
)

// gradientKernel is the gradient of an attention in machine code, for any
// lengths: tile kernels of the matrix product for its five products over blocks
// of queries and keys, around these parts generated for this attention. Source:
// Dao, "FlashAttention-2", 2023, section 3.1, without its split by keys.
type gradientKernel struct {
	work          *template.AttentionGrad
	rows, columns *tileSet // by which the left-hand side is read
	inner         *attentionSet

	operands        [4]gradientMemory // q, k, v and dout
	results         [3]gradientMemory
	copyQ, copyDOut *part // where not in place, or not finite
	copyK, copyV    *part // nil: in place
	weigh           *part
	finish          [3]*part // nil where nobody asks

	wide, wideV int // lanes of a row of q and k, of v, in whole vectors
}

// compileGradient makes the kernel. Where there is no machine code, in f64, for
// widths of 0 and for a scale that f32 does not hold, loops do.
func compileGradient(c *compiler, t *template.AttentionGrad) (kernel, error) {
	scale := float32(t.Attr.Scale)
	if !c.templates() || t.DType.Compute() != ir.F32 || t.Width == 0 || t.VWidth == 0 || scale == 0 || math.IsInf(float64(scale), 0) {
		code, err := c.loops(t.Loops())
		if err != nil {
			return nil, err
		}
		return &attentionLoops{work: &t.Attention, loops: code}, nil
	}
	k := &gradientKernel{work: t}
	var err error
	tile := x86.GemmTiles(c.isa, x86.GemmF32)[0]
	if k.rows, err = (tileKind{isa: c.isa}).set(tile); err != nil {
		return nil, err
	}
	if k.columns, err = (tileKind{isa: c.isa, form: x86.GemmColumns}).set(tile); err != nil {
		return nil, err
	}
	if k.inner, err = attentionSets[c.isa][x86.GemmF32](); err != nil {
		return nil, err
	}
	if err := c.listAttention(x86.GemmF32, k.rows, k.columns); err != nil {
		return nil, err
	}
	lanes := k.rows.lanes
	k.wide, k.wideV = ceilDiv(t.Width, lanes)*lanes, ceilDiv(t.VWidth, lanes)*lanes
	k.findRows()
	for _, p := range []struct {
		to   **part
		make func(int) *template.Part
		not  bool
	}{
		{&k.copyQ, t.CopyQ, false}, {&k.copyK, t.CopyK, k.operands[ofK].inPlace}, {&k.copyV, t.CopyV, k.operands[ofV].inPlace}, {&k.copyDOut, t.CopyDOut, false},
		{&k.weigh, func(int) *template.Part { return t.Weigh() }, false},
	} {
		if p.not {
			continue
		}
		if *p.to, err = c.part(p.make(lanes)); err != nil {
			return nil, err
		}
	}
	for i := range t.Grads {
		if !t.Grads[i].Wanted() {
			continue
		}
		if k.finish[i], err = c.part(t.Finish(i)); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// Sizes of blocks. Sums over queries and over keys begin anew with each block,
// counted from the sequence's start: results depend on both, and on nothing else
// here. Scores of a block, its rows and sums stay in the second cache.
const (
	gradientQueries = 96
	gradientKeys    = 128
)

// gradientStep is a gradient with the sizes and the memory of one run. A unit of
// work is a key head of a sequence, with all query heads that share it: nothing
// is added up across units.
type gradientStep struct {
	*gradientKernel
	status    []int64
	ptrs      []unsafe.Pointer
	sequences *sequences

	at            [4]strides // of operands that are plain
	to            [3]strides // of results
	fetches       bool       // rows of the next unit while one is computed
	queries, keys int        // of the longest sequence
	strideS       int        // elements from row to row of scores
	perTask       int
	workers       []gradientWorker
}

// gradientWorker is what one worker needs for itself.
type gradientWorker struct {
	gemm x86.GemmArgs
	turn x86.TurnRowsArgs
	test x86.FiniteArgs

	keys, values        unsafe.Pointer    // packed as right-hand sides
	copies              [4]unsafe.Pointer // of rows of keys, values, queries and gradients of results
	rowsK               gradientRows
	rowsQ, rowsDOut     gradientRows
	scores, asked       unsafe.Pointer // which become weights and gradients of scores
	dq, dk, dv          unsafe.Pointer
	copyQ, copyK, copyV *partCall
	copyDOut, weigh     *partCall
	finish              [3]*partCall
	_                   [64]byte // no false sharing
}

func (s *gradientStep) flags() []int64 { return s.status }

func (s *gradientStep) units() int { return s.sequences.count * s.work.KVHeads }

// Tasks is the number of tasks.
func (s *gradientStep) Tasks() int { return ceilDiv(s.units(), s.perTask) }

// Do computes the units of a task.
func (s *gradientStep) Do(worker, task int) error {
	w := &s.workers[worker]
	first, end := task*s.perTask, min((task+1)*s.perTask, s.units())
	if first >= end {
		return nil
	}
	unit, err := s.unitAt(first)
	for u := first; u < end; u++ {
		if err != nil {
			return err
		}
		this := unit
		if u+1 < end {
			if unit, err = s.unitAt(u + 1); err == nil && s.fetches {
				this.next = &unit
			}
		}
		if err := s.unit(w, &this); err != nil {
			return err
		}
	}
	return nil
}

// unitAt is the unit of a number, without the next.
func (s *gradientStep) unitAt(u int) (gradientUnit, error) {
	rows, err := s.sequences.of(u / s.work.KVHeads)
	return gradientUnit{sequenceRows: rows, seq: u / s.work.KVHeads, kvHead: u % s.work.KVHeads}, err
}

// bind fixes sizes, pointers and the way the work is cut.
func (k *gradientKernel) bind(r *binding) (jit.Step, error) {
	s := &gradientStep{gradientKernel: k, status: r.status, ptrs: r.ptrs}
	var err error
	for i := range k.operands {
		if s.at[i], err = k.operands[i].strides(r.env); err != nil {
			return nil, err
		}
	}
	for i := range k.results {
		if s.to[i], err = k.results[i].strides(r.env); err != nil {
			return nil, err
		}
	}
	if s.sequences, err = newSequences(&k.work.Attention, r); err != nil {
		return nil, err
	}
	s.perTask = max(1, s.units()/(r.workers*tasksPerThread))
	if s.units() == 0 {
		return s, nil
	}
	if s.queries, s.keys, err = s.sequences.longest(); err != nil {
		return nil, err
	}
	group := k.work.Heads / k.work.KVHeads
	s.fetches = 4*(group*s.queries+s.keys)*(k.wide+k.wideV) <= mostFetched
	return s, s.memory(r)
}

// memory gives each worker its scratch.
func (s *gradientStep) memory(r *binding) error {
	t, lanes, width := s.work, s.rows.lanes, s.rows.width()
	queries, keys := min(gradientQueries, s.queries), min(gradientKeys, s.keys)
	s.strideS = ceilDiv(keys, lanes)*lanes + lanes // so that rows do not collide in the cache
	wholeKeys := ceilDiv(keys, width) * width
	sizes := []int{
		wholeKeys*t.Width + width*lanes, wholeKeys*t.VWidth + width*lanes, keys * s.wide, keys * s.wideV,
		queries * s.wide, queries * s.wideV, 2 * queries * s.strideS,
		t.Heads / t.KVHeads * s.queries * s.wide, keys * s.wide, keys * s.wideV,
	}
	at, size := make([]int, len(sizes)), 0
	for i, n := range sizes {
		at[i] = size
		size += (4*n + 63) &^ 63
	}
	spill := size
	size += 64 // no pointer is to lie behind the memory
	calls := func(w *gradientWorker) map[*part]**partCall {
		all := map[*part]**partCall{s.copyQ: &w.copyQ, s.copyK: &w.copyK, s.copyV: &w.copyV, s.copyDOut: &w.copyDOut, s.weigh: &w.weigh}
		for i, p := range s.finish {
			all[p] = &w.finish[i]
		}
		delete(all, nil)
		return all
	}
	for p := range calls(&gradientWorker{}) {
		size = max(size, spill+p.spill)
	}
	own, err := r.scratch(size)
	if err != nil {
		return err
	}
	s.workers = make([]gradientWorker, r.workers)
	for i := range s.workers {
		w := &s.workers[i]
		for j, p := range []*unsafe.Pointer{&w.keys, &w.values, &w.copies[0], &w.copies[1], &w.copies[2], &w.copies[3], &w.scores, &w.dq, &w.dk, &w.dv} {
			*p = unsafe.Add(own[i], at[j])
		}
		w.asked = unsafe.Add(w.scores, 4*queries*s.strideS)
		w.gemm.VectorB, w.gemm.StepC = uintptr(4*lanes), uintptr(4*width)
		for p, to := range calls(w) {
			if *to, err = p.call(r, unsafe.Add(own[i], spill)); err != nil {
				return err
			}
		}
	}
	return nil
}
