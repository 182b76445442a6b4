package x86

import (
	"fmt"

	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
)

// kernelFiles are the registers of a whole kernel: all but the stack and frame
// pointers and the argument block.
func kernelFiles(isa ISA) native.Files {
	f := native.Files{Base: uint8(asm.R15), Spills: true}
	f.Free[gpr] = 0xFFFF &^ native.SetOf(uint8(asm.RSP), uint8(asm.RBP), uint8(argsReg))
	f.Free[mask] = 0xFE
	f.Scratch[gpr] = []uint8{uint8(asm.RCX), uint8(asm.RAX), uint8(asm.RDX)}
	f.Scratch[mask] = []uint8{5, 6, 7}
	if isa == AVX512 {
		f.Free[vec] = 0xFFFFFFFF
		f.Scratch[vec] = []uint8{31, 30, 29}
	} else {
		f.Free[vec] = 0xFFFF
		f.Scratch[vec] = []uint8{15, 14, 13}
	}
	return f
}

// allocate gives every virtual register a place. Divisions keep RAX and RDX to
// themselves.
func allocate(e *emitter, code []*inst, f native.Files) (*writer, error) {
	divides := false
	for _, in := range code {
		divides = divides || in.kind == divide
	}
	if pair := native.SetOf(uint8(asm.RAX), uint8(asm.RDX)); divides {
		if f.Free[gpr]&pair != pair {
			return nil, fmt.Errorf("%w: a division needs RAX and RDX", native.ErrUnsupported)
		}
		f.Free[gpr] &^= pair
	}
	places, err := native.Allocate(e.Regs, code, &f, [classes]int{gpr: 8, vec: e.a.Length().Bytes(), mask: 8})
	if err != nil {
		return nil, err
	}
	return &writer{
		e: e, a: e.a, args: argsReg, scratch: f.Scratch, base: asm.R(f.Base),
		place: places.At, slot: places.Slot, slots: places.Bytes,
	}, nil
}
