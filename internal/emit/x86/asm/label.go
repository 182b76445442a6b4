package asm

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Label is a position in the code, which may be used before it is bound. The
// zero Label is none.
type Label int32

const unbound = -1

// fixup is a displacement to be filled in when its label is known.
type fixup struct {
	at    uint32
	label Label
	size  uint8 // 1 or 4 bytes
	after uint8 // bytes from its end to the end of the instruction
}

// NewLabel returns a label to be bound later.
func (a *Asm) NewLabel() Label {
	a.labels = append(a.labels, unbound)
	return Label(len(a.labels))
}

// Bind puts l at the next instruction.
func (a *Asm) Bind(l Label) {
	switch {
	case !a.known(l):
		a.fail("label %d does not belong to this assembler", l)
	case a.labels[l-1] != unbound:
		a.fail("label %d is bound twice", l)
	case a.done:
		a.fail("label %d is bound after the code is finished", l)
	default:
		a.labels[l-1] = int32(len(a.code))
		a.list = append(a.list, inst{at: uint32(len(a.code)), what: entryLabel, label: l})
	}
}

// Here returns a label bound to the next instruction.
func (a *Asm) Here() Label {
	l := a.NewLabel()
	a.Bind(l)
	return l
}

func (a *Asm) known(l Label) bool { return l > 0 && int(l) <= len(a.labels) }

// J jumps to l if the condition holds. A jump backwards is short when it can
// be, a jump forwards has 32 bits: see JShort.
func (a *Asm) J(c CC, l Label) {
	a.jump(entryJumpIf, c, l, false)
}

// JShort is J in two bytes, for targets within 127 bytes; Finish reports one
// that is too far.
func (a *Asm) JShort(c CC, l Label) {
	a.jump(entryJumpIf, c, l, true)
}

// Jmp jumps to l.
func (a *Asm) Jmp(l Label) {
	a.jump(entryJump, 0, l, false)
}

// JmpShort is Jmp in two bytes, for targets within 127 bytes.
func (a *Asm) JmpShort(l Label) {
	a.jump(entryJump, 0, l, true)
}

func (a *Asm) jump(what entry, c CC, l Label, short bool) {
	if a.err != nil {
		return
	}
	if !a.known(l) || c > GT || a.done {
		a.fail("jump to label %d on condition %d: unknown, or the code is finished", l, c)
		return
	}
	at := len(a.code)
	a.list = append(a.list, inst{at: uint32(at), what: what, cc: c, label: l})
	if to := a.labels[l-1]; to != unbound && int(to)-(at+2) >= math.MinInt8 {
		short = true
	}
	switch {
	case short && what == entryJump:
		a.code = append(a.code, 0xEB, 0)
	case short:
		a.code = append(a.code, 0x70|byte(c), 0)
	case what == entryJump:
		a.code = append(a.code, 0xE9, 0, 0, 0, 0)
	default:
		a.code = append(a.code, 0x0F, 0x80|byte(c), 0, 0, 0, 0)
	}
	f := fixup{label: l, size: 4}
	if short {
		f.size = 1
	}
	f.at = uint32(len(a.code)) - uint32(f.size)
	a.fixups = append(a.fixups, f)
}

func (a *Asm) resolve() {
	for _, f := range a.fixups {
		to := a.labels[f.label-1]
		if to == unbound {
			a.fail("label %d is used and never bound", f.label)
			return
		}
		p := a.code[f.at:]
		d := int(to) - int(f.at) - int(f.size) - int(f.after)
		if f.size == 1 {
			if d < math.MinInt8 || d > math.MaxInt8 {
				a.fail("short jump over %d bytes to label %d", d, f.label)
				return
			}
			p[0] = byte(d)
			continue
		}
		d += int(int32(binary.LittleEndian.Uint32(p))) // of Rip with an offset
		if d != int(int32(d)) {
			a.fail("label %d is out of reach", f.label)
			return
		}
		binary.LittleEndian.PutUint32(p, uint32(d))
	}
}

// The no-operations of 1 to 9 bytes that Intel's optimisation manual
// recommends.
var nops = [...][]byte{
	{0x90},
	{0x66, 0x90},
	{0x0F, 0x1F, 0x00},
	{0x0F, 0x1F, 0x40, 0x00},
	{0x0F, 0x1F, 0x44, 0x00, 0x00},
	{0x66, 0x0F, 0x1F, 0x44, 0x00, 0x00},
	{0x0F, 0x1F, 0x80, 0x00, 0x00, 0x00, 0x00},
	{0x0F, 0x1F, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
	{0x66, 0x0F, 0x1F, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
}

// Align pads with no-operations to a multiple of n, a power of two up to 64.
func (a *Asm) Align(n int) {
	if a.err != nil {
		return
	}
	if n < 1 || n > 64 || bits.OnesCount(uint(n)) != 1 {
		a.fail("alignment to %d bytes: want a power of two up to 64", n)
		return
	}
	gap := -len(a.code) & (n - 1)
	if gap == 0 {
		return
	}
	if a.done {
		a.fail("alignment after the code is finished")
		return
	}
	a.list = append(a.list, inst{at: uint32(len(a.code)), what: entryPad, imm: int64(n)})
	for gap > 0 {
		k := min(gap, len(nops))
		a.code = append(a.code, nops[k-1]...)
		gap -= k
	}
}
