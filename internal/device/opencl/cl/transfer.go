package cl

import (
	"errors"
	"fmt"
	"unsafe"
)

const notBlocking, blocking = 0, 1

// errRange says that a transfer would leave its buffer.
var errRange = errors.New("outside the buffer")

func (m *Memory) within(offset, n int, call string) error {
	if offset < 0 || n < 0 || offset > m.Size-n {
		return fmt.Errorf("%s: %d bytes at %d of %d: %w", call, n, offset, m.Size, errRange)
	}
	return nil
}

// Read copies from the device once all that was enqueued before has ended, and
// waits for it.
func (q *Queue) Read(dst []byte, src *Memory, offset int) error {
	return q.read(dst, src, offset, blocking)
}

// EnqueueRead does not wait: the caller keeps dst pinned until that has ended.
func (q *Queue) EnqueueRead(dst []byte, src *Memory, offset int) error {
	return q.read(dst, src, offset, notBlocking)
}

func (q *Queue) read(dst []byte, src *Memory, offset int, wait uint32) error {
	if err := src.within(offset, len(dst), "clEnqueueReadBuffer"); err != nil || len(dst) == 0 {
		return err
	}
	return q.check(q.api.EnqueueReadBuffer(q.id, src.id, wait, offset, len(dst), unsafe.Pointer(&dst[0]), 0, nil, nil), "clEnqueueReadBuffer")
}

// Write copies to the device; src may change once it returns.
func (q *Queue) Write(dst *Memory, offset int, src []byte) error {
	if err := dst.within(offset, len(src), "clEnqueueWriteBuffer"); err != nil || len(src) == 0 {
		return err
	}
	return q.check(q.api.EnqueueWriteBuffer(q.id, dst.id, blocking, offset, len(src), unsafe.Pointer(&src[0]), 0, nil, nil), "clEnqueueWriteBuffer")
}

// Copy enqueues a copy of n bytes between buffers of a device.
func (q *Queue) Copy(dst *Memory, dstOffset int, src *Memory, srcOffset, n int) error {
	const call = "clEnqueueCopyBuffer"
	if err := errors.Join(dst.within(dstOffset, n, call), src.within(srcOffset, n, call)); err != nil || n == 0 {
		return err
	}
	return q.check(q.api.EnqueueCopyBuffer(q.id, src.id, dst.id, srcOffset, dstOffset, n, 0, nil, nil), call)
}

// Zero enqueues filling n bytes with 0.
func (q *Queue) Zero(m *Memory, offset, n int) error {
	const call = "clEnqueueFillBuffer"
	if err := m.within(offset, n, call); err != nil || n == 0 {
		return err
	}
	pattern := new(byte)
	return q.check(q.api.EnqueueFillBuffer(q.id, m.id, pattern, 1, offset, n, 0, nil, nil), call)
}

// Map makes a buffer readable and writable by the host, once all that was
// enqueued before has ended: where memory is shared, without a copy. No kernel
// uses the buffer until Unmap.
func (q *Queue) Map(m *Memory) ([]byte, error) {
	const readWrite = 1 | 2
	code := new(Code)
	p := q.api.EnqueueMapBuffer(q.id, m.id, blocking, readWrite, 0, m.Size, 0, nil, nil, code)
	if err := q.check(*code, "clEnqueueMapBuffer"); err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(p), m.Size), nil
}

// Unmap ends the host's use of what Map gave.
func (q *Queue) Unmap(m *Memory, mapped []byte) error {
	return q.check(q.api.EnqueueUnmapMem(q.id, m.id, unsafe.Pointer(unsafe.SliceData(mapped)), 0, nil, nil), "clEnqueueUnmapMemObject")
}
