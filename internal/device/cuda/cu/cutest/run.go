package cutest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/sinterml/sinter/internal/device/cuda/cu"
	"github.com/sinterml/sinter/internal/device/launch/order"
	"github.com/sinterml/sinter/internal/dynlib"
	"github.com/sinterml/sinter/internal/emit/ptx/ptxsim"
)

const errorLog, errorLogSize = 5, 6 // options of cuModuleLoadDataEx

// module is a program: its text, and what runs it if anything does.
type module struct {
	text string
	sim  *ptxsim.Module
}

// function is an entry point. sim is nil where kernels are not run.
type function struct {
	name    string
	sim     *ptxsim.Function
	dynamic int // bytes of shared memory that a launch may give beyond what it may always
}

// node is a launch with its arguments as they were.
type node struct {
	of          *function
	grid, block [3]uint32
	shared      int
	args        []byte
	event       cu.EventID // if not 0 it is no kernel, but this is recorded
}

// elf begins compiled code; the version of the driver and the text follow.
const elf = "\x7fELF "

// compiled is what a text becomes.
func (f *Fake) compiled(text string) string { return elf + f.Driver + "\n" + text }

// source finds the text of an image; false where the driver does not take it.
func (f *Fake) source(image string) (string, bool) {
	code, compiled := strings.CutPrefix(image, elf)
	if !compiled {
		f.compilations++
		return image, true
	}
	version, text, whole := strings.Cut(code, "\n")
	return text, whole && version == f.Driver && (!f.Foreign || f.compilations > 0)
}

func (f *Fake) linker(a *cu.API) {
	a.LinkCreate = func(l *cu.LinkID) cu.Code {
		return f.inside("cuLinkCreate", func(*primary) cu.Code {
			if f.NoLinker {
				return cu.NoJITCompiler
			}
			*l = cu.LinkID(f.give("cuLinkCreate"))
			f.linking[*l] = thread()
			return 0
		})
	}
	a.LinkAddData = func(l cu.LinkID, kind uint32, data *byte, size int) cu.Code {
		return f.inside("cuLinkAddData", func(*primary) cu.Code {
			f.known(uintptr(l), "cuLinkCreate")
			text := dynlib.GoString(data)
			if f.Log != "" || kind != 1 || size != len(text)+1 {
				return cu.InvalidPTX
			}
			f.compilations++
			f.links[l] = []byte(f.compiled(text) + "\x00")
			return 0
		})
	}
	a.LinkComplete = func(l cu.LinkID, cubin **byte, size *int) cu.Code {
		return f.inside("cuLinkComplete", func(*primary) cu.Code {
			f.known(uintptr(l), "cuLinkCreate")
			*cubin, *size = &f.links[l][0], len(f.links[l])
			return 0
		})
	}
	a.LinkDestroy = func(l cu.LinkID) cu.Code {
		return f.inside("cuLinkDestroy", func(*primary) cu.Code {
			clear(f.links[l]) // which nobody may read any more
			delete(f.links, l)
			delete(f.linking, l)
			return f.take(uintptr(l), "cuLinkCreate")
		})
	}
}

