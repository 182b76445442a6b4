package ptxsim

import (
	"fmt"
	"math/bits"
)

// dynamicAlign is where shared memory begins whose size a launch tells.
const dynamicAlign = 128

// sharedMemory is the memory of a block. For each unit of it, it knows who was
// there last: accesses of two threads of which one writes are a race unless
// something orders them, see clocks.go.
type sharedMemory struct {
	data    []byte
	unit    int // a power of two
	shift   int // which one
	warps   int
	floor   uint32 // what happened up to this time comes before all that follows
	writers []visit
	readers []visit
	// seen is the time at which each warp last read a unit that several threads
	// read; nil where barriers of the whole block alone order accesses.
	seen []uint32
	busy []uint16 // reads by wgmma that have begun and not ended
}

// visit is the last access of a kind: of a thread, or of everyone if there were
// several threads, at a time of its warp's.
type visit struct {
	clock  uint32
	thread int32
}

const everyone = -1

// newSharedMemory makes n bytes. phased says that there are barriers of phases.
func newSharedMemory(n, unit, warps int, phased bool) sharedMemory {
	units := (n + unit - 1) / unit
	s := sharedMemory{data: make([]byte, n), unit: unit, shift: bits.TrailingZeros(uint(unit)), warps: warps, writers: make([]visit, units), readers: make([]visit, units)}
	if phased {
		s.seen, s.busy = make([]uint32, units*warps), make([]uint16, units)
	}
	return s
}

// reset is for the next block, which nothing of the one before meets.
func (s *sharedMemory) reset() {
	for i := range s.data {
		s.data[i] = garbage
	}
	clear(s.busy)
	clear(s.writers)
}

// units are those of n bytes: from first on, before end.
func (s *sharedMemory) units(at, n int) (first, end int) {
	return at >> s.shift, (at + n + s.unit - 1) >> s.shift
}

// at checks an access of n bytes, a power of two.
func (s *sharedMemory) at(address uint64, n int) (int, error) {
	if address < sharedBase || address-sharedBase+uint64(n) > uint64(len(s.data)) {
		return 0, fmt.Errorf("address %d of shared memory is outside its %d bytes", int64(address-sharedBase), len(s.data))
	}
	if address&uint64(n-1) != 0 {
		return 0, fmt.Errorf("address %d of shared memory is no multiple of %d", address-sharedBase, n)
	}
	return int(address - sharedBase), nil
}

// before tells whether an access comes before what a thread of w does now.
func (s *sharedMemory) before(v visit, w *warp, thread int32) bool {
	switch {
	case v.clock <= s.floor || v.thread == thread:
		return true
	case int(v.thread)/lanes == w.number:
		return v.clock < w.clock
	}
	return v.clock <= w.seen[v.thread/lanes]
}

// read and write note an access of n bytes by a thread of w.
func (s *sharedMemory) read(at, n int, w *warp, thread int32) error {
	for u, end := s.units(at, n); u < end; u++ {
		if v := s.writers[u]; v.clock > s.floor && !s.before(v, w, thread) {
			return fmt.Errorf("a race: byte %d of shared memory was written by thread %d, and no barrier has been since", u*s.unit, v.thread)
		}
		s.noteRead(u, w, thread)
	}
	return nil
}

// noteRead remembers that a thread, or everyone of its warp, has read a unit.
func (s *sharedMemory) noteRead(u int, w *warp, thread int32) {
	r := &s.readers[u]
	switch {
	case r.clock <= s.floor && thread != everyone:
		*r = visit{w.clock, thread}
		return
	case r.thread == thread && thread != everyone:
		r.clock = w.clock
		return
	}
	if s.seen != nil {
		if r.thread != everyone {
			s.seen[u*s.warps+int(r.thread)/lanes] = r.clock
		}
		s.seen[u*s.warps+w.number] = w.clock
	}
	*r = visit{max(r.clock, w.clock), everyone}
}

// unread tells whether all reads of a unit come before what a thread does now.
func (s *sharedMemory) unread(u int, w *warp, thread int32) bool {
	r := s.readers[u]
	if r.clock <= s.floor || r.thread != everyone {
		return s.before(r, w, thread)
	}
	if s.seen == nil {
		return false
	}
	for other, clock := range s.seen[u*s.warps:][:s.warps] {
		known := w.seen[other]
		if other == w.number {
			known = w.clock - 1
		}
		if clock > s.floor && clock > known {
			return false
		}
	}
	return true
}

func (s *sharedMemory) write(at, n int, w *warp, thread int32) error {
	for u, end := s.units(at, n); u < end; u++ {
		if s.busy != nil && s.busy[u] > 0 {
			return fmt.Errorf("a race: byte %d of shared memory is being read by wgmma, which nobody has waited for", u*s.unit)
		}
		if !s.unread(u, w, thread) {
			return fmt.Errorf("a race: byte %d of shared memory was read by %s, and no barrier has been since", u*s.unit, who(s.readers[u].thread))
		}
		v := &s.writers[u]
		if !s.before(*v, w, thread) {
			return fmt.Errorf("a race: byte %d of shared memory was written by thread %d, and no barrier has been since", u*s.unit, v.thread)
		}
		*v = visit{w.clock, thread}
	}
	return nil
}

// pending is the time of what has begun and is not there.
const pending = 1<<32 - 1

// arriving notes that n bytes are on their way, which nobody may see before who
// brings them has waited for them.
func (s *sharedMemory) arriving(at, n int) {
	for u, end := s.units(at, n); u < end; u++ {
		s.writers[u].clock = pending
	}
}

func who(thread int32) string {
	if thread == everyone {
		return "several threads"
	}
	return fmt.Sprintf("thread %d", thread)
}
