package hiprt

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/sinterml/sinter/internal/dynlib"
)

// The runtime, and the compiler, which versions before 5.5 have in the runtime.
var (
	runtimeLibrary = dynlib.Spec{
		API:     "HIP",
		Linux:   linuxNames("libamdhip64.so"),
		Windows: []string{"amdhip64_7.dll", "amdhip64_6.dll", "amdhip64.dll"},
		Remedy:  "install AMD's driver with ROCm's runtime: the package hip-runtime-amd, or libamdhip64-5 of the distribution",
	}
	compilerLibrary = dynlib.Spec{
		API:     "HIP's compiler",
		Linux:   linuxNames("libhiprtc.so"),
		Windows: []string{"hiprtc0701.dll", "hiprtc0700.dll", "hiprtc0604.dll", "hiprtc0603.dll", "hiprtc0602.dll", "hiprtc0601.dll", "hiprtc0600.dll", "hiprtc0507.dll"},
		Remedy:  "install hiprtc: the package hip-runtime-amd, or libhiprtc-builtins5 of the distribution",
	}
)

// linuxNames are those of a library of ROCm, which may lie in a folder that the
// system's loader does not search.
func linuxNames(name string) []string {
	return []string{name + ".7", name + ".6", name + ".5", name, "/opt/rocm/lib/" + name}
}

