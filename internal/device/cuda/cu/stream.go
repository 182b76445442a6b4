package cu

import (
	"sync/atomic"
	"time"
)

// Stream runs what is started on it, in order. Its methods may be called from
// many goroutines.
type Stream struct {
	context *Context
	id      StreamID
	closed  atomic.Bool
}

// streamNonBlocking has a stream not wait for the one that all libraries share.
const streamNonBlocking = 1

// NewStream makes a stream.
func (c *Context) NewStream() (*Stream, error) {
	s := &Stream{context: c}
	if err := c.make("cuStreamCreate", func() Code { return c.api.StreamCreate(&s.id, streamNonBlocking) }); err != nil {
		return nil, err
	}
	return s, nil
}

// Wait returns when all that was started has ended.
func (s *Stream) Wait() error {
	c := s.context
	return c.waited(c.call("cuStreamSynchronize", func() Code { return c.api.StreamSynchronize(s.id) }))
}

// wait starts something and returns when it has ended.
func (s *Stream) wait(call string, start func() Code) error {
	c := s.context
	if err := c.enter(); err != nil {
		return err
	}
	defer c.leave()
	if err := c.check(start(), call); err != nil {
		return err
	}
	return s.synchronize()
}

// synchronize is Wait where the context is current.
func (s *Stream) synchronize() error {
	return s.context.waited(s.context.check(s.context.api.StreamSynchronize(s.id), "cuStreamSynchronize"))
}

// Close gives the stream back; what was started has ended.
func (s *Stream) Close() error {
	if s.closed.Swap(true) {
		return ErrClosed
	}
	return s.context.drop("cuStreamDestroy", func() Code { return s.context.api.StreamDestroy(s.id) })
}

// Event is a point in a stream.
type Event struct {
	context *Context
	id      EventID
	closed  atomic.Bool
}

// NewEvent makes an event. With timed it can be measured from and to.
func (c *Context) NewEvent(timed bool) (*Event, error) {
	const disableTiming = 2
	flags := uint32(disableTiming)
	if timed {
		flags = 0
	}
	e := &Event{context: c}
	if err := c.make("cuEventCreate", func() Code { return c.api.EventCreate(&e.id, flags) }); err != nil {
		return nil, err
	}
	return e, nil
}

// Record has the event come when all that was started before has ended.
func (s *Stream) Record(e *Event) error {
	return s.context.call("cuEventRecord", func() Code { return s.context.api.EventRecord(e.id, s.id) })
}

// WaitFor has what is started later begin after the event.
func (s *Stream) WaitFor(e *Event) error {
	return s.context.call("cuStreamWaitEvent", func() Code { return s.context.api.StreamWaitEvent(s.id, e.id) })
}

// Wait returns when the event has come.
func (e *Event) Wait() error {
	return e.context.waited(e.context.call("cuEventSynchronize", func() Code { return e.context.api.EventSynchronize(e.id) }))
}

// Done tells whether the event has come, without waiting.
func (e *Event) Done() (bool, error) {
	c := e.context
	if err := c.enter(); err != nil {
		return false, err
	}
	defer c.leave()
	code := c.api.EventQuery(e.id)
	if code == NotReady {
		return false, nil
	}
	err := c.check(code, "cuEventQuery")
	return err == nil, err
}

// Since is the time from one timed event to another, of the device.
func (e *Event) Since(start *Event) (time.Duration, error) {
	ms := new(float32)
	err := e.context.call("cuEventElapsedTime", func() Code { return e.context.api.EventElapsedTime(ms, start.id, e.id) })
	return time.Duration(float64(*ms) * float64(time.Millisecond)), err
}

// Close gives the event back.
func (e *Event) Close() error {
	if e.closed.Swap(true) {
		return ErrClosed
	}
	return e.context.drop("cuEventDestroy", func() Code { return e.context.api.EventDestroy(e.id) })
}
