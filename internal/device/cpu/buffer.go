package cpu

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/jit"
)

// buffer is memory that kernels read and write, and what is kept that was
// computed from it.
type buffer struct {
	id    uint64 // no other buffer of the process has ever had it
	data  []byte
	owned *jit.Memory // nil for the caller's memory
	refs  atomic.Int64
	kept  sync.Map // key -> *kept
}

var buffers atomic.Uint64 // made so far

func makeBuffer(data []byte, owned *jit.Memory) *buffer {
	b := &buffer{id: buffers.Add(1), data: data, owned: owned}
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
	b.kept.Range(func(_, k any) bool {
		k.(*kept).drop()
		return true
	})
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
