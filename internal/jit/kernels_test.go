package jit

import (
	"bytes"
	"encoding/hex"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/cpuid"
)

// kernel is machine code for these tests, as an assembler made it.
type kernel struct{ hex, text string }

func (k kernel) code() []byte {
	b, err := hex.DecodeString(strings.Join(strings.Fields(k.hex), ""))
	if err != nil {
		panic(err)
	}
	return b
}

// kernels by GOARCH and name:
//
//	ret      does nothing
//	fma      y[i] += x[i]*a[i], fused; args {y, x, a, n}; n a multiple of 8
//	load     result = *address; args {address, result}
//	busy     counts down; args {n}
//	clobber  leaves its mark in every register the contract allows
//	spoil    load, with every register that the contract allows changed before; no result
var kernels = map[string]map[string]kernel{
	"amd64": {
		"ret": {"c3", "ret"},
		"fma": {`
			488b07 488b4f08 488b5710 488b7718 4531c0
			c4a17c100481 c4a17c100c82 c4a275a80480 c4a17c110480 4983c008 4939f0 72df c5f877 c3`, `
			mov rax, [rdi]
			mov rcx, [rdi+8]
			mov rdx, [rdi+16]
			mov rsi, [rdi+24]
			xor r8d, r8d
			again:
			vmovups ymm0, [rcx+r8*4]
			vmovups ymm1, [rdx+r8*4]
			vfmadd213ps ymm0, ymm1, [rax+r8*4]
			vmovups [rax+r8*4], ymm0
			add r8, 8
			cmp r8, rsi
			jb again
			vzeroupper
			ret`},
		"load": {"488b07 488b00 48894708 c3", `
			mov rax, [rdi]
			mov rax, [rax]
			mov [rdi+8], rax
			ret`},
		"busy": {"488b0f 48ffc9 75fb c3", `
			mov rcx, [rdi]
			again:
			dec rcx
			jnz again
			ret`},
		"clobber": {`
			48c7c0ffffffff 4889c3 4889c1 4889c2 4889c6 4889c7 4989c0 4989c1 4989c2 4989c3
			4989c4 4989c5 4989c6 4989c7 c44104c2ff0f c5f877 c3`, `
			mov rax, -1
			mov rbx, rax
			mov rcx, rax
			mov rdx, rax
			mov rsi, rax
			mov rdi, rax
			mov r8, rax
			mov r9, rax
			mov r10, rax
			mov r11, rax
			mov r12, rax
			mov r13, rax
			mov r14, rax
			mov r15, rax
			vcmptrueps ymm15, ymm15, ymm15
			vzeroupper
			ret`},
		"spoil": {`
			488b07 48c7c3ffffffff 4889d9 4889da 4889de 4889df 4989d8 4989d9 4989da 4989db
			4989dc 4989dd 4989de 4989df c44104c2ff0f 488b00 c5f877 c3`, `
			mov rax, [rdi]
			mov rbx, -1
			mov rcx, rbx
			mov rdx, rbx
			mov rsi, rbx
			mov rdi, rbx
			mov r8, rbx
			mov r9, rbx
			mov r10, rbx
			mov r11, rbx
			mov r12, rbx
			mov r13, rbx
			mov r14, rbx
			mov r15, rbx
			vcmptrueps ymm15, ymm15, ymm15
			mov rax, [rax]
			vzeroupper
			ret`},
	},
	"arm64": {
		"ret": {"c0035fd6", "ret"},
		"fma": {`
			010040f9 020440f9 030840f9 040c40f9
			2000c03d 4104c13c 6204c13c 20cc224e 2004813c 841000f1 41ffff54 c0035fd6`, `
			ldr x1, [x0]
			ldr x2, [x0, #8]
			ldr x3, [x0, #16]
			ldr x4, [x0, #24]
			again:
			ldr q0, [x1]
			ldr q1, [x2], #16
			ldr q2, [x3], #16
			fmla v0.4s, v1.4s, v2.4s
			str q0, [x1], #16
			subs x4, x4, #4
			b.ne again
			ret`},
		"load": {"010040f9 210040f9 010400f9 c0035fd6", `
			ldr x1, [x0]
			ldr x1, [x1]
			str x1, [x0, #8]
			ret`},
		"busy": {"010040f9 210400f1 e1ffff54 c0035fd6", `
			ldr x1, [x0]
			again:
			subs x1, x1, #1
			b.ne again
			ret`},
		"clobber": {`
			00008092 e10300aa e90300aa f00300aa f10300aa f30300aa f40300aa f90300aa fa0300aa fb0300aa
			e0e7076f e8e7076f c0035fd6`, `
			mov x0, #-1
			mov x1, x0
			mov x9, x0
			mov x16, x0
			mov x17, x0
			mov x19, x0
			mov x20, x0
			mov x25, x0
			mov x26, x0
			mov x27, x0
			movi v0.2d, #0xffffffffffffffff
			movi v8.2d, #0xffffffffffffffff
			ret`},
		"spoil": {`
			010040f9 00008092 e20300aa e90300aa f00300aa f10300aa f30300aa f90300aa fa0300aa fb0300aa
			e0e7076f e8e7076f 210040f9 c0035fd6`, `
			ldr x1, [x0]
			mov x0, #-1
			mov x2, x0
			mov x9, x0
			mov x16, x0
			mov x17, x0
			mov x19, x0
			mov x25, x0
			mov x26, x0
			mov x27, x0
			movi v0.2d, #0xffffffffffffffff
			movi v8.2d, #0xffffffffffffffff
			ldr x1, [x1]
			ret`},
	},
}

