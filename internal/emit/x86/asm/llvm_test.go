package asm

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/effort"
)

// sample is an instruction as text and bytes.
type sample struct {
	text string
	code []byte
}

// reference assembles lines of Intel syntax with llvm-mc and returns its bytes
// and its way to print them. Without llvm-mc the test is skipped.
func reference(t *testing.T, lines []sample) []sample {
	t.Helper()
	path, err := exec.LookPath("llvm-mc")
	if err != nil {
		t.Skip("llvm-mc is not installed")
	}
	cmd := exec.Command(path, "-triple=x86_64", "-x86-asm-syntax=intel", "-output-asm-variant=1", "-show-encoding",
		"-mattr=+avx2,+fma,+f16c,+bmi,+bmi2,+lzcnt,+popcnt,+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl,+avx512vnni,+avx512bf16,+avx512vbmi,+avxvnni,+amx-tile,+amx-bf16,+amx-int8")
	// A label before each line keeps lines and answers together.
	var in, refused strings.Builder
	for i, l := range lines {
		fmt.Fprintf(&in, "at%d:\n%s\n", i, l.text)
	}
	cmd.Stdin = strings.NewReader(in.String())
	cmd.Stderr = &refused
	out, err := cmd.Output()
	if refused.Len() > 0 {
		t.Fatalf("llvm-mc refuses some lines:\n%.4000s", refused.String())
	}
	if err != nil {
		t.Fatal(err)
	}
	answers := make([]sample, len(lines))
	at := 0
	for l := range strings.Lines(string(out)) {
		if n, err := fmt.Sscanf(l, "at%d:", &at); n == 1 && err == nil {
			continue
		}
		m := answer.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		b, err := hex.DecodeString(strings.NewReplacer("0x", "", ",", "").Replace(m[2]))
		if err != nil {
			t.Fatalf("llvm-mc: %q: %v", l, err)
		}
		answers[at] = sample{strings.Join(strings.Fields(m[1]), " "), b}
	}
	return answers
}

var answer = regexp.MustCompile(`(?m)^(.*)# encoding: \[([0-9a-fx,]+)\]`)

// sameText compares our text with that of llvm-mc, which drops the count of
// shifts by one.
func sameText(ours, llvm string) bool {
	return ours == llvm || ours == llvm+", 1"
}

// compare reports the instructions for which llvm-mc has other bytes or text.
func compare(t *testing.T, ours []sample) []sample {
	t.Helper()
	llvm := reference(t, ours)
	bad := 0
	for i, s := range ours {
		if string(s.code) == string(llvm[i].code) && sameText(s.text, llvm[i].text) {
			continue
		}
		if bad++; bad <= 30 {
			t.Errorf("%x %s\nllvm-mc: %x %s", s.code, s.text, llvm[i].code, llvm[i].text)
		}
	}
	t.Logf("%d instructions compared, %d differ", len(ours), bad)
	return llvm
}

func TestRandomAgainstLLVM(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	compare(t, eachRow(rand.New(rand.NewPCG(seed, 0)), 2))
}

// TestAnyOperands gives each instruction operands of any kind: what is
// accepted must be what llvm-mc accepts, and nothing may panic.
func TestAnyOperands(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var accepted []sample
	for op := range mnemonics {
		if Op(op) == TDPFP16PS { // newer than llvm-mc
			continue
		}
		r := &rows[rng.IntN(len(rows))] // for the unit of displacements alone
		for range effort.Of(100, 150, 300, 300) {
			p := picker{rng, rng.IntN(2) == 0}
			args := []Arg{L128 + Length(rng.IntN(3))}
			for range rng.IntN(5) {
				args = append(args, p.slot(r, slot{inImm8, []kind{kR, kR32, kV, kV, kV, kV, kK, kM, kM, kVM, kImm, kT}[rng.IntN(12)], full}))
			}
			switch rng.IntN(4) {
			case 0:
				args = append(args, Mask(K(rng.IntN(9))))
			case 1:
				args = append(args, MaskZ(K(rng.IntN(9))))
			}
			a := New(AVX512)
			a.Op(Op(op), args...)
			if a.err != nil || rows[a.list[0].row].flags&intPred != 0 && a.list[0].imm == 0 {
				continue
			}
			l := a.Lines()[0]
			accepted = append(accepted, sample{l.Text, l.Bytes})
		}
	}
	compare(t, accepted)
}

