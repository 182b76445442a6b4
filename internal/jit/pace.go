package jit

import "runtime"

// pace decides when to ask for a garbage collection, as GOGC=100 does for the
// Go heap: when twice as much is handed out as was still in use after the last
// one. What Close frees does not lower the limit: a program that closes what it
// takes is never made to collect again and again.
type pace struct {
	epoch int64 // collections asked for
	base  int64 // bytes wanted at the last one, less those it found to be garbage
}

// collected notes that the collector found a block that was handed out in epoch.
func (p *pace) collected(epoch, size int64) {
	if epoch < p.epoch {
		p.base = max(0, p.base-size)
	}
}

func (a *Allocator) needsCollection(size int) bool {
	floor := a.CollectBytes
	if floor == 0 {
		floor = defaultCollect
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stats.Live+int64(size) > max(floor, 2*a.pace.base)
}

// collect runs the garbage collector for an allocation of size, unless another
// goroutine is at it. The blocks come back a little later, when the cleanups run.
func (a *Allocator) collect(size int) {
	if !a.collecting.CompareAndSwap(false, true) {
		return
	}
	defer a.collecting.Store(false)
	a.mu.Lock()
	a.stats.Nudges++
	a.pace.epoch++
	a.pace.base = a.stats.Live + int64(size)
	a.mu.Unlock()
	runtime.GC()
	runtime.Gosched() // to the cleanups
}
