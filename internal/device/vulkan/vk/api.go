// Package vk calls Vulkan, version 1.2 and what newer ones and extensions add,
// through a library that is opened at run time: what compute needs, with memory
// reached by its address. Its errors name the function and Vulkan's code.
package vk

import "unsafe"

// Handles of Vulkan's objects; 0 is none.
type (
	InstanceID uintptr
	PhysicalID uintptr // a device as the driver has it
	DeviceID   uintptr // one that was opened
	QueueID    uintptr
	CommandsID uintptr // a command buffer

	MessengerID uint64
	BufferID    uint64
	MemoryID    uint64
	ShaderID    uint64
	LayoutID    uint64
	PipelineID  uint64
	CacheID     uint64
	PoolID      uint64
	SemaphoreID uint64
	QueryPoolID uint64
)

// API is the table of the functions that need no instance, in the types of
// vulkan_core.h without what is never used. Tests put functions of their own in
// the place of a driver's, here and in the tables below.
type API struct {
	// Name is the library that the functions are from.
	Name string

	// EnumerateInstanceVersion is nil in version 1.0.
	EnumerateInstanceVersion    func(version *uint32) Code
	EnumerateInstanceLayers     func(count *uint32, out *LayerProperties) Code
	EnumerateInstanceExtensions func(layer *byte, count *uint32, out *ExtensionProperties) Code
	CreateInstance              func(info *InstanceCreateInfo, out *InstanceID) Code
	// Instance looks up the functions of an instance.
	Instance func(InstanceID) (*InstanceAPI, error)
}

// InstanceAPI is the table of the functions of an instance.
type InstanceAPI struct {
	DestroyInstance           func(InstanceID)
	CreateMessenger           func(i InstanceID, info *MessengerCreateInfo, out *MessengerID) Code // nil without its extension
	DestroyMessenger          func(i InstanceID, m MessengerID)
	EnumeratePhysicalDevices  func(i InstanceID, count *uint32, out *PhysicalID) Code
	GetProperties             func(p PhysicalID, out *Properties2)
	GetFeatures               func(p PhysicalID, out *Features2)
	GetMemoryProperties       func(p PhysicalID, out *MemoryProperties2)
	GetQueueFamilies          func(p PhysicalID, count *uint32, out *QueueFamily)
	EnumerateDeviceExtensions func(p PhysicalID, layer *byte, count *uint32, out *ExtensionProperties) Code
	CreateDevice              func(p PhysicalID, info *DeviceCreateInfo, out *DeviceID) Code
	// Device looks up the functions of a device, which lead to its driver without
	// a detour.
	Device func(DeviceID) (*DeviceAPI, error)
}

// DeviceAPI is the table of the functions of a device that was opened.
type DeviceAPI struct {
	DestroyDevice func(DeviceID)
	WaitIdle      func(DeviceID) Code
	GetQueue      func(d DeviceID, family, index uint32, out *QueueID)

	CreateBuffer          func(d DeviceID, info *BufferCreateInfo, out *BufferID) Code
	DestroyBuffer         func(d DeviceID, b BufferID)
	GetBufferRequirements func(d DeviceID, b BufferID, out *MemoryRequirements)
	GetBufferAddress      func(d DeviceID, info *BufferDeviceAddressInfo) uint64
	AllocateMemory        func(d DeviceID, info *MemoryAllocateInfo, out *MemoryID) Code
	FreeMemory            func(d DeviceID, m MemoryID)
	BindBufferMemory      func(d DeviceID, b BufferID, m MemoryID, offset uint64) Code
	MapMemory             func(d DeviceID, m MemoryID, offset, size uint64, flags uint32, out *unsafe.Pointer) Code

	CreateShader       func(d DeviceID, info *ShaderModuleCreateInfo, out *ShaderID) Code
	DestroyShader      func(d DeviceID, s ShaderID)
	CreateLayout       func(d DeviceID, info *PipelineLayoutCreateInfo, out *LayoutID) Code
	DestroyLayout      func(d DeviceID, l LayoutID)
	CreateCache        func(d DeviceID, info *PipelineCacheCreateInfo, out *CacheID) Code
	GetCacheData       func(d DeviceID, c CacheID, size *uintptr, data *byte) Code
	DestroyCache       func(d DeviceID, c CacheID)
	CreateComputePipes func(d DeviceID, c CacheID, count uint32, infos *ComputePipelineCreateInfo, out *PipelineID) Code
	DestroyPipeline    func(d DeviceID, p PipelineID)

	CreatePool       func(d DeviceID, info *CommandPoolCreateInfo, out *PoolID) Code
	DestroyPool      func(d DeviceID, p PoolID)
	AllocateCommands func(d DeviceID, info *CommandBufferAllocateInfo, out *CommandsID) Code
	FreeCommands     func(d DeviceID, p PoolID, count uint32, c *CommandsID)
	BeginCommands    func(c CommandsID, info *CommandBufferBeginInfo) Code
	EndCommands      func(c CommandsID) Code
	CmdBindPipeline  func(c CommandsID, point uint32, p PipelineID)
	CmdPushConstants func(c CommandsID, l LayoutID, stages, offset, size uint32, values unsafe.Pointer)
	CmdDispatch      func(c CommandsID, x, y, z uint32)
	CmdBarrier       func(c CommandsID, from, to, flags, count uint32, barrier *MemoryBarrier)
	CmdCopyBuffer    func(c CommandsID, from, to BufferID, count uint32, regions *BufferCopy)
	CmdFillBuffer    func(c CommandsID, b BufferID, offset, size uint64, word uint32)

	CreateQueryPool     func(d DeviceID, info *QueryPoolCreateInfo, out *QueryPoolID) Code
	DestroyQueryPool    func(d DeviceID, q QueryPoolID)
	CmdResetQueryPool   func(c CommandsID, q QueryPoolID, first, count uint32)
	CmdWriteTimestamp   func(c CommandsID, stage uint32, q QueryPoolID, query uint32)
	GetQueryPoolResults func(d DeviceID, q QueryPoolID, first, count uint32, size uintptr, to unsafe.Pointer, stride uint64, flags uint32) Code

	CreateSemaphore  func(d DeviceID, info *SemaphoreCreateInfo, out *SemaphoreID) Code
	DestroySemaphore func(d DeviceID, s SemaphoreID)
	QueueSubmit      func(q QueueID, count uint32, infos *SubmitInfo) Code
	WaitSemaphores   func(d DeviceID, info *SemaphoreWaitInfo, nanoseconds uint64) Code
}
