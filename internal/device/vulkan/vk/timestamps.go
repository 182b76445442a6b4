package vk

import (
	"errors"
	"fmt"
	"time"
	"unsafe"
)

// stamps are moments that a list notes when it runs.
type stamps struct {
	pool        QueryPoolID // 0: none are noted
	room, count uint32
}

var errNoClock = errors.New("vulkan: the queues of the device have no clock")

// RecordStamped is Record, of a list with room for so many stamps.
func (d *Device) RecordStamped(room int) (*Commands, error) {
	if d.Physical.clockBits == 0 || d.Physical.tick <= 0 {
		return nil, errNoClock
	}
	c, err := d.record(runs)
	if err != nil {
		return nil, err
	}
	const timestamps = 2
	pool := new(QueryPoolID)
	info := &QueryPoolCreateInfo{Header: Header{Type: typeQueryPoolCreateInfo}, Kind: timestamps, Count: uint32(room)}
	if err := d.check(d.api.CreateQueryPool(d.id, info, pool), "vkCreateQueryPool"); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	c.stamps = stamps{pool: *pool, room: uint32(room)}
	d.recording.Lock()
	defer d.recording.Unlock()
	d.api.CmdResetQueryPool(c.id, *pool, 0, uint32(room))
	return c, nil
}

// Stamp notes when all that came before has ended.
func (c *Commands) Stamp() error {
	s := &c.stamps
	if s.count == s.room {
		return fmt.Errorf("vulkan: a list with room for %d stamps", s.room)
	}
	const bottomOfPipe = 0x2000
	c.device.recording.Lock()
	defer c.device.recording.Unlock()
	c.device.api.CmdWriteTimestamp(c.id, bottomOfPipe, s.pool, s.count)
	s.count++
	return nil
}

// Stamps are the moments of the last run, which has been waited for, since the first.
func (c *Commands) Stamps() ([]time.Duration, error) {
	const wide, wait, each = 1, 2, 8
	d, n := c.device, c.stamps.count
	if n == 0 {
		return nil, nil
	}
	ticks := make([]uint64, n)
	code := d.api.GetQueryPoolResults(d.id, c.stamps.pool, 0, n, uintptr(each*n), unsafe.Pointer(&ticks[0]), each, wide|wait)
	if err := d.check(code, "vkGetQueryPoolResults"); err != nil {
		return nil, err
	}
	all := make([]time.Duration, n)
	for i, t := range ticks {
		since := (t - ticks[0]) << (64 - d.Physical.clockBits) >> (64 - d.Physical.clockBits)
		all[i] = time.Duration(float64(since) * d.Physical.tick)
	}
	return all, nil
}
