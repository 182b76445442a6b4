// Package cltest has drivers of OpenCL for tests: one in Go whose device
// computes nothing and fails in chosen ways, and libraries in C that crash or
// hang where they are opened.
package cltest

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/sinterml/sinter/internal/device/launch/order"
	"github.com/sinterml/sinter/internal/device/opencl/cl"
	"github.com/sinterml/sinter/internal/dynlib"
)

// Fake is a driver whose device keeps memory and runs no kernel. The zero value
// does all it is asked; fields are set before API.
type Fake struct {
	NoDevices bool
	Name      string // of the device; "": a GPU's
	Driver    string // its version; "": 1.0
	// Foreign has the driver refuse all that was compiled earlier.
	Foreign bool
	// Refuse refuses each buffer for which it returns true; nil: none.
	Refuse func(bytes int) bool
	// BuildLog, if set, is what the compiler says about every program, which it
	// refuses.
	BuildLog string
	// LoseAfter is how many kernels start before the device is lost, in the
	// middle of what it does; 0: never.
	LoseAfter int
	// Kernel is how long each kernel takes, and Megabyte each megabyte of a
	// transfer, on the queue that it is enqueued to; 0: no time.
	Kernel, Megabyte time.Duration
	// Clockless has the driver know no times of kernels.
	Clockless bool
	// Quick leaves out to look whether uses of memory are in order.
	Quick bool

	mu       sync.Mutex
	next     uintptr
	live     map[uintptr]string // handles, and what made them
	memory   map[cl.MemID][]byte
	started  int // kernels
	compiled int // programs
	lost     bool
	busy     map[cl.QueueID]time.Time // until when
	comes    map[cl.EventID]time.Time
	profiles map[cl.QueueID]bool
	took     map[cl.EventID][2]time.Time // of kernels on queues that profile
	mostBusy int
	order    order.Checker
	faults   []string
	texts    map[cl.ProgramID]string
	kernels  map[cl.KernelID]*kernel
	platform cl.PlatformID
	device   cl.DeviceID
}

// Started is how many kernels were enqueued.
func (f *Fake) Started() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.started
}

// Compiled is how many programs were compiled.
func (f *Fake) Compiled() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.compiled
}

// Live lists the functions that made what was not given back, and uses of memory
// in no order.
func (f *Fake) Live() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	names := slices.Clone(f.faults)
	for _, name := range f.live {
		names = append(names, name)
	}
	return names
}

// give makes a handle.
func (f *Fake) give(name string) uintptr {
	f.next++
	if f.live == nil {
		f.live, f.memory = map[uintptr]string{}, map[cl.MemID][]byte{}
	}
	f.live[f.next] = name
	return f.next
}

// drop takes a handle back; one that is not out is an error of the caller.
func (f *Fake) drop(h uintptr) cl.Code {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.live[h]; !ok {
		return cl.InvalidValue
	}
	delete(f.live, h)
	delete(f.memory, cl.MemID(h))
	return 0
}

// reply fills in what a clGet...Info function is asked for.
func reply(data []byte, size int, value *byte, needed *int) cl.Code {
	if needed != nil {
		*needed = len(data)
	}
	if value == nil {
		return 0
	}
	if size < len(data) {
		return cl.InvalidValue
	}
	copy(unsafe.Slice(value, size), data)
	return 0
}

func word(n int) []byte { return binary.NativeEndian.AppendUint64(nil, uint64(n)) }

// API is the driver's table of functions.
func (f *Fake) API() *cl.API {
	f.platform, f.device = cl.PlatformID(f.give("platform")), cl.DeviceID(f.give("device"))
	clear(f.live)
	f.busy, f.comes = map[cl.QueueID]time.Time{}, map[cl.EventID]time.Time{}
	f.profiles, f.took = map[cl.QueueID]bool{}, map[cl.EventID][2]time.Time{}
	f.texts, f.kernels = map[cl.ProgramID]string{}, map[cl.KernelID]*kernel{}
	a := &cl.API{Name: "a fake"}
	f.finding(a)
	f.contexts(a)
	f.buffers(a)
	f.transfers(a)
	f.programs(a)
	f.events(a)
	return a
}

