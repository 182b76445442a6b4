package cpu

import (
	"math"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/template"
)

// attentionChunk is query rows of one sequence, for all heads that share a key
// head, by position in the sequence.
type attentionChunk struct {
	sequenceRows
	seq, kvHead int
	first, end  int
}

// keyRange is the keys that some queries see, by position in the sequence.
type keyRange struct{ from, to int }

func (s *attentionStep) visible(c *attentionChunk, i int) keyRange {
	return visible(&s.work.Attr, c.sequenceRows, i)
}

// visible is what query i of a sequence sees; neither end falls from one query
// to the next.
func visible(a *ir.AttentionAttr, c sequenceRows, i int) keyRange {
	n := c.k1 - c.k0
	own := i + n - (c.q1 - c.q0)
	r := keyRange{0, n}
	if a.Causal {
		r.to = own + 1
	}
	if a.Window > 0 {
		r.from, r.to = max(0, own+1-a.Window), min(r.to, own+a.Window)
	}
	r.from = min(r.from, n)
	r.to = max(min(r.to, n), r.from)
	return r
}

// run computes the rows of a chunk, block of keys by block of keys.
func (s *attentionStep) run(w *attentionWorker, c *attentionChunk) error {
	group := s.work.Heads / s.work.KVHeads
	blocks := ceilDiv(c.end-c.first, s.blockRows)
	clear(w.started)
	all := keyRange{s.visible(c, c.first).from, s.visible(c, c.end-1).to}
	for kb := all.from / keyBlock; kb*keyBlock < all.to; kb++ {
		if err := s.pack(w, c, kb); err != nil {
			return err
		}
		for g := range group {
			for b := range blocks {
				first := c.first + b*s.blockRows
				k := &scoreBlock{attentionChunk: c, head: c.kvHead*group + g, first: first, end: min(first+s.blockRows, c.end), kb: kb}
				k.sums = s.sumsOf(w, g, b)
				if !s.place(k) {
					continue
				}
				if err := s.block(w, k, w.started[g*blocks+b]); err != nil {
					return err
				}
				w.started[g*blocks+b] = true
			}
		}
	}
	for g := range group {
		if err := s.finishRows(w, c, g, blocks); err != nil {
			return err
		}
	}
	return nil
}

// sumsOf is where the sums of a block of rows are.
func (s *attentionStep) sumsOf(w *attentionWorker, g, block int) unsafe.Pointer {
	return unsafe.Add(w.sums, 4*s.rowState*(g*s.chunk+block*s.blockRows))
}

// pack packs a block of keys, and of values.
func (s *attentionStep) pack(w *attentionWorker, c *attentionChunk, kb int) error {
	p := packedKeys{true, c.seq, c.kvHead, kb}
	if w.packed == p {
		return nil
	}
	w.packed = packedKeys{}
	k0 := c.k0 + kb*keyBlock
	n := min(keyBlock, c.k1-k0)
	v, steps, first := w.packV, s.stepsV(n), k0
	setPart(v, c, c.kvHead, k0, steps*s.tiles.width())
	v.set(template.EndK, k0+n)
	v.panel(w.values, 4*steps*s.wideValues())
	s.fillUp(w.values, s.steps(n), steps)
	if s.format == template.BF16 {
		first = 0
	}
	if err := v.run(first, first+s.steps(n)); err != nil {
		return err
	}
	if s.masks() {
		w.test.From, w.test.Rows, w.test.Vectors, w.test.Finite = w.values, 1, uintptr(steps*s.wideValues()/s.tiles.lanes), 1
		jit.Call(s.inner.finite, unsafe.Pointer(&w.test))
	}
	rows, stride := w.rowsK, s.work.Width
	if s.k.plain {
		stride = s.kAt.row
		i := kb * keyBlock
		if s.work.Attr.Ragged {
			i = k0
		}
		rows = s.kAt.row0(s.ptrs, c.seq, c.kvHead, i)
	} else {
		setPart(w.copyK, c, c.kvHead, k0, stride)
		w.copyK.panel(rows, s.element*n*stride)
		if err := w.copyK.run(k0, k0+n); err != nil {
			return err
		}
	}
	s.turnKeys(w, rows, stride, n)
	w.packed = p
	return nil
}

