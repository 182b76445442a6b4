package cl

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// Kernel is a function of a program with its arguments. Whoever sets them and
// enqueues the kernel takes turns with others: make one for each binding.
type Kernel struct {
	Name   string
	api    *API
	id     KernelID
	device DeviceID
	arg    [8]byte // where the driver reads an argument from
	closed atomic.Bool
}

// Kernel finds a function of the program.
func (p *Program) Kernel(name string) (*Kernel, error) {
	code := new(Code)
	b := make([]byte, len(name)+1)
	copy(b, name)
	id := p.context.api.CreateKernel(p.id, &b[0], code)
	if err := check(*code, "clCreateKernel "+name); err != nil {
		return nil, err
	}
	return &Kernel{Name: name, api: p.context.api, id: id, device: p.context.Device.ID}, nil
}

func (k *Kernel) set(index, size int) error {
	c := k.api.SetKernelArg(k.id, uint32(index), size, unsafe.Pointer(&k.arg))
	if c == 0 {
		return nil
	}
	return &Error{fmt.Sprintf("clSetKernelArg %s %d", k.Name, index), c}
}

// SetMemory passes a buffer, or a null pointer for nil. The caller keeps it
// open.
func (k *Kernel) SetMemory(index int, m *Memory) error {
	var id MemID
	if m != nil {
		id = m.id
	}
	*(*MemID)(unsafe.Pointer(&k.arg)) = id
	return k.set(index, int(unsafe.Sizeof(id)))
}

// SetInt32 passes an int, or the bits of a uint or float.
func (k *Kernel) SetInt32(index int, v int32) error {
	*(*int32)(unsafe.Pointer(&k.arg)) = v
	return k.set(index, 4)
}

// SetInt64 passes a long, or the bits of a ulong or double.
func (k *Kernel) SetInt64(index int, v int64) error {
	*(*int64)(unsafe.Pointer(&k.arg)) = v
	return k.set(index, 8)
}

// SetBytes passes a structure.
func (k *Kernel) SetBytes(index int, v []byte) error {
	return check(k.api.SetKernelArg(k.id, uint32(index), len(v), unsafe.Pointer(unsafe.SliceData(v))), fmt.Sprintf("clSetKernelArg %s %d", k.Name, index))
}

// SetLocal gives a pointer to local memory its size.
func (k *Kernel) SetLocal(index, bytes int) error {
	return check(k.api.SetKernelArg(k.id, uint32(index), bytes, nil), fmt.Sprintf("clSetKernelArg %s %d", k.Name, index))
}

// Limits of a compiled kernel on its device, which may be lower than the
// device's.
type Limits struct {
	MaxGroup int // work-items in a workgroup
	Multiple int // workgroups of a multiple of it use the device best
	Local    int // bytes of local memory of a workgroup
	Private  int // bytes of memory of a work-item, where values spilled from registers lie
}

// Limits asks what the compiler made of the kernel.
func (k *Kernel) Limits() (Limits, error) {
	var failed error
	value := func(param uint32) int {
		v, c := query(func(param uint32, size int, value *byte, needed *int) Code {
			return k.api.GetKernelWorkGroup(k.id, k.device, param, size, value, needed)
		}, param)
		if failed == nil {
			failed = check(c, "clGetKernelWorkGroupInfo "+k.Name)
		}
		return int(number(v))
	}
	l := Limits{MaxGroup: value(0x11B0), Local: value(0x11B2), Multiple: value(0x11B3), Private: value(0x11B4)}
	return l, failed
}

// Close gives the kernel back; what is enqueued still runs.
func (k *Kernel) Close() error {
	if k.closed.Swap(true) {
		return ErrClosed
	}
	return check(k.api.ReleaseKernel(k.id), "clReleaseKernel")
}

// Launch is a kernel with the ranges that it runs over. Enqueue allocates
// nothing.
type Launch struct {
	kernel        *Kernel
	dims          uint32
	global, local [3]int
	anyLocal      bool
	call          string
}

// NewLaunch prepares a launch over one to three dimensions. With no local range
// the driver chooses the workgroups; else each global size must be a multiple
// of the local one.
func NewLaunch(k *Kernel, global, local []int) (*Launch, error) {
	l := &Launch{kernel: k, call: "clEnqueueNDRangeKernel " + k.Name, anyLocal: len(local) == 0}
	if err := l.SetRange(global, local); err != nil {
		return nil, err
	}
	return l, nil
}

// SetRange changes the ranges of a launch, for other sizes.
func (l *Launch) SetRange(global, local []int) error {
	if len(global) < 1 || len(global) > 3 || len(local) != 0 && len(local) != len(global) {
		return fmt.Errorf("%s: %d global and %d local dimensions", l.call, len(global), len(local))
	}
	for i, n := range global {
		if n < 1 || len(local) > 0 && (local[i] < 1 || n%local[i] != 0) {
			return fmt.Errorf("%s: range %v in workgroups of %v", l.call, global, local)
		}
	}
	l.dims, l.anyLocal = uint32(len(global)), len(local) == 0
	copy(l.global[:], global)
	copy(l.local[:], local)
	return nil
}

// Enqueue starts the kernel after what was enqueued before. Its arguments may
// change once this returns.
func (q *Queue) Enqueue(l *Launch) error {
	local := &l.local
	if l.anyLocal {
		local = nil
	}
	c := q.api.EnqueueNDRangeKernel(q.id, l.kernel.id, l.dims, nil, &l.global, local, 0, nil, nil)
	if c == 0 {
		return nil
	}
	return &Error{l.call, c}
}

// EnqueueEvent is Enqueue with an event, which the caller closes.
func (q *Queue) EnqueueEvent(l *Launch) (*Event, error) {
	local, e := &l.local, &Event{api: q.api}
	if l.anyLocal {
		local = nil
	}
	return e, check(q.api.EnqueueNDRangeKernel(q.id, l.kernel.id, l.dims, nil, &l.global, local, 0, nil, &e.id), l.call)
}
