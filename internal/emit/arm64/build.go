package arm64

import (
	"encoding/binary"

	"github.com/sinterml/sinter/internal/emit/arm64/asm"
)

// The methods of this file append one instruction to the code being written
// and return the register of its result.

func (e *emitter) inst(op asm.Op, src []reg) *inst {
	in := &inst{op: op, n: uint8(len(src))}
	copy(in.src[:], src)
	return in
}

// do is an instruction without a result.
func (e *emitter) do(op asm.Op, src ...reg) *inst { return e.Add(e.inst(op, src)) }

// result is an instruction with a result of class c.
func (e *emitter) result(c class, op asm.Op, src []reg) *inst {
	in := e.inst(op, src)
	in.dst = e.NewReg(c)
	return e.Add(in)
}

// v is a vector instruction, g one on general registers.
func (e *emitter) v(op asm.Op, src ...reg) reg { return e.result(vec, op, src).dst }
func (e *emitter) g(op asm.Op, src ...reg) reg { return e.result(gpr, op, src).dst }

func (e *emitter) vImm(op asm.Op, imm int64, src ...reg) reg {
	in := e.result(vec, op, src)
	in.imm, in.hasImm = imm, true
	return in.dst
}

func (e *emitter) gImm(op asm.Op, imm int64, src ...reg) reg {
	in := e.result(gpr, op, src)
	in.imm, in.hasImm = imm, true
	return in.dst
}

// vTied is an instruction that starts from its first source.
func (e *emitter) vTied(op asm.Op, src ...reg) reg {
	in := e.result(vec, op, src)
	in.tied = true
	return in.dst
}

// Number is an i64 in a register.
func (e *emitter) Number(n int64) reg {
	in := e.result(gpr, 0, nil)
	in.kind, in.imm = number, n
	return in.dst
}

// Move copies src to dst, of one class.
func (e *emitter) Move(dst, src reg) {
	e.Add(&inst{kind: moveReg, dst: dst, n: 1, src: [3]reg{src}})
}

// Redirect fails where dst would be overwritten before it is read.
func (in *inst) Redirect(dst reg) bool {
	if in.kind != plain {
		return false
	}
	if in.tied {
		for _, x := range in.src[1:in.n] {
			if x == dst && x != in.src[0] {
				return false
			}
		}
	}
	in.dst = dst
	return true
}

func (e *emitter) label(l asm.Label) { e.Add(&inst{kind: labelHere, label: l}) }

func (e *emitter) mark(k instKind) { e.Add(&inst{kind: k}) }

func (e *emitter) jumpIf(c asm.Cond, l asm.Label) { e.Add(&inst{kind: jumpIf, cond: c, label: l}) }

// jumpZero jumps if x, general, is 0.
func (e *emitter) jumpZero(x reg, l asm.Label) {
	e.Add(&inst{kind: jumpZero, n: 1, src: [3]reg{x}, label: l})
}

// cmp compares general registers, cmpImm with a number.
func (e *emitter) cmp(x, y reg) { e.do(asm.CMP, x, y) }

func (e *emitter) cmpImm(x reg, n int64) {
	op := asm.CMPI
	if n < 0 {
		op, n = asm.CMNI, -n
	}
	if n < 0 || n >= 4096 {
		if op == asm.CMNI {
			n = -n
		}
		e.cmp(x, e.Number(n))
		return
	}
	in := e.do(op, x)
	in.imm, in.hasImm = n, true
}

// choose is yes if the condition holds, else no.
func (e *emitter) choose(c asm.Cond, yes, no reg) reg {
	in := e.result(gpr, asm.CSEL, []reg{yes, no})
	in.cond, in.hasCond = c, true
	return in.dst
}

// flagIf is 1 if the condition holds, else 0.
func (e *emitter) flagIf(c asm.Cond) reg {
	in := e.result(gpr, asm.CSET, nil)
	in.cond, in.hasCond = c, true
	return in.dst
}

// load reads from base + disp.
func (e *emitter) loadFrom(c class, op asm.Op, m address) reg {
	in := e.result(c, op, nil)
	in.hasMem, in.base, in.disp = true, m.base, m.disp
	return in.dst
}

// storeTo writes x to base + disp.
func (e *emitter) storeTo(op asm.Op, m address, x reg) {
	in := e.do(op, x)
	in.hasMem, in.base, in.disp = true, m.base, m.disp
}

// once makes a value in front of all code.
func (e *emitter) once(c class, in *inst) reg {
	in.dst = e.NewReg(c)
	e.Once(in.dst, in)
	return in.dst
}

// LoadWord is a word of the argument block in a register.
func (e *emitter) LoadWord(w int) reg {
	return e.once(gpr, &inst{kind: argument, imm: int64(w)})
}

// constant is a register whose 32-bit lanes all hold bits.
func (e *emitter) constant(bits uint32) reg {
	var data [16]byte
	for i := range 4 {
		binary.LittleEndian.PutUint32(data[4*i:], bits)
	}
	return e.table(data)
}

// table is a register of constants.
func (e *emitter) table(data [16]byte) reg {
	x := e.consts[data]
	if x == 0 {
		in := &inst{kind: literal, data: data}
		if data == [16]byte{} {
			in.kind = zeroing
		}
		x = e.once(vec, in)
		e.consts[data] = x
	}
	return x
}

func (e *emitter) zero() reg { return e.constant(0) }

// ConstMask is a mask of all lanes or none.
func (e *emitter) ConstMask(on bool) reg {
	if on {
		return e.constant(0xFFFFFFFF)
	}
	return e.zero()
}
