// Package vktest has drivers of Vulkan for tests: one in Go whose device
// computes nothing and fails in chosen ways, and libraries in C that crash or
// hang where they are opened.
package vktest

import (
	"cmp"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/sinterml/sinter/internal/device/launch/order"
	"github.com/sinterml/sinter/internal/device/vulkan/vk"
)

// Fake is a driver whose device keeps memory and runs no program. The zero
// value does all it is asked; fields are set before API.
type Fake struct {
	NoDevices bool
	Version   uint32 // of Vulkan; 0: 1.3
	Name      string // of the device; "": a GPU's
	Driver    string // its version; "": 1.0
	Device    byte   // the first byte of its UUID; 0: 1
	// Foreign has the driver ignore all that was compiled earlier.
	Foreign bool
	// Keeps has the driver give what it compiled: most keep it on disk themselves.
	Keeps bool
	// Shared has the host reach the device's memory.
	Shared bool
	// Refuse refuses each allocation for which it returns true; nil: none.
	Refuse func(bytes int) bool
	// BuildFails is what the compiler returns, if not 0, for every entry point
	// after the first BuildsBefore.
	BuildFails   vk.Code
	BuildsBefore int
	// LoseAfter is how many submissions come before the device is lost, in the
	// middle of the last of them; 0: never.
	LoseAfter int
	// Queues are how many its family has; 0: 1.
	Queues uint32
	// Clockless has queues that cannot note when something ends.
	Clockless bool
	// Kernel is how long each kernel takes, and Megabyte each megabyte that is
	// copied, on the queue that it is submitted to; 0: no time.
	Kernel, Megabyte time.Duration
	// Quick leaves out to look whether what is done is in order.
	Quick bool

	mu        sync.Mutex
	next      uint64
	live      map[uint64]string // handles, and what made them
	memory    map[vk.MemoryID][]byte
	bound     map[vk.BufferID]backing
	sizes     map[vk.BufferID]uint64
	lists     map[vk.CommandsID]*list
	submitted int
	built     int
	compiled  int // of these not taken from a cache
	code      map[vk.ShaderID]shader
	pipelines map[vk.PipelineID]int // the arguments of their kernels
	caches    map[vk.CacheID][]byte
	lost      bool

	queues   []*queue
	counts   map[vk.SemaphoreID]*count
	mostBusy int
	stamps   map[vk.QueryPoolID][]uint64 // 0: not yet
	order    order.Checker
	faults   []string
}

type backing struct {
	memory vk.MemoryID
	offset uint64
}

// Submitted is how many lists of commands were submitted.
func (f *Fake) Submitted() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.submitted
}

// Compiled is how many pipelines were compiled.
func (f *Fake) Compiled() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.compiled
}

// Recorded lists the names of the commands in the longest list that is there.
func (f *Fake) Recorded() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var longest []string
	for _, l := range f.lists {
		if len(l.names) > len(longest) {
			longest = l.names
		}
	}
	return longest
}

// Live lists the functions that made what was not given back, and what was done
// that no driver allows, or in no order.
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
func (f *Fake) give(name string) uint64 {
	f.next++
	f.live[f.next] = name
	return f.next
}

func (f *Fake) drop(h uint64) {
	if _, ok := f.live[h]; !ok {
		panic("vktest: a handle is given back that is not out")
	}
	delete(f.live, h)
}

// create is a function that makes an object.
func create[H ~uintptr, I any, O ~uint64](f *Fake, name string) func(H, *I, *O) vk.Code {
	return func(_ H, _ *I, out *O) vk.Code {
		f.mu.Lock()
		defer f.mu.Unlock()
		*out = O(f.give(name))
		return vk.Success
	}
}

func destroy[H ~uintptr, O ~uint64](f *Fake) func(H, O) {
	return func(_ H, o O) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.drop(uint64(o))
	}
}

// one fills in a list of one thing.
func one[T any](count *uint32, out *T, v T) vk.Code {
	*count = 1
	if out != nil {
		*out = v
	}
	return vk.Success
}

// API is the driver's table of functions.
func (f *Fake) API() *vk.API {
	f.live, f.memory, f.bound = map[uint64]string{}, map[vk.MemoryID][]byte{}, map[vk.BufferID]backing{}
	f.sizes, f.lists = map[vk.BufferID]uint64{}, map[vk.CommandsID]*list{}
	f.stamps = map[vk.QueryPoolID][]uint64{}
	f.code, f.caches, f.pipelines = map[vk.ShaderID]shader{}, map[vk.CacheID][]byte{}, map[vk.PipelineID]int{}
	f.counts = map[vk.SemaphoreID]*count{}
	if f.Version == 0 {
		f.Version = 1<<22 | 3<<12
	}
	none := func(count *uint32) vk.Code { *count = 0; return vk.Success }
	return &vk.API{
		Name:                     "a fake",
		EnumerateInstanceVersion: func(v *uint32) vk.Code { *v = f.Version; return vk.Success },
		EnumerateInstanceLayers:  func(count *uint32, _ *vk.LayerProperties) vk.Code { return none(count) },
		EnumerateInstanceExtensions: func(_ *byte, count *uint32, _ *vk.ExtensionProperties) vk.Code {
			return none(count)
		},
		CreateInstance: func(_ *vk.InstanceCreateInfo, out *vk.InstanceID) vk.Code {
			f.mu.Lock()
			defer f.mu.Unlock()
			*out = vk.InstanceID(f.give("vkCreateInstance"))
			return vk.Success
		},
		Instance: func(vk.InstanceID) (*vk.InstanceAPI, error) { return f.instance(), nil },
	}
}

