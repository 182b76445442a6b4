// Package hip runs programs on AMD's GPUs: as HIP C++ that the driver's compiler
// compiles, one source for a program.
package hip

import (
	"errors"

	"github.com/sinterml/sinter/internal/device/hip/hiprt"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/diskcache"
	"github.com/sinterml/sinter/internal/emit/cstyle"
	"github.com/sinterml/sinter/internal/emit/entry"
)

// New opens a device. Compiled programs are kept in a cache, if not nil.
func New(api *hiprt.API, d *hiprt.Device, kept *diskcache.Cache) (*launch.Device, error) {
	c, err := api.NewContext(d)
	if err != nil {
		return nil, err
	}
	b, err := newBackend(api, c)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return launch.New(b, launch.Options{Kind: "hip", Shape: shapeOf(d), Units: d.Units, Kept: kept})
}

// shapeOf leaves half of the shared memory of a compute unit to a second group.
func shapeOf(d *hiprt.Device) entry.Shape {
	const (
		items  = 256
		widest = 8 // bytes of an element of a product
	)
	s := entry.Shape{Items: items, Near: d.Shared / 2, Shared: d.Shared, Flat: items}
	s.Product, s.Tiles = cstyle.GemmForGroups, entry.GroupTiles(s.Items, s.Near/widest)
	return s
}

// backend is a device with a stream for what comes from the host, one for what
// goes there, and one for each run at a time.
type backend struct {
	api      *hiprt.API
	context  *hiprt.Context
	up, down *hiprt.Stream
	runs     *launch.Streams[*hiprt.Stream]
}

func newBackend(api *hiprt.API, c *hiprt.Context) (*backend, error) {
	b := &backend{api: api, context: c, runs: launch.NewStreams(c.NewStream)}
	var err error
	if b.up, err = c.NewStream(); err != nil {
		return nil, err
	}
	if b.down, err = c.NewStream(); err != nil {
		return nil, errors.Join(err, b.up.Close())
	}
	return b, nil
}

func (b *backend) Alloc(n int) (launch.Memory, error) {
	m, err := b.context.Alloc(n)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Import leaves it to a copy: the bus is slower than the device's memory.
func (b *backend) Import([]byte) (launch.Memory, error) { return nil, nil }

func (b *backend) Write(to launch.Memory, offset int, p []byte) error {
	return b.up.Write(to.(*hiprt.Memory), offset, p)
}

func (b *backend) Read(p []byte, from launch.Memory, offset int) error {
	return b.down.Read(p, from.(*hiprt.Memory), offset)
}

func (b *backend) Copy(to, from launch.Memory, n int) error {
	return b.on(func(s *hiprt.Stream) error { return s.Copy(to.(*hiprt.Memory), from.(*hiprt.Memory), n) })
}

func (b *backend) Zero(m launch.Memory, n int) error {
	return b.on(func(s *hiprt.Stream) error { return s.Zero(m.(*hiprt.Memory), n) })
}

// on does something on a stream that nobody uses.
func (b *backend) on(do func(s *hiprt.Stream) error) error {
	s, err := b.runs.Take()
	if err != nil {
		return err
	}
	defer b.runs.Give(s)
	return do(s)
}

func (b *backend) Close() error {
	return errors.Join(b.up.Close(), b.down.Close(), b.runs.Close(), b.context.Close())
}

func (b *backend) Emit(kernels []*entry.Kernel) (*launch.Code, error) {
	p, err := cstyle.HIP.Write(kernels)
	if err != nil {
		return nil, err
	}
	return &launch.Code{Text: p.Source, Args: p.Args}, nil
}

func (b *backend) Build(c *launch.Code) (launch.Program, error) {
	code, err := b.api.Compile(b.context.Device, c.Text, cstyle.HIPOptions)
	if err != nil {
		return nil, err
	}
	return b.Restore(c, code)
}

// Identity is that of compiled programs. HIP tells no UUID in every version, and
// code depends on the architecture with its features, which is here.
func (b *backend) Identity() []string {
	d := b.context.Device
	return append([]string{d.PCI, d.Name, d.Arch, d.Driver, d.Compiler}, cstyle.HIPOptions...)
}

func (b *backend) Compiled(p launch.Program) ([]byte, error) { return p.(*program).code, nil }

func (b *backend) Restore(_ *launch.Code, compiled []byte) (launch.Program, error) {
	m, err := b.context.Load(compiled)
	if err != nil {
		return nil, err
	}
	return &program{b, m, compiled}, nil
}

type program struct {
	backend *backend
	*hiprt.Module
	code []byte
}

// recording keeps the arguments of each launch where HIP reads them.
type recording struct {
	backend  *backend
	launches []*hiprt.Launch
}

func (p *program) Record(launches []launch.Launch) (launch.Recording, error) {
	r := &recording{backend: p.backend}
	for _, l := range launches {
		k, err := p.Launch(l.Kernel.Entry, l.Groups, l.Items, len(l.Args))
		if err != nil {
			return nil, err
		}
		r.launches = append(r.launches, k)
	}
	return r, nil
}

func (r *recording) SetMemory(at, arg int, m launch.Memory) error {
	mem, _ := m.(*hiprt.Memory)
	r.launches[at].SetMemory(arg, mem)
	return nil
}

func (r *recording) SetInt(at, arg int, n int64) error {
	r.launches[at].SetInt(arg, n)
	return nil
}

func (r *recording) Run() error { return r.run(nil, nil) }

func (r *recording) RunAndRead(p []byte, from launch.Memory) error {
	return r.run(p, from.(*hiprt.Memory))
}

func (r *recording) run(p []byte, from *hiprt.Memory) error {
	return r.backend.on(func(s *hiprt.Stream) error {
		begun, err := s.Run(r.launches, p, from)
		if begun {
			err = launch.Begun(err)
		}
		return err
	})
}

func (r *recording) Close() error { return nil }
