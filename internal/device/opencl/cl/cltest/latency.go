package cltest

import (
	"time"

	"github.com/sinterml/sinter/internal/device/opencl/cl"
)

// origin is 0 by the driver's clock. That of the wall may be some nanoseconds behind where
// kernels follow each other by the other one, which decides when they begin.
var origin = time.Now()

// MostBusy is the most queues that had work at once, of work that takes time, since
// Rest.
func (f *Fake) MostBusy() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mostBusy
}

// Rest has MostBusy begin anew.
func (f *Fake) Rest() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mostBusy = 0
}

// take has a queue be busy for a time, behind what it does already, and says when
// that begins. The caller holds mu.
func (f *Fake) take(q cl.QueueID, d time.Duration) (begin time.Time) {
	now := time.Now()
	begin = f.busy[q]
	if begin.Before(now) {
		begin = now
	}
	if d == 0 {
		return begin
	}
	f.busy[q] = begin.Add(d)
	n := 0
	for _, until := range f.busy {
		if until.After(now) {
			n++
		}
	}
	f.mostBusy = max(f.mostBusy, n)
	return begin
}
