package launch

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/keep"
	"github.com/sinterml/sinter/internal/emit/entry"
)

// buffer is memory on the device, or the caller's where the device reads it.
type buffer struct {
	keep.Owner
	device *Device
	size   int
	mem    Memory
	host   []byte // the caller's, nil for memory that the device owns
	refs   atomic.Int64
}

// leastBytes are in every buffer of the driver: it has no empty ones, and kernels
// may read, and ignore, the first element of any.
const leastBytes = 64

// Alloc gives memory of any contents.
func (d *Device) Alloc(n int) (device.Buffer, error) {
	if !d.uses.Begin() {
		return nil, device.ErrClosed
	}
	defer d.ended()
	return d.newBuffer(n)
}

func (d *Device) newBuffer(n int) (*buffer, error) {
	if n < 0 {
		return nil, fmt.Errorf("%s: cannot allocate %d bytes", d.Kind, n)
	}
	mem, err := d.take(n)
	if err != nil {
		return nil, err
	}
	return d.makeBuffer(n, mem, nil), nil
}

func (d *Device) makeBuffer(n int, mem Memory, host []byte) *buffer {
	b := &buffer{device: d, size: n, mem: mem, host: host}
	b.Renew()
	b.refs.Store(1)
	return b
}

// Import has the device read the caller's memory, or a copy of it where that
// does not begin where elements may.
func (d *Device) Import(p []byte) (device.Buffer, error) {
	if !d.uses.Begin() {
		return nil, device.ErrClosed
	}
	defer d.ended()
	widest := uintptr(8)
	if d.Shape.Items > 1 {
		widest = entry.WideBytes
	}
	if len(p) >= leastBytes && uintptr(unsafe.Pointer(unsafe.SliceData(p)))%widest == 0 {
		var mem Memory
		err := d.withRoom(len(p), func() (err error) {
			mem, err = d.backend.Import(p)
			return err
		})
		if err != nil {
			return nil, err
		}
		if mem != nil {
			return d.makeBuffer(len(p), mem, p), nil
		}
	}
	b, err := d.newBuffer(len(p))
	if err != nil {
		return nil, err
	}
	if err := d.withRoom(len(p), func() error { return d.backend.Write(b.mem, 0, p) }); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// Copy copies within the device, or between it and memory that the host can
// address.
func (d *Device) Copy(ctx context.Context, dst, src device.Buffer) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !d.uses.Begin() {
		return device.ErrClosed
	}
	defer d.ended()
	if dst.Size() != src.Size() {
		return fmt.Errorf("%s: copy of %d bytes to %d", d.Kind, src.Size(), dst.Size())
	}
	to, near := dst.(*buffer)
	from, own := src.(*buffer)
	near, own = near && to.device == d, own && from.device == d
	var used []*buffer
	if near {
		used = append(used, to)
	}
	if own {
		used = append(used, from)
	}
	end, err := holding(used...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	if near {
		defer to.Changed()
	}
	switch {
	case near && to.host != nil:
		return fmt.Errorf("%s: imported memory is not written", d.Kind)
	case near && own:
		return d.backend.Copy(to.mem, from.mem, dst.Size())
	case near && (src.Bytes() != nil || src.Size() == 0):
		return d.backend.Write(to.mem, 0, src.Bytes())
	case own && (dst.Bytes() != nil || dst.Size() == 0):
		return d.backend.Read(dst.Bytes(), from.mem, 0)
	}
	return fmt.Errorf("%s: copy from or to memory that the host cannot read", d.Kind)
}

// read gives the bytes of a buffer.
func (b *buffer) read() ([]byte, error) {
	if b.host != nil {
		return b.host, nil
	}
	data := make([]byte, b.size)
	return data, b.device.backend.Read(data, b.mem, 0)
}

// hold begins a use of the memory, which Close ends; false: it is freed.
func (b *buffer) hold() bool {
	for {
		n := b.refs.Load()
		if n <= 0 {
			return false
		}
		if b.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// holding holds buffers, and gives what ends that.
func holding(all ...*buffer) (end func() error, err error) {
	held := 0
	end = func() error {
		var err error
		for _, b := range all[:held] {
			err = errors.Join(err, b.Close())
		}
		return err
	}
	for ; held < len(all); held++ {
		if !all[held].hold() {
			return nil, errors.Join(device.ErrClosed, end())
		}
	}
	return end, nil
}

func (b *buffer) Size() int     { return b.size }
func (b *buffer) Bytes() []byte { return nil }
func (b *buffer) Retain()       { b.refs.Add(1) }

// Close frees the memory with the last reference. Runs and copies have one of
// their own.
func (b *buffer) Close() error {
	switch n := b.refs.Add(-1); {
	case n > 0:
		return nil
	case n < 0:
		return device.ErrClosed
	}
	b.Drop()
	if b.host == nil {
		b.device.unreserve(int64(b.size))
	}
	return b.mem.Close()
}
