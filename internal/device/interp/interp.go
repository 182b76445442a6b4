// Package interp is the referee: a device that evaluates a graph as captured,
// before any pass, one plain loop an operation, in the operation's dtype. Other
// devices are tested against it; it is no path for users.
//
// Every floating-point sum (sums, products of matrices, convolutions,
// attention) is accumulated in float64 and rounded once, so that the referee
// is more accurate than what it judges. Evaluate can keep beside every value
// a bound on how far a correct device may be from the exact result.
package interp

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
)

// Device is the referee as a device. The zero value is ready for use.
type Device struct {
	closed atomic.Bool
	mu     sync.Mutex
	stats  device.MemStats
}

var (
	_ device.Device   = (*Device)(nil)
	_ device.Compiler = (*Device)(nil)
)

// New returns a referee.
func New() *Device { return &Device{} }

// module is a graph kept as it is.
type module struct {
	graph  *ir.Graph
	closed atomic.Bool
}

// Info counts one kernel a node; none is generated code.
func (m *module) Info() device.Info {
	info := device.Info{Kernels: len(m.graph.Nodes)}
	for _, n := range m.graph.Nodes {
		info.Generic = append(info.Generic, n.Op.String())
	}
	return info
}

func (m *module) Close() error {
	if m.closed.Swap(true) {
		return device.ErrClosed
	}
	return nil
}

// CompileGraph keeps the graph. There are no passes, so options that choose
// among them change nothing.
func (d *Device) CompileGraph(ctx context.Context, g *ir.Graph, o device.Options) (device.Module, error) {
	if d.closed.Load() {
		return nil, device.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if o.Trace != nil {
		o.Trace("captured", g.String())
	}
	return &module{graph: g}, nil
}

// finished is the event of a run that ended within Submit.
type finished struct{ err error }

func (f finished) Wait(context.Context) error { return f.err }

// Submit runs the whole graph before it returns, so that runs are in the order
// they were submitted in. What goes wrong while running is the event's error.
func (d *Device) Submit(ctx context.Context, b *device.Bound) (device.Event, error) {
	if d.closed.Load() {
		return nil, device.ErrClosed
	}
	m, ok := b.Module.(*module)
	if !ok {
		return nil, fmt.Errorf("interp: the module is a %T, compiled for another device", b.Module)
	}
	if m.closed.Load() {
		return nil, device.ErrClosed
	}
	leaves := make([][]byte, len(b.Leaves))
	for i, buf := range b.Leaves {
		if buf == nil {
			return nil, fmt.Errorf("interp: leaf %d is not bound", i)
		}
		if leaves[i] = buf.Bytes(); leaves[i] == nil && buf.Size() > 0 {
			return nil, fmt.Errorf("interp: leaf %d lies in memory that the host cannot read", i)
		}
	}
	r, err := newRun(m.graph, b.Env, leaves)
	if err != nil {
		return nil, err
	}
	if len(b.Outputs) != len(m.graph.Outputs) {
		return nil, fmt.Errorf("interp: %d output buffers for %d outputs", len(b.Outputs), len(m.graph.Outputs))
	}
	for i, buf := range b.Outputs {
		if buf == nil {
			return nil, fmt.Errorf("interp: output %d is not bound", i)
		}
	}
	var outs []*value
	err = jit.Protect(func() (err error) { // leaves may lie in a mapped file, and that be gone
		outs, err = r.evaluate(ctx)
		return err
	})
	if err != nil {
		return finished{err}, nil
	}
	for i, v := range outs {
		if dst := b.Outputs[i].Bytes(); len(dst) != len(v.data) {
			return nil, fmt.Errorf("interp: the buffer of output %d has %d bytes, the output %d", i, len(dst), len(v.data))
		}
	}
	// Written only now: a run that fails leaves every output as it was.
	for i, v := range outs {
		copy(b.Outputs[i].Bytes(), v.data)
	}
	return finished{}, nil
}

// Close makes all later calls fail. Buffers stay valid until they are closed.
func (d *Device) Close() error {
	if d.closed.Swap(true) {
		return device.ErrClosed
	}
	return nil
}

// Evaluate runs g on leaves, numbered as in g.Leaves, and returns each output
// in its dtype with a bound for each element: an upper limit, to first order,
// of how far from the exact value any device may be that rounds each operation
// as docs/ops.md allows, in whatever order it sums. Two devices so differ by
// twice the bound at most. +Inf says that nothing can be promised: the inputs
// of a comparison or a rounding are closer than their errors.
func Evaluate(ctx context.Context, g *ir.Graph, env ir.Env, leaves [][]byte) (outputs [][]byte, bounds [][]float64, err error) {
	r, err := newRun(g, env, leaves)
	if err != nil {
		return nil, nil, err
	}
	r.bounds = true
	outs, err := r.evaluate(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, v := range outs {
		outputs = append(outputs, v.data)
		if v.err == nil {
			v.err = make([]float64, v.len())
		}
		bounds = append(bounds, v.err)
	}
	return outputs, bounds, nil
}
