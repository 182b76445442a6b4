package mtl

import (
	"runtime"
	"unsafe"

	"github.com/sinterml/sinter/internal/dynlib"
)

// objc is the runtime of Objective-C.
type objc struct {
	send, class, selector, push, pop uintptr
	names                            map[string]uintptr // of methods
}

// methods are all that are called; they are looked up once.
var methods = []string{
	"UTF8String", "alloc", "init", "release", "retain", "respondsToSelector:", "stringWithUTF8String:", "localizedDescription",
	"count", "objectAtIndex:", "name", "recommendedMaxWorkingSetSize", "currentAllocatedSize", "maxBufferLength", "maxThreadgroupMemoryLength",
	"hasUnifiedMemory", "isLowPower", "newCommandQueue", "newBufferWithLength:options:", "contents", "gpuAddress",
	"setFastMathEnabled:", "setMathMode:", "newLibraryWithSource:options:error:", "newFunctionWithName:",
	"newComputePipelineStateWithFunction:error:", "maxTotalThreadsPerThreadgroup",
	"commandBuffer", "computeCommandEncoder", "setComputePipelineState:", "setBuffer:offset:atIndex:", "setBytes:length:atIndex:",
	"useResource:usage:", "dispatchThreadgroups:threadsPerThreadgroup:", "endEncoding", "commit", "waitUntilCompleted", "status", "error",
}

func newObjc(lib *dynlib.Library) (*objc, error) {
	o := &objc{names: map[string]uintptr{}}
	for _, f := range []struct {
		to   *uintptr
		name string
	}{{&o.send, "objc_msgSend"}, {&o.class, "objc_getClass"}, {&o.selector, "sel_registerName"}, {&o.push, "objc_autoreleasePoolPush"}, {&o.pop, "objc_autoreleasePoolPop"}} {
		var err error
		if *f.to, err = lib.Symbol(f.name); err != nil {
			return nil, err
		}
	}
	for _, m := range methods {
		o.names[m] = dynlib.Call(o.selector, uintptr(unsafe.Pointer(dynlib.CString(m))))
	}
	return o, nil
}

// pool keeps the goroutine on its thread, and collects what methods return
// without a new...: that is freed when the function that it returns is called.
func (o *objc) pool() (drain func()) {
	runtime.LockOSThread()
	p := dynlib.Call(o.push)
	return func() {
		dynlib.Call(o.pop, p)
		runtime.UnlockOSThread()
	}
}

// call calls a method with integers, objects and pointers: those that are
// converted in the argument list itself stay valid until it returns. A method of
// no object does nothing and gives 0.
//
//go:uintptrescapes
func (o *objc) call(id ID, method string, args ...uintptr) uintptr {
	if id == 0 {
		return 0
	}
	var list [12]uintptr
	list[0], list[1] = uintptr(id), o.names[method]
	n := 2 + copy(list[2:], args)
	return dynlib.CallHeld(o.send, list[:n]...)
}

// get is call for a method that gives an object.
//
//go:uintptrescapes
func (o *objc) get(id ID, method string, args ...uintptr) ID { return ID(o.call(id, method, args...)) }

// is is call for a method that gives a BOOL, whose byte alone counts.
func (o *objc) is(id ID, method string, args ...uintptr) bool {
	return byte(o.call(id, method, args...)) != 0
}

// has tells whether an object has a method: newer ones are not everywhere.
func (o *objc) has(id ID, method string) bool {
	return o.is(id, "respondsToSelector:", o.names[method])
}

func (o *objc) classOf(name string) ID {
	return ID(dynlib.Call(o.class, uintptr(unsafe.Pointer(dynlib.CString(name)))))
}

// text makes a string.
func (o *objc) text(s string) ID {
	c := dynlib.CString(s)
	id := o.get(o.classOf("NSString"), "stringWithUTF8String:", uintptr(unsafe.Pointer(c)))
	runtime.KeepAlive(c)
	return id
}

// goText reads a string.
func (o *objc) goText(id ID) string {
	return dynlib.GoString((*byte)(pointer(o.call(id, "UTF8String"))))
}

// pointer is an address in memory that Go's collector knows nothing of.
func pointer(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// wrong is what an error says.
func (o *objc) wrong(e ID) string {
	if s := o.goText(o.get(e, "localizedDescription")); s != "" {
		return s
	}
	return "Metal gives no reason"
}
