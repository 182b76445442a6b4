package hiprt

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/sinterml/sinter/internal/dynlib"
)

// Context is a device. It may be used from many goroutines.
type Context struct {
	Device *Device
	api    *API
	lost   atomic.Bool
	closed atomic.Bool
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
	return c, nil
}

// Close ends the use of the device; its streams are closed.
func (c *Context) Close() error {
	if c.closed.Swap(true) {
		return ErrClosed
	}
	return nil
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
