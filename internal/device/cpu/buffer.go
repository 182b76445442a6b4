package cpu

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/jit"
)

// buffer is memory that kernels read and write, and what has been packed from
// it.
type buffer struct {
	data  []byte
	owned *jit.Memory // nil for the caller's memory
	refs  atomic.Int64
	packs sync.Map // layout key -> *pack: products' operands in the order kernels want
}

// nothing stands in for empty buffers: kernels may read, and ignore, the first
// bytes of any.
var nothing [x86.Padding]byte

// Alloc gives memory of any contents.
func (d *Device) Alloc(n int) (device.Buffer, error) {
	if d.closed.Load() {
		return nil, device.ErrClosed
	}
	return d.newBuffer(n)
}

func (d *Device) newBuffer(n int) (*buffer, error) {
	if n < 0 || n > math.MaxInt-x86.Padding {
		return nil, fmt.Errorf("cpu: cannot allocate %d bytes", n)
	}
	m, err := d.alloc.Alloc(n + x86.Padding)
	if err != nil {
		return nil, err
	}
	b := &buffer{data: m.Bytes()[:n:n], owned: m}
	b.refs.Store(1)
	return b, nil
}

// Import reads the caller's memory where it lies.
func (d *Device) Import(p []byte) (device.Buffer, error) {
	if d.closed.Load() {
		return nil, device.ErrClosed
	}
	b := &buffer{data: p}
	b.refs.Store(1)
	return b, nil
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
	b.packs.Clear()
	if b.owned != nil {
		return b.owned.Close()
	}
	return nil
}

// pointer is the address that kernels get.
func (b *buffer) pointer() unsafe.Pointer {
	if len(b.data) == 0 {
		return unsafe.Pointer(&nothing)
	}
	return unsafe.Pointer(&b.data[0])
}
