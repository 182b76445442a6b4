// Package spirv turns entry points into SPIR-V 1.5 for Vulkan 1.2. Memory is
// reached by its address; the one push constant is the address of an entry
// point's arguments, 64 bits each.
package spirv

import (
	"encoding/binary"
	"fmt"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat"
)

// Options are what a device has and keeps of its own accord. With the zero
// value programs need 64-bit integers and narrow ones in buffers alone.
type Options struct {
	Flat int // work-items of a group that share nothing; 0: 64

	Float64     bool
	Int8, Int16 bool // arithmetic on narrow integers; without, shared memory holds them as 32 bits
	// What can be asked of floats of 32 and 64 bits: infinities, NaN and the
	// sign of zero kept; subnormals kept; rounding to the nearest, half to even.
	InfNaN, Subnormals, Nearest Widths
	HalfSubnormals              bool // that those of 16 bits are asked to be kept, which nothing is computed in
	// Exact says that the device was seen to round quotients correctly, Roots
	// roots, Fused that its fma rounds once, Whole that floor, trunc and round
	// are right, Compares that comparisons are, and Converts that from one width
	// to the other it keeps subnormals. Elsewhere they are corrected.
	Exact, Roots, Fused, Whole, Compares Widths
	Converts                             bool
	// FusedNormal says that where neither operands nor result are subnormal fma
	// rounds once, and that the others it takes for 0 at worst.
	FusedNormal Widths
	// Divides says that it was seen to divide integers of 64 bits as it should.
	// Elsewhere they are divided by those of 32, or by hand.
	Divides bool
	// LoopsEnd says that the device ends loops before their time if they take
	// long: an entry point that sees it writes 1 behind its arguments.
	LoopsEnd bool
}

// Widths tells of each width of floats whether something holds for it.
type Widths struct{ F32, F64 bool }

func (w Widths) of(t flat.Type) bool { return t == flat.F32 && w.F32 || t == flat.F64 && w.F64 }

// Program is a module with an entry point for each kernel.
type Program struct {
	Words []uint32
	Args  [][]entry.Arg // of each kernel
}

// Binary is the program as a file holds it.
func (p *Program) Binary() []byte {
	b := make([]byte, 4*len(p.Words))
	for i, w := range p.Words {
		binary.LittleEndian.PutUint32(b[4*i:], w)
	}
	return b
}

// Write makes a program of kernels whose entries have different names.
func Write(kernels []*entry.Kernel, o Options) (*Program, error) {
	if o.Flat == 0 {
		o.Flat = 64
	}
	p := &Program{}
	m := newModule()
	for _, k := range kernels {
		b := newBuilder(m, &o, k)
		if err := flat.Write(k, b); err != nil {
			return nil, err
		}
		if b.err != nil {
			return nil, fmt.Errorf("kernel %s: %w", k.Work.Name, b.err)
		}
		args := flat.Args(k)
		b.tell(len(args))
		b.end()
		p.Args = append(p.Args, args)
	}
	p.Words = m.words()
	return p, nil
}
