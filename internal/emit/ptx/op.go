package ptx

import (
	"fmt"
	"strconv"

	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/ir"
)

// kinds of types in instructions that do not mind the sign, that do, and that
// look at bits alone.
var (
	plainKind  = [...]string{flat.I32: "u32", flat.I64: "u64", flat.F32: "f32", flat.F64: "f64"}
	signedKind = [...]string{flat.I32: "s32", flat.I64: "s64", flat.F32: "f32", flat.F64: "f64"}
	bitKind    = [...]string{flat.Bool: "pred", flat.I32: "b32", flat.I64: "b64", flat.F32: "b32", flat.F64: "b64"}
)

// floatOps round where they have to. What may be NaN comes through.
var floatOps = map[flat.Op]string{
	flat.Add: "add.rn", flat.Sub: "sub.rn", flat.Mul: "mul.rn", flat.Div: "div.rn", flat.FMA: "fma.rn", flat.Sqrt: "sqrt.rn",
	flat.Neg: "neg", flat.Abs: "abs",
}

// wholeOps round to whole numbers.
var wholeOps = map[flat.Op]string{flat.Floor: "rmi", flat.Trunc: "rzi", flat.Round: "rni"}

var intOps = map[flat.Op]string{
	flat.Add: "add.u", flat.Sub: "sub.u", flat.Mul: "mul.lo.u",
	flat.DivS: "div.s", flat.DivU: "div.u", flat.RemS: "rem.s", flat.RemU: "rem.u",
}

var shifts = map[flat.Op]string{flat.Shl: "shl.b", flat.ShrS: "shr.s", flat.ShrU: "shr.u"}

var logicOps = map[flat.Op]string{flat.And: "and.", flat.Or: "or.", flat.Xor: "xor."}

// Op is one instruction, or a few.
func (b *builder) Op(op flat.Op, to flat.Type, args ...flat.Value) flat.Value {
	from := args[0].Type
	names := make([]string, len(args))
	for i, a := range args {
		names[i] = b.name(a)
	}
	result := func(name string) flat.Value { return b.value(to, b.op(fileOf(to), name, names...)) }
	width := strconv.Itoa(8 * max(from.Size(), 4))
	switch {
	case logicOps[op] != "":
		return b.logic(op, to, args, names)
	case (op == flat.Div || op == flat.Sqrt) && from.IsFloat() && !b.mayCall():
		return b.inline(op, to, args)
	case from.IsFloat() && floatOps[op] != "":
		return result(floatOps[op] + "." + plainKind[from])
	case wholeOps[op] != "":
		return result("cvt." + wholeOps[op] + "." + plainKind[to] + "." + plainKind[from])
	case unsigned[op] != flat.NoOp && to == flat.I64:
		return b.divide(op, args[0], args[1])
	case op == flat.Add && to == flat.I64 && from == flat.I64:
		return b.sum(result(intOps[op]+width), args[0], args[1])
	case intOps[op] != "":
		return result(intOps[op] + width)
	case shifts[op] != "":
		names[1] = b.amount(args[1])
		return result(shifts[op] + width)
	}
	switch op {
	case flat.Equal:
		return result("setp.eq." + signedKind[from])
	case flat.NotEqual:
		if from.IsFloat() {
			return result("setp.neu." + plainKind[from])
		}
		return result("setp.ne." + signedKind[from])
	case flat.Less:
		return result("setp.lt." + signedKind[from])
	case flat.LessU:
		return result("setp.lt." + plainKind[from])
	case flat.Select:
		names = append(names[1:], names[0])
		return result("selp." + selectKind(to))
	}
	return b.convert(op, to, from, names)
}

// selectKind: constants of floats need the type of floats.
func selectKind(t flat.Type) string {
	if t.IsFloat() {
		return plainKind[t]
	}
	return bitKind[t]
}

// logic is and, or, xor. Of a predicate with true, xor is not.
func (b *builder) logic(op flat.Op, t flat.Type, args []flat.Value, names []string) flat.Value {
	if t == flat.Bool && op == flat.Xor {
		if c := b.values[args[1].ID]; c.known && c.bits == 1 {
			return b.value(t, b.op(predicates, "not.pred", names[0]))
		}
	}
	return b.value(t, b.op(fileOf(t), logicOps[op]+bitKind[t], names...))
}

// amount is that of a shift, which has 32 bits.
func (b *builder) amount(n flat.Value) string {
	if c := b.values[n.ID]; c.known || n.Type == flat.I32 {
		return c.name
	}
	return b.op(words, "cvt.u32.u64", b.name(n))
}

// convert is an operation between types.
func (b *builder) convert(op flat.Op, to, from flat.Type, names []string) flat.Value {
	name := ""
	switch op {
	case flat.ExtendS:
		name = "cvt.s64.s32"
	case flat.ExtendU:
		name = "cvt.u64.u32"
	case flat.Narrow:
		name = "cvt.u32.u64"
	case flat.IntToFloat:
		name = "cvt.rn." + plainKind[to] + "." + signedKind[from]
	case flat.UintToFloat:
		name = "cvt.rn." + plainKind[to] + "." + plainKind[from]
	case flat.FloatToInt:
		name = "cvt.rzi." + signedKind[to] + "." + plainKind[from]
	case flat.FloatToUint:
		name = "cvt.rzi." + plainKind[to] + "." + plainKind[from]
	case flat.FloatToFloat:
		name = "cvt.rn.f32.f64"
		if to == flat.F64 {
			name = "cvt.f64.f32"
		}
	case flat.Bits:
		name = "mov." + bitKind[to]
	case flat.HalfToFloat:
		half := b.op(halves, "cvt.u16.u32", names[0])
		return b.value(to, b.op(singles, "cvt.f32.f16", half))
	case flat.FloatToHalf:
		half := b.op(halves, "cvt.rn.f16.f32", names[0])
		return b.value(to, b.op(words, "cvt.u32.u16", half))
	default:
		b.fail("no instruction for %v of %v", op, from)
		return b.Const(to, 0)
	}
	return b.value(to, b.op(fileOf(to), name, names...))
}

// RoundPair is one instruction from 8.0 on.
func (b *builder) RoundPair(d ir.DType, high, low flat.Value) (_ flat.Value, ok bool) {
	if b.target.SM < 80 {
		return flat.Value{}, false
	}
	return b.value(flat.I32, b.op(words, fmt.Sprintf("cvt.rn.%vx2.f32", d), b.name(high), b.name(low))), true
}

// sum notes that v is another value and a constant, if it is.
func (b *builder) sum(v, x, y flat.Value) flat.Value {
	if b.values[x.ID].known {
		x, y = y, x
	}
	if c := b.values[y.ID]; c.known {
		b.values[v.ID].other, b.values[v.ID].more = b.name(x), int64(c.bits)
	}
	return v
}
