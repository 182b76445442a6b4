package cstyle

import (
	"fmt"
	"strings"

	"github.com/sinterml/sinter/internal/ir"
)

// helper is a function that generated code may call: a program has those that
// it needs.
type helper struct{ name, text string }

// helpers are what docs/ops.md asks for and no C operator does.
var helpers = makeHelpers()

func makeHelpers() []helper {
	all := []helper{
		{"half_to_float", `float half_to_float(ushort h) {
	uint b = (uint)(h & 0x7fff) << 13, e = b & 0x0f800000u;
	float n = as_float(b + (112u << 23));
	float s = as_float(b + (113u << 23)) - as_float(113u << 23);
	float i = as_float(b + (224u << 23));
	float f = e == 0u ? s : e == 0x0f800000u ? i : n;
	return as_float(as_uint(f) | (uint)(h & 0x8000) << 16);
}`},
		// Adding 1/2 to a number below 2^-14 rounds it to a multiple of 2^-24.
		{"float_to_half", `ushort float_to_half(float x) {
	uint b = as_uint(x), sign = b >> 16 & 0x8000u, a = b & 0x7fffffffu;
	uint n = (a - (112u << 23) + 0xfffu + (a >> 13 & 1u)) >> 13;
	uint s = as_uint(as_float(a) + 0.5f) - as_uint(0.5f);
	uint big = a > 0x7f800000u ? 0x7e00u | (a >> 13 & 0x3ffu) : 0x7c00u;
	uint r = a >= 0x47800000u ? big : a < 0x38800000u ? s : n;
	return (ushort)(sign | r);
}`},
		{"bfloat_to_float", `float bfloat_to_float(ushort h) { return as_float((uint)h << 16); }`},
		{"float_to_bfloat", `ushort float_to_bfloat(float x) {
	uint b = as_uint(x);
	uint r = (b + 0x7fffu + (b >> 16 & 1u)) >> 16;
	return (ushort)((b & 0x7fffffffu) > 0x7f800000u ? b >> 16 | 0x40u : r);
}`},
		// x*2^n, rounded once by the second product. The whole number n comes out
		// of the low bits of a sum, which is defined for NaN too.
		{"scale", `float scale(float x, float n) {
	uint k = as_uint(n + 12582912.0f) - 0x4b400000u;
	uint first = (uint)((int)k >> 1);
	return x * as_float(first + 127u << 23) * as_float(k - first + 127u << 23);
}`},
		{"checked_index", `long checked_index(long x, long n, STATUS *word) {
	if (x < 0 || x >= n) {
		*word = 1;
		return x < 0 ? 0 : n - 1;
	}
	return x;
}`},
	}
	for _, f := range []struct{ t, bits, as string }{{"float", "uint", "as_float"}, {"double", "ulong", "as_double"}} {
		// Against a number that is not 0 NaN stays by itself.
		all = append(all,
			helper{"at_least_" + f.t, fmt.Sprintf("%[1]s at_least_%[1]s(%[1]s x, %[1]s c) { return x < c ? c : x; }", f.t)},
			helper{"at_most_" + f.t, fmt.Sprintf("%[1]s at_most_%[1]s(%[1]s x, %[1]s c) { return x > c ? c : x; }", f.t)})
		for _, m := range []struct{ name, first, zeros string }{{"max", ">", "&"}, {"min", "<", "|"}} {
			name := m.name + "_" + f.t
			all = append(all, helper{name, fmt.Sprintf(`%[1]s %[2]s(%[1]s x, %[1]s y) {
	return x %[3]s y || x != x ? x : x == y ? %[4]s(as_%[5]s(x) %[6]s as_%[5]s(y)) : y;
}`, f.t, name, m.first, f.as, f.bits, m.zeros)})
		}
	}
	for _, d := range []ir.DType{ir.I8, ir.I16, ir.I32, ir.I64, ir.U8, ir.U16, ir.U32, ir.U64} {
		all = append(all, integerHelpers(d)...)
	}
	return all
}

