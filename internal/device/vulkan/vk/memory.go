package vk

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// MemoryKind is what memory is for.
type MemoryKind int

const (
	// Local is the device's own, for tensors. The host reaches it where both
	// share it.
	Local MemoryKind = iota
	// Arguments are written by the host and read by the device.
	Arguments
	// Staging is the host's, for copies to and from the device.
	Staging
	memoryKinds
)

// Memory is a range of bytes that the device reaches by its address.
type Memory struct {
	Size    int
	Address uint64
	// Host is the same memory as the host sees it; nil where it does not, or
	// where reading it would be slow. What the device wrote is there once it was
	// waited for, and what the host writes goes to what is submitted later.
	Host []byte

	pool   *pool
	block  *block
	offset int
	length int // with what alignment adds
	closed atomic.Bool
}

// SizeError is memory that the device has no room for.
type SizeError struct {
	Size   int
	Device *Physical
	Err    error
}

func (e *SizeError) Error() string {
	if limit := e.Device.MaxAlloc; limit > 0 && uint64(e.Size) > limit {
		return fmt.Sprintf("%s has no buffers of %d bytes, %d is the limit", e.Device.Name, e.Size, limit)
	}
	return fmt.Sprintf("no room for %d bytes on %s, which has %d in all: %v", e.Size, e.Device.Name, e.Device.Memory, e.Err)
}

func (e *SizeError) Unwrap() error { return e.Err }

// OutOfMemory tells whether there would be room if others gave theirs back.
func (e *SizeError) OutOfMemory() bool { return true }

// What buffers are used for: by their address, and in copies.
const bufferUsage = 0x1 | 0x2 | 0x20 | 0x20000

// findMemory chooses a type of memory for each kind.
func (d *Device) findMemory() error {
	b, err := d.newBuffer(alignment)
	if err != nil {
		return err
	}
	need := new(MemoryRequirements)
	d.api.GetBufferRequirements(d.id, b, need)
	d.api.DestroyBuffer(d.id, b)
	for k := range memoryKinds {
		best := -1
		for i, t := range d.Physical.memory.Types[:d.Physical.memory.TypeCount] {
			if s := score(k, t.Flags); need.Types>>i&1 != 0 && s > best {
				best, d.kinds[k] = s, uint32(i)
			}
		}
		if best < 0 {
			return fmt.Errorf("%s has no memory that programs can use", d.Physical.Name)
		}
		d.memory[k] = pool{device: d, kind: k}
	}
	return nil
}

// score says how well a type of memory serves; below 0 it does not.
func score(k MemoryKind, flags uint32) int {
	has := func(f uint32) int {
		if flags&f == f {
			return 1
		}
		return 0
	}
	const coherent = hostVisible | hostCoherent
	switch {
	case flags&^usualMemory != 0: // protected, or of another vendor's meaning
		return -1
	case k == Local: // shared with the host, else out of its window, which may be small
		return 8*has(deviceLocal) + 4*has(coherent|hostCached) + 1 - has(hostVisible)
	case has(coherent) == 0:
		return -1
	case k == Arguments:
		return 2*has(deviceLocal) + has(hostCached)
	}
	return 2*has(hostCached) + 1 - has(deviceLocal)
}

// mapped tells whether the host uses memory of a kind in place.
func (d *Device) mapped(k MemoryKind) bool {
	flags := d.Physical.memory.Types[d.kinds[k]].Flags
	if k == Local {
		const all = hostVisible | hostCoherent | hostCached
		return flags&all == all
	}
	return true
}

func (d *Device) newBuffer(n int) (BufferID, error) {
	b := new(BufferID)
	err := check(d.api.CreateBuffer(d.id, &BufferCreateInfo{Header: Header{Type: typeBufferCreateInfo}, Size: uint64(n), Usage: bufferUsage}, b), "vkCreateBuffer")
	return *b, err
}

// Alloc gives memory of any contents; n is not 0.
func (d *Device) Alloc(n int, k MemoryKind) (*Memory, error) {
	switch {
	case n <= 0:
		return nil, fmt.Errorf("vulkan: a buffer of %d bytes", n)
	case d.Physical.MaxAlloc > 0 && uint64(n) > d.Physical.MaxAlloc:
		return nil, &SizeError{Size: n, Device: d.Physical, Err: OutOfDeviceMemory}
	}
	if !d.retain() {
		return nil, ErrClosed
	}
	m, err := d.memory[k].get(n)
	if err != nil {
		return nil, errors.Join(err, d.release())
	}
	return m, nil
}

// block is one allocation of the driver with the buffer that it backs.
type block struct {
	buffer  BufferID
	memory  MemoryID
	address uint64
	host    []byte
	size    int
	free    []span // in order, no two adjacent; nil for a block of one owner
}

// newBlock allocates n bytes.
func (d *Device) newBlock(n int, k MemoryKind) (*block, error) {
	buffer, err := d.newBuffer(n)
	if err != nil {
		return nil, d.refused(n, err)
	}
	b := &block{buffer: buffer, size: n}
	if err := d.back(b, k); err != nil {
		b.destroy(d)
		return nil, d.refused(n, err)
	}
	return b, nil
}

// back gives a block's buffer memory, where the host sees it if it can.
func (d *Device) back(b *block, k MemoryKind) error {
	need := new(MemoryRequirements)
	d.api.GetBufferRequirements(d.id, b.buffer, need)
	var pin runtime.Pinner
	defer pin.Unpin()
	const byAddress = 2
	flags := hold(&pin, MemoryAllocateFlagsInfo{Header: Header{Type: typeMemoryAllocateFlagsInfo}, Flags: byAddress})
	info := &MemoryAllocateInfo{Header: Header{Type: typeMemoryAllocateInfo, Next: unsafe.Pointer(flags)}, Size: need.Size, Kind: d.kinds[k]}
	memory := new(MemoryID)
	if err := check(d.api.AllocateMemory(d.id, info, memory), "vkAllocateMemory"); err != nil {
		return err
	}
	b.memory = *memory
	if err := check(d.api.BindBufferMemory(d.id, b.buffer, b.memory, 0), "vkBindBufferMemory"); err != nil {
		return err
	}
	if d.mapped(k) {
		const wholeSize = 1<<64 - 1
		p := new(unsafe.Pointer)
		if err := check(d.api.MapMemory(d.id, b.memory, 0, wholeSize, 0, p), "vkMapMemory"); err != nil {
			return err
		}
		b.host = unsafe.Slice((*byte)(*p), b.size)
	}
	b.address = d.api.GetBufferAddress(d.id, &BufferDeviceAddressInfo{Header: Header{Type: typeBufferDeviceAddressInfo}, Buffer: b.buffer})
	if b.address == 0 {
		return fmt.Errorf("vkGetBufferDeviceAddress: %s gives no address", d.Physical.Name)
	}
	return nil
}

// refused says which allocation found no room.
func (d *Device) refused(n int, err error) error {
	if e, ok := err.(*Error); ok && e.OutOfMemory() {
		return &SizeError{Size: n, Device: d.Physical, Err: err}
	}
	return err
}

// destroy gives a block back; its memory is unmapped by that.
func (b *block) destroy(d *Device) {
	d.api.DestroyBuffer(d.id, b.buffer)
	if b.memory != 0 {
		d.api.FreeMemory(d.id, b.memory)
	}
}

// Close frees the memory. Nothing that was submitted uses it any more.
func (m *Memory) Close() error {
	if m.closed.Swap(true) {
		return ErrClosed
	}
	m.pool.device.give(func() { m.pool.put(m) })
	return m.pool.device.release()
}
