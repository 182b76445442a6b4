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
		return e.result(n.Op, e.unary(n.Op, d, n.Operands[0], u), n.DType)
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
	if d == ir.F32 && b.Kind == loop.KindConst && clampable(&single, n.Op, uint64(b.ConstBits())) {
		return e.clampConst(&single, n.Op, e.last(a, u), uint64(b.ConstBits()))
	}
	x, y := e.pair(a, b, u)
	return e.result(n.Op, e.binary(n.Op, d, x, y), n.DType)
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
	{ir.Add, ir.F64}: asm.VADDPD, {ir.Sub, ir.F64}: asm.VSUBPD, {ir.Mul, ir.F64}: asm.VMULPD, {ir.Div, ir.F64}: asm.VDIVPD,
	{ir.Add, ir.I64}: asm.VPADDQ, {ir.Sub, ir.I64}: asm.VPSUBQ,
	{ir.And, ir.I64}: asm.VANDPD, {ir.Or, ir.I64}: asm.VORPD, {ir.Xor, ir.I64}: asm.VXORPD,
}

// binary is op on two values of the compute type d.
func (e *emitter) binary(op ir.Op, d ir.DType, a reg, b operand) reg {
	if o, ok := simple[opType{op, d}]; ok {
		return e.v(o, r(a), b)
	}
	switch {
	case d == ir.F32 && (op == ir.Min || op == ir.Max):
		return e.minMax(&single, op, a, e.inRegister(b))
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
	if d == ir.F32 {
		if op == ir.Neg || op == ir.Abs {
			return e.unaryFloat(&single, op, r(e.vec(a, u)))
		}
		return e.unaryFloat(&single, op, e.last(a, u))
	}
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

// fma is x*y + z with one rounding.
func (e *emitter) fma(n *node, u int) reg {
	if n.DType.Compute() != ir.F32 {
		e.Unsupported("fma of %v", n.DType)
		return 0
	}
	f := e.planFMA(n, u)
	var src [3]operand
	for _, i := range f.order {
		if i == f.inMemory {
			src[i] = e.last(f.args[i], u)
		} else {
			src[i] = r(e.vec(f.args[i], u))
		}
	}
	return e.Add(f.inst(e, src)).dst
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
