package cltest

import (
	"bytes"
	"unsafe"

	"github.com/sinterml/sinter/internal/device/launch/order"
	"github.com/sinterml/sinter/internal/device/opencl/cl"
)

func (f *Fake) buffers(a *cl.API) {
	a.CreateBuffer = func(_ cl.ContextID, _ uint64, size int, host unsafe.Pointer, code *cl.Code) cl.MemID {
		if f.Refuse != nil && f.Refuse(size) {
			*code = cl.MemObjectAllocFailure
			return 0
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		*code = 0
		m := cl.MemID(f.give("clCreateBuffer"))
		if host != nil {
			f.memory[m] = unsafe.Slice((*byte)(host), size)
		} else {
			f.memory[m] = make([]byte, size)
		}
		return m
	}
	a.CreateSubBuffer = func(whole cl.MemID, _ uint64, _ uint32, region *[2]int, code *cl.Code) cl.MemID {
		f.mu.Lock()
		defer f.mu.Unlock()
		*code = 0
		m := cl.MemID(f.give("clCreateSubBuffer"))
		f.memory[m] = f.memory[whole][region[0]:][:region[1]]
		return m
	}
	a.ReleaseMemObject = func(m cl.MemID) cl.Code {
		f.mu.Lock()
		if !f.lost {
			f.check(f.order.Free(order.Memory(m)))
		}
		f.mu.Unlock()
		return f.drop(uintptr(m))
	}
}

// part is what a transfer reads or writes, unless the device is lost or the
// range is not within the buffer.
func (f *Fake) part(m cl.MemID, offset, size int, event *cl.EventID) ([]byte, cl.Code) {
	if c := f.occur(event); c != 0 {
		return nil, c
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	b, ok := f.memory[m]
	if !ok || offset < 0 || size < 0 || offset > len(b)-size {
		return nil, cl.InvalidValue
	}
	return b[offset:][:size], 0
}

func (f *Fake) transfers(a *cl.API) {
	a.EnqueueReadBuffer = func(q cl.QueueID, m cl.MemID, blocking uint32, offset, size int, p unsafe.Pointer, _ uint32, _, event *cl.EventID) cl.Code {
		b, c := f.part(m, offset, size, event)
		f.transfer(q, "clEnqueueReadBuffer", m, 0, size, blocking)
		copy(unsafe.Slice((*byte)(p), size), b)
		return c
	}
	a.EnqueueWriteBuffer = func(q cl.QueueID, m cl.MemID, blocking uint32, offset, size int, p unsafe.Pointer, _ uint32, _, event *cl.EventID) cl.Code {
		b, c := f.part(m, offset, size, event)
		f.transfer(q, "clEnqueueWriteBuffer", 0, m, size, blocking)
		copy(b, unsafe.Slice((*byte)(p), size))
		return c
	}
	a.EnqueueCopyBuffer = func(q cl.QueueID, src, dst cl.MemID, srcOffset, dstOffset, size int, _ uint32, _, event *cl.EventID) cl.Code {
		from, c := f.part(src, srcOffset, size, event)
		if c != 0 {
			return c
		}
		to, c := f.part(dst, dstOffset, size, nil)
		f.transfer(q, "clEnqueueCopyBuffer", src, dst, size, 0)
		copy(to, from)
		return c
	}
	a.EnqueueFillBuffer = func(q cl.QueueID, m cl.MemID, pattern *byte, patternSize, offset, size int, _ uint32, _, event *cl.EventID) cl.Code {
		b, c := f.part(m, offset, size, event)
		f.transfer(q, "clEnqueueFillBuffer", 0, m, size, 0)
		copy(b, bytes.Repeat(unsafe.Slice(pattern, patternSize), len(b)/patternSize))
		return c
	}
	a.EnqueueMapBuffer = func(_ cl.QueueID, m cl.MemID, _ uint32, _ uint64, offset, size int, _ uint32, _, event *cl.EventID, code *cl.Code) unsafe.Pointer {
		b, c := f.part(m, offset, size, event)
		*code = c
		return unsafe.Pointer(unsafe.SliceData(b))
	}
	a.EnqueueUnmapMem = func(_ cl.QueueID, _ cl.MemID, _ unsafe.Pointer, _ uint32, _, event *cl.EventID) cl.Code {
		return f.occur(event)
	}
}
