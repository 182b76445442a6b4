package vk

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/sinterml/sinter/internal/dynlib"
)

// library is where Vulkan's loader is, which finds the drivers itself.
var library = dynlib.Spec{
	API:     "Vulkan",
	Linux:   []string{"libvulkan.so.1", "libvulkan.so"},
	Darwin:  []string{"libvulkan.1.dylib", "libMoltenVK.dylib"},
	Windows: []string{"vulkan-1.dll"},
	Remedy:  remedy(),
}

func remedy() string {
	switch runtime.GOOS {
	case "linux":
		return "install your GPU's driver, and the package libvulkan1 (vulkan-loader) if only the loader is missing"
	case "darwin":
		return "install MoltenVK, or use metal"
	}
	return "install your GPU's driver"
}

// Load opens the system's Vulkan once.
var Load = sync.OnceValues(func() (*API, error) {
	lib, err := dynlib.Open(library)
	if err != nil {
		return nil, err
	}
	return bind(lib)
})

// finder looks functions up and keeps the first error.
type finder struct {
	ask   uintptr // vkGetInstanceProcAddr or vkGetDeviceProcAddr
	owner uintptr // the instance or device, 0 for functions that need none
	err   error
}

// find gives 0 for a function that is not there.
func (f *finder) find(name string) uintptr {
	return dynlib.Call(f.ask, f.owner, uintptr(unsafe.Pointer(dynlib.CString(name))))
}

func (f *finder) get(name string) uintptr {
	p := f.find(name)
	if p == 0 && f.err == nil {
		f.err = fmt.Errorf("the driver of Vulkan has no function %s: %w", name, errOld)
	}
	return p
}

var errOld = errors.New("it is too old")

func bind(lib *dynlib.Library) (*API, error) {
	ask, err := lib.Symbol("vkGetInstanceProcAddr")
	if err != nil {
		return nil, err
	}
	f := &finder{ask: ask}
	a := &API{Name: lib.Name}
	if version := f.find("vkEnumerateInstanceVersion"); version != 0 {
		a.EnumerateInstanceVersion = func(v *uint32) Code { return Code(dynlib.Call(version, uintptr(unsafe.Pointer(v)))) }
	}
	layers, extensions, create := f.get("vkEnumerateInstanceLayerProperties"), f.get("vkEnumerateInstanceExtensionProperties"), f.get("vkCreateInstance")
	a.EnumerateInstanceLayers = func(count *uint32, out *LayerProperties) Code {
		return Code(dynlib.Call(layers, uintptr(unsafe.Pointer(count)), uintptr(unsafe.Pointer(out))))
	}
	a.EnumerateInstanceExtensions = func(layer *byte, count *uint32, out *ExtensionProperties) Code {
		return Code(dynlib.Call(extensions, uintptr(unsafe.Pointer(layer)), uintptr(unsafe.Pointer(count)), uintptr(unsafe.Pointer(out))))
	}
	a.CreateInstance = func(info *InstanceCreateInfo, out *InstanceID) Code {
		return Code(dynlib.Call(create, uintptr(unsafe.Pointer(info)), 0, uintptr(unsafe.Pointer(out))))
	}
	a.Instance = func(i InstanceID) (*InstanceAPI, error) { return bindInstance(&finder{ask: ask, owner: uintptr(i)}) }
	return a, f.err
}

// counted is a function that fills in a list for a physical device or an
// instance, or tells its length.
func counted[H ~uintptr, T any](fn uintptr) func(h H, count *uint32, out *T) Code {
	return func(h H, count *uint32, out *T) Code {
		return Code(dynlib.Call(fn, uintptr(h), uintptr(unsafe.Pointer(count)), uintptr(unsafe.Pointer(out))))
	}
}

// tells is a function that fills in what a physical device is.
func tells[T any](fn uintptr) func(p PhysicalID, out *T) {
	return func(p PhysicalID, out *T) { dynlib.Call(fn, uintptr(p), uintptr(unsafe.Pointer(out))) }
}

// creates is a function that makes an object, with memory that the driver
// allocates in its own way. H is what it belongs to.
func creates[H ~uintptr, I, O any](fn uintptr) func(h H, info *I, out *O) Code {
	return func(h H, info *I, out *O) Code {
		return Code(dynlib.Call(fn, uintptr(h), uintptr(unsafe.Pointer(info)), 0, uintptr(unsafe.Pointer(out))))
	}
}

