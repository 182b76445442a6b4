package asm

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// reference assembles lines of Intel syntax with llvm-mc; a line that it
// refuses has no bytes.
func reference(t *testing.T, lines []string) [][]byte {
	t.Helper()
	path, err := exec.LookPath("llvm-mc")
	if err != nil {
		t.Skip("llvm-mc is not installed")
	}
	cmd := exec.Command(path, "-triple=x86_64", "-x86-asm-syntax=intel", "-output-asm-variant=1", "-show-encoding",
		"-mattr=+avx2,+fma,+f16c,+bmi,+bmi2,+lzcnt,+popcnt,+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl,+avx512vnni,+avx512bf16,+avx512vbmi,+avxvnni")
	// A label before each line keeps lines and answers together.
	var in strings.Builder
	for i, l := range lines {
		fmt.Fprintf(&in, "at%d:\n%s\n", i, l)
	}
	cmd.Stdin = strings.NewReader(in.String())
	var msg strings.Builder
	cmd.Stderr = &msg
	out, err := cmd.Output()
	if err != nil && msg.Len() == 0 {
		t.Fatal(err)
	}
	if msg.Len() > 0 {
		t.Errorf("llvm-mc refuses some lines:\n%.4000s", msg.String())
	}
	code := make([][]byte, len(lines))
	at := -1
	for _, l := range strings.Split(string(out), "\n") {
		if n, err := fmt.Sscanf(l, "at%d:", &at); n == 1 && err == nil {
			continue
		}
		if m := encoding.FindStringSubmatch(l); m != nil && at >= 0 {
			b, err := hex.DecodeString(strings.NewReplacer("0x", "", ",", "").Replace(m[1]))
			if err != nil {
				t.Fatalf("llvm-mc: %q: %v", l, err)
			}
			code[at] = b
		}
	}
	return code
}

var encoding = regexp.MustCompile(`# encoding: \[([0-9a-fx,]+)\]`)

// form the operands of a random instruction that fits row r.
type picker struct {
	*rand.Rand
	evex bool
}

func (p *picker) slot(r *row, s slot) Arg {
	var kinds []kind
	for k := kR; k <= kImm; k <<= 1 {
		if s.takes&k != 0 {
			kinds = append(kinds, k)
		}
	}
	switch kinds[p.IntN(len(kinds))] {
	case kR:
		if s.at == implicit {
			return RAX
		}
		return R(p.IntN(16))
	case kR32:
		if s.at == implicit {
			return R32(RAX)
		}
		return R32(p.IntN(16))
	case kV:
		return p.vector()
	case kK:
		return K(p.IntN(8))
	case kM:
		return p.memory(r)
	case kVM:
		return VIdx(R(p.IntN(16)), p.vector(), 1<<p.IntN(4), p.disp(r))
	}
	switch s.at {
	case implicit:
		return Imm(1)
	case inImm8:
		if r.flags&intPred != 0 {
			return 1 + Imm(p.IntN(6)) // 0 has the text of another instruction
		}
		return Imm(p.IntN(256))
	case inImm8s:
		return Imm(p.IntN(256) - 128)
	case inImm32:
		return Imm(int32(p.Uint32()))
	}
	return Imm(p.Uint64())
}

func (p *picker) vector() V {
	if p.evex {
		return V(p.IntN(32))
	}
	return V(p.IntN(16))
}

func (p *picker) disp(r *row) int {
	unit := 1
	if p.evex {
		unit = r.tuple.bytes(uint8(p.IntN(3)))
	}
	return []int{0, 0, unit, -unit, 127 * unit, 128 * unit, -128 * unit, -129 * unit, unit + 1, 0x12345, -0x7654321}[p.IntN(11)]
}

func (p *picker) memory(r *row) M {
	base := R(p.IntN(16))
	m := Ptr(base, p.disp(r))
	if index := R(p.IntN(16)); index != RSP && p.IntN(2) == 0 {
		m = Idx(base, index, 1<<p.IntN(4), int(m.disp))
	}
	if p.evex && r.tuple.elem() != 0 && p.IntN(2) == 0 {
		m = m.Bcast()
	}
	return m
}

// args makes operands for a row that is to be encoded with EVEX or not.
func (p *picker) args(r *row, l Length) []Arg {
	var args []Arg
	for _, s := range r.slot[:r.n] {
		args = append(args, p.slot(r, s))
	}
	args = append(args, l)
	if p.evex && r.flags&noMask == 0 && (r.flags&gather != 0 || p.IntN(2) == 0) {
		k := K(1 + p.IntN(7))
		if _, vector := args[0].(V); vector && r.flags&gather == 0 && p.IntN(2) == 0 {
			args = append(args, MaskZ(k))
		} else {
			args = append(args, Mask(k))
		}
	}
	return args
}

// randomLines assembles n instructions per row, encoding and length. It
// returns text and bytes.
func randomLines(t *testing.T, rng *rand.Rand, n int) (text []string, code [][]byte) {
	for i := range rows {
		r := &rows[i]
		for _, e := range []encKind{hasLegacy, hasVEX, hasEVEX} {
			if r.enc&e == 0 {
				continue
			}
			p := picker{rng, e == hasEVEX}
			for _, l := range []Length{L128, L256, L512} {
				got := 0
				for try := 0; got < n && try < 400*n; try++ {
					a := New(AVX512)
					if r.enc&vexAlone != 0 && e == hasVEX {
						a.ISA = AVX2
					}
					a.Op(r.op, p.args(r, l)...)
					if a.err != nil || a.list[0].row != uint16(i) || a.list[0].evex != p.evex || r.enc&hasLegacy == 0 && a.list[0].len != uint8(l-L128) {
						continue
					}
					got++
					line := a.Lines()[0]
					text, code = append(text, line.Text), append(code, line.Bytes)
				}
			}
		}
	}
	return text, code
}

func TestRandomAgainstLLVM(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	text, code := randomLines(t, rand.New(rand.NewPCG(seed, 0)), 4)
	want := reference(t, text)
	bad := 0
	for i := range text {
		if string(code[i]) != string(want[i]) {
			if bad++; bad < 60 {
				t.Errorf("%s: %x, llvm-mc %x", text[i], code[i], want[i])
			}
		}
	}
	t.Logf("%d instructions compared, %d wrong", len(text), bad)
}