// Load opens the system's HIP once.
var Load = sync.OnceValues(func() (*API, error) {
	lib, err := dynlib.Open(runtimeLibrary)
	if err != nil {
		return nil, err
	}
	compiler := lib
	if _, err := lib.Symbol("hiprtcCreateProgram"); err != nil {
		if compiler, err = dynlib.Open(compilerLibrary); err != nil {
			return nil, err
		}
	}
	return bind(lib, compiler)
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

// bind makes the table from the libraries. The functions that a run calls use
// CallHeld, and hold what their pointers point to; the others Call.
func bind(lib, compiler *dynlib.Library) (*API, error) {
	s := &symbols{lib: lib}
	a := &API{Name: lib.Name}
	bindDevices(a, s)
	bindMemory(a, s)
	bindModules(a, s)
	if s.err == nil {
		s.lib = compiler
		bindCompiler(a, s)
	}
	if s.err != nil {
		return nil, s.err
	}
	return a, nil
}

func bindDevices(a *API, s *symbols) {
	start, version, count := s.get("hipInit"), s.get("hipDriverGetVersion"), s.get("hipGetDeviceCount")
	a.Init = func(flags uint32) Code { return Code(dynlib.Call(start, uintptr(flags))) }
	a.DriverVersion = func(v *int32) Code { return Code(dynlib.Call(version, uintptr(unsafe.Pointer(v)))) }
	a.DeviceCount = func(n *int32) Code { return Code(dynlib.Call(count, uintptr(unsafe.Pointer(n)))) }
	pci, total := s.get("hipDeviceGetPCIBusId"), s.get("hipDeviceTotalMem")
	a.DevicePCI = func(text *byte, size, device int32) Code {
		return Code(dynlib.Call(pci, uintptr(unsafe.Pointer(text)), uintptr(size), uintptr(device)))
	}
	a.DeviceTotalMem = func(bytes *uint64, device int32) Code {
		return Code(dynlib.Call(total, uintptr(unsafe.Pointer(bytes)), uintptr(device)))
	}
	where := layoutOf6
	properties, err := s.lib.Symbol("hipGetDevicePropertiesR0600")
	if err != nil {
		where, properties = layoutBefore6, s.get("hipGetDeviceProperties")
	}
	a.DeviceProperties = func(p *Properties, device int32) Code {
		b := new([propertiesBytes]byte)
		code := Code(dynlib.Call(properties, uintptr(unsafe.Pointer(b)), uintptr(device)))
		*p = where.decode(b)
		return code
	}
	set, get := s.get("hipSetDevice"), s.get("hipGetDevice")
	a.SetDevice = func(device int32) Code { return Code(dynlib.CallHeld(set, uintptr(device))) }
	a.GetDevice = func(device *int32) Code { return Code(dynlib.Call(get, uintptr(unsafe.Pointer(device)))) }
}

func bindMemory(a *API, s *symbols) {
	info, alloc, free := s.get("hipMemGetInfo"), s.get("hipMalloc"), s.get("hipFree")
	a.MemGetInfo = func(free, total *uint64) Code {
		return Code(dynlib.Call(info, uintptr(unsafe.Pointer(free)), uintptr(unsafe.Pointer(total))))
	}
	a.Malloc = func(p *Pointer, n int) Code {
		return Code(dynlib.Call(alloc, uintptr(unsafe.Pointer(p)), uintptr(n)))
	}
	a.Free = func(p Pointer) Code { return Code(dynlib.Call(free, uintptr(p))) }
	copies, set := s.get("hipMemcpyAsync"), s.get("hipMemsetAsync")
	a.MemcpyAsync = func(dst, src unsafe.Pointer, n int, kind uint32, stream StreamID) Code {
		r := dynlib.CallHeld(copies, uintptr(dst), uintptr(src), uintptr(n), uintptr(kind), uintptr(stream))
		runtime.KeepAlive(dst)
		runtime.KeepAlive(src)
		return Code(r)
	}
	a.MemsetAsync = func(p Pointer, value byte, n int, stream StreamID) Code {
		return Code(dynlib.CallHeld(set, uintptr(p), uintptr(value), uintptr(n), uintptr(stream)))
	}
	create, wait, destroy := s.get("hipStreamCreateWithFlags"), s.get("hipStreamSynchronize"), s.get("hipStreamDestroy")
	a.StreamCreate = func(stream *StreamID, flags uint32) Code {
		return Code(dynlib.Call(create, uintptr(unsafe.Pointer(stream)), uintptr(flags)))
	}
	a.StreamSynchronize = func(stream StreamID) Code { return Code(dynlib.CallHeld(wait, uintptr(stream))) }
	a.StreamDestroy = func(stream StreamID) Code { return Code(dynlib.Call(destroy, uintptr(stream))) }
}

func bindModules(a *API, s *symbols) {
	load, unload, function, launch := s.get("hipModuleLoadData"), s.get("hipModuleUnload"), s.get("hipModuleGetFunction"), s.get("hipModuleLaunchKernel")
	a.ModuleLoadData = func(m *ModuleID, image *byte) Code {
		return Code(dynlib.Call(load, uintptr(unsafe.Pointer(m)), uintptr(unsafe.Pointer(image))))
	}
	a.ModuleUnload = func(m ModuleID) Code { return Code(dynlib.Call(unload, uintptr(m))) }
	a.ModuleGetFunction = func(f *FunctionID, m ModuleID, name *byte) Code {
		return Code(dynlib.Call(function, uintptr(unsafe.Pointer(f)), uintptr(m), uintptr(unsafe.Pointer(name))))
	}
	a.LaunchKernel = func(f FunctionID, groups, items uint32, stream StreamID, params *unsafe.Pointer) Code {
		r := dynlib.CallHeld(launch, uintptr(f), uintptr(groups), 1, 1, uintptr(items), 1, 1, 0, uintptr(stream), uintptr(unsafe.Pointer(params)), 0)
		runtime.KeepAlive(params)
		return Code(r)
	}
}

func bindCompiler(a *API, s *symbols) {
	version, create, build, destroy := s.get("hiprtcVersion"), s.get("hiprtcCreateProgram"), s.get("hiprtcCompileProgram"), s.get("hiprtcDestroyProgram")
	a.CompilerVersion = func(major, minor *int32) CompilerCode {
		return CompilerCode(dynlib.Call(version, uintptr(unsafe.Pointer(major)), uintptr(unsafe.Pointer(minor))))
	}
	a.CreateProgram = func(p *ProgramID, source, name *byte) CompilerCode {
		return CompilerCode(dynlib.Call(create, uintptr(unsafe.Pointer(p)), uintptr(unsafe.Pointer(source)), uintptr(unsafe.Pointer(name)), 0, 0, 0))
	}
	a.CompileProgram = func(p ProgramID, n int, options **byte) CompilerCode {
		return CompilerCode(dynlib.Call(build, uintptr(p), uintptr(n), uintptr(unsafe.Pointer(options))))
	}
	a.DestroyProgram = func(p *ProgramID) CompilerCode {
		return CompilerCode(dynlib.Call(destroy, uintptr(unsafe.Pointer(p))))
	}
	size := func(name string) func(p ProgramID, n *int) CompilerCode {
		fn := s.get(name)
		return func(p ProgramID, n *int) CompilerCode {
			return CompilerCode(dynlib.Call(fn, uintptr(p), uintptr(unsafe.Pointer(n))))
		}
	}
	contents := func(name string) func(p ProgramID, b *byte) CompilerCode {
		fn := s.get(name)
		return func(p ProgramID, b *byte) CompilerCode {
			return CompilerCode(dynlib.Call(fn, uintptr(p), uintptr(unsafe.Pointer(b))))
		}
	}
	a.ProgramLogSize, a.ProgramLog = size("hiprtcGetProgramLogSize"), contents("hiprtcGetProgramLog")
	a.CodeSize, a.GetCode = size("hiprtcGetCodeSize"), contents("hiprtcGetCode")
}
