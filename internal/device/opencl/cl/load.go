package cl

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/sinterml/sinter/internal/dynlib"
)

// library is where OpenCL's loader is, which finds the drivers itself.
var library = dynlib.Spec{
	API:     "OpenCL",
	Linux:   []string{"libOpenCL.so.1", "libOpenCL.so"},
	Darwin:  []string{"/System/Library/Frameworks/OpenCL.framework/OpenCL"},
	Windows: []string{"OpenCL.dll"},
	Remedy:  remedy(),
}

func remedy() string {
	switch runtime.GOOS {
	case "linux":
		return "install your GPU's driver, or the package ocl-icd-libopencl1 if only the loader is missing"
	case "darwin":
		return "this version of macOS has none"
	}
	return "install your GPU's driver"
}

// Load opens the system's OpenCL once.
var Load = sync.OnceValues(func() (*API, error) {
	lib, err := dynlib.Open(library)
	if err != nil {
		return nil, err
	}
	return bind(lib)
})

// symbols looks functions up and keeps the first error.
type symbols struct {
	lib *dynlib.Library
	err error
}

func (s *symbols) get(name string) uintptr {
	p, err := s.lib.Symbol(name)
	if s.err == nil {
		s.err = err
	}
	return p
}

// ptr is the argument that p becomes. It is used only for what is on the heap
// already, as everything is that goes through a function of the table.
func ptr[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// bind makes the table from a library. The functions that a run calls use
// CallHeld, and hold what their pointers point to; the others Call.
func bind(lib *dynlib.Library) (*API, error) {
	s := &symbols{lib: lib}
	a := &API{Name: lib.Name}
	bindPlatforms(a, s)
	bindQueues(a, s)
	bindBuffers(a, s)
	bindPrograms(a, s)
	bindEvents(a, s)
	if s.err != nil {
		return nil, s.err
	}
	return a, nil
}

// info is a function of the clGet...Info family.
func info[H ~uintptr](fn uintptr) func(h H, param uint32, size int, value *byte, needed *int) Code {
	return func(h H, param uint32, size int, value *byte, needed *int) Code {
		r := Code(dynlib.CallHeld(fn, uintptr(h), uintptr(param), uintptr(size), ptr(value), ptr(needed)))
		runtime.KeepAlive(value)
		runtime.KeepAlive(needed)
		return r
	}
}

// of is a function of one handle.
func of[H ~uintptr](fn uintptr) func(H) Code {
	return func(h H) Code { return Code(dynlib.CallHeld(fn, uintptr(h))) }
}

func bindPlatforms(a *API, s *symbols) {
	platforms, devices := s.get("clGetPlatformIDs"), s.get("clGetDeviceIDs")
	a.GetPlatformIDs = func(n uint32, ids *PlatformID, count *uint32) Code {
		return Code(dynlib.Call(platforms, uintptr(n), uintptr(unsafe.Pointer(ids)), uintptr(unsafe.Pointer(count))))
	}
	a.GetDeviceIDs = func(p PlatformID, kind uint64, n uint32, ids *DeviceID, count *uint32) Code {
		return Code(dynlib.Call(devices, uintptr(p), uintptr(kind), uintptr(n), uintptr(unsafe.Pointer(ids)), uintptr(unsafe.Pointer(count))))
	}
	a.GetPlatformInfo = info[PlatformID](s.get("clGetPlatformInfo"))
	a.GetDeviceInfo = info[DeviceID](s.get("clGetDeviceInfo"))
	create := s.get("clCreateContext")
	a.CreateContext = func(properties *uintptr, d *DeviceID, code *Code) ContextID {
		return ContextID(dynlib.Call(create, uintptr(unsafe.Pointer(properties)), 1, uintptr(unsafe.Pointer(d)), 0, 0, uintptr(unsafe.Pointer(code))))
	}
	a.ReleaseContext = of[ContextID](s.get("clReleaseContext"))
}

func bindQueues(a *API, s *symbols) {
	if create, err := s.lib.Symbol("clCreateCommandQueueWithProperties"); err == nil {
		a.CreateQueueProperties = func(c ContextID, d DeviceID, properties *uint64, code *Code) QueueID {
			return QueueID(dynlib.Call(create, uintptr(c), uintptr(d), uintptr(unsafe.Pointer(properties)), uintptr(unsafe.Pointer(code))))
		}
	}
	create := s.get("clCreateCommandQueue")
	a.CreateQueue = func(c ContextID, d DeviceID, flags uint64, code *Code) QueueID {
		return QueueID(dynlib.Call(create, uintptr(c), uintptr(d), uintptr(flags), uintptr(unsafe.Pointer(code))))
	}
	a.ReleaseQueue = of[QueueID](s.get("clReleaseCommandQueue"))
	a.Flush = of[QueueID](s.get("clFlush"))
	a.Finish = of[QueueID](s.get("clFinish"))
}

func bindBuffers(a *API, s *symbols) {
	create, sub := s.get("clCreateBuffer"), s.get("clCreateSubBuffer")
	a.CreateBuffer = func(c ContextID, flags uint64, size int, host unsafe.Pointer, code *Code) MemID {
		return MemID(dynlib.Call(create, uintptr(c), uintptr(flags), uintptr(size), uintptr(host), uintptr(unsafe.Pointer(code))))
	}
	a.CreateSubBuffer = func(m MemID, flags uint64, kind uint32, region *[2]int, code *Code) MemID {
		return MemID(dynlib.Call(sub, uintptr(m), uintptr(flags), uintptr(kind), uintptr(unsafe.Pointer(region)), uintptr(unsafe.Pointer(code))))
	}
	a.ReleaseMemObject = of[MemID](s.get("clReleaseMemObject"))
	a.EnqueueReadBuffer = transfer(s.get("clEnqueueReadBuffer"))
	a.EnqueueWriteBuffer = transfer(s.get("clEnqueueWriteBuffer"))
	copies, fill := s.get("clEnqueueCopyBuffer"), s.get("clEnqueueFillBuffer")
	a.EnqueueCopyBuffer = func(q QueueID, src, dst MemID, srcOffset, dstOffset, size int, waits uint32, list, event *EventID) Code {
		r := dynlib.CallHeld(copies, uintptr(q), uintptr(src), uintptr(dst), uintptr(srcOffset), uintptr(dstOffset), uintptr(size), uintptr(waits), ptr(list), ptr(event))
		runtime.KeepAlive(list)
		runtime.KeepAlive(event)
		return Code(r)
	}
	a.EnqueueFillBuffer = func(q QueueID, m MemID, pattern *byte, patternSize, offset, size int, waits uint32, list, event *EventID) Code {
		r := dynlib.CallHeld(fill, uintptr(q), uintptr(m), ptr(pattern), uintptr(patternSize), uintptr(offset), uintptr(size), uintptr(waits), ptr(list), ptr(event))
		runtime.KeepAlive(pattern)
		runtime.KeepAlive(list)
		runtime.KeepAlive(event)
		return Code(r)
	}
	mapBuffer, unmap := s.get("clEnqueueMapBuffer"), s.get("clEnqueueUnmapMemObject")
	a.EnqueueMapBuffer = func(q QueueID, m MemID, blocking uint32, flags uint64, offset, size int, waits uint32, list, event *EventID, code *Code) unsafe.Pointer {
		r := dynlib.Call(mapBuffer, uintptr(q), uintptr(m), uintptr(blocking), uintptr(flags), uintptr(offset), uintptr(size),
			uintptr(waits), uintptr(unsafe.Pointer(list)), uintptr(unsafe.Pointer(event)), uintptr(unsafe.Pointer(code)))
		return *(*unsafe.Pointer)(unsafe.Pointer(&r)) // the driver's memory, which Go's collector knows nothing of
	}
	a.EnqueueUnmapMem = func(q QueueID, m MemID, p unsafe.Pointer, waits uint32, list, event *EventID) Code {
		return Code(dynlib.Call(unmap, uintptr(q), uintptr(m), uintptr(p), uintptr(waits), uintptr(unsafe.Pointer(list)), uintptr(unsafe.Pointer(event))))
	}
}

func transfer(fn uintptr) func(q QueueID, m MemID, blocking uint32, offset, size int, p unsafe.Pointer, waits uint32, list, event *EventID) Code {
	return func(q QueueID, m MemID, blocking uint32, offset, size int, p unsafe.Pointer, waits uint32, list, event *EventID) Code {
		r := dynlib.CallHeld(fn, uintptr(q), uintptr(m), uintptr(blocking), uintptr(offset), uintptr(size), uintptr(p), uintptr(waits), ptr(list), ptr(event))
		runtime.KeepAlive(p)
		runtime.KeepAlive(list)
		runtime.KeepAlive(event)
		return Code(r)
	}
}

func bindPrograms(a *API, s *symbols) {
	source, binary, build := s.get("clCreateProgramWithSource"), s.get("clCreateProgramWithBinary"), s.get("clBuildProgram")
	a.CreateProgramSource = func(c ContextID, text **byte, length *int, code *Code) ProgramID {
		return ProgramID(dynlib.Call(source, uintptr(c), 1, uintptr(unsafe.Pointer(text)), uintptr(unsafe.Pointer(length)), uintptr(unsafe.Pointer(code))))
	}
	a.CreateProgramBinary = func(c ContextID, d *DeviceID, length *int, bytes **byte, status, code *Code) ProgramID {
		return ProgramID(dynlib.Call(binary, uintptr(c), 1, uintptr(unsafe.Pointer(d)), uintptr(unsafe.Pointer(length)), uintptr(unsafe.Pointer(bytes)),
			uintptr(unsafe.Pointer(status)), uintptr(unsafe.Pointer(code))))
	}
	a.BuildProgram = func(p ProgramID, d *DeviceID, options *byte) Code {
		return Code(dynlib.Call(build, uintptr(p), 1, uintptr(unsafe.Pointer(d)), uintptr(unsafe.Pointer(options)), 0, 0))
	}
	a.GetProgramInfo = info[ProgramID](s.get("clGetProgramInfo"))
	a.GetProgramBuildInfo = infoFor[ProgramID](s.get("clGetProgramBuildInfo"))
	a.ReleaseProgram = of[ProgramID](s.get("clReleaseProgram"))
	create, set, enqueue := s.get("clCreateKernel"), s.get("clSetKernelArg"), s.get("clEnqueueNDRangeKernel")
	a.CreateKernel = func(p ProgramID, name *byte, code *Code) KernelID {
		return KernelID(dynlib.Call(create, uintptr(p), uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(code))))
	}
	a.ReleaseKernel = of[KernelID](s.get("clReleaseKernel"))
	a.GetKernelWorkGroup = infoFor[KernelID](s.get("clGetKernelWorkGroupInfo"))
	a.SetKernelArg = func(k KernelID, index uint32, size int, value unsafe.Pointer) Code {
		r := dynlib.CallHeld(set, uintptr(k), uintptr(index), uintptr(size), uintptr(value))
		runtime.KeepAlive(value)
		return Code(r)
	}
	a.EnqueueNDRangeKernel = func(q QueueID, k KernelID, dims uint32, offset, global, local *[3]int, waits uint32, list, event *EventID) Code {
		r := dynlib.CallHeld(enqueue, uintptr(q), uintptr(k), uintptr(dims), ptr(offset), ptr(global), ptr(local), uintptr(waits), ptr(list), ptr(event))
		runtime.KeepAlive(offset)
		runtime.KeepAlive(global)
		runtime.KeepAlive(local)
		runtime.KeepAlive(list)
		runtime.KeepAlive(event)
		return Code(r)
	}
}