// TestNops has llvm-mc read the padding: one instruction for each length.
func TestNops(t *testing.T) {
	path, err := exec.LookPath("llvm-mc")
	if err != nil {
		t.Skip("llvm-mc is not installed")
	}
	for i, b := range nops {
		if len(b) != i+1 {
			t.Errorf("no-operation %d has %d bytes", i+1, len(b))
		}
		cmd := exec.Command(path, "-triple=x86_64", "-disassemble", "-show-encoding")
		cmd.Stdin = strings.NewReader(strings.ReplaceAll(fmt.Sprintf("% #x", b), " ", ","))
		out, err := cmd.Output()
		if m := answer.FindAllString(string(out), -1); err != nil || len(m) != 1 || !strings.Contains(m[0], "nop") && i != 1 {
			t.Errorf("%x: %v: %q", b, err, out)
		}
	}
}

// eachRow assembles n random instructions per row, encoding and length.
func eachRow(rng *rand.Rand, n int) (out []sample) {
	for i := range rows {
		r := &rows[i]
		for _, e := range []encKind{hasLegacy, hasVEX, hasEVEX} {
			if r.enc&e == 0 || r.op == TDPFP16PS {
				continue
			}
			p := picker{rng, e == hasEVEX}
			for _, l := range []Length{L128, L256, L512} {
				for got, try := 0, 0; got < n && try < 200*n; try++ {
					a := New(AVX512)
					if r.enc&vexAlone != 0 && e == hasVEX {
						a.ISA = AVX2
					}
					a.Op(r.op, p.args(r, l)...)
					if a.err != nil {
						continue
					}
					in := &a.list[0]
					if in.row != uint16(i) || in.evex != p.evex || e != hasLegacy && in.len != uint8(l-L128) {
						continue // an earlier row, the other encoding, or the only length
					}
					got++
					line := a.Lines()[0]
					out = append(out, sample{line.Text, line.Bytes})
				}
			}
		}
	}
	return out
}

// picker draws operands.
type picker struct {
	*rand.Rand
	evex bool // operands that only EVEX can have are among them
}

// args makes operands for a row.
func (p *picker) args(r *row, l Length) []Arg {
	args := []Arg{l}
	for _, s := range r.slot[:r.n] {
		args = append(args, p.slot(r, s))
	}
	if p.evex && r.flags&noMask == 0 && (r.flags&gather != 0 || p.IntN(2) == 0) {
		k := K(1 + p.IntN(7))
		if _, vector := args[1].(V); vector && r.flags&gather == 0 && p.IntN(2) == 0 {
			return append(args, MaskZ(k))
		}
		return append(args, Mask(k))
	}
	return args
}

func (p *picker) slot(r *row, s slot) Arg {
	var kinds []kind
	for k := kR; k != 0; k <<= 1 {
		if s.takes&k != 0 {
			kinds = append(kinds, k)
		}
	}
	switch kinds[p.IntN(len(kinds))] {
	case kR:
		return p.general(s)
	case kR32:
		return p.general(s).R32()
	case kV:
		return p.vector()
	case kK:
		return K(p.IntN(8))
	case kM:
		return p.memory(r)
	case kT:
		return T(p.IntN(8))
	case kVM:
		return VIdx(R(p.IntN(16)), p.vector(), 1<<p.IntN(4), p.disp(r))
	}
	return p.immediate(r, s)
}

func (p *picker) general(s slot) R {
	if s.at == implicit {
		return RAX
	}
	return R(p.IntN(16))
}

func (p *picker) vector() V {
	if p.evex {
		return V(p.IntN(32))
	}
	return V(p.IntN(16))
}

func (p *picker) immediate(r *row, s slot) Imm {
	switch s.at {
	case implicit:
		return 1
	case inImm8:
		if r.flags&intPred != 0 {
			return 1 + Imm(p.IntN(6)) // vpcmpd with 0 is printed like vpcmpeqd, another encoding
		}
		return Imm(p.IntN(256))
	case inImm8s:
		return Imm(p.IntN(256) - 128)
	case inImm32:
		return Imm(int32(p.Uint32()))
	}
	return Imm(p.Uint64())
}

// disp has each size of displacement, compressed ones hit and missed.
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