func (f *Fake) finding(a *cl.API) {
	a.GetPlatformIDs = func(n uint32, ids *cl.PlatformID, count *uint32) cl.Code {
		if count != nil {
			*count = 1
		}
		if ids != nil {
			*ids = f.platform
		}
		return 0
	}
	a.GetPlatformInfo = func(_ cl.PlatformID, _ uint32, size int, value *byte, needed *int) cl.Code {
		return reply([]byte("Fake\x00"), size, value, needed)
	}
	a.GetDeviceIDs = func(_ cl.PlatformID, _ uint64, n uint32, ids *cl.DeviceID, count *uint32) cl.Code {
		if f.NoDevices {
			return cl.DeviceNotFound
		}
		if count != nil {
			*count = 1
		}
		if ids != nil {
			*ids = f.device
		}
		return 0
	}
	a.GetDeviceInfo = func(_ cl.DeviceID, param uint32, size int, value *byte, needed *int) cl.Code {
		data, ok := f.properties()[param]
		if !ok {
			return cl.InvalidValue
		}
		return reply(data, size, value, needed)
	}
}

// properties are those of a GPU of 1 GiB.
func (f *Fake) properties() map[uint32][]byte {
	text := func(s string) []byte { return []byte(s + "\x00") }
	name := cmp.Or(f.Name, "Fake GPU")
	const gpu, everyRule = 1 << 2, 1 | 2 | 4 | 32 | 128
	return map[uint32][]byte{
		0x102B: text(name), 0x102C: text("Sinter"), 0x102D: text(cmp.Or(f.Driver, "1.0")), 0x102F: text("OpenCL 3.0 fake"), 0x103D: text("OpenCL C 1.2 fake"),
		0x1030: text("cl_khr_fp64"), 0x1000: word(gpu), 0x1028: word(1), 0x100D: word(64),
		0x101F: word(1 << 30), 0x1010: word(1 << 28), 0x1023: word(32 << 10), 0x1022: word(1), 0x1019: word(1024),
		0x1002: word(8), 0x100C: word(1000), 0x1004: word(256), 0x1005: append(append(word(256), word(256)...), word(256)...),
		0x103A: word(1), 0x1017: word(1024), 0x101B: word(everyRule), 0x1032: word(everyRule),
	}
}

func (f *Fake) contexts(a *cl.API) {
	a.CreateContext = func(_ *uintptr, _ *cl.DeviceID, code *cl.Code) cl.ContextID {
		f.mu.Lock()
		defer f.mu.Unlock()
		*code = 0
		return cl.ContextID(f.give("clCreateContext"))
	}
	a.ReleaseContext = func(c cl.ContextID) cl.Code { return f.drop(uintptr(c)) }
	a.CreateQueue = func(_ cl.ContextID, _ cl.DeviceID, flags uint64, code *cl.Code) cl.QueueID {
		f.mu.Lock()
		defer f.mu.Unlock()
		*code = 0
		q := cl.QueueID(f.give("clCreateCommandQueue"))
		const profiling = 1 << 1
		f.profiles[q] = flags&profiling != 0
		return q
	}
	a.ReleaseQueue = func(q cl.QueueID) cl.Code { return f.drop(uintptr(q)) }
	a.Flush = func(cl.QueueID) cl.Code { return f.state() }
	a.Finish = func(q cl.QueueID) cl.Code {
		f.mu.Lock()
		f.order.Wait(order.Stream(q))
		until := f.busy[q]
		f.mu.Unlock()
		time.Sleep(time.Until(until))
		return f.state()
	}
}

// state is what calls return once the device is lost.
func (f *Fake) state() cl.Code {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lost {
		return cl.OutOfResources
	}
	return 0
}

// occur makes the event of a call that has one, unless the device is lost.
func (f *Fake) occur(event *cl.EventID) cl.Code {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lost {
		return cl.OutOfResources
	}
	if event != nil {
		*event = cl.EventID(f.give("event"))
	}
	return 0
}

