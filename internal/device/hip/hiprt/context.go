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

// Context is a device. It may be used from many goroutines.
type Context struct {
	Device *Device
	api    *API
	lost   atomic.Bool
	closed atomic.Bool

	mu        sync.Mutex
	unwaited  []StreamID // of which a wait has failed: what runs there may go on
	unwaitErr error      // of the first
	left      []func()   // what is to be given back when they have ended
}

// ErrClosed is returned by what was closed before it was used.
var ErrClosed = errors.New("HIP: closed")

// enter makes the device current on this thread, on which the goroutine stays
// until leave.
func (c *Context) enter() (leave func(), err error) {
	if err := c.unfinished(); err != nil {
		return func() {}, err
	}
	return c.current()
}

// current is enter, whatever has failed.
func (c *Context) current() (leave func(), err error) {
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

// unfinished is why the device is not used any more, if so: nobody knows what of its
// memory what runs there still uses.
func (c *Context) unfinished() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unwaitErr
}

// wait waits for a stream, with the device current. A driver that cannot has not
// ended what runs there; but one that has lost the device has.
func (c *Context) wait(s StreamID, host []byte) error {
	code := c.api.StreamSynchronize(s)
	if code == 0 || lost(code) {
		return c.check(code, "hipStreamSynchronize")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	err := fmt.Errorf("the device failed: %w", &Error{"hipStreamSynchronize", code})
	c.unwaited = append(c.unwaited, s)
	c.left = append(c.left, func() { runtime.KeepAlive(host) })
	if c.unwaitErr == nil {
		c.unwaitErr = err
	}
	return err
}

// give gives something back, with the device current; once all that may use it has
// ended, where that is not known.
func (c *Context) give(free func() error) error {
	leave, err := c.current()
	defer leave()
	if err != nil && !c.lost.Load() {
		return err
	}
	c.mu.Lock()
	if c.unwaitErr != nil {
		c.left = append(c.left, func() { _ = free() })
		c.mu.Unlock()
		return nil
	}
	c.mu.Unlock()
	return free()
}

// settle waits once more for what may go on, and gives back what was left if it has
// ended.
func (c *Context) settle() error {
	leave, err := c.current()
	defer leave()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unwaitErr == nil {
		return nil
	}
	for _, s := range c.unwaited {
		if code := c.api.StreamSynchronize(s); err == nil && code != 0 && !lost(code) {
			err = c.unwaitErr
		}
	}
	if err != nil {
		return err // it stays until the program ends
	}
	for _, free := range c.left {
		free()
	}
	c.left, c.unwaited, c.unwaitErr = nil, nil, nil
	return nil
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
	return c.settle()
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
	return m.context.give(func() error {
		code := m.context.api.Free(m.address)
		if m.context.lost.Load() {
			return nil
		}
		return m.context.check(code, "hipFree")
	})
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
