package x86

import (
	"math"

	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// divideGeneral is the floor of x/y or its remainder. The machine faults for a
// divisor of 0, and for the least number by -1: for divisors that may be one of
// those the negated dividend or 0 is taken.
func (e *emitter) divideGeneral(op ir.Op, a, b *node) reg {
	x := e.General(a)
	c, isConst := e.Graph.PolyOf(b).Constant()
	if isConst && c > 0 && c&(c-1) == 0 {
		if op == ir.Mod {
			if c-1 <= math.MaxInt32 {
				return e.gTiedImm(asm.AND, c-1, r(x))
			}
			return e.gTied(asm.AND, r(x), r(e.gImm(asm.MOV, c-1)))
		}
		shift := int64(0)
		for 1<<shift < c {
			shift++
		}
		return e.gTiedImm(asm.SAR, shift, r(x))
	}
	y := e.General(b)
	special := !(isConst && c > 0) && !e.positive(b)
	done := e.a.NewLabel()
	result := e.NewReg(gpr)
	if special {
		simple := e.gTied(asm.NEG, r(x))
		if op == ir.Mod {
			simple = e.gImm(asm.MOV, 0)
		}
		e.Move(result, simple)
		e.doImm(asm.CMP, 1, r(e.AddTo(y, 1)))
		e.jumpIf(asm.ULE, done)
	}
	in := e.slab.new()
	in.kind, in.dst, in.n, in.imm = divide, result, 2, 0
	in.src[0], in.src[1] = r(x), r(y)
	if op == ir.Mod {
		in.imm = 1
	}
	e.Add(in)
	e.label(done)
	return result
}

// positive proves n > 0 for sizes.
func (e *emitter) positive(n *node) bool {
	if n.Kind != loop.KindSize {
		return false
	}
	lo, _ := n.Size.Bounds()
	return lo > 0
}

// divide writes the floor of a quotient, or the remainder, of general
// registers, through RAX and RDX, which are kept free for it.
func (w *writer) divide(in *inst) {
	x, y := in.src[0].reg, in.src[1].reg
	if w.place[x] == native.InMemory {
		w.loadTo(uint8(asm.RAX), x)
	} else {
		w.copy(gpr, uint8(asm.RAX), uint8(w.place[x]))
	}
	var divisor asm.R
	if p := w.place[y]; p >= 0 {
		divisor = asm.R(p)
	} else {
		for divisor = asm.RAX; w.err == nil && (divisor == asm.RAX || divisor == asm.RDX); {
			divisor = asm.R(w.takeScratch(gpr))
		}
		w.loadTo(uint8(divisor), y)
	}
	done := w.a.NewLabel()
	w.a.Op(asm.CQO)
	w.a.Op(asm.IDIV, divisor)
	result := asm.RAX
	if in.imm != 0 {
		result = asm.RDX
	}
	// The machine cuts towards zero: where a remainder is left whose sign
	// differs from the divisor's, the floor is one less.
	w.a.Op(asm.TEST, asm.RDX, asm.RDX)
	w.a.J(asm.EQ, done)
	sign := asm.RDX
	if in.imm != 0 {
		sign = asm.RAX
		w.a.Op(asm.MOV, asm.RAX, asm.RDX)
	}
	w.a.Op(asm.XOR, sign, divisor)
	w.a.J(asm.NOSIGN, done)
	if in.imm != 0 {
		w.a.Op(asm.ADD, asm.RDX, divisor)
	} else {
		w.a.Op(asm.SUB, asm.RAX, asm.Imm(1))
	}
	w.a.Bind(done)
	if p := w.place[in.dst]; p >= 0 {
		w.copy(gpr, uint8(p), uint8(result))
	} else {
		w.store(in.dst, uint8(result))
	}
}

// divideLanes is floor(a/b), or the remainder of that, through f64, where the
// quotient of two 32-bit numbers rounds to no other integer. By zero it gives
// anything, without a fault.
func (e *emitter) divideLanes(op ir.Op, d ir.DType, a, b reg) reg {
	if d != ir.I32 && d != ir.U32 {
		e.Unsupported("%v of %v", op, d)
		return 0
	}
	var half [2]reg
	for i := range half {
		x, y := e.halfToDouble(d, a, i), e.halfToDouble(d, b, i)
		q := e.v(asm.VDIVPD, r(x), r(y))
		half[i] = e.doubleToHalf(d, e.floorDouble(q))
	}
	q := e.joinHalves(half[0], half[1])
	if op == ir.IDiv {
		return q
	}
	return e.v(asm.VPSUBD, r(a), r(e.v(asm.VPMULLD, r(q), r(b))))
}

func (e *emitter) floorDouble(x reg) reg {
	if e.isa == AVX512 {
		return e.vImm(asm.VRNDSCALEPD, 9, r(x))
	}
	return e.vImm(asm.VROUNDPD, 9, r(x))
}

// halfToDouble widens the low (0) or high (1) half of 32-bit integers.
func (e *emitter) halfToDouble(d ir.DType, x reg, half int) reg {
	x = e.half(x, half)
	switch {
	case d == ir.I32:
		return e.v(asm.VCVTDQ2PD, r(x))
	case e.isa == AVX512:
		return e.v(asm.VCVTUDQ2PD, r(x))
	}
	signed := e.v(asm.VCVTDQ2PD, r(e.v(asm.VXORPS, r(x), bits32(1<<31))))
	return e.v(asm.VADDPD, r(signed), bits64(two31Double))
}

const two31Double = 0x41E0000000000000 // 2^31 as f64

func (e *emitter) doubleToHalf(d ir.DType, x reg) reg {
	switch {
	case d == ir.I32:
		return e.v(asm.VCVTTPD2DQ, r(x))
	case e.isa == AVX512:
		return e.v(asm.VCVTTPD2UDQ, r(x))
	}
	signed := e.v(asm.VCVTTPD2DQ, r(e.v(asm.VSUBPD, r(x), bits64(two31Double))))
	return e.v(asm.VXORPS, r(signed), bits32(1<<31))
}
