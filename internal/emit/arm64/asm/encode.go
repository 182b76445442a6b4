package asm

// slot is one operand of a form: what it must be, and where it goes.
type slot uint8

const (
	xD slot = iota + 1
	xN
	xM
	xA
	vD
	vN
	vM
	lsl      // of m; may be left out
	imm12    // may be a multiple of 4096
	imm16    //
	quarter  // which 16 bits
	shiftUp  // of a general register
	shiftDn  //
	lowBits  //
	cond     // of a selection
	condSet  // of CSET, which encodes the opposite
	condJump //
	mem
	base
	label26
	label19
	laneD
	laneN
	laneM // of a product by one lane
	laneS // of n, for INS from a lane
	byte4
	vShl
	vShr
)

var forms = [...][]slot{
	formNone: {}, formX: {xN}, formXXX: {xD, xN, xM}, formXXXLsl: {xD, xN, xM, lsl}, formXXXX: {xD, xN, xM, xA},
	formXX: {xN, xM}, formXtoX: {xD, xN}, formXXImm: {xD, xN, imm12}, formXImm: {xN, imm12}, formWide: {xD, imm16, quarter},
	formLsl: {xD, xN, shiftUp}, formShift: {xD, xN, shiftDn}, formLow: {xD, xN, lowBits},
	formSelect: {xD, xN, xM, cond}, formSet: {xD, condSet},
	formXMem: {xD, mem}, formVMem: {vD, mem}, formVBase: {vD, base}, formLit: {vD, label19},
	formJump: {label26}, formJumpIf: {condJump, label19}, formJumpX: {xD, label19},
	formV: {vD}, formVV: {vD, vN}, formVVV: {vD, vN, vM}, formVVVLane: {vD, vN, vM, laneM}, formVVExt: {vD, vN, vM, byte4},
	formVShl: {vD, vN, vShl}, formVShr: {vD, vN, vShr}, formVX: {vD, xN}, formXV: {xD, vN},
	formVLane: {vD, vN, laneN}, formXLane: {xD, vN, laneN}, formLaneX: {vD, laneN, xN}, formLaneLane: {vD, laneD, vN, laneS},
}

// encode returns the word of an instruction, or what is wrong with its operands.
func (a *Asm) encode(r *row, args []Arg) (word uint32, bad string) {
	slots := forms[r.form]
	if n := len(slots); len(args) != n && !(len(args) == n-1 && n > 0 && slots[n-1] == lsl) {
		return 0, "wrong number of operands"
	}
	word = r.word
	for i, x := range args {
		switch s := slots[i]; x := x.(type) {
		case X:
			bad = place(&word, s, xD, xN, xM, xA, uint32(x))
		case V:
			bad = place(&word, s, vD, vN, vM, 0, uint32(x))
		case Imm:
			bad = immediate(&word, r, s, int64(x))
		case Cond:
			bad = condition(&word, s, x)
		case Mem:
			bad = x.encode(&word, r, s)
		case Label:
			bad = a.refer(s, x)
		default:
			bad = "nil operand"
		}
		if bad != "" {
			return 0, bad
		}
	}
	return word, ""
}

const wrongKind = "an operand of the wrong kind"

func place(word *uint32, s, d, n, m, a slot, reg uint32) string {
	if reg > 31 {
		return "registers end at 31"
	}
	switch s {
	case d:
		*word |= reg
	case n:
		*word |= reg << 5
	case m:
		*word |= reg << 16
	case a:
		*word |= reg << 10
	default:
		return wrongKind
	}
	return ""
}

func immediate(word *uint32, r *row, s slot, n int64) string {
	lane := func(at uint, size uint8) string {
		if n < 0 || n >= 16>>size {
			return "no such lane"
		}
		*word |= (uint32(n)<<(size+1) | 1<<size) << at
		return ""
	}
	in := func(lo, hi int64) bool { return lo <= n && n < hi }
	v := uint32(n)
	switch s {
	case lsl:
		if in(0, 64) {
			*word |= v << 10
			return ""
		}
	case imm12:
		if in(0, 4096) {
			*word |= v << 10
			return ""
		}
		if in(0, 1<<24) && n%4096 == 0 {
			*word |= 1<<22 | v>>12<<10
			return ""
		}
	case imm16:
		if in(0, 1<<16) {
			*word |= v << 5
			return ""
		}
	case quarter:
		if in(0, 4) {
			*word |= v << 21
			return ""
		}
	case shiftUp:
		if in(0, 64) {
			*word |= (64-v)%64<<16 | (63-v)<<10
			return ""
		}
	case shiftDn:
		if in(0, 64) {
			*word |= v << 16
			return ""
		}
	case lowBits:
		if in(1, 65) {
			*word |= (v - 1) << 10
			return ""
		}
	case byte4:
		if in(0, 16) {
			*word |= v << 11
			return ""
		}
	case vShl:
		if width := int64(8) << r.size; in(0, width) {
			*word |= (uint32(width) + v) << 16
			return ""
		}
	case vShr:
		if width := int64(8) << r.size; in(1, width+1) {
			*word |= (2*uint32(width) - v) << 16
			return ""
		}
	case laneD, laneN:
		return lane(16, r.size)
	case laneS:
		if in(0, 16>>r.size) {
			*word |= v << r.size << 11
			return ""
		}
	case laneM:
		if in(0, 4) {
			*word |= v&1<<21 | v>>1<<11
			return ""
		}
	default:
		return wrongKind
	}
	return "an immediate out of range"
}

func condition(word *uint32, s slot, c Cond) string {
	if c > LE {
		return "no such condition"
	}
	switch s {
	case cond:
		*word |= uint32(c) << 12
	case condSet:
		*word |= uint32(c.Not()) << 12
	case condJump:
		*word |= uint32(c)
	default:
		return wrongKind
	}
	return ""
}

// encode takes the form of an access that has room for the address: a multiple
// of its size, or a small distance of either sign.
func (m Mem) encode(word *uint32, r *row, s slot) string {
	if m.base > 31 {
		return "registers end at 31"
	}
	const unsignedForm = 1 << 24
	*word |= uint32(m.base) << 5
	switch {
	case s == base && m.disp == 0:
	case s != mem:
		return wrongKind
	case !fits(int64(m.disp), 1<<r.size):
		return "a displacement out of range"
	case m.disp >= 0 && m.disp%(1<<r.size) == 0:
		*word |= uint32(m.disp) >> r.size << 10
	default:
		*word = *word&^unsignedForm | uint32(m.disp)&0x1FF<<12
	}
	return ""
}

// refer notes that the instruction being assembled holds the distance to l.
func (a *Asm) refer(s slot, l Label) string {
	f := fixup{at: uint32(len(a.code)), label: l}
	switch {
	case !a.known(l):
		return "an unknown label"
	case s == label26:
		f.bits = 26
	case s == label19:
		f.bits, f.shift = 19, 5
	default:
		return wrongKind
	}
	a.fixups = append(a.fixups, f)
	return ""
}

// Reaches tells whether the access op can have a displacement of disp bytes.
func Reaches(op Op, disp int64) bool {
	if op >= ops || rows[op].form == formVBase {
		return disp == 0
	}
	return fits(disp, 1<<rows[op].size)
}