// integerHelpers are the operations of one integer type.
func integerHelpers(d ir.DType) []helper {
	t := OpenCL.Types[d]
	width := 8 * d.Size()
	div := helper{"div_" + t, fmt.Sprintf(`%[1]s div_%[1]s(%[1]s x, %[1]s y) { return x / y; }`, t)}
	mod := helper{"mod_" + t, fmt.Sprintf(`%[1]s mod_%[1]s(%[1]s x, %[1]s y) { return x %% y; }`, t)}
	shift := "(ulong)y"
	if !d.IsUnsigned() {
		shift = "(ulong)(long)y" // a negative one is huge
		// The lowest number by -1 is more than a C division takes.
		div.text = fmt.Sprintf(`%[1]s div_%[1]s(%[1]s x, %[1]s y) {
	if (y == -1) return (%[1]s)(0 - (%[2]s)x);
	%[1]s q = x / y;
	return q - (%[1]s)(x %% y != 0 && (x < 0) != (y < 0));
}`, t, unsigned(d))
		mod.text = fmt.Sprintf(`%[1]s mod_%[1]s(%[1]s x, %[1]s y) {
	if (y == -1) return 0;
	%[1]s r = x %% y;
	return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}`, t)
	}
	all := []helper{div, mod,
		{"abs_" + t, fmt.Sprintf(`%[1]s abs_%[1]s(%[1]s x) { return (%[1]s)(x < 0 ? 0 - (%[2]s)x : (%[2]s)x); }`, t, unsigned(d))},
		{"min_" + t, fmt.Sprintf(`%[1]s min_%[1]s(%[1]s x, %[1]s y) { return x < y ? x : y; }`, t)},
		{"max_" + t, fmt.Sprintf(`%[1]s max_%[1]s(%[1]s x, %[1]s y) { return x < y ? y : x; }`, t)},
		{"shl_" + t, fmt.Sprintf(`%[1]s shl_%[1]s(%[1]s x, %[1]s y) { return %[2]s < %[3]d ? (%[1]s)((%[4]s)x << (%[2]s & %[5]d)) : 0; }`, t, shift, width, unsigned(d), width-1)},
		{"shr_" + t, fmt.Sprintf(`%[1]s shr_%[1]s(%[1]s x, %[1]s y) { return %[2]s < %[3]d ? (%[1]s)(x >> (%[2]s & %[4]d)) : 0; }`, t, shift, width, width-1)},
	}
	for _, f := range []ir.DType{ir.F32, ir.F64} {
		all = append(all, saturate(f, d))
	}
	return all
}

// saturate is the cast of a float type to an integer type.
func saturate(from, d ir.DType) helper {
	f, t := OpenCL.Types[from], OpenCL.Types[d]
	one := "1.0"
	if from == ir.F32 {
		one = "1.0f"
	}
	width := 8 * d.Size()
	limit := fmt.Sprintf("(%s * %dUL)", one, uint64(1)<<min(width-1, 62))
	if width == 64 {
		limit = "(2 * " + limit + ")"
	}
	name := fmt.Sprintf("%s_to_%s", f, t)
	if d.IsUnsigned() {
		limit = "(2 * " + limit + ")"
		return helper{name, fmt.Sprintf(`%[1]s %[2]s(%[3]s x) { return x > 0 ? x < %[4]s ? (%[1]s)x : (%[1]s)%[5]s : 0; }`, t, name, f, limit, cInt(d, ir.Highest(d)))}
	}
	return helper{name, fmt.Sprintf(`%[1]s %[2]s(%[3]s x) { return x >= -%[4]s ? x < %[4]s ? (%[1]s)x : %[5]s : x != x ? 0 : %[6]s; }`,
		t, name, f, limit, cInt(d, ir.Highest(d)), cInt(d, ir.Lowest(d)))}
}

// unsigned is the type that integers of type d wrap in.
func unsigned(d ir.DType) string {
	if d.Size() == 8 {
		return "ulong"
	}
	return "uint"
}

// prelude is the helpers that text calls. None calls another.
func (s *Style) prelude(text string) string {
	var b strings.Builder
	for _, h := range helpers {
		if strings.Contains(text, h.name+"(") {
			b.WriteString(s.Helper + " " + strings.ReplaceAll(h.text, "STATUS", s.Global+"int") + "\n")
		}
	}
	return b.String()
}
