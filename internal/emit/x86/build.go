package x86

import "github.com/sinterml/sinter/internal/emit/x86/asm"

// The methods of this file append one instruction to the code being written
// and return the register of its result.

func (e *emitter) inst(op asm.Op, c class, src []operand) *inst {
	in := e.slab.new()
	in.op, in.n = op, uint8(len(src))
	copy(in.src[:], src)
	if c < classes {
		in.dst = e.NewReg(c)
	}
	return in
}

// do is an instruction without a result.
func (e *emitter) do(op asm.Op, src ...operand) *inst { return e.Add(e.inst(op, classes, src)) }

// doImm is do with an immediate.
func (e *emitter) doImm(op asm.Op, imm int64, src ...operand) *inst {
	in := e.inst(op, classes, src)
	in.imm, in.hasImm = imm, true
	return e.Add(in)
}

// v is a vector instruction.
func (e *emitter) v(op asm.Op, src ...operand) reg { return e.Add(e.inst(op, vec, src)).dst }

// vLen is v at a length.
func (e *emitter) vLen(l asm.Length, op asm.Op, src ...operand) reg {
	in := e.inst(op, vec, src)
	in.len = l
	return e.Add(in).dst
}

func (e *emitter) vImm(op asm.Op, imm int64, src ...operand) reg {
	in := e.inst(op, vec, src)
	in.imm, in.hasImm = imm, true
	return e.Add(in).dst
}

// vZero is v with the lanes outside k cleared.
func (e *emitter) vZero(k reg, op asm.Op, src ...operand) reg {
	in := e.inst(op, vec, src)
	in.mask, in.zero = k, true
	return e.Add(in).dst
}

// vMerge is v with the lanes outside k taken from old.
func (e *emitter) vMerge(k, old reg, op asm.Op, src ...operand) reg {
	in := e.inst(op, vec, append([]operand{r(old)}, src...))
	in.mask, in.tied = k, true
	return e.Add(in).dst
}

// k is an instruction whose result is a mask.
func (e *emitter) kmask(op asm.Op, src ...operand) reg { return e.Add(e.inst(op, mask, src)).dst }

// compare gives lanes of all ones: a mask with AVX-512, a vector with AVX2.
func (e *emitter) compare(op asm.Op, pred asm.Imm, src ...operand) reg {
	in := e.inst(op, e.maskClass(), src)
	in.imm, in.hasImm = int64(pred), true
	return e.Add(in).dst
}

func (e *emitter) maskClass() class {
	if e.isa == AVX512 {
		return mask
	}
	return vec
}

// g is an instruction on general registers that leaves its sources alone.
func (e *emitter) g(op asm.Op, src ...operand) reg { return e.Add(e.inst(op, gpr, src)).dst }

func (e *emitter) gImm(op asm.Op, imm int64, src ...operand) reg {
	in := e.inst(op, gpr, src)
	in.imm, in.hasImm = imm, true
	return e.Add(in).dst
}

// gTied is an instruction that overwrites its first source.
func (e *emitter) gTied(op asm.Op, src ...operand) reg {
	in := e.inst(op, gpr, src)
	in.tied = true
	return e.Add(in).dst
}

func (e *emitter) gTiedImm(op asm.Op, imm int64, src ...operand) reg {
	in := e.inst(op, gpr, src)
	in.tied, in.imm, in.hasImm = true, imm, true
	return e.Add(in).dst
}

// Move copies src to dst, of one class.
func (e *emitter) Move(dst, src reg) {
	in := e.slab.new()
	in.kind, in.dst, in.n, in.src[0] = moveReg, dst, 1, r(src)
	e.Add(in)
}

// Redirect fails where dst would be overwritten before it is read.
func (in *inst) Redirect(dst reg) bool {
	if in.kind != plain && in.kind != fused {
		return false
	}
	if in.tied && in.kind == plain {
		found := false
		first := in.src[0].reg
		in.Uses(func(x reg) { found = found || x == dst && x != first })
		if found {
			return false
		}
	}
	in.dst = dst
	return true
}

func (e *emitter) label(l asm.Label) {
	in := e.slab.new()
	in.kind, in.label = labelHere, l
	e.Add(in)
}

func (e *emitter) mark(k instKind) {
	in := e.slab.new()
	in.kind = k
	e.Add(in)
}

func (e *emitter) jumpIf(cc asm.CC, l asm.Label) {
	in := e.slab.new()
	in.kind, in.cc, in.label = jumpIf, cc, l
	e.Add(in)
}

// LoadWord is a word of the argument block in a register.
func (e *emitter) LoadWord(w int) reg { return e.once(gpr, asm.MOV, argWord(w)) }

// once makes a value in front of all code.
func (e *emitter) once(c class, op asm.Op, src ...operand) reg {
	in := e.slab.new()
	in.op, in.n, in.dst = op, uint8(len(src)), e.NewReg(c)
	copy(in.src[:], src)
	if op == 0 {
		in.kind = zeroing
	}
	e.Once(in.dst, in)
	return in.dst
}

// constant is a register whose lanes of elem bytes all hold bits.
func (e *emitter) constant(bits uint64, elem uint8) reg {
	key := constKey{bits: bits, kind: constOperand, class: vec, elem: elem}
	x := e.consts[key]
	if x == 0 {
		switch {
		case bits == 0:
			x = e.once(vec, 0)
		case elem == 8:
			x = e.once(vec, asm.VPBROADCASTQ, bits64(bits))
		default:
			x = e.once(vec, asm.VBROADCASTSS, bits32(uint32(bits)))
		}
		e.consts[key] = x
	}
	return x
}

// table is a vector of constants in memory.
func (e *emitter) table(data []byte) operand {
	e.tables = append(e.tables, data)
	return operand{kind: dataOperand, bits: uint64(len(e.tables) - 1)}
}

func (e *emitter) zero() reg { return e.constant(0, 4) }

// ConstMask is a mask of all lanes or none.
func (e *emitter) ConstMask(on bool) reg {
	if e.isa == AVX2 {
		if on {
			return e.constant(0xFFFFFFFF, 4)
		}
		return e.zero()
	}
	key := constKey{class: mask, bits: 0}
	op := asm.Op(0)
	if on {
		key.bits, op = 1, asm.KXNORW
	}
	x := e.consts[key]
	if x == 0 {
		x = e.once(mask, op)
		e.consts[key] = x
	}
	return x
}