func (f *Fake) programs(a *cu.API) {
	f.linker(a)
	f.maps(a)
	a.ModuleLoadDataEx = func(m *cu.ModuleID, image *byte, n uint32, options *uint32, values *uintptr) cu.Code {
		return f.inside("cuModuleLoadDataEx", func(*primary) cu.Code {
			text, ok := f.source(dynlib.GoString(image))
			if !ok {
				return cu.NoBinaryForGPU
			}
			program, complaint := &module{text: text}, f.Log
			if f.Compute && complaint == "" {
				var err error
				if program.sim, err = ptxsim.Load(program.text); err != nil {
					complaint = err.Error()
				}
			}
			if complaint != "" {
				write(complaint, unsafe.Slice(options, n), unsafe.Slice(values, n))
				if f.BuildCode != 0 {
					return f.BuildCode
				}
				return cu.InvalidPTX
			}
			*m = cu.ModuleID(f.give("cuModuleLoadDataEx"))
			f.modules[*m] = program
			return 0
		})
	}
	a.ModuleUnload = func(m cu.ModuleID) cu.Code {
		return f.inside("cuModuleUnload", func(*primary) cu.Code {
			delete(f.modules, m)
			return f.take(uintptr(m), "cuModuleLoadDataEx")
		})
	}
	a.ModuleGetFunction = func(id *cu.FunctionID, m cu.ModuleID, name *byte) cu.Code {
		return f.inside("cuModuleGetFunction", func(*primary) cu.Code {
			f.known(uintptr(m), "cuModuleLoadDataEx")
			fn, err := f.modules[m].function(dynlib.GoString(name))
			if err != nil {
				return cu.NotFound
			}
			f.next += 16
			*id = cu.FunctionID(f.next)
			f.entries[*id] = fn
			return 0
		})
	}
	a.FuncGetAttribute = func(value *int32, attribute int, id cu.FunctionID) cu.Code {
		return f.inside("cuFuncGetAttribute", func(*primary) cu.Code {
			*value = f.entries[id].attributes()[attribute]
			return 0
		})
	}
	a.FuncSetAttribute = func(id cu.FunctionID, attribute int, value int32) cu.Code {
		return f.inside("cuFuncSetAttribute", func(*primary) cu.Code {
			const maxDynamic = 8
			fn := f.entries[id]
			if fn == nil || attribute != maxDynamic || fn.declared()+int(value) > sharedMost {
				return cu.InvalidValue
			}
			fn.dynamic = int(value)
			return 0
		})
	}
	a.LaunchKernel = func(p *cu.NodeParams, s cu.StreamID) cu.Code {
		var n *node
		code := f.inside("cuLaunchKernel", func(c *primary) (code cu.Code) {
			f.known(uintptr(s), "cuStreamCreate")
			n, code = f.node(p)
			return code
		})
		if code != 0 {
			return code
		}
		return f.run("cuLaunchKernel", s, n)
	}
}

// maps has tensor maps be what package ptxsim understands, and notes those that a
// driver would refuse.
func (f *Fake) maps(a *cu.API) {
	if f.NoMaps {
		return
	}
	a.TensorMapEncodeTiled = func(m *cu.TensorMap, p *cu.TensorMapParams) cu.Code {
		return f.inside("cuTensorMapEncodeTiled", func(*primary) cu.Code {
			f.encoded++
			rank := min(int(p.Rank), 5)
			t := ptxsim.TensorMap{Type: p.Type, Address: uint64(p.Address), Sizes: p.Sizes[:rank], Strides: p.Strides[:max(rank-1, 0)], Box: p.Box[:rank],
				Steps: p.Steps[:rank], Interleave: p.Interleave, Swizzle: p.Swizzle, Promotion: p.Promotion, Fill: p.Fill}
			encoded, err := t.Encode()
			if at := uintptr(unsafe.Pointer(m)); err == nil && at%ptxsim.TensorMapAlign != 0 {
				err = fmt.Errorf("a map at %#x", at)
			}
			if err != nil {
				f.fault("cuTensorMapEncodeTiled: %v", err)
				return cu.InvalidValue
			}
			*(*[ptxsim.TensorMapBytes]byte)(unsafe.Pointer(m)) = encoded
			return 0
		})
	}
}

func (m *module) function(name string) (*function, error) {
	fn := &function{name: name}
	if m.sim != nil {
		var err error
		fn.sim, err = m.sim.Function(name)
		return fn, err
	}
	if !strings.Contains(m.text, fmt.Sprintf(".entry %s(", name)) {
		return nil, fmt.Errorf("no entry %s", name)
	}
	return fn, nil
}

// declared is how much shared memory it has in any case.
func (fn *function) declared() int {
	if fn.sim == nil {
		return 0
	}
	return fn.sim.Shared
}

// attributes are by the numbers of cuFuncGetAttribute.
func (fn *function) attributes() map[int]int32 {
	all := map[int]int32{0: 1024, 4: 32}
	if fn.sim != nil {
		all[1] = int32(fn.sim.Shared)
		if fn.sim.Threads > 0 {
			all[0] = int32(fn.sim.Threads)
		}
	}
	return all
}

// write puts a text where the options say.
func write(text string, options []uint32, values []uintptr) {
	var log *byte
	size := 0
	for i, o := range options {
		switch o {
		case errorLog:
			log = *(**byte)(unsafe.Pointer(&values[i]))
		case errorLogSize:
			size = int(values[i])
		}
	}
	if log != nil && size > 0 {
		b := unsafe.Slice(log, size)
		b[copy(b[:size-1], text)] = 0
	}
}

