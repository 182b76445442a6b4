// Package cutest has drivers of CUDA for tests: one in Go that fails in chosen
// ways, and libraries in C that crash or hang where they are opened.
package cutest

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/sinterml/sinter/internal/device/cuda/cu"
	"github.com/sinterml/sinter/internal/device/launch/order"
	"github.com/sinterml/sinter/internal/emit/ptx/ptxsim"
)

// Fake is a driver. The zero value does all it is asked but running kernels;
// fields are set before API.
type Fake struct {
	// Compute has kernels run, by package ptxsim.
	Compute bool
	Devices int      // how many; 0: one
	Names   []string // of them; where one is missing: "Fake GPU"
	Version int      // of CUDA; 0: a new one
	// Capability is 10 times that of the devices; 0: 90.
	Capability int
	NoPools    bool
	NoMaps     bool // has no cuTensorMapEncodeTiled
	Prohibited bool
	Driver     string // its version, which code that it compiled has in it
	// Foreign has the driver refuse code until it has compiled some itself, and
	// NoLinker has it make none.
	Foreign, NoLinker bool
	// Init is what cuInit returns.
	Init cu.Code
	// Room is how many bytes pools have of the system at most; 0: there is no
	// bound.
	Room int
	// Refuse refuses each buffer for which it returns true; nil: none.
	Refuse func(bytes int) bool
	// Log, if set, is what the compiler says about every program, which it
	// refuses with BuildCode, or for an error of the program if that is 0.
	Log       string
	BuildCode cu.Code
	// LoseAfter is how many kernels start before the device is lost by the last
	// of them, with LoseWith (0: a kernel that failed); 0: never.
	LoseAfter int
	LoseWith  cu.Code
	// WaitFails is what waiting for a stream returns, if not 0; what was started
	// there goes on.
	WaitFails func() cu.Code
	// Broken devices stay so when their context is made anew.
	Broken bool

	// Kernel is how long each takes; 0: no time, and events say a millisecond.
	Kernel time.Duration
	// NoGraphEvents has graphs without events.
	NoGraphEvents bool

	mu       sync.Mutex
	next     uintptr
	live     map[uintptr]string // handles and what made them
	memory   ptxsim.Memory
	shared   map[cu.PoolID]*pool
	from     map[cu.Pointer]lent // buffers of pools
	most     uint64
	hosts    map[unsafe.Pointer][]byte
	modules  map[cu.ModuleID]*module
	graphs   map[cu.GraphID][]*node
	execs    map[cu.ExecID][]*node
	entries  map[cu.FunctionID]*function
	events   map[cu.EventID]int // kernels that had started by then
	current  map[int][]cu.ContextID
	contexts map[cu.DeviceID]*primary
	links    map[cu.LinkID][]byte
	linking  map[cu.LinkID]int // the thread that began it
	started  int               // kernels
	faults   []string
	order    order.Checker
	unending bool // a wait has failed

	compilations int
	encoded      int // tensor maps
}

// primary is the context of a device that all its users share.
type primary struct {
	id   cu.ContextID
	refs int
	lost cu.Code
}

// Started is how many kernels were started.
func (f *Fake) Started() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.started
}

// Compiled is how often PTX was compiled.
func (f *Fake) Compiled() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.compilations
}

// Encoded is how many tensor maps were made.
func (f *Fake) Encoded() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.encoded
}

// Live lists the functions that made what was not given back.
func (f *Fake) Live() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, name := range f.live {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// Faults lists calls that a real driver would have punished: without a context
// on the thread, with handles of nothing, or of what was given back; and uses of
// memory that are in no order, which it would not have noticed.
func (f *Fake) Faults() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.faults)
}

func (f *Fake) fault(format string, args ...any) {
	if len(f.faults) < 20 {
		f.faults = append(f.faults, fmt.Sprintf(format, args...))
	}
}

// check notes what the checker of the order says.
func (f *Fake) check(err error) {
	if err != nil {
		f.fault("%v", err)
	}
}

// buffer is the memory that an address lies in.
func (f *Fake) buffer(p cu.Pointer) order.Memory { return order.Memory(f.memory.Begin(uint64(p))) }

// give makes a handle.
func (f *Fake) give(name string) uintptr {
	f.next += 16
	f.live[f.next] = name
	return f.next
}

// take takes a handle back.
func (f *Fake) take(h uintptr, name string) cu.Code {
	if f.live[h] != name {
		f.fault("%s given back: %#x is %q", name, h, f.live[h])
		return cu.InvalidHandle
	}
	delete(f.live, h)
	return 0
}

// inside runs f with the state of the context that is current on this thread;
// without one it is not run.
func (f *Fake) inside(name string, do func(p *primary) cu.Code) cu.Code {
	f.mu.Lock()
	defer f.mu.Unlock()
	stack := f.current[thread()]
	if len(stack) == 0 {
		f.fault("%s: no context is current on the thread", name)
		return cu.InvalidContext
	}
	for _, p := range f.contexts {
		if p.id != stack[len(stack)-1] {
			continue
		}
		if p.lost != 0 {
			return p.lost
		}
		return do(p)
	}
	f.fault("%s: the context is gone", name)
	return cu.ContextIsDestroyed
}

