package interp

import (
	"context"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/sinterml/sinter/internal/device"
)

// maxBytes bounds one allocation, so that a size from a hostile file is an
// error and not the end of the process.
const maxBytes = 1 << 36

// buffer is memory of the Go heap.
type buffer struct {
	data   []byte
	refs   atomic.Int64
	device *Device // nil for the caller's memory, which is not counted
}

// allocate gives n bytes aligned for any dtype.
func allocate(n int) ([]byte, error) {
	if n < 0 || n > maxBytes {
		return nil, fmt.Errorf("interp: %d bytes in one tensor, the limit is %d: use smaller shapes on the referee", n, maxBytes)
	}
	words := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), n), nil
}

// Alloc gives zeroed memory.
func (d *Device) Alloc(n int) (device.Buffer, error) {
	if d.closed.Load() {
		return nil, device.ErrClosed
	}
	data, err := allocate(n)
	if err != nil {
		return nil, err
	}
	b := &buffer{data: data, device: d}
	b.refs.Store(1)
	d.count(int64(n))
	return b, nil
}

// Import wraps the caller's memory.
func (d *Device) Import(p []byte) (device.Buffer, error) {
	if d.closed.Load() {
		return nil, device.ErrClosed
	}
	b := &buffer{data: p}
	b.refs.Store(1)
	return b, nil
}

// Copy copies src, which may belong to any device whose memory the host reads.
func (d *Device) Copy(ctx context.Context, dst, src device.Buffer) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	to, from := dst.Bytes(), src.Bytes()
	if len(to) != dst.Size() || len(from) != src.Size() {
		return fmt.Errorf("interp: copy of memory that is closed or that the host cannot reach")
	}
	if len(to) != len(from) {
		return fmt.Errorf("interp: copy of %d bytes to a buffer of %d", len(from), len(to))
	}
	copy(to, from)
	return nil
}

// Stats counts what Alloc gave.
func (d *Device) Stats() device.MemStats {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stats
}

func (d *Device) count(n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stats.Allocated += n
	d.stats.Peak = max(d.stats.Peak, d.stats.Allocated)
}

func (b *buffer) Size() int { return len(b.data) }

func (b *buffer) Bytes() []byte {
	if b.refs.Load() <= 0 {
		return nil
	}
	return b.data
}

func (b *buffer) Retain() { b.refs.Add(1) }

func (b *buffer) Close() error {
	switch n := b.refs.Add(-1); {
	case n < 0:
		return device.ErrClosed
	case n == 0 && b.device != nil:
		b.device.count(-int64(len(b.data)))
	}
	return nil
}