// infoFor is a function that tells of an object what it is on a device.
func infoFor[H ~uintptr](fn uintptr) func(h H, d DeviceID, param uint32, size int, value *byte, needed *int) Code {
	return func(h H, d DeviceID, param uint32, size int, value *byte, needed *int) Code {
		return Code(dynlib.Call(fn, uintptr(h), uintptr(d), uintptr(param), uintptr(size), uintptr(unsafe.Pointer(value)), uintptr(unsafe.Pointer(needed))))
	}
}

func bindEvents(a *API, s *symbols) {
	marker, wait, callback := s.get("clEnqueueMarkerWithWaitList"), s.get("clWaitForEvents"), s.get("clSetEventCallback")
	a.EnqueueMarker = func(q QueueID, waits uint32, list, event *EventID) Code {
		r := dynlib.CallHeld(marker, uintptr(q), uintptr(waits), ptr(list), ptr(event))
		runtime.KeepAlive(list)
		runtime.KeepAlive(event)
		return Code(r)
	}
	a.WaitForEvents = func(n uint32, list *EventID) Code {
		r := dynlib.CallHeld(wait, uintptr(n), ptr(list))
		runtime.KeepAlive(list)
		return Code(r)
	}
	a.SetEventCallback = func(e EventID, status int32, notify, user uintptr) Code {
		return Code(dynlib.CallHeld(callback, uintptr(e), uintptr(status), notify, user))
	}
	a.GetEventInfo = info[EventID](s.get("clGetEventInfo"))
	a.GetEventProfile = info[EventID](s.get("clGetEventProfilingInfo"))
	a.ReleaseEvent = of[EventID](s.get("clReleaseEvent"))
}
