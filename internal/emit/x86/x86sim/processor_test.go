package x86sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/jit"
)

// state is what an instruction may change, as the code around it loads and stores it.
type state struct {
	r     [16]uint64
	v     [32]vec
	k     [8]uint64
	flags [5]uint8 // CF, PF, ZF, SF, OF, of which the code stores each as a byte
}

// frame is what RDI points to.
type frame struct{ before, after state }

// around wraps the bytes of an instruction that uses registers alone.
func around(t *testing.T, isa asm.ISA, instruction []byte) []byte {
	t.Helper()
	vectors := asm.V(16)
	if isa == asm.AVX512 {
		vectors = 32
	}
	at := func(field uintptr, i, size int) asm.M { return asm.Ptr(asm.RDI, int(field)+i*size) }
	var f frame
	before, after := unsafe.Offsetof(f.before), unsafe.Offsetof(f.after)
	general := []asm.R{asm.RAX, asm.RCX, asm.RDX, asm.RBX, asm.RSI, asm.R8, asm.R9, asm.R10, asm.R11, asm.R12, asm.R13, asm.R14, asm.R15}

	in := asm.New(isa)
	for i := range vectors {
		in.Op(asm.VMOVUPS, i, at(before+unsafe.Offsetof(f.before.v), int(i), 64))
	}
	if isa == asm.AVX512 {
		for i := range asm.K(8) {
			in.Op(asm.KMOVQ, i, at(before+unsafe.Offsetof(f.before.k), int(i), 8))
		}
	}
	for _, r := range general {
		in.Op(asm.MOV, r, at(before, int(r), 8))
	}
	in.Op(asm.CMP, asm.RAX, asm.RCX) // flags of some kind

	out := asm.New(isa)
	for i, cc := range []asm.CC{asm.ULT, asm.PAR, asm.EQ, asm.SIGN, asm.OVF} {
		out.Op(asm.SET(cc), at(after+unsafe.Offsetof(f.after.flags), i, 1))
	}
	for _, r := range general {
		out.Op(asm.MOV, at(after, int(r), 8), r)
	}
	if isa == asm.AVX512 {
		for i := range asm.K(8) {
			out.Op(asm.KMOVQ, at(after+unsafe.Offsetof(f.after.k), int(i), 8), i)
		}
	}
	for i := range vectors {
		out.Op(asm.VMOVUPS, at(after+unsafe.Offsetof(f.after.v), int(i), 64), i)
	}
	out.Op(asm.VZEROUPPER)
	out.Op(asm.RET)
	head, err := in.Finish()
	if err != nil {
		t.Fatal(err)
	}
	tail, err := out.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return append(append(append([]byte{}, head...), instruction...), tail...)
}

// draw fills a vector with lanes of a kind: any bits, floats of all sizes, specials,
// small numbers.
func draw(rng *rand.Rand, v *vec) {
	special := []uint32{0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC01234, 0xFFC04321, 0x7F801111, 1, 0x007FFFFF, 0x80000001, 0x7F7FFFFF, 0x3F800000, 0xBF800000, 0x4F000000, 0xCF000000, 0x4F800000, 0x3F000000, 0x40200000}
	kind := rng.IntN(5)
	for i := range v.u32() {
		switch x := &v.u32()[i]; kind {
		case 0:
			*x = rng.Uint32()
		case 1:
			*x = math.Float32bits(float32(rng.NormFloat64() * math.Exp2(float64(rng.IntN(40)-20))))
		case 2:
			*x = special[rng.IntN(len(special))]
		case 3:
			*x = uint32(rng.IntN(64) - 16)
		}
	}
	if kind == 4 { // doubles
		for i := range v.f64() {
			v.f64()[i] = rng.NormFloat64() * math.Exp2(float64(rng.IntN(140)-70))
			if rng.IntN(4) == 0 {
				v[i] = []uint64{0, 1 << 63, 0x7FF0 << 48, 0xFFF0 << 48, 0x7FF8 << 48, 0x7FF4 << 48, 0xFFF8_1234_5678 << 16, 1}[rng.IntN(8)]
			}
		}
	}
}

func drawState(rng *rand.Rand) (s state) {
	for i := range s.r {
		s.r[i] = rng.Uint64() >> (rng.IntN(8) * 8)
	}
	for i := range s.v {
		draw(rng, &s.v[i])
	}
	for i := range s.k {
		s.k[i] = rng.Uint64()
	}
	return s
}

