package cpu

import (
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/keep"
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/jit"
)

// buffer is memory that kernels read and write, and what is kept that was
// computed from it.
type buffer struct {
	keep.Owner
	data  []byte
	owned *jit.Memory // nil for the caller's memory
	refs  atomic.Int64
}

func makeBuffer(data []byte, owned *jit.Memory) *buffer {
	b := &buffer{data: data, owned: owned}
	b.Renew()
	b.refs.Store(1)
	return b
}

// nothing stands in for empty buffers: kernels may read, and ignore, the first
// bytes of any.
var nothing [native.Padding]byte

// Alloc gives memory of any contents.
func (d *Device) Alloc(n int) (device.Buffer, error) {
	if d.closed.Load() {
		return nil, device.ErrClosed
	}
	return d.newBuffer(n)
}

func (d *Device) newBuffer(n int) (*buffer, error) {
	if n < 0 || n > math.MaxInt-native.Padding {
		return nil, fmt.Errorf("cpu: cannot allocate %d bytes", n)
	}
	m, err := d.memory(n + native.Padding)
	if err != nil {
		return nil, err
	}
	return makeBuffer(m.Bytes()[:n:n], m), nil
}

// Import reads the caller's memory where it lies.
func (d *Device) Import(p []byte) (device.Buffer, error) {
	if d.closed.Load() {
		return nil, device.ErrClosed
	}
	return makeBuffer(p, nil), nil
}

func (b *buffer) Size() int     { return len(b.data) }
func (b *buffer) Bytes() []byte { return b.data }
func (b *buffer) Retain()       { b.refs.Add(1) }

// Close frees the memory with the last reference.
func (b *buffer) Close() error {
	switch n := b.refs.Add(-1); {
	case n > 0:
		return nil
	case n < 0:
		return device.ErrClosed
	}
	b.Drop()
	if b.owned != nil {
		return b.owned.Close()
	}
	return nil
}

// changed drops what is kept that was computed from the values of a buffer, which
// have been written.
func changed(b device.Buffer) {
	if own, ok := b.(*buffer); ok {
		own.Changed()
	}
}

// pointer is the address that kernels get.
func (b *buffer) pointer() unsafe.Pointer {
	if len(b.data) == 0 {
		return unsafe.Pointer(&nothing)
	}
	return unsafe.Pointer(&b.data[0])
}
