package vk

import "unsafe"

// Structures of vulkan_core.h, laid out as there, with Go's pointers in the
// place of C's: whoever fills one in pins what they point to.

// StructType says what a structure is.
type StructType uint32

const (
	typeApplicationInfo             StructType = 0
	typeInstanceCreateInfo          StructType = 1
	typeDeviceQueueCreateInfo       StructType = 2
	typeDeviceCreateInfo            StructType = 3
	typeSubmitInfo                  StructType = 4
	typeMemoryAllocateInfo          StructType = 5
	typeSemaphoreCreateInfo         StructType = 9
	typeBufferCreateInfo            StructType = 12
	typeShaderModuleCreateInfo      StructType = 16
	typeQueryPoolCreateInfo         StructType = 11
	typePipelineCacheCreateInfo     StructType = 17
	typeShaderStageCreateInfo       StructType = 18
	typeComputePipelineCreateInfo   StructType = 29
	typePipelineLayoutCreateInfo    StructType = 30
	typeCommandPoolCreateInfo       StructType = 39
	typeCommandBufferAllocateInfo   StructType = 40
	typeCommandBufferBeginInfo      StructType = 42
	typeMemoryBarrier               StructType = 46
	typeFeatures11                  StructType = 49
	typeProperties11                StructType = 50
	typeFeatures12                  StructType = 51
	typeProperties12                StructType = 52
	typeFeatures13                  StructType = 53
	typeProperties13                StructType = 54
	typeFeatures2                   StructType = 1000059000
	typeProperties2                 StructType = 1000059001
	typeMemoryProperties2           StructType = 1000059006
	typeMemoryAllocateFlagsInfo     StructType = 1000060000
	typeMessengerCreateInfo         StructType = 1000128004
	typeSemaphoreTypeCreateInfo     StructType = 1000207002
	typeTimelineSemaphoreSubmitInfo StructType = 1000207003
	typeSemaphoreWaitInfo           StructType = 1000207004
	typePCIBusInfo                  StructType = 1000212000
	typeMemoryBudget                StructType = 1000237000
	typeBufferDeviceAddressInfo     StructType = 1000244001
	typeValidationFeatures          StructType = 1000247000
)

// Header begins most structures.
type Header struct {
	Type StructType
	Next unsafe.Pointer // another structure, which extends this one
}

type ApplicationInfo struct {
	Header
	Name          *byte
	Version       uint32
	Engine        *byte
	EngineVersion uint32
	API           uint32
}

type InstanceCreateInfo struct {
	Header
	Flags          uint32
	Application    *ApplicationInfo
	LayerCount     uint32
	Layers         **byte
	ExtensionCount uint32
	Extensions     **byte
}

type ValidationFeatures struct {
	Header
	EnabledCount  uint32
	Enabled       *uint32
	DisabledCount uint32
	Disabled      *uint32
}

type MessengerCreateInfo struct {
	Header
	Flags    uint32
	Severity uint32
	Kinds    uint32
	Callback uintptr
	User     uintptr
}

// MessageData is the beginning of what a messenger's callback gets.
type MessageData struct {
	Header
	Flags  uint32
	IDName *byte
	ID     int32
	Text   *byte
}

type ExtensionProperties struct {
	Name    [256]byte
	Version uint32
}

type LayerProperties struct {
	Name           [256]byte
	Version        uint32
	Implementation uint32
	Description    [256]byte
}

// Limits has the ones that matter here.
type Limits struct {
	_                [8]uint32
	PushConstants    uint32
	Allocations      uint32
	_                [44]uint32
	SharedMemory     uint32 // of a workgroup
	GroupCount       [3]uint32
	GroupInvocations uint32
	GroupSize        [3]uint32
	_                [14]uint32
	MapAlignment     uint64
	_                [2]uint64
	BufferAlignment  uint64
	_                [22]uint32
	TimestampPeriod  float32
	_                [17]uint32
	AtomSize         uint64 // of memory that is mapped and not coherent
}

type Properties2 struct {
	Header
	API       uint32
	Driver    uint32
	Vendor    uint32
	Device    uint32
	Kind      uint32
	Name      [256]byte
	CacheUUID [16]byte
	Limits    Limits
	_         [6]uint32
}

type Properties11 struct {
	Header
	DeviceUUID     [16]byte
	DriverUUID     [16]byte
	LUID           [8]byte
	_              [2]uint32
	SubgroupSize   uint32
	SubgroupStages uint32
	SubgroupOps    uint32
	_              [6]uint32
	MaxAllocation  uint64
}

type Properties12 struct {
	Header
	DriverID    uint32
	DriverName  [256]byte
	DriverInfo  [256]byte
	Conformance [4]byte
	// DenormIndependence is which formats may be asked for other subnormals than the
	// others: independentAll, or fewer.
	DenormIndependence uint32
	_                  uint32
	Float              FloatControls
	_                  [29]uint32
	_                  uint64
	_                  uint64
}

// independentAll: each format for itself.
const independentAll = 1

// FloatControls say what arithmetic can be asked for, for formats of 16, 32 and
// 64 bits.
type FloatControls struct {
	SignedZeroInfNaN [3]uint32
	DenormPreserve   [3]uint32
	DenormFlush      [3]uint32
	RoundEven        [3]uint32
	RoundZero        [3]uint32
}

