package vktest

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sinterml/sinter/internal/device/launch/order"
	"github.com/sinterml/sinter/internal/device/vulkan/vk"
)

// queue does what is submitted to it as late as a driver may: when the host waits.
type queue struct {
	id      vk.QueueID
	calls   atomic.Int32 // that are under way, of which there may be one
	busy    time.Time    // until when
	pending []pending
}

// pending is a list that was submitted and has not ended.
type pending struct {
	list      *list
	semaphore vk.SemaphoreID
	value     uint64
	ends      time.Time
}

// count is a semaphore's value, and what it will be when all has ended.
type count struct{ done, submitted uint64 }

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

// Opened is how many queues the device was opened with last.
func (f *Fake) Opened() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.queues)
}

func (f *Fake) fault(format string, args ...any) {
	f.faults = append(f.faults, fmt.Sprintf(format, args...))
}

// makeQueues makes those that a device is opened with. The caller holds mu.
func (f *Fake) makeQueues(info *vk.DeviceQueueCreateInfo) {
	if info.Count < 1 || info.Count > cmp.Or(f.Queues, 1) {
		f.fault("a device with %d queues", info.Count)
	}
	f.queues = nil
	for i := range info.Count {
		f.queues = append(f.queues, &queue{id: vk.QueueID(1 + i)})
	}
}

// enter begins a call that a queue has one of at a time, which leave ends.
func (f *Fake) enter(q *queue) {
	n := q.calls.Add(1)
	if f.Quick {
		return
	}
	runtime.Gosched() // who does not wait for its turn comes in between
	if n > 1 {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.fault("two calls at once for queue %d", q.id)
	}
}

func (q *queue) leave() { q.calls.Add(-1) }

func (f *Fake) submitting(a *vk.DeviceAPI) {
	a.GetQueue = func(_ vk.DeviceID, _, i uint32, out *vk.QueueID) { *out = f.queues[i].id }
	a.CreateSemaphore = func(_ vk.DeviceID, _ *vk.SemaphoreCreateInfo, out *vk.SemaphoreID) vk.Code {
		f.mu.Lock()
		defer f.mu.Unlock()
		*out = vk.SemaphoreID(f.give("vkCreateSemaphore"))
		f.counts[*out] = &count{}
		return vk.Success
	}
	a.DestroySemaphore = func(_ vk.DeviceID, s vk.SemaphoreID) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if c := f.counts[s]; c.done < c.submitted && !f.lost {
			f.fault("a semaphore is destroyed that is waited for")
		}
		delete(f.counts, s)
		f.drop(uint64(s))
	}
	a.QueueSubmit = func(q vk.QueueID, _ uint32, info *vk.SubmitInfo) vk.Code {
		at := f.queues[q-1]
		f.enter(at)
		defer at.leave()
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.submit(at, info)
	}
	a.WaitSemaphores = func(_ vk.DeviceID, info *vk.SemaphoreWaitInfo, _ uint64) vk.Code {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.wait(*info.Semaphores, *info.Values)
	}
	a.WaitIdle = func(vk.DeviceID) vk.Code {
		for _, q := range f.queues {
			f.enter(q)
			defer q.leave()
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, q := range f.queues {
			if n := len(q.pending); n > 0 && !f.lost {
				f.wait(q.pending[n-1].semaphore, q.pending[n-1].value)
			}
		}
		if f.lost {
			return vk.DeviceLost
		}
		return vk.Success
	}
}

// submit takes a list. The caller holds mu.
func (f *Fake) submit(q *queue, info *vk.SubmitInfo) vk.Code {
	if f.lost {
		return vk.DeviceLost
	}
	f.submitted++
	if f.submitted == f.LoseAfter { // the driver takes it, and it never ends
		f.lost = true
		return vk.Success
	}
	l, s, value := f.lists[*info.Commands], *info.Signals, *(*vk.TimelineSemaphoreSubmitInfo)(info.Next).Signals
	if c := f.counts[s]; value <= c.submitted {
		f.fault("a semaphore is set to %d after %d", value, c.submitted)
	} else {
		c.submitted = value
	}
	if l.pending {
		f.fault("a list is submitted that has not ended")
	}
	l.pending = true
	if !f.Quick {
		f.use(q, l)
		f.order.Record(event(s, value), order.Stream(q.id))
	}
	d := time.Duration(len(l.launches))*f.Kernel + time.Duration(l.bytes)*f.Megabyte>>20
	q.pending = append(q.pending, pending{l, s, value, f.take(q, d)})
	return vk.Success
}

// event stands for a semaphore's value.
func event(s vk.SemaphoreID, value uint64) order.Event { return order.Event(uint64(s)<<40 | value) }

// take has a queue be busy for a time, behind what it does already, and says until
// when. The caller holds mu.
func (f *Fake) take(q *queue, d time.Duration) time.Time {
	if d == 0 {
		return q.busy
	}
	now := time.Now()
	if q.busy.Before(now) {
		q.busy = now
	}
	q.busy = q.busy.Add(d)
	n := 0
	for _, q := range f.queues {
		if q.busy.After(now) {
			n++
		}
	}
	f.mostBusy = max(f.mostBusy, n)
	return q.busy
}

// wait waits for a semaphore's value. The caller holds mu, which others may have
// meanwhile.
func (f *Fake) wait(s vk.SemaphoreID, value uint64) vk.Code {
	has := func(p pending) bool { return p.semaphore == s && p.value >= value }
	for _, q := range f.queues {
		i := slices.IndexFunc(q.pending, has)
		if i < 0 {
			continue
		}
		if d := time.Until(q.pending[i].ends); d > 0 {
			f.mu.Unlock()
			time.Sleep(d)
			f.mu.Lock()
		}
		f.end(q, slices.IndexFunc(q.pending, has)) // others may have waited for some
	}
	switch {
	case f.lost:
		return vk.DeviceLost
	case value > f.counts[s].done:
		return vk.Timeout // a real one would wait for ever
	}
	if !f.Quick {
		f.order.WaitEvent(event(s, value))
	}
	return vk.Success
}

// end does what a queue has up to one of its lists. The caller holds mu.
func (f *Fake) end(q *queue, last int) {
	if f.lost {
		return
	}
	for _, p := range q.pending[:last+1] {
		for _, work := range p.list.work {
			work()
		}
		p.list.pending = false
		f.counts[p.semaphore].done = p.value
	}
	q.pending = slices.Delete(q.pending, 0, last+1)
}
