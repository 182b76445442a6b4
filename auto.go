package sinter

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/trial"
	"github.com/sinterml/sinter/internal/ir"
)

// openBest opens the best device: the first by kind that is no slower than the
// processor at one product, as it was measured once and kept on disk. One that
// cannot be opened or timed is passed over, as nobody asked for it.
func openBest(o DeviceOptions) (*Device, error) {
	var errs []error
	for _, e := range device.Ranked(entries()) {
		dev, err := OpenWith(e.Name, o)
		if err == nil && e.Kind != "cpu" && !keepsUp(dev, e) {
			err = dev.Close()
			dev = nil
		}
		if dev != nil && err == nil {
			return dev, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// keepsUp tells whether a device is no slower than the processor.
func keepsUp(d *Device, e device.Entry) bool {
	ctx := context.Background()
	product, err := trial.Default().Speed(ctx, e.Kind, e.Properties, d.dev)
	if err != nil {
		return false
	}
	fast, _, err := trial.Default().KeepsUp(ctx, product)
	return fast && err == nil
}

// standing is a device that runs what names none. It is opened when it is first
// needed, and never closed.
type standing struct {
	open   func() (*Device, error)
	mu     sync.Mutex
	device *Device
}

// get opens the device where there is none yet, or the one there was has failed.
// What ran on that, and what lies there, is not moved: it ends with its error. An
// error of opening is not kept.
func (s *standing) get() (*Device, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.device != nil && !s.device.failed() {
		return s.device, nil
	}
	var err error
	s.device, err = s.open()
	return s.device, err
}

// onProcessor is the device on which small programs run where none is asked for.
var onProcessor = standing{open: func() (*Device, error) { return Open("cpu") }}

func processor() (*Device, error) { return onProcessor.get() }

// started says that the best device has been opened.
var started atomic.Bool

// onBest is the best device.
var onBest = standing{open: func() (*Device, error) {
	defer started.Store(true)
	d, err := Open("auto")
	if err != nil || d.Name() != "cpu" {
		return d, err
	}
	return processor() // of which there is one already, with its programs
}}

func bestDevice() (*Device, error) { return onBest.get() }

// deviceFor is the device of a program for which none was asked: the best, but
// for what the processor has done before a GPU would have begun. Without drivers
// of GPUs there is nothing to weigh.
func deviceFor(g *ir.Graph) (*Device, error) {
	if !slices.ContainsFunc(device.Registered(), func(d device.Driver) bool { return d.External }) {
		return bestDevice()
	}
	limit := device.StartTime
	if started.Load() {
		limit = device.LaunchTime
	}
	if work, ok := workOf(g); ok && device.Short(work, limit) {
		return processor()
	}
	return bestDevice()
}

// workOf is how many elements and multiply-adds a graph computes; false where
// sizes are not known yet.
func workOf(g *ir.Graph) (float64, bool) {
	total := 0.0
	for _, n := range g.Nodes {
		elements, ok := n.Shape.Numel().Const()
		if !ok {
			return 0, false
		}
		work := float64(elements)
		for _, in := range n.In {
			read, ok := in.Shape.Numel().Const()
			if !ok {
				return 0, false
			}
			work = max(work, float64(read))
		}
		switch n.Op {
		case ir.MatMul:
			k, _ := n.In[0].Shape[len(n.In[0].Shape)-1].Const()
			work = max(work, float64(elements)*float64(k))
		case ir.Conv, ir.Attention, ir.AttentionGrad, ir.Sort: // more than their operands tell
			return 0, false
		}
		total += work
	}
	return total, true
}
