package mtl

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/sinterml/sinter/internal/dynlib"
)

var (
	objcLibrary  = dynlib.Spec{API: "Metal", Darwin: []string{"/usr/lib/libobjc.A.dylib"}}
	foundation   = dynlib.Spec{API: "Metal", Darwin: []string{"/System/Library/Frameworks/Foundation.framework/Foundation"}}
	metalLibrary = dynlib.Spec{API: "Metal", Darwin: []string{"/System/Library/Frameworks/Metal.framework/Metal"}, Remedy: "macOS 10.13 or later has it"}
)

// Load opens Metal once.
var Load = sync.OnceValues(func() (*API, error) {
	lib, err := dynlib.Open(objcLibrary)
	if err != nil {
		return nil, err
	}
	if _, err := dynlib.Open(foundation); err != nil { // brings the class of strings
		return nil, err
	}
	metal, err := dynlib.Open(metalLibrary)
	if err != nil {
		return nil, err
	}
	o, err := newObjc(lib)
	if err != nil {
		return nil, err
	}
	devices, err := metal.Symbol("MTLCopyAllDevices")
	if err != nil {
		return nil, err
	}
	a := &API{System: system(), Release: func(id ID) { o.call(id, "release") }}
	a.Devices = func() []*Device { return o.devices(ID(dynlib.Call(devices))) }
	bindMemory(a, o)
	bindPrograms(a, o)
	a.Run = o.run
	return a, nil
})

// devices reads a list, whose members stay.
func (o *objc) devices(list ID) []*Device {
	defer o.pool()()
	var all []*Device
	for i := range o.call(list, "count") {
		d := o.get(list, "objectAtIndex:", i)
		o.call(d, "retain")
		all = append(all, &Device{
			ID: d, Name: o.goText(o.get(d, "name")),
			Memory: uint64(o.call(d, "recommendedMaxWorkingSetSize")), Used: uint64(o.call(d, "currentAllocatedSize")),
			MaxAlloc: uint64(o.call(d, "maxBufferLength")), Shared: int(o.call(d, "maxThreadgroupMemoryLength")),
			Unified: o.is(d, "hasUnifiedMemory"), LowPower: o.is(d, "isLowPower"),
		})
	}
	o.call(list, "release")
	return all
}

func bindMemory(a *API, o *objc) {
	a.NewQueue = func(device ID) ID { return o.get(device, "newCommandQueue") }
	a.NewBuffer = func(device ID, n int) (ID, unsafe.Pointer) {
		const shared = 0
		b := o.get(device, "newBufferWithLength:options:", uintptr(n), shared)
		return b, pointer(o.call(b, "contents"))
	}
	a.Address = func(buffer ID) uint64 {
		if !o.has(buffer, "gpuAddress") {
			return 0
		}
		return uint64(o.call(buffer, "gpuAddress"))
	}
}

func bindPrograms(a *API, o *objc) {
	a.Compile = func(device ID, source string) (ID, string) {
		defer o.pool()()
		options := o.get(o.get(o.classOf("MTLCompileOptions"), "alloc"), "init")
		defer o.call(options, "release")
		const off, safe = 0, 0
		o.call(options, "setFastMathEnabled:", off)
		if o.has(options, "setMathMode:") { // from macOS 15 on
			o.call(options, "setMathMode:", safe)
		}
		failed := new(ID)
		lib := o.get(device, "newLibraryWithSource:options:error:", uintptr(o.text(source)), uintptr(options), uintptr(unsafe.Pointer(failed)))
		if lib == 0 {
			return 0, o.wrong(*failed)
		}
		return lib, ""
	}
	a.Pipeline = func(device, library ID, name string) (ID, int, string) {
		defer o.pool()()
		f := o.get(library, "newFunctionWithName:", uintptr(o.text(name)))
		if f == 0 {
			return 0, 0, "the program has no function " + name
		}
		defer o.call(f, "release")
		failed := new(ID)
		p := o.get(device, "newComputePipelineStateWithFunction:error:", uintptr(f), uintptr(unsafe.Pointer(failed)))
		if p == 0 {
			return 0, 0, o.wrong(*failed)
		}
		return p, int(o.call(p, "maxTotalThreadsPerThreadgroup")), ""
	}
}

// run encodes all launches in one command buffer. Metal orders them by itself, as
// each may use what those before it have written.
func (o *objc) run(queue ID, launches []*Launch) string {
	defer o.pool()()
	buffer := o.get(queue, "commandBuffer")
	encoder := o.get(buffer, "computeCommandEncoder")
	if encoder == 0 {
		return "Metal gives no command buffer"
	}
	for _, l := range launches {
		o.encode(encoder, l)
	}
	o.call(encoder, "endEncoding")
	o.call(buffer, "commit")
	o.call(buffer, "waitUntilCompleted")
	const failed = 5
	if o.call(buffer, "status") == failed {
		return o.wrong(o.get(buffer, "error"))
	}
	return ""
}

// encode sets the arguments of a launch, of which Metal keeps copies, and
// dispatches it. l is on the heap.
func (o *objc) encode(encoder ID, l *Launch) {
	o.call(encoder, "setComputePipelineState:", uintptr(l.Pipeline))
	for i, b := range l.Buffers {
		o.call(encoder, "setBuffer:offset:atIndex:", uintptr(b), 0, uintptr(i))
	}
	slot := uintptr(len(l.Buffers))
	if len(l.Far) > 0 {
		const readWrite = 1 | 2
		for _, b := range l.Far {
			o.call(encoder, "useResource:usage:", uintptr(b), readWrite)
		}
		o.call(encoder, "setBytes:length:atIndex:", uintptr(unsafe.Pointer(&l.Addresses[0])), uintptr(8*len(l.Addresses)), slot)
		slot++
	}
	o.call(encoder, "setBytes:length:atIndex:", uintptr(unsafe.Pointer(&l.Numbers[0])), uintptr(8*len(l.Numbers)), slot)
	l.groups, l.items = [3]uintptr{uintptr(l.Groups), 1, 1}, [3]uintptr{uintptr(l.Items), 1, 1}
	o.call(encoder, "dispatchThreadgroups:threadsPerThreadgroup:", sizes(&l.groups, &l.items)...)
	runtime.KeepAlive(l)
}
