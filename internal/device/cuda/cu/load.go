package cu

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/sinterml/sinter/internal/dynlib"
)

// library is where the driver's part for programs is. Under WSL it comes from
// Windows.
var library = dynlib.Spec{
	API:     "CUDA",
	Linux:   []string{"libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1"},
	Windows: []string{"nvcuda.dll"},
	Remedy:  "install NVIDIA's driver",
}

// Load opens the system's driver once.
var Load = sync.OnceValues(func() (*API, error) {
	lib, err := dynlib.Open(library)
	if err != nil {
		return nil, err
	}
	a, err := bind(lib)
	if err == nil {
		a.NVML = loadNVML()
	}
	return a, err
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

// bind makes the table from a library. Names with _v2 are those that cuda.h
// means by the plain ones. All calls are CallHeld, and hold what their pointers
// point to.
func bind(lib *dynlib.Library) (*API, error) {
	s := &symbols{lib: lib}
	a := &API{Name: lib.Name}
	bindDevices(a, s)
	bindMemory(a, s)
	bindPools(a, s)
	bindTransfers(a, s)
	bindModules(a, s)
	bindStreams(a, s)
	bindGraphs(a, s)
	if s.err != nil {
		return nil, s.err
	}
	return a, nil
}

// of is a function of one handle.
func of[H ~uintptr](fn uintptr) func(H) Code {
	return func(h H) Code { return Code(dynlib.CallHeld(fn, uintptr(h))) }
}

// into is a function that writes a result.
func into[T any](fn uintptr) func(*T) Code {
	return func(p *T) Code {
		r := Code(dynlib.CallHeld(fn, ptr(p)))
		runtime.KeepAlive(p)
		return r
	}
}

func bindDevices(a *API, s *symbols) {
	initialize, get, name, uuid := s.get("cuInit"), s.get("cuDeviceGet"), s.get("cuDeviceGetName"), s.get("cuDeviceGetUuid")
	if newer, err := s.lib.Symbol("cuDeviceGetUuid_v2"); err == nil {
		uuid = newer // tells of a part of a GPU what it is, not of which GPU
	}
	attribute, total := s.get("cuDeviceGetAttribute"), s.get("cuDeviceTotalMem_v2")
	a.Init = func(flags uint32) Code { return Code(dynlib.CallHeld(initialize, uintptr(flags))) }
	a.DriverGetVersion, a.DeviceGetCount = into[int32](s.get("cuDriverGetVersion")), into[int32](s.get("cuDeviceGetCount"))
	a.DeviceGet = func(d *DeviceID, index int) Code {
		r := Code(dynlib.CallHeld(get, ptr(d), uintptr(index)))
		runtime.KeepAlive(d)
		return r
	}
	a.DeviceGetName = func(p *byte, size int, d DeviceID) Code {
		r := Code(dynlib.CallHeld(name, ptr(p), uintptr(size), uintptr(d)))
		runtime.KeepAlive(p)
		return r
	}
	a.DeviceGetUUID = func(p *[16]byte, d DeviceID) Code {
		r := Code(dynlib.CallHeld(uuid, ptr(p), uintptr(d)))
		runtime.KeepAlive(p)
		return r
	}
	a.DeviceGetAttribute = func(value *int32, which int, d DeviceID) Code {
		r := Code(dynlib.CallHeld(attribute, ptr(value), uintptr(which), uintptr(d)))
		runtime.KeepAlive(value)
		return r
	}
	a.DeviceTotalMem = func(bytes *uint64, d DeviceID) Code {
		r := Code(dynlib.CallHeld(total, ptr(bytes), uintptr(d)))
		runtime.KeepAlive(bytes)
		return r
	}
	retain, release, reset := s.get("cuDevicePrimaryCtxRetain"), s.get("cuDevicePrimaryCtxRelease_v2"), s.get("cuDevicePrimaryCtxReset_v2")
	a.PrimaryRetain = func(c *ContextID, d DeviceID) Code {
		r := Code(dynlib.CallHeld(retain, ptr(c), uintptr(d)))
		runtime.KeepAlive(c)
		return r
	}
	a.PrimaryRelease = func(d DeviceID) Code { return Code(dynlib.CallHeld(release, uintptr(d))) }
	a.PrimaryReset = func(d DeviceID) Code { return Code(dynlib.CallHeld(reset, uintptr(d))) }
	a.PushCurrent = of[ContextID](s.get("cuCtxPushCurrent_v2"))
	pop, popped := s.get("cuCtxPopCurrent_v2"), new(ContextID) // which nobody reads
	a.PopCurrent = func() Code {
		r := Code(dynlib.CallHeld(pop, ptr(popped)))
		runtime.KeepAlive(popped)
		return r
	}
}

func bindMemory(a *API, s *symbols) {
	info, alloc, free := s.get("cuMemGetInfo_v2"), s.get("cuMemAlloc_v2"), s.get("cuMemFree_v2")
	a.MemGetInfo = func(left, total *uint64) Code {
		r := Code(dynlib.CallHeld(info, ptr(left), ptr(total)))
		runtime.KeepAlive(left)
		runtime.KeepAlive(total)
		return r
	}
	a.MemAlloc = func(p *Pointer, n int) Code {
		r := Code(dynlib.CallHeld(alloc, ptr(p), uintptr(n)))
		runtime.KeepAlive(p)
		return r
	}
	a.MemFree = func(p Pointer) Code { return Code(dynlib.CallHeld(free, uintptr(p))) }
	allocHost, freeHost := s.get("cuMemHostAlloc"), s.get("cuMemFreeHost")
	a.MemHostAlloc = func(p *unsafe.Pointer, n int, flags uint32) Code {
		r := Code(dynlib.CallHeld(allocHost, ptr(p), uintptr(n), uintptr(flags)))
		runtime.KeepAlive(p)
		return r
	}
	a.MemFreeHost = func(p unsafe.Pointer) Code { return Code(dynlib.CallHeld(freeHost, uintptr(p))) }
}

// bindPools leaves the functions out that an old driver lacks.
func bindPools(a *API, s *symbols) {
	old := &symbols{lib: s.lib}
	alloc, free := old.get("cuMemAllocFromPoolAsync"), old.get("cuMemFreeAsync")
	create, destroy, trim := old.get("cuMemPoolCreate"), old.get("cuMemPoolDestroy"), old.get("cuMemPoolTrimTo")
	set, get := old.get("cuMemPoolSetAttribute"), old.get("cuMemPoolGetAttribute")
	if old.err != nil {
		return
	}
	a.MemAllocFromPoolAsync = func(p *Pointer, n int, pool PoolID, st StreamID) Code {
		r := Code(dynlib.CallHeld(alloc, ptr(p), uintptr(n), uintptr(pool), uintptr(st)))
		runtime.KeepAlive(p)
		return r
	}
	a.MemFreeAsync = func(p Pointer, st StreamID) Code { return Code(dynlib.CallHeld(free, uintptr(p), uintptr(st))) }
	a.PoolCreate = func(pool *PoolID, props *PoolProps) Code {
		r := Code(dynlib.CallHeld(create, ptr(pool), ptr(props)))
		runtime.KeepAlive(pool)
		runtime.KeepAlive(props)
		return r
	}
	a.PoolDestroy = of[PoolID](destroy)
	a.PoolSetAttribute, a.PoolGetAttribute = poolAttribute(set), poolAttribute(get)
	a.PoolTrimTo = func(pool PoolID, keep int) Code { return Code(dynlib.CallHeld(trim, uintptr(pool), uintptr(keep))) }
}

func poolAttribute(fn uintptr) func(PoolID, int, *uint64) Code {
	return func(pool PoolID, attribute int, value *uint64) Code {
		r := Code(dynlib.CallHeld(fn, uintptr(pool), uintptr(attribute), ptr(value)))
		runtime.KeepAlive(value)
		return r
	}
}

func bindTransfers(a *API, s *symbols) {
	down, up, across, set := s.get("cuMemcpyHtoDAsync_v2"), s.get("cuMemcpyDtoHAsync_v2"), s.get("cuMemcpyDtoDAsync_v2"), s.get("cuMemsetD8Async")
	a.MemcpyHtoDAsync = func(dst Pointer, src unsafe.Pointer, n int, st StreamID) Code {
		r := Code(dynlib.CallHeld(down, uintptr(dst), uintptr(src), uintptr(n), uintptr(st)))
		runtime.KeepAlive(src)
		return r
	}
	a.MemcpyDtoHAsync = func(dst unsafe.Pointer, src Pointer, n int, st StreamID) Code {
		r := Code(dynlib.CallHeld(up, uintptr(dst), uintptr(src), uintptr(n), uintptr(st)))
		runtime.KeepAlive(dst)
		return r
	}
	a.MemcpyDtoDAsync = func(dst, src Pointer, n int, st StreamID) Code {
		return Code(dynlib.CallHeld(across, uintptr(dst), uintptr(src), uintptr(n), uintptr(st)))
	}
	a.MemsetD8Async = func(dst Pointer, value byte, n int, st StreamID) Code {
		return Code(dynlib.CallHeld(set, uintptr(dst), uintptr(value), uintptr(n), uintptr(st)))
	}
}

func bindModules(a *API, s *symbols) {
	load, function := s.get("cuModuleLoadDataEx"), s.get("cuModuleGetFunction")
	a.ModuleLoadDataEx = func(m *ModuleID, image *byte, n uint32, options *uint32, values *uintptr) Code {
		r := Code(dynlib.CallHeld(load, ptr(m), ptr(image), uintptr(n), ptr(options), ptr(values)))
		runtime.KeepAlive(m)
		runtime.KeepAlive(image)
		runtime.KeepAlive(options)
		runtime.KeepAlive(values)
		return r
	}
	a.ModuleUnload = of[ModuleID](s.get("cuModuleUnload"))
	a.ModuleGetFunction = func(f *FunctionID, m ModuleID, name *byte) Code {
		r := Code(dynlib.CallHeld(function, ptr(f), uintptr(m), ptr(name)))
		runtime.KeepAlive(f)
		runtime.KeepAlive(name)
		return r
	}
	get, set, launch := s.get("cuFuncGetAttribute"), s.get("cuFuncSetAttribute"), s.get("cuLaunchKernel")
	a.FuncGetAttribute = func(value *int32, attribute int, f FunctionID) Code {
		r := Code(dynlib.CallHeld(get, ptr(value), uintptr(attribute), uintptr(f)))
		runtime.KeepAlive(value)
		return r
	}
	a.FuncSetAttribute = func(f FunctionID, attribute int, value int32) Code {
		return Code(dynlib.CallHeld(set, uintptr(f), uintptr(attribute), uintptr(value)))
	}
	bindLinker(a, s)
	bindMaps(a, s)
	a.LaunchKernel = func(n *NodeParams, st StreamID) Code {
		g, b := n.Grid, n.Block
		r := Code(dynlib.CallHeld(launch, uintptr(n.Function), uintptr(g[0]), uintptr(g[1]), uintptr(g[2]),
			uintptr(b[0]), uintptr(b[1]), uintptr(b[2]), uintptr(n.Shared), uintptr(st), ptr(n.Params), 0))
		runtime.KeepAlive(n)
		return r
	}
}

func bindMaps(a *API, s *symbols) {
	encode, err := s.lib.Symbol("cuTensorMapEncodeTiled")
	if err != nil {
		return // a driver that is too old
	}
	a.TensorMapEncodeTiled = func(m *TensorMap, p *TensorMapParams) Code {
		r := Code(dynlib.CallHeld(encode, ptr(m), uintptr(p.Type), uintptr(p.Rank), uintptr(p.Address), ptr(&p.Sizes[0]), ptr(&p.Strides[0]),
			ptr(&p.Box[0]), ptr(&p.Steps[0]), uintptr(p.Interleave), uintptr(p.Swizzle), uintptr(p.Promotion), uintptr(p.Fill)))
		runtime.KeepAlive(m)
		runtime.KeepAlive(p)
		return r
	}
}

func bindLinker(a *API, s *symbols) {
	create, add, complete := s.get("cuLinkCreate_v2"), s.get("cuLinkAddData_v2"), s.get("cuLinkComplete")
	a.LinkCreate = func(l *LinkID) Code {
		r := Code(dynlib.CallHeld(create, 0, 0, 0, ptr(l)))
		runtime.KeepAlive(l)
		return r
	}
	a.LinkAddData = func(l LinkID, kind uint32, data *byte, size int) Code {
		r := Code(dynlib.CallHeld(add, uintptr(l), uintptr(kind), ptr(data), uintptr(size), 0, 0, 0, 0))
		runtime.KeepAlive(data)
		return r
	}
	a.LinkComplete = func(l LinkID, cubin **byte, size *int) Code {
		r := Code(dynlib.CallHeld(complete, uintptr(l), ptr(cubin), ptr(size)))
		runtime.KeepAlive(cubin)
		runtime.KeepAlive(size)
		return r
	}
	a.LinkDestroy = of[LinkID](s.get("cuLinkDestroy"))
}

func bindStreams(a *API, s *symbols) {
	create, wait := s.get("cuStreamCreate"), s.get("cuStreamWaitEvent")
	a.StreamCreate = func(st *StreamID, flags uint32) Code {
		r := Code(dynlib.CallHeld(create, ptr(st), uintptr(flags)))
		runtime.KeepAlive(st)
		return r
	}
	a.StreamSynchronize, a.StreamDestroy = of[StreamID](s.get("cuStreamSynchronize")), of[StreamID](s.get("cuStreamDestroy_v2"))
	a.StreamWaitEvent = func(st StreamID, e EventID) Code {
		return Code(dynlib.CallHeld(wait, uintptr(st), uintptr(e), 0))
	}
	event, record, elapsed := s.get("cuEventCreate"), s.get("cuEventRecord"), s.get("cuEventElapsedTime")
	a.EventCreate = func(e *EventID, flags uint32) Code {
		r := Code(dynlib.CallHeld(event, ptr(e), uintptr(flags)))
		runtime.KeepAlive(e)
		return r
	}
	a.EventRecord = func(e EventID, st StreamID) Code { return Code(dynlib.CallHeld(record, uintptr(e), uintptr(st))) }
	a.EventElapsedTime = func(ms *float32, start, end EventID) Code {
		r := Code(dynlib.CallHeld(elapsed, ptr(ms), uintptr(start), uintptr(end)))
		runtime.KeepAlive(ms)
		return r
	}
	a.EventQuery, a.EventSynchronize = of[EventID](s.get("cuEventQuery")), of[EventID](s.get("cuEventSynchronize"))
	a.EventDestroy = of[EventID](s.get("cuEventDestroy_v2"))
}

func bindGraphs(a *API, s *symbols) {
	create, add, instantiate := s.get("cuGraphCreate"), s.get("cuGraphAddKernelNode"), s.get("cuGraphInstantiateWithFlags")
	set, launch := s.get("cuGraphExecKernelNodeSetParams"), s.get("cuGraphLaunch")
	a.GraphCreate = func(g *GraphID) Code {
		r := Code(dynlib.CallHeld(create, ptr(g), 0))
		runtime.KeepAlive(g)
		return r
	}
	a.GraphAddKernelNode = func(n *NodeID, g GraphID, after *NodeID, count int, p *NodeParams) Code {
		r := Code(dynlib.CallHeld(add, ptr(n), uintptr(g), ptr(after), uintptr(count), ptr(p)))
		runtime.KeepAlive(n)
		runtime.KeepAlive(after)
		runtime.KeepAlive(p)
		return r
	}
	a.GraphInstantiate = func(x *ExecID, g GraphID) Code {
		r := Code(dynlib.CallHeld(instantiate, ptr(x), uintptr(g), 0))
		runtime.KeepAlive(x)
		return r
	}
	a.GraphExecKernelSetParams = func(x ExecID, n NodeID, p *NodeParams) Code {
		r := Code(dynlib.CallHeld(set, uintptr(x), uintptr(n), ptr(p)))
		runtime.KeepAlive(p)
		return r
	}
	a.GraphLaunch = func(x ExecID, st StreamID) Code { return Code(dynlib.CallHeld(launch, uintptr(x), uintptr(st))) }
	if event, err := s.lib.Symbol("cuGraphAddEventRecordNode"); err == nil {
		a.GraphAddEventRecordNode = func(n *NodeID, g GraphID, after *NodeID, count int, e EventID) Code {
			r := Code(dynlib.CallHeld(event, ptr(n), uintptr(g), ptr(after), uintptr(count), uintptr(e)))
			runtime.KeepAlive(n)
			runtime.KeepAlive(after)
			return r
		}
	}
	a.GraphExecDestroy, a.GraphDestroy = of[ExecID](s.get("cuGraphExecDestroy")), of[GraphID](s.get("cuGraphDestroy"))
}
