package vk

import (
	"errors"
	"sync"
)

// stageBytes is how much a transfer copies at a time where the host does not
// reach the device's memory.
const stageBytes = 16 << 20

// stage is memory of the host that transfers go through, one at a time.
type stage struct {
	mu     sync.Mutex
	memory *Memory
}

func (s *stage) get(d *Device) (*Memory, error) {
	if s.memory != nil {
		return s.memory, nil
	}
	var err error
	s.memory, err = d.Alloc(stageBytes, Staging)
	return s.memory, err
}

func (s *stage) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.memory == nil {
		return nil
	}
	return s.memory.Close()
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
		copy(dst, src.Host[offset:])
		return nil
	}
	return d.staged(len(dst), func(at, n int, s *Memory) error {
		err := d.once(func(c *Commands) error { return c.Copy(s, 0, src, offset+at, n) })
		copy(dst[at:][:n], s.Host)
		return err
	})
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
	return d.staged(len(src), func(at, n int, s *Memory) error {
		copy(s.Host, src[at:][:n])
		return d.once(func(c *Commands) error { return c.Copy(dst, offset+at, s, 0, n) })
	})
}

// staged cuts a transfer of n bytes into parts that fit the stage.
func (d *Device) staged(n int, part func(at, n int, s *Memory) error) error {
	d.staging.mu.Lock()
	defer d.staging.mu.Unlock()
	s, err := d.staging.get(d)
	for at := 0; at < n && err == nil; at += stageBytes {
		err = part(at, min(stageBytes, n-at), s)
	}
	return err
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
