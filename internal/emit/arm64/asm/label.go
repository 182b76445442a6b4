package asm

import "encoding/binary"

const unbound = -1

// fixup is a distance, in instructions, to be filled in when its label is known.
type fixup struct {
	at    uint32
	label Label
	bits  uint8
	shift uint8
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
		a.list = append(a.list, entry{at: uint32(len(a.code)), args: [4]Arg{l}})
	}
}

// Here returns a label bound to the next instruction.
func (a *Asm) Here() Label {
	l := a.NewLabel()
	a.Bind(l)
	return l
}

func (a *Asm) known(l Label) bool { return l > 0 && int(l) <= len(a.labels) }

func (a *Asm) resolve() {
	for _, f := range a.fixups {
		to := a.labels[f.label-1]
		if to == unbound {
			a.fail("label %d is used and never bound", f.label)
			return
		}
		d := (int(to) - int(f.at)) / 4
		if half := 1 << (f.bits - 1); d < -half || d >= half {
			a.fail("label %d is out of reach", f.label)
			return
		}
		p := a.code[f.at:]
		word := binary.LittleEndian.Uint32(p) | uint32(d)&(1<<f.bits-1)<<f.shift
		binary.LittleEndian.PutUint32(p, word)
	}
}
