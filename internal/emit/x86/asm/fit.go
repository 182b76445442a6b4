package asm

import "math"

// reason says why a row does not fit, the later the closer it came.
type reason uint8

const (
	fits reason = iota
	badOperands
	badSizes
	badImm
	badByteImm
	badLength
	badConstant
	badBcast
	badMask
	badZero
	wantMask
	wantIndex
	sameRegs
	wantEVEX
	noVEX
)

var reasons = [...]string{
	badOperands: "no form has these operands",
	badSizes:    "operands of 32 and 64 bits are mixed",
	badImm:      "the immediate does not fit",
	badByteImm:  "the immediate does not fit in a byte",
	badLength:   "not at this vector length",
	badConstant: "a constant of this width cannot be this operand: use Vec, or load it into a register",
	badBcast:    "this operand cannot be broadcast, or needs EVEX for it",
	badMask:     "no masking here",
	badZero:     "zeroing needs a vector register as destination",
	wantMask:    "a gather or scatter needs a Mask",
	wantIndex:   "the address of a tile needs an index, the bytes from row to row",
	sameRegs:    "a gather needs different registers for destination, index and mask",
	wantEVEX:    "registers above 15, masks, broadcasts and length 512 need an EVEX form",
	noVEX:       "needs AVX-512: no VEX form for these operands",
}

// fit decides whether r encodes the operands; if so in has the encoded length,
// W, the encoding and the immediate settled.
func (a *Asm) fit(r *row, in *inst, length Length) reason {
	if r.n != in.n {
		return badOperands
	}
	for i := range r.n {
		if r.slot[i].takes&in.kinds[i] == 0 {
			return badOperands
		}
	}
	if why := r.fitSizes(in); why != fits {
		return why
	}
	imm, why := r.fitImm(in)
	if why != fits {
		return why
	}
	if r.enc&hasLegacy != 0 {
		if in.mask != 0 {
			return badMask
		}
		if in.mem.flags&memBcast != 0 {
			return badBcast
		}
		in.imm = imm
		return fits
	}
	switch r.len {
	case lenAny:
	case len128:
		length = L128
	case len256:
		length = L256
	case len512:
		length = L512
	case len256up:
		if length == L128 {
			return badLength
		}
	}
	in.len = uint8(length - L128)
	if why := a.fitBcast(r, in); why != fits {
		return why
	}
	if why := a.fitPrefix(r, in); why != fits {
		return why
	}
	in.wide = r.w == w1 || r.w == wOp && in.wide || r.w == wE1 && in.evex
	in.imm = imm
	return fits
}

// fitSizes checks that general operands agree in width, which gives W. With
// none but memory the width is 64 bits.
func (r *row) fitSizes(in *inst) reason {
	var seen kind
	for i := range r.n {
		if r.slot[i].size == opSize {
			seen |= in.kinds[i] & kGP
		}
	}
	if seen == kGP {
		return badSizes
	}
	switch r.w {
	case wOp:
		in.wide = seen != kR32
	default:
		in.wide = r.w == w1
	}
	return fits
}

// fitImm checks the range of the immediate; a 32-bit operation takes signed
// and unsigned values alike.
func (r *row) fitImm(in *inst) (int64, reason) {
	imm := in.imm
	for i := range r.n {
		if in.kinds[i] != kImm {
			if r.slot[i].at == implicit && in.regs[i] != uint8(RAX) {
				return 0, badOperands
			}
			continue
		}
		lo, hi := int64(math.MinInt32), int64(math.MaxInt32)
		if r.enc == hasLegacy && !in.wide && imm > hi && imm <= math.MaxUint32 {
			imm -= 1 << 32
		}
		switch r.slot[i].at {
		case implicit:
			lo, hi = 1, 1
		case inImm8:
			if imm < 0 || imm > math.MaxUint8 {
				return 0, badByteImm
			}
			continue
		case inImm8s:
			lo, hi = math.MinInt8, math.MaxInt8
		case inImm64:
			lo, hi = math.MinInt64, math.MaxInt64
		}
		if imm < lo || imm > hi {
			return 0, badImm
		}
	}
	return imm, fits
}

// fitBcast settles whether the memory operand is one element that is repeated.
func (a *Asm) fitBcast(r *row, in *inst) reason {
	in.bcast = false
	if in.mem.flags&memBcast != 0 {
		if r.tuple.elem() == 0 || r.enc&hasEVEX == 0 {
			return badBcast
		}
		in.bcast = true
	}
	if elem := int(in.mem.elem); elem != 0 {
		switch {
		case r.tuple.elem() == elem:
			in.bcast = a.ISA == AVX512
		case r.tuple.bytes(in.len) == elem: // a scalar
		case a.ISA == AVX512, r.tuple.elem() != 0, r.tuple.bytes(in.len) < elem:
			return badConstant
		}
	}
	if in.bcast && r.enc&hasEVEX == 0 {
		return badConstant
	}
	return fits
}

// fitPrefix chooses between VEX and EVEX and checks what EVEX adds.
func (a *Asm) fitPrefix(r *row, in *inst) reason {
	high := in.len == 2 || in.mask != 0 || in.bcast
	for i := range r.n {
		high = high || in.kinds[i] == kV && in.regs[i] > 15
		if in.kinds[i]&(kK|kT) != 0 && a.ISA == AVX2 {
			return noVEX // the encoding is VEX, masks are AVX-512, and tiles come with that
		}
	}
	high = high || in.mem.flags&memVector != 0 && in.mem.index > 15
	if r.flags&sibMem != 0 && in.mem.flags&memIndex == 0 {
		return wantIndex
	}
	vex := r.enc&hasVEX != 0 && (r.enc&vexAlone == 0 || a.ISA == AVX2)
	if vex && !high {
		in.evex = false
		if r.flags&gather != 0 && in.n == 3 {
			d, x, m := in.regs[0], in.mem.index, in.regs[2]
			if d == x || d == m || x == m {
				return sameRegs
			}
		}
		return fits
	}
	if a.ISA == AVX2 {
		return noVEX
	}
	if r.enc&hasEVEX == 0 {
		return wantEVEX
	}
	in.evex = true
	switch {
	case in.mask != 0 && r.flags&noMask != 0:
		return badMask
	case in.zero && (in.kinds[0] != kV || r.flags&gather != 0):
		return badZero
	case r.flags&gather != 0 && in.mask == 0:
		return wantMask
	case r.flags&gather != 0 && in.kinds[0] == kV && in.regs[0] == in.mem.index:
		return sameRegs
	}
	return fits
}
