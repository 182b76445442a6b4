package opencl

import (
	"errors"
	"runtime"

	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/opencl/cl"
)

// recording is a kernel of the driver for each launch, which keeps its
// arguments.
type recording struct {
	backend  *backend
	kernels  []*cl.Kernel
	launches []*cl.Launch
}

func (p *program) Record(launches []launch.Launch) (launch.Recording, error) {
	r := &recording{backend: p.backend}
	for _, l := range launches {
		k, err := p.kernel(l)
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		r.kernels = append(r.kernels, k)
		ranges, err := cl.NewLaunch(k, []int{l.Groups * l.Items}, []int{l.Items})
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		r.launches = append(r.launches, ranges)
	}
	return r, nil
}

func (r *recording) SetMemory(at, arg int, m launch.Memory) error {
	mem, _ := m.(*cl.Memory)
	return r.kernels[at].SetMemory(arg, mem)
}

func (r *recording) SetInt(at, arg int, n int64) error { return r.kernels[at].SetInt64(arg, n) }

// Run enqueues the kernels one after another and waits for the last.
func (r *recording) Run() error { return r.run(nil, nil) }

// RunAndRead waits for the copy behind them.
func (r *recording) RunAndRead(p []byte, from launch.Memory) error {
	var pin runtime.Pinner // the driver writes it while nobody is in a call that has it
	pin.Pin(&p[0])
	defer pin.Unpin()
	return r.run(p, from.(*cl.Memory))
}

func (r *recording) run(p []byte, from *cl.Memory) error {
	q, err := r.backend.runs.Take()
	if err != nil {
		return err
	}
	defer r.backend.runs.Give(q)
	marker, err := r.enqueue(q, p, from)
	if err != nil {
		return errors.Join(err, q.Finish())
	}
	err = errors.Join(q.Flush(), marker.Wait())
	if err != nil {
		err = errors.Join(err, q.Finish())
	}
	return launch.Begun(errors.Join(err, marker.Close()))
}

func (r *recording) enqueue(q *cl.Queue, p []byte, from *cl.Memory) (*cl.Event, error) {
	for i, l := range r.launches {
		if err := q.Enqueue(l); err != nil {
			if i > 0 {
				err = launch.Begun(err)
			}
			return nil, err
		}
	}
	if from != nil {
		if err := q.EnqueueRead(p, from, 0); err != nil {
			return nil, launch.Begun(err)
		}
	}
	marker, err := q.Marker()
	return marker, launch.Begun(err)
}

// RunTimed has an event for each kernel, on a queue that notes when these come.
func (r *recording) RunTimed(spans []launch.Span) (err error) {
	if len(r.launches) == 0 {
		return nil
	}
	q, err := r.backend.timed.Take()
	if err != nil {
		return err
	}
	defer r.backend.timed.Give(q)
	var events []*cl.Event
	defer func() {
		for _, e := range events {
			err = errors.Join(err, launch.Begun(e.Close()))
		}
	}()
	for i, l := range r.launches {
		e, failed := q.EnqueueEvent(l)
		if failed != nil {
			if i > 0 {
				failed = launch.Begun(failed)
			}
			return errors.Join(failed, q.Finish())
		}
		events = append(events, e)
	}
	if err := launch.Begun(errors.Join(q.Flush(), events[len(events)-1].Wait())); err != nil {
		return errors.Join(err, q.Finish())
	}
	for i, e := range events {
		if spans[i].Begin, spans[i].End, err = e.Times(); err != nil {
			return launch.Begun(err)
		}
	}
	return nil
}

func (r *recording) Close() error {
	var err error
	for _, k := range r.kernels {
		err = errors.Join(err, k.Close())
	}
	return err
}
