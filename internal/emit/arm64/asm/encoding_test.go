package asm

import (
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// testdata/encodings.txt holds the words that LLVM's assembler makes of the
// texts; they are never our own output. With -update and llvm-mc at hand it is
// written anew.
const encodings = "testdata/encodings.txt"

var update = flag.Bool("update", false, "have llvm-mc assemble the encodings anew")

// sample is an instruction with operands.
type sample struct {
	op   Op
	args []Arg
}

// samples has each instruction with low and high registers, and each immediate
// and address at its limits.
func samples() []sample {
	var all []sample
	for op := Op(1); op < ops; op++ {
		slots := forms[rows[op].form]
		for variant := range 6 {
			s := sample{op: op}
			distinct := variant == 0
			for i, slot := range slots {
				choices := choicesOf(&rows[op], slot, i)
				if choices == nil {
					s.args = nil
					break
				}
				s.args = append(s.args, choices[min(variant, len(choices)-1)])
				distinct = distinct || variant < len(choices)
			}
			if distinct && len(s.args) == len(slots) {
				all = append(all, s)
			}
		}
	}
	return all
}

func choicesOf(r *row, s slot, i int) []Arg {
	size := 1 << r.size
	switch s {
	case xD, xN, xM, xA:
		return []Arg{X(i), X(30 - i)}
	case vD, vN, vM:
		return []Arg{V(i), V(31 - i)}
	case lsl, shiftUp, shiftDn:
		return []Arg{Imm(0), Imm(1), Imm(63), Imm(7)}
	case imm12:
		return []Arg{Imm(0), Imm(4095), Imm(4096), Imm(4095 << 12)}
	case imm16:
		return []Arg{Imm(1), Imm(0xFFFF), Imm(0x1234), Imm(0xABCD)}
	case quarter:
		return []Arg{Imm(0), Imm(1), Imm(2), Imm(3)}
	case lowBits:
		return []Arg{Imm(3), Imm(63), Imm(17)}
	case cond, condSet:
		return []Arg{EQ, LT, UGT, MI, UGE, LE}
	case mem:
		return []Arg{Ptr(1, 0), Ptr(30, 4095*size), Ptr(2, -256), Ptr(3, 255)}
	case base:
		return []Arg{Ptr(1, 0), Ptr(30, 0)}
	case laneD, laneN, laneS:
		return []Arg{Imm(0), Imm(16>>r.size - 1), Imm(1)}
	case laneM:
		return []Arg{Imm(0), Imm(1), Imm(2), Imm(3)}
	case byte4:
		return []Arg{Imm(1), Imm(15), Imm(8)}
	case vShl:
		return []Arg{Imm(0), Imm(8<<r.size - 1), Imm(1)}
	case vShr:
		return []Arg{Imm(1), Imm(8 << r.size), Imm(2)}
	}
	return nil // labels are tested apart
}

func TestEncodings(t *testing.T) {
	var texts []string
	a := New()
	for _, s := range samples() {
		a.Op(s.op, s.args...)
	}
	code, err := a.Finish()
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.list {
		texts = append(texts, a.list[i].text())
	}
	if *update {
		assemble(t, texts)
	}
	file, err := os.ReadFile(encodings)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(file)), "\n")
	if len(lines) != len(texts) {
		t.Fatalf("%d instructions, %d on file", len(texts), len(lines))
	}
	for i, line := range lines {
		want, text, _ := strings.Cut(line, " ")
		got := fmt.Sprintf("%08x", binary.LittleEndian.Uint32(code[4*i:]))
		if text != texts[i] || got != want {
			t.Errorf("%s %s, on file %s", got, texts[i], line)
		}
	}
}

