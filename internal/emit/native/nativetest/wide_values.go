package nativetest

import (
	"fmt"
	"math"

	"github.com/sinterml/sinter/internal/ir"
)

// wideFloats are where rounding, casts to any type and comparisons change.
func wideFloats() []float64 {
	inf := math.Inf(1)
	all := []float64{0, math.Copysign(0, -1), math.NaN(), inf, -inf,
		5e-324, -5e-324, 0x1p-1022, -0x1.8p-1040, math.MaxFloat64, -math.MaxFloat64,
		0x1p-149, 0x1p-150, 0x1.8p-150, -0x1.4p-130, 0x1.fffffep127, 0x1.ffffffp127, 0x1.fffffeffffffp127, -0x1.ffffffp127, // the ends of f32
		1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 0x1.fffffffffffffp-2, 0x1.8000000000001p0, -3.75,
		1 + 0x1p-24, 1 + 0x1p-24 + 0x1p-52, 1 + 0x1p-23 + 0x1p-24, // ties of f32
		1 + 0x1p-11, 1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-8 + 0x1p-40, 65504, 65519.99999, 65520, 0x1p-25, 0x1.1p-25, // of f16 and bf16
		0x1p52 + 0.5, 0x1p52 + 1, 0x1.8p51 + 0.5, -0x1p51 - 0.5}
	for _, bits := range []int{7, 8, 15, 16, 31, 32, 53, 62, 63, 64} {
		x := math.Ldexp(1, bits)
		for _, y := range []float64{x, math.Nextafter(x, 0), math.Nextafter(x, inf), x - 1, x - 0.5, x + 1, x + 0.75} {
			all = append(all, y, -y)
		}
	}
	return all
}

// wideInts are where casts and comparisons change.
func wideInts() []int64 {
	all := []int64{0, 1, -1, 2, -3, math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64 + 1,
		1<<24 + 1, 1<<53 + 1, -1<<53 - 1, 1<<54 + 2, 1<<54 + 6, 1<<62 + 1<<38, 1<<62 + 1<<38 + 1, 0x7FFFFFFF_FFFFFE00, 0x7FFFFFFF_FFFFFDFF,
		0x00000001_FFFFFFFF, -0x00000001_00000001, 0x12345678_9ABCDEF0, -0x12345678_00000000}
	for _, bits := range []int{7, 8, 15, 16, 31, 32, 62} {
		x := int64(1) << bits
		all = append(all, x, x-1, x+1, -x, -x-1, -x+1)
	}
	return all
}

// wideValues are the values of a type to try.
func wideValues(d ir.DType) (all []uint64) {
	switch {
	case d == ir.Bool:
		return []uint64{0, 1}
	case d == ir.F64:
		for _, x := range wideFloats() {
			all = append(all, math.Float64bits(x))
		}
	case d.IsFloat():
		for _, x := range wideFloats() {
			v, _ := ir.Bits(d, x) // rounds
			all = append(all, v)
		}
	default:
		mask := ^uint64(0) >> (64 - 8*d.Size())
		for _, x := range wideInts() {
			all = append(all, uint64(x)&mask)
		}
	}
	return all
}

// some is every so many of values, and the first ones.
func some(values []uint64, step int) (few []uint64) {
	for i, v := range values {
		if i < 5 || i%step == 0 {
			few = append(few, v)
		}
	}
	return few
}

// exprs collects expressions.
type exprs []wideExpr

// add adds text of params of the types from, of fewer values the more there are.
func (x *exprs) add(text string, to ir.DType, from ...ir.DType) *wideExpr {
	e := wideExpr{text: text, to: to, from: from, layouts: len(wideLayouts)}
	for _, d := range from {
		e.values = append(e.values, some(wideValues(d), []int{1, 1, 5, 17}[len(from)]))
	}
	*x = append(*x, e)
	return &(*x)[len(*x)-1]
}

// wideExprs are all there is to try.
func wideExprs() []wideExpr {
	var all exprs
	all.casts()
	all.operations()
	all.choices()
	all.shifts()
	all.functions()
	return all
}

const f64, i64 = ir.F64, ir.I64

func (x *exprs) casts() {
	narrow := []ir.DType{ir.F32, ir.F16, ir.BF16, ir.I32, ir.U32, ir.I16, ir.U16, ir.I8, ir.U8, ir.Bool}
	for _, wide := range []ir.DType{f64, i64} {
		for _, d := range narrow {
			x.add(fmt.Sprintf("cast.%v(X)", wide), wide, d)
			x.add(fmt.Sprintf("cast.%v(X)", d), d, wide)
		}
	}
	x.add("cast.i64(X)", i64, f64)
	x.add("cast.f64(X)", f64, i64)
	x.add("bitcast.i64(X)", i64, f64)
	x.add("bitcast.f64(X)", f64, i64)
}

func (x *exprs) operations() {
	for _, op := range []string{"neg", "abs", "sqrt", "round", "floor", "trunc", "recip"} {
		x.add(op+"(X)", f64, f64)
	}
	x.add("neg(X)", i64, i64)
	x.add("abs(X)", i64, i64)
	for _, op := range []string{"add", "sub", "mul", "div", "min", "max"} {
		x.add(op+"(X, Y)", f64, f64, f64)
	}
	for _, op := range []string{"add", "sub", "mul", "and", "or", "xor", "min", "max"} {
		x.add(op+"(X, Y)", i64, i64, i64)
	}
	x.add("fma(X, Y, Z)", f64, f64, f64, f64)
	x.add("fma(neg(X), Y, Z)", f64, f64, f64, f64)
	x.add("fma(X, Y, neg(Z))", f64, f64, f64, f64)
}

// choices are comparisons and what is chosen by them, with and without one of lanes of
// four bytes.
func (x *exprs) choices() {
	for _, d := range []ir.DType{f64, i64} {
		x.add("X < Y", ir.Bool, d, d)
		x.add("X == Y", ir.Bool, d, d)
		x.add("where(X < Y, X, Y)", d, d, d)
		x.add("where(or(X < Y, X == Y), Y, X)", d, d, d)
		x.add("cast.f64(X < Y)", f64, d, d)
		x.add("cast.i64(X == Y)", i64, d, d)
		x.add("where(X < Y, cast.i32(X), cast.i32(Y))", ir.I32, d, d)
		x.add("where(Z < f32(1), X, Y)", d, d, d, ir.F32)
		x.add("where(and(Z < f32(1), X < Y), X, Y)", d, d, d, ir.F32)
		x.add("and(Z < f32(1), X < Y)", ir.Bool, d, d, ir.F32)
	}
}

func (x *exprs) shifts() {
	counts := []uint64{0, 1, 31, 32, 33, 52, 63, 64, 65, 127, 128, 255, 256, 257, 1 << 63, 1<<64 - 1, 1 << 32}
	for _, op := range []string{"shl", "shr"} {
		for _, n := range counts {
			x.add(fmt.Sprintf("%s(X, %d)", op, int64(n)), i64, i64)
		}
		x.add(op+"(X, Y)", i64, i64, i64).values[1] = counts
	}
}

// functions are those that are written out, which take long.
func (x *exprs) functions() {
	for _, f := range []string{"exp", "exp2", "expm1", "log", "log2", "log1p", "sin", "cos", "atan", "tanh", "erf"} {
		x.add(f+"(X)", f64, f64).layouts = 2
	}
	pow := x.add("pow(X, Y)", f64, f64, f64)
	pow.layouts, pow.values[1] = 1, some(pow.values[1], 12)
}
