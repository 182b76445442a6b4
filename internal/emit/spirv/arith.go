package spirv

import "github.com/sinterml/sinter/internal/emit/flat"

// plain are the operations that are one instruction each: of integers, of
// floats, of Bool.
var plain = map[flat.Op]struct{ integer, float, truth opcode }{
	flat.Add:          {opIAdd, opFAdd, 0},
	flat.Sub:          {opISub, opFSub, 0},
	flat.Mul:          {opIMul, opFMul, 0},
	flat.Div:          {0, opFDiv, 0},
	flat.Neg:          {0, opFNegate, 0},
	flat.DivS:         {opSDiv, 0, 0},
	flat.DivU:         {opUDiv, 0, 0},
	flat.RemS:         {opSRem, 0, 0},
	flat.RemU:         {opUMod, 0, 0},
	flat.Shl:          {opShiftLeftLogical, 0, 0},
	flat.ShrS:         {opShiftRightArithmetic, 0, 0},
	flat.ShrU:         {opShiftRightLogical, 0, 0},
	flat.And:          {opBitwiseAnd, 0, opLogicalAnd},
	flat.Or:           {opBitwiseOr, 0, opLogicalOr},
	flat.Xor:          {opBitwiseXor, 0, opLogicalNotEqual},
	flat.Equal:        {opIEqual, opFOrdEqual, 0},
	flat.NotEqual:     {opINotEqual, opFUnordNotEqual, 0},
	flat.Less:         {opSLessThan, opFOrdLessThan, 0},
	flat.LessU:        {opULessThan, 0, 0},
	flat.Select:       {opSelect, opSelect, 0},
	flat.ExtendU:      {opUConvert, 0, 0},
	flat.Narrow:       {opUConvert, 0, 0},
	flat.IntToFloat:   {opConvertSToF, 0, 0},
	flat.UintToFloat:  {opConvertUToF, 0, 0},
	flat.FloatToInt:   {0, opConvertFToS, 0},
	flat.FloatToUint:  {0, opConvertFToU, 0},
	flat.FloatToFloat: {0, opFConvert, 0},
	flat.Bits:         {opBitcast, opBitcast, 0},
}

// functions are those of the set for floats.
var functions = map[flat.Op]uint32{
	flat.FMA: glslFma, flat.Sqrt: glslSqrt, flat.Floor: glslFloor, flat.Trunc: glslTrunc, flat.Round: glslRoundEven,
}

func (b *builder) Op(op flat.Op, to flat.Type, args ...flat.Value) flat.Value {
	switch {
	case op == flat.HalfToFloat:
		return flat.WidenHalf(b, args[0])
	case op == flat.FloatToHalf:
		return flat.NarrowHalf(b, args[0])
	case op == flat.Div && !b.o.Exact.of(to):
		return flat.Quotient(device{b}, args[0], args[1])
	case op == flat.Sqrt && !b.o.Roots.of(to):
		return flat.Root(device{b}, args[0])
	case (op == flat.Floor || op == flat.Trunc || op == flat.Round) && !b.o.Whole.of(to):
		return flat.Whole(device{b}, op, args[0])
	case op == flat.FMA && !b.o.Fused.of(to) && b.o.FusedNormal.of(to):
		return b.fused(args[0], args[1], args[2])
	case op == flat.FMA && !b.o.Fused.of(to):
		return flat.Fused(device{b}, b.o.Float64, args[0], args[1], args[2])
	case op == flat.Abs: // of a subnormal NVIDIA's driver (580) makes 0
		return flat.Positive(bare{b}, args[0])
	case compares(op) && b.confuses(args[0], args[1]):
		return flat.Compared(bare{b}, op, args[0], args[1])
	case op == flat.FloatToFloat && !b.o.Converts && to == flat.F64:
		return flat.Widened(bare{b}, args[0])
	case op == flat.FloatToFloat && !b.o.Converts:
		return flat.Narrowed(bare{b}, args[0])
	case to == flat.I64 && divides(op) && !b.o.Divides:
		return flat.Divided(b, op, b.known[args[1].ID], args[0], args[1])
	}
	return b.native(op, to, args...)
}

