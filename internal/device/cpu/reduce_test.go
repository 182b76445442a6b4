package cpu

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/ir"
)

// splitCase is an operand that is reduced in parts.
type splitCase struct {
	shape ir.Shape
	axes  []int
	sizes []int // values of n
}

var manyRows = ir.Sym("n", 0, 1<<24)

var splitCases = []splitCase{
	{shape: ir.Static(262147), axes: []int{0}},
	{shape: ir.Static(700, 701), axes: []int{0, 1}},
	{shape: ir.Static(3, 90001), axes: []int{1}},
	{shape: ir.Static(90001, 3), axes: []int{0}},
	{shape: ir.Static(16384, 16), axes: []int{0}},
	{shape: ir.Static(20011, 17), axes: []int{0}},
	{shape: ir.Static(2050, 1031), axes: []int{0}},
	{shape: ir.Static(2, 1100, 129), axes: []int{1}},
	{shape: ir.Static(3, 5, 40009), axes: []int{0, 2}},
	{shape: ir.Static(400, 4, 33, 5), axes: []int{0, 2}},
	{shape: ir.Shape{manyRows}, axes: []int{0}, sizes: []int{0, 1, 8191, 8193, 200007}},
	{shape: ir.Shape{manyRows, ir.N(3)}, axes: []int{0}, sizes: []int{0, 1, 15, 16, 17, 2732, 70003}},
	{shape: ir.Shape{manyRows, ir.N(65)}, axes: []int{0}, sizes: []int{0, 1, 126, 127, 4001}},
	{shape: ir.Static(9001, 31), axes: []int{0}},
	{shape: ir.Shape{ir.N(2), manyRows}, axes: []int{1}, sizes: []int{1, 4095, 8193, 70001}},
	{shape: ir.Shape{manyRows, ir.N(100)}, axes: []int{0, 1}, sizes: []int{0, 1, 4001}},
	{shape: ir.Shape{ir.N(16), ir.Sym("m", 1, 4), manyRows}, axes: []int{0, 2}, sizes: []int{1, 10007}},
}

// TestSplitReductions compares reductions in parts with the referee, on numbers
// of all kinds, and the bits of one worker with those of two; not all of that
// before CI.
func TestSplitReductions(t *testing.T) {
	types := []ir.DType{ir.F32, ir.F16, ir.I32, ir.F64, ir.I64, ir.U8}
	for i, c := range splitCases {
		if testing.Short() && i%3 > 0 {
			continue
		}
		for k, d := range types {
			if k > 0 && i%5 != k-1 {
				continue // f32 everywhere, the others in turn
			}
			t.Run(fmt.Sprintf("%v over %v of %v", d, c.axes, c.shape), func(t *testing.T) {
				t.Parallel()
				c.test(t, d, [...]string{"infinite", "zeros"}[i%2])
			})
		}
	}
}

// test leaves out one kind of numbers of many, before CI.
func (c splitCase) test(t *testing.T, d ir.DType, but string) {
	env := ir.Env{"m": 3}
	sizes := c.sizes
	if sizes == nil {
		sizes = []int{0}
	}
	all, isas := effort.Now() >= effort.CI, []ISA{AVX512, AVX2, NEON, Generic}
	if all { // which reduce by the code of AVX-512
		isas = append(isas, AMX, AMXFP16)
	}
	for _, n := range sizes {
		env["n"] = n
		total := must(c.shape.Numel().Eval(env))
		g := c.graph(t, d, total > 0)
		if plan := must(Plan(g, device.Options{})).String(); !strings.Contains(plan, "_parts(") {
			t.Fatalf("nothing is reduced in parts:\n%s", plan)
		}
		rng := rand.New(rand.NewPCG(uint64(total), uint64(d)))
		var samples []splitSample
		for _, kind := range []string{"plain", "nan", "infinite", "zeros"} {
			if kind != "plain" && (testing.Short() || d != ir.F32 && (kind != "nan" || !d.IsFloat())) {
				continue
			}
			if effort.Less() && total > 1<<17 && (kind == but || (total > 1<<18 || d != ir.F32) && kind != "plain" && (kind != "nan" || total > 1<<20)) {
				continue // the referee takes seconds for so many
			}
			leaves := [][]byte{numbers(rng, d, total, kind)}
			want, bounds, err := interp.Evaluate(context.Background(), g, env, leaves)
			if err != nil {
				t.Fatal(err)
			}
			samples = append(samples, splitSample{kind, leaves, want, bounds})
		}
		for _, isa := range isas {
			some := samples
			if isa == Generic && effort.Less() { // closures take far longer than machine code
				some = some[:min(2, len(some))]
			}
			c.compare(t, isa, g, env, some)
		}
	}
}

// splitSample is numbers of a kind, and what the referee makes of them.
type splitSample struct {
	kind         string
	leaves, want [][]byte
	bounds       [][]float64
}

