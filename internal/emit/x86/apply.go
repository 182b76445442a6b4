package x86

import (
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// apply is a pointwise operation on 32-bit lanes. Types that are only stored
// narrow are computed in their compute type and made narrow after each step.
func (e *emitter) apply(n *node, u int) reg {
	switch n.Op {
	case ir.Cast:
		return e.cast(n.Operands[0], n.DType, u)
	case ir.Bitcast:
		return e.bitcast(n, u)
	case ir.Where:
		return e.where(n, u)
	case ir.FMA:
		return e.narrowed(e.fma(n, u), n.DType)
	}
	d := n.DType.Compute()
	if len(n.Operands) == 1 {
		return e.narrowed(e.unary(n.Op, d, n.Operands[0], u), n.DType)
	}
	a, b := n.Operands[0], n.Operands[1]
	if n.Op.Commutes() && e.free(a, u) && !e.free(b, u) {
		a, b = b, a
	}
	switch {
	case n.Op == ir.Shl && d == ir.F32:
		x, y := e.pair(a, b, u)
		return e.scale(x, y)
	case n.Op == ir.Shl || n.Op == ir.Shr:
		return e.shift(n, u)
	}
	if d == ir.F32 && b.Kind == loop.KindConst && (n.Op == ir.Max || n.Op == ir.Min) {
		if x, ok := e.clampConst(n.Op, a, b.ConstBits(), u); ok {
			return x
		}
	}
	x, y := e.pair(a, b, u)
	return e.narrowed(e.binary(n.Op, d, x, y), n.DType)
}

// simple maps operations to the instruction that does them on two operands.
type opType struct {
	op ir.Op
	d  ir.DType
}

var simple = map[opType]asm.Op{
	{ir.Add, ir.F32}: asm.VADDPS, {ir.Sub, ir.F32}: asm.VSUBPS, {ir.Mul, ir.F32}: asm.VMULPS, {ir.Div, ir.F32}: asm.VDIVPS,
	{ir.Add, ir.I32}: asm.VPADDD, {ir.Sub, ir.I32}: asm.VPSUBD, {ir.Mul, ir.I32}: asm.VPMULLD,
	{ir.Min, ir.I32}: asm.VPMINSD, {ir.Max, ir.I32}: asm.VPMAXSD,
	{ir.Add, ir.U32}: asm.VPADDD, {ir.Sub, ir.U32}: asm.VPSUBD, {ir.Mul, ir.U32}: asm.VPMULLD,
	{ir.Min, ir.U32}: asm.VPMINUD, {ir.Max, ir.U32}: asm.VPMAXUD,
	{ir.And, ir.I32}: asm.VANDPS, {ir.Or, ir.I32}: asm.VORPS, {ir.Xor, ir.I32}: asm.VXORPS,
	{ir.And, ir.U32}: asm.VANDPS, {ir.Or, ir.U32}: asm.VORPS, {ir.Xor, ir.U32}: asm.VXORPS,
}

// binary is op on two values of the compute type d.
func (e *emitter) binary(op ir.Op, d ir.DType, a reg, b operand) reg {
	if o, ok := simple[opType{op, d}]; ok {
		return e.v(o, r(a), b)
	}
	switch {
	case d == ir.F32 && (op == ir.Min || op == ir.Max):
		return e.minMax(op, a, e.inRegister(b))
	case op == ir.MulHi:
		return e.mulHi(a, b)
	case op == ir.IDiv || op == ir.Mod:
		return e.divideLanes(op, d, a, e.inRegister(b))
	}
	e.Unsupported("%v of %v", op, d)
	return 0
}

// mulHi is the upper halves of products of u32: those of the even lanes and of the
// odd ones, which change places with their neighbours, apart.
func (e *emitter) mulHi(a reg, b operand) reg {
	const odd, upper, inOrder = 0b11_11_01_01, 0b11_01_11_01, 0b11_01_10_00
	y := e.inRegister(b)
	turned := y // as all lanes of a constant are alike
	if b.kind != constOperand {
		turned = e.vImm(asm.VPSHUFD, odd, r(y))
	}
	evens := e.v(asm.VPMULUDQ, r(a), r(y))
	odds := e.v(asm.VPMULUDQ, r(e.vImm(asm.VPSHUFD, odd, r(a))), r(turned))
	return e.vImm(asm.VPSHUFD, inOrder, r(e.vImm(asm.VSHUFPS, upper, r(evens), r(odds))))
}

// inRegister loads an operand that may be in memory.
func (e *emitter) inRegister(o operand) reg {
	switch o.kind {
	case regOperand:
		return o.reg
	case constOperand:
		return e.constant(o.bits, o.elem)
	}
	return e.v(asm.VMOVUPS, o)
}

func (e *emitter) unary(op ir.Op, d ir.DType, a *node, u int) reg {
	if d != ir.F32 {
		x := e.vec(a, u)
		switch {
		case op == ir.Neg:
			return e.v(asm.VPSUBD, r(e.zero()), r(x))
		case op == ir.Abs && d == ir.I32:
			return e.v(asm.VPABSD, r(x))
		case op == ir.Abs:
			return x
		}
		e.Unsupported("%v of %v", op, d)
		return 0
	}
	switch op {
	case ir.Neg:
		return e.v(asm.VXORPS, r(e.vec(a, u)), bits32(1<<31))
	case ir.Abs:
		return e.v(asm.VANDPS, r(e.vec(a, u)), bits32(1<<31-1))
	case ir.Recip:
		return e.v(asm.VDIVPS, r(e.constant(uint64(f32bits(1)), 4)), e.last(a, u))
	case ir.Sqrt:
		return e.v(asm.VSQRTPS, e.last(a, u))
	case ir.Round:
		return e.round(a, 8, u)
	case ir.Floor:
		return e.round(a, 9, u)
	case ir.Trunc:
		return e.round(a, 11, u)
	}
	e.Unsupported("%v of %v: expand it first", op, d)
	return 0
}

// round takes the mode as in the immediate of vroundps.
func (e *emitter) round(a *node, mode int64, u int) reg {
	if e.isa == AVX512 {
		return e.vImm(asm.VRNDSCALEPS, mode, e.last(a, u))
	}
	return e.vImm(asm.VROUNDPS, mode, e.last(a, u))
}

// fma is x*y + z with one rounding. A negated factor or summand costs nothing.
func (e *emitter) fma(n *node, u int) reg {
	if n.DType.Compute() != ir.F32 {
		e.Unsupported("fma of %v", n.DType)
		return 0
	}
	in := e.slab.new()
	in.kind = fused
	args := [3]*node{n.Operands[0], n.Operands[1], n.Operands[2]}
	for i, a := range args {
		if a.Kind == loop.KindApply && a.Op == ir.Neg {
			args[i] = a.Operands[0]
			if i == 2 {
				in.negAdd = true
			} else {
				in.negMul = !in.negMul
			}
		}
	}
	inMemory := -1
	for _, i := range [3]int{2, 1, 0} {
		if e.free(args[i], u) {
			inMemory = i
			break
		}
	}
	done := [3]bool{}
	for range 3 {
		most := -1
		for i, a := range args {
			if !done[i] && i != inMemory && (most < 0 || a.Need > args[most].Need) {
				most = i
			}
		}
		if most < 0 {
			break
		}
		in.src[most], done[most] = r(e.vec(args[most], u)), true
	}
	if inMemory >= 0 {
		in.src[inMemory] = e.last(args[inMemory], u)
	}
	in.n, in.dst = 3, e.NewReg(vec)
	return e.Add(in).dst
}

// minMax lets NaN through and puts -0 below +0, which the instructions of that
// name do not.
func (e *emitter) minMax(op ir.Op, a, b reg) reg {
	x := e.extreme(op, a, b)
	nan := e.compare(asm.VCMPPS, asm.CmpUnord, r(a), r(b))
	if e.isa == AVX512 {
		return e.vMerge(nan, x, asm.VADDPS, r(a), r(b))
	}
	return e.v(asm.VBLENDVPS, r(x), r(e.v(asm.VADDPS, r(a), r(b))), r(nan))
}

// extreme is minMax of numbers. Of a NaN and a number it is either, or with
// AVX2 a mixture of their bits.
func (e *emitter) extreme(op ir.Op, a, b reg) reg {
	if e.isa == AVX512 {
		mode := int64(4) // minimum, the sign that of the result
		if op == ir.Max {
			mode = 5
		}
		return e.vImm(asm.VRANGEPS, mode, r(a), r(b))
	}
	// With a zero on both sides, or a NaN, the instruction gives its second
	// operand: both orders joined have the right sign.
	ins, join := asm.VMINPS, asm.VORPS
	if op == ir.Max {
		ins, join = asm.VMAXPS, asm.VANDPS
	}
	return e.v(join, r(e.v(ins, r(a), r(b))), r(e.v(ins, r(b), r(a))))
}

// clampConst is minMax with a constant. The instruction gives its second
// operand for a NaN, and for zeros of any sign: wrong for max with +0, where
// adding 0 mends it, and for min with -0, which is left to minMax.
func (e *emitter) clampConst(op ir.Op, a *node, bits uint32, u int) (reg, bool) {
	const negZero = 1 << 31
	nan := bits&^negZero > 0x7F800000
	if nan || op == ir.Min && bits == negZero {
		return 0, false
	}
	c := e.constant(uint64(bits), 4)
	if op == ir.Min {
		return e.v(asm.VMINPS, r(c), e.last(a, u)), true
	}
	x := e.v(asm.VMAXPS, r(c), e.last(a, u))
	if bits == 0 {
		x = e.v(asm.VADDPS, r(x), r(c))
	}
	return x, true
}

func (e *emitter) where(n *node, u int) reg {
	k := e.MaskOf(n.Operands[0], u)
	no := e.vec(n.Operands[2], u)
	return e.blend(k, e.last(n.Operands[1], u), no)
}

// blend is yes where k, else no.
func (e *emitter) blend(k reg, yes operand, no reg) reg {
	if e.isa == AVX512 {
		in := e.inst(asm.VBLENDMPS, vec, []operand{r(no), yes})
		in.mask = k
		return e.Add(in).dst
	}
	return e.v(asm.VBLENDVPS, r(no), yes, r(k))
}

// half is one half of a register in the lower half of another.
func (e *emitter) half(x reg, half int) reg {
	switch {
	case half == 0:
		return x
	case e.isa == AVX512:
		return e.vImm(asm.VEXTRACTI64X4, 1, r(x))
	}
	return e.vImm(asm.VEXTRACTI128, 1, r(x))
}

func (e *emitter) joinHalves(lo, hi reg) reg {
	if e.isa == AVX512 {
		return e.vImm(asm.VINSERTI64X4, 1, r(lo), r(hi))
	}
	return e.vImm(asm.VINSERTI128, 1, r(lo), r(hi))
}
