package asm

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Line is an entry of the listing.
type Line struct {
	Offset int
	Bytes  []byte // none for a label
	Text   string
}

// Lines returns the listing. Displacements to labels are those of the code
// after Finish; before it they are 0.
func (a *Asm) Lines() []Line {
	lines := make([]Line, len(a.list))
	for i := range a.list {
		in := &a.list[i]
		end := len(a.code)
		if i+1 < len(a.list) {
			end = int(a.list[i+1].at)
		}
		lines[i] = Line{int(in.at), a.code[in.at:end:end], in.text(a.code[in.at:end])}
	}
	return lines
}

// Listing is offset, bytes and text in Intel's syntax, a line each.
func (a *Asm) Listing() string {
	var b strings.Builder
	for _, l := range a.Lines() {
		if len(l.Bytes) == 0 {
			fmt.Fprintf(&b, "%s\n", l.Text)
			continue
		}
		fmt.Fprintf(&b, "%5x  %-24x %s\n", l.Offset, l.Bytes, l.Text)
	}
	return b.String()
}

func (in *inst) text(code []byte) string {
	switch in.what {
	case entryLabel:
		return labelName(in.label) + ":"
	case entryJump:
		return "jmp " + labelName(in.label)
	case entryJumpIf:
		return "j" + ccNames[in.cc] + " " + labelName(in.label)
	case entryPad:
		return fmt.Sprintf(".balign %d", in.imm)
	case entryConst:
		return labelName(in.label) + ": " + dataText(code, int(in.imm))
	}
	r := &rows[in.row]
	var b strings.Builder
	if r.enc&vexAlone != 0 && !in.evex {
		b.WriteString("{vex} ")
	}
	name, dropImm := r.mnemonic(in)
	b.WriteString(name)
	for i := range in.n {
		if dropImm && in.kinds[i] == kImm {
			continue
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte(' ')
		in.operandText(&b, r, int(i))
		if i == 0 && in.mask != 0 {
			b.WriteString(" {k" + strconv.Itoa(int(in.mask)) + "}")
			if in.zero {
				b.WriteString(" {z}")
			}
		}
	}
	return b.String()
}

func labelName(l Label) string { return "L" + strconv.Itoa(int(l)) }

// dataText prints a constant; the INT3 in front of the first one is not in it.
func dataText(b []byte, elem int) string {
	if len(b) < elem {
		return "not placed yet"
	}
	switch elem {
	case 4:
		u := binary.LittleEndian.Uint32(b)
		return fmt.Sprintf(".long 0x%08x # %g", u, math.Float32frombits(u))
	case 8:
		u := binary.LittleEndian.Uint64(b)
		return fmt.Sprintf(".quad 0x%016x # %g", u, math.Float64frombits(u))
	}
	var s strings.Builder
	s.WriteString(".long")
	for i := 0; i+4 <= len(b); i += 4 {
		fmt.Fprintf(&s, " 0x%x", binary.LittleEndian.Uint32(b[i:]))
	}
	return s.String()
}

var fpPredicates = [...]string{
	"eq", "lt", "le", "unord", "neq", "nlt", "nle", "ord", "eq_uq", "nge", "ngt", "false", "neq_oq", "ge", "gt", "true",
	"eq_os", "lt_oq", "le_oq", "unord_s", "neq_us", "nlt_uq", "nle_uq", "ord_s", "eq_us", "nge_uq", "ngt_uq", "false_os",
	"neq_os", "ge_oq", "gt_oq", "true_us",
}

var intPredicates = [...]string{"eq", "lt", "le", "", "neq", "nlt", "nle", ""}

// mnemonic is the name with a comparison predicate put in, as disassemblers
// show it.
func (r *row) mnemonic(in *inst) (name string, dropImm bool) {
	name = mnemonics[r.op].name
	switch {
	case r.slot[1].at == inImm64:
		return "movabs", false
	case r.flags&fpPred != 0 && in.imm < int64(len(fpPredicates)):
		return name[:4] + fpPredicates[in.imm] + name[4:], true
	case r.flags&intPred != 0 && in.imm < int64(len(intPredicates)) && intPredicates[in.imm] != "":
		return name[:5] + intPredicates[in.imm] + name[5:], true
	}
	return name, false
}

var ccNames = [...]string{"o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g"}

var regNames = [...]string{"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"}

// gpName is the name of general register n at a width.
func gpName(n uint8, s size) string {
	if n > 7 {
		return "r" + strconv.Itoa(int(n)) + map[size]string{s8: "b", s16: "w", s32: "d"}[s]
	}
	name := regNames[n]
	switch s {
	case s8:
		if n < 4 {
			return name[:1] + "l"
		}
		return name + "l"
	case s16:
		return name
	case s32:
		return "e" + name
	}
	return "r" + name
}

// vecName is the name of vector register n; l is the encoded length.
func vecName(n uint8, s size, l uint8) string {
	switch s {
	case half, quarter, eighth:
		l = uint8(max(0, int(l)-int(s-full)))
	case xmm:
		l = 0
	case ymm:
		l = 1
	}
	return "xyz"[l:l+1] + "mm" + strconv.Itoa(int(n))
}

func (in *inst) operandText(b *strings.Builder, r *row, i int) {
	s := r.slot[i].size
	if s == opSize {
		s = s32
		if in.wide {
			s = s64
		}
	}
	switch in.kinds[i] {
	case kR, kR32:
		b.WriteString(gpName(in.regs[i], s))
	case kV:
		b.WriteString(vecName(in.regs[i], s, in.len))
	case kK:
		b.WriteString("k" + strconv.Itoa(int(in.regs[i])))
	case kT:
		b.WriteString("tmm" + strconv.Itoa(int(in.regs[i])))
	case kImm:
		b.WriteString(strconv.FormatInt(in.imm, 10))
	case kM, kVM:
		n := in.memBytes(r, s)
		b.WriteString(memSizes[n])
		in.address(b)
		if in.bcast {
			fmt.Fprintf(b, "{1to%d}", r.tuple.bytes(in.len)/n)
		}
	}
}

var memSizes = map[int]string{0: "", 1: "byte ptr ", 2: "word ptr ", 4: "dword ptr ", 8: "qword ptr ",
	16: "xmmword ptr ", 32: "ymmword ptr ", 64: "zmmword ptr "}

// memBytes is the size that is printed: for gathers that of all lanes.
func (in *inst) memBytes(r *row, s size) int {
	switch {
	case r.flags&gather != 0:
		for i := range r.n {
			if r.slot[i].at == inReg {
				s = r.slot[i].size
			}
		}
		return 16 << in.len >> (s - full)
	case in.bcast:
		return r.tuple.elem()
	case r.tuple != noMem:
		return r.tuple.bytes(in.len)
	}
	return map[size]int{s8: 1, s16: 2, s32: 4, s64: 8}[s]
}

func (in *inst) address(b *strings.Builder) {
	m := &in.mem
	b.WriteByte('[')
	if m.label != 0 {
		b.WriteString("rip + " + labelName(m.label))
	} else {
		b.WriteString(gpName(m.base, s64))
	}
	if m.flags&memIndex != 0 {
		b.WriteString(" + ")
		if m.scale > 0 {
			fmt.Fprintf(b, "%d*", 1<<m.scale)
		}
		switch {
		case m.flags&memVector != 0:
			b.WriteString(vecName(m.index, in.indexSize(), in.len))
		default:
			b.WriteString(gpName(m.index, s64))
		}
	}
	switch {
	case m.disp > 0:
		fmt.Fprintf(b, " + %d", m.disp)
	case m.disp < 0:
		fmt.Fprintf(b, " - %d", -int64(m.disp))
	}
	b.WriteByte(']')
}

// indexSize is the width of the vector index, kept with the memory slot.
func (in *inst) indexSize() size {
	r := &rows[in.row]
	for i := range r.n {
		if in.kinds[i] == kVM {
			return r.slot[i].size
		}
	}
	return full
}

// describe names the operands that were given, for an error.
func (in *inst) describe(l Length) string {
	var parts []string
	for i := range in.n {
		switch in.kinds[i] {
		case kR:
			parts = append(parts, gpName(in.regs[i], s64))
		case kR32:
			parts = append(parts, gpName(in.regs[i], s32))
		case kV:
			parts = append(parts, vecName(in.regs[i], full, uint8(l-L128)))
		case kK:
			parts = append(parts, "k"+strconv.Itoa(int(in.regs[i])))
		case kT:
			parts = append(parts, "tmm"+strconv.Itoa(int(in.regs[i])))
		case kImm:
			parts = append(parts, strconv.FormatInt(in.imm, 10))
		default:
			var b strings.Builder
			in.address(&b)
			parts = append(parts, b.String())
		}
	}
	return strings.Join(parts, ", ")
}