// The literals are the assembler's. It also serves the other architecture's.
func TestKernelLiterals(t *testing.T) {
	mc, err := exec.LookPath("llvm-mc")
	if err != nil {
		t.Skip("llvm-mc is not installed")
	}
	for arch, flags := range map[string][]string{
		"amd64": {"-triple=x86_64", "-x86-asm-syntax=intel"},
		"arm64": {"-triple=aarch64"},
	} {
		for name, k := range kernels[arch] {
			cmd := exec.Command(mc, append(flags, "-filetype=obj")...)
			cmd.Stdin = strings.NewReader(k.text + "\n")
			obj, err := cmd.Output()
			if err != nil {
				t.Fatalf("%s %s: %v", arch, name, err)
			}
			if !bytes.Contains(obj, k.code()) {
				t.Errorf("%s %s: the object file does not hold %x", arch, name, k.code())
			}
		}
	}
}

// load maps a kernel, or skips where this machine cannot run it.
func load(t testing.TB, name string) *Code {
	t.Helper()
	k, ok := kernels[runtime.GOARCH][name]
	if !ok || !Available() {
		t.Skip("no executable memory here")
	}
	if f := cpuid.Host(); runtime.GOARCH == "amd64" && !(f.AVX2 && f.FMA) && (name == "fma" || name == "clobber" || name == "spoil") {
		t.Skip("no AVX2")
	}
	c, err := Map(k.code())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

type fmaArgs struct {
	y, x, a unsafe.Pointer
	n       uint64
}

type loadArgs struct{ address, result uintptr }

type busyArgs struct{ n uint64 }

// The kernels above hold these numbers.
func TestArgumentOffsets(t *testing.T) {
	var f fmaArgs
	var l loadArgs
	for _, c := range []struct{ got, want uintptr }{
		{unsafe.Offsetof(f.y), 0}, {unsafe.Offsetof(f.x), 8}, {unsafe.Offsetof(f.a), 16}, {unsafe.Offsetof(f.n), 24},
		{unsafe.Offsetof(l.address), 0}, {unsafe.Offsetof(l.result), 8},
	} {
		if c.got != c.want {
			t.Errorf("offset %d, the machine code has %d", c.got, c.want)
		}
	}
}

// pointerTo is unsafe.Pointer(p) for addresses that vet cannot know to be good.
func pointerTo(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }
