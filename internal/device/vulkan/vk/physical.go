package vk

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"github.com/sinterml/sinter/internal/dynlib"
)

// Kind is how a device is built into its machine.
type Kind uint32

const (
	Other Kind = iota
	Integrated
	Discrete
	Virtual
	CPU
)

// Physical describes a device of a driver. Sizes are in bytes; what a driver
// does not tell is zero.
type Physical struct {
	ID     PhysicalID
	Name   string
	Vendor string
	Driver string // name and version
	API    uint32
	UUID   string // the same under every API
	PCI    string // address on the bus: 0000:01:00.0
	Kind   Kind
	// Cache is the version of what Program.Compiled gives.
	Cache string

	Memory    uint64 // of the device, or what it shares with the host
	Free      uint64
	MaxAlloc  uint64 // of one buffer
	Shared    int    // memory of a workgroup
	MaxGroup  int    // work-items in a workgroup
	GroupSize [3]int // the same along each dimension
	Groups    [3]int // in a launch
	Push      int    // bytes of push constants

	Subgroup                 int // usual size
	MinSubgroup, MaxSubgroup int // that can be asked for; 0: only the usual
	Unified                  bool

	F16, F32, F64 Float
	OwnSubnormals bool // each may be asked for its own, whatever the others are
	// Int8, Int16 and Int64 are arithmetic in these widths, Storage8 and
	// Storage16 memory of them.
	Int8, Int16, Int64, Storage8, Storage16 bool
	// Address is memory by its address, Timeline semaphores with values, Scalar
	// blocks without padding, MemoryModel Vulkan's own, Dot a dot product of four
	// bytes.
	Address, Timeline, Scalar, MemoryModel, Dot, DotFast bool
	Extensions                                           []string

	instance *Instance
	features features
	memory   MemoryProperties2
	family   uint32 // of queues that compute
	queues   uint32 // that are opened of it
	// clockBits are those of a moment that a queue notes, 0 where it has no clock;
	// tick is its unit, in nanoseconds.
	clockBits uint32
	tick      float64
	caches    cacheOwner
	atom      uint64
}

// Float says what arithmetic of a format can be asked to keep.
type Float struct {
	Supported  bool
	Subnormals bool
	InfNaN     bool // and the sign of zeros
	Nearest    bool // rounds to nearest even
}

// features are the structures that drivers fill in, and that choose what to
// switch on.
type features struct {
	core Features2
	v11  Features11
	v12  Features12
	v13  Features13
}

// Has tells whether the device has an extension.
func (p *Physical) Has(extension string) bool { return slices.Contains(p.Extensions, extension) }

// Software tells that the "device" is the processor.
func (p *Physical) Software() bool { return p.Kind == CPU }

// Physicals lists what all drivers offer, in their order. One that cannot be
// described hides none of the others: the error comes beside them.
func (i *Instance) Physicals() ([]*Physical, error) {
	// The loader opens drivers here, and they their compilers.
	defer dynlib.KeepSignals()()
	ids, err := list("vkEnumeratePhysicalDevices", func(count *uint32, out *PhysicalID) Code {
		return i.api.EnumeratePhysicalDevices(i.id, count, out)
	})
	// A loader whose drivers all fail to start says so here.
	if err != nil && !errors.Is(err, InitializationFailed) {
		return nil, err
	}
	var all []*Physical
	var failed error
	for _, id := range ids {
		p := &Physical{ID: id, instance: i}
		if err := p.describe(); err != nil {
			if failed == nil {
				failed = err
			}
			continue
		}
		all = append(all, p)
	}
	return all, failed
}

func (p *Physical) describe() error {
	api := p.instance.api
	var pin runtime.Pinner
	defer pin.Unpin()
	extensions, err := extensionNames("vkEnumerateDeviceExtensionProperties", func(count *uint32, out *ExtensionProperties) Code {
		return api.EnumerateDeviceExtensions(p.ID, nil, count, out)
	})
	if err != nil {
		return err
	}
	p.Extensions = extensions
	core := hold(&pin, Properties2{Header: Header{Type: typeProperties2}})
	api.GetProperties(p.ID, core)
	p.Name, p.API, p.Kind, p.Vendor = goText(core.Name[:]), core.API, Kind(core.Kind), vendorName(core.Vendor)
	p.caches = cacheOwner{vendor: core.Vendor, device: core.Device, version: core.CacheUUID}
	p.Cache = fmt.Sprintf("%x", core.CacheUUID)
	p.limits(&core.Limits)
	if p.API < Version12 {
		p.Driver = versionText(core.Driver)
		return p.findQueue() // its structures below are not there; the caller refuses it
	}
	p.properties(&pin)
	p.askFeatures(&pin)
	p.askMemory(&pin)
	return p.findQueue()
}

