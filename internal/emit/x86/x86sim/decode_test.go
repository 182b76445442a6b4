package x86sim

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unsafe"
)

// encoded is an instruction in the bytes that llvm-mc makes of it, and its text.
type encoded struct {
	bytes []byte
	text  string
}

func (e encoded) name() string { return strings.Fields(strings.TrimPrefix(e.text, "{vex} "))[0] }

func readEncodings(t *testing.T) (list []encoded) {
	t.Helper()
	f, err := os.Open("../asm/testdata/encodings.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		code, text, ok := strings.Cut(s.Text(), " | ")
		if !ok || strings.HasPrefix(code, "#") {
			continue
		}
		b, err := hex.DecodeString(strings.TrimSpace(code))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, encoded{b, text})
	}
	return list
}

// missing are instructions of the assembler that no kernel has: code with one of
// them is refused.
var missing = regexp.MustCompile(`^(vrcp|vrsqrt|vgetexp|vgetmant|vfpclass|vtestp|vcmp.*s[sd] |vmovddup|vcvtss2sd|vcvtsd2ss|rdtsc|ud2|int3)`)

// decoded returns the instruction of some bytes.
func decoded(b []byte) (in instr, length int, err error) {
	room := append(append([]byte{}, b...), make([]byte, 16)...)
	at := uintptr(unsafe.Pointer(&room[0]))
	in, err = decode(at)
	return in, int(in.end - at), err
}

// TestDecode reads all that the assembler is tested with: the name, the length,
// the address and the mask.
func TestDecode(t *testing.T) {
	for _, e := range readEncodings(t) {
		in, n, err := decoded(e.bytes)
		if missing.MatchString(e.text) {
			if err == nil {
				t.Errorf("%x %s: is read as %s, but counted as missing", e.bytes, e.text, in.op.name)
			}
			continue
		}
		if err != nil {
			t.Errorf("%x %s: %v", e.bytes, e.text, err)
			continue
		}
		if n != len(e.bytes) {
			t.Errorf("%x %s: %d bytes, want %d", e.bytes, e.text, n, len(e.bytes))
		}
		if got := in.op.name; !sameName(got, e.name()) {
			t.Errorf("%x %s: read as %s", e.bytes, e.text, got)
		}
		if got, want := modifiers(&in), textModifiers(e.text); got != want {
			t.Errorf("%x %s: modifiers %s, want %s", e.bytes, e.text, got, want)
		}
		if want, ok := textAddress(e.text); ok {
			if got := addressText(&in); got != want {
				t.Errorf("%x %s: address %s, want %s", e.bytes, e.text, got, want)
			}
		}
	}
}

// sameName takes the names of one instruction for the same: comparisons have the
// predicate in theirs, and prefetches, fences and conditions have one row.
func sameName(row, text string) bool {
	if row == text || strings.HasPrefix(text, row) && strings.ContainsAny(row[:1], "psjc") {
		return true
	}
	switch {
	case strings.HasPrefix(text, "vcmp"), strings.HasPrefix(text, "vpcmp"):
		return strings.HasPrefix(row, text[:4]) && row[len(row)-1] == text[len(text)-1]
	case strings.HasSuffix(text, "fence"):
		return row == "fence"
	case text == "movabs":
		return row == "mov"
	case text == "cdq":
		return row == "cqo"
	}
	return false
}

func modifiers(in *instr) string {
	s := ""
	if in.mask != 0 {
		s += fmt.Sprintf("{k%d}", in.mask)
	}
	if in.zero {
		s += "{z}"
	}
	if in.bcast {
		s += "{1to}"
	}
	return s
}

var maskText = regexp.MustCompile(`\{k\d\}|\{z\}|\{1to`)

func textModifiers(text string) string {
	return strings.Replace(strings.Join(maskText.FindAllString(text, -1), ""), "{1to", "{1to}", 1)
}

var registerNames = []string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"}

func addressText(in *instr) string {
	s := "?"
	if in.base >= 0 {
		s = registerNames[in.base]
	}
	if in.index >= 0 {
		index := registerNames[in.index]
		if in.op.vsib {
			index = fmt.Sprintf("v%d", in.vindex)
		}
		s += fmt.Sprintf("+%d*%s", 1<<in.scale, index)
	}
	return s + fmt.Sprintf("+%d", in.disp)
}

var addressPattern = regexp.MustCompile(`\[(.*)\]`)

// textAddress reads an address of llvm-mc: base, scale*index, displacement.
func textAddress(text string) (string, bool) {
	found := addressPattern.FindStringSubmatch(text)
	if found == nil || strings.Contains(found[1], "rip") {
		return "", false
	}
	base, index, disp := "?", "", 0
	for term := range strings.SplitSeq(strings.ReplaceAll(found[1], "- ", "+ -"), " + ") {
		n, err := strconv.Atoi(term)
		scale, name, scaled := strings.Cut(term, "*")
		if !scaled {
			scale, name = "1", term
		}
		if v := strings.TrimLeft(name, "xyzm"); v != name {
			name = "v" + v
		}
		switch {
		case err == nil:
			disp = n
		case scaled || base != "?" || strings.HasPrefix(name, "v"):
			index = "+" + scale + "*" + name
		default:
			base = term
		}
	}
	return base + index + "+" + strconv.Itoa(disp), true
}
