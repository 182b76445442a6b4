// Package cuda runs programs on NVIDIA's GPUs: as PTX, which their driver
// compiles, and in graphs of launches. Nothing of the CUDA toolkit is needed.
package cuda

import (
	"errors"
	"strconv"

	"github.com/sinterml/sinter/internal/device/cuda/cu"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/diskcache"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/ptx"
)

// New opens a GPU. Compiled programs are kept in a cache, if not nil.
func New(api *cu.API, d *cu.Device, kept *diskcache.Cache) (*launch.Device, error) {
	b, err := newBackend(api, d)
	if err != nil {
		return nil, err
	}
	return launch.New(b, launch.Options{Kind: "cuda", Shape: b.target.Shape(), Units: d.Units, Kept: kept})
}

// backend is a context. What comes from the host and what goes there have a
// stream each, every run at a time has one of its own, and all is waited for.
type backend struct {
	api      *cu.API
	context  *cu.Context
	target   ptx.Target
	up, down *cu.Stream
	runs     *launch.Streams[*cu.Stream]
}

func newBackend(api *cu.API, d *cu.Device) (*backend, error) {
	version, err := api.Version()
	if err != nil {
		return nil, err
	}
	target, err := ptx.TargetFor(d.Major, d.Minor, version)
	if err != nil {
		return nil, err
	}
	target.NoMaps = api.TensorMapEncodeTiled == nil
	c, err := api.NewContext(d)
	if err != nil {
		return nil, err
	}
	b := &backend{api: api, context: c, target: target, runs: launch.NewStreams(c.NewStream)}
	if b.up, err = c.NewStream(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if b.down, err = c.NewStream(); err != nil {
		return nil, errors.Join(err, b.up.Close(), c.Close())
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

// Cached, SetLimit and Trim are about the driver's pool of memory.
func (b *backend) Cached() int64          { return b.context.Cached() }
func (b *backend) SetLimit(n int64) error { return b.context.SetLimit(n) }
func (b *backend) Trim() error            { return b.context.Trim() }

// Import has everything copied: the GPU reads the host's memory at a hundredth
// of the speed of its own.
func (b *backend) Import([]byte) (launch.Memory, error) { return nil, nil }

func (b *backend) Write(to launch.Memory, offset int, p []byte) error {
	return b.up.Write(to.(*cu.Memory), offset, p)
}

func (b *backend) Read(p []byte, from launch.Memory, offset int) error {
	return b.down.Read(p, from.(*cu.Memory), offset)
}

func (b *backend) Copy(to, from launch.Memory, n int) error {
	return b.on(func(s *cu.Stream) error { return s.Copy(to.(*cu.Memory), 0, from.(*cu.Memory), 0, n) })
}

func (b *backend) Zero(m launch.Memory, n int) error {
	return b.on(func(s *cu.Stream) error { return s.Zero(m.(*cu.Memory), 0, n) })
}

// on starts something on a stream that nobody uses, and waits for it.
func (b *backend) on(start func(s *cu.Stream) error) error {
	s, err := b.runs.Take()
	if err != nil {
		return err
	}
	defer b.runs.Give(s)
	return errors.Join(start(s), s.Wait())
}

// Close gives the streams back, but those of runs that have not ended: these
// give them back themselves.
func (b *backend) Close() error {
	return errors.Join(b.up.Close(), b.down.Close(), b.runs.Close(), b.context.Close())
}

func (b *backend) Emit(kernels []*entry.Kernel) (*launch.Code, error) {
	p, err := ptx.Write(b.target, kernels)
	if err != nil {
		return nil, err
	}
	return &launch.Code{Text: p.Source, Args: p.Args}, nil
}

// Build compiles to code that other processes can take up. A driver that does not
// do that compiles while it loads, and says then what is wrong with a program.
func (b *backend) Build(c *launch.Code) (launch.Program, error) {
	code, err := b.context.Compile(c.Text)
	if err == nil {
		if p, err := b.Restore(c, code); err == nil {
			return p, nil
		}
	}
	m, err := b.context.Load(c.Text)
	if err != nil {
		return nil, err
	}
	return &program{backend: b, Module: m}, nil
}

// Identity is that of compiled programs.
func (b *backend) Identity() []string {
	d := b.context.Device
	return []string{d.UUID, d.PCI, d.Name, strconv.Itoa(d.Capability()), b.api.DriverText()}
}

func (b *backend) Compiled(p launch.Program) ([]byte, error) { return p.(*program).code, nil }

func (b *backend) Restore(_ *launch.Code, compiled []byte) (launch.Program, error) {
	m, err := b.context.LoadCode(compiled)
	if err != nil {
		return nil, err
	}
	return &program{backend: b, Module: m, code: compiled}, nil
}
