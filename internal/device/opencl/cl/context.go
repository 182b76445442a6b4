package cl

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/sinterml/sinter/internal/dynlib"
)

// Context holds the buffers and programs of one device. It may be used from
// many goroutines.
type Context struct {
	Device *Device
	api    *API
	id     ContextID
	closed atomic.Bool
}

// ErrClosed is returned by what was closed before it was used.
var ErrClosed = errors.New("OpenCL: closed")

// NewContext opens a device.
func (a *API) NewContext(d *Device) (*Context, error) {
	defer dynlib.KeepSignals()()
	const contextPlatform = 0x1084
	properties, device, code := &[3]uintptr{contextPlatform, uintptr(d.platform), 0}, d.ID, new(Code)
	id := a.CreateContext(&properties[0], &device, code)
	if err := check(*code, "clCreateContext on "+d.Name); err != nil {
		return nil, err
	}
	return &Context{Device: d, api: a, id: id}, nil
}

// Close gives the context back once all that was made with it is closed too.
func (c *Context) Close() error {
	if c.closed.Swap(true) {
		return ErrClosed
	}
	return check(c.api.ReleaseContext(c.id), "clReleaseContext")
}

// Queue runs what is enqueued, in order. Its methods may be called from many
// goroutines, as OpenCL's may.
type Queue struct {
	api    *API
	id     QueueID
	closed atomic.Bool
}

// NewQueue makes a queue in order. With profile events tell when they ran.
func (c *Context) NewQueue(profile bool) (*Queue, error) {
	code := new(Code)
	const queueProperties, profiling = 0x1093, 1 << 1
	var flags uint64
	if profile {
		flags = profiling
	}
	q := &Queue{api: c.api}
	if c.api.CreateQueueProperties != nil {
		properties := &[3]uint64{queueProperties, flags, 0}
		q.id = c.api.CreateQueueProperties(c.id, c.Device.ID, &properties[0], code)
	}
	if q.id == 0 { // a driver of version 1.2 behind a newer loader refuses the newer function
		*code = 0
		q.id = c.api.CreateQueue(c.id, c.Device.ID, flags, code)
	}
	return q, check(*code, "clCreateCommandQueue")
}

// check is the error of a call that returned c. What a queue says of itself, or
// of what was enqueued before, is said of the device.
func (q *Queue) check(c Code, call string) error {
	switch err := check(c, call); c {
	case DeviceNotAvailable, OutOfResources, InvalidCommandQueue:
		return fmt.Errorf("the device failed: %w", err)
	default:
		return err
	}
}

// Flush makes sure that what was enqueued begins.
func (q *Queue) Flush() error { return q.check(q.api.Flush(q.id), "clFlush") }

// Finish waits until all that was enqueued has ended.
func (q *Queue) Finish() error { return q.check(q.api.Finish(q.id), "clFinish") }

// Close gives the queue back once what is enqueued has ended.
func (q *Queue) Close() error {
	if q.closed.Swap(true) {
		return ErrClosed
	}
	return check(q.api.ReleaseQueue(q.id), "clReleaseCommandQueue")
}

// Memory is a buffer on a device.
type Memory struct {
	Size   int
	api    *API
	id     MemID
	host   []byte // kept alive while the device may read it
	closed atomic.Bool
}

// Flags of CreateBuffer.
const (
	memReadWrite    = 1 << 0
	memReadOnly     = 1 << 2
	memUseHostPtr   = 1 << 3
	memAllocHostPtr = 1 << 4
)

// Alloc makes a buffer of any contents; n is not 0. With host it lies where the
// host reaches it without a copy.
func (c *Context) Alloc(n int, host bool) (*Memory, error) {
	flags := uint64(memReadWrite)
	if host {
		flags |= memAllocHostPtr
	}
	return c.buffer(flags, n, nil)
}

// Use makes a buffer of the caller's memory, which kernels only read. It must
// stay where it is until Close: memory of Go on the heap, or mapped.
func (c *Context) Use(b []byte) (*Memory, error) {
	return c.buffer(memReadOnly|memUseHostPtr, len(b), b)
}

func (c *Context) buffer(flags uint64, n int, host []byte) (*Memory, error) {
	switch {
	case c.closed.Load():
		return nil, ErrClosed
	case n <= 0:
		return nil, fmt.Errorf("OpenCL: a buffer of %d bytes", n)
	case c.Device.MaxAlloc > 0 && uint64(n) > c.Device.MaxAlloc:
		return nil, &SizeError{Size: n, Device: c.Device, Err: &Error{"clCreateBuffer", InvalidBufferSize}}
	}
	code := new(Code)
	id := c.api.CreateBuffer(c.id, flags, n, unsafe.Pointer(unsafe.SliceData(host)), code)
	switch *code {
	case 0:
		return &Memory{Size: n, api: c.api, id: id, host: host}, nil
	case MemObjectAllocFailure, OutOfResources, OutOfHostMemory, InvalidBufferSize:
		return nil, &SizeError{Size: n, Device: c.Device, Err: &Error{"clCreateBuffer", *code}}
	}
	return nil, check(*code, fmt.Sprintf("clCreateBuffer of %d bytes", n))
}

// SizeError is a buffer that the device has no room for.
type SizeError struct {
	Size   int
	Device *Device
	Err    error
}

func (e *SizeError) Error() string {
	if limit := e.Device.MaxAlloc; limit > 0 && uint64(e.Size) > limit {
		return fmt.Sprintf("%s has no buffers of %d bytes, %d is the limit", e.Device.Name, e.Size, limit)
	}
	return fmt.Sprintf("no room for %d bytes on %s, which has %d in all: %v", e.Size, e.Device.Name, e.Device.Memory, e.Err)
}

func (e *SizeError) Unwrap() error { return e.Err }

// OutOfMemory tells whether there would be room if others gave theirs back.
func (e *SizeError) OutOfMemory() bool { return true }

// Part is n bytes of the buffer from offset, a multiple of Device.Align, as a
// buffer. It is closed before the whole.
func (m *Memory) Part(offset, n int) (*Memory, error) {
	const region = 0x1220
	code := new(Code)
	id := m.api.CreateSubBuffer(m.id, 0, region, &[2]int{offset, n}, code)
	if err := check(*code, fmt.Sprintf("clCreateSubBuffer of %d bytes at %d of %d", n, offset, m.Size)); err != nil {
		return nil, err
	}
	return &Memory{Size: n, api: m.api, id: id}, nil
}

// Close frees the buffer once nothing that was enqueued uses it.
func (m *Memory) Close() error {
	if m.closed.Swap(true) {
		return ErrClosed
	}
	return check(m.api.ReleaseMemObject(m.id), "clReleaseMemObject")
}