func (p *Physical) limits(l *Limits) {
	p.Shared, p.MaxGroup, p.Push, p.atom = int(l.SharedMemory), int(l.GroupInvocations), int(l.PushConstants), max(1, l.AtomSize)
	p.tick = float64(l.TimestampPeriod)
	for i := range 3 {
		p.GroupSize[i], p.Groups[i] = int(l.GroupSize[i]), int(l.GroupCount[i])
	}
}

// properties asks for what versions after 1.0 and extensions tell.
func (p *Physical) properties(pin *runtime.Pinner) {
	core := hold(pin, Properties2{Header: Header{Type: typeProperties2}})
	v11 := hold(pin, Properties11{Header: Header{Type: typeProperties11}})
	v12 := hold(pin, Properties12{Header: Header{Type: typeProperties12, Next: unsafe.Pointer(v11)}})
	core.Next = unsafe.Pointer(v12)
	v13, bus := &Properties13{}, &PCIBusInfo{}
	if p.API >= Version13 {
		v13 = hold(pin, Properties13{Header: Header{Type: typeProperties13, Next: core.Next}})
		core.Next = unsafe.Pointer(v13)
	}
	if p.Has("VK_EXT_pci_bus_info") {
		bus = hold(pin, PCIBusInfo{Header: Header{Type: typePCIBusInfo, Next: core.Next}})
		core.Next = unsafe.Pointer(bus)
	}
	p.instance.api.GetProperties(p.ID, core)
	p.UUID = uuid(v11.DeviceUUID[:])
	p.Driver = goText(v12.DriverName[:])
	if info := goText(v12.DriverInfo[:]); info != "" {
		p.Driver += " " + info
	}
	if bus.Type != 0 {
		p.PCI = fmt.Sprintf("%04x:%02x:%02x.%x", bus.Domain, bus.Bus, bus.Device, bus.Function)
	}
	p.Subgroup, p.MinSubgroup, p.MaxSubgroup = int(v11.SubgroupSize), int(v13.MinSubgroup), int(v13.MaxSubgroup)
	p.MaxAlloc, p.DotFast = v11.MaxAllocation, v13.DotPacked != 0
	if v13.MaxBuffer > 0 {
		p.MaxAlloc = min(p.MaxAlloc, v13.MaxBuffer)
	}
	p.OwnSubnormals = v12.DenormIndependence == independentAll
	for i, f := range []*Float{&p.F16, &p.F32, &p.F64} {
		f.Subnormals, f.InfNaN, f.Nearest = v12.Float.DenormPreserve[i] != 0, v12.Float.SignedZeroInfNaN[i] != 0, v12.Float.RoundEven[i] != 0
	}
}

// askFeatures asks what can be switched on.
func (p *Physical) askFeatures(pin *runtime.Pinner) {
	core, v11, v12 := hold(pin, Features2{Header: Header{Type: typeFeatures2}}), hold(pin, Features11{Header: Header{Type: typeFeatures11}}), hold(pin, Features12{Header: Header{Type: typeFeatures12}})
	v13 := hold(pin, Features13{Header: Header{Type: typeFeatures13}})
	core.Next, v11.Next = unsafe.Pointer(v11), unsafe.Pointer(v12)
	if p.API >= Version13 {
		v12.Next = unsafe.Pointer(v13)
	}
	p.instance.api.GetFeatures(p.ID, core)
	on := func(word uint32) bool { return word != 0 }
	p.F32.Supported, p.F64.Supported, p.F16.Supported = true, on(core.F[shaderFloat64]), on(v12.F[shaderFloat16])
	p.Int8, p.Int16, p.Int64 = on(v12.F[shaderInt8]), on(core.F[shaderInt16]), on(core.F[shaderInt64])
	p.Storage8, p.Storage16 = on(v12.F[storageBuffer8]), on(v11.F[storageBuffer16])
	p.Address, p.Timeline = on(v12.F[bufferDeviceAddress]), on(v12.F[timelineSemaphore])
	p.Scalar, p.MemoryModel, p.Dot = on(v12.F[scalarBlockLayout]), on(v12.F[vulkanMemoryModel]), on(v13.F[integerDotProduct])
	p.features = chosen(core, v11, v12, v13)
}

