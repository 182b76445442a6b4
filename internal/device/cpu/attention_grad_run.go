package cpu

import (
	"unsafe"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/template"
)

// gradientUnit is a key head of a sequence.
type gradientUnit struct {
	sequenceRows
	seq, kvHead int
	next        *gradientUnit // whose rows are to be fetched meanwhile, or nil
}

// gradientBlock is some queries of a head against some keys, both by position
// in the sequence.
type gradientBlock struct {
	*gradientUnit
	head, group int // among all, among those that share the key head
	queries     keyRange
	keys        keyRange
	whole       bool     // every query sees every key
	seen        keyRange // that some query sees, counted from the block's start

	seenFrom, seenTo int // queries of the sequence that see some of the keys
}

// seeing is the queries that see key j of a sequence; neither end falls from one
// key to the next.
func seeing(a *ir.AttentionAttr, c sequenceRows, j int) keyRange {
	n := c.q1 - c.q0
	own := j + n - (c.k1 - c.k0)
	r := keyRange{0, n}
	if a.Causal {
		r.from = own
	}
	if a.Window > 0 {
		r.to = own + a.Window
		if !a.Causal {
			r.from = own + 1 - a.Window
		}
	}
	r.from = min(max(r.from, 0), n)
	r.to = max(min(r.to, n), r.from)
	return r
}

// unit computes the gradients of a key head and of the query heads that share
// it, block of keys by block of keys.
func (s *gradientStep) unit(w *gradientWorker, u *gradientUnit) error {
	t := s.work
	group, queries, keys := t.Heads/t.KVHeads, u.q1-u.q0, u.k1-u.k0
	clear(unsafe.Slice((*float32)(w.dq), group*queries*s.wide))
	for first := 0; first < keys; first += gradientKeys {
		block := keyRange{first, min(first+gradientKeys, keys)}
		if err := s.startKeys(w, u, block); err != nil {
			return err
		}
		seen := keyRange{seeing(&t.Attr, u.sequenceRows, block.from).from, seeing(&t.Attr, u.sequenceRows, block.to-1).to}
		for g := range group {
			for q := seen.from / gradientQueries * gradientQueries; q < seen.to; q += gradientQueries {
				b := &gradientBlock{gradientUnit: u, head: u.kvHead*group + g, group: g, keys: block, queries: keyRange{q, min(q+gradientQueries, queries)}, seenFrom: seen.from, seenTo: seen.to}
				if err := s.block(w, b); err != nil {
					return err
				}
			}
		}
		if err := s.finishRows(w.finish[1], u, u.kvHead, w.dk, s.wide, keyRange{u.k0 + block.from, u.k0 + block.to}); err != nil {
			return err
		}
		if err := s.finishRows(w.finish[2], u, u.kvHead, w.dv, s.wideV, keyRange{u.k0 + block.from, u.k0 + block.to}); err != nil {
			return err
		}
	}
	for g := range group {
		sums := unsafe.Add(w.dq, 4*g*queries*s.wide)
		if err := s.finishRows(w.finish[0], u, u.kvHead*group+g, sums, s.wide, keyRange{u.q0, u.q1}); err != nil {
			return err
		}
	}
	return nil
}

// finishRows hands rows of sums over, if anyone asks for them.
func (s *gradientStep) finishRows(c *partCall, u *gradientUnit, head int, sums unsafe.Pointer, stride int, rows keyRange) error {
	if c == nil {
		return nil
	}
	return rowsPart(c, u, head, sums, stride, rows)
}

// rowsPart runs a part for rows of a head, which it has at memory.
func rowsPart(c *partCall, u *gradientUnit, head int, memory unsafe.Pointer, stride int, rows keyRange) error {
	c.set(template.AtSequence, u.seq)
	c.set(template.AtHead, head)
	c.set(template.FirstRow, rows.from)
	c.set(template.Stride, stride)
	c.panel(memory, 4*stride*(rows.to-rows.from))
	return c.run(rows.from, rows.to)
}

