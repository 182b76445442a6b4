package cpu

import (
	"errors"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/arm64"
	"github.com/sinterml/sinter/internal/emit/generic"
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// part is a template.Part that is compiled: in machine code or as closures.
type part struct {
	*template.Part
	symbols []ir.Symbol
	at      [template.PartSizes]int // of each PartSize among symbols, -1 if unused

	slab   *slab
	offset int
	spill  int
	layout native.Layout
	tile   finishWords // of a part behind tiles

	generic *generic.Func // set instead of code
}

// finishWords are the words of an argument block that x86.FinishLayout adds.
type finishWords struct{ args, spare int }

// finishOf is what is done with finished sums.
func finishOf(g *template.Gemm) *template.Part { return moved(g.Finish()) }

// moved is a part of which what is only chosen or stored is moved bit by bit, as in
// kernels of loops.
func moved(t *template.Part) *template.Part {
	bits := *t
	bits.Kernel = loop.MoveBits(t.Kernel)
	return &bits
}

// partBehindTiles is a part that tile kernels of a kind run, see x86.GemmFinish, if it is
// in machine code.
func (c *compiler) partBehindTiles(t *template.Part, tiles tileKind) (*part, error) {
	p := &part{Part: t}
	p.layout, p.tile.args, p.tile.spare = x86.FinishLayout(t.Kernel)
	vectors := x86.GemmTiles(tiles.isa, tiles.format)[0].Vectors
	return p, c.emitPart(p, func(k *loop.Kernel, isa x86.ISA) (*x86.Code, error) { return x86.EmitFinish(k, isa, vectors) })
}

func (c *compiler) part(t *template.Part) (*part, error) {
	p := &part{Part: t, layout: native.LayoutOf(t.Kernel)}
	return p, c.emitPart(p, x86.Emit)
}

func (c *compiler) emitPart(p *part, emit func(*loop.Kernel, x86.ISA) (*x86.Code, error)) error {
	t := p.Part
	p.symbols, p.slab = t.Kernel.Symbols(), c.slab
	for s := range p.at {
		p.at[s] = -1
		for i, sym := range p.symbols {
			if sym.Name == t.Name(template.PartSize(s)) {
				p.at[s] = i
			}
		}
	}
	if c.machine {
		err := c.addPart(p, loop.Expand(t.Kernel), emit)
		if err == nil || !errors.Is(err, native.ErrUnsupported) {
			return err
		}
	}
	f, err := generic.Compile(t.Kernel)
	if err != nil {
		return err
	}
	p.generic = f
	c.generic = append(c.generic, t.Kernel.Name)
	return nil
}

// addPart puts the machine code of k, which is p's, into the slab.
func (c *compiler) addPart(p *part, k *loop.Kernel, emit func(*loop.Kernel, x86.ISA) (*x86.Code, error)) error {
	if c.neon {
		code, err := arm64.Emit(k)
		if err != nil {
			return err
		}
		p.offset, p.spill = c.slab.add(code.Text), code.SpillBytes
		c.list(k.Name, code.Text, code.Listing)
		return nil
	}
	code, err := emit(k, c.isa)
	if err != nil {
		return err
	}
	p.offset, p.spill = c.slab.add(code.Text), code.SpillBytes
	c.list(k.Name, code.Text, code.Listing)
	return nil
}

// partCall is a part with the arguments of one worker.
type partCall struct {
	part  *part
	entry uintptr  // of machine code
	block []uint64 // its arguments
	args  generic.Args
}

// call makes the arguments that do not change during a run. spill is memory of
// part.spill bytes.
func (p *part) call(r *binding, spill unsafe.Pointer) (*partCall, error) {
	c := &partCall{part: p}
	sizes := make([]int64, len(p.symbols))
	for i, s := range p.symbols {
		sizes[i] = int64(r.env[s.Name]) // 0 for those of the part itself
	}
	if p.generic == nil {
		c.entry = p.slab.entry(p.offset)
		c.block = make([]uint64, p.layout.Words)
		if len(r.status) > 0 {
			c.block[p.layout.Status] = uint64(uintptr(unsafe.Pointer(&r.status[0])))
		}
		c.block[p.layout.Spill] = uint64(uintptr(spill))
		for i, ptr := range r.ptrs {
			c.block[p.layout.Params+i] = uint64(uintptr(ptr))
		}
		for i, v := range sizes {
			c.block[p.layout.Symbols+i] = uint64(v)
		}
		return c, nil
	}
	c.args = generic.Args{Params: make([][]byte, len(p.Kernel.Params)), Sizes: sizes, Status: r.status}
	for i, ptr := range r.ptrs {
		n, err := p.Kernel.Params[i].Len.Eval(r.env)
		if err != nil {
			return nil, err
		}
		c.args.Params[i] = unsafe.Slice((*byte)(ptr), n*p.Kernel.Params[i].DType.Size())
	}
	return c, nil
}

// move puts new addresses in; false for closures.
func (c *partCall) move(ptrs []unsafe.Pointer) bool {
	if c.part.generic != nil {
		return false
	}
	for i, ptr := range ptrs {
		if i != c.part.Panel {
			c.block[c.part.layout.Params+i] = uint64(uintptr(ptr))
		}
	}
	return true
}

// set gives one of the part's own sizes its value.
func (c *partCall) set(s template.PartSize, v int) {
	at := c.part.at[s]
	switch {
	case at < 0:
	case c.part.generic == nil:
		c.block[c.part.layout.Symbols+at] = uint64(v)
	default:
		c.args.Sizes[at] = int64(v)
	}
}

// behind prepares tile kernels that are called with g for running the part.
func (c *partCall) behind(g *x86.GemmArgs) {
	p := c.part
	word := func(s template.PartSize) uintptr {
		if p.at[s] < 0 {
			return uintptr(8 * p.tile.spare)
		}
		return uintptr(8 * (p.layout.Symbols + p.at[s]))
	}
	c.block[p.tile.args] = uint64(uintptr(unsafe.Pointer(g)))
	f := &g.Finish
	f.Block = uintptr(unsafe.Pointer(&c.block[0]))
	f.At[x86.FinishRow], f.At[x86.FinishCol], f.At[x86.FinishEnd] = word(template.FirstRow), word(template.FirstCol), word(template.EndCol)
	f.At[x86.FinishPanel] = uintptr(8 * (p.layout.Params + p.Panel))
}

// panel says where the panel lies and how many bytes it has.
func (c *partCall) panel(at unsafe.Pointer, bytes int) {
	if c.part.generic == nil {
		c.block[c.part.layout.Params+c.part.Panel] = uint64(uintptr(at))
		return
	}
	c.args.Params[c.part.Panel] = unsafe.Slice((*byte)(at), bytes)
}

// run does iterations of the Global loop.
func (c *partCall) run(start, end int) error {
	if start >= end {
		return nil
	}
	p := c.part
	if p.generic != nil {
		c.args.Start, c.args.End = start, end
		return p.generic.Run(&c.args)
	}
	c.block[p.layout.Start], c.block[p.layout.End] = uint64(start), uint64(end)
	jit.Call(c.entry, unsafe.Pointer(&c.block[0]))
	return nil
}