// compare runs g on one worker and on two, one sample after the other.
func (c splitCase) compare(t *testing.T, isa ISA, g *ir.Graph, env ir.Env, samples []splitSample) {
	t.Helper()
	one := make([][][]byte, len(samples))
	for threads := 1; threads <= 2; threads++ {
		dev, err := New(Options{ISA: isa, Threads: threads})
		if err != nil {
			t.Logf("%v: %v", isa, err)
			return
		}
		m, err := dev.CompileGraph(t.Context(), g, device.Options{Check: true})
		if err != nil {
			t.Fatalf("%v: %v", isa, err)
		}
		for i, s := range samples {
			got, err := runModule(dev, m, g, env, s.leaves)
			if err != nil {
				t.Fatalf("%v, %d workers: %v", isa, threads, err)
			}
			if threads == 1 {
				one[i] = got
			}
			c.judge(t, fmt.Sprintf("%v, %v, %s", isa, env, s.kind), g, s, got, one[i])
		}
		_, _ = m.Close(), dev.Close()
	}
}

// judge compares results with the referee's, and with those of one worker.
func (c splitCase) judge(t *testing.T, how string, g *ir.Graph, s splitSample, got, one [][]byte) {
	t.Helper()
	for i := range got {
		if !bytes.Equal(got[i], one[i]) {
			t.Fatalf("%s: %v differs between 1 and 2 workers", how, g.Outputs[i].Op)
		}
		if err := compare(g.Outputs[i].DType, got[i], s.want[i], s.bounds[i]); err != nil {
			t.Errorf("%s: %v: %v", how, g.Outputs[i].Op, err)
		}
		if s.kind == "zeros" && !bytes.Equal(got[i], s.want[i]) {
			t.Errorf("%s: %v of zeros has another sign", how, g.Outputs[i].Op)
		}
	}
}

// graph has every reduction of an operand, and a sum whose operand and result
// other operations are fused with.
func (c splitCase) graph(t *testing.T, d ir.DType, filled bool) *ir.Graph {
	t.Helper()
	b := ir.NewBuilder(nil)
	x := must(b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: "x", Type: ir.Type{DType: d, Shape: c.shape}}))
	axes := ir.Attr{Axes: c.axes}
	outs := []*ir.Node{must(b.Add(ir.ReduceSum, axes, x)), must(b.Add(ir.ReduceProd, axes, x))}
	square := must(b.Add(ir.ReduceSum, axes, must(b.Add(ir.Mul, ir.Attr{}, x, must(b.Add(ir.Neg, ir.Attr{}, x))))))
	outs = append(outs, must(b.Add(ir.Sub, ir.Attr{}, square, outs[0])))
	if filled {
		outs = append(outs, must(b.Add(ir.ReduceMax, axes, x)), must(b.Add(ir.ReduceMin, axes, x)))
	}
	if filled && len(c.axes) == 1 {
		outs = append(outs, must(b.Add(ir.ArgMax, axes, x)), must(b.Add(ir.ArgMin, axes, must(b.Add(ir.Neg, ir.Attr{}, x)))))
	}
	return b.Finish(outs...)
}

// numbers are near 1, so that their product is a number, with what is special
// strewn in.
func numbers(rng *rand.Rand, d ir.DType, n int, kind string) []byte {
	size := d.Size()
	out := make([]byte, n*size+8)
	special := map[string][]float64{"nan": {math.NaN(), math.Inf(-1)}, "infinite": {math.Inf(1)}}[kind]
	for i := range n {
		v := float64(rng.IntN(200) - 100)
		if d.IsFloat() {
			v = 1 + v/100_000
			if rng.IntN(2) == 0 {
				v = -1
			}
		}
		switch {
		case kind == "zeros":
			v = math.Copysign(0, float64(rng.IntN(30000))-1)
		case len(special) > 0 && rng.IntN(1+n/3) == 0:
			v = special[rng.IntN(len(special))]
		}
		if d.IsUnsigned() {
			v = math.Abs(v)
		}
		binary.LittleEndian.PutUint64(out[i*size:], must(ir.Bits(d, v)))
	}
	return out[:n*size]
}

// TestSplitAccuracy holds that sums in parts are no further from the exact ones
// than sums in one go.
func TestSplitAccuracy(t *testing.T) {
	const total = 1 << 20
	for _, cols := range []int{1, 3, 31, 100, 300} {
		rows := total / cols
		g := must(ir.Parse(columnSum(rows, cols, 0)))
		x := make([]byte, 4*rows*cols)
		exact := make([]float64, cols)
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range rows * cols {
			v := rng.Float32()
			binary.LittleEndian.PutUint32(x[4*i:], math.Float32bits(v))
			exact[i%cols] += float64(v)
		}
		for _, d := range machines(t) {
			var worst [2]float64
			for i, off := range [][]string{{"split"}, nil} {
				got, err := evaluate(d, g, nil, [][]byte{x}, device.Options{NoOpt: off})
				if err != nil {
					t.Fatal(err)
				}
				for c, want := range exact {
					sum := float64(math.Float32frombits(binary.LittleEndian.Uint32(got[0][4*c:])))
					worst[i] = max(worst[i], math.Abs(sum-want)/want)
				}
			}
			if !(worst[1] <= max(worst[0], 1e-7)) {
				t.Errorf("%v, %d columns: in parts off by %.2g of the sum, in one go by %.2g", d.ISA(), cols, worst[1], worst[0])
			}
		}
	}
}

