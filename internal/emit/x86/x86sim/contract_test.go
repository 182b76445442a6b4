package x86sim

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/x86/asm"
)

// simulate runs what write assembles, in memory that need not be executable, and
// returns what it panics with.
func simulate(t *testing.T, args unsafe.Pointer, write func(a *asm.Asm)) (failure string) {
	t.Helper()
	a := asm.New(asm.AVX512)
	write(a)
	code, err := a.Finish()
	if err != nil {
		t.Fatal(err)
	}
	room := make([]byte, len(code)+64)
	start := -uintptr(unsafe.Pointer(&room[0])) & 63
	copy(room[start:], code)
	defer runtime.KeepAlive(room)
	defer func() {
		if v := recover(); v != nil {
			failure = fmt.Sprint(v)
		}
	}()
	Call(uintptr(unsafe.Pointer(&room[start])), args)
	return ""
}

// Code that breaks the contract with who calls it is refused, whatever a processor
// would make of it.
func TestContract(t *testing.T) {
	shapes := make([]byte, 64) // of a tile of 2 rows of 8 bytes
	shapes[0], shapes[16], shapes[48] = 1, 8, 2
	data := make([]byte, 256)
	at := uintptr(unsafe.Pointer(&data[0]))
	data = data[-at&63:]
	data[0] = 1
	for name, c := range map[string]struct {
		want  string
		write func(a *asm.Asm)
	}{
		"nothing": {"", func(a *asm.Asm) {}},
		"stack":   {"RSP", func(a *asm.Asm) { a.Op(asm.SUB, asm.RSP, asm.Imm(8)) }},
		"frame":   {"RBP", func(a *asm.Asm) { a.Op(asm.XOR, asm.RBP, asm.RBP) }},
		"dirty":   {"upper half of vector register 3", func(a *asm.Asm) { a.Op(asm.VBROADCASTSS, asm.V(3), asm.Ptr(asm.RDI, 0), asm.L256) }},
		"clean": {"", func(a *asm.Asm) {
			a.Op(asm.VBROADCASTSS, asm.V(3), asm.Ptr(asm.RDI, 0), asm.L256)
			a.Op(asm.VZEROUPPER)
		}},
		"no lower half": {"", func(a *asm.Asm) { a.Op(asm.VBROADCASTSS, asm.V(20), asm.Ptr(asm.RDI, 0)) }},
		"aligned":       {"", func(a *asm.Asm) { a.Op(asm.VMOVAPS, asm.V(20), asm.Ptr(asm.RDI, 64)) }},
		"misaligned":    {"no multiple of 64", func(a *asm.Asm) { a.Op(asm.VMOVAPS, asm.V(20), asm.Ptr(asm.RDI, 32)) }},
		"tiles":         {"tiles configured", func(a *asm.Asm) { a.Op(asm.LDTILECFG, a.Vec(shapes)) }},
		"tiles released": {"", func(a *asm.Asm) {
			a.Op(asm.LDTILECFG, a.Vec(shapes))
			a.Op(asm.TILEZERO, asm.T(0))
			a.Op(asm.TILERELEASE)
		}},
		"a tile without a shape": {"tile 1 is not configured", func(a *asm.Asm) {
			a.Op(asm.LDTILECFG, a.Vec(shapes))
			a.Op(asm.TILEZERO, asm.T(1))
		}},
		"no tiles":       {"tile 0 is not configured", func(a *asm.Asm) { a.Op(asm.TILEZERO, asm.T(0)) }},
		"not known here": {"no instruction is known that begins with 0f31", func(a *asm.Asm) { a.Op(asm.RDTSC) }},
	} {
		got := simulate(t, unsafe.Pointer(&data[0]), func(a *asm.Asm) {
			c.write(a)
			a.Op(asm.RET)
		})
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Other code at the same address is decoded anew.
func TestChangedCode(t *testing.T) {
	code := func(n byte) []byte { return []byte{0xC7, 0x07, n, 0, 0, 0, 0xC3} } // mov dword ptr [rdi], n; ret
	text := code(1)
	var got uint32
	for n := range byte(4) {
		copy(text, code(n))
		Call(uintptr(unsafe.Pointer(&text[0])), unsafe.Pointer(&got))
		if got != uint32(n) {
			t.Errorf("%d instead of %d", got, n)
		}
	}
}

// Code with an instruction beyond AVX2 is simulated, behind jumps too.
func TestRun(t *testing.T) {
	for name, c := range map[string]struct {
		want  bool
		write func(a *asm.Asm)
	}{
		"general": {false, func(a *asm.Asm) { a.Op(asm.ADD, asm.RAX, asm.Imm(1)) }},
		"avx2":    {false, func(a *asm.Asm) { a.Op(asm.VADDPS, asm.V(1), asm.V(2), asm.V(3), asm.L128) }},
		"evex":    {true, func(a *asm.Asm) { a.Op(asm.VADDPS, asm.V(17), asm.V(2), asm.V(3), asm.L128) }},
		"mask":    {true, func(a *asm.Asm) { a.Op(asm.KMOVW, asm.K(1), asm.RAX.R32()) }},
		"tile":    {true, func(a *asm.Asm) { a.Op(asm.TILERELEASE) }},
		"not taken": {true, func(a *asm.Asm) {
			over := a.NewLabel()
			a.Op(asm.CMP, asm.RAX, asm.RAX)
			a.J(asm.EQ, over)
			a.Op(asm.VADDPS, asm.V(17), asm.V(2), asm.V(3), asm.L128)
			a.Bind(over)
		}},
	} {
		a := asm.New(asm.AVX512)
		c.write(a)
		a.Op(asm.RET)
		code, err := a.Finish()
		if err != nil {
			t.Fatal(err)
		}
		if got := Run(uintptr(unsafe.Pointer(&code[0])), unsafe.Pointer(&code[0])); got != c.want {
			t.Errorf("%s: simulated: %v", name, got)
		}
	}
}
