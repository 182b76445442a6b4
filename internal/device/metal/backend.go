// Package metal runs programs on Apple's GPUs: as text in Metal's language that
// the system compiles, one source for a program.
package metal

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/metal/mtl"
	"github.com/sinterml/sinter/internal/emit/cstyle"
	"github.com/sinterml/sinter/internal/emit/entry"
)

// New opens a device.
func New(api *mtl.API, d *mtl.Device) (*launch.Device, error) {
	q := api.NewQueue(d.ID)
	if q == 0 {
		return nil, fmt.Errorf("metal: %s gives no command queue", d.Name)
	}
	return launch.New(&backend{api: api, device: d, queue: q}, launch.Options{Kind: "metal", Shape: shapeOf(d)})
}

// shapeOf leaves half of the shared memory to a second group.
func shapeOf(d *mtl.Device) entry.Shape {
	const (
		items  = 256
		widest = 8 // bytes of an element of a product
	)
	s := entry.Shape{Items: items, Near: d.Shared / 2, Shared: d.Shared, Flat: items}
	s.Product, s.Tiles = cstyle.GemmForGroups, entry.GroupTiles(s.Items, s.Near/widest)
	return s
}

// backend is a device. A run ends before Run returns, and all memory is the
// processor's too, so that copies need no queue.
type backend struct {
	api    *mtl.API
	device *mtl.Device
	queue  mtl.ID
	// using is held by runs, which wait, so that copies come before or after.
	using sync.RWMutex
}

// memory is a buffer and where the processor has it.
type memory struct {
	backend *backend
	id      mtl.ID
	bytes   []byte
	closed  atomic.Bool
}

var errClosed = errors.New("metal: closed")

// SizeError is memory that the device has no room for.
type SizeError struct {
	Size   int
	Device *mtl.Device
}

func (e *SizeError) Error() string {
	if limit := e.Device.MaxAlloc; limit > 0 && uint64(e.Size) > limit {
		return fmt.Sprintf("%s has no buffers of %d bytes, %d is the limit", e.Device.Name, e.Size, limit)
	}
	return fmt.Sprintf("no room for %d bytes on %s, which has %d in all", e.Size, e.Device.Name, e.Device.Memory)
}

// OutOfMemory tells whether there would be room if others gave theirs back.
func (e *SizeError) OutOfMemory() bool { return true }

func (b *backend) Alloc(n int) (launch.Memory, error) {
	if limit := b.device.MaxAlloc; limit > 0 && uint64(n) > limit {
		return nil, &SizeError{n, b.device}
	}
	id, p := b.api.NewBuffer(b.device.ID, n)
	if id == 0 || p == nil {
		return nil, &SizeError{n, b.device}
	}
	return &memory{backend: b, id: id, bytes: unsafe.Slice((*byte)(p), n)}, nil
}

// Close releases the buffer; command buffers keep those that they use.
func (m *memory) Close() error {
	if m.closed.Swap(true) {
		return errClosed
	}
	m.backend.using.Lock()
	defer m.backend.using.Unlock()
	m.backend.api.Release(m.id)
	return nil
}

// Import leaves it to a copy: Metal takes whole pages alone.
func (b *backend) Import([]byte) (launch.Memory, error) { return nil, nil }

// part is what a copy is about, while no kernel runs.
func (m *memory) part(offset, n int) ([]byte, error) {
	if offset < 0 || n < 0 || offset > len(m.bytes)-n {
		return nil, fmt.Errorf("metal: %d bytes at %d of %d: outside the buffer", n, offset, len(m.bytes))
	}
	return m.bytes[offset : offset+n], nil
}

func (b *backend) Write(to launch.Memory, offset int, p []byte) error {
	b.using.Lock()
	defer b.using.Unlock()
	dst, err := to.(*memory).part(offset, len(p))
	copy(dst, p)
	return err
}

func (b *backend) Read(p []byte, from launch.Memory, offset int) error {
	b.using.Lock()
	defer b.using.Unlock()
	src, err := from.(*memory).part(offset, len(p))
	copy(p, src)
	return err
}

func (b *backend) Copy(to, from launch.Memory, n int) error {
	b.using.Lock()
	defer b.using.Unlock()
	dst, err := to.(*memory).part(0, n)
	src, failed := from.(*memory).part(0, n)
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	copy(dst, src)
	return nil
}

func (b *backend) Zero(m launch.Memory, n int) error {
	b.using.Lock()
	defer b.using.Unlock()
	dst, err := m.(*memory).part(0, n)
	clear(dst)
	return err
}

func (b *backend) Close() error {
	b.using.Lock()
	defer b.using.Unlock()
	b.api.Release(b.queue)
	return nil
}

func (b *backend) Emit(kernels []*entry.Kernel) (*launch.Code, error) {
	p, err := cstyle.Metal.Write(kernels)
	if err != nil {
		return nil, err
	}
	return &launch.Code{Text: p.Source, Args: p.Args}, nil
}

// BuildError is a program that the compiler refused.
type BuildError struct {
	Device string
	Log    string // the compiler's
}

func (e *BuildError) Error() string {
	return fmt.Sprintf("the compiler for %s refuses a program: %s", e.Device, strings.TrimSpace(e.Log))
}

func (b *backend) Build(c *launch.Code) (launch.Program, error) {
	id, wrong := b.api.Compile(b.device.ID, c.Text)
	if wrong != "" {
		return nil, &BuildError{b.device.Name, wrong}
	}
	return &program{backend: b, id: id}, nil
}
