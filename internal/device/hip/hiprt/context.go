package hiprt

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/sinterml/sinter/internal/dynlib"
)

// Context is a device with a stream, which runs what it is given in order. It
// may be used from many goroutines.
type Context struct {
	Device *Device
	api    *API
	stream StreamID
	lost   atomic.Bool
	closed atomic.Bool
	// launching is held while the kernels of one run are enqueued.
	launching sync.Mutex
}

// ErrClosed is returned by what was closed before it was used.
var ErrClosed = errors.New("HIP: closed")

// enter makes the device current on this thread, on which the goroutine stays
// until leave.
func (c *Context) enter() (leave func(), err error) {
	runtime.LockOSThread()
	before := new(int32)
	if code := c.api.GetDevice(before); code != 0 {
		*before = c.Device.Index
	}
	if *before == c.Device.Index {
		err = c.check(c.api.SetDevice(c.Device.Index), "hipSetDevice") // a new thread has made none current yet
		return runtime.UnlockOSThread, err
	}
	err = c.check(c.api.SetDevice(c.Device.Index), "hipSetDevice")
	return func() {
		c.api.SetDevice(*before)
		runtime.UnlockOSThread()
	}, err
}

// check is the error of a call that returned code. A device that has failed does
// so in every call from then on.
func (c *Context) check(code Code, call string) error {
	if lost(code) {
		c.lost.Store(true)
	}
	return checkRun(code, call)
}

// NewContext opens a device.
func (a *API) NewContext(d *Device) (*Context, error) {
	defer dynlib.KeepSignals()()
	if lack := d.Lacks(); lack != "" {
		return nil, fmt.Errorf("HIP: %s %s", d.Name, lack)
	}
	c := &Context{Device: d, api: a}
	leave, err := c.enter()
	defer leave()
	if err != nil {
		return nil, err
	}
	const nonBlocking = 1 // it does not wait for the stream that other libraries use
	stream := new(StreamID)
	if err := c.check(a.StreamCreate(stream, nonBlocking), "hipStreamCreateWithFlags"); err != nil {
		return nil, err
	}
	c.stream = *stream
	return c, nil
}

// Wait waits until all that was enqueued has ended.
func (c *Context) Wait() error {
	leave, err := c.enter()
	defer leave()
	if err != nil {
		return err
	}
	return c.check(c.api.StreamSynchronize(c.stream), "hipStreamSynchronize")
}

// Close gives the stream back once what was enqueued has ended.
func (c *Context) Close() error {
	if c.closed.Swap(true) {
		return ErrClosed
	}
	err := c.Wait()
	leave, failed := c.enter()
	defer leave()
	if failed != nil {
		return errors.Join(err, failed)
	}
	return errors.Join(err, c.check(c.api.StreamDestroy(c.stream), "hipStreamDestroy"))
}

// Memory is a part of a device's memory.
type Memory struct {
	Size    int
	context *Context
	address Pointer
	closed  atomic.Bool
}

// SizeError is memory that the device has no room for.
type SizeError struct {
	Size   int
	Device *Device
	Err    error
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("no room for %d bytes on %s, which has %d in all: %v", e.Size, e.Device.Name, e.Device.Memory, e.Err)
}

func (e *SizeError) Unwrap() error { return e.Err }

// OutOfMemory tells whether there would be room if others gave theirs back.
func (e *SizeError) OutOfMemory() bool { return true }

// Alloc makes n bytes of any contents; n is not 0.
func (c *Context) Alloc(n int) (*Memory, error) {
	if c.closed.Load() {
		return nil, ErrClosed
	}
	if n <= 0 {
		return nil, fmt.Errorf("HIP: memory of %d bytes", n)
	}
	leave, err := c.enter()
	defer leave()
	if err != nil {
		return nil, err
	}
	p := new(Pointer)
	code := c.api.Malloc(p, n)
	if code == OutOfMemory {
		return nil, &SizeError{n, c.Device, &Error{"hipMalloc", code}}
	}
	if err := c.check(code, fmt.Sprintf("hipMalloc of %d bytes", n)); err != nil {
		return nil, err
	}
	return &Memory{Size: n, context: c, address: *p}, nil
}

// Close frees the memory; HIP waits for what uses it. That of a lost device is
// gone already.
func (m *Memory) Close() error {
	if m.closed.Swap(true) {
		return ErrClosed
	}
	leave, err := m.context.enter()
	defer leave()
	if m.context.lost.Load() {
		m.context.api.Free(m.address)
		return nil
	}
	if err != nil {
		return err
	}
	return m.context.check(m.context.api.Free(m.address), "hipFree")
}

// within checks a part of memory.
func (m *Memory) within(offset, n int, call string) error {
	if offset < 0 || n < 0 || offset > m.Size-n {
		return fmt.Errorf("%s: %d bytes at %d of %d: outside the memory", call, n, offset, m.Size)
	}
	return nil
}

// at is an address in device memory as C has it: no pointer of Go's.
func (m *Memory) at(offset int) unsafe.Pointer {
	p := m.address + Pointer(offset)
	return *(*unsafe.Pointer)(unsafe.Pointer(&p))
}

// Directions of copies.
const (
	toDevice = 1
	toHost   = 2
	onDevice = 3
)

// transfer copies in the stream's order.
func (c *Context) transfer(dst, src unsafe.Pointer, n int, kind uint32, wait bool) error {
	leave, err := c.enter()
	defer leave()
	if err != nil {
		return err
	}
	if err := c.check(c.api.MemcpyAsync(dst, src, n, kind, c.stream), "hipMemcpyAsync"); err != nil || !wait {
		return err
	}
	return c.check(c.api.StreamSynchronize(c.stream), "hipStreamSynchronize")
}

// Write copies to the device; src may change once it returns.
func (c *Context) Write(dst *Memory, offset int, src []byte) error {
	if err := dst.within(offset, len(src), "hipMemcpyAsync"); err != nil || len(src) == 0 {
		return err
	}
	return c.transfer(dst.at(offset), unsafe.Pointer(&src[0]), len(src), toDevice, true)
}

// Read copies from the device once all that was enqueued before has ended.
func (c *Context) Read(dst []byte, src *Memory, offset int) error {
	if err := src.within(offset, len(dst), "hipMemcpyAsync"); err != nil || len(dst) == 0 {
		return err
	}
	return c.transfer(unsafe.Pointer(&dst[0]), src.at(offset), len(dst), toHost, true)
}

// Copy enqueues a copy of n bytes.
func (c *Context) Copy(dst, src *Memory, n int) error {
	if err := errors.Join(dst.within(0, n, "hipMemcpyAsync"), src.within(0, n, "hipMemcpyAsync")); err != nil || n == 0 {
		return err
	}
	return c.transfer(dst.at(0), src.at(0), n, onDevice, false)
}

// Zero enqueues filling n bytes with 0.
func (c *Context) Zero(m *Memory, n int) error {
	if err := m.within(0, n, "hipMemsetAsync"); err != nil || n == 0 {
		return err
	}
	leave, err := c.enter()
	defer leave()
	if err != nil {
		return err
	}
	return c.check(c.api.MemsetAsync(m.address, 0, n, c.stream), "hipMemsetAsync")
}
