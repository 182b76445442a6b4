package asm

import "encoding/binary"

// fields are the parts of an encoding that come from the operands.
type fields struct {
	reg, vvvv, rm uint8
	opc           uint8 // register in the opcode
	b, x, v       uint8 // the extension bits of ModRM.rm, SIB.index and EVEX.V'
	imm           uint8 // bytes of the immediate
	is4           uint8
	hasIs4        bool
	mem           bool
}

// encode writes in, which fits r, and adds it to the list.
func (a *Asm) encode(r *row, in *inst) {
	if src := in.n - 1; r.flags&reverse != 0 && !in.evex && in.regs[0] < 8 && in.regs[src] > 7 && in.kinds[src] == kV {
		// Exchanged operands leave the register above 7 to VEX.R, which has
		// room in the two-byte prefix.
		in.row++
		r = &rows[in.row]
	}
	f := split(r, in)
	switch {
	case r.enc&hasLegacy != 0:
		a.legacyPrefix(r, in, &f)
	case in.evex:
		a.evexPrefix(r, in, &f)
	default:
		a.vexPrefix(r, in, &f)
	}
	a.code = append(a.code, r.opc|f.opc&7)
	switch {
	case r.flags&noModRM != 0 || r.n == 0 && r.ext < 0:
	case f.mem:
		unit := 1
		if in.evex {
			unit = r.tuple.bytes(in.len)
			if in.bcast {
				unit = r.tuple.elem()
			}
		}
		a.modrm(f.reg, &in.mem, unit, f.imm)
	default:
		a.code = append(a.code, 0xC0|f.reg&7<<3|f.rm&7)
	}
	switch {
	case f.hasIs4:
		a.code = append(a.code, f.is4<<4)
	case f.imm == 1:
		a.code = append(a.code, byte(in.imm))
	case f.imm == 4:
		a.code = binary.LittleEndian.AppendUint32(a.code, uint32(in.imm))
	case f.imm == 8:
		a.code = binary.LittleEndian.AppendUint64(a.code, uint64(in.imm))
	}
	a.list = append(a.list, *in)
}

// split puts the operands where the row says.
func split(r *row, in *inst) (f fields) {
	if r.ext >= 0 {
		f.reg = uint8(r.ext)
	}
	for i := range r.n {
		reg := in.regs[i]
		switch r.slot[i].at {
		case inReg:
			f.reg = reg
		case inVvvv:
			f.vvvv = reg
		case inRM:
			if in.kinds[i]&(kM|kVM) != 0 {
				f.mem = true
				continue
			}
			f.rm, f.b, f.x = reg, reg>>3&1, reg>>4
		case inIs4:
			f.is4, f.hasIs4, f.imm = reg, true, 1
		case inImm8, inImm8s:
			f.imm = 1
		case inImm32:
			f.imm = 4
		case inImm64:
			f.imm = 8
		case inOpc:
			f.opc, f.b = reg, reg>>3
		}
	}
	f.v = f.vvvv >> 4
	if f.mem && in.mem.label == 0 {
		f.b = in.mem.base >> 3
		if in.mem.flags&memIndex != 0 {
			f.x = in.mem.index >> 3 & 1
			if in.mem.flags&memVector != 0 {
				f.v = in.mem.index >> 4
			}
		}
	}
	return f
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// legacyPrefix writes the mandatory prefix, REX where it says something, and
// the opcode map.
func (a *Asm) legacyPrefix(r *row, in *inst, f *fields) {
	if r.pp != np {
		a.code = append(a.code, [...]byte{p66: 0x66, pF3: 0xF3, pF2: 0xF2}[r.pp])
	}
	rex := bit(in.wide)<<3 | f.reg>>3<<2 | f.x<<1 | f.b
	for i := range r.n {
		// Without REX the byte registers 4 to 7 would be AH to BH.
		if r.slot[i].size == s8 && in.kinds[i]&kGP != 0 && in.regs[i] > 3 {
			rex |= 0x40
		}
	}
	if rex != 0 {
		a.code = append(a.code, 0x40|rex)
	}
	switch r.mm {
	case m0F:
		a.code = append(a.code, 0x0F)
	case m0F38:
		a.code = append(a.code, 0x0F, 0x38)
	}
}

// The values of prefix and opMap are those of the pp and mmm fields.
func (a *Asm) vexPrefix(r *row, in *inst, f *fields) {
	last := (^f.vvvv&15)<<3 | in.len<<2 | byte(r.pp)
	notR := ^(f.reg >> 3) & 1 << 7
	if f.x|f.b == 0 && r.mm == m0F && !in.wide {
		a.code = append(a.code, 0xC5, notR|last)
		return
	}
	a.code = append(a.code, 0xC4, notR|(^f.x&1)<<6|(^f.b&1)<<5|byte(r.mm), bit(in.wide)<<7|last)
}

func (a *Asm) evexPrefix(r *row, in *inst, f *fields) {
	a.code = append(a.code, 0x62,
		^(f.reg>>3)&1<<7|(^f.x&1)<<6|(^f.b&1)<<5|^(f.reg>>4)&1<<4|byte(r.mm),
		bit(in.wide)<<7|(^f.vvvv&15)<<3|1<<2|byte(r.pp),
		bit(in.zero)<<7|in.len<<5|bit(in.bcast)<<4|(^f.v&1)<<3|in.mask)
}

// modrm writes ModRM, SIB and displacement. An 8-bit displacement counts
// units; after the displacement come imm bytes.
func (a *Asm) modrm(reg uint8, m *M, unit int, imm uint8) {
	reg = reg & 7 << 3
	if m.label != 0 {
		if !a.known(m.label) {
			a.fail("label %d does not belong to this assembler", m.label)
			return
		}
		a.code = append(a.code, reg|5)
		a.fixups = append(a.fixups, fixup{uint32(len(a.code)), m.label, 4, imm})
		a.code = binary.LittleEndian.AppendUint32(a.code, uint32(m.disp))
		return
	}
	d := int(m.disp)
	mod := byte(2 << 6)
	switch {
	case d == 0 && m.base&7 != 5: // there no displacement means RIP
		mod = 0
	case d%unit == 0 && d/unit == int(int8(d/unit)):
		mod = 1 << 6
	}
	switch {
	case m.flags&memIndex != 0:
		a.code = append(a.code, mod|reg|4, m.scale<<6|m.index&7<<3|m.base&7)
	case m.base&7 == 4: // RSP and R12 as base need a SIB byte; index 4 is none
		a.code = append(a.code, mod|reg|4, 4<<3|4)
	default:
		a.code = append(a.code, mod|reg|m.base&7)
	}
	switch mod {
	case 1 << 6:
		a.code = append(a.code, byte(d/unit))
	case 2 << 6:
		a.code = binary.LittleEndian.AppendUint32(a.code, uint32(m.disp))
	}
}
