// Package opencl runs programs on devices that a driver of OpenCL finds: as
// OpenCL C that the driver compiles, one source for a program.
package opencl

import (
	"errors"
	"sync"

	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/opencl/cl"
	"github.com/sinterml/sinter/internal/diskcache"
	"github.com/sinterml/sinter/internal/emit/cstyle"
	"github.com/sinterml/sinter/internal/emit/entry"
)

// New opens a device. Compiled programs are kept in a cache, if not nil.
func New(api *cl.API, d *cl.Device, kept *diskcache.Cache) (*launch.Device, error) {
	return open(api, d, shapeOf(d), buildOptions(d), kept)
}

func open(api *cl.API, d *cl.Device, shape entry.Shape, options string, kept *diskcache.Cache) (*launch.Device, error) {
	c, err := api.NewContext(d)
	if err != nil {
		return nil, err
	}
	q, err := c.NewQueue(false)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return launch.New(&backend{context: c, queue: q, style: styleOf(shape), options: options}, launch.Options{Kind: "opencl", Shape: shape, Units: d.Units, Kept: kept})
}

// backend is a context with a queue in order, through which all runs and copies
// go.
type backend struct {
	context   *cl.Context
	queue     *cl.Queue
	style     *cstyle.Style
	options   string     // of the driver's compiler
	enqueuing sync.Mutex // the kernels of one run follow each other
}

// buildOptions ask for exact arithmetic. Nothing is contracted: the program
// says so itself. PoCL would print to standard error how many warnings it has,
// which are about style.
func buildOptions(d *cl.Device) string {
	o := "-cl-std=CL1.2 -w"
	if d.F32.ExactDivSqrt {
		o += " -cl-fp32-correctly-rounded-divide-sqrt"
	}
	return o
}

func (b *backend) Alloc(n int) (launch.Memory, error) { return memory(b.context.Alloc(n, false)) }

func (b *backend) Import(p []byte) (launch.Memory, error) { return memory(b.context.Use(p)) }

// memory is nil where there is an error.
func memory(m *cl.Memory, err error) (launch.Memory, error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (b *backend) Write(to launch.Memory, offset int, p []byte) error {
	return b.queue.Write(to.(*cl.Memory), offset, p)
}

func (b *backend) Read(p []byte, from launch.Memory, offset int) error {
	return b.queue.Read(p, from.(*cl.Memory), offset)
}

func (b *backend) Copy(to, from launch.Memory, n int) error {
	return b.queue.Copy(to.(*cl.Memory), 0, from.(*cl.Memory), 0, n)
}

func (b *backend) Zero(m launch.Memory, n int) error { return b.queue.Zero(m.(*cl.Memory), 0, n) }

func (b *backend) Close() error {
	return errors.Join(b.queue.Finish(), b.queue.Close(), b.context.Close())
}

func (b *backend) Emit(kernels []*entry.Kernel) (*launch.Code, error) {
	p, err := b.style.Write(kernels)
	if err != nil {
		return nil, err
	}
	return &launch.Code{Text: p.Source, Args: p.Args}, nil
}

func (b *backend) Build(c *launch.Code) (launch.Program, error) {
	p, err := b.context.Build(c.Text, b.options)
	if err != nil {
		return nil, err
	}
	return &program{b, p}, nil
}

// Identity is that of compiled programs.
func (b *backend) Identity() []string {
	d := b.context.Device
	return []string{d.UUID, d.PCI, d.Vendor, d.Name, d.Platform, d.Version, d.Driver, b.options}
}

func (b *backend) Compiled(p launch.Program) ([]byte, error) { return p.(*program).Binary() }

func (b *backend) Restore(_ *launch.Code, compiled []byte) (launch.Program, error) {
	p, err := b.context.BuildBinary(compiled, b.options)
	if err != nil {
		return nil, err
	}
	return &program{b, p}, nil
}

type program struct {
	backend *backend
	*cl.Program
}

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
		k, err := p.Kernel(l.Kernel.Entry)
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
func (r *recording) Run() error {
	marker, err := r.enqueue()
	if err != nil {
		return err
	}
	return errors.Join(r.backend.queue.Flush(), marker.Wait(), marker.Close())
}

func (r *recording) enqueue() (*cl.Event, error) {
	b := r.backend
	b.enqueuing.Lock()
	defer b.enqueuing.Unlock()
	for _, l := range r.launches {
		if err := b.queue.Enqueue(l); err != nil {
			return nil, errors.Join(err, b.queue.Finish())
		}
	}
	return b.queue.Marker()
}

func (r *recording) Close() error {
	var err error
	for _, k := range r.kernels {
		err = errors.Join(err, k.Close())
	}
	return err
}
