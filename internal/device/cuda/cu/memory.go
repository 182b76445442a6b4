package cu

import (
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
	keep := uint64(math.MaxUint64)
	return c.call("cuMemPoolSetAttribute", func() Code { return c.api.PoolSetAttribute(c.pool, poolReleaseThreshold, &keep) })
}

// Alloc makes a buffer of any contents; n is not 0. Every stream may use it.
func (c *Context) Alloc(n int) (*Memory, error) {
	if n <= 0 {
		return nil, fmt.Errorf("CUDA: a buffer of %d bytes", n)
	}
	if c.Device.Memory > 0 && uint64(n) > c.Device.Memory {
		return nil, &SizeError{Size: n, Device: c.Device, Err: &Error{"cuMemAlloc", OutOfMemory}}
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
	if e, ok := err.(*Error); ok && e.Code == OutOfMemory {
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
	return fmt.Sprintf("no room for %d bytes on %s, which has %d in all and %d free: use smaller batches, or close what is not needed: %v",
		e.Size, e.Device.Name, e.Device.Memory, e.Free, e.Err)
}

func (e *SizeError) Unwrap() error { return e.Err }

// Free is how many bytes of the device's memory nobody uses.
func (c *Context) Free() (uint64, error) {
	free, total := new(uint64), new(uint64)
	err := c.call("cuMemGetInfo", func() Code { return c.api.MemGetInfo(free, total) })
	return *free, err
}

// Cached is how many bytes are held for later buffers.
func (c *Context) Cached() int64 {
	if c.pool == 0 {
		return 0
	}
	reserved, used := new(uint64), new(uint64)
	err := c.call("cuMemPoolGetAttribute", func() Code {
		if code := c.api.PoolGetAttribute(c.pool, poolReserved, reserved); code != 0 {
			return code
		}
		return c.api.PoolGetAttribute(c.pool, poolUsed, used)
	})
	if err != nil || *used > *reserved {
		return 0
	}
	return int64(*reserved - *used)
}

// Trim gives the system back what is held for later buffers.
func (c *Context) Trim() error {
	if c.pool == 0 {
		return nil
	}
	return c.call("cuMemPoolTrimTo", func() Code {
		if code := c.api.StreamSynchronize(c.memory); code != 0 {
			return code
		}
		return c.api.PoolTrimTo(c.pool, 0)
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