// API is the driver's table of functions.
func (f *Fake) API() *cu.API {
	f.live, f.hosts, f.modules, f.events = map[uintptr]string{}, map[unsafe.Pointer][]byte{}, map[cu.ModuleID]*module{}, map[cu.EventID]int{}
	f.graphs, f.execs, f.entries = map[cu.GraphID][]*node{}, map[cu.ExecID][]*node{}, map[cu.FunctionID]*function{}
	f.links, f.linking, f.shared, f.from = map[cu.LinkID][]byte{}, map[cu.LinkID]int{}, map[cu.PoolID]*pool{}, map[cu.Pointer]lent{}
	f.current, f.contexts = map[int][]cu.ContextID{}, map[cu.DeviceID]*primary{}
	a := &cu.API{Name: "a fake"}
	if f.Driver != "" {
		a.NVML = &cu.NVML{Driver: f.Driver, Free: func(string) uint64 { return 0 }}
	}
	f.finding(a)
	f.opening(a)
	f.buffers(a)
	f.pools(a)
	f.transfers(a)
	f.programs(a)
	f.streams(a)
	f.chains(a)
	return a
}

func (f *Fake) finding(a *cu.API) {
	count := max(f.Devices, 1)
	a.Init = func(uint32) cu.Code { return f.Init }
	a.DriverGetVersion = func(v *int32) cu.Code {
		*v = 12040
		if f.Version != 0 {
			*v = int32(f.Version)
		}
		return 0
	}
	a.DeviceGetCount = func(n *int32) cu.Code {
		*n = int32(count)
		return 0
	}
	a.DeviceGet = func(d *cu.DeviceID, index int) cu.Code {
		*d = cu.DeviceID(index)
		return 0
	}
	a.DeviceGetName = func(p *byte, size int, d cu.DeviceID) cu.Code {
		name := "Fake GPU"
		if int(d) < len(f.Names) {
			name = f.Names[d]
		}
		copy(unsafe.Slice(p, size), name+"\x00")
		return 0
	}
	a.DeviceGetUUID = func(id *[16]byte, d cu.DeviceID) cu.Code {
		*id = [16]byte{0xfa, 0xce, 15: byte(d)}
		return 0
	}
	a.DeviceTotalMem = func(bytes *uint64, _ cu.DeviceID) cu.Code {
		*bytes = totalMemory
		return 0
	}
	a.DeviceGetAttribute = func(v *int32, which int, d cu.DeviceID) cu.Code {
		*v = f.attributes(d)[which]
		return 0
	}
}

const (
	totalMemory = 4 << 30
	sharedUsual = 48 << 10  // bytes that a block may always have
	sharedMost  = 227 << 10 // and that it may have if asked for
)

// attributes are those of a GPU of the present.
func (f *Fake) attributes(d cu.DeviceID) map[int]int32 {
	capability := int32(90)
	if f.Capability != 0 {
		capability = int32(f.Capability)
	}
	all := map[int]int32{
		1: 1024, 8: sharedUsual, 10: 32, 12: 64 << 10, 13: 1980000, 16: 8, 32: 1, 33: 1 + int32(d), 36: 2619000, 37: 5120, 38: 50 << 20, 39: 2048,
		75: capability / 10, 76: capability % 10, 97: sharedMost, 115: 1,
	}
	if f.NoPools {
		all[115] = 0
	}
	if f.Prohibited {
		all[20] = 2
	}
	return all
}

func (f *Fake) opening(a *cu.API) {
	a.PrimaryRetain = func(c *cu.ContextID, d cu.DeviceID) cu.Code {
		f.mu.Lock()
		defer f.mu.Unlock()
		p := f.contexts[d]
		if p == nil {
			p = &primary{id: cu.ContextID(f.give("cuDevicePrimaryCtxRetain"))}
			if f.Broken {
				p.lost = cu.UncorrectableECC
			}
			f.contexts[d] = p
		}
		p.refs++
		*c = p.id
		return 0
	}
	a.PrimaryRelease = func(d cu.DeviceID) cu.Code {
		f.mu.Lock()
		defer f.mu.Unlock()
		p := f.contexts[d]
		if p == nil {
			f.fault("cuDevicePrimaryCtxRelease: there is none")
			return cu.InvalidContext
		}
		if p.refs--; p.refs == 0 {
			delete(f.contexts, d)
			if p.lost != 0 || f.unending {
				f.clear()
			}
			return f.take(uintptr(p.id), "cuDevicePrimaryCtxRetain")
		}
		return 0
	}
	a.PrimaryReset = func(d cu.DeviceID) cu.Code {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.clear()
		if p := f.contexts[d]; p != nil && !f.Broken {
			p.lost = 0
		}
		return 0
	}
	a.PushCurrent = func(c cu.ContextID) cu.Code {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.current[thread()] = append(f.current[thread()], c)
		return 0
	}
	a.PopCurrent = func() cu.Code {
		f.mu.Lock()
		defer f.mu.Unlock()
		stack := f.current[thread()]
		if len(stack) == 0 {
			f.fault("cuCtxPopCurrent: there is none")
			return cu.InvalidContext
		}
		f.current[thread()] = stack[:len(stack)-1]
		for l, at := range f.linking {
			if at == thread() && len(stack) == 1 {
				f.fault("cuCtxPopCurrent: what makes %d may go on, on another thread", l)
			}
		}
		return 0
	}
}

// clear drops all that a context held which ends by force.
func (f *Fake) clear() {
	for h, name := range f.live {
		if name == "cuMemAlloc" {
			_ = f.memory.Free(uint64(h))
		}
	}
	maps.DeleteFunc(f.live, func(_ uintptr, name string) bool { return name != "cuDevicePrimaryCtxRetain" })
	clear(f.modules)
	clear(f.shared)
	clear(f.from)
	clear(f.graphs)
	clear(f.execs)
	clear(f.entries)
	clear(f.events)
	clear(f.hosts)
}

// Current tells whether a context is current on any thread.
func (f *Fake) Current() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, stack := range f.current {
		if len(stack) > 0 {
			return true
		}
	}
	return false
}
