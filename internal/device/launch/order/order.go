// Package order finds what a driver's streams do to memory in no order. Drivers
// of tests tell it of each call; it keeps a clock of the host and of each stream,
// as the vector clocks of distributed programs are.
package order

import (
	"fmt"
	"maps"
)

// Stream, Event and Memory are handles of a driver.
type (
	Stream uintptr
	Event  uintptr
	Memory uintptr
)

// clock says how far each stream has come.
type clock map[Stream]int

func (c clock) join(o clock) {
	for s, n := range o {
		c[s] = max(c[s], n)
	}
}

// Checker is the order of one driver's work so far. The zero value is that of a
// driver that has done nothing. Its methods take turns.
type Checker struct {
	host    clock            // what the host knows to have ended
	streams map[Stream]clock // what comes before the next of each stream, itself included
	events  map[Event]clock
	memory  map[Memory]*uses
}

// uses are the last uses of memory.
type uses struct {
	writer  Stream
	written int   // 0: never
	read    clock // the last of each stream
}

func (c *Checker) stream(s Stream) clock {
	if c.streams == nil {
		c.host, c.streams, c.events, c.memory = clock{}, map[Stream]clock{}, map[Event]clock{}, map[Memory]*uses{}
	}
	if c.streams[s] == nil {
		c.streams[s] = clock{}
	}
	return c.streams[s]
}

func (c *Checker) uses(m Memory) *uses {
	if c.memory[m] == nil {
		c.memory[m] = &uses{read: clock{}}
	}
	return c.memory[m]
}

// Work is something that a stream does.
type Work struct {
	checker *Checker
	what    string
	stream  Stream
	before  clock // and itself
}

// Start starts something on a stream, after all that the host knows to have ended.
func (c *Checker) Start(s Stream, what string) *Work {
	now := c.stream(s)
	now.join(c.host)
	now[s]++
	return &Work{c, what, s, maps.Clone(now)}
}

// Reads notes that the work reads memory. The error says what writes it in no
// order with that.
func (w *Work) Reads(m Memory) error {
	u := w.checker.uses(m)
	u.read[w.stream] = max(u.read[w.stream], w.before[w.stream])
	if u.written > w.before[u.writer] {
		return fmt.Errorf("%s on stream %#x reads what stream %#x writes meanwhile", w.what, w.stream, u.writer)
	}
	return nil
}

// Writes notes that the work writes memory. The error says what uses it in no
// order with that.
func (w *Work) Writes(m Memory) error {
	u := w.checker.uses(m)
	other, clash := u.after(w.before)
	u.writer, u.written = w.stream, w.before[w.stream]
	if clash {
		return fmt.Errorf("%s on stream %#x writes what stream %#x uses meanwhile", w.what, w.stream, other)
	}
	return nil
}

// after finds a stream whose use of the memory does not come before a time.
func (u *uses) after(now clock) (Stream, bool) {
	if u.written > now[u.writer] {
		return u.writer, true
	}
	for s, n := range u.read {
		if n > now[s] {
			return s, true
		}
	}
	return 0, false
}

// Record has an event stand for all that was started on a stream.
func (c *Checker) Record(e Event, s Stream) { c.events[e] = maps.Clone(c.stream(s)) }

// Follow has what is started on a stream come after an event.
func (c *Checker) Follow(s Stream, e Event) { c.stream(s).join(c.events[e]) }

// Wait has the host wait for all of a stream, WaitEvent for an event.
func (c *Checker) Wait(s Stream) {
	now := c.stream(s)
	c.host.join(now)
}

// WaitEvent has the host wait for an event.
func (c *Checker) WaitEvent(e Event) {
	if c.host != nil {
		c.host.join(c.events[e])
	}
}

// Free forgets memory, which nothing may use any more: by the host.
func (c *Checker) Free(m Memory) (err error) {
	if u := c.memory[m]; u != nil {
		if s, used := u.after(c.host); used {
			err = fmt.Errorf("memory is freed that stream %#x uses", s)
		}
	}
	delete(c.memory, m)
	return err
}
