package keep

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Shelf is all that a device keeps, and for which programs: what none of them
// uses any more is dropped, however long the weights live.
type Shelf struct {
	mu      sync.Mutex
	all     map[*Kept]bool
	resting []*Holder // the one that was used last comes last
	bytes   int64     // of what resting programs alone use
	limit   int64     // of those
}

// restingBytes bounds what is kept for programs that nobody holds, though a
// device remembers them: somebody may compile the same again.
const restingBytes = 64 << 20

// NewShelf keeps nothing yet.
func NewShelf() *Shelf { return &Shelf{all: map[*Kept]bool{}, limit: restingBytes} }

// Holder stands for a program. It does not point to it: weights may outlive
// programs, and devices.
type Holder struct {
	// Owner stands in for weights where what is kept depends on none.
	Owner
	shelf *Shelf
	uses  map[*Kept]bool // guarded by the shelf's mu, as what follows
	rests bool
}

// NewHolder uses nothing yet.
func (s *Shelf) NewHolder() *Holder {
	h := &Holder{shelf: s, uses: map[*Kept]bool{}}
	h.Renew()
	return h
}

// use notes that the program needs k. It does nothing for what has been dropped,
// which is for this one run.
func (h *Holder) use(k *Kept) {
	s := h.shelf
	s.mu.Lock()
	defer s.mu.Unlock()
	if k.dropped || h.uses[k] {
		return
	}
	s.all[k], h.uses[k] = true, true
	k.holders = append(k.holders, h)
	if !h.rests {
		s.wake(k)
	}
}

// Rest says that nobody holds the program now. What it alone uses stays within
// bounds, those of the programs that have rested longest go first; the last one
// to rest has all that it needs.
func (h *Holder) Rest() {
	s := h.shelf
	s.mu.Lock()
	if h.rests {
		s.mu.Unlock()
		return
	}
	h.rests = true
	s.resting = append(s.resting, h)
	for k := range h.uses {
		s.rest(k)
	}
	var unused []*Kept
	for len(s.resting) > 1 && s.bytes > s.limit {
		unused = append(unused, s.letGo(s.resting[0])...)
		s.resting = s.resting[1:]
	}
	s.mu.Unlock()
	dropAll(unused)
}

// Wake says that somebody holds the program again.
func (h *Holder) Wake() {
	s := h.shelf
	s.mu.Lock()
	defer s.mu.Unlock()
	if !h.rests {
		return
	}
	h.rests = false
	s.resting = slices.DeleteFunc(s.resting, func(o *Holder) bool { return o == h })
	for k := range h.uses {
		s.wake(k)
	}
}

// Close says that the program is gone.
func (h *Holder) Close() {
	s := h.shelf
	s.mu.Lock()
	s.resting = slices.DeleteFunc(s.resting, func(o *Holder) bool { return o == h })
	unused := s.letGo(h)
	s.mu.Unlock()
	dropAll(unused)
	h.Drop()
}

// DropAll drops everything. Runs have what they use until they end.
func (s *Shelf) DropAll() {
	s.mu.Lock()
	all := make([]*Kept, 0, len(s.all))
	for k := range s.all {
		all = append(all, k)
	}
	s.mu.Unlock()
	dropAll(all)
}

func dropAll(all []*Kept) {
	for _, k := range all {
		k.Drop()
	}
}

// wake counts a program that is held among those that use k. The caller holds mu.
func (s *Shelf) wake(k *Kept) {
	if k.awake++; k.awake == 1 {
		s.bytes -= k.counted
		k.counted = 0
	}
}

// rest is the opposite.
func (s *Shelf) rest(k *Kept) {
	if k.awake--; k.awake == 0 {
		k.counted = k.size.Load()
		s.bytes += k.counted
	}
}

// letGo takes from h what it uses, and gives what no other program does. The
// caller holds mu.
func (s *Shelf) letGo(h *Holder) (unused []*Kept) {
	for k := range h.uses {
		k.holders = slices.DeleteFunc(k.holders, func(o *Holder) bool { return o == h })
		if !h.rests {
			s.rest(k)
		}
		if len(k.holders) == 0 {
			unused = append(unused, k)
			s.forget(k)
		}
	}
	clear(h.uses)
	return unused
}

// forget has k no longer on the shelf, for good. The caller holds mu.
func (s *Shelf) forget(k *Kept) {
	k.dropped = true
	delete(s.all, k)
	for _, h := range k.holders {
		delete(h.uses, k)
	}
	s.bytes -= k.counted
	k.holders, k.counted = nil, 0
}

// shelved is a Kept as its shelf sees it; but for size it is guarded by that.
type shelved struct {
	shelf   *Shelf
	size    atomic.Int64
	holders []*Holder
	awake   int   // of them, those that somebody holds
	counted int64 // in Shelf.bytes
	dropped bool
}

// Takes says how many bytes are kept.
func (k *Kept) Takes(bytes int) { k.size.Store(int64(bytes)) }
