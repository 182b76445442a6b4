// Package cl calls OpenCL, version 1.2 and what newer ones and extensions add,
// through a library that is opened at run time. Its errors name the function
// and OpenCL's code.
package cl

import "unsafe"

// Handles of OpenCL's objects; 0 is none.
type (
	PlatformID uintptr // a driver
	DeviceID   uintptr
	ContextID  uintptr
	QueueID    uintptr
	MemID      uintptr
	ProgramID  uintptr
	KernelID   uintptr
	EventID    uintptr
)

// API is the table of OpenCL's functions, in the types of cl.h without what is
// never used. Tests put functions of their own in the place of a driver's.
type API struct {
	// Name is the library that the functions are from.
	Name string

	GetPlatformIDs  func(n uint32, ids *PlatformID, count *uint32) Code
	GetPlatformInfo func(p PlatformID, param uint32, size int, value *byte, needed *int) Code
	GetDeviceIDs    func(p PlatformID, kind uint64, n uint32, ids *DeviceID, count *uint32) Code
	GetDeviceInfo   func(d DeviceID, param uint32, size int, value *byte, needed *int) Code

	CreateContext  func(properties *uintptr, d *DeviceID, code *Code) ContextID // of one device
	ReleaseContext func(c ContextID) Code

	// CreateQueueProperties is nil before version 2.0.
	CreateQueueProperties func(c ContextID, d DeviceID, properties *uint64, code *Code) QueueID
	CreateQueue           func(c ContextID, d DeviceID, flags uint64, code *Code) QueueID
	ReleaseQueue          func(q QueueID) Code
	Flush                 func(q QueueID) Code
	Finish                func(q QueueID) Code

	CreateBuffer         func(c ContextID, flags uint64, size int, host unsafe.Pointer, code *Code) MemID
	CreateSubBuffer      func(m MemID, flags uint64, kind uint32, region *[2]int, code *Code) MemID
	ReleaseMemObject     func(m MemID) Code
	EnqueueReadBuffer    func(q QueueID, m MemID, blocking uint32, offset, size int, p unsafe.Pointer, waits uint32, list, event *EventID) Code
	EnqueueWriteBuffer   func(q QueueID, m MemID, blocking uint32, offset, size int, p unsafe.Pointer, waits uint32, list, event *EventID) Code
	EnqueueCopyBuffer    func(q QueueID, src, dst MemID, srcOffset, dstOffset, size int, waits uint32, list, event *EventID) Code
	EnqueueFillBuffer    func(q QueueID, m MemID, pattern *byte, patternSize, offset, size int, waits uint32, list, event *EventID) Code
	EnqueueMapBuffer     func(q QueueID, m MemID, blocking uint32, flags uint64, offset, size int, waits uint32, list, event *EventID, code *Code) unsafe.Pointer
	EnqueueUnmapMem      func(q QueueID, m MemID, p unsafe.Pointer, waits uint32, list, event *EventID) Code
	CreateProgramSource  func(c ContextID, source **byte, length *int, code *Code) ProgramID
	CreateProgramBinary  func(c ContextID, d *DeviceID, length *int, binary **byte, status, code *Code) ProgramID
	BuildProgram         func(p ProgramID, d *DeviceID, options *byte) Code
	GetProgramBuildInfo  func(p ProgramID, d DeviceID, param uint32, size int, value *byte, needed *int) Code
	GetProgramInfo       func(p ProgramID, param uint32, size int, value *byte, needed *int) Code
	ReleaseProgram       func(p ProgramID) Code
	CreateKernel         func(p ProgramID, name *byte, code *Code) KernelID
	ReleaseKernel        func(k KernelID) Code
	SetKernelArg         func(k KernelID, index uint32, size int, value unsafe.Pointer) Code
	GetKernelWorkGroup   func(k KernelID, d DeviceID, param uint32, size int, value *byte, needed *int) Code
	EnqueueNDRangeKernel func(q QueueID, k KernelID, dims uint32, offset, global, local *[3]int, waits uint32, list, event *EventID) Code
	EnqueueMarker        func(q QueueID, waits uint32, list, event *EventID) Code

	WaitForEvents    func(n uint32, list *EventID) Code
	GetEventInfo     func(e EventID, param uint32, size int, value *byte, needed *int) Code
	GetEventProfile  func(e EventID, param uint32, size int, value *byte, needed *int) Code
	ReleaseEvent     func(e EventID) Code
	SetEventCallback func(e EventID, status int32, notify, user uintptr) Code
}
