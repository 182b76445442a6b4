// Package opencl runs programs on devices that a driver of OpenCL finds: as
// OpenCL C that the driver compiles, one source for a program.
package opencl

import (
	"errors"
	"os"

	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/opencl/cl"
	"github.com/sinterml/sinter/internal/diskcache"
	"github.com/sinterml/sinter/internal/emit/cstyle"
	"github.com/sinterml/sinter/internal/emit/entry"
)

// New opens a device. Compiled programs are kept in a cache, if not nil, unless the
// driver keeps them itself.
func New(api *cl.API, d *cl.Device, kept *diskcache.Cache) (*launch.Device, error) {
	if keeps(d) {
		kept = nil
	}
	return open(api, d, shapeOf(d), buildOptions(d), kept)
}

// keeps tells whether a driver keeps what it compiled. PoCL does, and to hand out
// a program it compiles all kernels once more, for groups of any size.
func keeps(d *cl.Device) bool {
	return d.Platform == "Portable Computing Language" && os.Getenv("POCL_KERNEL_CACHE") != "0"
}

func open(api *cl.API, d *cl.Device, shape entry.Shape, options string, kept *diskcache.Cache) (*launch.Device, error) {
	c, err := api.NewContext(d)
	if err != nil {
		return nil, err
	}
	b, err := newBackend(c, shape, options)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return launch.New(b, launch.Options{Kind: "opencl", Shape: shape, Units: d.Units, Kept: kept})
}

// backend is a context, which it owns, with queues in order: one for what comes
// from the host, one for what goes there, and one for each run at a time.
type backend struct {
	context  *cl.Context
	up, down *cl.Queue
	runs     *launch.Streams[*cl.Queue]
	timed    *launch.Streams[*cl.Queue] // for runs that are
	style    *cstyle.Style
	options  string // of the driver's compiler
}

func newBackend(c *cl.Context, shape entry.Shape, options string) (*backend, error) {
	queue := func() (*cl.Queue, error) { return c.NewQueue(false) }
	b := &backend{context: c, runs: launch.NewStreams(queue), timed: launch.NewStreams(func() (*cl.Queue, error) { return c.NewQueue(true) }), style: styleOf(shape), options: options}
	var err error
	if b.up, err = queue(); err != nil {
		return nil, err
	}
	if b.down, err = queue(); err != nil {
		return nil, errors.Join(err, b.up.Close())
	}
	return b, nil
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
	return b.up.Write(to.(*cl.Memory), offset, p)
}

func (b *backend) Read(p []byte, from launch.Memory, offset int) error {
	return b.down.Read(p, from.(*cl.Memory), offset)
}

func (b *backend) Copy(to, from launch.Memory, n int) error {
	return b.on(func(q *cl.Queue) error { return q.Copy(to.(*cl.Memory), 0, from.(*cl.Memory), 0, n) })
}

func (b *backend) Zero(m launch.Memory, n int) error {
	return b.on(func(q *cl.Queue) error { return q.Zero(m.(*cl.Memory), 0, n) })
}

// on enqueues something where nobody else does, and waits for it.
func (b *backend) on(enqueue func(q *cl.Queue) error) error {
	q, err := b.runs.Take()
	if err != nil {
		return err
	}
	defer b.runs.Give(q)
	return errors.Join(enqueue(q), q.Finish())
}

func (b *backend) Close() error {
	return errors.Join(b.up.Close(), b.down.Close(), b.runs.Close(), b.timed.Close(), b.context.Close())
}

func (b *backend) Emit(kernels []*entry.Kernel) (*launch.Code, error) {
	p, err := b.style.Write(kernels)
	if err != nil {
		return nil, err
	}
	return &launch.Code{Text: p.Source, Args: p.Args, Shared: p.Shared}, nil
}

func (b *backend) Build(c *launch.Code) (launch.Program, error) {
	p, err := b.context.Build(c.Text, b.options)
	if err != nil {
		return nil, err
	}
	return &program{b, p, c.Shared}, nil
}

// Identity is that of compiled programs.
func (b *backend) Identity() []string {
	d := b.context.Device
	return []string{d.UUID, d.PCI, d.Vendor, d.Name, d.Platform, d.Version, d.Driver, b.options}
}

func (b *backend) Compiled(p launch.Program) ([]byte, error) { return p.(*program).Binary() }

func (b *backend) Restore(c *launch.Code, compiled []byte) (launch.Program, error) {
	p, err := b.context.BuildBinary(compiled, b.options)
	if err != nil {
		return nil, err
	}
	return &program{b, p, c.Shared}, nil
}

type program struct {
	backend *backend
	*cl.Program
	shared map[string]entry.Member
}

// kernel makes the driver's object of a launch.
func (p *program) kernel(l launch.Launch) (*cl.Kernel, error) {
	s, is := p.shared[l.Kernel.Entry]
	if !is {
		return p.Kernel(l.Kernel.Entry)
	}
	k, err := p.Kernel(s.Of)
	if err != nil {
		return nil, err
	}
	if err := k.SetInt64(len(l.Args), int64(s.Number)); err != nil {
		return nil, errors.Join(err, k.Close())
	}
	return k, nil
}
