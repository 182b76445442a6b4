package device

import "sync/atomic"

// Uses counts the users of something that is freed once it is closed and nobody
// uses it any more. The zero Uses is of its owner alone.
type Uses struct {
	others atomic.Int64 // besides the owner; -1 when all are gone
	closed atomic.Bool
}

// Begin adds a user, who says End; false where Close has come first.
func (u *Uses) Begin() bool {
	for {
		n := u.others.Load()
		if n < 0 || u.closed.Load() {
			return false
		}
		if u.others.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// End takes a user away; true to the last one, who frees what was used.
func (u *Uses) End() (last bool) { return u.others.Add(-1) < 0 }

// Close lets nobody begin. The owner, to whom alone it is true, then says End.
func (u *Uses) Close() bool { return !u.closed.Swap(true) }

// Closed tells whether Close has been called.
func (u *Uses) Closed() bool { return u.closed.Load() }
