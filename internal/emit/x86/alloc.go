package x86

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/sinterml/sinter/internal/emit/x86/asm"
)

// Registers are given out by a linear scan: each virtual register lives from
// its first definition to its last use, or to the end of the outermost loop
// that it is used in and was defined before. Where registers do not suffice,
// the least used of those alive lives in memory throughout, and the scan is
// done again with some registers kept for moving such values.

// files are the physical registers that may be given out, as sets.
type files struct {
	free [classes]uint32
	// What code with values in memory takes from them.
	scratch [classes][]uint8
	base    asm.R // points to the spill area
	spills  bool  // there is one
}

func setOf(regs ...uint8) (s uint32) {
	for _, x := range regs {
		s |= 1 << x
	}
	return s
}

// kernelFiles are the registers of a whole kernel: all but the stack and frame
// pointers and the argument block.
func kernelFiles(isa ISA) files {
	f := files{base: asm.R15, spills: true}
	f.free[gpr] = 0xFFFF &^ setOf(uint8(asm.RSP), uint8(asm.RBP), uint8(argsReg))
	f.free[mask] = 0xFE
	f.scratch[gpr] = []uint8{uint8(asm.RCX), uint8(asm.RAX), uint8(asm.RDX)}
	f.scratch[mask] = []uint8{5, 6, 7}
	if isa == AVX512 {
		f.free[vec] = 0xFFFFFFFF
		f.scratch[vec] = []uint8{31, 30, 29}
	} else {
		f.free[vec] = 0xFFFF
		f.scratch[vec] = []uint8{15, 14, 13}
	}
	return f
}

const (
	unplaced = -1
	inMemory = -2
	never    = -1
)

// scan is one pass over the code.
type scan struct {
	e       *emitter
	live    *ranges
	free    [classes]uint32
	place   []int8 // of each register: physical, unplaced or inMemory
	holds   [classes][32]reg
	spilled [classes]bool
}

// allocate gives every virtual register a place.
func allocate(e *emitter, code []*inst, f files) (*writer, error) {
	live := liveRanges(code, len(e.vregs))
	divides := false
	for _, in := range code {
		divides = divides || in.kind == divide
	}
	free := f.free
	if pair := setOf(uint8(asm.RAX), uint8(asm.RDX)); divides {
		if free[gpr]&pair != pair {
			return nil, fmt.Errorf("%w: a division needs RAX and RDX", ErrUnsupported)
		}
		free[gpr] &^= pair
	}
	w := &writer{e: e, a: e.a, args: argsReg, scratch: f.scratch, base: f.base}
	// Where registers of a class do not suffice, some are set aside for moving
	// values, which may leave too few for others: the scan is done again.
	var reserved [classes]bool
	for area := false; ; {
		s := newScan(e, live, free)
		s.run(code)
		w.place = s.place
		w.giveSlots()
		again := false
		for c := range free {
			if !s.spilled[c] || reserved[c] {
				continue
			}
			again, reserved[c] = true, true
			free[c] &^= setOf(f.scratch[c]...)
			if free[c] == 0 {
				return nil, errors.New("x86: too few registers")
			}
		}
		if !again && w.slots > 0 && !area {
			if !f.spills {
				return nil, errors.New("x86: too few registers, and no spill area")
			}
			again, area = true, true
			free[gpr] &^= setOf(uint8(f.base))
		}
		if !again {
			return w, nil
		}
	}
}

func newScan(e *emitter, live *ranges, free [classes]uint32) *scan {
	s := &scan{e: e, live: live, free: free, place: make([]int8, len(e.vregs))}
	for x := range s.place {
		s.place[x] = unplaced
		if v := &e.vregs[x]; v.fixed >= 0 {
			s.place[x] = v.fixed
		}
	}
	return s
}

func (s *scan) run(code []*inst) {
	for i, in := range code {
		d := in.dst
		if d == 0 || s.place[d] != unplaced {
			s.release(i)
			continue
		}
		switch from := s.reusable(in, i); {
		case from != 0:
			s.handOver(from, d)
			s.release(i)
		case in.tied || in.early || in.kind == fused:
			// The first source is copied to dst before the others are read.
			s.take(d)
			s.release(i)
		default:
			s.release(i)
			s.take(d)
			if int(s.live.end[d]) == i {
				s.drop(d)
			}
		}
	}
}

// reusable is a source that ends here and whose register suits the result.
func (s *scan) reusable(in *inst, i int) reg {
	try := func(o operand) reg {
		x := o.reg
		if o.kind != regOperand || int(s.live.end[x]) != i || s.place[x] < 0 {
			return 0
		}
		if s.e.vregs[x].fixed >= 0 || s.e.vregs[x].class != s.e.vregs[in.dst].class {
			return 0
		}
		return x
	}
	switch {
	case in.tied || in.kind == moveReg:
		return try(in.src[0])
	case in.kind == fused:
		for _, j := range [3]int{2, 0, 1} {
			if x := try(in.src[j]); x != 0 {
				return x
			}
		}
	}
	return 0
}

// handOver gives the register of from, which ends, to d.
func (s *scan) handOver(from, d reg) {
	p := s.place[from]
	s.place[d] = p
	s.holds[s.e.vregs[d].class][p] = d
}

// release frees the registers of the values that end at i.
func (s *scan) release(i int) {
	for _, x := range s.live.dying[i] {
		s.drop(x)
	}
}

func (s *scan) drop(x reg) {
	c, p := s.e.vregs[x].class, s.place[x]
	if p >= 0 && s.holds[c][p] == x {
		s.holds[c][p] = 0
		s.free[c] |= 1 << p
	}
}

// take gives d a free register, or takes one from the value used least, which
// may be d.
func (s *scan) take(d reg) {
	c := s.e.vregs[d].class
	if s.free[c] != 0 {
		p := bits.TrailingZeros32(s.free[c])
		s.free[c] &^= 1 << p
		s.place[d] = int8(p)
		s.holds[c][p] = d
		return
	}
	s.spilled[c] = true
	least := d
	for _, x := range s.holds[c] {
		if x != 0 && s.cost(x) < s.cost(least) {
			least = x
		}
	}
	if least == d {
		s.place[d] = inMemory
		return
	}
	p := s.place[least]
	s.place[least] = inMemory
	s.place[d] = p
	s.holds[c][p] = d
}

// cost is what keeping x in memory costs, for the room it would make.
func (s *scan) cost(x reg) float32 {
	w := s.live.weight[x]
	if s.e.vregs[x].remat != nil {
		w /= 2
	}
	return w / float32(s.live.end[x]-s.live.start[x]+1)
}
