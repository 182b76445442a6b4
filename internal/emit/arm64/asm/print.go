package asm

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// Listing is the code as text: offset, word, instruction.
func (a *Asm) Listing() string {
	var b strings.Builder
	end := uint32(0)
	for i := range a.list {
		in := &a.list[i]
		if in.op == noOp {
			fmt.Fprintf(&b, "%v:\n", labelText(in.args[0].(Label)))
			continue
		}
		end = in.at + 4
		fmt.Fprintf(&b, "%5x  %08x  %s\n", in.at, binary.LittleEndian.Uint32(a.code[in.at:]), in.text())
	}
	for _, c := range a.pool {
		if a.done {
			fmt.Fprintf(&b, "%v:\n%5x  %x\n", labelText(c.label), end, c.data)
			end += 16
		}
	}
	return b.String()
}

func labelText(l Label) string { return fmt.Sprintf("L%d", int(l)) }

// text is the instruction in Arm's syntax.
func (in *entry) text() string {
	r := &rows[in.op]
	slots := forms[r.form]
	var parts []string
	for i, x := range in.args[:in.n] {
		if i >= len(slots) { // too many, which is refused
			break
		}
		if part := argText(r, slots[i], x); strings.HasPrefix(part, "[") && slots[i] != mem && slots[i] != base {
			parts[len(parts)-1] += part
		} else if part != "" {
			parts = append(parts, part)
		}
	}
	name := r.name
	switch r.form {
	case formJumpIf:
		name += parts[0]
		parts = parts[1:]
	case formVBase:
		parts[0] = "{ " + parts[0] + " }"
	case formV:
		parts = append(parts, "#0")
	}
	return strings.TrimSpace(fmt.Sprintf("%-7s %s", name, strings.Join(parts, ", ")))
}

func argText(r *row, s slot, x Arg) string {
	switch x := x.(type) {
	case X:
		return registerText(r.lanes[laneSlot(s)], x)
	case V:
		switch lanes := r.lanes[laneSlot(s)]; lanes {
		case "b", "h", "s", "d", "q":
			if r.form == formVLane || r.form == formXLane || r.form == formLaneX || r.form == formLaneLane || s == vM {
				return fmt.Sprintf("v%d.%s", x, lanes)
			}
			return fmt.Sprintf("%s%d", lanes, x)
		default:
			return fmt.Sprintf("v%d.%s", x, lanes)
		}
	case Imm:
		switch s {
		case lsl, quarter:
			if s == quarter {
				x *= 16
			}
			if x == 0 {
				return ""
			}
			return fmt.Sprintf("lsl #%d", x)
		case lowBits:
			return fmt.Sprintf("#0, #%d", x)
		case laneD, laneN, laneM, laneS:
			return fmt.Sprintf("[%d]", x)
		}
		return fmt.Sprintf("#%d", x)
	case Cond:
		if int(x) < len(condNames) {
			return condNames[x]
		}
	case Mem:
		return x.String()
	case Label:
		return labelText(x)
	}
	return "?"
}

// laneSlot is which arrangement of a row belongs to a slot.
func laneSlot(s slot) int {
	switch s {
	case xD, vD:
		return 0
	case xN, vN:
		return 1
	}
	return 2
}

func registerText(width string, x X) string {
	if width == "" {
		width = "x"
	}
	if x == ZR {
		return width + "zr"
	}
	return fmt.Sprintf("%s%d", width, x)
}

func (m Mem) String() string {
	if m.disp != 0 {
		return fmt.Sprintf("[x%d, #%d]", m.base, m.disp)
	}
	return fmt.Sprintf("[x%d]", m.base)
}
