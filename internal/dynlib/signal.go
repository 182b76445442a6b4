//go:build (linux || darwin) && !android && !ios && (amd64 || arm64)

package dynlib

import "sync"

// kept is what signals called before the first of those calls of KeepSignals that are
// under way: a later one may find what a library has just put there.
var kept struct {
	sync.Mutex
	users  int
	before [maxSignal + 1]action
}

// KeepSignals notes which function each signal calls. The function it returns
// puts Go's back where another has taken their place: some drivers install
// handlers of their own when they are loaded or first used (LLVM does, in PoCL
// and Mesa), which end the process where Go would have recovered, or run on a
// stack that is too small for them. A handler of a signal that Go had left
// alone stays.
//
// It may be called from many goroutines. A change of a signal's handler by
// os/signal meanwhile is not undone, as Go has one function for all signals;
// signal.Ignore and signal.Reset give up that function, and are.
func KeepSignals() (restore func()) {
	kept.Lock()
	defer kept.Unlock()
	if kept.users++; kept.users == 1 {
		for s := 1; s <= maxSignal; s++ {
			getAction(s, &kept.before[s])
		}
	}
	return func() {
		kept.Lock()
		defer kept.Unlock()
		kept.users--
		for s := 1; s <= maxSignal; s++ {
			var now action
			if before := &kept.before[s]; before.handler > 1 && getAction(s, &now) && now.handler != before.handler {
				setAction(s, before)
			}
		}
	}
}
