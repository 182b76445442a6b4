package metal

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/metal/mtl"
	"github.com/sinterml/sinter/internal/emit/cstyle"
	"github.com/sinterml/sinter/internal/emit/entry"
)

type program struct {
	backend *backend
	id      mtl.ID // a library
	closed  atomic.Bool
}

func (p *program) Close() error {
	if p.closed.Swap(true) {
		return errClosed
	}
	p.backend.api.Release(p.id)
	return nil
}

// recording is the launches of a plan, which each run encodes anew: a command
// buffer of Metal runs once.
type recording struct {
	backend  *backend
	launches []*mtl.Launch
	places   [][]int // of each argument: its place among the buffers or the numbers
}

// ErrDevice is a run that the device did not finish.
var ErrDevice = errors.New("the device failed")

func (p *program) Record(launches []launch.Launch) (launch.Recording, error) {
	r := &recording{backend: p.backend}
	for _, l := range launches {
		k, places, err := p.prepare(l)
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		r.launches, r.places = append(r.launches, k), append(r.places, places)
	}
	return r, nil
}

// prepare makes a pipeline, and room for the arguments.
func (p *program) prepare(l launch.Launch) (*mtl.Launch, []int, error) {
	b := p.backend
	buffers, numbers, places := 0, 0, make([]int, len(l.Args))
	for i, a := range l.Args {
		if a.Kind == entry.ArgBuffer {
			places[i] = buffers
			buffers++
		} else {
			places[i] = numbers
			numbers++
		}
	}
	pipeline, items, wrong := b.api.Pipeline(b.device.ID, p.id, l.Kernel.Entry)
	if wrong != "" {
		return nil, nil, &BuildError{b.device.Name, wrong}
	}
	if items < l.Items {
		b.api.Release(pipeline)
		return nil, nil, fmt.Errorf("kernel %s: groups of %d work-items, and %s runs %d", l.Kernel.Entry, l.Items, b.device.Name, items)
	}
	n := cstyle.Metal.Direct(buffers)
	return &mtl.Launch{
		Pipeline: pipeline, Groups: l.Groups, Items: l.Items, Buffers: make([]mtl.ID, n),
		Far: make([]mtl.ID, buffers-n), Addresses: make([]uint64, buffers-n), Numbers: make([]int64, numbers),
	}, places, nil
}

func (r *recording) SetMemory(at, arg int, m launch.Memory) error {
	var id mtl.ID
	if mem, ok := m.(*memory); ok {
		id = mem.id
	}
	l, place := r.launches[at], r.places[at][arg]
	if place < len(l.Buffers) {
		l.Buffers[place] = id
		return nil
	}
	place -= len(l.Buffers)
	l.Far[place], l.Addresses[place] = id, 0
	if id == 0 {
		return nil
	}
	if l.Addresses[place] = r.backend.api.Address(id); l.Addresses[place] == 0 {
		return fmt.Errorf("metal: a kernel of %d buffers needs macOS 13 or later", len(l.Buffers)+len(l.Far))
	}
	return nil
}

func (r *recording) SetInt(at, arg int, n int64) error {
	r.launches[at].Numbers[r.places[at][arg]] = n
	return nil
}

// Run runs all kernels as one command buffer.
func (r *recording) Run() error {
	if len(r.launches) == 0 {
		return nil
	}
	b := r.backend
	b.using.RLock()
	defer b.using.RUnlock()
	if wrong := b.api.Run(b.queue, r.launches); wrong != "" {
		return fmt.Errorf("metal: %w: %s: %s", ErrDevice, b.device.Name, wrong)
	}
	return nil
}

func (r *recording) Close() error {
	for _, l := range r.launches {
		r.backend.api.Release(l.Pipeline)
	}
	return nil
}
