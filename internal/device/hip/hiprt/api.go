// Package hiprt calls AMD's HIP runtime and its compiler, by their libraries
// alone: no header of ROCm has to be installed. Its errors name the function and
// HIP's code.
//
// HIP has a current device for each thread of the system, and goroutines move
// between threads. So every call that depends on it is made while the goroutine
// is kept on its thread, and what was current before is put back.
package hiprt

import "unsafe"

// Handles of HIP's objects; 0 is none.
type (
	ModuleID   uintptr
	FunctionID uintptr
	StreamID   uintptr
	ProgramID  uintptr
	Pointer    uintptr // an address on the device
)

// API is the table of HIP's functions, in the types of hip_runtime_api.h and
// hiprtc.h without what is never used. Tests put functions of their own in the
// place of a driver's.
type API struct {
	// Name is the library that the functions are from.
	Name string

	Init             func(flags uint32) Code
	DriverVersion    func(version *int32) Code // 60241134 is 6.2.41134
	DeviceCount      func(n *int32) Code
	DevicePCI        func(text *byte, size int32, device int32) Code
	DeviceTotalMem   func(bytes *uint64, device int32) Code
	DeviceProperties func(p *Properties, device int32) Code
	SetDevice        func(device int32) Code
	GetDevice        func(device *int32) Code

	MemGetInfo  func(free, total *uint64) Code
	Malloc      func(p *Pointer, n int) Code
	Free        func(p Pointer) Code
	MemcpyAsync func(dst, src unsafe.Pointer, n int, kind uint32, s StreamID) Code
	MemsetAsync func(p Pointer, value byte, n int, s StreamID) Code

	StreamCreate      func(s *StreamID, flags uint32) Code
	StreamSynchronize func(s StreamID) Code
	StreamDestroy     func(s StreamID) Code

	ModuleLoadData    func(m *ModuleID, image *byte) Code
	ModuleUnload      func(m ModuleID) Code
	ModuleGetFunction func(f *FunctionID, m ModuleID, name *byte) Code
	LaunchKernel      func(f FunctionID, groups, items uint32, s StreamID, params *unsafe.Pointer) Code

	CompilerVersion func(major, minor *int32) CompilerCode
	CreateProgram   func(p *ProgramID, source, name *byte) CompilerCode
	CompileProgram  func(p ProgramID, n int, options **byte) CompilerCode
	ProgramLogSize  func(p ProgramID, n *int) CompilerCode
	ProgramLog      func(p ProgramID, text *byte) CompilerCode
	CodeSize        func(p ProgramID, n *int) CompilerCode
	GetCode         func(p ProgramID, code *byte) CompilerCode
	DestroyProgram  func(p *ProgramID) CompilerCode
}

// Properties are what a program has to know of hipDeviceProp_t.
type Properties struct {
	Name, Arch  string // "AMD Instinct MI250X", "gfx90a:sramecc+:xnack-"
	Shared      int    // bytes of memory of a group
	Units, Wave int    // compute units, work-items of a wave
}

// propertiesBytes is more than hipDeviceProp_t has in any version.
const propertiesBytes = 4096

// layout is where fields of hipDeviceProp_t lie.
type layout struct{ arch, shared, wave, units int }

// The structure was changed in version 6, with a new name for the function.
var (
	layoutBefore6 = layout{arch: 396, shared: 264, wave: 276, units: 336}
	layoutOf6     = layout{arch: 1160, shared: 296, wave: 308, units: 388}
)

// decode reads the properties.
func (l layout) decode(b *[propertiesBytes]byte) Properties {
	const longest = 256
	number := func(at int) int { return int(*(*int32)(unsafe.Pointer(&b[at]))) }
	return Properties{
		Name: text(b[:longest]), Arch: text(b[l.arch : l.arch+longest]),
		Shared: int(*(*uint64)(unsafe.Pointer(&b[l.shared]))), Units: number(l.units), Wave: number(l.wave),
	}
}

// text is a text of C in a field.
func text(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}
