package sinter

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
)

// storage is the values of one tensor: in the host's memory, on devices, or
// both. Its content never changes, but for a variable's that nobody else has. Device buffers are freed when the garbage
// collector finds that nothing refers to the storage.
type storage struct {
	ir.Type // static
	sizes   []int
	*memory
}

// memory is the part of a storage that its cleanup needs: it must not refer
// back to the storage.
type memory struct {
	mu      sync.Mutex
	host    []byte      // nil until a value that a device made is asked for
	owned   *jit.Memory // what host lies in, unless it is the caller's or a buffer's
	size    int
	buffers map[*Device]device.Buffer
	counted int64 // bytes that a device allocated, as told to pressure
	kept    bool  // a variable's: not to be released
	shared  bool  // a tensor has it too: it must stay as it is
	written bool  // a run writes the next version over it; guarded by commits

	packs map[packKey][]keptPack // of weights that are made of these values, by how

	users    int  // reads and runs that are going on
	released bool // to be freed by the last of them
	retired  bool // likewise, but they may begin further uses
}

func newStorage(dt DType, shape []int, host []byte) *storage {
	s := &storage{Type: ir.Type{DType: dt, Shape: ir.Static(shape...)}, sizes: slices.Clone(shape),
		memory: &memory{host: host, size: len(host)}}
	runtime.AddCleanup(s, (*memory).free, s.memory)
	return s
}

// hostMemory is where the library keeps values of its own in the host's memory:
// outside the Go heap, for its pages of 4 kB cost kernels that read large
// tensors a quarter of the bandwidth. What is freed waits for the next batch, and
// is given back where none comes.
var hostMemory = jit.Allocator{CacheBytes: -1, Linger: hostLinger}

const hostLinger = 10 * time.Second

// own gives the memory n bytes of its own, of any contents. They are freed by
// the garbage collector, after the storage.
func (m *memory) own(n int) error {
	owned, err := hostMemory.Alloc(n)
	if err != nil {
		return err
	}
	m.owned, m.host, m.size = owned, owned.Bytes(), n
	return nil
}

// deviceStorage owns b, which d has allocated.
func deviceStorage(dt DType, shape []int, d *Device, b device.Buffer) *storage {
	s := &storage{Type: ir.Type{DType: dt, Shape: ir.Static(shape...)}, sizes: slices.Clone(shape),
		memory: &memory{size: b.Size(), buffers: map[*Device]device.Buffer{d: b}, counted: int64(b.Size())}}
	pressure(s.counted)
	runtime.AddCleanup(s, (*memory).free, s.memory)
	return s
}

func (m *memory) free() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop()
}

// drop gives the buffers back. The caller holds mu.
func (m *memory) drop() {
	for _, b := range m.buffers {
		b.Close()
	}
	m.buffers = nil
	outstanding.Add(-m.counted)
	m.counted = 0
}

// keep makes release do nothing.
func (m *memory) keep() {
	m.mu.Lock()
	m.kept = true
	m.mu.Unlock()
}

// share has the content stay as it is for good, also where it is a version that
// was retired since the caller began to use it.
func (m *memory) share() {
	m.mu.Lock()
	m.shared, m.retired = true, false
	m.mu.Unlock()
}

// use begins a use that done ends; false for values that are gone.
func (m *memory) use() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.released {
		m.users++
	}
	return !m.released
}

// lone tells whether the values lie in memory of d that nobody has but the
// caller, who has begun a use.
func (m *memory) lone(d *Device) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.shared && m.users == 1 && m.counted > 0 && m.owned == nil && len(m.buffers) == 1 && m.buffers[d] != nil
}

// retire gives a version that a variable had back, unless somebody else has it.
// Who uses it already does so as if it were there for good.
func (m *memory) retire() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.shared || m.counted == 0 {
		return
	}
	m.retired = true
	if m.users == 0 {
		m.forget()
	}
}

// release is free for values that a device made and no variable holds; whoever
// uses them already gets to the end.
func (m *memory) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counted == 0 || m.kept || m.released {
		return
	}
	m.released = true
	if m.users == 0 {
		m.forget()
	}
}

// forget frees what was released. The caller holds mu.
func (m *memory) forget() {
	m.released = true
	m.host, m.owned = nil, nil // it may be the buffer itself
	m.drop()
}

// done ends a use that on or read began.
func (m *memory) done() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.users--; m.users == 0 && (m.released || m.retired) {
		m.forget()
	}
}

// Release gives the memory of a result back at once, instead of when the
// garbage collector finds that nobody has it any more: worth it for large
// results that are read and dropped in a loop. All tensors with this value
// must not be used afterwards: doing so is an error. What uses them already
// gets to its end. Values that no device computed, and those of variables, stay.
func (x Tensor) Release() {
	if e := x.load().leaf(); e != nil && e.store != nil {
		e.store.release()
	}
}

// Device memory is freed by the garbage collector, which sees only the Go
// heap. So it is asked to look each time that a quarter of a gigabyte, or half
// of what is in use, has been allocated.
var outstanding, sinceCollection atomic.Int64

const minPressure = 256 << 20 // bytes

