package tokenizer

import "math"

// noMerge is the rank of a pair that stays apart.
const noMerge = math.MaxInt32

func (m *bpe) mergeOf(left, right int32) merge {
	if found, ok := m.merges[tokenPair{left, right}]; ok {
		return found
	}
	return merge{rank: noMerge}
}

// shortWord is up to how many symbols all pairs are looked at for each merge;
// a queue of pairs costs more than that for the words of most texts.
const shortWord = 48

// mergeAll merges the symbols of a word, in place. Of pairs of one rank the
// first goes first.
func (m *bpe) mergeAll(symbols []symbol, s *modelScratch) []symbol {
	if len(symbols) > shortWord {
		return m.mergeLong(symbols, s)
	}
	s.ranks = s.ranks[:0]
	for i := range symbols {
		next := merge{rank: noMerge}
		if i+1 < len(symbols) {
			next = m.mergeOf(symbols[i].id, symbols[i+1].id)
		}
		s.ranks = append(s.ranks, next)
	}
	for ranks := s.ranks; ; {
		best := 0
		for i := range ranks {
			if ranks[i].rank < ranks[best].rank {
				best = i
			}
		}
		if len(ranks) == 0 || ranks[best].rank == noMerge {
			return symbols
		}
		symbols[best].id = ranks[best].id
		symbols[best].bytes += symbols[best+1].bytes
		symbols = append(symbols[:best+1], symbols[best+2:]...)
		ranks = append(ranks[:best], ranks[best+1:]...)
		if best > 0 {
			ranks[best-1] = m.mergeOf(symbols[best-1].id, symbols[best].id)
		}
		ranks[best] = merge{rank: noMerge}
		if best+1 < len(symbols) {
			ranks[best] = m.mergeOf(symbols[best].id, symbols[best+1].id)
		}
	}
}

// link is the neighbours of a symbol that is still there; next is negative
// after the last, and gone for one that was merged into another.
type link struct{ prev, next int32 }

const gone = math.MinInt32

// mergeLong is mergeAll in time n log n.
func (m *bpe) mergeLong(symbols []symbol, s *modelScratch) []symbol {
	s.links, s.queue = s.links[:0], s.queue[:0]
	n := int32(len(symbols))
	for i := range n {
		s.links = append(s.links, link{i - 1, i + 1})
		if i+1 < n {
			m.offer(symbols, s, i, i+1)
		}
	}
	s.links[n-1].next = -1
	s.queue.init()
	links := s.links
	for len(s.queue) > 0 {
		top := s.queue.pop()
		at := top.position()
		next := links[at].next
		// A pair of which one half has become another token since is passed.
		if next < 0 || m.mergeOf(symbols[at].id, symbols[next].id) != (merge{top.rank(), top.id}) {
			continue
		}
		symbols[at].id = top.id
		symbols[at].bytes += symbols[next].bytes
		after := links[next].next
		links[at].next, links[next].next = after, gone
		if after >= 0 {
			links[after].prev = at
			m.push(symbols, s, at, after)
		}
		if before := links[at].prev; before >= 0 {
			m.push(symbols, s, before, at)
		}
	}
	kept := symbols[:0]
	for i := range n {
		if links[i].next != gone {
			kept = append(kept, symbols[i])
		}
	}
	return kept
}

// offer appends a pair to the queue, which is not yet in order.
func (m *bpe) offer(symbols []symbol, s *modelScratch, left, right int32) {
	if found := m.mergeOf(symbols[left].id, symbols[right].id); found.rank != noMerge {
		s.queue = append(s.queue, newCandidate(found, left))
	}
}

func (m *bpe) push(symbols []symbol, s *modelScratch, left, right int32) {
	n := len(s.queue)
	if m.offer(symbols, s, left, right); len(s.queue) > n {
		s.queue.up(n)
	}
}

// candidate is a pair that may be merged: its rank, then the place of its left
// symbol, in one number to be compared at once.
type candidate struct {
	order uint64
	id    int32
}

func newCandidate(m merge, position int32) candidate {
	return candidate{uint64(m.rank)<<32 | uint64(position), m.id}
}

func (c candidate) rank() int32     { return int32(c.order >> 32) }
func (c candidate) position() int32 { return int32(c.order) }

// mergeQueue is a binary heap, the least order first.
type mergeQueue []candidate

func (q mergeQueue) init() {
	for i := len(q)/2 - 1; i >= 0; i-- {
		q.down(i)
	}
}

func (q *mergeQueue) pop() candidate {
	h := *q
	top := h[0]
	last := len(h) - 1
	h[0] = h[last]
	*q = h[:last]
	q.down(0)
	return top
}

func (q mergeQueue) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if q[parent].order <= q[i].order {
			return
		}
		q[parent], q[i] = q[i], q[parent]
		i = parent
	}
}

func (q mergeQueue) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(q) {
			return
		}
		if child+1 < len(q) && q[child+1].order < q[child].order {
			child++
		}
		if q[i].order <= q[child].order {
			return
		}
		q[i], q[child] = q[child], q[i]
		i = child
	}
}
