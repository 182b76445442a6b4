package cpu

import (
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/jit"
)

// SetMemoryLimit bounds the memory of buffers, of programs and of what is kept
// with weights together, but for blocks of less than 16 kB, which are Go's, and what
// kernels of the generic code keep. What they have already stays.
func (d *Device) SetMemoryLimit(n int64) { d.limit.Store(n) }

// TrimMemory ends sessions that wait for their next run, drops what is kept with
// weights and gives freed blocks back to the system. What is packed of weights is
// freed by the garbage collector, as runs may use it.
func (d *Device) TrimMemory() error {
	d.shelf.DropAll()
	d.modules.Range(func(m, _ any) bool {
		m.(*module).forget()
		return true
	})
	return d.alloc.Trim()
}

// memory makes n bytes. What only waits for later runs goes before anything is
// refused.
func (d *Device) memory(n int) (*jit.Memory, error) {
	limit := d.limit.Load()
	if limit == 0 {
		m, err := d.alloc.Alloc(n)
		if err != nil {
			return nil, d.full(n, err)
		}
		return m, nil
	}
	d.limiting.Lock() // two requests do not take the same room
	defer d.limiting.Unlock()
	within := func() bool { return int64(n) <= limit-d.alloc.Stats().Live }
	if !within() {
		if err := d.TrimMemory(); err != nil {
			return nil, err
		}
		if !within() {
			return nil, d.full(n, nil)
		}
	}
	m, err := d.alloc.Alloc(n)
	if err != nil {
		return nil, d.full(n, err)
	}
	return m, nil
}

func (d *Device) full(n int, err error) error {
	return &device.OutOfMemoryError{Device: "cpu", Size: int64(n), MemStats: d.Stats(), Limit: d.limit.Load(), Err: err}
}
