package cstyle

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// value writes e as a C expression. What a statement uses twice has a name.
func (w *writer) value(e *loop.Expr) string {
	if name, ok := w.named[e]; ok {
		return name
	}
	return w.build(e)
}

func (w *writer) build(e *loop.Expr) string {
	switch e.Kind {
	case loop.KindConst:
		return w.constant(e.DType, e.Bits)
	case loop.KindSize:
		return w.size(e.Size)
	case loop.KindVar:
		return w.names[e.Var]
	case loop.KindLocal:
		return w.names[e.Local]
	case loop.KindLoad:
		return w.load(e)
	case loop.KindIndex:
		return fmt.Sprintf("checked_index(%s, %s, status + %d)", w.value(e.Args[0]), w.size(e.Size), e.Slot)
	}
	return w.apply(e)
}

func (w *writer) load(e *loop.Expr) string {
	if text := w.wide(e); text != "" {
		return text
	}
	text := fmt.Sprintf("%s[%s]", w.params[e.Param], w.place(e.Param, e.Args[0]))
	if e.DType == ir.Bool {
		text = "(" + text + " != 0)"
	}
	if len(e.Args) == 2 {
		return fmt.Sprintf("(%s ? %s : %s)", w.value(e.Args[1]), text, w.constant(e.DType, 0))
	}
	return text
}

// place is an index into the memory of a param.
func (w *writer) place(param int, index *loop.Expr) string {
	if w.k.OwnOf(param) == 0 {
		return w.value(index)
	}
	n, ok := w.k.OwnPlace(param, index)
	if !ok {
		return w.fail("which element of %s is meant depends on more than the work-item", w.k.Work.Params[param].Name)
	}
	return strconv.Itoa(n)
}

// valueType is the type of a value in a variable.
func (s *Style) valueType(d ir.DType) string {
	if d == ir.Bool {
		return "bool"
	}
	return s.Types[d]
}

func (w *writer) constant(d ir.DType, bits uint64) string {
	switch d {
	case ir.Bool:
		return strconv.FormatBool(bits != 0)
	case ir.F32:
		f := math.Float32frombits(uint32(bits))
		if f != f || math.IsInf(float64(f), 0) {
			return fmt.Sprintf("as_float(0x%xu)", uint32(bits))
		}
		return positive(w.digits(float64(f), 32) + "f")
	case ir.F64:
		f := math.Float64frombits(bits)
		if f != f || math.IsInf(f, 0) {
			return fmt.Sprintf("as_double(0x%xUL)", bits)
		}
		return positive(w.digits(f, 64))
	case ir.F16, ir.BF16:
		return fmt.Sprintf("(ushort)0x%x", bits)
	}
	return cInt(d, bits)
}

