package cpu

import "unsafe"

// mostFetched is the bytes of a unit whose rows are fetched while the one before
// it is computed: they stay in half of the second cache.
const mostFetched = 512 << 10

// fetchedRows is rows that tile kernels fetch for what comes later: rows of one
// head lie too far apart for the processor to guess the next. Those of the next
// unit are at the positions of the rows computed. nil: none.
type fetchedRows struct {
	at    unsafe.Pointer
	pitch int // bytes from row to row
}

// fetch sets the arguments of a tile kernel for a tile from a row on.
func (r *fetchedRows) fetch(at, pitch *uintptr, first int) {
	*at, *pitch = 0, 0
	if r.at != nil {
		*at, *pitch = uintptr(r.at)+uintptr(r.pitch*first), uintptr(r.pitch)
	}
}

// rowsOf is rows from position i of a sequence on, or among all.
func (s *gradientStep) rowsOf(at *strides, seq, head, i, start int) fetchedRows {
	if s.work.Attr.Ragged {
		i += start
	}
	return fetchedRows{at.row0(s.ptrs, seq, head, i), at.element * at.row}
}

// nextKeys is keys or values of the next unit, once for the keys of a block.
func (s *gradientStep) nextKeys(b *gradientBlock, of int) (r fetchedRows) {
	n := b.next
	if n == nil || !s.operands[of].plain || b.group > 0 || b.queries.from > b.seenFrom || b.keys.to > n.k1-n.k0 {
		return r
	}
	return s.rowsOf(&s.at[of], n.seq, n.kvHead, b.keys.from, n.k0)
}

// resultKeys is where gradients of keys or values go, when these are about to be
// done.
func (s *gradientStep) resultKeys(b *gradientBlock, of int) (r fetchedRows) {
	if !s.results[of].plain || b.group+1 < s.work.Heads/s.work.KVHeads || b.queries.to < b.seenTo {
		return r
	}
	return s.rowsOf(&s.to[of], b.seq, b.kvHead, b.keys.from, b.k0)
}

// nextQueries is queries or gradients of results of the next unit, once for the
// queries of a block.
func (s *gradientStep) nextQueries(b *gradientBlock, of int) (r fetchedRows) {
	n := b.next
	if n == nil || !s.operands[of].plain || b.keys.from > 0 || b.queries.to > n.q1-n.q0 {
		return r
	}
	return s.rowsOf(&s.at[of], n.seq, n.kvHead*(s.work.Heads/s.work.KVHeads)+b.group, b.queries.from, n.q0)
}
