package flattest

import (
	"math"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Extend is the low bits of x as a load of an element of type d gives them.
func Extend(d ir.DType, x uint64) uint64 {
	x &= math.MaxUint64 >> (64 - 8*d.Size())
	if d.IsInt() {
		x = uint64(ir.Int(d, x)) & mask(flat.TypeOf(d))
	}
	return x
}

// Bound is a launch of a kernel with its buffers.
type Bound struct {
	Launch
	params []int // buffer of each param, -1 where it has none
	status int
}

// Bind lays out a launch of k on a: chunk iterations a worker, and flat
// work-items a group where workers are work-items. Scratch memory that k's params
// have beyond a's is made here.
func Bind(k *entry.Kernel, a *loop.Args, chunk, flatItems int) (*Bound, error) {
	workers := (max(a.End-a.Start, 1) + chunk - 1) / chunk
	b := &Bound{status: -1}
	b.Groups, b.Items = workers, k.Items
	if !k.Groups() {
		b.Groups, b.Items = (workers+flatItems-1)/flatItems, flatItems
	}
	buffer := func(bytes []byte) int {
		b.Buffers = append(b.Buffers, bytes)
		return len(b.Buffers) - 1
	}
	for i, p := range k.Work.Params {
		n, err := p.Len.Eval(a.Sizes)
		if err != nil {
			return nil, err
		}
		switch {
		case p.Use != loop.Scratch:
			b.params = append(b.params, buffer(append([]byte(nil), a.Buffers[i]...)))
		case !k.Near[i]:
			b.params = append(b.params, buffer(make([]byte, strideOf(n, p.DType)*p.DType.Size()*b.Groups*b.Items)))
		default:
			b.params = append(b.params, -1)
		}
	}
	if k.Work.Slots > 0 {
		b.status = buffer(make([]byte, 4*k.Work.Slots))
	}
	for _, arg := range flat.Args(k) {
		v, err := b.arg(arg, k, a, chunk)
		if err != nil {
			return nil, err
		}
		b.Args = append(b.Args, v)
	}
	return b, nil
}

func (b *Bound) arg(arg entry.Arg, k *entry.Kernel, a *loop.Args, chunk int) (Arg, error) {
	n := 0
	var err error
	switch arg.Kind {
	case entry.ArgBuffer:
		if arg.Param < 0 {
			return Arg{Buffer: b.status}, nil
		}
		return Arg{Buffer: b.params[arg.Param]}, nil
	case entry.ArgStride:
		if n, err = k.Work.Params[arg.Param].Len.Eval(a.Sizes); err == nil {
			n = strideOf(n, k.Work.Params[arg.Param].DType)
		}
	case entry.ArgSize:
		n, err = arg.Size.Eval(a.Sizes)
	case entry.ArgStart:
		n = a.Start
	case entry.ArgEnd:
		n = a.End
	case entry.ArgChunk:
		n = chunk
	case entry.ArgRows:
		n = k.Tile.Rows
	case entry.ArgMap:
		m, err := k.Mapped(arg.Map, a.Sizes)
		return Arg{Buffer: b.params[arg.Param], Map: &m}, err
	}
	return Arg{Buffer: -1, N: int64(n)}, err
}

// strideOf is n elements, and more up to a multiple of what is loaded at once.
func strideOf(n int, d ir.DType) int {
	each := entry.WideBytes / d.Size()
	return (n + each - 1) / each * each
}

// Results brings what the launch wrote into a.
func (b *Bound) Results(k *entry.Kernel, a *loop.Args) {
	for i, p := range k.Work.Params {
		if p.Use != loop.Scratch {
			copy(a.Buffers[i], b.Buffers[b.params[i]])
		}
	}
	for i := range k.Work.Slots {
		a.Status[i] = int64(Extend(ir.I32, littleEndian(b.Buffers[b.status][4*i:][:4])))
	}
}
