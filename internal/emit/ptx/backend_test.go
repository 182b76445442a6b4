package ptx_test

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/ptx"
	"github.com/sinterml/sinter/internal/emit/ptx/ptxsim"
)

// backend runs programs for a target by the interpreter of PTX.
type backend struct {
	target ptx.Target
	memory ptxsim.Memory
}

type memory struct {
	b       *backend
	address uint64
	data    []byte
}

func (m *memory) Close() error { return m.b.memory.Free(m.address) }

func (b *backend) Alloc(n int) (launch.Memory, error) {
	if n > 1<<30 {
		return nil, fmt.Errorf("no room for %d bytes", n)
	}
	at := b.memory.Alloc(n)
	data, err := b.memory.Bytes(at, n)
	return &memory{b, at, data}, err
}

func (b *backend) Import([]byte) (launch.Memory, error) { return nil, nil }

func (b *backend) Write(to launch.Memory, offset int, p []byte) error {
	copy(to.(*memory).data[offset:], p)
	return nil
}

func (b *backend) Read(p []byte, from launch.Memory, offset int) error {
	copy(p, from.(*memory).data[offset:])
	return nil
}

func (b *backend) Copy(to, from launch.Memory, n int) error {
	copy(to.(*memory).data[:n], from.(*memory).data)
	return nil
}

func (b *backend) Zero(m launch.Memory, n int) error {
	clear(m.(*memory).data[:n])
	return nil
}

func (b *backend) Close() error { return nil }

func (b *backend) Emit(kernels []*entry.Kernel) (*launch.Code, error) {
	p, err := ptx.Write(b.target, kernels)
	if err != nil {
		return nil, err
	}
	return &launch.Code{Text: p.Source, Args: p.Args}, nil
}

func (b *backend) Build(c *launch.Code) (launch.Program, error) {
	m, err := ptxsim.Load(c.Text)
	return &program{b, m}, err
}

type program struct {
	b      *backend
	module *ptxsim.Module
}

func (p *program) Close() error { return nil }

func (p *program) Record(all []launch.Launch) (launch.Recording, error) {
	r := &recording{p: p, launches: all}
	for _, l := range all {
		f, err := p.module.Function(l.Kernel.Entry)
		if err != nil {
			return nil, err
		}
		r.functions = append(r.functions, f)
		r.args = append(r.args, make([]byte, 8*len(l.Args)))
	}
	return r, nil
}

type recording struct {
	p         *program
	launches  []launch.Launch
	functions []*ptxsim.Function
	args      [][]byte
}

func (r *recording) SetInt(l, arg int, n int64) error {
	binary.LittleEndian.PutUint64(r.args[l][8*arg:], uint64(n))
	return nil
}

func (r *recording) SetMemory(l, arg int, m launch.Memory) error {
	at := uint64(0)
	if m, ok := m.(*memory); ok && m != nil {
		at = m.address
	}
	return r.SetInt(l, arg, int64(at))
}

func (r *recording) Run() error {
	for i, l := range r.launches {
		err := r.functions[i].Launch(context.Background(), ptxsim.Launch{
			Grid: [3]uint32{uint32(l.Groups), 1, 1}, Block: [3]uint32{uint32(l.Items), 1, 1}, Args: r.args[i], Memory: &r.p.b.memory,
			Shared: r.p.b.target.Dynamic(l.Kernel),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *recording) Close() error { return nil }
