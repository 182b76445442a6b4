package x86sim

import (
	"fmt"
	"strconv"
	"strings"
)

// opcode is one row of the manual: how an instruction is written and what it does.
type opcode struct {
	name string
	// text is the encoding as the manual has it, "EVEX.66.0F38.W0 B8 /r ib", with
	// these differences: VEX|EVEX stands for both, We0 and We1 for a W that VEX
	// ignores and EVEX wants; /m and /rr are ModRM with memory and with a register
	// alone, + a register in the opcode; nothing about ModRM means /r; length is
	// said where it tells instructions apart, and "iv" is an immediate of the
	// operand's length.
	text   string
	memory unit // what a memory operand takes, and a compressed displacement counts
	elem   int  // bytes of the element that may be broadcast, or of which memory is read by a mask
	do     func(m *machine, in *instr)

	key
	w, ext, l int8 // -1: any
	mem, reg  bool // memory alone, a register alone
	imm       int
	is4       bool
	inOpcode  bool
	noModRM   bool
	vsib      bool // the address has an index of vectors
	jumps     bool // ends a block
	relative  bool // to the end and the immediate
	falls     bool // or goes on
}

// unit is how much memory an operand takes: bytes, or a share of the vector.
type unit int

const (
	full unit = -1 - iota
	half
	quarter
	eighth
)

func (u unit) bytes(length int) int {
	if u < 0 {
		return length >> (full - u)
	}
	return max(int(u), 1)
}

// opcodes are the rows by what they begin with, filled by the tables of this
// package and constant afterwards.
var opcodes = map[key][]*opcode{}

func init() {
	for _, rows := range [][]opcode{generalRows, moveRows, shuffleRows, floatRows, integerRows, convertRows, maskRows, dotRows} {
		for i := range rows {
			enter(&rows[i])
		}
	}
}

// enter reads the row's encoding.
func enter(o *opcode) {
	o.w, o.ext, o.l = -1, -1, -1
	words := strings.Fields(o.text)
	if len(words) == 1 || !isOpcode(words[1]) { // no prefix
		words = append([]string{"NP"}, words...)
	}
	fields := strings.Split(words[0], ".")
	var encodings []encoding
	for e := range strings.SplitSeq(fields[0], "|") {
		switch e {
		case "VEX":
			encodings = append(encodings, vex)
		case "EVEX":
			encodings = append(encodings, evex)
		}
	}
	if encodings == nil {
		encodings = []encoding{legacy}
	}
	weak := false
	for _, f := range fields {
		switch f {
		case "66":
			o.pp = 1
		case "F3":
			o.pp = 2
		case "F2":
			o.pp = 3
		case "0F":
			o.mm = 1
		case "0F38":
			o.mm = 2
		case "0F3A":
			o.mm = 3
		case "W0":
			o.w = 0
		case "W1":
			o.w = 1
		case "We0":
			o.w, weak = 0, true
		case "We1":
			o.w, weak = 1, true
		case "L0":
			o.l = 0
		case "L1":
			o.l = 1
		case "VEX", "EVEX", "VEX|EVEX", "NP":
		default:
			panic(fmt.Sprintf("x86sim: %s: what is %q in an encoding?", o.name, f))
		}
	}
	opc, _ := strconv.ParseUint(words[1], 16, 8)
	o.opc = uint8(opc)
	for _, f := range words[2:] {
		o.modifier(f)
	}
	for _, e := range encodings {
		row := *o
		row.enc = e
		if weak && e == vex {
			row.w = -1
		}
		opcodes[row.key] = append(opcodes[row.key], &row)
	}
}

func isOpcode(word string) bool {
	_, err := strconv.ParseUint(word, 16, 8)
	return err == nil && len(word) == 2
}

func (o *opcode) modifier(f string) {
	switch f {
	case "/m":
		o.mem = true
	case "/rr":
		o.reg = true
	case "ib":
		o.imm = 1
	case "id":
		o.imm = 4
	case "iv":
		o.imm = -1
	case "is4":
		o.imm, o.is4 = 1, true
	case "+":
		o.inOpcode, o.noModRM = true, true
	case "alone":
		o.noModRM = true
	case "vsib":
		o.vsib, o.mem = true, true
	case "jumps":
		o.jumps = true
	case "rel":
		o.jumps, o.relative = true, true
	case "falls":
		o.falls = true
	default:
		n, ok := strings.CutPrefix(f, "/")
		ext, err := strconv.Atoi(n)
		if !ok || err != nil {
			panic(fmt.Sprintf("x86sim: %s: what is %q behind an opcode?", o.name, f))
		}
		o.ext = int8(ext)
	}
}

// choose returns the row that the prefixes and ModRM leave.
func choose(rows []*opcode, p *prefixes, modrm uint8, memory bool) *opcode {
	for _, o := range rows {
		switch {
		case o.w >= 0 && o.w != int8(p.w),
			o.l >= 0 && o.l != int8(p.l),
			o.ext >= 0 && o.ext != int8(modrm>>3&7),
			o.mem && !memory, o.reg && memory:
			continue
		}
		return o
	}
	return nil
}
