// Package asm is a run-time assembler for x86-64: general registers, VEX
// (AVX2, FMA, F16C) and EVEX (AVX-512) vector instructions.
//
// An instruction is written as in Intel's syntax, destination first, modifiers
// anywhere:
//
//	a := asm.New(asm.AVX512)
//	loop := a.Here()
//	a.Op(asm.VMOVUPS, asm.V(0), asm.Ptr(asm.RSI, 0), asm.MaskZ(1))
//	a.Op(asm.VADDPS, asm.V(0), asm.V(0), a.F32(1))
//	a.Op(asm.VMOVUPS, asm.Ptr(asm.RDI, 0), asm.V(0), asm.Mask(1))
//	a.Op(asm.SUB, asm.RCX, asm.Imm(1))
//	a.J(asm.NE, loop)
//	a.Op(asm.RET)
//	code, err := a.Finish()
//
// Errors stick: after the first one nothing more is assembled, and Err and
// Finish return it. The code is position independent, with its constants
// behind it; its start must be aligned to 64 bytes for Align and the constants
// to keep their alignment.
package asm

import (
	"fmt"
)

// ISA is the instruction set that may be used.
type ISA uint8

// AVX2 has VEX encodings alone: registers 0 to 15, no masks, no broadcasts.
// AVX512 takes the VEX encoding where it will do, being shorter, else EVEX.
const (
	AVX2 ISA = iota
	AVX512
)

// Asm collects instructions. The zero value assembles for AVX2.
type Asm struct {
	ISA ISA
	Len Length // of vector instructions that do not name theirs; 0: the widest of the ISA

	code   []byte
	list   []inst
	labels []int32 // positions by label - 1, or unbound
	fixups []fixup
	pool   []constant
	done   bool
	err    error
}

// New returns an assembler for full-width vectors of the ISA.
func New(isa ISA) *Asm {
	return &Asm{ISA: isa, code: make([]byte, 0, 4096), list: make([]inst, 0, 512)}
}

// Length is the vector length in use: Len, or the widest that the ISA has.
func (a *Asm) Length() Length {
	switch {
	case a.Len != 0:
		return a.Len
	case a.ISA == AVX512:
		return L512
	}
	return L256
}

// Err returns the first error.
func (a *Asm) Err() error { return a.err }

// Size is the number of bytes assembled so far.
func (a *Asm) Size() int { return len(a.code) }

func (a *Asm) fail(format string, args ...any) {
	if a.err == nil {
		a.err = fmt.Errorf("asm: at byte %d: %w", len(a.code), fmt.Errorf(format, args...))
	}
}

// inst is an entry of the list: an instruction with the operands it was given,
// so that its text can be made when somebody asks.
type inst struct {
	at    uint32 // offset of its first byte
	row   uint16
	what  entry
	n     uint8 // operands
	kinds [4]kind
	regs  [4]uint8
	mem   M
	imm   int64
	label Label // of a jump, a label, a constant
	len   uint8 // encoded vector length: 0, 1, 2
	mask  uint8
	cc    CC
	wide  bool // W bit
	zero  bool
	evex  bool
	bcast bool
}

// entry says what an inst is.
type entry uint8

const (
	entryOp entry = iota
	entryJump
	entryJumpIf
	entryLabel
	entryPad
	entryConst
)

// Op assembles one instruction.
func (a *Asm) Op(op Op, args ...Arg) {
	if a.err != nil {
		return
	}
	in := inst{at: uint32(len(a.code))}
	length, bad := in.take(args)
	switch {
	case bad != "":
		a.fail("%v: %s", op, bad)
		return
	case op == 0 || int(op) >= len(mnemonics):
		a.fail("no instruction has number %d", int(op))
		return
	case a.done:
		a.fail("%v: the code is finished", op)
		return
	}
	if length == 0 {
		length = a.Length()
	}
	if length > L512 {
		a.fail("no vector length has number %d", length)
		return
	}
	why := badOperands
	m := &mnemonics[op]
	for i := m.first; i < m.end; i++ {
		w := a.fit(&rows[i], &in, length)
		if w == fits {
			in.row = i
			a.encode(&rows[i], &in)
			return
		}
		why = max(why, w)
	}
	a.fail("%v %s: %s", op, in.describe(length), reasons[why])
}

// take sorts the arguments into operands and modifiers; it returns the length
// if one was given, and what is wrong.
func (in *inst) take(args []Arg) (l Length, bad string) {
	for _, x := range args {
		var k kind
		var reg uint8
		switch x := x.(type) {
		case V:
			k, reg = kV, uint8(x)
			if x > 31 {
				return 0, "vector registers end at 31"
			}
		case R:
			k, reg = kR, uint8(x)
			if x > 15 {
				return 0, "general registers end at 15"
			}
		case R32:
			k, reg = kR32, uint8(x)
			if x > 15 {
				return 0, "general registers end at 15"
			}
		case K:
			k, reg = kK, uint8(x)
			if x > 7 {
				return 0, "mask registers end at 7"
			}
		case T:
			k, reg = kT, uint8(x)
			if x > 7 {
				return 0, "tile registers end at 7"
			}
		case M:
			if in.mem.flags&memSet != 0 {
				return 0, "two memory operands"
			}
			if bad := x.check(); bad != "" {
				return 0, bad
			}
			in.mem, k = x, kM
			if x.flags&memVector != 0 {
				k = kVM
			}
		case Imm:
			in.imm, k = int64(x), kImm
		case Length:
			if x > L512 {
				return 0, "no such vector length"
			}
			l = x
			continue
		case Opt:
			if bad := in.option(x); bad != "" {
				return 0, bad
			}
			continue
		default:
			return 0, "nil argument"
		}
		if in.n == 4 {
			return 0, "more than four operands"
		}
		in.kinds[in.n], in.regs[in.n] = k, reg
		in.n++
	}
	return l, ""
}

func (in *inst) option(o Opt) (bad string) {
	k := uint8(o)
	if k == 0 || k > 7 || in.mask != 0 {
		return "one Mask of k1 to k7 is allowed"
	}
	in.mask, in.zero = k, o&optZero != 0
	return ""
}

// check returns what is wrong with the operand by itself.
func (m M) check() string {
	switch {
	case m.flags&memSet == 0:
		return "empty memory operand: use Ptr, Idx, VIdx or Rip"
	case m.flags&memBadDisp != 0:
		return "displacement does not fit in 32 bits"
	case m.flags&memBadScale != 0:
		return "scale must be 1, 2, 4 or 8"
	case m.base > 15:
		return "general registers end at 15"
	case m.flags&memVector != 0 && m.index > 31:
		return "vector registers end at 31"
	case m.flags&(memIndex|memVector) == memIndex && m.index > 15:
		return "general registers end at 15"
	case m.flags&(memIndex|memVector) == memIndex && m.index == uint8(RSP):
		return "rsp cannot be an index"
	}
	return ""
}

// Finish places the constants, resolves the labels and returns the code.
func (a *Asm) Finish() ([]byte, error) {
	if a.err == nil && !a.done {
		a.done = true
		a.placePool()
		a.resolve()
	}
	if a.err != nil {
		return nil, a.err
	}
	return a.code, nil
}