// block adds what a block of queries and a block of keys have in common.
func (s *gradientStep) block(w *gradientWorker, b *gradientBlock) error {
	a := &s.work.Attr
	b.whole = visible(a, b.sequenceRows, b.queries.from).to >= b.keys.to && visible(a, b.sequenceRows, b.queries.to-1).from <= b.keys.from
	b.seen = s.seenKeys(b, 0, b.queries.to-b.queries.from)
	if err := s.startQueries(w, b); err != nil {
		return err
	}
	s.products(w, b, w.scores, &w.rowsQ, w.keys, s.work.Width)
	s.products(w, b, w.asked, &w.rowsDOut, w.values, s.work.VWidth)
	if err := s.weights(w, b); err != nil {
		return err
	}
	if w.finish[2] != nil {
		s.keySums(w, b, ofV, w.dv, w.scores, &w.rowsDOut)
	}
	if w.finish[1] != nil {
		s.keySums(w, b, ofK, w.dk, w.asked, &w.rowsQ)
	}
	if w.finish[0] != nil {
		s.querySums(w, b)
	}
	return nil
}

// tiles calls f for tiles of rows from 0 to n, panels of them at once where the
// block is whole. Rows are as even as can be, so that none has few.
func (s *gradientStep) tiles(n int, whole bool, height int, f func(first, panels, rows int)) {
	if n == 0 {
		return
	}
	tiles := ceilDiv(n, height)
	if whole {
		low, more := n/tiles, n%tiles // more tiles have one row more
		if more > 0 {
			f(0, more, low+1)
		}
		f(more*(low+1), tiles-more, low)
		return
	}
	for i := range tiles {
		r0, r1 := n*i/tiles, n*(i+1)/tiles
		f(r0, 1, r1-r0)
	}
}

// products computes the products of rows of queries with keys or values.
func (s *gradientStep) products(w *gradientWorker, b *gradientBlock, to unsafe.Pointer, rows *gradientRows, columns unsafe.Pointer, steps int) {
	g, width := &w.gemm, s.rows.width()
	g.LDAhead, g.LDBeside = 0, 0
	g.SetK(steps)
	g.Continue = 0
	g.LDA, g.LDB, g.PanelB, g.LDC = uintptr(4*rows.stride), uintptr(4*width), uintptr(4*width*steps), uintptr(4*s.strideS)
	s.tiles(b.queries.to-b.queries.from, b.whole, s.rows.Tile.Rows, func(first, panels, n int) {
		seen := s.seenKeys(b, first, first+panels*n)
		col := seen.from / width * width
		g.A = unsafe.Add(rows.at, 4*rows.stride*first)
		g.B = unsafe.Add(columns, 4*col*steps)
		g.C = unsafe.Add(to, 4*(first*s.strideS+col))
		g.RowsC = uintptr(4 * n * s.strideS)
		if col < seen.to {
			s.rows.run(g, panels, n, seen.to-col)
		}
	})
}

// seenKeys is the keys of a block that some of its queries see, both counted
// from the block's start.
func (s *gradientStep) seenKeys(b *gradientBlock, first, end int) keyRange {
	if b.whole {
		return keyRange{0, b.keys.to - b.keys.from}
	}
	a, q := &s.work.Attr, b.queries.from
	return within(keyRange{visible(a, b.sequenceRows, q+first).from, visible(a, b.sequenceRows, q+end-1).to}, b.keys)
}

// seeingQueries is the queries of a block that see some of its keys, both
// counted from the block's start.
func (s *gradientStep) seeingQueries(b *gradientBlock, first, end int) keyRange {
	if b.whole {
		return keyRange{0, b.queries.to - b.queries.from}
	}
	a, k := &s.work.Attr, b.keys.from
	return within(keyRange{seeing(a, b.sequenceRows, k+first).from, seeing(a, b.sequenceRows, k+end-1).to}, b.queries)
}

// within is the part of r in a block, counted from the block's start.
func within(r, block keyRange) keyRange {
	from := min(max(r.from, block.from), block.to) - block.from
	return keyRange{from, max(min(r.to, block.to)-block.from, from)}
}

