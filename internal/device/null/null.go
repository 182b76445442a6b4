// Package null is a device that compiles, checks what it is bound to, counts,
// and runs nothing: it shows what a graph costs before its kernels, and plans
// graphs whose values no machine could hold. Its buffers have a size and no
// bytes, so that reading a result is an error instead of a wrong value.
package null

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cpu"
	"github.com/sinterml/sinter/internal/ir"
)

// Counts are what a device was asked to do since it was made.
type Counts struct {
	Compiled int // graphs
	Runs     int
	Kernels  int // started by these runs, had they run
}

// Device runs nothing. The zero value is ready for use.
type Device struct {
	closed atomic.Bool
	mu     sync.Mutex
	counts Counts
	stats  device.MemStats
}

var (
	_ device.Device   = (*Device)(nil)
	_ device.Compiler = (*Device)(nil)
)

// New returns a device that runs nothing.
func New() *Device { return &Device{} }

// Counts tells what the device was asked to do.
func (d *Device) Counts() Counts {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.counts
}

// module is a graph with the numbers of kernels that it was planned to take.
type module struct {
	graph  *ir.Graph
	info   device.Info
	closed atomic.Bool
}

func (m *module) Info() device.Info { return m.info }

func (m *module) Close() error {
	if m.closed.Swap(true) {
		return device.ErrClosed
	}
	return nil
}

// CompileGraph takes a graph through all stages that need no target: the plan
// is that of the cpu.
func (d *Device) CompileGraph(ctx context.Context, g *ir.Graph, o device.Options) (device.Module, error) {
	if d.closed.Load() {
		return nil, device.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	plan, err := cpu.Plan(g, o)
	if err != nil {
		return nil, err
	}
	m := &module{graph: g}
	for _, k := range plan.Kernels {
		if k.Constant {
			m.info.Constant++
		} else {
			m.info.Kernels++
		}
	}
	d.mu.Lock()
	d.counts.Compiled++
	d.mu.Unlock()
	return m, nil
}

// finished is the event of a run, which has nothing to wait for.
type finished struct{}

func (finished) Wait(context.Context) error { return nil }

// Submit checks sizes and buffers as a device that runs would, and counts.
func (d *Device) Submit(ctx context.Context, b *device.Bound) (device.Event, error) {
	m, ok := b.Module.(*module)
	switch {
	case !ok:
		return nil, fmt.Errorf("null: the module is a %T, compiled for another device", b.Module)
	case d.closed.Load() || m.closed.Load():
		return nil, device.ErrClosed
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	leaves := make([]ir.Type, len(m.graph.Leaves))
	for i, l := range m.graph.Leaves {
		leaves[i] = l.Type
	}
	outputs := make([]ir.Type, len(m.graph.Outputs))
	for i, n := range m.graph.Outputs {
		outputs[i] = n.Type
	}
	err := errors.Join(checkSizes("leaf", leaves, b.Leaves, b.Env), checkSizes("output", outputs, b.Outputs, b.Env))
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.counts.Runs++
	d.counts.Kernels += m.info.Kernels
	return finished{}, nil
}

func checkSizes(what string, types []ir.Type, buffers []device.Buffer, env ir.Env) error {
	if len(buffers) != len(types) {
		return fmt.Errorf("null: %d buffers for %d times %s", len(buffers), len(types), what)
	}
	for i, t := range types {
		sizes, err := t.Shape.Eval(env)
		if err != nil {
			return fmt.Errorf("null: %s %d: %w", what, i, err)
		}
		n := t.DType.Size()
		for _, s := range sizes {
			n *= s
		}
		if buffers[i] == nil || buffers[i].Size() != n {
			return fmt.Errorf("null: %s %d is not bound to its %d bytes", what, i, n)
		}
	}
	return nil
}

// Close makes all later calls fail.
func (d *Device) Close() error {
	if d.closed.Swap(true) {
		return device.ErrClosed
	}
	return nil
}
