package vk

import (
	"errors"
	"runtime"
	"sync"
	"unsafe"
)

// maxQueues bounds the queues of a device: each takes memory of the driver, and
// hardware does few things at once.
const maxQueues = 8

// queue is one of the driver's. What is submitted to it is done in order.
type queue struct {
	id    QueueID
	users int // lists that have not been waited for; of queues.mu

	mu        sync.Mutex  // while the driver has a call for it, of which it takes one at a time
	semaphore SemaphoreID // counts what was submitted and has ended
	submitted uint64
}

// queues are those of a device, all of one family.
//
// None waits for another on the device: who uses what a list wrote has waited for
// it on the host, which is enough. The signal of a list's end makes all that the
// device has written available ("Semaphore Signaling" in Vulkan's specification),
// and vkQueueSubmit what is available, from the host too, visible to all of the
// device, whatever the queue ("Availability, Visibility, and Domain Operations" in
// its "Memory Model").
type queues struct {
	mu  sync.Mutex
	all []*queue
}

// work is what a list is for.
type work int

const (
	runs work = iota // and all that stays on the device
	up               // from the host
	down             // to the host
)

// of gives the queues for a kind of work. Where there are two or three the last is
// for transfers, from four on they have one in each direction.
func (q *queues) of(w work) []*queue {
	n := len(q.all)
	transfers := 0
	switch {
	case n >= 4:
		transfers = 2
	case n >= 2:
		transfers = 1
	}
	switch {
	case transfers == 0:
		return q.all
	case w == runs:
		return q.all[:n-transfers]
	case w == up:
		return q.all[n-transfers:][:1]
	}
	return q.all[n-1:]
}

// take gives a queue that nobody uses, or else the one that the fewest do, for
// give.
func (q *queues) take(w work) *queue {
	q.mu.Lock()
	defer q.mu.Unlock()
	var best *queue
	for _, o := range q.of(w) {
		if best == nil || o.users < best.users {
			best = o
		}
	}
	best.users++
	return best
}

func (q *queues) give(o *queue) {
	q.mu.Lock()
	defer q.mu.Unlock()
	o.users--
}

// openQueues finds the queues that the device was made with.
func (d *Device) openQueues(n uint32) error {
	var pin runtime.Pinner
	defer pin.Unpin()
	const timeline = 1
	kind := hold(&pin, SemaphoreTypeCreateInfo{Header: Header{Type: typeSemaphoreTypeCreateInfo}, Kind: timeline})
	info := &SemaphoreCreateInfo{Header: Header{Type: typeSemaphoreCreateInfo, Next: unsafe.Pointer(kind)}}
	for i := range n {
		id, semaphore := new(QueueID), new(SemaphoreID)
		d.api.GetQueue(d.id, d.Physical.family, i, id)
		if err := d.check(d.api.CreateSemaphore(d.id, info, semaphore), "vkCreateSemaphore"); err != nil {
			return err
		}
		d.queues.all = append(d.queues.all, &queue{id: *id, semaphore: *semaphore})
	}
	return nil
}

// idle waits for all queues, to none of which anything may be submitted meanwhile.
func (d *Device) idle() error {
	for _, q := range d.queues.all {
		q.mu.Lock()
		defer q.mu.Unlock()
	}
	return d.check(d.api.WaitIdle(d.id), "vkDeviceWaitIdle")
}

// check is check that remembers that the device is lost. A driver may still take
// what is submitted to another queue, and say that what runs there has ended
// ("Lost Device").
func (d *Device) check(code Code, call string) error {
	if code == DeviceLost {
		d.lost.Store(true)
	}
	return check(code, call)
}

// Submit hands the list to the device. It is in no order with what has been
// submitted and not been waited for; its own last run has been.
func (c *Commands) Submit() error {
	q := c.device.queues.take(c.work)
	if err := c.submitTo(q); err != nil {
		c.device.queues.give(q)
		return err
	}
	c.queue = q
	return nil
}

func (c *Commands) submitTo(q *queue) error {
	const call = "vkQueueSubmit"
	d := c.device
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case d.closed.Load() || c.closed.Load():
		return ErrClosed
	case d.lost.Load():
		return check(DeviceLost, call)
	}
	var pin runtime.Pinner // not for longer: a list that nobody closes would end the program
	pin.Pin(c.submit)
	defer pin.Unpin()
	c.submit.semaphore, c.submit.value = q.semaphore, q.submitted+1
	if code := d.api.QueueSubmit(q.id, 1, &c.submit.info); code != Success {
		return d.check(code, call)
	}
	q.submitted++
	return nil
}

// Wait waits until what was submitted last has ended.
func (c *Commands) Wait() error {
	const call, forever = "vkWaitSemaphores", 1<<64 - 1
	d := c.device
	var pin runtime.Pinner
	pin.Pin(c.submit)
	defer pin.Unpin()
	code := d.api.WaitSemaphores(d.id, &c.submit.wait, forever)
	c.leave()
	switch {
	case code == Success && d.lost.Load():
		return check(DeviceLost, call)
	case code == Success || code == DeviceLost:
		return d.check(code, call)
	}
	err := check(code, call)
	if idle := d.idle(); idle != nil { // nobody may use what it uses before it has ended
		err = errors.Join(err, idle, d.unwaited())
	}
	return err
}

// leave gives up the list's queue.
func (c *Commands) leave() {
	if c.queue != nil {
		c.device.queues.give(c.queue)
		c.queue = nil
	}
}

// Run submits the list and waits until it has ended.
func (c *Commands) Run() error {
	if err := c.Submit(); err != nil {
		return err
	}
	return c.Wait()
}
