package native

import (
	"errors"
	"math/bits"
)

// Registers are given out by a linear scan: each virtual register lives from
// its first definition to its last use, or to the end of the outermost loop
// that it is used in and was defined before. Where registers do not suffice,
// the least used of those alive lives in memory throughout, and the scan is
// done again with some registers kept for moving such values.

// The places of registers that have no physical one.
const (
	Unplaced = -1
	InMemory = -2
)

// Places says where virtual registers are.
type Places struct {
	At    []int8  // by register: physical, Unplaced or InMemory
	Slot  []int32 // byte in the spill area, of those in memory
	Bytes int     // of the spill area
}

// scan is one pass over the code.
type scan[I Inst] struct {
	regs    []VReg[I]
	live    *ranges
	free    [Classes]uint32
	place   []int8 // of each register: physical, Unplaced or InMemory
	holds   [Classes][32]Reg
	spilled [Classes]bool
}

// Allocate gives every virtual register a place. A register of each class takes
// so many bytes of the spill area.
func Allocate[I Inst](regs []VReg[I], code []I, f *Files, bytes [Classes]int) (*Places, error) {
	live := liveRanges(code, len(regs))
	free := f.Free
	// Where registers of a class do not suffice, some are set aside for moving
	// values, which may leave too few for others: the scan is done again.
	var reserved [Classes]bool
	for area := false; ; {
		s := newScan(regs, live, free)
		s.run(code)
		p := &Places{At: s.place}
		giveSlots(p, regs, bytes)
		again := false
		for c := range free {
			if !s.spilled[c] || reserved[c] {
				continue
			}
			again, reserved[c] = true, true
			free[c] &^= SetOf(f.Scratch[c]...)
			if free[c] == 0 {
				return nil, errors.New("too few registers")
			}
		}
		if !again && p.Bytes > 0 && !area {
			if !f.Spills {
				return nil, errors.New("too few registers, and no spill area")
			}
			again, area = true, true
			free[General] &^= SetOf(f.Base)
		}
		if !again {
			return p, nil
		}
	}
}

// giveSlots lays out the spill area, vectors first for their alignment.
func giveSlots[I Inst](p *Places, regs []VReg[I], bytes [Classes]int) {
	var none I
	p.Slot = make([]int32, len(p.At))
	for _, c := range [...]Class{Vector, General, Mask} {
		for x, at := range p.At {
			if v := &regs[x]; at == InMemory && v.Class == c && v.Anew == none {
				p.Slot[x] = int32(p.Bytes)
				p.Bytes += bytes[c]
			}
		}
	}
}

func newScan[I Inst](regs []VReg[I], live *ranges, free [Classes]uint32) *scan[I] {
	s := &scan[I]{regs: regs, live: live, free: free, place: make([]int8, len(regs))}
	for x := range s.place {
		s.place[x] = Unplaced
		if v := &regs[x]; v.Fixed >= 0 {
			s.place[x] = v.Fixed
		}
	}
	return s
}

func (s *scan[I]) run(code []I) {
	for i, in := range code {
		d := in.Result()
		if d == 0 || s.place[d] != Unplaced {
			s.release(i)
			continue
		}
		switch from := s.reusable(in, d, i); {
		case from != 0:
			s.handOver(from, d)
			s.release(i)
		case in.Apart():
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

// reusable is an heir of d that ends here and whose register suits it.
func (s *scan[I]) reusable(in I, d Reg, i int) Reg {
	for _, x := range in.Heirs() {
		if x == 0 || int(s.live.end[x]) != i || s.place[x] < 0 {
			continue
		}
		if v := &s.regs[x]; v.Fixed < 0 && v.Class == s.regs[d].Class {
			return x
		}
	}
	return 0
}

// handOver gives the register of from, which ends, to d.
func (s *scan[I]) handOver(from, d Reg) {
	p := s.place[from]
	s.place[d] = p
	s.holds[s.regs[d].Class][p] = d
}

// release frees the registers of the values that end at i.
func (s *scan[I]) release(i int) {
	for _, x := range s.live.dying[i] {
		s.drop(x)
	}
}

func (s *scan[I]) drop(x Reg) {
	c, p := s.regs[x].Class, s.place[x]
	if p >= 0 && s.holds[c][p] == x {
		s.holds[c][p] = 0
		s.free[c] |= 1 << p
	}
}

// take gives d a free register, or takes one from the value used least, which
// may be d.
func (s *scan[I]) take(d Reg) {
	c := s.regs[d].Class
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
		s.place[d] = InMemory
		return
	}
	p := s.place[least]
	s.place[least] = InMemory
	s.place[d] = p
	s.holds[c][p] = d
}

// cost is what keeping x in memory costs, for the room it would make.
func (s *scan[I]) cost(x Reg) float32 {
	var none I
	w := s.live.weight[x]
	if s.regs[x].Anew != none {
		w /= 2
	}
	return w / float32(s.live.end[x]-s.live.start[x]+1)
}
