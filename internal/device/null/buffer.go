package null

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/sinterml/sinter/internal/device"
)

// buffer has a size, and bytes only if they are the caller's.
type buffer struct {
	size   int
	data   []byte
	refs   atomic.Int64
	device *Device // nil for the caller's memory, which is not counted
}

// Alloc counts n bytes.
func (d *Device) Alloc(n int) (device.Buffer, error) {
	switch {
	case d.closed.Load():
		return nil, device.ErrClosed
	case n < 0:
		return nil, fmt.Errorf("null: cannot allocate %d bytes", n)
	}
	b := &buffer{size: n, device: d}
	b.refs.Store(1)
	d.count(int64(n))
	return b, nil
}

// Import wraps the caller's memory.
func (d *Device) Import(p []byte) (device.Buffer, error) {
	if d.closed.Load() {
		return nil, device.ErrClosed
	}
	b := &buffer{size: len(p), data: p}
	b.refs.Store(1)
	return b, nil
}

func (d *Device) count(n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stats.Allocated += n
	d.stats.Peak = max(d.stats.Peak, d.stats.Allocated)
}

// Copy copies between memory of the host; what this device was to compute is
// nowhere.
func (d *Device) Copy(ctx context.Context, dst, src device.Buffer) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if dst.Size() != src.Size() {
		return fmt.Errorf("null: copy of %d bytes to %d", src.Size(), dst.Size())
	}
	to, from := dst.Bytes(), src.Bytes()
	if dst.Size() > 0 && (to == nil || from == nil) {
		return errors.New("null: the device runs nothing, there is no value: compute on another")
	}
	copy(to, from)
	return nil
}

// Stats counts the memory that a device that runs would hold.
func (d *Device) Stats() device.MemStats {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stats
}

func (b *buffer) Size() int     { return b.size }
func (b *buffer) Bytes() []byte { return b.data }
func (b *buffer) Retain()       { b.refs.Add(1) }

func (b *buffer) Close() error {
	switch n := b.refs.Add(-1); {
	case n < 0:
		return device.ErrClosed
	case n == 0 && b.device != nil:
		b.device.count(-int64(b.size))
	}
	return nil
}
