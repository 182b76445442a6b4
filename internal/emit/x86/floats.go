package x86

import (
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// floatOps are the instructions for lanes of a float type.
type floatOps struct {
	elem                          uint8 // bytes
	add, sub, div, sqrt, min, max asm.Op
	and, or, xor, compare, choose asm.Op // choose: by a register of masks
	ranged, rounded, roundedTo    asm.Op // ranged, roundedTo: AVX-512 alone; rounded: AVX2
	sign, one, infinity           uint64
}

var (
	single = floatOps{
		elem: 4, add: asm.VADDPS, sub: asm.VSUBPS, div: asm.VDIVPS, sqrt: asm.VSQRTPS, min: asm.VMINPS, max: asm.VMAXPS,
		and: asm.VANDPS, or: asm.VORPS, xor: asm.VXORPS, compare: asm.VCMPPS, choose: asm.VBLENDVPS,
		ranged: asm.VRANGEPS, rounded: asm.VROUNDPS, roundedTo: asm.VRNDSCALEPS,
		sign: 1 << 31, one: 0x3F800000, infinity: 0x7F800000,
	}
	double = floatOps{
		elem: 8, add: asm.VADDPD, sub: asm.VSUBPD, div: asm.VDIVPD, sqrt: asm.VSQRTPD, min: asm.VMINPD, max: asm.VMAXPD,
		and: asm.VANDPD, or: asm.VORPD, xor: asm.VXORPD, compare: asm.VCMPPD, choose: asm.VBLENDVPD,
		ranged: asm.VRANGEPD, rounded: asm.VROUNDPD, roundedTo: asm.VRNDSCALEPD,
		sign: 1 << 63, one: 0x3FF << 52, infinity: 0x7FF << 52,
	}
)

// bits is a constant for all lanes.
func (f *floatOps) bits(b uint64) operand { return operand{kind: constOperand, elem: f.elem, bits: b} }

// unaryFloat is an operation on one float.
func (e *emitter) unaryFloat(f *floatOps, op ir.Op, x operand) reg {
	switch op {
	case ir.Neg:
		return e.v(f.xor, r(e.inRegister(x)), f.bits(f.sign))
	case ir.Abs:
		return e.v(f.and, r(e.inRegister(x)), f.bits(f.sign-1))
	case ir.Recip:
		return e.v(f.div, r(e.constant(f.one, f.elem)), x)
	case ir.Sqrt:
		return e.v(f.sqrt, x)
	case ir.Round:
		return e.round(f, x, 8)
	case ir.Floor:
		return e.round(f, x, 9)
	case ir.Trunc:
		return e.round(f, x, 11)
	}
	e.Unsupported("%v of %d bytes: expand it first", op, f.elem)
	return 0
}

// round takes the mode as in the immediate of vroundps.
func (e *emitter) round(f *floatOps, x operand, mode int64) reg {
	if e.isa == AVX512 {
		return e.vImm(f.roundedTo, mode, x)
	}
	return e.vImm(f.rounded, mode, x)
}

// minMax lets NaN through and puts -0 below +0, which the instructions of that
// name do not.
func (e *emitter) minMax(f *floatOps, op ir.Op, a, b reg) reg {
	x := e.extreme(f, op, a, b)
	nan := e.compare(f.compare, asm.CmpUnord, r(a), r(b))
	if e.isa == AVX512 {
		return e.vMerge(nan, x, f.add, r(a), r(b))
	}
	return e.v(f.choose, r(x), r(e.v(f.add, r(a), r(b))), r(nan))
}

// extreme is minMax of numbers. Of a NaN and a number it is either, or with
// AVX2 a mixture of their bits.
func (e *emitter) extreme(f *floatOps, op ir.Op, a, b reg) reg {
	if e.isa == AVX512 {
		mode := int64(4) // minimum, the sign that of the result
		if op == ir.Max {
			mode = 5
		}
		return e.vImm(f.ranged, mode, r(a), r(b))
	}
	// With a zero on both sides, or a NaN, the instruction gives its second
	// operand: both orders joined have the right sign.
	ins, join := f.min, f.or
	if op == ir.Max {
		ins, join = f.max, f.and
	}
	return e.v(join, r(e.v(ins, r(a), r(b))), r(e.v(ins, r(b), r(a))))
}

// clampable tells whether op with a constant is a clamp that clampConst has.
func clampable(f *floatOps, op ir.Op, bits uint64) bool {
	nan := bits&^f.sign > f.infinity
	return (op == ir.Max || op == ir.Min) && !nan && !(op == ir.Min && bits == f.sign)
}

// clampConst is minMax with a constant. The instruction gives its second
// operand for a NaN, and for zeros of any sign: wrong for max with +0, where
// adding 0 mends it, and for min with -0, which is left to minMax.
func (e *emitter) clampConst(f *floatOps, op ir.Op, a operand, bits uint64) reg {
	c := e.constant(bits, f.elem)
	if op == ir.Min {
		return e.v(f.min, r(c), a)
	}
	x := e.v(f.max, r(c), a)
	if bits == 0 {
		x = e.v(f.add, r(x), r(c))
	}
	return x
}

// fmaPlan is how x*y + z with one rounding is computed. A negated factor or summand
// costs nothing.
type fmaPlan struct {
	args           [3]*node
	order          [3]int // in which they are computed: the one in memory last
	inMemory       int    // or -1
	negMul, negAdd bool
}

func (e *emitter) planFMA(n *node, u int) fmaPlan {
	f := fmaPlan{args: [3]*node{n.Operands[0], n.Operands[1], n.Operands[2]}, inMemory: -1}
	for i, a := range f.args {
		if a.Kind == loop.KindApply && a.Op == ir.Neg {
			f.args[i] = a.Operands[0]
			if i == 2 {
				f.negAdd = true
			} else {
				f.negMul = !f.negMul
			}
		}
	}
	for _, i := range [3]int{2, 1, 0} {
		if e.free(f.args[i], u) {
			f.inMemory = i
			break
		}
	}
	done := [3]bool{}
	for at := range f.order {
		most := -1
		for i, a := range f.args {
			if !done[i] && i != f.inMemory && (most < 0 || a.Need > f.args[most].Need) {
				most = i
			}
		}
		if most < 0 {
			most = f.inMemory
		}
		f.order[at], done[most] = most, true
	}
	return f
}

// inst is the multiply-add of operands.
func (f *fmaPlan) inst(e *emitter, src [3]operand) *inst {
	in := e.slab.new()
	in.kind, in.n, in.src, in.negMul, in.negAdd, in.dst = fused, 3, src, f.negMul, f.negAdd, e.NewReg(vec)
	return in
}