// digits are those of a number, which they give exactly.
func (s *Style) digits(f float64, bits int) string {
	if !s.Decimal {
		return strconv.FormatFloat(f, 'x', -1, bits)
	}
	text := strconv.FormatFloat(f, 'g', -1, bits)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

// positive puts a number with a sign into parentheses.
func positive(s string) string {
	if s[0] == '-' {
		return "(" + s + ")"
	}
	return s
}

// cInt is a constant of an integer type.
func cInt(d ir.DType, bits uint64) string {
	v := ir.Int(d, bits)
	switch {
	case d == ir.U64:
		return strconv.FormatUint(bits, 10) + "UL"
	case d.IsUnsigned():
		return strconv.FormatUint(bits, 10) + "u"
	case d == ir.I64 && v == math.MinInt64:
		return "(-9223372036854775807L - 1L)"
	case d == ir.I64:
		return positive(strconv.FormatInt(v, 10) + "L")
	case d == ir.I32 && v == math.MinInt32:
		return "(-2147483647 - 1)"
	}
	return positive(strconv.FormatInt(v, 10))
}

func (w *writer) apply(e *loop.Expr) string {
	from := e.Args[0].DType
	a := make([]string, len(e.Args))
	for i, x := range e.Args {
		a[i] = w.value(x)
	}
	switch e.Op {
	case ir.Where:
		return fmt.Sprintf("(%s ? %s : %s)", a[0], a[1], a[2])
	case ir.Cast:
		return w.cast(a[0], from, e.DType)
	case ir.Bitcast:
		return w.bitcast(a[0], from, e.DType)
	}
	if from == ir.F16 || from == ir.BF16 {
		for i := range a {
			a[i] = w.widen(a[i], from)
		}
		return w.narrow(w.float(e.Op, ir.F32, e.Args, a), ir.F32, e.DType)
	}
	if from.IsFloat() {
		return w.float(e.Op, from, e.Args, a)
	}
	if from == ir.I64 && entry.IsIndex(e) {
		return w.index(e.Op, a)
	}
	return w.integer(e.Op, from, a)
}

func (w *writer) widen(x string, d ir.DType) string {
	switch d {
	case ir.F16:
		return "half_to_float(" + x + ")"
	case ir.BF16:
		return "bfloat_to_float(" + x + ")"
	}
	return x
}

// narrow rounds a float to type to; other types stay.
func (w *writer) narrow(x string, from, to ir.DType) string {
	if from == ir.F64 && (to == ir.F16 || to == ir.BF16) {
		x = "(float)(" + x + ")"
	}
	switch to {
	case ir.F16:
		return "float_to_half(" + x + ")"
	case ir.BF16:
		return "float_to_bfloat(" + x + ")"
	}
	return x
}

// float is an operation on f32 or f64.
func (w *writer) float(op ir.Op, d ir.DType, args []*loop.Expr, a []string) string {
	t := w.Types[d]
	switch op {
	case ir.Neg:
		return "(-" + a[0] + ")"
	case ir.Recip:
		return "(" + w.constant(d, one(d)) + " / " + a[0] + ")"
	case ir.Min, ir.Max:
		return w.extreme(op, d, args, a)
	case ir.Shl:
		return "scale(" + a[0] + ", " + a[1] + ")"
	}
	if c, ok := operators[op]; ok {
		return "(" + a[0] + c + a[1] + ")"
	}
	name, ok := w.Float[op]
	if !ok {
		return w.fail("no way to compute %v of %s", op, t)
	}
	text := name + "(" + a[0]
	for _, x := range a[1:] {
		text += ", " + x
	}
	return text + ")"
}

// extreme is min or max. Against a number that is not 0 NaN stays by itself.
func (w *writer) extreme(op ir.Op, d ir.DType, args []*loop.Expr, a []string) string {
	if c := args[1]; c.Kind == loop.KindConst && c.DType == d {
		if f := ir.Float(d, c.Bits); f != 0 && f == f {
			name := "at_least_"
			if op == ir.Min {
				name = "at_most_"
			}
			return fmt.Sprintf("%s%s(%s, %s)", name, w.Types[d], a[0], a[1])
		}
	}
	return fmt.Sprintf("%v_%s(%s, %s)", op, w.Types[d], a[0], a[1])
}

func one(d ir.DType) uint64 {
	bits, _ := ir.Bits(d, 1) // every type has it
	return bits
}

// operators are those that C has.
var operators = map[ir.Op]string{
	ir.Add: " + ", ir.Sub: " - ", ir.Mul: " * ", ir.Div: " / ", ir.Less: " < ", ir.Equal: " == ",
	ir.And: " & ", ir.Or: " | ", ir.Xor: " ^ ",
}

// integer is an operation on integers, which wrap, or on bool.
func (w *writer) integer(op ir.Op, d ir.DType, a []string) string {
	t, u := w.Types[d], unsigned(d)
	switch op {
	case ir.Neg:
		return fmt.Sprintf("(%s)(0 - (%s)%s)", t, u, a[0])
	case ir.Abs:
		if d.IsUnsigned() {
			return a[0]
		}
		return fmt.Sprintf("abs_%s(%s)", t, a[0])
	case ir.Min, ir.Max:
		return w.least(op, d, a)
	case ir.Less, ir.Equal:
		return "(" + a[0] + operators[op] + a[1] + ")"
	case ir.And, ir.Or, ir.Xor:
		return fmt.Sprintf("(%s)(%s%s%s)", w.valueType(d), a[0], operators[op], a[1])
	case ir.Add, ir.Sub, ir.Mul:
		return fmt.Sprintf("(%s)((%s)%s%s(%s)%s)", t, u, a[0], operators[op], u, a[1])
	case ir.MulHi:
		return fmt.Sprintf("(%s)((%[2]s)%[3]s * (%[2]s)%[4]s >> 32)", t, w.Types[ir.U64], a[0], a[1])
	case ir.IDiv:
		return fmt.Sprintf("div_%s(%s, %s)", t, a[0], a[1])
	case ir.Mod, ir.Shl, ir.Shr:
		return fmt.Sprintf("%v_%s(%s, %s)", op, t, a[0], a[1])
	}
	return w.fail("no way to compute %v of %s", op, t)
}

// least is min or max of integers.
func (w *writer) least(op ir.Op, d ir.DType, a []string) string {
	if d == ir.Bool {
		return fmt.Sprintf("(bool)(%s %c %s)", a[0], map[ir.Op]rune{ir.Min: '&', ir.Max: '|'}[op], a[1])
	}
	return fmt.Sprintf("%v_%s(%s, %s)", op, w.Types[d], a[0], a[1])
}

// index is arithmetic of which entry.IsIndex holds.
func (w *writer) index(op ir.Op, a []string) string {
	switch op {
	case ir.Min, ir.Max:
		return w.least(op, ir.I64, a)
	case ir.IDiv:
		return "(" + a[0] + " / " + a[1] + ")"
	case ir.Mod:
		return "(" + a[0] + " % " + a[1] + ")"
	}
	return "(" + a[0] + operators[op] + a[1] + ")"
}

// cast converts a value.
func (w *writer) cast(x string, from, to ir.DType) string {
	if from == to {
		return x
	}
	x = w.widen(x, from)
	if from == ir.F16 || from == ir.BF16 {
		from = ir.F32
	}
	switch {
	case to == ir.Bool:
		return "(" + x + " != 0)"
	case to == ir.F16 || to == ir.BF16:
		if !from.IsFloat() {
			x = "(float)" + x
		}
		return w.narrow(x, from, to)
	case from.IsFloat() && !to.IsFloat():
		return fmt.Sprintf("%s_to_%s(%s)", w.Types[from], w.Types[to], x)
	}
	return "(" + w.Types[to] + ")" + x
}

// bitcast keeps the bits. Narrow floats are their bits already.
func (w *writer) bitcast(x string, from, to ir.DType) string {
	f, t := w.Types[from], w.Types[to]
	switch {
	case f == t && (from == ir.Bool) == (to == ir.Bool):
		return x
	case from == ir.Bool:
		return "(" + t + ")" + x
	case to == ir.Bool:
		return "(" + x + " != 0)"
	}
	return "as_" + t + "((" + f + ")" + x + ")" // C makes an int of short operands
}
