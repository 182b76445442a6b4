package asm

// Op is an instruction by its mnemonic. The zero Op is none. An Op has a row
// for each of its encodings; the first row that fits the operands is taken.
type Op uint16

type mnemonic struct {
	name       string
	first, end uint16 // its rows
}

// The instruction table, filled by the declarations in table_*.go while the
// package is initialised and constant afterwards.
var (
	mnemonics = []mnemonic{{}}
	rows      []row
)

// String returns the mnemonic.
func (op Op) String() string {
	if op == 0 || int(op) >= len(mnemonics) {
		return "no instruction"
	}
	return mnemonics[op].name
}

// row is one encoding of an instruction, in the terms of the Intel manual
// (volume 2, "Instruction format").
type row struct {
	op    Op
	enc   encKind
	mm    opMap
	pp    prefix
	w     wBit
	opc   byte
	ext   int8 // ModRM.reg when it is part of the opcode, else -1
	tuple tuple
	len   lenRule
	flags rowFlag
	form
}

type encKind uint8

const (
	hasVEX encKind = 1 << iota
	hasEVEX
	hasLegacy
	vexAlone // the VEX form is a CPU feature of its own, never taken on AVX-512
	both     = hasVEX | hasEVEX
)

type opMap uint8

const (
	mOne opMap = iota // one-byte opcodes
	m0F
	m0F38
	m0F3A
)

type prefix uint8

const (
	np prefix = iota
	p66
	pF3
	pF2
)

type wBit uint8

const (
	w0 wBit = iota // also where W is ignored
	w1
	wE1 // 0 in VEX, 1 in EVEX
	wOp // 1 for 64-bit operands
)

// tuple is the EVEX tuple type: how many bytes a memory operand has, which
// is also the unit of a compressed 8-bit displacement.
type tuple uint8

const (
	noMem tuple = iota
	fv4         // full vector, or one element of 4 bytes broadcast
	fv8
	hv4 // half a vector, or one element of 4 bytes broadcast
	fvm // full vector
	hvm // half, quarter, eighth
	qvm
	ovm
	dup // vmovddup: 8 bytes at length 128, else the full vector
	t1  // a fixed number of bytes
	t2
	t4
	t8
	t16
	t32
)

// bytes is the size at the encoded length l (0, 1, 2).
func (t tuple) bytes(l uint8) int {
	switch t {
	case fv4, fv8, fvm:
		return 16 << l
	case hv4, hvm:
		return 8 << l
	case qvm:
		return 4 << l
	case ovm:
		return 2 << l
	case dup:
		if l == 0 {
			return 8
		}
		return 16 << l
	}
	if t >= t1 {
		return 1 << (t - t1)
	}
	return 1
}

// elem is the size of the element that may be broadcast, or 0.
func (t tuple) elem() int {
	switch t {
	case fv4, hv4:
		return 4
	case fv8:
		return 8
	}
	return 0
}

type lenRule uint8

const (
	lenAny lenRule = iota
	len128         // only this length; also scalars and where L must be 0
	len256
	len512
	len256up
)

type rowFlag uint8

const (
	noMask  rowFlag = 1 << iota // EVEX without {k}
	gather                      // a mask is needed, registers must differ
	reverse                     // the next row is the same move with reg and rm exchanged
	fpPred                      // the immediate is a comparison predicate, printed in the name
	intPred
	noModRM // the register is in the opcode or understood
	sibMem  // the address has an index
)

// form is the operands in order.
type form struct {
	slot [4]slot
	n    uint8
}

type slot struct {
	at    field
	takes kind
	size  size
}

// field is where an operand goes in the encoding.
type field uint8

const (
	inReg   field = iota // ModRM.reg
	inVvvv               // VEX.vvvv
	inRM                 // ModRM.rm, with SIB and displacement
	inIs4                // upper half of an immediate byte
	inImm8               // unsigned
	inImm8s              // sign-extended
	inImm32
	inImm64
	inOpc    // low bits of the opcode
	implicit // RAX, or the number 1: not in the encoding
)

