package vk

import (
	"errors"
	"sync"
)

// stageBytes is how much of a large transfer the device copies while the host
// copies as much again. Where runs are submitted to the same queue each part may
// wait for one.
const stageBytes = 8 << 20

// stages are memory of the host that large transfers in one direction go through,
// one at a time, by two in turn. Small ones have memory of their own, and wait for
// none of these.
type stages struct {
	mu  sync.Mutex
	all [2]*Memory // nil until it is used
}

func (g *stages) close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	var err error
	for i, m := range g.all {
		if m != nil {
			err = errors.Join(err, m.Close())
		}
		g.all[i] = nil
	}
	return err
}

// once records, runs and forgets.
func (d *Device) once(record func(c *Commands) error) error {
	c, err := d.Record()
	if err != nil {
		return err
	}
	if err = errors.Join(record(c), c.End()); err == nil {
		err = c.Run()
	}
	return errors.Join(err, c.Close())
}

// Read copies from memory of the device that nothing writes meanwhile.
func (d *Device) Read(dst []byte, src *Memory, offset int) error {
	if err := src.within(offset, len(dst), "read"); err != nil || len(dst) == 0 {
		return err
	}
	if src.Host != nil {
		if d.lost.Load() { // what is mapped can be read still, and may be anything
			return d.check(DeviceLost, "reading")
		}
		copy(dst, src.Host[offset:])
		return nil
	}
	t := transfer{d, down, src, offset, dst}
	return t.run(&d.down)
}

// Write copies to memory of the device that nothing uses meanwhile; src may
// change once it returns.
func (d *Device) Write(dst *Memory, offset int, src []byte) error {
	if err := dst.within(offset, len(src), "write"); err != nil || len(src) == 0 {
		return err
	}
	if dst.Host != nil {
		copy(dst.Host[offset:], src)
		return nil
	}
	t := transfer{d, up, dst, offset, src}
	return t.run(&d.up)
}

// transfer is one to or from memory that the host does not reach.
type transfer struct {
	device *Device
	work   work // up or down
	memory *Memory
	offset int
	host   []byte
}

// run makes the transfer, a large one by the stages.
func (t *transfer) run(g *stages) error {
	if n := len(t.host); n <= smallBytes {
		s, err := t.device.Alloc(n, Staging)
		if err != nil {
			return err
		}
		return errors.Join(t.through([]*Memory{s}), s.Close())
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.all {
		if g.all[i] != nil {
			continue
		}
		var err error
		if g.all[i], err = t.device.Alloc(stageBytes, Staging); err != nil {
			return err
		}
	}
	return t.through(g.all[:])
}

// part is what goes through one stage.
type part struct {
	commands *Commands // nil: nothing
	stage    *Memory
	at, n    int
}

// through cuts the transfer into parts, by stages in turn. None is used afterwards.
func (t *transfer) through(stages []*Memory) error {
	parts := make([]part, len(stages))
	var err error
	for i, at := 0, 0; at < len(t.host) && err == nil; at += stageBytes {
		err = t.end(parts[i])
		parts[i] = part{}
		if err == nil {
			parts[i], err = t.start(stages[i], at, min(stageBytes, len(t.host)-at))
		}
		i = (i + 1) % len(stages)
	}
	for _, p := range parts {
		err = errors.Join(err, t.end(p))
	}
	return err
}

// start submits the copy of n bytes, which lie in the stage before or afterwards.
func (t *transfer) start(s *Memory, at, n int) (part, error) {
	c, err := t.device.record(t.work)
	if err != nil {
		return part{}, err
	}
	if t.work == up {
		copy(s.Host[:n], t.host[at:])
		err = c.Copy(t.memory, t.offset+at, s, 0, n)
	} else {
		err = c.Copy(s, 0, t.memory, t.offset+at, n)
	}
	if err = errors.Join(err, c.End()); err == nil {
		err = c.Submit()
	}
	if err != nil {
		return part{}, errors.Join(err, c.Close())
	}
	return part{c, s, at, n}, nil
}

// end waits for a part.
func (t *transfer) end(p part) error {
	if p.commands == nil {
		return nil
	}
	err := p.commands.Wait()
	if err == nil && t.work == down {
		copy(t.host[p.at:][:p.n], p.stage.Host)
	}
	return errors.Join(err, p.commands.Close())
}

// Copy copies within the device.
func (d *Device) Copy(dst *Memory, dstOffset int, src *Memory, srcOffset, n int) error {
	return d.once(func(c *Commands) error { return c.Copy(dst, dstOffset, src, srcOffset, n) })
}

// Zero fills the first n bytes with zeros, or some more up to where nothing else
// lies.
func (d *Device) Zero(m *Memory, n int) error {
	if err := m.within(0, n, "zero"); err != nil || n == 0 {
		return err
	}
	if m.Host != nil {
		clear(m.Host[:n])
		return nil
	}
	return d.once(func(c *Commands) error { c.Zero(m, n); return nil })
}
