package asm

// Arg is what an instruction takes: a register (X, V), an immediate (Imm), an
// address (Mem), a condition (Cond) or a Label.
type Arg interface{ isArg() }

// X is a general register at its full 64 bits. Instructions that work on 32 bits
// name their width. Number 31 is zero, or SP as a base, which is not used here.
type X uint8

// ZR reads as zero and swallows what is written to it.
const ZR X = 31

// V is a vector register, 0 to 31. Its lanes are those that the instruction has
// in its name.
type V uint8

// Imm is an immediate, a shift, or the number of a lane.
type Imm int64

// Cond is a condition after CMP.
type Cond uint8

// The conditions, numbered as the encoding has them: unsigned with a U.
const (
	EQ Cond = iota
	NE
	UGE
	ULT
	MI
	PL
	VS
	VC
	UGT
	ULE
	GE
	LT
	GT
	LE
)

// Not is the opposite condition.
func (c Cond) Not() Cond { return c ^ 1 }

var condNames = [...]string{"eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le"}

// Label is a position in the code, which may be used before it is bound. The
// zero Label is none.
type Label int32

// Mem is an address: Ptr.
type Mem struct {
	base X
	disp int32
}

// Ptr is [base, #disp]. Reaches tells which displacements an access has.
func Ptr(base X, disp int) Mem { return Mem{base: base, disp: int32(disp)} }

// fits tells whether an access of size bytes can have this displacement.
func fits(disp int64, size int) bool {
	return disp >= -256 && disp < 256 || disp >= 0 && disp%int64(size) == 0 && disp/int64(size) < 4096
}

func (X) isArg()     {}
func (V) isArg()     {}
func (Imm) isArg()   {}
func (Cond) isArg()  {}
func (Label) isArg() {}
func (Mem) isArg()   {}