// node copies a launch with its arguments.
func (f *Fake) node(p *cu.NodeParams) (*node, cu.Code) {
	fn := f.entries[p.Function]
	if fn == nil {
		f.fault("a kernel of no module: %#x", p.Function)
		return nil, cu.InvalidHandle
	}
	n := &node{of: fn, grid: p.Grid, block: p.Block, shared: int(p.Shared)}
	if n.shared > max(fn.dynamic, sharedUsual-fn.declared()) {
		f.fault("kernel %s with %d bytes of shared memory, which nobody has asked for", fn.name, n.shared)
		return nil, cu.InvalidValue
	}
	if fn.sim != nil {
		n.args = make([]byte, fn.sim.ArgBytes())
		for i, at := range unsafe.Slice(p.Params, len(fn.sim.Params)) {
			to := fn.sim.Params[i]
			copy(n.args[to.Offset:][:to.Size], unsafe.Slice((*byte)(unsafe.Pointer(at)), to.Size))
		}
	}
	return n, 0
}

// run runs kernels one after another. One that goes wrong loses the device, as
// does the one that is to: that is noticed by the next call.
func (f *Fake) run(name string, s cu.StreamID, nodes ...*node) cu.Code {
	var uses func(base uint64, write bool)
	if f.Compute {
		uses = f.uses(name, s)
	}
	for _, n := range nodes {
		if n.event != 0 {
			if code := f.record(name, n.event, s); code != 0 {
				return code
			}
			continue
		}
		time.Sleep(f.Kernel)
		var err error
		if n.of.sim != nil {
			err = n.of.sim.Launch(context.Background(), ptxsim.Launch{Grid: n.grid, Block: n.block, Shared: n.shared, Args: n.args, Memory: &f.memory, Uses: uses})
		}
		lost := false
		code := f.inside(name, func(c *primary) cu.Code {
			f.started++
			switch lost = err != nil || f.started == f.LoseAfter; {
			case err != nil:
				f.fault("%v", err)
				c.lost = cu.LaunchFailed
			case lost && f.LoseWith != 0:
				c.lost = f.LoseWith
			case lost:
				c.lost = cu.LaunchFailed
			}
			return 0
		})
		if code != 0 || lost {
			return code
		}
	}
	return 0
}

// uses starts kernels, and gives what is to be told of their memory.
func (f *Fake) uses(name string, s cu.StreamID) func(base uint64, write bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	work := f.order.Start(order.Stream(s), name)
	return func(base uint64, write bool) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if write {
			f.check(work.Writes(order.Memory(base)))
		} else {
			f.check(work.Reads(order.Memory(base)))
		}
	}
}

func (f *Fake) streams(a *cu.API) {
	a.StreamCreate = func(s *cu.StreamID, _ uint32) cu.Code {
		return f.inside("cuStreamCreate", func(*primary) cu.Code {
			*s = cu.StreamID(f.give("cuStreamCreate"))
			return 0
		})
	}
	a.StreamDestroy = func(s cu.StreamID) cu.Code {
		return f.inside("cuStreamDestroy", func(*primary) cu.Code { return f.take(uintptr(s), "cuStreamCreate") })
	}
	a.StreamSynchronize = func(s cu.StreamID) cu.Code {
		return f.inside("cuStreamSynchronize", func(*primary) cu.Code {
			f.known(uintptr(s), "cuStreamCreate")
			if f.WaitFails != nil {
				if code := f.WaitFails(); code != 0 {
					f.unending = true
					return code
				}
			}
			f.order.Wait(order.Stream(s))
			for _, p := range f.shared {
				p.trim(p.threshold)
			}
			return 0
		})
	}
	a.StreamWaitEvent = func(s cu.StreamID, e cu.EventID) cu.Code {
		return f.inside("cuStreamWaitEvent", func(*primary) cu.Code {
			f.known(uintptr(s), "cuStreamCreate")
			f.known(uintptr(e), "cuEventCreate")
			f.order.Follow(order.Stream(s), order.Event(e))
			return 0
		})
	}
	a.EventCreate = func(e *cu.EventID, _ uint32) cu.Code {
		return f.inside("cuEventCreate", func(*primary) cu.Code {
			*e = cu.EventID(f.give("cuEventCreate"))
			return 0
		})
	}
	a.EventDestroy = func(e cu.EventID) cu.Code {
		return f.inside("cuEventDestroy", func(*primary) cu.Code { return f.take(uintptr(e), "cuEventCreate") })
	}
	a.EventRecord = func(e cu.EventID, s cu.StreamID) cu.Code { return f.record("cuEventRecord", e, s) }
	come := func(e cu.EventID) cu.Code {
		return f.inside("cuEventSynchronize", func(*primary) cu.Code {
			f.known(uintptr(e), "cuEventCreate")
			f.order.WaitEvent(order.Event(e))
			return 0
		})
	}
	a.EventQuery, a.EventSynchronize = come, come
	kernel := cmp.Or(f.Kernel, time.Millisecond)
	a.EventElapsedTime = func(ms *float32, start, end cu.EventID) cu.Code {
		return f.inside("cuEventElapsedTime", func(*primary) cu.Code {
			f.known(uintptr(start), "cuEventCreate")
			f.known(uintptr(end), "cuEventCreate")
			*ms = float32(f.events[end]-f.events[start]) * float32(kernel.Seconds()*1e3)
			return 0
		})
	}
}

