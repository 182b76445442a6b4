package cu

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/sinterml/sinter/internal/dynlib"
)

// Context is an open device: its primary context, which is shared with other
// libraries of the process that use the device. It may be used from many
// goroutines.
type Context struct {
	Device *Device
	api    *API
	id     ContextID
	pool   PoolID   // 0: memory does not come from a pool
	memory StreamID // orders what the pool gives and takes
	limit  atomic.Int64
	closed atomic.Bool
	refs   atomic.Int64 // one for the owner, one for each thing made with it
	lost   atomic.Pointer[LostError]

	up, down stages
}

// ErrClosed is returned by what was closed before it was used.
var ErrClosed = errors.New("CUDA: closed")

// LostError says that the device has failed, in a way after which the driver
// refuses all that is asked of an open device, or does not say when what runs there
// ends.
type LostError struct {
	Device string
	Err    error // of the call that noticed it
}

func (e *LostError) Error() string {
	return fmt.Sprintf("the device failed: %s: %v: open it anew, or start the program again if that fails too", e.Device, e.Err)
}

func (e *LostError) Unwrap() error { return e.Err }

// contexts are those of a process that are open. All of a device are one to the
// driver.
type contexts struct {
	sync.Mutex
	open map[*Context]bool
}

// NewContext opens a device. If an earlier failure left its primary context
// unusable, that is reset: all others that are open on the device are lost by
// that failure too.
func (a *API) NewContext(d *Device) (*Context, error) {
	defer dynlib.KeepSignals()()
	a.contexts.Lock()
	defer a.contexts.Unlock()
	c := &Context{Device: d, api: a}
	c.refs.Store(1)
	if err := check(a.PrimaryRetain(&c.id, d.ID), "cuDevicePrimaryCtxRetain on "+d.Name); err != nil {
		return nil, err
	}
	err := c.prepare()
	if lost := c.lost.Swap(nil); lost != nil {
		for other := range a.contexts.open {
			if other.Device.ID == d.ID {
				other.lost.CompareAndSwap(nil, lost)
			}
		}
		if err = check(a.PrimaryReset(d.ID), "cuDevicePrimaryCtxReset on "+d.Name); err == nil {
			err = c.prepare()
		}
	}
	if err != nil {
		return nil, errors.Join(err, check(a.PrimaryRelease(d.ID), "cuDevicePrimaryCtxRelease"))
	}
	if a.contexts.open == nil {
		a.contexts.open = map[*Context]bool{}
	}
	a.contexts.open[c] = true
	return c, nil
}

// prepare makes the stream that memory is ordered by, and the pool.
func (c *Context) prepare() error {
	err := c.call("cuStreamCreate", func() Code { return c.api.StreamCreate(&c.memory, streamNonBlocking) })
	if err != nil || !c.Device.Pools {
		return err
	}
	if err = c.newPool(); err != nil {
		err = errors.Join(err, c.give("cuStreamDestroy", func() Code { return c.api.StreamDestroy(c.memory) }))
	}
	return err
}

// enter makes the context current on this thread, where the goroutine stays
// until leave.
func (c *Context) enter() error {
	if lost := c.lost.Load(); lost != nil {
		return lost
	}
	runtime.LockOSThread()
	if code := c.api.PushCurrent(c.id); code != 0 {
		runtime.UnlockOSThread()
		return c.check(code, "cuCtxPushCurrent")
	}
	return nil
}

func (c *Context) leave() {
	c.api.PopCurrent()
	runtime.UnlockOSThread()
}

// call makes one call of the driver with the context current.
func (c *Context) call(name string, f func() Code) error {
	if err := c.enter(); err != nil {
		return err
	}
	defer c.leave()
	return c.check(f(), name)
}

// check is the error of a call that returned code. One that leaves the context
// unusable is remembered.
func (c *Context) check(code Code, call string) error {
	if code == 0 {
		return nil
	}
	err := &Error{Call: call, Code: code}
	if !sticky[code] {
		return err
	}
	c.lost.CompareAndSwap(nil, &LostError{c.Device.Name, err})
	return c.lost.Load()
}

// waited is the error of waiting for what was started. Where there is one, that may
// still go on, in memory that nobody can tell to be free: the context is lost.
func (c *Context) waited(err error) error {
	if err == nil {
		return nil
	}
	c.lost.CompareAndSwap(nil, &LostError{c.Device.Name, err})
	return c.lost.Load()
}

// make makes something that needs the context until drop.
func (c *Context) make(name string, f func() Code) error {
	if c.closed.Load() {
		return ErrClosed
	}
	err := c.call(name, f)
	if err == nil {
		c.refs.Add(1)
	}
	return err
}

// drop gives back what make made.
func (c *Context) drop(name string, f func() Code) error {
	return errors.Join(c.give(name, f), c.release())
}

// give gives something back. What belonged to a context that is lost has gone
// with it, or what runs there may still use it: the driver ends that, with all that
// the context has, when the device is given back.
func (c *Context) give(name string, f func() Code) error {
	if c.lost.Load() != nil {
		return nil
	}
	return c.call(name, f)
}

// Lost is the error that made the context unusable, or nil.
func (c *Context) Lost() error {
	if lost := c.lost.Load(); lost != nil {
		return lost
	}
	return nil
}

// Close gives the device back once all that was made with the context is closed
// too.
func (c *Context) Close() error {
	if c.closed.Swap(true) {
		return ErrClosed
	}
	return c.release()
}

func (c *Context) release() error {
	if c.refs.Add(-1) > 0 {
		return nil
	}
	c.api.contexts.Lock()
	defer c.api.contexts.Unlock()
	delete(c.api.contexts.open, c)
	err := c.dropStages()
	if c.pool != 0 {
		err = errors.Join(err, c.give("cuMemPoolDestroy", func() Code { return c.api.PoolDestroy(c.pool) }))
	}
	err = errors.Join(err, c.give("cuStreamDestroy", func() Code { return c.api.StreamDestroy(c.memory) }))
	if code := c.api.PrimaryRelease(c.Device.ID); c.lost.Load() == nil {
		err = errors.Join(err, check(code, "cuDevicePrimaryCtxRelease"))
	}
	return err
}