type Properties13 struct {
	Header
	MinSubgroup uint32
	MaxSubgroup uint32
	_           [12]uint32
	DotPacked   uint32 // of four signed bytes in a word, in hardware
	_           [25]uint32
	_           [4]uint64
	MaxBuffer   uint64
}

type PCIBusInfo struct {
	Header
	Domain, Bus, Device, Function uint32
}

type MemoryBudget struct {
	Header
	Budget [16]uint64
	Usage  [16]uint64
}

type MemoryType struct {
	Flags uint32
	Heap  uint32
}

type MemoryHeap struct {
	Size  uint64
	Flags uint32
}

type MemoryProperties2 struct {
	Header
	TypeCount uint32
	Types     [32]MemoryType
	HeapCount uint32
	Heaps     [16]MemoryHeap
}

// Features are truth values in the order of the header; see the constants.
type Features2 struct {
	Header
	F [55]uint32
}

type Features11 struct {
	Header
	F [12]uint32
}

type Features12 struct {
	Header
	F [47]uint32
}

type Features13 struct {
	Header
	F [15]uint32
}

// Places of features.
const (
	shaderFloat64 = 39
	shaderInt64   = 40
	shaderInt16   = 41

	storageBuffer16 = 0 // of Features11

	storageBuffer8      = 2 // of Features12
	shaderFloat16       = 7
	shaderInt8          = 8
	scalarBlockLayout   = 31
	timelineSemaphore   = 37
	bufferDeviceAddress = 38
	vulkanMemoryModel   = 41

	subgroupSizeControl = 7 // of Features13
	fullSubgroups       = 8
	integerDotProduct   = 13
	maintenance4        = 14
)

type QueueFamily struct {
	Flags          uint32
	Count          uint32
	TimestampBits  uint32
	MinGranularity [3]uint32
}

type DeviceQueueCreateInfo struct {
	Header
	Flags      uint32
	Family     uint32
	Count      uint32
	Priorities *float32
}

type DeviceCreateInfo struct {
	Header
	Flags          uint32
	QueueCount     uint32
	Queues         *DeviceQueueCreateInfo
	LayerCount     uint32
	Layers         **byte
	ExtensionCount uint32
	Extensions     **byte
	Features       unsafe.Pointer
}

type BufferCreateInfo struct {
	Header
	Flags       uint32
	Size        uint64
	Usage       uint32
	Sharing     uint32
	FamilyCount uint32
	Families    *uint32
}

type MemoryRequirements struct {
	Size      uint64
	Alignment uint64
	Types     uint32 // a bit for each type of memory that will do
}

type MemoryAllocateInfo struct {
	Header
	Size uint64
	Kind uint32
}

type MemoryAllocateFlagsInfo struct {
	Header
	Flags uint32
	Mask  uint32
}

type BufferDeviceAddressInfo struct {
	Header
	Buffer BufferID
}

type ShaderModuleCreateInfo struct {
	Header
	Flags uint32
	Size  uintptr // bytes
	Code  *uint32
}

type PushConstantRange struct {
	Stages, Offset, Size uint32
}

type PipelineLayoutCreateInfo struct {
	Header
	Flags      uint32
	SetCount   uint32
	Sets       unsafe.Pointer
	RangeCount uint32
	Ranges     *PushConstantRange
}

type ShaderStageCreateInfo struct {
	Header
	Flags          uint32
	Stage          uint32
	Module         ShaderID
	Entry          *byte
	Specialization unsafe.Pointer
}

type ComputePipelineCreateInfo struct {
	Header
	Flags     uint32
	Stage     ShaderStageCreateInfo
	Layout    LayoutID
	Base      PipelineID
	BaseIndex int32
}

type PipelineCacheCreateInfo struct {
	Header
	Flags uint32
	Size  uintptr
	Data  *byte
}

type CommandPoolCreateInfo struct {
	Header
	Flags  uint32
	Family uint32
}

type QueryPoolCreateInfo struct {
	Header
	Flags      uint32
	Kind       uint32
	Count      uint32
	Statistics uint32
}

type CommandBufferAllocateInfo struct {
	Header
	Pool  PoolID
	Level uint32
	Count uint32
}

type CommandBufferBeginInfo struct {
	Header
	Flags       uint32
	Inheritance unsafe.Pointer
}

type MemoryBarrier struct {
	Header
	From, To uint32 // kinds of access
}

type BufferCopy struct {
	From, To, Size uint64
}

type SemaphoreTypeCreateInfo struct {
	Header
	Kind  uint32
	Value uint64
}

type SemaphoreCreateInfo struct {
	Header
	Flags uint32
}

type TimelineSemaphoreSubmitInfo struct {
	Header
	WaitCount   uint32
	Waits       *uint64
	SignalCount uint32
	Signals     *uint64
}

type SubmitInfo struct {
	Header
	WaitCount    uint32
	Waits        *SemaphoreID
	WaitStages   *uint32
	CommandCount uint32
	Commands     *CommandsID
	SignalCount  uint32
	Signals      *SemaphoreID
}

type SemaphoreWaitInfo struct {
	Header
	Flags      uint32
	Count      uint32
	Semaphores *SemaphoreID
	Values     *uint64
}