// A row is kept for a later pass once what it is made of is known, and not read
// through a view, which asks for elements that are not there yet, of other rows, or
// none.
func TestKeptRows(t *testing.T) {
	const text = `graph
leaf 0 input "x" f32[5 200]
%%0 = input : f32[5 200]
%%1 = exp %%0 : f32[5 200]
%s
%%4 = mul %%1 %%3 : f32[5 200]
%%5 = sum %%4 axes=[1] : f32[5 1]
%%6 = expand %%5 : f32[5 200]
%%7 = mul %%1 %%6 : f32[5 200]
return %%7
`
	rng := rand.New(rand.NewPCG(1, 7))
	leaf := make([]byte, 4*5*200)
	for i := 0; i < len(leaf); i += 4 {
		binary.LittleEndian.PutUint32(leaf[i:], math.Float32bits(rng.Float32()))
	}
	for name, text := range map[string]string{
		"columns in reverse": fmt.Sprintf(text, "%3 = flip %1 axes=[1] : f32[5 200]"),
		"rows in reverse":    fmt.Sprintf(text, "%3 = flip %1 axes=[0] : f32[5 200]"),
		"shifted columns":    fmt.Sprintf(text, "%2 = slice %1 starts=[0 0] steps=[1 1] : f32[5 150]\n%3 = pad %2 before=[0 50] after=[0 0] value=0x0 : f32[5 200]"),
		"a row's value in reverse": `graph
leaf 0 input "x" f32[5 200]
%0 = input : f32[5 200]
%1 = slice %0 starts=[0 0] steps=[1 1] : f32[5 1]
%2 = exp %1 : f32[5 1]
%3 = expand %2 : f32[5 200]
%4 = add %0 %3 : f32[5 200]
%5 = sum %4 axes=[1] : f32[5 1]
%6 = expand %5 : f32[5 200]
%7 = flip %4 axes=[0] : f32[5 200]
%8 = mul %7 %6 : f32[5 200]
%9 = add %8 %4 : f32[5 200]
return %9
`,
		"of a result of the same pass": `graph
leaf 0 input "x" f32[5 200]
%0 = input : f32[5 200]
%1 = sum %0 axes=[1] : f32[5 1]
%2 = expand %1 : f32[5 200]
%3 = add %0 %2 : f32[5 200]
%4 = recip %3 : f32[5 200]
%5 = exp %4 : f32[5 200]
%6 = sum %5 axes=[1] : f32[5 1]
%7 = expand %6 : f32[5 200]
%8 = mul %5 %7 : f32[5 200]
return %8 %3
`,
	} {
		g, err := ir.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		want, bounds, err := interp.Evaluate(t.Context(), g, nil, [][]byte{leaf})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range machines(t) {
			got, err := evaluate(d, g, nil, [][]byte{leaf}, device.Options{Check: true})
			if err != nil {
				t.Fatalf("%s, %v: %v", name, d.ISA(), err)
			}
			for i := range want {
				if err := compare(ir.F32, got[i], want[i], bounds[i]); err != nil {
					t.Errorf("%s, %v, output %d: %v", name, d.ISA(), i, err)
				}
			}
		}
	}
}

// The sum of nothing is a number, which vectors are filled with: what is made of
// it in 64 bits needs the instructions for these all the same.
func TestReducesNothing(t *testing.T) {
	for _, rest := range []string{
		"%2 = cast %1 : bool[1 11]\nreturn %2",
		"%2 = cast %1 : i32[1 11]\nreturn %2",
		"%2 = cast %1 : f32[1 11]\nreturn %2",
		"%2 = prod %0 axes=[0] : i64[1 11]\n%3 = less %1 %2 : bool[1 11]\nreturn %3",
	} {
		g := must(ir.Parse("graph\nleaf 0 input \"x\" i64[0 11]\n%0 = input : i64[0 11]\n%1 = sum %0 axes=[0] : i64[1 11]\n" + rest + "\n"))
		leaves := [][]byte{nil}
		want, bounds, err := interp.Evaluate(t.Context(), g, nil, leaves)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range machines(t) {
			got, err := evaluate(d, g, nil, leaves, device.Options{Check: true})
			if err == nil {
				err = compare(g.Outputs[0].DType, got[0], want[0], bounds[0])
			}
			if err != nil {
				t.Errorf("%v: %v\n%v", d.ISA(), err, g)
			}
		}
	}
}
