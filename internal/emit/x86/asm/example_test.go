package asm_test

import (
	"fmt"

	"github.com/sinterml/sinter/internal/emit/x86/asm"
)

// A loop that adds 1 to RCX vectors of floats at RDI, in the lanes of k1.
func ExampleAsm() {
	a := asm.New(asm.AVX512)
	v := asm.V(0)
	loop := a.Here()
	a.Op(asm.VMOVUPS, v, asm.Ptr(asm.RDI, 0), asm.MaskZ(1))
	a.Op(asm.VADDPS, v, v, a.F32(1))
	a.Op(asm.VMOVUPS, asm.Ptr(asm.RDI, 0), v, asm.Mask(1))
	a.Op(asm.ADD, asm.RDI, asm.Imm(64))
	a.Op(asm.SUB, asm.RCX, asm.Imm(1))
	a.J(asm.NE, loop)
	a.Op(asm.VZEROUPPER)
	a.Op(asm.RET)
	code, err := a.Finish()
	fmt.Println(len(code), err)
	for _, l := range a.Lines()[:4] {
		fmt.Println(l.Text)
	}
	// Output:
	// 68 <nil>
	// L1:
	// vmovups zmm0 {k1} {z}, zmmword ptr [rdi]
	// vaddps zmm0, zmm0, dword ptr [rip + L2]{1to16}
	// vmovups zmmword ptr [rdi] {k1}, zmm0
}
