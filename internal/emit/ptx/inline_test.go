package ptx

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
	"github.com/sinterml/sinter/internal/emit/ptx/ptxsim"
	"github.com/sinterml/sinter/internal/ir"
)

// computeEach has threads compute a number each of two, by instructions that body writes
// for registers of 64 bits, as in a kernel that calls no functions.
func computeEach(t *testing.T, x, y []uint64, body func(b *builder, x, y string) string) []uint64 {
	t.Helper()
	g, _ := flattest.Gemm(rand.New(rand.NewPCG(1, 0)), ir.F32, flattest.Sizes{Batch: 1, Rows: 5, Cols: 8, K: 8}, false)
	k := Target{SM: 90}.Shape().Gemm("k", g)
	k.Items = 32
	b := newBuilder(Target{SM: 90}, k, nil)
	at := b.op(longs, "cvt.u64.u32", b.op(words, "mad.lo.u32", b.op(words, "mov.u32", "%ctaid.x"), "32", b.op(words, "mov.u32", "%tid.x")))
	address := func(arg string) string {
		return b.op(longs, "mad.lo.u64", at, "8", b.op(longs, "ld.param.u64", "["+arg+"]"))
	}
	r := body(b, b.op(longs, "ld.global.u64", "["+address("arg_0")+"]"), b.op(longs, "ld.global.u64", "["+address("arg_1")+"]"))
	b.line("st.global.u64 [%s], %s", address("arg_2"), r)
	s := new(strings.Builder)
	s.WriteString(".version 8.4\n.target sm_90a\n.address_size 64\n")
	b.entry(s, make([]entry.Arg, 3))
	m, err := ptxsim.Load(s.String())
	if err != nil {
		t.Fatalf("%v\n%s", err, s)
	}
	f, err := m.Function("k")
	if err != nil {
		t.Fatal(err)
	}
	if len(x)%32 != 0 || len(y) != len(x) {
		t.Fatal("whole warps alone")
	}
	var memory ptxsim.Memory
	var args []byte
	le := binary.LittleEndian
	var out []byte
	for _, v := range [][]uint64{x, y, make([]uint64, len(x))} {
		out = out[:0:0]
		for _, n := range v {
			out = le.AppendUint64(out, n)
		}
		args = le.AppendUint64(args, memory.Map(out))
	}
	if err := f.Launch(context.Background(), ptxsim.Launch{Grid: [3]uint32{uint32(len(x) / 32), 1, 1}, Block: [3]uint32{32, 1, 1}, Args: args, Memory: &memory}); err != nil {
		t.Fatalf("%v\n%s", err, s)
	}
	got := make([]uint64, len(x))
	for i := range got {
		got[i] = le.Uint64(out[8*i:])
	}
	return got
}

// hardQuotient is two numbers whose quotient is next to the middle of two: an odd m of
// 25 bits times b is 2^25 times a, but for a few units.
func hardQuotient(rng *rand.Rand) (a, b float32) {
	for {
		y, rest := uint64(1<<23+2*rng.IntN(1<<22)+1), uint64(2*rng.IntN(16)-15) // also from below
		inverse := y                                                            // by Newton's iteration, which doubles the bits that are right
		for range 5 {
			inverse *= 2 - y*inverse
		}
		m := rest * inverse % (1 << 25)
		if m >= 1<<24 {
			return float32((m*y - rest) >> 25), float32(y)
		}
	}
}

// hardRoot is a number whose root is next to the middle of two: the square of an odd m
// of 25 bits is 2^26 times it, but for a few units.
func hardRoot(rng *rand.Rand) float32 {
	for {
		rest, m := uint64(1+8*(rng.IntN(64)-32)), uint64(1)
		for n := 3; n < 26; n++ { // one more bit of a root of rest modulo 2^26
			if (m*m-rest)>>n&1 != 0 {
				m += 1 << (n - 1)
			}
		}
		if m %= 1 << 25; m >= 1<<24 {
			return float32((m*m - rest) >> 26)
		}
	}
}

