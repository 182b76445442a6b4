package embed

import "sync"

// uses counts the calls that read weights, which closing takes away: it waits for
// those that were begun, and who comes later is not kept waiting.
type uses struct {
	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup
}

// begin registers a call, which ends it with end; false once closed.
func (u *uses) begin() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return false
	}
	u.calls.Add(1)
	return true
}

func (u *uses) end() { u.calls.Done() }

// ended tells whether no further call may begin.
func (u *uses) ended() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.closed
}

// close returns when the last call has ended; false where another has closed it.
func (u *uses) close() bool {
	u.mu.Lock()
	first := !u.closed
	u.closed = true
	u.mu.Unlock()
	if first {
		u.calls.Wait()
	}
	return first
}