func pressure(n int64) {
	inUse := outstanding.Add(n)
	if sinceCollection.Add(n) > max(minPressure, inUse/2) {
		sinceCollection.Store(0)
		runtime.GC()
	}
}

var errReleased = errors.New("the values are gone: they were released, or their device was closed")

// on gives the values as a buffer of d, which the caller closes; done comes
// after that.
func (s *storage) on(ctx context.Context, d *Device) (device.Buffer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.released {
		return nil, errReleased
	}
	b := s.buffers[d]
	if b == nil {
		host, err := s.load(ctx)
		if err != nil {
			return nil, err
		}
		if b, err = makeRoom(func() (device.Buffer, error) { return d.dev.Import(host) }); err != nil {
			return nil, err
		}
		if s.buffers == nil {
			s.buffers = map[*Device]device.Buffer{}
		}
		s.buffers[d] = b
	}
	b.Retain()
	s.users++
	return b, nil
}

// lies tells whether the values are in the memory of d.
func (s *storage) lies(d *Device) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buffers[d] != nil
}

// read calls f with the values in the host's memory, which f must not keep. A
// mapped file that is gone is an error.
func (s *storage) read(ctx context.Context, f func(b []byte) error) error {
	s.mu.Lock()
	b, err := s.load(ctx)
	if err == nil {
		s.users++
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(s)
	defer s.done()
	return jit.Protect(func() error { return f(b) })
}

// holds tells whether an address lies in the host's copy.
func (m *memory) holds(addr uintptr) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	start := uintptr(unsafe.Pointer(unsafe.SliceData(m.host)))
	return addr-start < uintptr(len(m.host)) // from below it wraps around
}

// load finds or fetches the host's copy. The caller holds mu.
func (m *memory) load(ctx context.Context) ([]byte, error) {
	if m.released {
		return nil, errReleased
	}
	if m.host != nil || m.size == 0 {
		return m.host, nil
	}
	for _, b := range m.buffers {
		if p := b.Bytes(); p != nil {
			m.host = p
			return p, nil
		}
	}
	for d, b := range m.buffers {
		if err := m.own(m.size); err != nil {
			return nil, err
		}
		if err := d.dev.Copy(ctx, hostBuffer(m.host), b); err != nil {
			m.host, m.owned = nil, nil
			d.doubt(ctx, err)
			return nil, &unreadError{d, err}
		}
		return m.host, nil
	}
	return nil, errReleased
}

// unreadError is values that a device does not give, as it was lost or closed, or as
// the caller gave up.
type unreadError struct {
	device *Device
	err    error
}

func (e *unreadError) Error() string {
	return fmt.Sprintf("reading values from %s: %v", e.device.Name(), e.err)
}

func (e *unreadError) Unwrap() error { return e.err }

// hostBuffer is Go memory as the target of a copy from a device.
type hostBuffer []byte

func (b hostBuffer) Size() int     { return len(b) }
func (b hostBuffer) Bytes() []byte { return b }
func (b hostBuffer) Retain()       {}
func (b hostBuffer) Close() error  { return nil }

// lastOffset is the last of i32 offsets: the number of rows.
func (s *storage) lastOffset() (int, error) {
	if s.DType != I32 || len(s.sizes) != 1 || s.sizes[0] < 1 {
		return 0, fmt.Errorf("offsets are i32 of rank 1 and not empty, not %v", s.Type)
	}
	rows := 0
	err := s.read(context.Background(), func(b []byte) error {
		rows = int(int32(binary.NativeEndian.Uint32(b[len(b)-4:])))
		return nil
	})
	return rows, err
}

// preview prints the first n values, if the host has them.
func (s *storage) preview(n int) (text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.host == nil || s.released {
		return ""
	}
	err := jit.Protect(func() error {
		text = printElements(s.DType, s.host, n)
		return nil
	})
	if err != nil { // a mapped file that is gone
		return ""
	}
	return text
}

// printElements prints the first n of the elements in data.
func printElements(dt DType, data []byte, n int) string {
	size := dt.Size()
	count := len(data) / size
	b := []byte(" [")
	for i := range min(n, count) {
		if i > 0 {
			b = append(b, ' ')
		}
		b = appendElement(b, dt, data[i*size:])
	}
	if count > n {
		b = append(b, " ..."...)
	}
	return string(append(b, ']'))
}

func appendElement(b []byte, dt DType, at []byte) []byte {
	var bits uint64
	switch dt.Size() {
	case 1:
		bits = uint64(at[0])
	case 2:
		bits = uint64(binary.NativeEndian.Uint16(at))
	case 4:
		bits = uint64(binary.NativeEndian.Uint32(at))
	default:
		bits = binary.NativeEndian.Uint64(at)
	}
	switch {
	case dt == U64:
		return strconv.AppendUint(b, bits, 10)
	case dt.IsInt():
		return strconv.AppendInt(b, ir.Int(dt, bits), 10)
	case dt == Bool:
		return strconv.AppendBool(b, bits != 0)
	}
	f := ir.Float(dt, bits)
	if dt == F64 {
		return strconv.AppendFloat(b, f, 'g', -1, 64)
	}
	if math.IsNaN(f) {
		return append(b, "NaN"...)
	}
	return strconv.AppendFloat(b, f, 'g', -1, 32)
}
