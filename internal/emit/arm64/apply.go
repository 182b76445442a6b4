package arm64

import (
	"cmp"
	"slices"

	"github.com/sinterml/sinter/internal/emit/arm64/asm"
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
		k := e.MaskOf(n.Operands[0], u)
		yes, no := e.pair(n.Operands[1], n.Operands[2], u)
		return e.blend(k, yes, no)
	case ir.FMA:
		return e.narrowed(e.fma(n, u), n.DType)
	}
	d := n.DType.Compute()
	if len(n.Operands) == 1 {
		return e.narrowed(e.unary(n.Op, d, n.Operands[0], u), n.DType)
	}
	switch {
	case n.Op == ir.Shl && d == ir.F32:
		x, y := e.pair(n.Operands[0], n.Operands[1], u)
		return e.scale(x, y)
	case n.Op == ir.Shl || n.Op == ir.Shr:
		return e.shift(n, u)
	}
	x, y := e.pair(n.Operands[0], n.Operands[1], u)
	return e.narrowed(e.binary(n.Op, d, x, y), n.DType)
}

type opType struct {
	op ir.Op
	d  ir.DType
}

// simple maps operations to the instruction that does them on two operands. FMIN
// and FMAX let NaN through and put -0 below +0, as the operations do.
var simple = map[opType]asm.Op{
	{ir.Add, ir.F32}: asm.FADD4S, {ir.Sub, ir.F32}: asm.FSUB4S, {ir.Mul, ir.F32}: asm.FMUL4S, {ir.Div, ir.F32}: asm.FDIV4S,
	{ir.Min, ir.F32}: asm.FMIN4S, {ir.Max, ir.F32}: asm.FMAX4S,
	{ir.Add, ir.I32}: asm.ADD4S, {ir.Sub, ir.I32}: asm.SUB4S, {ir.Mul, ir.I32}: asm.MUL4S,
	{ir.Min, ir.I32}: asm.SMIN4S, {ir.Max, ir.I32}: asm.SMAX4S,
	{ir.Add, ir.U32}: asm.ADD4S, {ir.Sub, ir.U32}: asm.SUB4S, {ir.Mul, ir.U32}: asm.MUL4S,
	{ir.Min, ir.U32}: asm.UMIN4S, {ir.Max, ir.U32}: asm.UMAX4S,
	{ir.And, ir.I32}: asm.AND16B, {ir.Or, ir.I32}: asm.ORR16B, {ir.Xor, ir.I32}: asm.EOR16B,
	{ir.And, ir.U32}: asm.AND16B, {ir.Or, ir.U32}: asm.ORR16B, {ir.Xor, ir.U32}: asm.EOR16B,
	{ir.Add, ir.F64}: asm.FADD2D, {ir.Sub, ir.F64}: asm.FSUB2D, {ir.Mul, ir.F64}: asm.FMUL2D, {ir.Div, ir.F64}: asm.FDIV2D,
	{ir.Min, ir.F64}: asm.FMIN2D, {ir.Max, ir.F64}: asm.FMAX2D,
	{ir.Add, ir.I64}: asm.ADD2D, {ir.Sub, ir.I64}: asm.SUB2D,
	{ir.And, ir.I64}: asm.AND16B, {ir.Or, ir.I64}: asm.ORR16B, {ir.Xor, ir.I64}: asm.EOR16B,
}

// binary is op on two values of the compute type d.
func (e *emitter) binary(op ir.Op, d ir.DType, a, b reg) reg {
	if o, ok := simple[opType{op, d}]; ok {
		return e.v(o, a, b)
	}
	if op == ir.MulHi {
		return e.v(asm.UZP24S, e.v(asm.UMULL2D, a, b), e.v(asm.UMULL2D2, a, b))
	}
	if (op == ir.IDiv || op == ir.Mod) && (d == ir.I32 || d == ir.U32) {
		return e.divideLanes(op, d, a, b)
	}
	e.Unsupported("%v of %v", op, d)
	return 0
}

var unaryFloat = map[ir.Op]asm.Op{
	ir.Neg: asm.FNEG4S, ir.Abs: asm.FABS4S, ir.Sqrt: asm.FSQRT4S,
	ir.Round: asm.FRINTN4S, ir.Floor: asm.FRINTM4S, ir.Trunc: asm.FRINTZ4S,
}

func (e *emitter) unary(op ir.Op, d ir.DType, a *node, u int) reg {
	x := e.vec(a, u)
	switch {
	case d == ir.F32 && op == ir.Recip:
		return e.v(asm.FDIV4S, e.constant(f32bits(1)), x)
	case d == ir.F32:
		if o, ok := unaryFloat[op]; ok {
			return e.v(o, x)
		}
	case op == ir.Neg:
		return e.v(asm.NEG4S, x)
	case op == ir.Abs && d == ir.I32:
		return e.v(asm.ABS4S, x)
	case op == ir.Abs:
		return x
	}
	e.Unsupported("%v of %v: expand it first", op, d)
	return 0
}

// fma is x*y + z with one rounding. A negated factor costs nothing.
func (e *emitter) fma(n *node, u int) reg {
	if n.DType.Compute() != ir.F32 {
		e.Unsupported("fma of %v", n.DType)
		return 0
	}
	args, negated := factors(n)
	op := asm.FMLA4S
	if negated {
		op = asm.FMLS4S
	}
	var regs [3]reg
	for _, i := range byNeed(args) {
		regs[i] = e.vec(args[i], u)
	}
	return e.vTied(op, regs[2], regs[0], regs[1])
}

// factors are the operands of a multiply-add without the signs of the factors, and
// whether the product is negated.
func factors(n *node) (args [3]*node, negated bool) {
	args = [3]*node{n.Operands[0], n.Operands[1], n.Operands[2]}
	for i, a := range args[:2] {
		if a.Kind == loop.KindApply && a.Op == ir.Neg {
			args[i], negated = a.Operands[0], !negated
		}
	}
	return args, negated
}

// byNeed is the order in which to compute operands: what needs the most registers first.
func byNeed(args [3]*node) [3]int {
	order := [3]int{0, 1, 2}
	slices.SortStableFunc(order[:], func(i, j int) int { return cmp.Compare(args[j].Need, args[i].Need) })
	return order
}

// blend is yes where k, else no.
func (e *emitter) blend(k, yes, no reg) reg { return e.vTied(asm.BSL16B, k, yes, no) }

// divideLanes is floor(a/b), or the remainder of that, through f64, where the
// quotient of two 32-bit numbers rounds to no other integer.
func (e *emitter) divideLanes(op ir.Op, d ir.DType, a, b reg) reg {
	convert, back := asm.SCVTF2D, asm.FCVTZS2D
	widen := signedHalves
	if d == ir.U32 {
		convert, back = asm.UCVTF2D, asm.FCVTZU2D
		widen = unsignedHalves
	}
	var half [2]reg
	for i := range half {
		x := e.v(convert, e.vImm(widen[i], 0, a))
		y := e.v(convert, e.vImm(widen[i], 0, b))
		half[i] = e.v(back, e.v(asm.FRINTM2D, e.v(asm.FDIV2D, x, y)))
	}
	q := e.v(asm.UZP14S, half[0], half[1])
	if op == ir.IDiv {
		return q
	}
	return e.v(asm.SUB4S, a, e.v(asm.MUL4S, q, b))
}
