package nativetest

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"strings"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/loop/looptest"
)

// Wide gives kernels of lanes of 8 bytes, f64 and i64, by a name, each on several
// lengths: all operations and casts on pairs of numbers at the ends of what types hold,
// the ways lanes lie in memory, conditions, and reductions.
func Wide() iter.Seq2[string, *looptest.Case] {
	return func(yield func(string, *looptest.Case) bool) {
		for _, text := range wideTexts() {
			k, err := Parse(text)
			if err != nil {
				panic(fmt.Sprintf("%v:\n%s", err, text)) // a text of this file
			}
			for _, n := range []int{1, 3, 8, 16, 61, 150} {
				if !yield(fmt.Sprintf("%s, N=%d", k.Name, n), wideCase(k, n)) {
					return
				}
			}
		}
	}
}

// wideTexts are the texts of kernels of N lanes.
func wideTexts() (all []string) {
	add := func(params, body string) {
		all = append(all, fmt.Sprintf("kernel %q\nsymbol N 0 1000\n%s\n%s\n", body, strings.ReplaceAll(params, "; ", "\n"), body))
	}
	each := func(params, body string) { add(params, "for vector i < size(N) {\n"+body+"\n}") }
	narrow := []ir.DType{ir.F32, ir.F16, ir.BF16, ir.I8, ir.I16, ir.I32, ir.U8, ir.U16, ir.U32, ir.Bool}
	for _, d := range []ir.DType{ir.F64, ir.I64} {
		for _, other := range append(narrow, ir.F64, ir.I64) {
			each(fmt.Sprintf("param x %v[N] read; param y %v[N] write", d, other), fmt.Sprintf("y[i] = cast.%v(x[i])", other))
			each(fmt.Sprintf("param x %v[N] read; param y %v[N] write", other, d), fmt.Sprintf("y[i] = cast.%v(x[i])", d))
			add(fmt.Sprintf("param x %v[N] read; param y %v[N] write", d, other), fmt.Sprintf("for serial i < size(N) {\ny[i] = cast.%v(x[i])\n}", other))
		}
		for _, e := range []string{"x + z", "x - z", "x * z", "min(x, z)", "max(x, z)", "neg(x)", "abs(x)", "where(x < z, x, z)", "where(x == z, z, x)"} {
			each(pair(d, d), "y[i] = "+lanesOf(e))
			add(pair(d, d), "for serial i < size(N) {\ny[i] = "+lanesOf(e)+"\n}")
		}
		for _, e := range []string{"x < z", "x == z", "and(x < z, z < x)", "or(x < z, cast.bool(x))", "xor(cast.bool(x), x == z)", "and(x < z, cast.f32(x) < f32(1))"} {
			each(pair(d, ir.Bool), "y[i] = "+lanesOf(e))
		}
		each(pair(d, d), "y[i] = x[i ? x[i] < z[i]]")
		each(pair(d, d), "y[i ? x[i] < z[i]] = z[i]")
		each(pair(d, d), "y[i] = x[i ? and(1 < i, i < size(N) - 2)]")
		each(pair(d, d), "t = x[i]\nfor serial k < size(N) {\nt = z[k]\n}\ny[i] = t")
		each(pair(d, d), "y[i] = where(i < 7, x[0], z[size(N) - 1])")
		each(fmt.Sprintf("param x %v[3*N] read; param y %v[5*N] write", d, d), "y[5*i] = x[size(3*N) - 1 - 3*i]")
		each(fmt.Sprintf("param x %v[512*N] read; param y %v[N] write", d, d), "y[i] = x[512*i]")
		small := fmt.Sprintf("where(x[i] < %v(1), %v(-3), %v(2))", d, d, d) // whose sum is exact in any order
		add(fmt.Sprintf("param x %v[N] read; param y %v[1] write", d, d), fmt.Sprintf("a = %v(1)\nfor vector i < size(N) {\na add= %s\n}\ny[0] = a", d, small))
		for _, op := range []string{"min", "max"} {
			add(fmt.Sprintf("param x %v[N] read; param y %v[2] write", d, d), fmt.Sprintf("a = %v(1)\nb = %v(1)\nfor vector i < size(N) {\na %s= x[i]\nb %s= x[i ? i < 5]\n}\ny[0] = a\ny[1] = b", d, d, op, op))
		}
	}
	for _, e := range []string{"x/z", "recip(x)", "sqrt(x)", "round(x)", "floor(x)", "trunc(x)", "fma(x, z, x)", "fma(neg(x), z, neg(x))", "fma(x, f64(2), neg(z))", "fma(x, z, f64(0.5))",
		"min(x, f64(2))", "max(x, f64(0))", "max(f64(-1), x)", "min(x, f64(-0))", "cast.f64(bitcast.i64(x)) + z", "bitcast.f64(xor(bitcast.i64(x), bitcast.i64(z)))"} {
		each(pair(ir.F64, ir.F64), "y[i] = "+lanesOf(e))
		add(pair(ir.F64, ir.F64), "for serial i < size(N) {\ny[i] = "+lanesOf(e)+"\n}")
	}
	for _, e := range []string{"and(x, z)", "or(x, z)", "xor(x, z)", "shl(x, z)", "shr(x, z)", "shr(x, and(z, 63))", "shl(x, 0)", "shl(x, 37)", "shr(x, 52)", "shr(x, 64)", "bitcast.i64(cast.f64(x)) + z", "idiv(x, or(z, 1))", "mod(x, or(z, 1))", "idiv(i*i, i + 3)", "mod(i*3, i + 1)", "x * 4294967297", "max(x, -5)"} {
		each(pair(ir.I64, ir.I64), "y[i] = "+lanesOf(e))
	}
	return all
}