// destroys is a function that ends what creates made.
func destroys[H ~uintptr, O ~uint64](fn uintptr) func(h H, o O) {
	return func(h H, o O) { dynlib.Call(fn, uintptr(h), uintptr(o), 0) }
}

func bindInstance(f *finder) (*InstanceAPI, error) {
	destroy, extensions, ask := f.get("vkDestroyInstance"), f.get("vkEnumerateDeviceExtensionProperties"), f.get("vkGetDeviceProcAddr")
	families := f.get("vkGetPhysicalDeviceQueueFamilyProperties")
	a := &InstanceAPI{
		DestroyInstance:          func(i InstanceID) { dynlib.Call(destroy, uintptr(i), 0) },
		EnumeratePhysicalDevices: counted[InstanceID, PhysicalID](f.get("vkEnumeratePhysicalDevices")),
		GetProperties:            tells[Properties2](f.get("vkGetPhysicalDeviceProperties2")),
		GetFeatures:              tells[Features2](f.get("vkGetPhysicalDeviceFeatures2")),
		GetMemoryProperties:      tells[MemoryProperties2](f.get("vkGetPhysicalDeviceMemoryProperties2")),
		CreateDevice:             creates[PhysicalID, DeviceCreateInfo, DeviceID](f.get("vkCreateDevice")),
		GetQueueFamilies: func(p PhysicalID, count *uint32, out *QueueFamily) {
			dynlib.Call(families, uintptr(p), uintptr(unsafe.Pointer(count)), uintptr(unsafe.Pointer(out)))
		},
		EnumerateDeviceExtensions: func(p PhysicalID, layer *byte, count *uint32, out *ExtensionProperties) Code {
			return Code(dynlib.Call(extensions, uintptr(p), uintptr(unsafe.Pointer(layer)), uintptr(unsafe.Pointer(count)), uintptr(unsafe.Pointer(out))))
		},
		Device: func(d DeviceID) (*DeviceAPI, error) { return bindDevice(&finder{ask: ask, owner: uintptr(d)}) },
	}
	if create := f.find("vkCreateDebugUtilsMessengerEXT"); create != 0 {
		a.CreateMessenger = creates[InstanceID, MessengerCreateInfo, MessengerID](create)
		a.DestroyMessenger = destroys[InstanceID, MessengerID](f.get("vkDestroyDebugUtilsMessengerEXT"))
	}
	return a, f.err
}

func bindDevice(f *finder) (*DeviceAPI, error) {
	a := &DeviceAPI{}
	bindMemory(a, f)
	bindPrograms(a, f)
	bindCommands(a, f)
	bindQueries(a, f)
	bindQueue(a, f)
	return a, f.err
}

func bindMemory(a *DeviceAPI, f *finder) {
	requirements, address := f.get("vkGetBufferMemoryRequirements"), f.get("vkGetBufferDeviceAddress")
	together, mapMemory := f.get("vkBindBufferMemory"), f.get("vkMapMemory")
	a.CreateBuffer = creates[DeviceID, BufferCreateInfo, BufferID](f.get("vkCreateBuffer"))
	a.DestroyBuffer = destroys[DeviceID, BufferID](f.get("vkDestroyBuffer"))
	a.GetBufferRequirements = func(d DeviceID, b BufferID, out *MemoryRequirements) {
		dynlib.Call(requirements, uintptr(d), uintptr(b), uintptr(unsafe.Pointer(out)))
	}
	a.GetBufferAddress = func(d DeviceID, info *BufferDeviceAddressInfo) uint64 {
		return uint64(dynlib.Call(address, uintptr(d), uintptr(unsafe.Pointer(info))))
	}
	a.AllocateMemory = creates[DeviceID, MemoryAllocateInfo, MemoryID](f.get("vkAllocateMemory"))
	a.FreeMemory = destroys[DeviceID, MemoryID](f.get("vkFreeMemory"))
	a.BindBufferMemory = func(d DeviceID, b BufferID, m MemoryID, offset uint64) Code {
		return Code(dynlib.Call(together, uintptr(d), uintptr(b), uintptr(m), uintptr(offset)))
	}
	a.MapMemory = func(d DeviceID, m MemoryID, offset, size uint64, flags uint32, out *unsafe.Pointer) Code {
		return Code(dynlib.Call(mapMemory, uintptr(d), uintptr(m), uintptr(offset), uintptr(size), uintptr(flags), uintptr(unsafe.Pointer(out))))
	}
}