// chosen are the features that programs may use. All others stay off, as some
// cost: robust access checks every address.
func chosen(core *Features2, v11 *Features11, v12 *Features12, v13 *Features13) features {
	var f features
	f.core.Header, f.v11.Header, f.v12.Header, f.v13.Header = Header{Type: typeFeatures2}, Header{Type: typeFeatures11}, Header{Type: typeFeatures12}, Header{Type: typeFeatures13}
	for _, i := range []int{shaderFloat64, shaderInt64, shaderInt16} {
		f.core.F[i] = core.F[i]
	}
	f.v11.F[storageBuffer16] = v11.F[storageBuffer16]
	for _, i := range []int{storageBuffer8, shaderFloat16, shaderInt8, scalarBlockLayout, timelineSemaphore, bufferDeviceAddress, vulkanMemoryModel} {
		f.v12.F[i] = v12.F[i]
	}
	for _, i := range []int{subgroupSizeControl, fullSubgroups, integerDotProduct, maintenance4} {
		f.v13.F[i] = v13.F[i]
	}
	return f
}

// Flags of memory.
const (
	deviceLocal  = 1 << 0
	hostVisible  = 1 << 1
	hostCoherent = 1 << 2
	hostCached   = 1 << 3
	usualMemory  = deviceLocal | hostVisible | hostCoherent | hostCached

	localHeap = 1
)

// askMemory finds the heap that buffers lie in: the largest of the device's own.
func (p *Physical) askMemory(pin *runtime.Pinner) {
	m := hold(pin, MemoryProperties2{Header: Header{Type: typeMemoryProperties2}})
	budget := hold(pin, MemoryBudget{Header: Header{Type: typeMemoryBudget}})
	told := p.Has("VK_EXT_memory_budget")
	if told {
		m.Next = unsafe.Pointer(budget)
	}
	p.instance.api.GetMemoryProperties(p.ID, m)
	m.TypeCount, m.HeapCount = min(m.TypeCount, uint32(len(m.Types))), min(m.HeapCount, uint32(len(m.Heaps)))
	for i, h := range m.Heaps[:m.HeapCount] {
		if h.Flags&localHeap == 0 || h.Size <= p.Memory {
			continue
		}
		p.Memory = h.Size
		if told && budget.Budget[i] > budget.Usage[i] {
			p.Free = budget.Budget[i] - budget.Usage[i]
		}
	}
	const unified = deviceLocal | hostVisible | hostCached
	p.Unified = slices.ContainsFunc(m.Types[:m.TypeCount], func(t MemoryType) bool { return t.Flags&unified == unified })
	p.memory = *m
	p.memory.Next = nil
}

// findQueue takes a family of queues that compute, rather one that does not
// draw: the desktop then waits less for programs.
func (p *Physical) findQueue() error {
	const graphics, compute = 1, 2
	n := new(uint32)
	p.instance.api.GetQueueFamilies(p.ID, n, nil)
	if *n > maxList {
		return fmt.Errorf("vkGetPhysicalDeviceQueueFamilyProperties: the driver of %s tells of %d", p.Name, *n)
	}
	all := make([]QueueFamily, max(1, *n))
	p.instance.api.GetQueueFamilies(p.ID, n, &all[0])
	found := -1
	for i, f := range all[:min(int(*n), len(all))] {
		if f.Flags&compute != 0 && f.Count > 0 && (found < 0 || f.Flags&graphics == 0 && all[found].Flags&graphics != 0) {
			found = i
		}
	}
	if found < 0 {
		return fmt.Errorf("%s has no queue that computes", p.Name)
	}
	p.family, p.queues = uint32(found), min(all[found].Count, maxQueues)
	p.clockBits = min(all[found].TimestampBits, 64)
	return nil
}

// vendorName is the maker's, by PCI's number or one that Vulkan gave away.
func vendorName(id uint32) string {
	switch id {
	case 0x1002, 0x1022:
		return "AMD"
	case 0x1010:
		return "Imagination"
	case 0x106B:
		return "Apple"
	case 0x10DE:
		return "NVIDIA"
	case 0x13B5:
		return "Arm"
	case 0x14E4:
		return "Broadcom"
	case 0x5143:
		return "Qualcomm"
	case 0x8086:
		return "Intel"
	case 0x10005:
		return "Mesa"
	}
	return fmt.Sprintf("%#04x", id)
}

// uuid is 16 bytes in the usual notation.
func uuid(b []byte) string {
	if bytes.Equal(b, make([]byte, 16)) {
		return ""
	}
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
