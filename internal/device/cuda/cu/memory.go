package cu

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"
)

// Memory is a buffer on a device.
type Memory struct {
	Size    int
	Pointer Pointer // to its first byte, a multiple of 256
	context *Context
	closed  atomic.Bool
}

// Attributes of a pool.
const (
	poolReleaseThreshold = 4
	poolReserved         = 5
	poolUsed             = 7
)

// newPool makes a pool that keeps what is freed until Trim: to get memory from
// the system takes longer than most programs run.
func (c *Context) newPool() error {
	const pinned, onDevice = 1, 1
	props := &PoolProps{AllocType: pinned, Location: onDevice, Device: c.Device.ID}
	if err := c.call("cuMemPoolCreate", func() Code { return c.api.PoolCreate(&c.pool, props) }); err != nil {
		return err
	}
	return c.keep(math.MaxUint64)
}

// keep has the pool give back, whenever the host waits for a stream, what it has
// beyond n bytes and nobody uses.
func (c *Context) keep(n uint64) error {
	return c.call("cuMemPoolSetAttribute", func() Code { return c.api.PoolSetAttribute(c.pool, poolReleaseThreshold, &n) })
}

// SetLimit bounds the bytes that are in use and held for later buffers together,
// as far as what is in use leaves room for that; 0: there is no bound.
func (c *Context) SetLimit(n int64) error {
	if c.pool == 0 || c.closed.Load() {
		return nil
	}
	c.limit.Store(n)
	if n == 0 {
		return c.keep(math.MaxUint64)
	}
	return errors.Join(c.keep(uint64(n)), c.trim(uint64(n)))
}

// makeRoom has the pool give back what would take it beyond the limit with a
// buffer of n bytes that it has to ask the system for.
func (c *Context) makeRoom(n int) error {
	limit := uint64(c.limit.Load())
	if limit == 0 {
		return nil
	}
	reserved, used, err := c.held()
	if err != nil || reserved+uint64(n) <= limit || reserved-used >= uint64(n) {
		return err
	}
	return c.trim(limit - min(limit, uint64(n)))
}

// Alloc makes a buffer of any contents; n is not 0. Every stream may use it.
func (c *Context) Alloc(n int) (*Memory, error) {
	if n <= 0 {
		return nil, fmt.Errorf("CUDA: a buffer of %d bytes", n)
	}
	if c.Device.Memory > 0 && uint64(n) > c.Device.Memory {
		return nil, &SizeError{Size: n, Device: c.Device, Err: &Error{"cuMemAlloc", OutOfMemory}}
	}
	if err := c.makeRoom(n); err != nil {
		return nil, err
	}
	m := &Memory{Size: n, context: c}
	err := c.make("cuMemAlloc", func() Code {
		if c.pool == 0 {
			return c.api.MemAlloc(&m.Pointer, n)
		}
		if code := c.api.MemAllocFromPoolAsync(&m.Pointer, n, c.pool, c.memory); code != 0 {
			return code
		}
		return c.api.StreamSynchronize(c.memory)
	})
	if e, ok := err.(*Error); ok && e.OutOfMemory() {
		free, _ := c.Free()
		return nil, &SizeError{Size: n, Device: c.Device, Free: free, Err: e}
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Close frees the buffer, which nothing that was started uses any more.
func (m *Memory) Close() error {
	if m.closed.Swap(true) {
		return ErrClosed
	}
	c := m.context
	return c.drop("cuMemFree", func() Code {
		if c.pool == 0 {
			return c.api.MemFree(m.Pointer)
		}
		return c.api.MemFreeAsync(m.Pointer, c.memory)
	})
}

// SizeError is a buffer that the device has no room for.
type SizeError struct {
	Size   int
	Device *Device
	Free   uint64 // as the driver says; 0: it does not
	Err    error
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("no room for %d bytes on %s, which has %d in all and %d free: %v",
		e.Size, e.Device.Name, e.Device.Memory, e.Free, e.Err)
}

func (e *SizeError) Unwrap() error { return e.Err }

// OutOfMemory tells whether there would be room if others gave theirs back.
func (e *SizeError) OutOfMemory() bool { return true }

// Free is how many bytes of the device's memory nobody uses.
func (c *Context) Free() (uint64, error) {
	free, total := new(uint64), new(uint64)
	err := c.call("cuMemGetInfo", func() Code { return c.api.MemGetInfo(free, total) })
	return *free, err
}

// Cached is how many bytes are held for later buffers.
func (c *Context) Cached() int64 {
	reserved, used, err := c.held()
	if err != nil {
		return 0
	}
	return int64(reserved - used)
}

// held is how many bytes the pool has of the system, and how many of these
// buffers use.
func (c *Context) held() (reserved, used uint64, err error) {
	if c.pool == 0 || c.closed.Load() {
		return 0, 0, nil
	}
	r, u := new(uint64), new(uint64)
	err = c.call("cuMemPoolGetAttribute", func() Code {
		if code := c.api.PoolGetAttribute(c.pool, poolReserved, r); code != 0 {
			return code
		}
		return c.api.PoolGetAttribute(c.pool, poolUsed, u)
	})
	return *r, min(*u, *r), err
}

// Trim gives the system back what is held for later buffers.
func (c *Context) Trim() error { return c.trim(0) }

// trim has the pool give back what nobody uses, down to a number of bytes with
// what is in use.
func (c *Context) trim(keep uint64) error {
	if c.pool == 0 || c.closed.Load() {
		return nil
	}
	return c.call("cuMemPoolTrimTo", func() Code {
		if code := c.api.StreamSynchronize(c.memory); code != 0 {
			return code
		}
		return c.api.PoolTrimTo(c.pool, int(keep))
	})
}

// Host is memory of the host that stays in its place, so that the device reads
// and writes it by itself.
type Host struct {
	Bytes   []byte
	context *Context
	closed  atomic.Bool
}

// AllocHost makes memory of the host; n is not 0.
func (c *Context) AllocHost(n int) (*Host, error) {
	const portable = 1
	if n <= 0 {
		return nil, fmt.Errorf("CUDA: host memory of %d bytes", n)
	}
	p := new(unsafe.Pointer)
	if err := c.make("cuMemHostAlloc", func() Code { return c.api.MemHostAlloc(p, n, portable) }); err != nil {
		return nil, err
	}
	return &Host{Bytes: unsafe.Slice((*byte)(*p), n), context: c}, nil
}

// Close frees the memory, which is used no more.
func (h *Host) Close() error {
	if h.closed.Swap(true) {
		return ErrClosed
	}
	return h.context.drop("cuMemFreeHost", func() Code { return h.context.api.MemFreeHost(unsafe.Pointer(&h.Bytes[0])) })
}