// TestInlineRounding compares quotients and roots with the nearest numbers: of drawn
// bits, and around products that end in the middle of two numbers.
func TestInlineRounding(t *testing.T) {
	const n = 1 << 15
	rng := rand.New(rand.NewPCG(2, 0))
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.MaxFloat32, math.SmallestNonzeroFloat32, -0x1p-126, 0x1.fffffep-127}
	x, y := make([]uint64, n), make([]uint64, n)
	for i := range x {
		a, b := math.Float32frombits(rng.Uint32()), math.Float32frombits(rng.Uint32())
		switch {
		case i < len(special)*len(special):
			a, b = special[i/len(special)], special[i%len(special)]
		case i%3 == 0:
			a, b = hardQuotient(rng)
		case i%3 == 1:
			a = hardRoot(rng)
		}
		if i%7 == 0 { // results below 2^-126
			a *= 0x1p-120
		}
		x[i], y[i] = uint64(math.Float32bits(a)), uint64(math.Float32bits(b))
	}
	half := func(b *builder, x string) string {
		return b.op(singles, "mov.b32", b.op(words, "cvt.u32.u64", x))
	}
	whole := func(b *builder, x string) string {
		return b.op(longs, "cvt.u64.u32", b.op(words, "mov.b32", x))
	}
	check := func(what string, got []uint64, want func(x, y float32) float32) {
		for i, g := range got {
			a, b, g := math.Float32frombits(uint32(x[i])), math.Float32frombits(uint32(y[i])), math.Float32frombits(uint32(g))
			if w := want(a, b); math.Float32bits(g) != math.Float32bits(w) && !(g != g && w != w) {
				t.Fatalf("%s of %x and %x is %x, not %x", what, a, b, g, w)
			}
		}
	}
	check("quotient", computeEach(t, x, y, func(b *builder, x, y string) string {
		return whole(b, b.inlineQuotient(half(b, x), half(b, y)))
	}), func(x, y float32) float32 { return x / y })
	check("root", computeEach(t, x, y, func(b *builder, x, _ string) string {
		return whole(b, b.inlineRoot(half(b, x)))
	}), func(x, _ float32) float32 { return float32(math.Sqrt(float64(x))) })
}

// TestInlineDoubles is TestInlineRounding for f64, of drawn bits.
func TestInlineDoubles(t *testing.T) {
	const n = 1 << 13
	rng := rand.New(rand.NewPCG(4, 0))
	special := []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, math.SmallestNonzeroFloat64, -0x1p-1022, 0x1.fffffffffffffp-1023}
	x, y := make([]uint64, n), make([]uint64, n)
	for i := range x {
		a, b := math.Float64frombits(rng.Uint64()), math.Float64frombits(rng.Uint64())
		switch {
		case i < len(special)*len(special):
			a, b = special[i/len(special)], special[i%len(special)]
		case i%2 == 0:
			a, b = 1+rng.Float64(), 1+rng.Float64()
		}
		x[i], y[i] = math.Float64bits(a), math.Float64bits(b)
	}
	number := func(b *builder, x string) flat.Value { return b.value(flat.F64, b.op(doubles, "mov.b64", x)) }
	for op, want := range map[flat.Op]func(x, y float64) float64{
		flat.Div: func(x, y float64) float64 { return x / y }, flat.Sqrt: func(x, _ float64) float64 { return math.Sqrt(x) },
	} {
		got := computeEach(t, x, y, func(b *builder, x, y string) string {
			r := b.inline(op, flat.F64, []flat.Value{number(b, x), number(b, y)})
			return b.op(longs, "mov.b64", b.name(r))
		})
		for i, g := range got {
			a, b, g := math.Float64frombits(x[i]), math.Float64frombits(y[i]), math.Float64frombits(g)
			if w := want(a, b); math.Float64bits(g) != math.Float64bits(w) && !(g != g && w != w) {
				t.Fatalf("%v of %x and %x is %x, not %x", op, a, b, g, w)
			}
		}
	}
}

// TestDivideBy0: what a quotient by 0 is does not matter, but that there is code for it.
func TestDivideBy0(t *testing.T) {
	for _, op := range []flat.Op{flat.DivU, flat.RemU, flat.DivS, flat.RemS} {
		computeEach(t, make([]uint64, 32), make([]uint64, 32), func(b *builder, x, _ string) string {
			return b.name(b.divide(op, b.value(flat.I64, x), b.Const(flat.I64, 0)))
		})
	}
}

// TestDivideBy divides by constants, with and without a sign.
func TestDivideBy(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	x := make([]uint64, 96)
	for _, by := range []uint64{1, 2, 3, 6, 7, 9, 22, 64, 65, 1000003, 1 << 31, 1<<32 - 1, 1 << 32, 12345678901, 1 << 62, 1<<63 - 1, 1 << 63, 1<<63 + 1, ^uint64(0), ^uint64(6), ^uint64(63), ^uint64(1<<62 - 2)} {
		for i := range x {
			x[i] = by*uint64(rng.IntN(5)) - uint64(rng.IntN(3)) + 1
			if i%2 == 0 {
				x[i] = rng.Uint64() >> rng.IntN(64) * (1 - 2*uint64(rng.IntN(2)))
			}
		}
		x[0], x[1] = 1<<63, 0
		for _, op := range []flat.Op{flat.DivU, flat.RemU, flat.DivS, flat.RemS} {
			got := computeEach(t, x, x, func(b *builder, x, _ string) string { return b.divideBy(op, x, by) })
			for i, g := range got {
				want, err := flattest.Eval(op, flat.I64, flat.I64, []uint64{x[i], by})
				if err == nil && g != want { // the least by -1 is no number
					t.Fatalf("%v of %#x and %#x is %#x, not %#x", op, x[i], by, g, want)
				}
			}
		}
	}
}