// fillUp clears the steps of packed values behind the last key.
func (s *attentionStep) fillUp(values unsafe.Pointer, from, to int) {
	wide, width := s.wideValues(), s.tiles.width()
	for at := 0; at < wide && from < to; at += width {
		cols := min(width, wide-at)
		clear(unsafe.Slice((*uint32)(unsafe.Add(values, 4*(at*to+from*cols))), (to-from)*cols))
	}
}

// row0 is the address of a row.
func (a *strides) row0(ptrs []unsafe.Pointer, seq, head, i int) unsafe.Pointer {
	return unsafe.Add(ptrs[a.param], a.offset(seq, head, i))
}

// offset is where a row begins, in bytes.
func (a *strides) offset(seq, head, i int) int {
	return a.element * (a.base + seq*a.seq + head*a.head + i*a.row)
}

// wideValues is the lanes of a packed row of values.
func (k *attentionKernel) wideValues() int { return ceilDiv(k.work.VWidth, k.roundV()) * k.roundV() }

// setPart sets the arguments that parts for rows of a head have.
func setPart(p *partCall, c *attentionChunk, head, first, stride int) {
	p.set(template.AtSequence, c.seq)
	p.set(template.AtHead, head)
	p.set(template.FirstRow, first)
	p.set(template.Stride, stride)
}

// turnKeys packs rows of keys as the right-hand side of a product: panels of
// columns, a key a column. The kernel writes whole vectors of lanes; those too
// many reach into the next panel, which is written later.
func (s *attentionStep) turnKeys(w *attentionWorker, rows unsafe.Pointer, stride, n int) {
	turnColumns(s.inner, s.tiles, &w.turn, w.keys, rows, s.element*stride, s.steps(s.work.Width), n)
}

// turnColumns packs n rows that lie stride bytes apart: each becomes a column of
// so many steps.
func turnColumns(inner *attentionSet, tiles *tileSet, turn *x86.TurnRowsArgs, to, rows unsafe.Pointer, stride, steps, n int) {
	lanes, width := tiles.lanes, tiles.width()
	turn.LDTo = uintptr(4 * width)
	for j := 0; j < n; j += lanes {
		for l := range lanes {
			turn.Rows[l] = unsafe.Add(rows, stride*min(j+l, n-1))
		}
		turn.To = unsafe.Add(to, 4*(j/width*width*steps+j%width))
		jit.Call(inner.turnRows, unsafe.Pointer(turn))
	}
}

// scoreBlock is a block of rows against a block of keys.
type scoreBlock struct {
	*attentionChunk
	head, first, end int
	kb               int
	keys             int  // of the block of keys
	whole            bool // each row sees all that any sees
	keyRange              // what its rows see of them, from the block's start
	sums             unsafe.Pointer
}

// place finds which keys the rows see, if any.
func (s *attentionStep) place(k *scoreBlock) bool {
	k0 := k.kb * keyBlock
	k.keys = min(keyBlock, k.k1-k.k0-k0)
	k.from = max(s.visible(k.attentionChunk, k.first).from-k0, 0)
	k.to = min(s.visible(k.attentionChunk, k.end-1).to-k0, k.keys)
	return k.from < k.to
}

// block adds to the sums of some rows what they see in a block of keys.
func (s *attentionStep) block(w *attentionWorker, k *scoreBlock, started bool) error {
	strideS := s.strideS(k.keys)
	s.placeTiles(w, k)
	if err := s.products(w, k, strideS); err != nil {
		return err
	}
	if w.score != nil {
		c := w.score
		setPart(c, k.attentionChunk, k.head, k.first, strideS)
		k0 := k.kb * keyBlock
		c.set(template.FirstK, k0)
		c.set(template.FirstCol, k0+k.from)
		c.set(template.EndCol, k0+k.to)
		c.panel(w.scores, 4*(k.end-k.first)*strideS)
		if err := c.run(k.first, k.end); err != nil {
			return err
		}
	}
	s.weights(w, k, strideS, started)
	s.weightedSums(w, k, strideS, started)
	return nil
}

