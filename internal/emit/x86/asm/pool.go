package asm

import (
	"encoding/binary"
	"math"
	"slices"
)

// constant is an entry of the pool behind the code.
type constant struct {
	label Label
	elem  uint8 // bytes of one element; 0: data is a whole vector
	bits  uint64
	data  []byte
}

// F32 is a constant that fills a vector. It serves full-width operands of
// instructions on 32-bit elements (by embedded broadcast on AVX-512, by a
// stored vector on AVX2), scalar instructions and broadcasts from memory.
func (a *Asm) F32(x float32) M { return a.constant(4, uint64(math.Float32bits(x))) }

// U32 is F32 for the given bits.
func (a *Asm) U32(x uint32) M { return a.constant(4, uint64(x)) }

// F64 is a constant like F32 for instructions on 64-bit elements.
func (a *Asm) F64(x float64) M { return a.constant(8, math.Float64bits(x)) }

// U64 is F64 for the given bits.
func (a *Asm) U64(x uint64) M { return a.constant(8, x) }

// Vec is a constant of 16, 32 or 64 bytes, such as a row of lane numbers.
func (a *Asm) Vec(data []byte) M {
	if n := len(data); n != 16 && n != 32 && n != 64 {
		a.fail("a vector constant of %d bytes: want 16, 32 or 64", n)
	}
	if a.done {
		a.fail("a constant after the code is finished")
	}
	for i := range a.pool {
		if c := &a.pool[i]; c.elem == 0 && slices.Equal(c.data, data) {
			return Rip(c.label, 0)
		}
	}
	l := a.NewLabel()
	a.pool = append(a.pool, constant{label: l, data: slices.Clone(data)})
	return Rip(l, 0)
}

// Pools are small, so a walk is faster than a map.
func (a *Asm) constant(elem uint8, bits uint64) M {
	if a.done {
		a.fail("a constant after the code is finished")
	}
	for i := range a.pool {
		if c := &a.pool[i]; c.bits == bits && c.elem == elem {
			return M{label: c.label, elem: elem, flags: memSet}
		}
	}
	l := a.NewLabel()
	a.pool = append(a.pool, constant{label: l, elem: elem, bits: bits})
	return M{label: l, elem: elem, flags: memSet}
}

// bytes is what is stored: on AVX2, which has no embedded broadcast, the
// element as often as a full-width operand needs it.
func (c *constant) bytes(isa ISA) []byte {
	if c.elem == 0 {
		return c.data
	}
	n := 1
	if isa == AVX2 {
		n = 32 / int(c.elem)
	}
	b := make([]byte, 0, 32)
	for range n {
		if c.elem == 4 {
			b = binary.LittleEndian.AppendUint32(b, uint32(c.bits))
		} else {
			b = binary.LittleEndian.AppendUint64(b, c.bits)
		}
	}
	return b
}

// placePool writes the constants behind the code, the largest first from a
// multiple of 64, so that each is aligned to its size. The gap holds INT3.
func (a *Asm) placePool() {
	if len(a.pool) == 0 {
		return
	}
	if len(a.code)%64 != 0 {
		a.list = append(a.list, inst{at: uint32(len(a.code)), what: entryPad, imm: 64})
	}
	for len(a.code)%64 != 0 {
		a.code = append(a.code, 0xCC)
	}
	for size := 64; size >= 4; size /= 2 {
		for i := range a.pool {
			c := &a.pool[i]
			b := c.bytes(a.ISA)
			if len(b) != size {
				continue
			}
			a.labels[c.label-1] = int32(len(a.code))
			a.list = append(a.list, inst{at: uint32(len(a.code)), what: entryConst, label: c.label, imm: int64(c.elem)})
			a.code = append(a.code, b...)
		}
	}
}
