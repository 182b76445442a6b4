package jit

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// helper is a goroutine that works for one run at a time.
type helper struct {
	pool   *Pool
	worker int // its number in the run it works for

	job    atomic.Pointer[run]
	parked atomic.Bool
	wake   chan struct{} // holds one: sent by whoever turns parked to false
	caller *run          // for which it is started or woken
	from   int           // the processor on which that was done
}

// endOfWork is the job that ends a helper.
var endOfWork run

// start gives a job to a helper that is in no idle list.
func (h *helper) start(r *run, worker int) {
	h.worker = worker
	h.job.Store(r)
	h.rouse(r)
}

// rouse wakes h for a run if it is parked.
func (h *helper) rouse(r *run) {
	if !h.parked.CompareAndSwap(true, false) {
		return
	}
	h.expect(r)
	wake(h.wake)
}

// expect notes who starts or wakes h, which arrives then.
func (h *helper) expect(r *run) {
	r.coming.Add(1)
	h.caller, h.from = r, thisCPU()
}

// wake wakes who sleeps on a channel that has room. The goroutine that was made ready last
// is kept for the thread that did it: others take it only after a sleep of some 60
// microseconds, which that spends with its task. So another one is made ready behind it.
func wake(c chan<- struct{}) {
	c <- struct{}{}
	go nothing()
}

func nothing() {}

// arrive is the first that a helper does when it was started or woken. Its thread may have been put
// on the processor of the one that woke it, although others are idle: Linux takes the
// sleeping processors of a virtual machine for busy ones, and all if they were of late.
// There one of the two would wait for milliseconds.
func (h *helper) arrive() {
	h.caller.coming.Add(-1)
	h.caller = nil
	leaveCPU(h.from)
}

func (h *helper) loop() {
	h.arrive()
	debug.SetPanicOnFault(true) // holds for this goroutine
	linger := time.NewTimer(time.Hour)
	linger.Stop()
	spin := h.pool.spin()
	for {
		r := h.await(spin, linger)
		if r == nil || r == &endOfWork {
			return
		}
		for stay := true; r != nil; {
			// After a run ended the next may follow at once; a helper that gave
			// up waiting within a run has spun enough.
			spin = 0
			if r.work(h.worker, false) {
				spin = h.pool.spin()
			}
			if r, stay = h.pool.release(r, h); !stay {
				return
			}
		}
	}
}

// await returns the next job: it spins for a while and then parks. It is nil if
// none came and the helper is to end.
func (h *helper) await(spin time.Duration, linger *time.Timer) *run {
	spinUntil(spin, func() bool { return h.job.Load() != nil })
	for {
		if r := h.job.Swap(nil); r != nil {
			return r
		}
		if !h.park(linger) {
			return nil
		}
	}
}

// park sleeps until there may be a job. There is none where start had given the
// one before while the helper still spun, and looked at parked only after that
// was done and the helper idle again. It is false if the helper is to end.
func (h *helper) park(linger *time.Timer) bool {
	// Swap is a full barrier also where an emulator lets a load pass an atomic
	// store: then a job that comes right now would be seen by neither side.
	h.parked.Swap(true)
	if h.job.Load() != nil {
		if !h.parked.CompareAndSwap(true, false) {
			<-h.wake
			h.arrive()
		}
		return true
	}
	linger.Reset(h.pool.linger())
	select {
	case <-h.wake:
		h.arrive()
		linger.Stop()
	case <-linger.C:
		if h.pool.retire(h) {
			return false
		}
		<-h.wake // start is on its way
		h.arrive()
	}
	return true
}

// spinUntil burns the processor until ready or until limit is over, and says
// whether ready. It lets other goroutines run now and then.
func spinUntil(limit time.Duration, ready func() bool) bool {
	if ready() {
		return true
	}
	if limit <= 0 {
		return false
	}
	// A round is about a microsecond, so that looking at the clock and yielding
	// cost little beside it.
	const looks, pauses = 32, 4
	for begin := time.Now(); time.Since(begin) < limit; runtime.Gosched() {
		for range looks {
			pause(pauses)
			if ready() {
				return true
			}
		}
	}
	return false
}