// undefined are flags that the manual leaves to the processor, by number.
func undefined(name string) []int {
	switch strings.TrimRight(name, "xd") {
	case "imul", "mul":
		return []int{1, 2, 3}
	case "shl", "shr", "sar", "rol", "ror":
		return []int{4}
	case "andn":
		return []int{1}
	case "bzhi":
		return []int{1}
	case "be", "bextr":
		return []int{1, 3}
	case "lzcnt", "tzcnt":
		return []int{1, 3, 4}
	}
	return nil
}

// apart are instructions that cannot stand alone: they jump, divide by what is
// drawn, or take the registers that the code around needs.
var apart = regexp.MustCompile(`^(j|ret|div|idiv|call|cdq|cqo)|\[|\b(rdi|edi|dil|rsp|esp|spl|rbp|ebp|bpl|di|sp|bp)\b|mm.*gather|tile|tdp`)

// TestProcessor compares each instruction with the processor; those of AVX-512,
// about which none has been asked yet, with -tags long, where it has them.
func TestProcessor(t *testing.T) {
	host := cpuid.Host()
	if !host.HasAVX2() || !jit.Available() {
		t.Skip("the processor has no AVX2")
	}
	names, seen := map[string]bool{}, map[string]int{}
	for _, e := range readEncodings(t) {
		if missing.MatchString(e.text) || apart.MatchString(e.text) {
			continue
		}
		if last := e.bytes[len(e.bytes)-1]; e.name() == "vcvtps2ph" && last&4 == 0 && last&3 != 0 {
			continue // rounds otherwise than all code here
		}
		isa, wants := asm.AVX2, needs(e.bytes)
		if wants&avx512 != 0 {
			isa = asm.AVX512
		}
		if wants&^hostFeatures(host) != 0 || wants&avx512 != 0 && effort.Now() < effort.Long || seen[e.name()] >= 12 {
			continue
		}
		seen[e.name()]++
		compareWithProcessor(t, isa, e)
		names[e.name()] = true
	}
	t.Logf("%d names of instructions", len(names))
	if len(names) < 200 {
		t.Errorf("only %d names of instructions were compared", len(names))
	}
}

// needs is needed of the one instruction in some bytes.
func needs(b []byte) feature {
	in, err := decode(uintptr(unsafe.Pointer(&b[0])))
	if err != nil {
		return 0
	}
	return in.needed()
}

func hostFeatures(host cpuid.CPU) (f feature) {
	if host.HasAVX512() && host.AVX512BF16 && host.AVX512VNNI {
		f |= avx512
	}
	if host.AVXVNNI {
		f |= avxVNNI
	}
	return f
}

func compareWithProcessor(t *testing.T, isa asm.ISA, e encoded) {
	t.Helper()
	code, err := jit.Map(around(t, isa, e.bytes))
	if err != nil {
		t.Fatal(err)
	}
	defer code.Close()
	rng := rand.New(rand.NewPCG(uint64(len(e.text)), uint64(e.bytes[len(e.bytes)-1])))
	for range 24 {
		want := &frame{before: drawState(rng)}
		got := &frame{before: want.before}
		jit.Call(code.Entry(0), unsafe.Pointer(want))
		Call(code.Entry(0), unsafe.Pointer(got))
		for _, f := range undefined(e.name()) {
			got.after.flags[f] = want.after.flags[f]
		}
		if got.after != want.after {
			t.Errorf("%s (%x):%s", e.text, e.bytes, differences(want, got))
			return
		}
	}
}

func differences(want, got *frame) string {
	var b strings.Builder
	for i := range want.after.v {
		if w, g := want.after.v[i], got.after.v[i]; w != g {
			fmt.Fprintf(&b, "\n v%d: processor %x\n      simulated %x", i, w.u32()[:8], g.u32()[:8])
		}
	}
	for i := range want.after.r {
		if w, g := want.after.r[i], got.after.r[i]; w != g {
			fmt.Fprintf(&b, "\n %s: processor %#x, simulated %#x", registerNames[i], w, g)
		}
	}
	for i := range want.after.k {
		if w, g := want.after.k[i], got.after.k[i]; w != g {
			fmt.Fprintf(&b, "\n k%d: processor %#x, simulated %#x", i, w, g)
		}
	}
	if w, g := want.after.flags, got.after.flags; w != g {
		fmt.Fprintf(&b, "\n CF PF ZF SF OF: processor %v, simulated %v", w, g)
	}
	return b.String()
}