// assemble has llvm-mc make the words of texts and writes the file.
func assemble(t *testing.T, texts []string) {
	cmd := exec.Command("llvm-mc", "-triple=aarch64", "-mattr=+dotprod,+i8mm,+bf16,+fullfp16", "-show-encoding")
	cmd.Stdin = strings.NewReader(strings.Join(texts, "\n"))
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaints.String())
	}
	var b strings.Builder
	found := regexp.MustCompile(`encoding: \[0x(..),0x(..),0x(..),0x(..)\]`).FindAllStringSubmatch(string(out), -1)
	if len(found) != len(texts) {
		t.Fatalf("llvm-mc assembled %d of %d", len(found), len(texts))
	}
	for i, m := range found {
		fmt.Fprintf(&b, "%s%s%s%s %s\n", m[4], m[3], m[2], m[1], texts[i])
	}
	if err := os.MkdirAll("testdata", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(encodings, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Distances are counted in instructions from the one that holds them.
func TestLabels(t *testing.T) {
	a := New()
	top, end := a.Here(), a.NewLabel()
	pi := a.Const([16]byte{1, 2, 3})
	a.Op(LDRLIT, V(3), pi)
	a.Op(BCOND, GE, end)
	a.Op(CBNZ, X(5), top)
	a.Op(B, top)
	a.Bind(end)
	a.Op(RET)
	code, err := a.Finish()
	if err != nil {
		t.Fatal(err)
	}
	// As llvm-mc has them, "ldr q3, #32; b.ge #12; cbnz x5, #-8; b #-12; ret".
	for i, want := range []uint32{0x9c000103, 0x5400006a, 0xb5ffffc5, 0x17fffffd, 0xd65f03c0} {
		if got := binary.LittleEndian.Uint32(code[4*i:]); got != want {
			t.Errorf("instruction %d is %08x, not %08x", i, got, want)
		}
	}
	if code[32] != 1 || len(code) != 48 {
		t.Errorf("the constant does not lie behind the code: %x", code)
	}
}

// MovImm makes every number.
func TestMovImm(t *testing.T) {
	for _, n := range []int64{0, 1, -1, 65535, 65536, -65536, 1 << 40, 0x123456789ABCDEF0, -0x123456789ABCDEF, 1<<63 - 1, -1 << 63, 0xFFFF0000} {
		a := New()
		a.MovImm(7, n)
		value := uint64(0)
		for _, in := range a.list {
			v, at := uint64(in.args[1].(Imm)), 16*uint(in.args[2].(Imm))
			switch in.op {
			case MOVZ:
				value = v << at
			case MOVN:
				value = ^(v << at)
			case MOVK:
				value = value&^(0xFFFF<<at) | v<<at
			}
		}
		if int64(value) != n || len(a.list) > 4 {
			t.Errorf("%#x became %#x in %d instructions", n, value, len(a.list))
		}
	}
}

func TestRefusals(t *testing.T) {
	for name, f := range map[string]func(a *Asm){
		"too few operands":    func(a *Asm) { a.Op(ADD, X(0), X(1)) },
		"too many":            func(a *Asm) { a.Op(RET, X(0)) },
		"a vector":            func(a *Asm) { a.Op(ADD, X(0), X(1), V(2)) },
		"register 32":         func(a *Asm) { a.Op(FADD4S, V(0), V(1), V(32)) },
		"immediate":           func(a *Asm) { a.Op(ADDI, X(0), X(1), Imm(4097)) },
		"negative":            func(a *Asm) { a.Op(CMPI, X(0), Imm(-1)) },
		"shift of 0":          func(a *Asm) { a.Op(USHR4S, V(0), V(1), Imm(0)) },
		"lane":                func(a *Asm) { a.Op(DUP2D, V(0), V(1), Imm(2)) },
		"odd displacement":    func(a *Asm) { a.Op(LDR, X(0), Ptr(1, 257)) },
		"far displacement":    func(a *Asm) { a.Op(LDRVQ, V(0), Ptr(1, 65536)) },
		"base only":           func(a *Asm) { a.Op(LD1R4S, V(0), Ptr(1, 4)) },
		"condition":           func(a *Asm) { a.Op(CSET, X(0), Cond(14)) },
		"unknown label":       func(a *Asm) { a.Op(B, Label(1)) },
		"unbound label":       func(a *Asm) { a.Op(B, a.NewLabel()) },
		"label twice":         func(a *Asm) { a.Bind(a.Here()) },
		"no instruction":      func(a *Asm) { a.Op(0) },
		"after the end":       func(a *Asm) { _, _ = a.Finish(); a.Op(RET) },
		"constant at the end": func(a *Asm) { _, _ = a.Finish(); a.Const([16]byte{}) },
		"nil":                 func(a *Asm) { a.Op(BR, nil) },
	} {
		a := New()
		f(a)
		if _, err := a.Finish(); err == nil {
			t.Errorf("%s: assembled as %s", name, a.Listing())
		}
	}
}
