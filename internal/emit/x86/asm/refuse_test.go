package asm

import (
	"math"
	"strings"
	"testing"
)

// TestRefusals has what must be an error, and part of its message.
func TestRefusals(t *testing.T) {
	far := func(a *Asm) Label {
		l := a.NewLabel()
		a.Bind(l)
		return l
	}
	cases := []struct {
		name  string
		isa   ISA
		want  string
		build func(a *Asm)
	}{
		{"operand missing", AVX512, "no form", func(a *Asm) { a.Op(VADDPS, V(0), V(1)) }},
		{"operand too many", AVX512, "no form", func(a *Asm) { a.Op(VADDPS, V(0), V(1), V(2), V(3)) }},
		{"five operands", AVX512, "four operands", func(a *Asm) { a.Op(VADDPS, V(0), V(1), V(2), V(3), V(4)) }},
		{"register of another kind", AVX512, "no form", func(a *Asm) { a.Op(VADDPS, V(0), V(1), RAX) }},
		{"memory in the middle", AVX512, "no form", func(a *Asm) { a.Op(VADDPS, V(0), Ptr(RAX, 0), V(1)) }},
		{"memory to memory", AVX512, "two memory", func(a *Asm) { a.Op(MOV, Ptr(RAX, 0), Ptr(RCX, 0)) }},
		{"store of a register-only move", AVX512, "no form", func(a *Asm) { a.Op(VMOVHLPS, V(0), V(1), Ptr(RAX, 0)) }},
		{"nil argument", AVX512, "nil", func(a *Asm) { a.Op(VADDPS, V(0), nil, V(1)) }},
		{"zero Op", AVX512, "no instruction", func(a *Asm) { a.Op(0) }},
		{"Op past the table", AVX512, "no instruction", func(a *Asm) { a.Op(math.MaxUint16) }},
		{"CMOV of no condition", AVX512, "no instruction", func(a *Asm) { a.Op(CMOV(16), RAX, RCX) }},

		{"V 32", AVX512, "end at 31", func(a *Asm) { a.Op(VADDPS, V(32), V(1), V(2)) }},
		{"R 16", AVX512, "end at 15", func(a *Asm) { a.Op(MOV, R(16), RAX) }},
		{"R32 16", AVX512, "end at 15", func(a *Asm) { a.Op(MOV, R32(16), RAX.R32()) }},
		{"K 8", AVX512, "end at 7", func(a *Asm) { a.Op(KNOTW, K(8), K(1)) }},
		{"T 8", AVX512, "end at 7", func(a *Asm) { a.Op(TILEZERO, T(8)) }},
		{"tile without a pitch", AVX512, "index", func(a *Asm) { a.Op(TILELOADD, T(0), Ptr(RAX, 0)) }},
		{"tile on AVX2", AVX2, "AVX-512", func(a *Asm) { a.Op(TILEZERO, T(0)) }},
		{"base 16", AVX512, "end at 15", func(a *Asm) { a.Op(MOV, RAX, Ptr(16, 0)) }},
		{"index 16", AVX512, "end at 15", func(a *Asm) { a.Op(MOV, RAX, Idx(RAX, 16, 1, 0)) }},
		{"vector index 32", AVX512, "end at 31", func(a *Asm) { a.Op(VGATHERDPS, V(0), VIdx(RAX, 32, 4, 0), Mask(1)) }},
		{"index rsp", AVX512, "rsp", func(a *Asm) { a.Op(MOV, RAX, Idx(RAX, RSP, 1, 0)) }},
		{"scale 3", AVX512, "scale", func(a *Asm) { a.Op(MOV, RAX, Idx(RAX, RCX, 3, 0)) }},
		{"scale 16", AVX512, "scale", func(a *Asm) { a.Op(MOV, RAX, Idx(RAX, RCX, 16, 0)) }},
		{"displacement", AVX512, "displacement", func(a *Asm) { a.Op(MOV, RAX, Ptr(RCX, math.MinInt32).Off(-1)) }},
		{"displacement by Off", AVX512, "displacement", func(a *Asm) { a.Op(MOV, RAX, Ptr(RCX, math.MaxInt32).Off(1)) }},
		{"empty memory", AVX512, "empty", func(a *Asm) { a.Op(MOV, RAX, M{}) }},

		{"32 and 64 bits", AVX512, "mixed", func(a *Asm) { a.Op(ADD, RAX, RCX.R32()) }},
		{"imm of 33 bits", AVX512, "immediate", func(a *Asm) { a.Op(ADD, RAX, Imm(1<<31)) }},
		{"imm of 33 bits to r32", AVX512, "immediate", func(a *Asm) { a.Op(MOV, RAX.R32(), Imm(1<<32)) }},
		{"shift by 256", AVX512, "byte", func(a *Asm) { a.Op(SHL, RAX, Imm(256)) }},
		{"vector imm -1", AVX512, "byte", func(a *Asm) { a.Op(VPSLLD, V(0), V(1), Imm(-1)) }},
		{"mask on a general instruction", AVX512, "no masking", func(a *Asm) { a.Op(ADD, RAX, RCX, Mask(1)) }},

		{"zmm on AVX2", AVX2, "AVX-512", func(a *Asm) { a.Op(VADDPS, V(0), V(1), V(2), L512) }},
		{"register 16 on AVX2", AVX2, "AVX-512", func(a *Asm) { a.Op(VADDPS, V(16), V(1), V(2)) }},
		{"mask on AVX2", AVX2, "AVX-512", func(a *Asm) { a.Op(VADDPS, V(0), V(1), V(2), Mask(1)) }},
		{"broadcast on AVX2", AVX2, "AVX-512", func(a *Asm) { a.Op(VADDPS, V(0), V(1), Ptr(RAX, 0).Bcast()) }},
		{"mask register on AVX2", AVX2, "AVX-512", func(a *Asm) { a.Op(KMOVW, K(1), RAX) }},
		{"compare to mask on AVX2", AVX2, "AVX-512", func(a *Asm) { a.Op(VCMPPS, K(1), V(1), V(2), CmpLT) }},
		{"EVEX instruction on AVX2", AVX2, "AVX-512", func(a *Asm) { a.Op(VRCP14PS, V(0), V(1)) }},
		{"VEX shift of memory", AVX2, "AVX-512", func(a *Asm) { a.Op(VPSLLD, V(0), Ptr(RAX, 0), Imm(1)) }},
		{"Len of the Asm", AVX2, "AVX-512", func(a *Asm) { a.Len = L512; a.Op(VADDPS, V(0), V(1), V(2)) }},
		{"Len out of range", AVX2, "vector length", func(a *Asm) { a.Len = 9; a.Op(VADDPS, V(0), V(1), V(2)) }},
		{"Length out of range", AVX2, "vector length", func(a *Asm) { a.Op(VADDPS, V(0), V(1), V(2), Length(4)) }},

		{"VEX instruction at zmm", AVX512, "EVEX form", func(a *Asm) { a.Op(VBLENDVPS, V(0), V(1), V(2), V(3)) }},
		{"VEX instruction, register 16", AVX512, "EVEX form", func(a *Asm) { a.Op(VROUNDPS, V(16), V(1), Imm(8), L256) }},
		{"VEX compare at zmm", AVX512, "EVEX form", func(a *Asm) { a.Op(VCMPPS, V(0), V(1), V(2), CmpLT) }},
		{"two lanes of xmm", AVX512, "length", func(a *Asm) { a.Op(VSHUFF32X4, V(0), V(1), V(2), Imm(0), L128) }},
		{"vbroadcastsd to xmm", AVX2, "length", func(a *Asm) { a.Op(VBROADCASTSD, V(0), V(1), L128) }},

		{"broadcast of a move", AVX512, "broadcast", func(a *Asm) { a.Op(VMOVUPS, V(0), Ptr(RAX, 0).Bcast()) }},
		{"broadcast of bytes", AVX512, "broadcast", func(a *Asm) { a.Op(VPADDB, V(0), V(1), Ptr(RAX, 0).Bcast()) }},
		{"broadcast to rax", AVX512, "broadcast", func(a *Asm) { a.Op(ADD, RAX, Ptr(RAX, 0).Bcast()) }},
		{"f32 constant of doubles", AVX512, "constant", func(a *Asm) { a.Op(VADDPD, V(0), V(1), a.F32(1)) }},
		{"f64 constant of floats on AVX2", AVX2, "constant", func(a *Asm) { a.Op(VADDPS, V(0), V(1), a.F64(1)) }},
		{"constant of bytes", AVX512, "constant", func(a *Asm) { a.Op(VPADDB, V(0), V(1), a.U32(1)) }},
		{"constant of a VEX instruction", AVX512, "constant", func(a *Asm) { a.Op(VPAND, V(0), V(1), a.U32(1), L256) }},
		{"short vector constant", AVX512, "16, 32 or 64", func(a *Asm) { a.Vec(make([]byte, 8)) }},

		{"mask k0", AVX512, "k1 to k7", func(a *Asm) { a.Op(VADDPS, V(0), V(1), V(2), Mask(0)) }},
		{"mask k8", AVX512, "k1 to k7", func(a *Asm) { a.Op(VADDPS, V(0), V(1), V(2), MaskZ(8)) }},
		{"two masks", AVX512, "k1 to k7", func(a *Asm) { a.Op(VADDPS, V(0), V(1), V(2), Mask(1), Mask(2)) }},
		{"mask of a streaming store", AVX512, "no masking", func(a *Asm) { a.Op(VMOVNTPS, Ptr(RAX, 0), V(1), Mask(1)) }},
		{"zeroing store", AVX512, "zeroing", func(a *Asm) { a.Op(VMOVUPS, Ptr(RAX, 0), V(1), MaskZ(1)) }},
		{"zeroing compare", AVX512, "zeroing", func(a *Asm) { a.Op(VCMPPS, K(1), V(1), V(2), CmpLT, MaskZ(1)) }},
		{"zeroing gather", AVX512, "zeroing", func(a *Asm) { a.Op(VGATHERDPS, V(0), VIdx(RAX, 1, 4, 0), MaskZ(1)) }},
		{"gather without mask", AVX512, "needs a Mask", func(a *Asm) { a.Op(VGATHERDPS, V(0), VIdx(RAX, 1, 4, 0)) }},
		{"scatter without mask", AVX512, "needs a Mask", func(a *Asm) { a.Op(VSCATTERDPS, VIdx(RAX, 1, 4, 0), V(0)) }},
		{"gather into its index", AVX512, "different registers", func(a *Asm) { a.Op(VGATHERDPS, V(1), VIdx(RAX, 1, 4, 0), Mask(1)) }},
		{"VEX gather, mask is index", AVX2, "different registers", func(a *Asm) { a.Op(VGATHERDPS, V(0), VIdx(RAX, 1, 4, 0), V(1)) }},
		{"VEX gather, mask is destination", AVX2, "different registers", func(a *Asm) { a.Op(VGATHERDPS, V(1), VIdx(RAX, 0, 4, 0), V(1)) }},
		{"VEX gather, index 16", AVX512, "EVEX form", func(a *Asm) { a.Op(VGATHERDPS, V(0), VIdx(RAX, 16, 4, 0), V(1), L256) }},
		{"VEX gather, index 16 on AVX2", AVX2, "AVX-512", func(a *Asm) { a.Op(VGATHERDPS, V(0), VIdx(RAX, 16, 4, 0), V(1)) }},
		{"gather from plain memory", AVX512, "no form", func(a *Asm) { a.Op(VGATHERDPS, V(0), Ptr(RAX, 0), Mask(1)) }},
		{"vector index in a load", AVX512, "no form", func(a *Asm) { a.Op(VMOVUPS, V(0), VIdx(RAX, 1, 4, 0)) }},

		{"label never bound", AVX512, "never bound", func(a *Asm) { a.Jmp(a.NewLabel()) }},
		{"label bound twice", AVX512, "twice", func(a *Asm) { a.Bind(far(a)) }},
		{"zero label", AVX512, "label 0", func(a *Asm) { a.Jmp(0) }},
		{"label of another", AVX512, "label 5", func(a *Asm) { a.J(EQ, 5) }},
		{"Bind of no label", AVX512, "label 7", func(a *Asm) { a.Bind(7) }},
		{"Rip of no label", AVX512, "label 3", func(a *Asm) { a.Op(LEA, RAX, Rip(3, 0)) }},
		{"negative label", AVX512, "label -2", func(a *Asm) { a.Op(LEA, RAX, Rip(-2, 0)) }},
		{"condition 16", AVX512, "condition 16", func(a *Asm) { a.J(16, far(a)) }},
		{"short jump too far", AVX512, "short jump", func(a *Asm) {
			l := a.NewLabel()
			a.JShort(EQ, l)
			for range 128 {
				a.Op(RET)
			}
			a.Bind(l)
		}},
		{"alignment 48", AVX512, "power of two", func(a *Asm) { a.Align(48) }},
		{"alignment 128", AVX512, "power of two", func(a *Asm) { a.Align(128) }},
		{"alignment 0", AVX512, "power of two", func(a *Asm) { a.Align(0) }},
		{"code after Finish", AVX512, "finished", func(a *Asm) { a.Finish(); a.Op(RET) }},
		{"constant after Finish", AVX512, "finished", func(a *Asm) { a.Finish(); a.F32(1) }},
		{"label after Finish", AVX512, "finished", func(a *Asm) { a.Finish(); a.Here() }},
		{"padding after Finish", AVX512, "finished", func(a *Asm) { a.Op(RET); a.Finish(); a.Align(64) }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := New(c.isa)
			c.build(a)
			code, err := a.Finish()
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %x, %v; want an error with %q", code, err, c.want)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "asm: ") {
				t.Errorf("%v does not say where it comes from", err)
			}
		})
	}
}
