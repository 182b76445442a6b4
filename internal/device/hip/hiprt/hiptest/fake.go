// Package hiptest has drivers of HIP for tests: their device computes nothing
// and fails in chosen ways.
package hiptest

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/sinterml/sinter/internal/device/hip/hiprt"
	"github.com/sinterml/sinter/internal/device/launch/order"
	"github.com/sinterml/sinter/internal/dynlib"
)

// Fake is a driver whose device keeps memory and runs no kernel. The zero value
// does all it is asked; fields are set before API.
type Fake struct {
	NoDevices bool
	Arch      string // of the device; "": gfx90a
	Compiler  int32  // its version; 0: 6.2
	Driver    int32  // the driver's; 0: 60241134
	Bus       int    // of the device's address; 0: 0xC1
	// Foreign has the driver refuse all code that it did not compile itself.
	Foreign bool
	// Refuse refuses memory for which it returns true; nil: none.
	Refuse func(bytes int) bool
	// BuildLog, if set, is what the compiler says about every program, which it
	// refuses.
	BuildLog string
	// WaitFails is what waiting for a stream returns, if not 0; what was started
	// there goes on.
	WaitFails func() hiprt.Code
	// LoseAfter is how many kernels start before the device is lost, in the
	// middle of what it does; 0: never.
	LoseAfter int

	mu      sync.Mutex
	next    uintptr
	live    map[uintptr]string // handles, and what made them
	memory  map[hiprt.Pointer][]uint64
	options []string
	codes   int // programs that were compiled
	current atomic.Int32
	started int // kernels
	lost    bool
	order   order.Checker
	faults  []string
}

// Started is how many kernels were enqueued.
func (f *Fake) Started() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.started
}

// Options are those that the last program was compiled with.
func (f *Fake) Options() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.options
}

// Compiled is how many programs were compiled.
func (f *Fake) Compiled() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.codes
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

// buffer finds the memory that an address lies in; false for the host's.
func (f *Fake) buffer(p uintptr) (order.Memory, bool) {
	for base, m := range f.memory {
		if p >= uintptr(base) && p < uintptr(base)+uintptr(8*len(m)) {
			return order.Memory(base), true
		}
	}
	return 0, false
}

// uses starts something on a stream that reads and writes what lies at addresses.
// The caller holds mu.
func (f *Fake) uses(s hiprt.StreamID, call string, reads, writes []uintptr) {
	w := f.order.Start(order.Stream(s), call)
	for _, p := range reads {
		if m, ok := f.buffer(p); ok {
			f.check(w.Reads(m))
		}
	}
	for _, p := range writes {
		if m, ok := f.buffer(p); ok {
			f.check(w.Writes(m))
		}
	}
}

func (f *Fake) check(err error) {
	if err != nil {
		f.faults = append(f.faults, err.Error())
	}
}

// make gives a handle.
func (f *Fake) make(name string) uintptr {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	f.live[f.next] = name
	return f.next
}

// drop takes a handle back; one that is not out is an error of the caller.
func (f *Fake) drop(h uintptr) hiprt.Code {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.live[h]; !ok {
		return hiprt.InvalidValue
	}
	delete(f.live, h)
	delete(f.memory, hiprt.Pointer(h))
	return f.state()
}

// state is what every call on a lost device says. The caller holds mu.
func (f *Fake) state() hiprt.Code {
	if f.lost {
		return hiprt.LaunchFailure
	}
	return 0
}

func (f *Fake) locked() hiprt.Code {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state()
}

// API is the driver's table of functions.
func (f *Fake) API() *hiprt.API {
	f.live, f.memory = map[uintptr]string{}, map[hiprt.Pointer][]uint64{}
	a := &hiprt.API{Name: "a fake"}
	f.devices(a)
	f.buffers(a)
	f.modules(a)
	f.compiler(a)
	return a
}

func (f *Fake) devices(a *hiprt.API) {
	a.Init = func(uint32) hiprt.Code { return 0 }
	a.DriverVersion = func(v *int32) hiprt.Code { *v = cmp.Or(f.Driver, 60241134); return 0 }
	a.DeviceCount = func(n *int32) hiprt.Code {
		*n = 1
		if f.NoDevices {
			*n = 0
			return hiprt.NoDevice
		}
		return 0
	}
	a.DevicePCI = func(text *byte, size int32, _ int32) hiprt.Code {
		copy(unsafe.Slice(text, size), fmt.Sprintf("0000:%02X:00.0\x00", cmp.Or(f.Bus, 0xC1)))
		return 0
	}
	a.DeviceTotalMem = func(bytes *uint64, _ int32) hiprt.Code { *bytes = 1 << 30; return 0 }
	a.DeviceProperties = func(p *hiprt.Properties, _ int32) hiprt.Code {
		*p = hiprt.Properties{Name: "Fake GPU", Arch: "gfx90a:sramecc+:xnack-", Shared: 64 << 10, Units: 104, Wave: 64}
		if f.Arch != "" {
			p.Arch = f.Arch
		}
		return 0
	}
	a.SetDevice = func(device int32) hiprt.Code { f.current.Store(device); return 0 }
	a.GetDevice = func(device *int32) hiprt.Code { *device = f.current.Load(); return 0 }
	a.MemGetInfo = func(free, total *uint64) hiprt.Code { *free, *total = 1<<29, 1<<30; return 0 }
}

func (f *Fake) buffers(a *hiprt.API) {
	a.Malloc = func(p *hiprt.Pointer, n int) hiprt.Code {
		f.mu.Lock()
		defer f.mu.Unlock()
		switch {
		case f.lost:
			return f.state()
		case f.Refuse != nil && f.Refuse(n):
			return hiprt.OutOfMemory
		}
		m := make([]uint64, (n+7)/8)
		*p = hiprt.Pointer(unsafe.Pointer(&m[0]))
		f.memory[*p], f.live[uintptr(*p)] = m, "hipMalloc"
		return 0
	}
	a.Free = func(p hiprt.Pointer) hiprt.Code {
		f.mu.Lock()
		if !f.lost {
			f.check(f.order.Free(order.Memory(p)))
		}
		f.mu.Unlock()
		return f.drop(uintptr(p))
	}
	a.MemcpyAsync = func(dst, src unsafe.Pointer, n int, _ uint32, s hiprt.StreamID) hiprt.Code {
		f.mu.Lock()
		f.uses(s, "hipMemcpyAsync", []uintptr{uintptr(src)}, []uintptr{uintptr(dst)})
		f.mu.Unlock()
		copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
		return f.locked()
	}
	a.MemsetAsync = func(p hiprt.Pointer, value byte, n int, s hiprt.StreamID) hiprt.Code {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.uses(s, "hipMemsetAsync", nil, []uintptr{uintptr(p)})
		m, ok := f.memory[p]
		if !ok {
			return hiprt.InvalidValue
		}
		b := unsafe.Slice((*byte)(unsafe.Pointer(&m[0])), 8*len(m))
		for i := range b[:n] {
			b[i] = value
		}
		return f.state()
	}
	a.StreamCreate = func(s *hiprt.StreamID, _ uint32) hiprt.Code {
		*s = hiprt.StreamID(f.make("hipStreamCreateWithFlags"))
		return 0
	}
	a.StreamSynchronize = func(s hiprt.StreamID) hiprt.Code {
		if f.WaitFails != nil {
			if code := f.WaitFails(); code != 0 {
				return code
			}
		}
		f.mu.Lock()
		f.order.Wait(order.Stream(s))
		f.mu.Unlock()
		return f.locked()
	}
	a.StreamDestroy = func(s hiprt.StreamID) hiprt.Code { return f.drop(uintptr(s)) }
}

func (f *Fake) modules(a *hiprt.API) {
	a.ModuleLoadData = func(m *hiprt.ModuleID, image *byte) hiprt.Code {
		f.mu.Lock()
		refused := f.Foreign && f.codes == 0 || dynlib.GoString(image)+"\x00" != f.code()
		f.mu.Unlock()
		if refused {
			return hiprt.NoBinaryForGPU
		}
		*m = hiprt.ModuleID(f.make("hipModuleLoadData"))
		return f.locked()
	}
	a.ModuleUnload = func(m hiprt.ModuleID) hiprt.Code { return f.drop(uintptr(m)) }
	a.ModuleGetFunction = func(fn *hiprt.FunctionID, _ hiprt.ModuleID, _ *byte) hiprt.Code { *fn = 7; return 0 }
	a.LaunchKernel = func(_ hiprt.FunctionID, groups, items uint32, _ hiprt.StreamID, params *unsafe.Pointer) hiprt.Code {
		f.mu.Lock()
		defer f.mu.Unlock()
		if groups == 0 || items == 0 || items > 1024 || params == nil {
			return hiprt.InvalidValue
		}
		f.started++
		if f.LoseAfter > 0 && f.started >= f.LoseAfter {
			f.lost = true // which a later call says
			return 0
		}
		return f.state()
	}
}

// code is what every program is compiled to.
func (f *Fake) code() string { return fmt.Sprintf("\x7fELF of driver %d\x00", f.Driver) }

func (f *Fake) compiler(a *hiprt.API) {
	a.CompilerVersion = func(major, minor *int32) hiprt.CompilerCode {
		*major, *minor = 6, 2
		if f.Compiler != 0 {
			*major = f.Compiler
		}
		return 0
	}
	a.CreateProgram = func(p *hiprt.ProgramID, _, _ *byte) hiprt.CompilerCode {
		*p = hiprt.ProgramID(f.make("hiprtcCreateProgram"))
		return 0
	}
	a.CompileProgram = func(_ hiprt.ProgramID, n int, options **byte) hiprt.CompilerCode {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.options = nil
		for _, o := range unsafe.Slice(options, n) {
			f.options = append(f.options, dynlib.GoString(o))
		}
		if f.BuildLog != "" {
			const compilation = 6
			return compilation
		}
		f.codes++
		return 0
	}
	reply := func(text func() string) (func(hiprt.ProgramID, *int) hiprt.CompilerCode, func(hiprt.ProgramID, *byte) hiprt.CompilerCode) {
		return func(_ hiprt.ProgramID, n *int) hiprt.CompilerCode { *n = len(text()); return 0 },
			func(_ hiprt.ProgramID, b *byte) hiprt.CompilerCode {
				copy(unsafe.Slice(b, len(text())), text())
				return 0
			}
	}
	a.ProgramLogSize, a.ProgramLog = reply(func() string { return f.BuildLog + "\x00" })
	a.CodeSize, a.GetCode = reply(f.code)
	a.DestroyProgram = func(p *hiprt.ProgramID) hiprt.CompilerCode {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.live, uintptr(*p))
		return 0
	}
}
