package x86sim

import (
	"encoding/hex"
	"fmt"
	"unsafe"
)

// instr is a decoded instruction.
type instr struct {
	do  func(m *machine, in *instr)
	op  *opcode
	at  uintptr
	end uintptr

	len    int // bytes of a vector: 16, 32 or 64
	reg    uint8
	vvvv   uint8
	rm     uint8 // a register, unless memory
	is4    uint8
	mask   uint8
	memory bool
	zero   bool
	bcast  bool
	evex   bool
	wide   bool // W
	rex    bool // there is a REX prefix: registers 4 to 7 of bytes are the low ones

	base, index int8 // of the address; -1: none
	vindex      uint8
	scale       uint8
	disp        int64 // or the address, if relative to the instruction pointer
	imm         int64
}

// encoding is how an instruction is written.
type encoding uint8

const (
	legacy encoding = 1 << iota
	vex
	evex
)

// key is what names an opcode, without the prefixes that say its operands.
type key struct {
	enc encoding
	mm  uint8 // 0: one byte, 1: 0F, 2: 0F38, 3: 0F3A
	pp  uint8 // 0: none, 1: 66, 2: F3, 3: F2
	opc uint8
}

// reader takes the bytes of an instruction one after another.
type reader struct {
	start, at uintptr
}

func (r *reader) byte() uint8 {
	b := *(*uint8)(pointer(r.at))
	r.at++
	return b
}

func (r *reader) signed(bytes int) int64 {
	var u uint64
	for i := range bytes {
		u |= uint64(r.byte()) << (8 * i)
	}
	shift := 64 - 8*bytes
	return int64(u<<shift) >> shift
}

func (r *reader) bytes() []byte {
	return unsafe.Slice((*byte)(pointer(r.start)), int(r.at-r.start))
}

// prefixes are the bits of REX, VEX and EVEX, those that extend registers as 0 and 1.
type prefixes struct {
	key
	w, r, x, b  uint8
	r2, v2      uint8 // fifth bits, of EVEX alone
	vvvv, l     uint8
	mask        uint8
	zero, bcast bool
	rex         bool
}

// decode reads the instruction at an address.
func decode(at uintptr) (instr, error) {
	r := &reader{at, at}
	p := r.prefixes()
	p.opc = r.byte()
	rows := opcodes[p.key]
	if rows == nil && p.enc == legacy && p.mm == 0 {
		rows = opcodes[key{legacy, 0, p.pp, p.opc &^ 7}] // a register in the opcode
		if rows != nil && !rows[0].inOpcode {
			rows = nil
		}
	}
	unknown := func() (instr, error) {
		return instr{}, fmt.Errorf("no instruction is known that begins with %s", hex.EncodeToString(r.bytes()))
	}
	if rows == nil {
		return unknown()
	}
	in := instr{
		at: at, len: 16 << p.l, vvvv: p.vvvv, mask: p.mask, zero: p.zero,
		evex: p.enc == evex, wide: p.w != 0, rex: p.rex, base: -1, index: -1,
	}
	if rows[0].inOpcode {
		in.rm = p.opc&7 | p.b<<3
	}
	var modrm uint8
	if !rows[0].noModRM {
		modrm = r.byte()
		in.memory = modrm>>6 != 3
	}
	in.op = choose(rows, &p, modrm, in.memory)
	if in.op == nil {
		return unknown()
	}
	in.do = in.op.do
	if !rows[0].noModRM {
		in.reg = modrm>>3&7 | p.r<<3 | p.r2<<4
		if in.memory {
			in.bcast = p.bcast
			r.address(&in, &p, modrm)
		} else {
			in.rm = modrm&7 | p.b<<3
			if p.enc == evex { // of a general register it says nothing
				in.rm |= p.x << 4
			}
			if p.bcast {
				return instr{}, fmt.Errorf("%s: static rounding", in.op.name)
			}
		}
	}
	bytes := in.op.imm
	if bytes < 0 { // the length of the operand
		bytes = 4
		if p.pp == 1 {
			bytes = 2
		}
		if in.op.inOpcode && in.wide {
			bytes = 8
		}
	}
	immediate := r.at
	in.imm = r.signed(bytes)
	if in.op.is4 {
		in.is4 = *(*uint8)(pointer(immediate)) >> 4
	}
	in.end = r.at
	if in.base == nextInstruction {
		in.disp += int64(in.end)
	}
	return in, nil
}

const nextInstruction = -2 // as the base of an address

// prefixes reads what precedes the opcode.
func (r *reader) prefixes() (p prefixes) {
	p.enc = legacy
	b := r.byte()
	for ; b == 0x66 || b == 0xF3 || b == 0xF2; b = r.byte() {
		p.pp = map[uint8]uint8{0x66: 1, 0xF3: 2, 0xF2: 3}[b]
	}
	if b&0xF0 == 0x40 {
		p.rex, p.w, p.r, p.x, p.b = true, b>>3&1, b>>2&1, b>>1&1, b&1
		b = r.byte()
	}
	switch b {
	case 0x0F:
		p.mm = 1
		switch *(*uint8)(pointer(r.at)) {
		case 0x38:
			p.mm = 2
			r.at++
		case 0x3A:
			p.mm = 3
			r.at++
		}
	case 0xC5:
		c := r.byte()
		p.enc, p.mm = vex, 1
		p.r = ^c >> 7 & 1
		p.last(c)
	case 0xC4:
		c, d := r.byte(), r.byte()
		p.enc, p.mm = vex, c&31
		p.r, p.x, p.b, p.w = ^c>>7&1, ^c>>6&1, ^c>>5&1, d>>7
		p.last(d)
	case 0x62:
		c, d, e := r.byte(), r.byte(), r.byte()
		p.enc, p.mm = evex, c&7
		p.r, p.x, p.b, p.r2, p.w = ^c>>7&1, ^c>>6&1, ^c>>5&1, ^c>>4&1, d>>7
		p.vvvv, p.pp = ^d>>3&15, d&3
		p.v2 = ^e >> 3 & 1
		p.vvvv |= p.v2 << 4
		p.zero, p.l, p.bcast, p.mask = e>>7 != 0, e>>5&3, e>>4&1 != 0, e&7
	default:
		r.at--
	}
	return p
}

// last takes the byte that ends both forms of VEX.
func (p *prefixes) last(b uint8) { p.vvvv, p.l, p.pp = ^b>>3&15, b>>2&1, b&3 }

// address reads SIB and displacement.
func (r *reader) address(in *instr, p *prefixes, modrm uint8) {
	mod, rm := modrm>>6, modrm&7
	in.base = int8(rm | p.b<<3)
	if rm == 4 {
		sib := r.byte()
		in.scale = sib >> 6
		in.base = int8(sib&7 | p.b<<3)
		in.index = int8(sib>>3&7 | p.x<<3)
		in.vindex = uint8(in.index) | p.v2<<4
		if in.index == 4 && !in.op.vsib {
			in.index = -1
		}
		if mod == 0 && sib&7 == 5 {
			in.base, mod = -1, 2
		}
	} else if mod == 0 && rm == 5 {
		in.base, mod = nextInstruction, 2
	}
	switch mod {
	case 1:
		in.disp = r.signed(1) * int64(in.unit())
	case 2:
		in.disp = r.signed(4)
	}
}

// unit is what an 8-bit displacement counts.
func (in *instr) unit() int {
	switch {
	case !in.evex:
		return 1
	case in.bcast:
		return in.op.elem
	}
	return in.op.memory.bytes(in.len)
}
