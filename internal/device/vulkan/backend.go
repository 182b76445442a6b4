// Package vulkan runs programs on devices that a driver of Vulkan finds: as
// SPIR-V, a plan in one list of commands that is recorded once.
package vulkan

import (
	"encoding/binary"
	"errors"
	"strconv"

	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/vulkan/vk"
	"github.com/sinterml/sinter/internal/diskcache"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/spirv"
)

// New opens a device. Compiled programs are kept in a cache, if not nil. A device of
// which a result is wrong, and stays so where it should be corrected, is refused.
func New(p *vk.Physical, kept *diskcache.Cache) (*launch.Device, error) {
	return open(p, shapeOf(p), kept, true)
}

func open(p *vk.Physical, s entry.Shape, kept *diskcache.Cache, verify bool) (*launch.Device, error) {
	b, err := newBackend(p, s)
	if err != nil {
		return nil, err
	}
	if verify {
		if err := b.verify(); err != nil {
			return nil, errors.Join(err, b.Close())
		}
	}
	return launch.New(b, launch.Options{Kind: "vulkan", Shape: s, Units: unitsOf(p), MaxGroups: min(maxGroups, p.Groups[0]), Kept: kept})
}

// backend is a device that was opened.
type backend struct {
	device  *vk.Device
	shape   entry.Shape
	options spirv.Options
}

// newBackend opens a device and finds out how it rounds.
func newBackend(p *vk.Physical, s entry.Shape) (*backend, error) {
	d, err := p.Open()
	if err != nil {
		return nil, err
	}
	b := &backend{device: d, shape: s, options: optionsFor(p, s)}
	if err := b.measureRounding(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *backend) Alloc(n int) (launch.Memory, error) {
	m, err := b.device.Alloc(n, vk.Local)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Import has the caller's memory copied.
func (b *backend) Import([]byte) (launch.Memory, error) { return nil, nil }

func (b *backend) Write(to launch.Memory, offset int, p []byte) error {
	return b.device.Write(to.(*vk.Memory), offset, p)
}

func (b *backend) Read(p []byte, from launch.Memory, offset int) error {
	return b.device.Read(p, from.(*vk.Memory), offset)
}

func (b *backend) Copy(to, from launch.Memory, n int) error {
	return b.device.Copy(to.(*vk.Memory), 0, from.(*vk.Memory), 0, n)
}

func (b *backend) Zero(m launch.Memory, n int) error { return b.device.Zero(m.(*vk.Memory), n) }

func (b *backend) Close() error { return b.device.Close() }

// Emit writes each kernel as a module of its own, as drivers read all of a module
// for each of its entry points. Before each come its words as a number.
func (b *backend) Emit(kernels []*entry.Kernel) (*launch.Code, error) {
	c := &launch.Code{}
	for _, k := range kernels {
		p, err := spirv.Write([]*entry.Kernel{k}, b.options)
		if err != nil {
			return nil, err
		}
		c.Args = append(c.Args, p.Args[0])
		c.Binary = binary.LittleEndian.AppendUint32(c.Binary, uint32(len(p.Words)))
		for _, w := range p.Words {
			c.Binary = binary.LittleEndian.AppendUint32(c.Binary, w)
		}
	}
	return c, nil
}

func (b *backend) Build(c *launch.Code) (launch.Program, error) {
	modules, err := modulesOf(c)
	if err != nil {
		return nil, err
	}
	return b.program(b.device.Build(modules, pushBytes))
}

// Identity is that of compiled programs.
func (b *backend) Identity() []string {
	p := b.device.Physical
	return []string{p.UUID, p.PCI, p.Vendor, p.Name, p.Driver, p.Cache, strconv.Itoa(int(p.API))}
}

func (b *backend) Compiled(p launch.Program) ([]byte, error) { return p.(*program).Compiled() }

func (b *backend) Restore(c *launch.Code, compiled []byte) (launch.Program, error) {
	modules, err := modulesOf(c)
	if err != nil {
		return nil, err
	}
	return b.program(b.device.Restore(modules, pushBytes, compiled))
}

func (b *backend) program(p *vk.Program, err error) (launch.Program, error) {
	if err != nil {
		return nil, err
	}
	return &program{backend: b, Program: p}, nil
}

// modulesOf takes what Emit wrote apart.
func modulesOf(c *launch.Code) ([][]uint32, error) {
	words := make([]uint32, len(c.Binary)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(c.Binary[4*i:])
	}
	var modules [][]uint32
	for len(words) > 0 {
		n := 1 + int(words[0])
		if n > len(words) {
			return nil, errors.New("vulkan: a module ends before its end")
		}
		modules = append(modules, words[1:n])
		words = words[n:]
	}
	return modules, nil
}
