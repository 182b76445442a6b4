// Package mtltest has drivers of Metal for tests: their device computes nothing
// and fails in chosen ways.
package mtltest

import (
	"cmp"
	"fmt"
	"sync"
	"unsafe"

	"github.com/sinterml/sinter/internal/device/metal/mtl"
)

// Fake is a driver whose device keeps memory and runs no kernel. The zero value
// does all it is asked; fields are set before API.
type Fake struct {
	System    string // "": one of macOS 15
	NoDevices bool
	Old       bool // there are no addresses of buffers
	Items     int  // work-items that a group of any kernel may have; 0: 1024
	// Refuse refuses memory for which it returns true; nil: none.
	Refuse func(bytes int) bool
	// BuildLog, if set, is what the compiler says about every program, which it
	// refuses.
	BuildLog string
	// LoseAfter is how many kernels start before the device is lost, in the
	// middle of what it does; 0: never.
	LoseAfter int

	mu      sync.Mutex
	next    mtl.ID
	live    map[mtl.ID]string // objects, and what made them
	memory  map[mtl.ID][]uint64
	started int // kernels
	lost    bool
	last    []*mtl.Launch
}

// Started is how many kernels were started.
func (f *Fake) Started() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.started
}

// Last are the kernels of the last run.
func (f *Fake) Last() []*mtl.Launch {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// Live lists what made objects that were not released.
func (f *Fake) Live() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var names []string
	for _, name := range f.live {
		names = append(names, name)
	}
	return names
}

// give makes an object. The caller holds mu.
func (f *Fake) give(name string) mtl.ID {
	f.next++
	f.live[f.next] = name
	return f.next
}

// API is the driver's table of functions.
func (f *Fake) API() *mtl.API {
	f.live, f.memory, f.next = map[mtl.ID]string{}, map[mtl.ID][]uint64{}, 100
	return &mtl.API{
		System: cmp.Or(f.System, "macOS 15.1 (24B83)"),
		Devices: func() []*mtl.Device {
			if f.NoDevices {
				return nil
			}
			return []*mtl.Device{{ID: 1, Name: "Fake GPU", Memory: 1 << 30, MaxAlloc: 1 << 29, Shared: 32 << 10, Unified: true}}
		},
		NewQueue: func(mtl.ID) mtl.ID {
			f.mu.Lock()
			defer f.mu.Unlock()
			return f.give("newCommandQueue")
		},
		NewBuffer: f.newBuffer,
		Address: func(b mtl.ID) uint64 {
			if f.Old {
				return 0
			}
			return uint64(b) << 16
		},
		Compile: func(mtl.ID, string) (mtl.ID, string) {
			f.mu.Lock()
			defer f.mu.Unlock()
			if f.BuildLog != "" {
				return 0, f.BuildLog
			}
			return f.give("newLibraryWithSource"), ""
		},
		Pipeline: func(_, _ mtl.ID, _ string) (mtl.ID, int, string) {
			f.mu.Lock()
			defer f.mu.Unlock()
			items := f.Items
			if items == 0 {
				items = 1024
			}
			return f.give("newComputePipelineState"), items, ""
		},
		Run: f.run,
		Release: func(id mtl.ID) {
			f.mu.Lock()
			defer f.mu.Unlock()
			if _, ok := f.live[id]; !ok {
				f.live[id] = fmt.Sprintf("released twice: %d", id)
				return
			}
			delete(f.live, id)
			delete(f.memory, id)
		},
	}
}

func (f *Fake) newBuffer(_ mtl.ID, n int) (mtl.ID, unsafe.Pointer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Refuse != nil && f.Refuse(n) {
		return 0, nil
	}
	id, m := f.give("newBufferWithLength"), make([]uint64, (n+7)/8)
	f.memory[id] = m
	return id, unsafe.Pointer(&m[0])
}

func (f *Fake) run(_ mtl.ID, launches []*mtl.Launch) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = launches
	for _, l := range launches {
		if l.Pipeline == 0 || l.Groups < 1 || l.Items < 1 || len(l.Numbers) == 0 {
			return fmt.Sprintf("invalid launch %+v", l)
		}
		f.started++
		f.lost = f.lost || f.LoseAfter > 0 && f.started >= f.LoseAfter
	}
	if f.lost {
		return "Caused GPU Hang Error (IOGPUCommandBufferCallbackErrorHang)"
	}
	return ""
}