func (f *Fake) instance() *vk.InstanceAPI {
	const physical = 77
	return &vk.InstanceAPI{
		DestroyInstance: func(i vk.InstanceID) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.drop(uint64(i))
		},
		EnumeratePhysicalDevices: func(_ vk.InstanceID, count *uint32, out *vk.PhysicalID) vk.Code {
			if f.NoDevices {
				*count = 0
				return vk.Success
			}
			return one(count, out, physical)
		},
		GetProperties:       func(_ vk.PhysicalID, out *vk.Properties2) { f.properties(out) },
		GetFeatures:         func(_ vk.PhysicalID, out *vk.Features2) { everything(out) },
		GetMemoryProperties: func(_ vk.PhysicalID, out *vk.MemoryProperties2) { f.heaps(out) },
		GetQueueFamilies: func(_ vk.PhysicalID, count *uint32, out *vk.QueueFamily) {
			family := vk.QueueFamily{Flags: 1 | 2 | 4, Count: cmp.Or(f.Queues, 1), TimestampBits: stampBits}
			if f.Clockless {
				family.TimestampBits = 0
			}
			one(count, out, family)
		},
		EnumerateDeviceExtensions: func(_ vk.PhysicalID, _ *byte, count *uint32, _ *vk.ExtensionProperties) vk.Code {
			*count = 0
			return vk.Success
		},
		CreateDevice: func(_ vk.PhysicalID, info *vk.DeviceCreateInfo, out *vk.DeviceID) vk.Code {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.makeQueues(info.Queues)
			*out = vk.DeviceID(f.give("vkCreateDevice"))
			return vk.Success
		},
		Device: func(vk.DeviceID) (*vk.DeviceAPI, error) { return f.device(), nil },
	}
}

const nvidia = 0x10DE // the vendor

// properties are those of a GPU.
func (f *Fake) properties(out *vk.Properties2) {
	const discrete = 2
	out.API, out.Vendor, out.Kind = f.Version, nvidia, discrete
	copy(out.Name[:], cmp.Or(f.Name, "Fake GPU"))
	copy(out.CacheUUID[:], cmp.Or(f.Driver, "1.0"))
	out.Limits.TimestampPeriod = stampTick
	out.Limits.PushConstants, out.Limits.SharedMemory, out.Limits.GroupInvocations = 128, 48<<10, 1024
	out.Limits.GroupCount, out.Limits.GroupSize = [3]uint32{1<<31 - 1, 65535, 65535}, [3]uint32{1024, 1024, 64}
	for next := (*vk.Header)(out.Next); next != nil; next = (*vk.Header)(next.Next) {
		switch next.Type {
		case 50:
			p := (*vk.Properties11)(unsafe.Pointer(next))
			p.DeviceUUID, p.SubgroupSize, p.MaxAllocation = [16]byte{cmp.Or(f.Device, 1), 2, 3}, 32, 1<<32
		case 52:
			p := (*vk.Properties12)(unsafe.Pointer(next))
			copy(p.DriverName[:], "fake")
			copy(p.DriverInfo[:], cmp.Or(f.Driver, "1.0"))
			p.Float.SignedZeroInfNaN, p.Float.DenormPreserve, p.Float.RoundEven = [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}
		}
	}
}

// everything is there.
func everything(out *vk.Features2) {
	all := func(f []uint32) {
		for i := range f {
			f[i] = 1
		}
	}
	all(out.F[:])
	for next := (*vk.Header)(out.Next); next != nil; next = (*vk.Header)(next.Next) {
		switch next.Type {
		case 49:
			all((*vk.Features11)(unsafe.Pointer(next)).F[:])
		case 51:
			all((*vk.Features12)(unsafe.Pointer(next)).F[:])
		case 53:
			all((*vk.Features13)(unsafe.Pointer(next)).F[:])
		}
	}
}

// heaps are 1 GiB on the device and the host's, or one for both.
func (f *Fake) heaps(out *vk.MemoryProperties2) {
	const local, visible, coherent, cached = 1, 2, 4, 8
	out.TypeCount, out.HeapCount = 2, 2
	out.Heaps[0], out.Heaps[1] = vk.MemoryHeap{Size: 1 << 30, Flags: local}, vk.MemoryHeap{Size: 4 << 30}
	out.Types[0], out.Types[1] = vk.MemoryType{Flags: local}, vk.MemoryType{Flags: visible | coherent | cached, Heap: 1}
	if f.Shared {
		out.Types[0].Flags |= visible | coherent | cached
	}
}
