package cu

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Launch is a kernel with its grid and its arguments, each of 8 bytes. Whoever
// sets them and starts it takes turns with others.
type Launch struct {
	function *Function
	params   NodeParams
	values   []uint64
	pointers []*uint64 // to each of the values: what the driver is given
	maps     map[int]*TensorMap
	call     string
}

// NewLaunch prepares a launch of blocks of threads along one dimension, with so
// many arguments, and shared memory beside what the kernel declares.
func NewLaunch(f *Function, blocks, threads, shared, args int) (*Launch, error) {
	switch {
	case blocks < 1 || blocks > math.MaxInt32 || threads < 1 || shared < 0:
		return nil, fmt.Errorf("CUDA: kernel %s on %d blocks of %d threads with %d bytes", f.Name, blocks, threads, shared)
	case threads > f.MaxGroup:
		return nil, fmt.Errorf("CUDA: kernel %s cannot have blocks of %d threads: with %d registers each, %d is the limit", f.Name, threads, f.Registers, f.MaxGroup)
	}
	if err := f.reserve(shared); err != nil {
		return nil, err
	}
	l := &Launch{function: f, values: make([]uint64, args), pointers: make([]*uint64, max(args, 1)), call: "cuLaunchKernel " + f.Name}
	for i := range l.values {
		l.pointers[i] = &l.values[i]
	}
	l.params = NodeParams{
		Function: f.id, Grid: [3]uint32{uint32(blocks), 1, 1}, Block: [3]uint32{uint32(threads), 1, 1},
		Shared: uint32(shared), Params: &l.pointers[0],
	}
	return l, nil
}

// Set gives an argument its value: a number, or an address on the device. It
// tells whether that is another one than before.
func (l *Launch) Set(arg int, value uint64) (changed bool) {
	changed = l.values[arg] != value
	l.values[arg] = value
	return changed
}

// SetMap gives an argument a tensor map, a copy of m. It tells whether that is
// another one than before. Once an argument was set so, it is a map.
func (l *Launch) SetMap(arg int, m *TensorMap) (changed bool) {
	if l.maps[arg] == nil {
		if l.maps == nil {
			l.maps = map[int]*TensorMap{}
		}
		l.maps[arg] = newTensorMap()
		l.pointers[arg] = &l.maps[arg][0]
	}
	changed = *l.maps[arg] != *m
	*l.maps[arg] = *m
	return changed
}

// Start runs the kernel after what was started before. Its arguments may change
// once this returns.
func (s *Stream) Start(l *Launch) error {
	c := s.context
	if err := c.enter(); err != nil {
		return err
	}
	defer c.leave()
	code := c.api.LaunchKernel(&l.params, s.id)
	runtime.KeepAlive(l)
	return c.check(code, l.call)
}

// Graph is launches one after another, which are started by one call.
type Graph struct {
	context  *Context
	launches []*Launch
	graph    GraphID
	exec     ExecID
	nodes    []NodeID // of launches
	events   []*Event // before the first launch and behind each; none: nobody asks when they ran
	closed   atomic.Bool
}

// NewGraph prepares launches, of which there is at least one.
func (c *Context) NewGraph(launches []*Launch) (*Graph, error) {
	g := &Graph{context: c, launches: launches}
	if err := g.make(); err != nil {
		return nil, err
	}
	return g, nil
}

func (g *Graph) make() error {
	c := g.context
	if err := c.make("cuGraphCreate", func() Code { return c.api.GraphCreate(&g.graph) }); err != nil {
		return err
	}
	err := g.add()
	if err == nil {
		err = c.call("cuGraphInstantiate", func() Code { return c.api.GraphInstantiate(&g.exec, g.graph) })
	}
	if err != nil {
		return errors.Join(err, g.Close())
	}
	return nil
}

// add makes a chain of nodes.
func (g *Graph) add() error {
	g.nodes = make([]NodeID, len(g.launches))
	last := &chainEnd{graph: g}
	if err := last.event(0); err != nil {
		return err
	}
	for i, l := range g.launches {
		err := last.add("cuGraphAddKernelNode "+l.function.Name, func(n, after *NodeID, count int) Code {
			return g.context.api.GraphAddKernelNode(n, g.graph, after, count, &l.params)
		})
		runtime.KeepAlive(l)
		if err != nil {
			return err
		}
		g.nodes[i] = *last.node
		if err := last.event(i + 1); err != nil {
			return err
		}
	}
	return nil
}

// chainEnd is the last node of a graph that grows.
type chainEnd struct {
	graph *Graph
	node  *NodeID // nil: there is none
}

func (x *chainEnd) add(call string, add func(n, after *NodeID, count int) Code) error {
	n, count := new(NodeID), 1
	if x.node == nil {
		count = 0
	}
	err := x.graph.context.call(call, func() Code { return add(n, x.node, count) })
	x.node = n
	return err
}

// event adds an event of the graph, if it has any.
func (x *chainEnd) event(i int) error {
	g := x.graph
	if len(g.events) == 0 {
		return nil
	}
	return x.add("cuGraphAddEventRecordNode", func(n, after *NodeID, count int) Code {
		return g.context.api.GraphAddEventRecordNode(n, g.graph, after, count, g.events[i].id)
	})
}

// Update has later runs take the arguments that a launch has now. No run is on
// its way.
func (g *Graph) Update(i int) error {
	c, l := g.context, g.launches[i]
	if err := c.enter(); err != nil {
		return err
	}
	defer c.leave()
	code := c.api.GraphExecKernelSetParams(g.exec, g.nodes[i], &l.params)
	runtime.KeepAlive(l)
	return c.check(code, "cuGraphExecKernelNodeSetParams")
}

// Fetch is memory that is copied to the host behind a graph: as many bytes as To
// has.
type Fetch struct {
	To   *Host
	From *Memory
}

// CallGraphLaunch is the call of errors of Run that come before anything has started.
const CallGraphLaunch = "cuGraphLaunch"

// Run starts the graph on a stream, behind it a copy if f is not nil, and waits for
// all that was started there.
func (g *Graph) Run(s *Stream, f *Fetch) error {
	if f != nil {
		if err := f.From.within(0, len(f.To.Bytes), "cuMemcpyDtoH"); err != nil {
			return err
		}
	}
	c := g.context
	if err := c.enter(); err != nil {
		return err
	}
	defer c.leave()
	if err := c.check(c.api.GraphLaunch(g.exec, s.id), CallGraphLaunch); err != nil {
		return err
	}
	if f != nil {
		code := c.api.MemcpyDtoHAsync(unsafe.Pointer(&f.To.Bytes[0]), f.From.Pointer, len(f.To.Bytes), s.id)
		if err := c.check(code, "cuMemcpyDtoH"); err != nil {
			return errors.Join(err, s.synchronize())
		}
	}
	return s.synchronize()
}

// Close gives the graph back; no run is on its way.
func (g *Graph) Close() error {
	if g.closed.Swap(true) {
		return ErrClosed
	}
	c := g.context
	var err error
	if g.exec != 0 {
		err = c.give("cuGraphExecDestroy", func() Code { return c.api.GraphExecDestroy(g.exec) })
	}
	return errors.Join(err, c.drop("cuGraphDestroy", func() Code { return c.api.GraphDestroy(g.graph) }))
}
