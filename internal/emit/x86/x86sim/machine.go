// Package x86sim runs machine code for x86-64 instruction by instruction: what
// sinter emits for AVX-512 and AMX, on processors that have neither. It reads the
// bytes by a table of its own (table.go), after Intel's Software Developer's Manual,
// volume 2, and shares nothing with the assembler.
//
// The code works on the memory of this process, as on a processor, and is a leaf
// (package jit). Beyond a processor it refuses code that breaks its contract: that
// moves RSP or RBP, returns with dirty upper halves or configured tiles, reads
// memory at a misaligned address where alignment is promised, or has an
// instruction unknown here. Registers begin with values that no code may rely on.
package x86sim

import (
	"fmt"
	"sync"
	"unsafe"
)

// vec is a vector register. Its lanes are little-endian, as this process is.
type vec [8]uint64

func (v *vec) u8() *[64]uint8    { return (*[64]uint8)(unsafe.Pointer(v)) }
func (v *vec) i8() *[64]int8     { return (*[64]int8)(unsafe.Pointer(v)) }
func (v *vec) u16() *[32]uint16  { return (*[32]uint16)(unsafe.Pointer(v)) }
func (v *vec) u32() *[16]uint32  { return (*[16]uint32)(unsafe.Pointer(v)) }
func (v *vec) f32() *[16]float32 { return (*[16]float32)(unsafe.Pointer(v)) }
func (v *vec) f64() *[8]float64  { return (*[8]float64)(unsafe.Pointer(v)) }

// tile is a tile register and the shape that it is configured to.
type tile struct {
	rows, bytes int // a row
	data        [16]vec
}

// machine is what one call of code works on.
type machine struct {
	r     [16]uint64
	v     [32]vec
	k     [8]uint64
	tiles [8]tile
	flags
	tiled bool    // tiles are configured
	next  uintptr // where to go on, set by jumps; 0: returned

	tmp, out vec // of the instruction at work
}

type flags struct{ cf, pf, zf, sf, of bool }

// The general registers that are spoken of by name.
const (
	rax = 0
	rcx = 1
	rdx = 2
	rsp = 4
	rbp = 5
	rdi = 7
)

var machines = sync.Pool{New: func() any { return new(machine) }}

// What registers hold at first: addresses that fault, and NaN.
const (
	poison      = 0xfff7_dead_fff7_dead
	poisonStack = 0xfff6_dead_fff6_dea8
)

// Call runs the code at entry with args in RDI, until it returns. It panics with
// an error if the code breaks its contract; memory that is not there is a fault
// of this process, as it would be for a processor.
func Call(entry uintptr, args unsafe.Pointer) { programAt(entry).call(args) }

// Run is Call if the code at entry has an instruction beyond AVX2, FMA, F16C and
// BMI2. It says whether that is so.
func Run(entry uintptr, args unsafe.Pointer) bool {
	p := programAt(entry)
	if p.needs != 0 {
		p.call(args)
	}
	return p.needs != 0
}

func (p *program) call(args unsafe.Pointer) {
	m := machines.Get().(*machine)
	m.reset(uintptr(args))
	m.run(p)
	m.check()
	machines.Put(m)
}

func (m *machine) reset(args uintptr) {
	for i := range m.r {
		m.r[i] = poison
	}
	m.r[rsp], m.r[rdi] = poisonStack, uint64(args)
	for i := range m.v {
		for j := range m.v[i] {
			m.v[i][j] = poison
		}
	}
	for i := range m.v[:16] {
		clear(m.v[i][2:]) // as VZEROUPPER leaves them
	}
	for i := range m.k {
		m.k[i] = poison
	}
	m.flags = flags{true, true, true, true, true}
	m.tiled = false
}

// check looks at what the caller of the code relies on.
func (m *machine) check() {
	switch {
	case m.r[rsp] != poisonStack:
		panic(fmt.Errorf("x86sim: the code has moved RSP"))
	case m.r[rbp] != poison:
		panic(fmt.Errorf("x86sim: the code has changed RBP"))
	case m.tiled:
		panic(fmt.Errorf("x86sim: the code has left tiles configured"))
	}
	for i := range m.v[:16] {
		for _, w := range m.v[i][2:] {
			if w != 0 {
				panic(fmt.Errorf("x86sim: the code has left the upper half of vector register %d dirty", i))
			}
		}
	}
}

// run executes blocks from the first one on, until the code returns.
func (m *machine) run(p *program) {
	for at := p.entry; at != 0; at = m.next {
		b := p.blocks[at]
		if b == nil { // behind a jump to what a register holds
			p = programAt(at)
			b = p.blocks[at]
		}
		m.next = b.end
		for i := range b.code {
			in := &b.code[i]
			in.do(m, in)
		}
	}
}

// program is the code that an entry leads to, but for what is behind jumps to
// what a register holds.
type program struct {
	entry  uintptr
	needs  feature
	blocks map[uintptr]*block
	order  []*block
}

// block is code without a jump but at its end.
type block struct {
	start, end uintptr
	text       []byte // as it was decoded
	code       []instr
}

var programs sync.Map // of uintptr to *program

// programAt returns the program at an address, decoded anew where other code has
// come to lie there.
func programAt(entry uintptr) *program {
	if known, ok := programs.Load(entry); ok {
		p := known.(*program)
		if p.current() {
			return p
		}
	}
	p := &program{entry: entry, blocks: map[uintptr]*block{}}
	for todo := []uintptr{entry}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if p.blocks[at] != nil {
			continue
		}
		b := decodeBlock(at)
		p.blocks[at], p.order = b, append(p.order, b)
		for i := range b.code {
			p.needs |= b.code[i].needed()
		}
		last := &b.code[len(b.code)-1]
		if last.op.relative {
			todo = append(todo, last.end+uintptr(last.imm))
		}
		if last.op.falls {
			todo = append(todo, last.end)
		}
	}
	programs.Store(entry, p)
	return p
}

func decodeBlock(at uintptr) *block {
	b := &block{start: at, end: at}
	for last := false; !last; {
		in, err := decode(b.end)
		if err != nil {
			panic(fmt.Errorf("x86sim: %w", err))
		}
		b.end = in.end
		b.code = append(b.code, in)
		last = in.op.jumps
	}
	b.text = append(b.text, unsafe.Slice((*byte)(pointer(at)), int(b.end-at))...)
	return b
}

// current tells whether the code is as it was. Blocks are looked at in the order in
// which they were found: what follows one that is as it was is code still.
func (p *program) current() bool {
	for _, b := range p.order {
		if !b.current() {
			return false
		}
	}
	return true
}

// current compares byte by byte: nothing behind the first that differs may be there.
func (b *block) current() bool {
	for i, c := range b.text {
		if *(*byte)(pointer(b.start + uintptr(i))) != c {
			return false
		}
	}
	return true
}

// pointer makes a pointer of an address of the code, its data or its arguments,
// none of which is the garbage collector's to move.
func pointer(at uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&at)) }