// products computes the products of queries and keys.
func (s *attentionStep) products(w *attentionWorker, k *scoreBlock, strideS int) error {
	t, width := s.work, s.tiles.width()
	rows, stride := w.rowsQ, s.strideQ()
	if s.copyQ == nil {
		stride = s.qAt.row
		i := k.first
		if t.Attr.Ragged {
			i += k.q0
		}
		rows = s.qAt.row0(s.ptrs, k.seq, k.head, i)
	} else {
		c := w.copyQ
		setPart(c, k.attentionChunk, k.head, k.q0+k.first, stride)
		c.panel(rows, s.left*(k.end-k.first)*stride)
		if err := c.run(k.q0+k.first, k.q0+k.end); err != nil {
			return err
		}
	}
	steps := s.steps(t.Width)
	g := &w.gemm
	g.SetK(steps)
	g.Continue = 0
	g.LDA, g.LDB, g.VectorB, g.PanelB = uintptr(s.left*stride), uintptr(4*width), uintptr(4*s.tiles.lanes), uintptr(4*width*steps)
	g.LDC = uintptr(4 * strideS)
	for i := range w.tiles {
		b := &w.tiles[i]
		col := b.from / width * width
		g.A = unsafe.Add(rows, s.left*stride*b.first)
		g.B = unsafe.Add(w.keys, 4*col*steps)
		g.C = unsafe.Add(w.scores, 4*(b.first*strideS+col))
		g.RowsC = uintptr(4 * strideS * b.rows)
		s.tiles.run(g, b.panels, b.rows, b.to-col)
	}
	return nil
}

// weights turns scores into weights.
func (s *attentionStep) weights(w *attentionWorker, k *scoreBlock, strideS int, started bool) {
	span, a := s.span(), &w.softmax
	a.LDScores, a.LDState = uintptr(4*strideS), uintptr(4*s.rowState)
	a.Top, a.Rescale = uintptr(4*s.wideV), 0
	if started {
		a.Rescale = a.Top
	}
	a.Scale, a.Fill = s.scale, float32(math.Inf(-1))
	if s.scale < 0 {
		a.Fill = float32(math.Inf(1))
	}
	s.fetchNext(w, k)
	each := func(first, rows int, seen keyRange) {
		a.Scores, a.State = unsafe.Add(w.scores, 4*strideS*first), unsafe.Add(k.sums, 4*s.rowState*first)
		a.Ranges, a.Rows = &w.ranges[first], uintptr(rows)
		a.Start, a.End = uintptr(4*(seen.from/span*span)), uintptr(4*ceilDiv(seen.to, span)*span)
		jit.Call(s.inner.softmax, unsafe.Pointer(a))
	}
	if k.whole {
		each(0, k.end-k.first, k.keyRange)
		return
	}
	for i := range w.tiles {
		b := &w.tiles[i]
		each(b.first, b.rows, b.keyRange)
		for f := range a.Fetch {
			a.Fetch[f] += a.LDFetch[f] * uintptr(b.rows)
		}
	}
}

// fetchNext has the softmax kernel fetch rows of the head that comes next, at
// the block's positions.
func (s *attentionStep) fetchNext(w *attentionWorker, k *scoreBlock) {
	a := &w.softmax
	a.FetchBytes = 0
	if !s.fetches {
		return
	}
	seq, head, q, kv := k.seq, k.kvHead+1, k.first, k.first
	if s.work.Attr.Ragged {
		q, kv = q+k.q0, kv+k.k0
	}
	if head == s.work.KVHeads {
		if seq, head = seq+1, 0; seq == s.sequences.count {
			return
		}
		if s.work.Attr.Ragged {
			q, kv = k.first+k.q1, k.first+k.k1
		}
	}
	a.FetchBytes = uintptr(s.element * s.work.Width)
	for i, o := range []struct {
		at *strides
		i  int
	}{{&s.qAt, q}, {&s.kAt, kv}, {&s.vAt, kv}} {
		a.Fetch[i] = uintptr(s.ptrs[o.at.param]) + uintptr(o.at.offset(seq, head, o.i))
		a.LDFetch[i] = uintptr(s.element * o.at.row)
	}
}