func bindPrograms(a *DeviceAPI, f *finder) {
	data, pipelines := f.get("vkGetPipelineCacheData"), f.get("vkCreateComputePipelines")
	a.CreateShader = creates[DeviceID, ShaderModuleCreateInfo, ShaderID](f.get("vkCreateShaderModule"))
	a.DestroyShader = destroys[DeviceID, ShaderID](f.get("vkDestroyShaderModule"))
	a.CreateLayout = creates[DeviceID, PipelineLayoutCreateInfo, LayoutID](f.get("vkCreatePipelineLayout"))
	a.DestroyLayout = destroys[DeviceID, LayoutID](f.get("vkDestroyPipelineLayout"))
	a.CreateCache = creates[DeviceID, PipelineCacheCreateInfo, CacheID](f.get("vkCreatePipelineCache"))
	a.DestroyCache = destroys[DeviceID, CacheID](f.get("vkDestroyPipelineCache"))
	a.GetCacheData = func(d DeviceID, c CacheID, size *uintptr, p *byte) Code {
		return Code(dynlib.Call(data, uintptr(d), uintptr(c), uintptr(unsafe.Pointer(size)), uintptr(unsafe.Pointer(p))))
	}
	a.CreateComputePipes = func(d DeviceID, c CacheID, count uint32, infos *ComputePipelineCreateInfo, out *PipelineID) Code {
		return Code(dynlib.Call(pipelines, uintptr(d), uintptr(c), uintptr(count), uintptr(unsafe.Pointer(infos)), 0, uintptr(unsafe.Pointer(out))))
	}
	a.DestroyPipeline = destroys[DeviceID, PipelineID](f.get("vkDestroyPipeline"))
}

// bindCommands binds what is called while a plan is recorded, many times over.
// What their pointers point to is on the heap, as everything is that goes
// through a function of the table, and held until they return.
func bindCommands(a *DeviceAPI, f *finder) {
	free, begin, end := f.get("vkFreeCommandBuffers"), f.get("vkBeginCommandBuffer"), f.get("vkEndCommandBuffer")
	pipeline, push, dispatch := f.get("vkCmdBindPipeline"), f.get("vkCmdPushConstants"), f.get("vkCmdDispatch")
	barrier, copies, fill := f.get("vkCmdPipelineBarrier"), f.get("vkCmdCopyBuffer"), f.get("vkCmdFillBuffer")
	allocate := f.get("vkAllocateCommandBuffers")
	a.CreatePool = creates[DeviceID, CommandPoolCreateInfo, PoolID](f.get("vkCreateCommandPool"))
	a.DestroyPool = destroys[DeviceID, PoolID](f.get("vkDestroyCommandPool"))
	a.AllocateCommands = func(d DeviceID, info *CommandBufferAllocateInfo, out *CommandsID) Code {
		return Code(dynlib.Call(allocate, uintptr(d), uintptr(unsafe.Pointer(info)), uintptr(unsafe.Pointer(out))))
	}
	a.FreeCommands = func(d DeviceID, p PoolID, count uint32, c *CommandsID) {
		dynlib.Call(free, uintptr(d), uintptr(p), uintptr(count), uintptr(unsafe.Pointer(c)))
	}
	a.BeginCommands = func(c CommandsID, info *CommandBufferBeginInfo) Code {
		return Code(dynlib.Call(begin, uintptr(c), uintptr(unsafe.Pointer(info))))
	}
	a.EndCommands = func(c CommandsID) Code { return Code(dynlib.Call(end, uintptr(c))) }
	a.CmdBindPipeline = func(c CommandsID, point uint32, p PipelineID) {
		dynlib.CallHeld(pipeline, uintptr(c), uintptr(point), uintptr(p))
	}
	a.CmdPushConstants = func(c CommandsID, l LayoutID, stages, offset, size uint32, values unsafe.Pointer) {
		dynlib.CallHeld(push, uintptr(c), uintptr(l), uintptr(stages), uintptr(offset), uintptr(size), uintptr(values))
		runtime.KeepAlive(values)
	}
	a.CmdDispatch = func(c CommandsID, x, y, z uint32) {
		dynlib.CallHeld(dispatch, uintptr(c), uintptr(x), uintptr(y), uintptr(z))
	}
	a.CmdBarrier = func(c CommandsID, from, to, flags, count uint32, b *MemoryBarrier) {
		dynlib.CallHeld(barrier, uintptr(c), uintptr(from), uintptr(to), uintptr(flags), uintptr(count), uintptr(unsafe.Pointer(b)), 0, 0, 0, 0)
		runtime.KeepAlive(b)
	}
	a.CmdCopyBuffer = func(c CommandsID, from, to BufferID, count uint32, regions *BufferCopy) {
		dynlib.CallHeld(copies, uintptr(c), uintptr(from), uintptr(to), uintptr(count), uintptr(unsafe.Pointer(regions)))
		runtime.KeepAlive(regions)
	}
	a.CmdFillBuffer = func(c CommandsID, b BufferID, offset, size uint64, word uint32) {
		dynlib.CallHeld(fill, uintptr(c), uintptr(b), uintptr(offset), uintptr(size), uintptr(word))
	}
}

