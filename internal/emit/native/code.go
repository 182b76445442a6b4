// Package native holds what emitters of machine code share: expressions by
// value, index arithmetic as sums of products, the block of arguments, the walk
// over a kernel's statements that makes each value in the outermost loop in which
// it does not change (Builder), and the allocation of registers for code on
// virtual ones. What an instruction is, the emitters know themselves (Machine).
package native

import "errors"

// ErrUnsupported says that a kernel holds a type or an operation without
// machine code: the generic emitter takes it.
var ErrUnsupported = errors.New("no machine code for this kernel")

// Reg is a virtual register; 0 is none.
type Reg int32

// Class is the register file of a virtual register.
type Class uint8

// The register files. Not every machine has masks.
const (
	General Class = iota
	Vector
	Mask
	Classes
)

// VReg is what is known about a virtual register.
type VReg[I Inst] struct {
	Class Class
	Fixed int8 // physical register it is bound to from outside, or -1
	Anew  I    // makes the value anew from nothing but the arguments and constants; or nil

	names   int  // of values that are remembered in it, and locals that share it
	changes bool // it is that of a local that is set again
}

// Inst is an instruction on virtual registers, a pointer.
type Inst interface {
	comparable
	Result() Reg      // 0: none
	Uses(f func(Reg)) // calls f for every register that is read
	Span() Span
	// Heirs are the sources whose register the result had best take over if they
	// end here, best first; 0 for none.
	Heirs() [3]Reg
	// Apart says that the result is written before all sources are read: but for
	// heirs, its register is no source's.
	Apart() bool
	// Redirect has the instruction write its result to dst instead; false where it
	// cannot.
	Redirect(dst Reg) bool
}

// Span says where loops are, for live ranges.
type Span uint8

// Marks of loops are instructions without code.
const (
	Inside Span = iota
	LoopStart
	LoopEnd
)

// Files are the physical registers that may be given out, as sets.
type Files struct {
	Free [Classes]uint32
	// What code with values in memory takes from them.
	Scratch [Classes][]uint8
	Base    uint8 // points to the spill area
	Spills  bool  // there is one
}

// SetOf is a set of registers.
func SetOf(regs ...uint8) (s uint32) {
	for _, x := range regs {
		s |= 1 << x
	}
	return s
}
