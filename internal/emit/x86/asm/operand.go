package asm

// Arg is what an instruction takes: a register (R, R32, V, K, T), a memory
// operand (M), an immediate (Imm), or a modifier (Mask, Zero, Length).
type Arg interface{ isArg() }

// R is a general register at its full 64 bits.
type R uint8

// The general registers, numbered as the encoding has them.
const (
	RAX R = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
)

// R32 is a general register used at 32 bits; a write clears the upper half.
// Instructions of 8 and 16 bits take an R32 (or R) and name their width.
type R32 uint8

// R32 returns the low half of r.
func (r R) R32() R32 { return R32(r) }

// V is a vector register, 0 to 31. Its width is the Length of the instruction.
type V uint8

// K is a mask register, 0 to 7. K(0) cannot be the Mask of an instruction:
// that number means "unmasked" in the encoding.
type K uint8

// T is a tile register, 0 to 7.
type T uint8

// Imm is an immediate.
type Imm int64

// Length is a vector length in bits. As an argument it overrides Asm.Len for
// one instruction; it is the length that is encoded, which is that of the
// widest operand. Instructions that exist in one length ignore it. The zero
// value means the widest that the ISA has.
type Length uint8

// The vector lengths.
const (
	L128 Length = iota + 1
	L256
	L512
)

// Bytes is the size of a register of this length; 0 for the zero value.
func (l Length) Bytes() int {
	if l == 0 {
		return 0
	}
	return 8 << l
}

// Opt is a masking modifier of an EVEX instruction.
type Opt uint16

const (
	optMask Opt = 0x100
	optZero Opt = 0x200
)

// Mask has only the lanes of k computed; the others keep the old value of the
// destination, in memory too: faults of masked-off lanes do not happen.
func Mask(k K) Opt { return optMask | Opt(k) }

// MaskZ has only the lanes of k computed and clears the others.
func MaskZ(k K) Opt { return optMask | optZero | Opt(k) }

func (R) isArg()      {}
func (R32) isArg()    {}
func (V) isArg()      {}
func (K) isArg()      {}
func (T) isArg()      {}
func (M) isArg()      {}
func (Imm) isArg()    {}
func (Length) isArg() {}
func (Opt) isArg()    {}

// M is a memory operand; make one with Ptr, Idx, VIdx, Rip or a constant of
// the Asm.
type M struct {
	disp  int32
	label Label // RIP-relative when not 0
	base  uint8
	index uint8
	scale uint8 // log2
	elem  uint8 // constant pool: bytes of the element that fills the vector
	flags memFlag
}

type memFlag uint8

const (
	memIndex   memFlag = 1 << iota // index and scale count
	memVector                      // index is a vector register
	memBcast                       // one element, repeated over the vector
	memBadDisp                     // displacement outside 32 bits
	memBadScale
	memSet // made by a constructor
)

// Ptr is [base + disp].
func Ptr(base R, disp int) M {
	return M{base: uint8(base), flags: memSet}.Off(disp)
}

// Idx is [base + scale*index + disp]; scale is 1, 2, 4 or 8, index not RSP.
func Idx(base, index R, scale, disp int) M {
	m := Ptr(base, disp)
	m.index = uint8(index)
	m.flags |= memIndex
	return m.scaled(scale)
}

// VIdx is the operand of gathers and scatters: for each lane
// [base + scale*index[lane] + disp].
func VIdx(base R, index V, scale, disp int) M {
	m := Ptr(base, disp)
	m.index = uint8(index)
	m.flags |= memIndex | memVector
	return m.scaled(scale)
}

// Rip is the place of l plus disp, relative to the instruction pointer.
func Rip(l Label, disp int) M {
	return M{label: l, flags: memSet}.Off(disp)
}

// Off returns m moved by n bytes.
func (m M) Off(n int) M {
	d := int64(m.disp) + int64(n)
	m.disp = int32(d)
	if int64(m.disp) != d {
		m.flags |= memBadDisp
	}
	return m
}

// Bcast returns m as an EVEX embedded broadcast of one 32- or 64-bit element.
func (m M) Bcast() M {
	m.flags |= memBcast
	return m
}

func (m M) scaled(scale int) M {
	switch scale {
	case 1, 2, 4, 8:
		m.scale = [9]uint8{2: 1, 4: 2, 8: 3}[scale]
	default:
		m.flags |= memBadScale
	}
	return m
}

// CC is a condition after a compare: signed LT, LE, GT, GE, unsigned with a U.
// After a floating compare (vucomiss) use the unsigned ones and PAR, which
// means unordered.
type CC uint8

// The conditions, numbered as the encoding has them.
const (
	OVF CC = iota
	NOVF
	ULT // also carry
	UGE
	EQ // also zero
	NE
	ULE
	UGT
	SIGN
	NOSIGN
	PAR
	NOPAR
	LT
	GE
	LE
	GT
)

// Predicates of vcmpps and its kin. Those named here do not raise the invalid
// flag for quiet NaNs; every comparison with a NaN is false, but for CmpNE and
// CmpUnord and CmpNotLT, which are true. Numbers 0 to 31 of the manual may be given as well.
const (
	CmpEQ    Imm = 0
	CmpUnord Imm = 3
	CmpNE    Imm = 4
	CmpOrd   Imm = 7
	CmpLT    Imm = 17
	CmpLE    Imm = 18
	CmpNotLT Imm = 21
	CmpGE    Imm = 29
	CmpGT    Imm = 30
)

// Predicates of vpcmpd and its kin, signed or not after the instruction.
const (
	IntEQ Imm = 0
	IntLT Imm = 1
	IntLE Imm = 2
	IntNE Imm = 4
	IntGE Imm = 5
	IntGT Imm = 6
)