// kind is what an operand is; rows hold sets of kinds.
type kind uint8

const (
	kR kind = 1 << iota
	kR32
	kV
	kK
	kM
	kVM // memory with a vector index
	kImm
	kT
	kGP  = kR | kR32
	kXM  = kV | kM
	kGPM = kGP | kM
)

// size is the width of an operand: of vectors relative to the length.
type size uint8

const (
	full size = iota
	half
	quarter
	eighth
	xmm
	ymm
	opSize // 32 or 64 bits, the same for all such operands
	s8
	s16
	s32
	s64
	unsized
)

func operands(s ...slot) form {
	f := form{n: uint8(len(s))}
	copy(f.slot[:], s)
	return f
}

var (
	vReg  = slot{inReg, kV, full}
	vVvvv = slot{inVvvv, kV, full}
	vRM   = slot{inRM, kXM, full}
	imm8  = slot{inImm8, kImm, unsized}
)

// The operand forms, named as in the manual: r ModRM.reg, v VEX.vvvv,
// m ModRM.rm, i immediate; k marks a mask destination, g a general register.
var (
	rvm  = operands(vReg, vVvvv, vRM)
	rvmi = operands(vReg, vVvvv, vRM, imm8)
	rm   = operands(vReg, vRM)
	rmi  = operands(vReg, vRM, imm8)
	mr   = operands(vRM, vReg)
	mri  = operands(vRM, vReg, imm8)
	vmi  = operands(vVvvv, vRM, imm8)
	rvmr = operands(vReg, vVvvv, vRM, slot{inIs4, kV, full})
	mvr  = operands(slot{inRM, kM, full}, vVvvv, vReg)
	kvm  = operands(slot{inReg, kK, unsized}, vVvvv, vRM)
	kvmi = operands(slot{inReg, kK, unsized}, vVvvv, vRM, imm8)
	kmi  = operands(slot{inReg, kK, unsized}, vRM, imm8)

	gatherEVEX = operands(vReg, slot{inRM, kVM, full})
	gatherVEX  = operands(vReg, slot{inRM, kVM, full}, vVvvv)
	scatter    = operands(slot{inRM, kVM, full}, vReg)
)

// def adds a mnemonic with its rows.
func def(name string, rs ...row) Op {
	op := Op(len(mnemonics))
	first := len(rows)
	for _, r := range rs {
		r.op = op
		rows = append(rows, r)
	}
	mnemonics = append(mnemonics, mnemonic{name, uint16(first), uint16(len(rows))})
	return op
}

// enc makes a row with both VEX and EVEX encodings; the methods below narrow it.
func enc(mm opMap, pp prefix, w wBit, opc byte, t tuple, f form) row {
	return row{enc: both, mm: mm, pp: pp, w: w, opc: opc, ext: -1, tuple: t, form: f}
}

func (r row) vex() row           { r.enc = hasVEX; return r }
func (r row) evex() row          { r.enc = hasEVEX; return r }
func (r row) legacy() row        { r.enc = hasLegacy; return r }
func (r row) vexAlone() row      { r.enc = both | vexAlone; return r }
func (r row) slash(ext int8) row { r.ext = ext; return r }
func (r row) only(l lenRule) row { r.len = l; return r }
func (r row) flag(f rowFlag) row { r.flags |= f; return r }
func (r row) mem() row           { return r.rm(kM) }
func (r row) reg() row           { return r.rm(kV) }
func (r row) scalar() row        { return r.only(len128) }
func (r row) sizes(s ...size) row { // of the operands in order
	for i, s := range s {
		r.slot[i].size = s
	}
	return r
}

// rm narrows what the ModRM.rm operand may be.
func (r row) rm(k kind) row {
	for i := range r.slot[:r.n] {
		if r.slot[i].at == inRM {
			r.slot[i].takes = k
		}
	}
	return r
}
