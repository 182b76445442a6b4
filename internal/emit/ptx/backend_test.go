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
	mapped [2]int // matrices that have no map, and that have one
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
		r.args = append(r.args, make([]byte, f.ArgBytes()))
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
	binary.LittleEndian.PutUint64(r.args[l][r.functions[l].Params[arg].Offset:], uint64(n))
	return nil
}

func (r *recording) SetMap(l, arg int, m launch.Memory, of entry.Mapped) (bool, error) {
	to := r.args[l][r.functions[l].Params[arg].Offset:]
	ok, err := encodeMap(to, m.(*memory).address, of)
	if ok {
		r.p.b.mapped[1]++
	} else {
		r.p.b.mapped[0]++
	}
	return ok, err
}

// encodeMap writes the map of a matrix in a buffer at an address, if there can be
// one.
func encodeMap(to []byte, address uint64, m entry.Mapped) (bool, error) {
	if !ptx.Mappable(address, m) {
		return false, nil
	}
	t := ptxsim.TensorMap{Type: uint32(m.Bytes - 1), Address: address + uint64(m.Offset), Swizzle: 3}
	for i, n := range m.Sizes {
		t.Sizes, t.Box, t.Steps = append(t.Sizes, uint64(n)), append(t.Box, uint32(m.Box[i])), append(t.Steps, 1)
	}
	for _, n := range m.Strides {
		t.Strides = append(t.Strides, uint64(n))
	}
	encoded, err := t.Encode()
	copy(to, encoded[:])
	return err == nil, err
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
