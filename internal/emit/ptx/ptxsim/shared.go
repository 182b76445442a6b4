package ptxsim

import "fmt"

// dynamicAlign is where shared memory begins whose size a launch tells.
const dynamicAlign = 128

// sharedMemory is the memory of a block. For each unit of it, it knows who was
// there since the last barrier: two threads of which one writes are a race.
type sharedMemory struct {
	data    []byte
	unit    int
	epoch   uint32 // barriers so far, of all blocks
	writers []visit
	readers []visit
}

// visit is the last access of a kind: of thread at an epoch; everyone if there
// were several threads.
type visit struct {
	epoch  uint32
	thread int32
}

const everyone = -1

func newSharedMemory(n, unit int) sharedMemory {
	units := (n + unit - 1) / unit
	return sharedMemory{data: make([]byte, n), unit: unit, writers: make([]visit, units), readers: make([]visit, units)}
}

// reset is for the next block.
func (s *sharedMemory) reset() {
	for i := range s.data {
		s.data[i] = garbage
	}
	s.epoch++
}

// at checks an access of n bytes.
func (s *sharedMemory) at(address uint64, n int) (int, error) {
	if address < sharedBase || address-sharedBase+uint64(n) > uint64(len(s.data)) {
		return 0, fmt.Errorf("address %d of shared memory is outside its %d bytes", int64(address-sharedBase), len(s.data))
	}
	if address%uint64(n) != 0 {
		return 0, fmt.Errorf("address %d of shared memory is no multiple of %d", address-sharedBase, n)
	}
	return int(address - sharedBase), nil
}

// read and write note an access of n bytes by a thread.
func (s *sharedMemory) read(at, n int, thread int32) error {
	for u := at / s.unit; u*s.unit < at+n; u++ {
		if w := s.writers[u]; w.epoch == s.epoch && w.thread != thread {
			return fmt.Errorf("a race: byte %d of shared memory was written by thread %d, and no barrier has been since", u*s.unit, w.thread)
		}
		if r := &s.readers[u]; r.epoch != s.epoch {
			*r = visit{s.epoch, thread}
		} else if r.thread != thread {
			r.thread = everyone
		}
	}
	return nil
}

func (s *sharedMemory) write(at, n int, thread int32) error {
	for u := at / s.unit; u*s.unit < at+n; u++ {
		if r := s.readers[u]; r.epoch == s.epoch && r.thread != thread {
			return fmt.Errorf("a race: byte %d of shared memory was read by %s, and no barrier has been since", u*s.unit, who(r.thread))
		}
		w := &s.writers[u]
		if w.epoch == s.epoch && w.thread != thread {
			return fmt.Errorf("a race: byte %d of shared memory was written by thread %d, and no barrier has been since", u*s.unit, w.thread)
		}
		*w = visit{s.epoch, thread}
	}
	return nil
}

func who(thread int32) string {
	if thread == everyone {
		return "several threads"
	}
	return fmt.Sprintf("thread %d", thread)
}