func (f *Fake) record(name string, e cu.EventID, s cu.StreamID) cu.Code {
	return f.inside(name, func(*primary) cu.Code {
		f.known(uintptr(s), "cuStreamCreate")
		f.known(uintptr(e), "cuEventCreate")
		f.events[e] = f.started
		f.order.Record(order.Event(e), order.Stream(s))
		return 0
	})
}

func (f *Fake) chains(a *cu.API) {
	a.GraphCreate = func(g *cu.GraphID) cu.Code {
		return f.inside("cuGraphCreate", func(*primary) cu.Code {
			*g = cu.GraphID(f.give("cuGraphCreate"))
			return 0
		})
	}
	a.GraphAddKernelNode = func(id *cu.NodeID, g cu.GraphID, after *cu.NodeID, count int, p *cu.NodeParams) cu.Code {
		return f.inside("cuGraphAddKernelNode", func(*primary) cu.Code {
			n, code := f.node(p)
			*id = f.append("cuGraphAddKernelNode", g, after, count, n)
			return code
		})
	}
	if !f.NoGraphEvents {
		a.GraphAddEventRecordNode = func(id *cu.NodeID, g cu.GraphID, after *cu.NodeID, count int, e cu.EventID) cu.Code {
			return f.inside("cuGraphAddEventRecordNode", func(*primary) cu.Code {
				f.known(uintptr(e), "cuEventCreate")
				*id = f.append("cuGraphAddEventRecordNode", g, after, count, &node{event: e})
				return 0
			})
		}
	}
	a.GraphInstantiate = func(x *cu.ExecID, g cu.GraphID) cu.Code {
		return f.inside("cuGraphInstantiate", func(*primary) cu.Code {
			f.known(uintptr(g), "cuGraphCreate")
			*x = cu.ExecID(f.give("cuGraphInstantiate"))
			f.execs[*x] = slices.Clone(f.graphs[g])
			return 0
		})
	}
	a.GraphExecKernelSetParams = func(x cu.ExecID, id cu.NodeID, p *cu.NodeParams) cu.Code {
		return f.inside("cuGraphExecKernelNodeSetParams", func(*primary) cu.Code {
			f.known(uintptr(x), "cuGraphInstantiate")
			n, code := f.node(p)
			f.execs[x][id-1] = n
			return code
		})
	}
	a.GraphLaunch = func(x cu.ExecID, s cu.StreamID) cu.Code {
		var nodes []*node
		code := f.inside("cuGraphLaunch", func(*primary) cu.Code {
			f.known(uintptr(x), "cuGraphInstantiate")
			f.known(uintptr(s), "cuStreamCreate")
			nodes = f.execs[x]
			return 0
		})
		if code != 0 {
			return code
		}
		return f.run("cuGraphLaunch", s, nodes...)
	}
	a.GraphExecDestroy = func(x cu.ExecID) cu.Code {
		return f.inside("cuGraphExecDestroy", func(*primary) cu.Code {
			delete(f.execs, x)
			return f.take(uintptr(x), "cuGraphInstantiate")
		})
	}
	a.GraphDestroy = func(g cu.GraphID) cu.Code {
		return f.inside("cuGraphDestroy", func(*primary) cu.Code {
			delete(f.graphs, g)
			return f.take(uintptr(g), "cuGraphCreate")
		})
	}
}

// append adds a node to a graph behind the one before.
func (f *Fake) append(name string, g cu.GraphID, after *cu.NodeID, count int, n *node) cu.NodeID {
	f.known(uintptr(g), "cuGraphCreate")
	nodes := f.graphs[g]
	if count != min(len(nodes), 1) || count > 0 && int(*after) != len(nodes) {
		f.fault("%s: node %d does not follow the one before", name, len(nodes))
	}
	f.graphs[g] = append(nodes, n)
	return cu.NodeID(len(nodes) + 1)
}
