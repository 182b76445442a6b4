package asm

import (
	"encoding/binary"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// TestProgram builds testdata/program.s: labels before and after their use,
// short and near jumps, padding, constants, RIP with an immediate behind it.
func TestProgram(t *testing.T) {
	text, err := os.ReadFile("testdata/program.hex")
	if err != nil {
		t.Fatal(err)
	}
	want, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	if err != nil {
		t.Fatal(err)
	}
	var lanes [64]byte
	for i := range 16 {
		binary.LittleEndian.PutUint32(lanes[4*i:], uint32(i))
	}
	a := New(AVX512)
	out, near := a.NewLabel(), a.NewLabel()
	top := a.Here()
	a.Op(VMOVUPS, V(0), a.Vec(lanes[:]))
	a.Op(VADDPS, V(0), V(0), a.F32(1))
	a.Op(VPSHUFD, V(1), a.Vec(lanes[:]), Imm(27))
	a.Op(CMP, a.F64(8), Imm(1000))
	a.Op(LEA, RAX, a.Vec(lanes[:]).Off(8))
	a.Op(TEST, RCX, RCX)
	a.J(EQ, out)
	a.J(ULT, out)
	a.Jmp(top)
	a.Align(32)
	back := a.Here()
	a.Op(VMULPD, V(2), V(2), a.F64(8))
	a.Op(VMULSS, V(2), V(2), a.U32(0x3f800000))
	for range 40 {
		a.Op(VADDPS, V(1), V(1), V(2))
	}
	a.J(NE, back)
	a.Jmp(back)
	a.JmpShort(near)
	a.JShort(ULE, near)
	a.Bind(near)
	a.Op(RET)
	a.Bind(out)
	a.Op(RET)
	code, err := a.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if string(code) != string(want) {
		t.Errorf("got\n%x\nwant\n%x\n%s", code, want, a.Listing())
	}
	if again, err := a.Finish(); err != nil || string(again) != string(code) {
		t.Errorf("a second Finish gives %x, %v", again, err)
	}
}

func TestListing(t *testing.T) {
	a := New(AVX512)
	out := a.NewLabel()
	top := a.Here()
	a.Op(VADDPS, V(0), V(17), a.F32(1), MaskZ(2))
	a.Op(VCMPPS, K(1), V(0), V(1), CmpLT)
	a.Op(SUB, RCX, Imm(1))
	a.J(NE, top)
	a.Jmp(out)
	a.Align(16)
	a.Bind(out)
	a.Op(RET)
	if _, err := a.Finish(); err != nil {
		t.Fatal(err)
	}
	const want = `L2:
    0  62f174d2580536000000     vaddps zmm0 {k2} {z}, zmm17, dword ptr [rip + L3]{1to16}
    a  62f17c48c2c911           vcmplt_oqps k1, zmm0, zmm1
   11  4883e901                 sub rcx, 1
   15  75e9                     jne L2
   17  e904000000               jmp L1
   1c  0f1f4000                 .balign 16
L1:
   20  c3                       ret
   21  cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc .balign 64
   40  0000803f                 L3: .long 0x3f800000 # 1
`
	if got := a.Listing(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for i, l := range a.Lines() {
		if end := l.Offset + len(l.Bytes); i+1 < len(a.Lines()) && end != a.Lines()[i+1].Offset {
			t.Errorf("line %d ends at %d, the next starts at %d", i, end, a.Lines()[i+1].Offset)
		}
	}
}

// On AVX2, without broadcasts, a constant fills a whole vector.
func TestConstantsAVX2(t *testing.T) {
	a := New(AVX2)
	a.Op(VADDPS, V(0), V(0), a.U32(0x01020304))
	a.Op(VADDPD, V(0), V(0), a.U64(0x05060708))
	a.Op(VADDPS, V(1), V(1), a.U32(0x01020304))
	a.Op(VPAND, V(1), V(1), a.U32(0x01020304)) // no element size of its own
	a.Op(VBROADCASTSS, V(2), a.U32(0x01020304))
	code, err := a.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if len(code) != 128 {
		t.Fatalf("%d bytes of code and constants, want 64 and 2 times 32", len(code))
	}
	for i := 64; i < 96; i += 4 {
		if got := binary.LittleEndian.Uint32(code[i:]); got != 0x01020304 {
			t.Errorf("constant at %d: %#x", i, got)
		}
	}
	for i := 96; i < 128; i += 8 {
		if got := binary.LittleEndian.Uint64(code[i:]); got != 0x05060708 {
			t.Errorf("constant at %d: %#x", i, got)
		}
	}
}

func TestAlign(t *testing.T) {
	for start := range 64 {
		a := New(AVX2)
		for range start {
			a.Op(RET)
		}
		a.Align(64)
		want := (start + 63) / 64 * 64
		if a.Size() != want || a.Err() != nil {
			t.Errorf("%d bytes aligned to 64 are %d, %v", start, a.Size(), a.Err())
		}
	}
}

func TestZeroAsm(t *testing.T) {
	var a Asm
	a.Op(VXORPS, V(1), V(1), V(1))
	code, err := a.Finish()
	if want := "c5f457c9"; err != nil || hex.EncodeToString(code) != want { // vxorps ymm1, ymm1, ymm1
		t.Errorf("%x, %v, want %s", code, err, want)
	}
}

// The error must name the instruction and its place, and stick.
func TestErrorSticks(t *testing.T) {
	a := New(AVX2)
	a.Op(RET)
	a.Op(VADDPS, V(0), V(1), V(16))
	a.Op(VADDPS, V(0), V(1))
	_, err := a.Finish()
	const want = "asm: at byte 1: vaddps ymm0, ymm1, ymm16: needs AVX-512: no VEX form for these operands"
	if err == nil || err.Error() != want || a.Size() != 1 {
		t.Errorf("got %v after %d bytes, want %s", err, a.Size(), want)
	}
}

// Assembling must not allocate but for the growth of code and list.
func TestAllocations(t *testing.T) {
	a := New(AVX512)
	one := a.F32(1)
	n := testing.AllocsPerRun(100, func() {
		a.code, a.list = a.code[:0], a.list[:0]
		a.Op(VFMADD231PS, V(1), V(2), Ptr(RAX, 64), Mask(1), L256)
		a.Op(VADDPS, V(1), V(2), a.F32(1))
		a.Op(VMOVUPS, Idx(RDI, RCX, 4, 64), V(3))
		a.Op(ADD, RAX, Imm(1<<20))
		a.fixups = a.fixups[:0]
	})
	if n != 0 || a.Err() != nil || one.elem != 4 {
		t.Errorf("%v allocations a run, %v", n, a.Err())
	}
}

func BenchmarkOp(b *testing.B) {
	b.ReportAllocs()
	a := New(AVX512)
	for b.Loop() {
		if len(a.list) > 10000 {
			a.list, a.code = a.list[:0], a.code[:0]
		}
		a.Op(VFMADD231PS, V(1), V(2), Ptr(RAX, 64), Mask(1))
	}
}
