package sinter

import "sync"

// users counts the runs of a program, so that closing it waits for none and
// frees it after the last.
type users struct {
	mu     sync.Mutex
	count  int
	closed bool
	free   func()
}

// enter registers a run; false once closed.
func (u *users) enter() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return false
	}
	u.count++
	return true
}

// enterAgain registers one more run on behalf of a run that is registered.
func (u *users) enterAgain() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.count++
}

func (u *users) leave() {
	u.mu.Lock()
	u.count--
	last := u.closed && u.count == 0
	u.mu.Unlock()
	if last {
		u.free()
	}
}

// close lets no further run in and calls free after the last has left; false
// if it was closed before.
func (u *users) close(free func()) bool {
	u.mu.Lock()
	if u.closed {
		u.mu.Unlock()
		return false
	}
	u.closed, u.free = true, free
	idle := u.count == 0
	u.mu.Unlock()
	if idle {
		free()
	}
	return true
}