// weightedSums adds the values times their weights. Keys that only some rows of a
// tile, or some of a chunk, see have weight 0 in the others, which does no harm
// unless a value is not finite: then each row has its own product, with 0 for
// values that it does not see, so that its bits stay.
func (s *attentionStep) weightedSums(w *attentionWorker, k *scoreBlock, strideS int, started bool) {
	g, stride := &w.gemm, s.tiles.width()
	if s.work.VWidth < stride {
		stride = s.wideValues()
	}
	g.Continue = 0
	if started {
		g.Continue = 1
	}
	g.LDA, g.LDB, g.VectorB, g.PanelB = uintptr(4*strideS), uintptr(4*stride), uintptr(4*s.tiles.lanes), uintptr(4*stride*s.stepsV(k.keys))
	g.LDC = uintptr(4 * s.rowState)
	multiply := func(b *rowTiles) {
		chunk := cutOf(s.tiles.Format).chunk // counted from the block's start, as the order of sums hangs on them
		step := b.from / s.group / chunk * chunk
		g.SetK(s.stepsV(b.to) - step)
		g.A = unsafe.Add(w.scores, 4*b.first*strideS+s.tiles.Format.StepA()*step)
		g.B = unsafe.Add(w.values, 4*stride*step)
		g.C = unsafe.Add(k.sums, 4*s.rowState*b.first)
		g.RowsC = uintptr(4 * s.rowState * b.rows)
		s.tiles.run(g, b.panels, b.rows, s.work.VWidth)
	}
	if w.finite() || !s.masks() {
		for i := range w.tiles {
			multiply(&w.tiles[i])
		}
		return
	}
	var hidden []uint16
	for i := range k.end - k.first {
		seen := keyRange{int(w.ranges[i][0] / 4), int(w.ranges[i][1] / 4)}
		if seen.from >= seen.to {
			seen = keyRange{}
		}
		hidden = hidden[:0]
		s.unseen(w, k.keys, seen, func(v *uint16) { hidden, *v = append(hidden, *v), 0 })
		multiply(&rowTiles{i, 1, 1, seen})
		back := hidden
		s.unseen(w, k.keys, seen, func(v *uint16) { *v, back = back[0], back[1:] })
	}
}

// unseen calls f for the values that are multiplied beside those that a row sees,
// as they are of the same chunk: there are none in f32.
func (s *attentionStep) unseen(w *attentionWorker, keys int, seen keyRange, f func(v *uint16)) {
	whole := s.group * cutOf(s.tiles.Format).chunk
	panel, steps := min(s.tiles.width(), s.wideValues()), s.stepsV(keys)
	values := unsafe.Slice((*uint16)(w.values), 2*steps*s.wideValues())
	for _, r := range [2]keyRange{{seen.from / whole * whole, seen.from}, {seen.to, ceilDiv(seen.to, whole) * whole}} {
		for j := r.from; j < r.to; j++ {
			for lane := range s.work.VWidth {
				at := (lane/panel*steps+j/2)*panel + lane%panel
				f(&values[2*at+j%2])
			}
		}
	}
}

func (w *attentionWorker) finite() bool { return w.test.Finite != 0 }

// finishRows runs the epilogue of finished rows of one head.
func (s *attentionStep) finishRows(w *attentionWorker, c *attentionChunk, g, blocks int) error {
	for b := range blocks {
		if w.started[g*blocks+b] {
			continue
		}
		rows := min(s.blockRows, c.end-c.first-b*s.blockRows)
		none := unsafe.Slice((*float32)(s.sumsOf(w, g, b)), rows*s.rowState)
		clear(none)
	}
	f := w.finish
	setPart(f, c, c.kvHead*(s.work.Heads/s.work.KVHeads)+g, c.q0+c.first, s.rowState)
	f.panel(s.sumsOf(w, g, 0), 4*(c.end-c.first)*s.rowState)
	return f.run(c.q0+c.first, c.q0+c.end)
}