func (f *Fake) programs(a *cl.API) {
	give := func(name string, code *cl.Code) uintptr {
		f.mu.Lock()
		defer f.mu.Unlock()
		*code = 0
		return f.give(name)
	}
	a.CreateProgramSource = func(_ cl.ContextID, text **byte, n *int, code *cl.Code) cl.ProgramID {
		p := cl.ProgramID(give("clCreateProgramWithSource", code))
		f.mu.Lock()
		defer f.mu.Unlock()
		f.compiled++
		f.texts[p] = string(unsafe.Slice(*text, *n))
		return p
	}
	binary := []byte("a program of driver " + f.Driver)
	a.CreateProgramBinary = func(_ cl.ContextID, _ *cl.DeviceID, n *int, start **byte, _, code *cl.Code) cl.ProgramID {
		if f.Foreign || !bytes.Equal(unsafe.Slice(*start, *n), binary) {
			*code = cl.InvalidBinary
			return 0
		}
		return cl.ProgramID(give("clCreateProgramWithBinary", code))
	}
	a.BuildProgram = func(cl.ProgramID, *cl.DeviceID, *byte) cl.Code {
		if f.BuildLog != "" {
			return cl.BuildProgramFailure
		}
		return 0
	}
	a.GetProgramBuildInfo = func(_ cl.ProgramID, _ cl.DeviceID, _ uint32, size int, value *byte, needed *int) cl.Code {
		return reply(append([]byte(f.BuildLog), 0), size, value, needed)
	}
	a.GetProgramInfo = func(_ cl.ProgramID, param uint32, size int, value *byte, needed *int) cl.Code {
		const sizes = 0x1165
		if param == sizes {
			return reply(word(len(binary)), size, value, needed)
		}
		copy(unsafe.Slice(*(**byte)(unsafe.Pointer(value)), len(binary)), binary)
		return 0
	}
	a.ReleaseProgram = func(p cl.ProgramID) cl.Code { return f.drop(uintptr(p)) }
	a.CreateKernel = func(p cl.ProgramID, name *byte, code *cl.Code) cl.KernelID {
		k := cl.KernelID(give("clCreateKernel", code))
		f.mu.Lock()
		defer f.mu.Unlock()
		f.kernels[k] = kernelOf(f.texts[p], dynlib.GoString(name))
		return k
	}
	a.ReleaseKernel = func(k cl.KernelID) cl.Code { return f.drop(uintptr(k)) }
	a.SetKernelArg = func(k cl.KernelID, i uint32, _ int, value unsafe.Pointer) cl.Code {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.kernels[k].set(int(i), value)
		return 0
	}
	a.GetKernelWorkGroup = func(_ cl.KernelID, _ cl.DeviceID, _ uint32, size int, value *byte, needed *int) cl.Code {
		return reply(word(256), size, value, needed)
	}
	a.EnqueueNDRangeKernel = func(q cl.QueueID, k cl.KernelID, _ uint32, _, _, _ *[3]int, _ uint32, _, event *cl.EventID) cl.Code {
		c := f.occur(event)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.started++
		begin := f.take(q, f.Kernel)
		f.uses(q, "clEnqueueNDRangeKernel", f.kernels[k].read, f.kernels[k].written)
		if event != nil {
			f.comes[*event] = f.busy[q]
			f.order.Record(order.Event(*event), order.Stream(q))
			if f.profiles[q] {
				f.took[*event] = [2]time.Time{begin, begin.Add(f.Kernel)}
			}
		}
		f.lost = f.lost || f.started == f.LoseAfter // the driver takes the kernel, and it never ends
		return c
	}
}

func (f *Fake) events(a *cl.API) {
	a.EnqueueMarker = func(q cl.QueueID, _ uint32, _, event *cl.EventID) cl.Code {
		c := f.occur(event)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.order.Record(order.Event(*event), order.Stream(q))
		f.comes[*event] = f.busy[q]
		return c
	}
	a.WaitForEvents = func(n uint32, events *cl.EventID) cl.Code {
		f.mu.Lock()
		var until time.Time
		for _, e := range unsafe.Slice(events, n) {
			f.order.WaitEvent(order.Event(e))
			if f.comes[e].After(until) {
				until = f.comes[e]
			}
		}
		f.mu.Unlock()
		time.Sleep(time.Until(until))
		if f.state() != 0 {
			const failedEvent = -14
			return failedEvent
		}
		return 0
	}
	a.GetEventInfo = func(_ cl.EventID, _ uint32, size int, value *byte, needed *int) cl.Code {
		return reply(binary.NativeEndian.AppendUint32(nil, uint32(f.state())), size, value, needed)
	}
	a.GetEventProfile = func(e cl.EventID, param uint32, size int, value *byte, needed *int) cl.Code {
		f.mu.Lock()
		took, ok := f.took[e]
		f.mu.Unlock()
		if !ok || f.Clockless || param != 0x1282 && param != 0x1283 {
			const notAvailable = -7
			return notAvailable
		}
		return reply(word(int(took[param-0x1282].Sub(origin))), size, value, needed)
	}
	a.ReleaseEvent = func(e cl.EventID) cl.Code { return f.drop(uintptr(e)) }
	a.SetEventCallback = func(cl.EventID, int32, uintptr, uintptr) cl.Code { return cl.InvalidValue }
}
