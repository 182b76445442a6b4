package launch

import (
	"errors"

	"github.com/sinterml/sinter/internal/device"
)

// accounts count a device's memory.
type accounts struct {
	used  int64 // in buffers and in sessions that run
	idle  int64 // in sessions that wait for their next run, and kept with weights
	peak  int64 // the most that was used
	limit int64 // of both; 0: none
}

// Stats counts memory on the device.
func (d *Device) Stats() device.MemStats {
	held := int64(0)
	if p, ok := d.backend.(Pooled); ok {
		held = p.Cached()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return device.MemStats{Allocated: d.memory.used, Cached: d.memory.idle + held, Peak: d.memory.peak}
}

// SetMemoryLimit bounds the memory that buffers and programs take together. What
// they have already stays.
func (d *Device) SetMemoryLimit(n int64) {
	d.mu.Lock()
	d.memory.limit = n
	d.mu.Unlock()
	if p, ok := d.backend.(Pooled); ok {
		_ = p.SetLimit(n) // a device that has failed says so when it is used
	}
}

// reserve counts n bytes that are about to be made, if the limit allows.
func (d *Device) reserve(n int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	a := &d.memory
	if a.limit > 0 && n > a.limit-a.used-a.idle {
		return false
	}
	a.used += n
	return true
}

// made notes that what was reserved is there.
func (d *Device) made() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.memory.peak = max(d.memory.peak, d.memory.used)
}

// unreserve counts n bytes that are given back.
func (d *Device) unreserve(n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.memory.used -= n
}

// rest counts n bytes that wait for the next run; below 0, that run again.
func (d *Device) rest(n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.memory.used -= n
	d.memory.idle += n
	d.memory.peak = max(d.memory.peak, d.memory.used)
}

// wake counts n bytes that rested as used, by who has them or is about to free them:
// that is no more than there was before.
func (d *Device) wake(n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.memory.used += n
	d.memory.idle -= n
}

// take makes memory and counts it.
func (d *Device) take(n int) (mem Memory, err error) {
	err = d.withRoom(n, func() error {
		mem, err = d.tryTake(n)
		return err
	})
	return mem, err
}

// withRoom does something that needs n bytes of the device, or some: 0. What only
// waits for later runs goes before anything is refused.
func (d *Device) withRoom(n int, do func() error) error {
	err := d.refused(n, do())
	full, ok := errors.AsType[*device.OutOfMemoryError](err)
	if !ok || full.Cached == 0 {
		return err
	}
	if trimmed := d.TrimMemory(); trimmed != nil {
		return errors.Join(err, trimmed)
	}
	return d.refused(n, do())
}

func (d *Device) tryTake(n int) (Memory, error) {
	if !d.reserve(int64(n)) {
		return nil, d.full(n, nil)
	}
	mem, err := d.backend.Alloc(max(n, leastBytes))
	if err == nil {
		d.made()
		return mem, nil
	}
	d.unreserve(int64(n))
	return nil, err
}

// refused is the error of a driver that does not give n bytes, if that is what is
// wrong.
func (d *Device) refused(n int, err error) error {
	if _, told := errors.AsType[*device.OutOfMemoryError](err); told {
		return err
	}
	if lacking, ok := errors.AsType[interface {
		error
		OutOfMemory() bool
	}](err); ok && lacking.OutOfMemory() {
		return d.full(n, err)
	}
	return err
}

func (d *Device) full(n int, err error) error {
	e := &device.OutOfMemoryError{Device: d.Kind, Size: int64(n), MemStats: d.Stats(), Err: err}
	d.mu.Lock()
	defer d.mu.Unlock()
	e.Limit = d.memory.limit
	return e
}

// TrimMemory ends all sessions that wait for their next run, drops what is kept
// with weights, and has the driver give back what it holds.
func (d *Device) TrimMemory() error {
	d.mu.Lock()
	var all []*module
	for m := range d.modules {
		all = append(all, m)
	}
	d.mu.Unlock()
	var err error
	for _, m := range all {
		if m.uses.Begin() { // its program stays until they have ended
			err = errors.Join(err, m.trim(), m.release())
		}
	}
	d.shelf.DropAll()
	if p, ok := d.backend.(Pooled); ok {
		err = errors.Join(err, p.Trim())
	}
	return err
}

// trim ends the idle sessions.
func (m *module) trim() error {
	m.mu.Lock()
	idle := m.idle
	m.idle = nil
	m.mu.Unlock()
	var err error
	for _, s := range idle {
		err = errors.Join(err, s.end(true))
	}
	return err
}

// end closes a session and counts what it held, which was idle or not.
func (s *session) end(idle bool) error {
	d := s.module.device
	if idle {
		d.rest(-s.held)
	}
	d.unreserve(s.held)
	return s.close()
}

func (d *Device) enlist(m *module) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.modules == nil {
		d.modules = map[*module]bool{}
	}
	d.modules[m] = true
}

func (d *Device) strike(m *module) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.modules, m)
}
