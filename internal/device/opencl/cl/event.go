package cl

import (
	"fmt"
	"sync/atomic"
	"time"
)

// Event is something enqueued.
type Event struct {
	api    *API
	id     EventID
	closed atomic.Bool
}

// Marker enqueues an event that comes when all before it has ended.
func (q *Queue) Marker() (*Event, error) {
	e := &Event{api: q.api}
	return e, q.check(q.api.EnqueueMarker(q.id, 0, nil, &e.id), "clEnqueueMarkerWithWaitList")
}

// Wait blocks until the event has come, and returns the error of what it
// stands for.
func (e *Event) Wait() error {
	c := e.api.WaitForEvents(1, &e.id)
	if c == 0 {
		return nil
	}
	if status, err := e.status(); err == nil && status < 0 {
		return fmt.Errorf("the device failed: %w", &Error{"clWaitForEvents", status})
	}
	return check(c, "clWaitForEvents")
}

// Done tells whether the event has come, without waiting.
func (e *Event) Done() (bool, error) {
	status, err := e.status()
	if err == nil && status < 0 {
		err = fmt.Errorf("the device failed: %w", &Error{"clGetEventInfo", status})
	}
	return status == 0, err
}

// status is 0 when the event has come, below it for an error.
func (e *Event) status() (Code, error) {
	const executionStatus = 0x11D3
	v, c := query(func(param uint32, size int, value *byte, needed *int) Code {
		return e.api.GetEventInfo(e.id, param, size, value, needed)
	}, executionStatus)
	return Code(uint32(number(v))), check(c, "clGetEventInfo")
}

// Ran is how long the device worked on what the event stands for, on a queue
// that profiles.
func (e *Event) Ran() (time.Duration, error) {
	begin, end, err := e.Times()
	return end - begin, err
}

// Times are when the device began and ended what the event stands for, on a queue
// that profiles, by a clock of the device.
func (e *Event) Times() (begin, end time.Duration, err error) {
	const start, ended = 0x1282, 0x1283
	at := func(param uint32) (time.Duration, error) {
		v, c := query(func(param uint32, size int, value *byte, needed *int) Code {
			return e.api.GetEventProfile(e.id, param, size, value, needed)
		}, param)
		return time.Duration(number(v)), check(c, "clGetEventProfilingInfo")
	}
	if begin, err = at(start); err != nil {
		return 0, 0, err
	}
	end, err = at(ended)
	return begin, end, err
}

// Close gives the event back.
func (e *Event) Close() error {
	if e.closed.Swap(true) {
		return ErrClosed
	}
	return check(e.api.ReleaseEvent(e.id), "clReleaseEvent")
}
