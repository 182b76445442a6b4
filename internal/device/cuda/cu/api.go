// Package cu calls NVIDIA's CUDA driver, libcuda alone: nothing of the toolkit
// has to be installed. Its errors name the function and CUDA's code.
//
// CUDA has a current context for each thread of the system, and goroutines move
// between threads. So every call that needs one is made between Context.enter
// and leave, which keep the goroutine on its thread and put back what was
// current there before: that may be another library's.
package cu

import "unsafe"

// Handles of CUDA's objects; 0 is none.
type (
	DeviceID   int32 // 0 is the first
	ContextID  uintptr
	ModuleID   uintptr
	FunctionID uintptr
	StreamID   uintptr
	EventID    uintptr
	LinkID     uintptr
	PoolID     uintptr
	GraphID    uintptr
	ExecID     uintptr
	NodeID     uintptr
	Pointer    uint64 // an address on the device
)

// NodeParams are CUDA_KERNEL_NODE_PARAMS of version 1, which all drivers know.
type NodeParams struct {
	Function    FunctionID
	Grid, Block [3]uint32
	Shared      uint32          // bytes beside those that the kernel declares
	Params      **uint64        // of each argument, where it lies
	Extra       *unsafe.Pointer // not used
}

// TensorMap is CUtensorMap, which begins at a multiple of 64: a matrix as the units
// that copy boxes of it know it.
type TensorMap [16]uint64

// TensorMapParams are what a TensorMap is made of, in the numbers of cuda.h; axes
// are listed from the inner one on.
type TensorMapParams struct {
	Type, Rank                           uint32
	Address                              Pointer
	Sizes                                [5]uint64
	Strides                              [4]uint64 // bytes, of all axes but the inner one
	Box, Steps                           [5]uint32
	Interleave, Swizzle, Promotion, Fill uint32
}

// API is the table of CUDA's functions, in the types of cuda.h without what is
// never used. Tests put functions of their own in the place of a driver's.
type API struct {
	// Name is the library that the functions are from.
	Name string
	// NVML asks what needs no context; nil where it is not installed.
	NVML *NVML

	contexts contexts

	Init               func(flags uint32) Code
	DriverGetVersion   func(version *int32) Code // 12040 is 12.4
	DeviceGetCount     func(n *int32) Code
	DeviceGet          func(d *DeviceID, index int) Code
	DeviceGetName      func(name *byte, size int, d DeviceID) Code
	DeviceGetUUID      func(uuid *[16]byte, d DeviceID) Code
	DeviceGetAttribute func(value *int32, attribute int, d DeviceID) Code
	DeviceTotalMem     func(bytes *uint64, d DeviceID) Code

	PrimaryRetain  func(c *ContextID, d DeviceID) Code
	PrimaryRelease func(d DeviceID) Code
	PrimaryReset   func(d DeviceID) Code
	PushCurrent    func(c ContextID) Code
	PopCurrent     func() Code

	MemGetInfo   func(free, total *uint64) Code
	MemAlloc     func(p *Pointer, n int) Code
	MemFree      func(p Pointer) Code
	MemHostAlloc func(p *unsafe.Pointer, n int, flags uint32) Code
	MemFreeHost  func(p unsafe.Pointer) Code
	// Memory from pools; nil before version 11.2.
	MemAllocFromPoolAsync func(p *Pointer, n int, pool PoolID, s StreamID) Code
	MemFreeAsync          func(p Pointer, s StreamID) Code
	PoolCreate            func(pool *PoolID, props *PoolProps) Code
	PoolDestroy           func(pool PoolID) Code
	PoolSetAttribute      func(pool PoolID, attribute int, value *uint64) Code
	PoolGetAttribute      func(pool PoolID, attribute int, value *uint64) Code
	PoolTrimTo            func(pool PoolID, keep int) Code

	MemcpyHtoDAsync func(dst Pointer, src unsafe.Pointer, n int, s StreamID) Code
	MemcpyDtoHAsync func(dst unsafe.Pointer, src Pointer, n int, s StreamID) Code
	MemcpyDtoDAsync func(dst, src Pointer, n int, s StreamID) Code
	MemsetD8Async   func(dst Pointer, value byte, n int, s StreamID) Code

	ModuleLoadDataEx  func(m *ModuleID, image *byte, n uint32, options *uint32, values *uintptr) Code
	ModuleUnload      func(m ModuleID) Code
	ModuleGetFunction func(f *FunctionID, m ModuleID, name *byte) Code
	FuncGetAttribute  func(value *int32, attribute int, f FunctionID) Code
	FuncSetAttribute  func(f FunctionID, attribute int, value int32) Code
	LaunchKernel      func(n *NodeParams, s StreamID) Code // cuLaunchKernel takes the fields one by one

	// TensorMapEncodeTiled is nil before version 12.0.
	TensorMapEncodeTiled func(m *TensorMap, p *TensorMapParams) Code

	LinkCreate   func(l *LinkID) Code // as the next, without options
	LinkAddData  func(l LinkID, kind uint32, data *byte, size int) Code
	LinkComplete func(l LinkID, cubin **byte, size *int) Code // the link's own, until it ends
	LinkDestroy  func(l LinkID) Code

	StreamCreate      func(s *StreamID, flags uint32) Code
	StreamSynchronize func(s StreamID) Code
	StreamWaitEvent   func(s StreamID, e EventID) Code
	StreamDestroy     func(s StreamID) Code
	EventCreate       func(e *EventID, flags uint32) Code
	EventRecord       func(e EventID, s StreamID) Code
	EventQuery        func(e EventID) Code
	EventSynchronize  func(e EventID) Code
	EventElapsedTime  func(ms *float32, start, end EventID) Code
	EventDestroy      func(e EventID) Code

	GraphCreate              func(g *GraphID) Code
	GraphAddKernelNode       func(n *NodeID, g GraphID, after *NodeID, count int, p *NodeParams) Code
	GraphAddEventRecordNode  func(n *NodeID, g GraphID, after *NodeID, count int, e EventID) Code // nil before version 11.1
	GraphInstantiate         func(x *ExecID, g GraphID) Code
	GraphExecKernelSetParams func(x ExecID, n NodeID, p *NodeParams) Code
	GraphLaunch              func(x ExecID, s StreamID) Code
	GraphExecDestroy         func(x ExecID) Code
	GraphDestroy             func(g GraphID) Code
}

// PoolProps is CUmemPoolProps.
type PoolProps struct {
	AllocType   uint32 // 1: pinned, which is the only one
	HandleTypes uint32 // 0: not for other processes
	Location    uint32 // 1: on a device
	Device      DeviceID
	Security    unsafe.Pointer
	MaxSize     uint64 // 0: what the system allows
	Usage       uint16
	_           [54]byte
}