func bindQueries(a *DeviceAPI, f *finder) {
	reset, write, results := f.get("vkCmdResetQueryPool"), f.get("vkCmdWriteTimestamp"), f.get("vkGetQueryPoolResults")
	a.CreateQueryPool = creates[DeviceID, QueryPoolCreateInfo, QueryPoolID](f.get("vkCreateQueryPool"))
	a.DestroyQueryPool = destroys[DeviceID, QueryPoolID](f.get("vkDestroyQueryPool"))
	a.CmdResetQueryPool = func(c CommandsID, q QueryPoolID, first, count uint32) {
		dynlib.CallHeld(reset, uintptr(c), uintptr(q), uintptr(first), uintptr(count))
	}
	a.CmdWriteTimestamp = func(c CommandsID, stage uint32, q QueryPoolID, query uint32) {
		dynlib.CallHeld(write, uintptr(c), uintptr(stage), uintptr(q), uintptr(query))
	}
	a.GetQueryPoolResults = func(d DeviceID, q QueryPoolID, first, count uint32, size uintptr, to unsafe.Pointer, stride uint64, flags uint32) Code {
		r := dynlib.CallHeld(results, uintptr(d), uintptr(q), uintptr(first), uintptr(count), size, uintptr(to), uintptr(stride), uintptr(flags))
		runtime.KeepAlive(to)
		return Code(r)
	}
}

func bindQueue(a *DeviceAPI, f *finder) {
	destroy, idle, queue := f.get("vkDestroyDevice"), f.get("vkDeviceWaitIdle"), f.get("vkGetDeviceQueue")
	submit, wait := f.get("vkQueueSubmit"), f.get("vkWaitSemaphores")
	a.DestroyDevice = func(d DeviceID) { dynlib.Call(destroy, uintptr(d), 0) }
	a.WaitIdle = func(d DeviceID) Code { return Code(dynlib.Call(idle, uintptr(d))) }
	a.GetQueue = func(d DeviceID, family, index uint32, out *QueueID) {
		dynlib.Call(queue, uintptr(d), uintptr(family), uintptr(index), uintptr(unsafe.Pointer(out)))
	}
	a.CreateSemaphore = creates[DeviceID, SemaphoreCreateInfo, SemaphoreID](f.get("vkCreateSemaphore"))
	a.DestroySemaphore = destroys[DeviceID, SemaphoreID](f.get("vkDestroySemaphore"))
	a.QueueSubmit = func(q QueueID, count uint32, infos *SubmitInfo) Code {
		r := dynlib.CallHeld(submit, uintptr(q), uintptr(count), uintptr(unsafe.Pointer(infos)), 0)
		runtime.KeepAlive(infos)
		return Code(r)
	}
	a.WaitSemaphores = func(d DeviceID, info *SemaphoreWaitInfo, nanoseconds uint64) Code {
		r := dynlib.CallHeld(wait, uintptr(d), uintptr(unsafe.Pointer(info)), uintptr(nanoseconds))
		runtime.KeepAlive(info)
		return Code(r)
	}
}