func pair(d, to ir.DType) string {
	return fmt.Sprintf("param x %v[N] read; param z %v[N] read; param y %v[N] write", d, d, to)
}

// lanesOf has x and z read at i.
func lanesOf(e string) string {
	var b strings.Builder
	for i, c := range e {
		b.WriteRune(c)
		if alone := i+1 == len(e) || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz", rune(e[i+1])); (c == 'x' || c == 'z') && alone && (i == 0 || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz", rune(e[i-1]))) {
			b.WriteString("[i]")
		}
	}
	return b.String()
}

// wideEnds are numbers around which types begin and end, and floats lose digits.
var wideEnds = []float64{0, 0.5, 1, 1.5, 2.5, 7, 127, 127.5, 128, 255, 255.5, 256, 32767.5, 32768, 65519, 65520, 65535.5, 65536, 1<<24 + 1, 1<<31 - 1, 1<<31 - 0.5, 1 << 31, 1<<32 - 1, 1<<32 - 0.5, 1 << 32, 1<<32 + 1,
	1<<52 + 1, 1<<53 - 1, 1 << 53, 1<<53 + 2, 1<<63 - 1024, 1 << 63, 1 << 64, math.MaxFloat32, 0x1.ffffffp127, math.MaxFloat64, math.Inf(1), math.NaN(),
	0x1p-1074, 0x1p-1022, 0x1p-149, 0x1.8p-150, 0x1p-126, 1e-40, 0x1.000001p0, 0x1.0000010000001p0, math.Pi, 1e300}

// wideCase fills the params of k: each with another order of the numbers.
func wideCase(k *loop.Kernel, n int) *looptest.Case {
	c := &looptest.Case{Kernel: k, Args: loop.Args{Sizes: ir.Env{"N": n}, Status: make([]int64, k.Slots)}}
	for i, p := range k.Params {
		size, err := p.Len.Eval(c.Args.Sizes)
		if err != nil {
			panic(err) // of a text of this file
		}
		var b []byte
		for j := range size {
			b = append(b, wideElement(p.DType, (j*(2*i+1)+i*j*j/7)%(2*len(wideEnds)))...)
		}
		c.Args.Buffers = append(c.Args.Buffers, b)
	}
	return c
}

// wideElement is number at of wideEnds, or its negative, in a dtype, and of integers what
// is left of it, or of the digits of a float.
func wideElement(d ir.DType, at int) []byte {
	v := wideEnds[at%len(wideEnds)]
	if at >= len(wideEnds) {
		v = -v
	}
	var bits uint64
	switch {
	case d == ir.Bool:
		bits = uint64(at & 1)
	case d == ir.F64:
		bits = math.Float64bits(v)
	case d.IsFloat():
		bits, _ = ir.Bits(d, v) // infinite where it is too large
	case at%3 == 0:
		bits = math.Float64bits(v)
	default:
		bits = uint64(loop.Convert[int64](v))
	}
	return binary.LittleEndian.AppendUint64(nil, bits)[:d.Size()]
}