// fused is x*y + z of a device whose own multiply-add loses subnormals.
func (b *builder) fused(x, y, z flat.Value) flat.Value {
	r := b.native(flat.FMA, x.Type, x, y, z)
	wrong := flat.Flushed(bare{b}, b.normal, x, y, z, r)
	return b.choice(wrong, r, func() flat.Value { return flat.Fused(device{b}, b.o.Float64, x, y, z) })
}

// normal tells whether a value is a constant, and no subnormal.
func (b *builder) normal(x flat.Value) bool {
	bits, known := b.known[x.ID]
	return known && (x.Type == flat.F32 && bits>>23&0xff != 0 || x.Type == flat.F64 && bits>>52&0x7ff != 0)
}

// bare has the operations as the device does them.
type bare struct{ *builder }

func (d bare) Op(op flat.Op, to flat.Type, args ...flat.Value) flat.Value {
	return d.native(op, to, args...)
}

// device is bare, but for operations that others cannot be corrected without. What
// they multiply and add are fractions, and not subnormal.
type device struct{ *builder }

func (d device) Op(op flat.Op, to flat.Type, args ...flat.Value) flat.Value {
	if op == flat.FMA && !d.o.FusedNormal.of(to) || op == flat.FloatToFloat || compares(op) {
		return d.builder.Op(op, to, args...)
	}
	return d.native(op, to, args...)
}

func compares(op flat.Op) bool { return op == flat.Less || op == flat.Equal || op == flat.NotEqual }

func divides(op flat.Op) bool {
	return op == flat.DivS || op == flat.DivU || op == flat.RemS || op == flat.RemU
}

// confuses tells whether the device may compare two values wrongly: floats that may
// be subnormal. With a constant that is not the order is right, but NVIDIA's driver
// (580) makes a minimum of the comparison and what it chooses, and that gives 0 for
// a subnormal. What is compared with itself is looked at for NaN.
func (b *builder) confuses(x, y flat.Value) bool {
	return x.Type.IsFloat() && !b.o.Compares.of(x.Type) && x != y
}

// native is an operation as the device does it.
func (b *builder) native(op flat.Op, to flat.Type, args ...flat.Value) flat.Value {
	if op == flat.ExtendS {
		return b.extend(args[0])
	}
	operands := make([]uint32, len(args))
	for i, a := range args {
		operands[i] = a.ID
	}
	from, t := args[len(args)-1].Type, b.typeOf(to)
	if f, ok := functions[op]; ok {
		return b.exact(b.result(opExtInst, t, append([]uint32{b.glsl(), f}, operands...)...), to)
	}
	code := plain[op].integer
	switch {
	case from == flat.Bool:
		code = plain[op].truth
	case from.IsFloat():
		code = plain[op].float
	}
	if code == 0 {
		b.fail("no instruction for %v of %v", op, from)
	}
	n := b.result(code, t, operands...)
	switch op {
	case flat.Add, flat.Sub, flat.Mul, flat.Div, flat.Neg:
		return b.exact(n, to)
	}
	return value(n, to)
}

// extend puts a word together with one of its sign. Mesa (22.3 at least) compares
// what OpSConvert makes of it wrongly with constants.
func (b *builder) extend(x flat.Value) flat.Value {
	sign := b.result(opShiftRightArithmetic, b.int(32), x.ID, b.word(31))
	pair := b.result(opCompositeConstruct, b.typ(opTypeVector, b.int(32), 2), x.ID, sign)
	return value(b.result(opBitcast, b.int(64), pair), flat.I64)
}

// exact forbids the compiler to contract what makes a float.
func (b *builder) exact(n id, t flat.Type) flat.Value {
	if t.IsFloat() {
		b.decorate(n, decorNoContraction)
	}
	return value(n, t)
}
