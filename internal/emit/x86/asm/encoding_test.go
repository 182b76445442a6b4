package asm

import (
	"bufio"
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/encodings.txt anew with the bytes of llvm-mc")

const encodings = "testdata/encodings.txt"

// The table has a line for each instruction: the bytes that llvm-mc 14 makes
// of the text, and the text as it prints it.
func readEncodings(t *testing.T) (lines []sample) {
	t.Helper()
	f, err := os.Open(encodings)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for s.Scan() {
		if strings.HasPrefix(s.Text(), "#") {
			continue
		}
		code, text, ok := strings.Cut(s.Text(), " | ")
		b, err := hex.DecodeString(strings.TrimSpace(code))
		if !ok || err != nil {
			t.Fatalf("%s: %q: want hex | text", encodings, s.Text())
		}
		lines = append(lines, sample{text, b})
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

// build assembles a line; of several Ops with its mnemonic it takes the one
// that prints like it.
func build(text string, isa ISA) (*Asm, error) {
	ops, args, only, err := parse(text)
	if err != nil {
		return nil, err
	}
	for _, op := range ops {
		a := New(min(isa, only))
		a.Op(op, args...)
		err = a.Err()
		if err == nil && (len(ops) == 1 || sameText(a.Lines()[0].Text, text)) {
			return a, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", text, err)
}

func TestEncodings(t *testing.T) {
	if *update {
		writeEncodings(t)
	}
	type key struct {
		row  uint16
		evex bool
	}
	seen := map[key]int{}
	for _, want := range readEncodings(t) {
		a, err := build(want.text, AVX512)
		if err != nil {
			t.Error(err)
			continue
		}
		got := a.Lines()[0]
		if string(got.Bytes) != string(want.code) || !sameText(got.Text, want.text) {
			t.Errorf("got  %x %s\nwant %x %s", got.Bytes, got.Text, want.code, want.text)
		}
		seen[key{a.list[0].row, a.list[0].evex}]++
	}
	for i := range rows {
		r := &rows[i]
		if r.enc&hasEVEX != 0 && seen[key{uint16(i), true}] == 0 {
			t.Errorf("row %d, %v: no line with its EVEX encoding", i, r.op)
		}
		if r.enc&(hasVEX|hasLegacy) != 0 && seen[key{uint16(i), false}] == 0 {
			t.Errorf("row %d, %v: no line with its VEX or legacy encoding", i, r.op)
		}
	}
}

// On AVX2 the same bytes must come out unless they are EVEX or use masks, and
// then an error.
func TestEncodingsAVX2(t *testing.T) {
	var same, refused int
	for _, want := range readEncodings(t) {
		a, err := build(want.text, AVX2)
		evex := want.code[0] == 0x62 && !strings.HasPrefix(want.text, "vpdp")
		switch {
		case strings.HasPrefix(want.text, "vpdp"): // AVX-VNNI has other bytes, under {vex}
		case evex || strings.HasPrefix(want.text, "k") || strings.Contains(want.text, "tmm"):
			refused++
			if err == nil {
				t.Errorf("%s: assembled without AVX-512: %x", want.text, a.code)
			}
		case err != nil:
			t.Error(err)
		default:
			same++
			if string(a.code) != string(want.code) {
				t.Errorf("%s: %x on AVX2, want %x", want.text, a.code, want.code)
			}
		}
	}
	if same == 0 || refused == 0 {
		t.Errorf("%d lines the same and %d refused: the table lacks one sort", same, refused)
	}
}

// newer is what llvm-mc 14 does not know, as GNU as 2.40 has it.
const newer = "c4e25b5cd6 | tdpfp16ps tmm2, tmm6, tmm4\n"

// writeEncodings asks llvm-mc about an instruction per row, encoding and
// length, and about every shape of address. The bytes written are its own.
func writeEncodings(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	ours := append(eachRow(rng, 1), addresses(t)...)
	var out strings.Builder
	out.WriteString("# bytes | text, both as llvm-mc 14 has them; written by go test -run TestEncodings -update\n")
	seen := map[string]bool{}
	for i, s := range compare(t, ours) {
		text := ours[i].text // the same, but for the count of shifts by one
		if !seen[text] {
			fmt.Fprintf(&out, "%x | %s\n", s.code, text)
		}
		seen[text] = true
	}
	out.WriteString(newer)
	if t.Failed() {
		return
	}
	if err := os.WriteFile(encodings, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// addresses has each base and index register with each size of displacement:
// in a general instruction, with VEX, with EVEX at three units of compressed
// displacement, and with an immediate behind the address.
func addresses(t *testing.T) (out []sample) {
	t.Helper()
	add := func(op Op, args ...Arg) {
		a := New(AVX512)
		a.Op(op, args...)
		if a.err != nil {
			t.Fatal(a.err)
		}
		l := a.Lines()[0]
		out = append(out, sample{l.Text, l.Bytes})
	}
	all := func(m M) {
		add(MOV, RAX, m)
		add(MOV, m, R9.R32())
		add(VADDPS, V(9), V(3), m, L256)
		add(VADDPS, V(17), V(3), m)
		add(VADDPS, V(1), V(30), m.Bcast(), Mask(3))
		add(VPMOVZXBD, V(1), m)
		add(VADDSD, V(1), V(16), m)
		add(VPSLLD, V(8), m, Imm(7))
	}
	for base := RAX; base <= R15; base++ {
		for _, d := range []int{0, 1, -128, 128, 508, 512, 64, 8128, -8192} {
			all(Ptr(base, d))
		}
		if base != RSP {
			all(Idx(RSP, base, 8, 0))
			all(Idx(R13, base, 1, 0))
			all(Idx(RBP, base, 4, 127))
			add(VGATHERDPS, V(20), VIdx(base, V(base)+16, 4, 4), Mask(1))
			add(VGATHERDPS, V(base), VIdx(R12, V(base+1)%16, 4, 4), V(base+2)%16, L256)
		}
	}
	return out
}
