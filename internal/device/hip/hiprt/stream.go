package hiprt

import (
	"errors"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Stream runs what it is given in order. What goroutines give it at the same time
// comes in any order.
type Stream struct {
	context *Context
	id      StreamID
	closed  atomic.Bool
}

// NewStream makes a stream.
func (c *Context) NewStream() (*Stream, error) {
	if c.closed.Load() {
		return nil, ErrClosed
	}
	leave, err := c.enter()
	defer leave()
	if err != nil {
		return nil, err
	}
	const nonBlocking = 1 // it does not wait for the stream that other libraries use
	id := new(StreamID)
	if err := c.check(c.api.StreamCreate(id, nonBlocking), "hipStreamCreateWithFlags"); err != nil {
		return nil, err
	}
	return &Stream{context: c, id: *id}, nil
}

// Close gives the stream back; what was started on it has ended.
func (s *Stream) Close() error {
	if s.closed.Swap(true) {
		return ErrClosed
	}
	return s.context.give(func() error { return s.context.check(s.context.api.StreamDestroy(s.id), "hipStreamDestroy") })
}

// do starts something and waits for all that was started. host is what of the
// host's memory that uses.
func (s *Stream) do(host []byte, start func() error) error {
	c := s.context
	leave, err := c.enter()
	defer leave()
	if err != nil {
		return err
	}
	if err := start(); err != nil {
		if waited := c.wait(s.id, host); !c.lost.Load() { // what was started uses memory that may go now
			err = errors.Join(err, waited)
		}
		return err
	}
	return c.wait(s.id, host)
}

// Directions of copies.
const (
	toDevice = 1
	toHost   = 2
	onDevice = 3
)

func (s *Stream) copies(dst, src unsafe.Pointer, n int, kind uint32) error {
	c := s.context
	return c.check(c.api.MemcpyAsync(dst, src, n, kind, s.id), "hipMemcpyAsync")
}

// Write copies to the device.
func (s *Stream) Write(dst *Memory, offset int, src []byte) error {
	if err := dst.within(offset, len(src), "hipMemcpyAsync"); err != nil || len(src) == 0 {
		return err
	}
	return s.do(src, func() error { return s.copies(dst.at(offset), unsafe.Pointer(&src[0]), len(src), toDevice) })
}

// Read copies from the device.
func (s *Stream) Read(dst []byte, src *Memory, offset int) error {
	if err := src.within(offset, len(dst), "hipMemcpyAsync"); err != nil || len(dst) == 0 {
		return err
	}
	return s.do(dst, func() error { return s.copies(unsafe.Pointer(&dst[0]), src.at(offset), len(dst), toHost) })
}

// Copy copies n bytes on the device.
func (s *Stream) Copy(dst, src *Memory, n int) error {
	if err := errors.Join(dst.within(0, n, "hipMemcpyAsync"), src.within(0, n, "hipMemcpyAsync")); err != nil || n == 0 {
		return err
	}
	return s.do(nil, func() error { return s.copies(dst.at(0), src.at(0), n, onDevice) })
}

// Zero fills n bytes with 0.
func (s *Stream) Zero(m *Memory, n int) error {
	if err := m.within(0, n, "hipMemsetAsync"); err != nil || n == 0 {
		return err
	}
	c := s.context
	return s.do(nil, func() error { return c.check(c.api.MemsetAsync(m.address, 0, n, s.id), "hipMemsetAsync") })
}

// Run runs launches one after another and waits for the last. If from is not nil,
// its first bytes are read into p behind them. Beside an error it says whether any
// of them has begun.
func (s *Stream) Run(all []*Launch, p []byte, from *Memory) (begun bool, err error) {
	if from != nil {
		if err := from.within(0, len(p), "hipMemcpyAsync"); err != nil {
			return false, err
		}
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	err = s.do(p, func() error {
		c := s.context
		for _, l := range all {
			pin.Pin(&l.values[0])
			pin.Pin(&l.params[0])
			if code := c.api.LaunchKernel(l.function, l.groups, l.items, s.id, &l.params[0]); code != 0 {
				return c.check(code, l.call)
			}
			begun = true
		}
		if from == nil {
			return nil
		}
		return s.copies(unsafe.Pointer(&p[0]), from.at(0), len(p), toHost)
	})
	return begun, err
}