// weights makes weights and gradients of scores of the products.
func (s *gradientStep) weights(w *gradientWorker, b *gradientBlock) error {
	c := w.weigh
	c.set(template.AtSequence, b.seq)
	c.set(template.AtHead, b.head)
	c.set(template.FirstRow, b.queries.from)
	c.set(template.Stride, s.strideS)
	c.set(template.FirstK, b.keys.from)
	c.set(template.FirstCol, b.keys.from+b.seen.from)
	c.set(template.EndCol, b.keys.from+b.seen.to)
	second := (uintptr(w.asked) - uintptr(w.scores)) / 4
	c.set(template.Second, int(second))
	c.set(template.RowsBefore, b.q0)
	c.set(template.QueryCount, b.q1-b.q0)
	c.set(template.KeyCount, b.k1-b.k0)
	c.panel(w.scores, 8*int(second))
	return c.run(b.queries.from, b.queries.to)
}

// keySums adds rows of queries times weights, or gradients of scores, to the
// sums of their keys. Both are 0 where a key is not seen, which does no harm
// unless a row is not finite: then each key has its own product.
func (s *gradientStep) keySums(w *gradientWorker, b *gradientBlock, of int, sums, factors unsafe.Pointer, rows *gradientRows) {
	g, stride, width := &w.gemm, s.wide, s.work.Width
	if of == ofV {
		stride, width = s.wideV, s.work.VWidth
	}
	next, result := s.nextKeys(b, of), s.resultKeys(b, of)
	g.Continue = 1
	g.LDA, g.LDB, g.PanelB, g.LDC = uintptr(4*s.strideS), uintptr(4*rows.stride), uintptr(4*s.rows.width()), uintptr(4*stride)
	height := s.columns.Tile.Rows
	if !b.whole && !s.finite(w, rows, width) {
		height = 1
	}
	s.tiles(b.seen.to-b.seen.from, b.whole, height, func(first, panels, n int) {
		first += b.seen.from
		by := s.seeingQueries(b, first, first+panels*n)
		if by.from >= by.to {
			return
		}
		g.SetK(by.to - by.from)
		g.A = unsafe.Add(factors, 4*(by.from*s.strideS+first))
		g.B = unsafe.Add(rows.at, 4*by.from*rows.stride)
		g.C = unsafe.Add(sums, 4*first*stride)
		g.RowsC = uintptr(4 * n * stride)
		next.fetch(&g.Ahead, &g.LDAhead, first)
		result.fetch(&g.Beside, &g.LDBeside, first)
		s.columns.run(g, panels, n, width)
	})
}

// querySums adds keys times gradients of scores to the sums of the queries, as
// keySums does the other way round.
func (s *gradientStep) querySums(w *gradientWorker, b *gradientBlock) {
	g, rows := &w.gemm, &w.rowsK
	q, dout := s.nextQueries(b, ofQ), s.nextQueries(b, ofDOut)
	g.Continue = 1
	g.LDA, g.LDB, g.PanelB, g.LDC = uintptr(4*s.strideS), uintptr(4*rows.stride), uintptr(4*s.rows.width()), uintptr(4*s.wide)
	height := s.rows.Tile.Rows
	if !b.whole && !s.finite(w, rows, s.work.Width) {
		height = 1
	}
	sums := unsafe.Add(w.dq, 4*s.wide*(b.group*(b.q1-b.q0)+b.queries.from))
	s.tiles(b.queries.to-b.queries.from, b.whole, height, func(first, panels, n int) {
		seen := s.seenKeys(b, first, first+panels*n)
		if seen.from >= seen.to {
			return
		}
		g.SetK(seen.to - seen.from)
		g.A = unsafe.Add(w.asked, 4*(first*s.strideS+seen.from))
		g.B = unsafe.Add(rows.at, 4*seen.from*rows.stride)
		g.C = unsafe.Add(sums, 4*first*s.wide)
		g.RowsC = uintptr(4 * n * s.wide)
		q.fetch(&g.Ahead, &g.LDAhead, first)
		dout.fetch(&g.Beside, &g.LDBeside, first)
		s.rows.run(g, panels, n, s.work.Width)
	})
}

// multiplications counts those of the five products, and additions.
func (s *gradientStep) multiplications() float64 {
	pairs, t := 0, s.work
	for seq := range s.sequences.count {
		rows, err := s.sequences.of(seq)
		if err != nil {
			return 0 // and the run has failed
		}
		for q := range rows.q1 - rows.q0 {
			r := visible(&t.Attr, rows, q)
			pairs += r.to - r.from
		}
	}
	return 2 * float64(pairs) * float64(t.Heads) * float64(3*t.Width+2*t.VWidth)
}
