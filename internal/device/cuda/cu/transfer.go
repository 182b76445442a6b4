package cu

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"unsafe"
)

const (
	// stageBytes is how much of a large transfer the device fetches while the
	// host copies as much again.
	stageBytes = 4 << 20
	// largeTransfer is from where that pays: the driver does the same for smaller
	// ones, on one thread.
	largeTransfer = 1 << 20
	// copiers is how many threads copy: one reaches half of what the bus carries.
	copiers = 4
)

// stages are memory of the host that the device reads and writes by itself, for
// large transfers in one direction, one at a time.
type stages struct {
	sync.Mutex
	all [2]stage
}

type stage struct {
	host *Host
	done *Event // of the last transfer from or to it
}

// errRange says that a transfer would leave its buffer.
var errRange = errors.New("outside the buffer")

func (m *Memory) within(offset, n int, call string) error {
	if offset < 0 || n < 0 || offset > m.Size-n {
		return fmt.Errorf("%s: %d bytes at %d of %d: %w", call, n, offset, m.Size, errRange)
	}
	return nil
}

// Write copies to the device and waits for it.
func (s *Stream) Write(dst *Memory, offset int, src []byte) error {
	const call = "cuMemcpyHtoD"
	if err := dst.within(offset, len(src), call); err != nil || len(src) == 0 {
		return err
	}
	to := dst.Pointer + Pointer(offset)
	if len(src) < largeTransfer {
		return s.wait(call, func() Code { return s.context.api.MemcpyHtoDAsync(to, unsafe.Pointer(&src[0]), len(src), s.id) })
	}
	return s.staged(&s.context.up, len(src), func(at int, host []byte) error {
		copyWide(host, src[at:])
		return s.context.call(call, func() Code {
			return s.context.api.MemcpyHtoDAsync(to+Pointer(at), unsafe.Pointer(&host[0]), len(host), s.id)
		})
	}, func(int, []byte) {})
}

// Read copies from the device, after what was started on the stream before, and
// waits for it.
func (s *Stream) Read(dst []byte, src *Memory, offset int) error {
	const call = "cuMemcpyDtoH"
	if err := src.within(offset, len(dst), call); err != nil || len(dst) == 0 {
		return err
	}
	from := src.Pointer + Pointer(offset)
	if len(dst) < largeTransfer {
		return s.wait(call, func() Code { return s.context.api.MemcpyDtoHAsync(unsafe.Pointer(&dst[0]), from, len(dst), s.id) })
	}
	return s.staged(&s.context.down, len(dst), func(at int, host []byte) error {
		return s.context.call(call, func() Code {
			return s.context.api.MemcpyDtoHAsync(unsafe.Pointer(&host[0]), from+Pointer(at), len(host), s.id)
		})
	}, func(at int, host []byte) { copyWide(dst[at:], host) })
}

// staged makes a transfer of n bytes in parts, by two stages in turn: start is
// called once a stage is free, and finish before it is used again, when its part
// has arrived.
func (s *Stream) staged(g *stages, n int, start func(at int, host []byte) error, finish func(at int, host []byte)) error {
	g.Lock()
	defer g.Unlock()
	if err := s.context.makeStages(g); err != nil {
		return err
	}
	var parts [2][]byte // on their way
	var places [2]int
	end := func(i int) error {
		if parts[i] == nil {
			return nil
		}
		err := g.all[i].done.Wait()
		if err == nil {
			finish(places[i], parts[i])
		}
		parts[i] = nil
		return err
	}
	i := 0
	for at := 0; at < n; at += stageBytes {
		if err := end(i); err != nil {
			return errors.Join(err, s.Wait())
		}
		parts[i], places[i] = g.all[i].host.Bytes[:min(stageBytes, n-at)], at
		err := start(at, parts[i])
		if err == nil {
			err = s.Record(g.all[i].done)
		}
		if err != nil {
			return errors.Join(err, s.Wait()) // the stages must be free for others
		}
		i = 1 - i
	}
	return errors.Join(end(i), end(1-i))
}

// makeStages makes the stages. They are the context's own, and do not keep it
// open.
func (c *Context) makeStages(of *stages) error {
	for i := range of.all {
		g := &of.all[i]
		if g.host != nil {
			continue
		}
		host, err := c.AllocHost(stageBytes)
		if err != nil {
			return err
		}
		if g.done, err = c.NewEvent(false); err != nil {
			return errors.Join(err, host.Close())
		}
		g.host = host
		c.refs.Add(-2)
	}
	return nil
}

// dropStages gives them back.
func (c *Context) dropStages() error {
	var err error
	for _, g := range slices.Concat(c.up.all[:], c.down.all[:]) {
		if g.host == nil {
			continue
		}
		err = errors.Join(err,
			c.give("cuEventDestroy", func() Code { return c.api.EventDestroy(g.done.id) }),
			c.give("cuMemFreeHost", func() Code { return c.api.MemFreeHost(unsafe.Pointer(&g.host.Bytes[0])) }))
	}
	return err
}

// copyWide copies as copy does, on several threads.
func copyWide(dst, src []byte) {
	n := min(len(dst), len(src))
	part := (n/copiers + 4095) &^ 4095
	var all sync.WaitGroup
	for at := 0; at < n; at += part {
		all.Go(func() { copy(dst[at:min(at+part, n)], src[at:n]) })
	}
	all.Wait()
}

// Copy starts a copy of n bytes between buffers of the device.
func (s *Stream) Copy(dst *Memory, dstOffset int, src *Memory, srcOffset, n int) error {
	const call = "cuMemcpyDtoD"
	if err := errors.Join(dst.within(dstOffset, n, call), src.within(srcOffset, n, call)); err != nil || n == 0 {
		return err
	}
	return s.context.call(call, func() Code {
		return s.context.api.MemcpyDtoDAsync(dst.Pointer+Pointer(dstOffset), src.Pointer+Pointer(srcOffset), n, s.id)
	})
}

// Zero starts filling n bytes with 0.
func (s *Stream) Zero(m *Memory, offset, n int) error {
	const call = "cuMemsetD8"
	if err := m.within(offset, n, call); err != nil || n == 0 {
		return err
	}
	return s.context.call(call, func() Code { return s.context.api.MemsetD8Async(m.Pointer+Pointer(offset), 0, n, s.id) })
}
