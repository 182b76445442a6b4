package cpu

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/template"
)

// attentionTest is an attention as a graph, with its inputs.
type attentionTest struct {
	attr            ir.AttentionAttr
	heads, kvHeads  int
	width, vWidth   int
	qLens, kLens    []int  // of the sequences; dense: all alike
	layout          string // own, merged (slices of one product), rows (dense: [B, T, heads, width]), negated
	maskQ, maskK    int    // of the mask; 0: the longest sequence
	special         float64
	symbolic        bool
	computedOffsets bool
	sums            bool  // the second output is wanted
	short           bool  // q, k and v are widened from bf16
	stored          bool  // merged and short: they lie in memory as bf16
	grads           []int // of the gradient, the outputs that are wanted
	alone           bool  // its logsumexp is given, no attention is computed

	b      *ir.Builder
	values map[string][]byte
	env    ir.Env
	g      *ir.Graph
	leaves [][]byte
}

func (a *attentionTest) String() string {
	return fmt.Sprintf("%+v heads %d/%d width %d/%d q %v k %v %s special %v symbolic %v computed %v sums %v short %v gradients %v",
		a.attr, a.heads, a.kvHeads, a.width, a.vWidth, a.qLens, a.kLens, a.layout, a.special, a.symbolic, a.computedOffsets, a.sums, a.short, a.grads)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (a *attentionTest) leaf(name string, d ir.DType, shape ir.Shape, data []byte) *ir.Node {
	a.values[name] = data
	return must(a.b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: name, Type: ir.Type{DType: d, Shape: shape}}))
}

func (a *attentionTest) dim(name string, n int) ir.Dim {
	if !a.symbolic {
		return ir.N(n)
	}
	a.env[name] = n
	return ir.Sym(name, 0, 1<<12)
}

func (a *attentionTest) floats(rng *rand.Rand, n int) []byte {
	data := make([]byte, 0, 4*n)
	for range n {
		v := rng.NormFloat64()
		if a.special > 0 && rng.Float64() < a.special {
			v = []float64{math.Inf(1), math.Inf(-1), math.NaN(), 0, math.Copysign(0, -1), 1e38, 1e-40}[rng.IntN(7)]
		}
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(v)))
	}
	return data
}

func sum(of []int) (n int) {
	for _, v := range of {
		n += v
	}
	return n
}

func offsets(lens []int) (data []byte) {
	at := 0
	for _, n := range append([]int{0}, lens...) {
		at += n
		data = binary.LittleEndian.AppendUint32(data, uint32(at))
	}
	return data
}

// build makes the graph and random inputs.
func (a *attentionTest) build(rng *rand.Rand) {
	a.b, a.values, a.env = ir.NewBuilder(nil), map[string][]byte{}, ir.Env{}
	if a.attr.Scale == 0 {
		a.attr.Scale = 1 / math.Sqrt(float64(a.width))
	}
	count := len(a.qLens)
	batch := a.dim("B", count)
	operand := func(name string, rows int, lens []int, heads, width int) *ir.Node {
		if a.attr.Ragged {
			return a.rows(rng, name, a.dim("N"+name[:1], rows), rows, heads, width)
		}
		t := 0
		if count > 0 {
			t = lens[0]
		}
		length := a.dim("T"+name[:1], t)
		if a.layout == "rows" {
			x := a.leaf(name, ir.F32, ir.Shape{batch, length, ir.N(heads), ir.N(width)}, a.floats(rng, rows*heads*width))
			return must(a.b.Add(ir.Permute, ir.Attr{Axes: []int{0, 2, 1, 3}}, x))
		}
		return a.leaf(name, ir.F32, ir.Shape{batch, ir.N(heads), length, ir.N(width)}, a.floats(rng, rows*heads*width))
	}
	var q, k, v *ir.Node
	if a.layout == "merged" && a.attr.Ragged {
		q, k, v = a.merged(rng)
	} else {
		q = operand("q", sum(a.qLens), a.qLens, a.heads, a.width)
		k = operand("k", sum(a.kLens), a.kLens, a.kvHeads, a.width)
		v = operand("kv", sum(a.kLens), a.kLens, a.kvHeads, a.vWidth)
	}
	if a.layout == "negated" {
		q, k, v = must(a.b.Add(ir.Neg, ir.Attr{}, q)), must(a.b.Add(ir.Neg, ir.Attr{}, k)), must(a.b.Add(ir.Neg, ir.Attr{}, v))
	}
	if a.layout != "merged" {
		q, k, v = a.rounded(q), a.rounded(k), a.rounded(v)
	}
	in := []*ir.Node{q, k, v}
	if a.attr.Ragged {
		for _, o := range []struct {
			name string
			lens []int
		}{{"qo", a.qLens}, {"ko", a.kLens}} {
			x := a.leaf(o.name, ir.I32, ir.Shape{batch.Plus(1)}, offsets(o.lens))
			if a.computedOffsets { // by a kernel in front
				zero := a.leaf(o.name+"0", ir.I32, ir.Shape{batch.Plus(1)}, make([]byte, 4*(count+1)))
				x = must(a.b.Add(ir.Contiguous, ir.Attr{}, must(a.b.Add(ir.Add, ir.Attr{}, x, zero))))
			}
			in = append(in, x)
		}
	}
	if a.attr.Mask {
		in = append(in, a.mask(rng, batch, q, k))
	}
	n := must(a.b.Add(ir.Attention, ir.Attr{Attention: &a.attr}, in...))
	outs := []*ir.Node{must(a.b.Add(ir.Get, ir.Attr{Out: 0}, n))}
	if a.sums {
		outs = append(outs, must(a.b.Add(ir.Get, ir.Attr{Out: 1}, n)))
	}
	if a.grads != nil {
		outs = a.gradients(rng, n)
	}
	a.g = a.b.Finish(outs...)
	a.leaves = nil
	for _, l := range a.g.Leaves {
		a.leaves = append(a.leaves, a.values[l.Name])
	}
}

// gradients are those that are wanted of an attention, with what is asked of its
// results.
func (a *attentionTest) gradients(rng *rand.Rand, n *ir.Node) (outs []*ir.Node) {
	count := func(s ir.Shape) int { return must(s.Numel().Eval(a.env)) }
	lse := must(a.b.Add(ir.Get, ir.Attr{Out: 1}, n))
	if a.alone {
		lse = a.leaf("lse", ir.F32, lse.Shape, a.floats(rng, count(lse.Shape)))
	}
	dout := a.leaf("dout", ir.F32, n.Shape, a.floats(rng, count(n.Shape)))
	if a.layout == "negated" {
		dout = must(a.b.Add(ir.Neg, ir.Attr{}, dout))
	}
	delta := a.leaf("delta", ir.F32, lse.Shape, a.floats(rng, count(lse.Shape)))
	g := must(a.b.Add(ir.AttentionGrad, ir.Attr{Attention: &a.attr}, append(n.In[:len(n.In):len(n.In)], lse, dout, delta)...))
	for _, i := range a.grads {
		outs = append(outs, must(a.b.Add(ir.Get, ir.Attr{Out: i}, g)))
	}
	return outs
}

// rows is an operand [rows, heads, width].
func (a *attentionTest) rows(rng *rand.Rand, name string, rows ir.Dim, n, heads, width int) *ir.Node {
	return a.leaf(name, ir.F32, ir.Shape{rows, ir.N(heads), ir.N(width)}, a.floats(rng, n*heads*width))
}

// rounded is x by way of bf16, if the test is of that.
func (a *attentionTest) rounded(x *ir.Node) *ir.Node {
	if !a.short {
		return x
	}
	x = must(a.b.Add(ir.Cast, ir.Attr{DType: ir.BF16}, x))
	return must(a.b.Add(ir.Cast, ir.Attr{DType: ir.F32}, x))
}

// merged is q, k and v as slices of one product; keys are the queries' rows.
func (a *attentionTest) merged(rng *rand.Rand) (q, k, v *ir.Node) {
	rows := sum(a.qLens)
	n := a.dim("N", rows)
	widths := []int{a.heads * a.width, a.kvHeads * a.width, a.kvHeads * a.vWidth}
	shape, data := ir.Shape{n, ir.N(sum(widths))}, a.floats(rng, rows*sum(widths))
	var x *ir.Node
	if a.stored {
		x = must(a.b.Add(ir.Cast, ir.Attr{DType: ir.F32}, a.leaf("qkv", ir.BF16, shape, toBF16(data))))
	} else {
		x = a.rounded(a.leaf("qkv", ir.F32, shape, data))
	}
	at := 0
	var parts [3]*ir.Node
	for i, w := range widths {
		s := must(a.b.Add(ir.Slice, ir.Attr{Starts: []ir.Dim{ir.N(0), ir.N(at)}, Steps: []int{1, 1}, Shape: ir.Shape{n, ir.N(w)}}, x))
		heads := a.kvHeads
		if i == 0 {
			heads = a.heads
		}
		parts[i] = must(a.b.Add(ir.Reshape, ir.Attr{Shape: ir.Shape{n, ir.N(heads), ir.N(w / heads)}}, s))
		at += w
	}
	return parts[0], parts[1], parts[2]
}

func toBF16(floats []byte) (short []byte) {
	for i := 0; i < len(floats); i += 4 {
		v := math.Float32frombits(binary.LittleEndian.Uint32(floats[i:]))
		short = binary.LittleEndian.AppendUint16(short, ir.BF16FromFloat32(v))
	}
	return short
}

// mask is an additive mask, broadcast along some axes, with some -Inf.
func (a *attentionTest) mask(rng *rand.Rand, batch ir.Dim, q, k *ir.Node) *ir.Node {
	longest := func(lens []int) (n int) {
		for _, l := range lens {
			n = max(n, l)
		}
		return n
	}
	size := []int{len(a.qLens), a.heads, longest(a.qLens), longest(a.kLens)}
	if a.maskQ > 0 {
		size[2], size[3] = a.maskQ, a.maskK
	}
	shape := ir.Shape{batch, ir.N(a.heads), ir.N(size[2]), ir.N(size[3])}
	if !a.attr.Ragged {
		shape[2], shape[3] = q.Shape[2], k.Shape[2]
	}
	for i := range shape {
		if rng.IntN(2) == 0 && a.maskQ == 0 {
			shape[i], size[i] = ir.N(1), 1
		}
	}
	data := a.floats(rng, size[0]*size[1]*size[2]*size[3])
	for i := 0; i < len(data); i += 4 {
		if rng.IntN(5) == 0 {
			binary.LittleEndian.PutUint32(data[i:], math.Float32bits(float32(math.Inf(-1))))
		}
	}
	return a.leaf("mask", ir.F32, shape, data)
}

// randomAttention draws every attribute.
func randomAttention(rng *rand.Rand, longest int) *attentionTest {
	pick := func(of ...int) int { return of[rng.IntN(len(of))] }
	some := func(n int) bool { return rng.IntN(n) == 0 }
	a := &attentionTest{width: pick(1, 3, 8, 16, 20, 32, 32, 48, 64, 67, 80, 128), symbolic: some(2), sums: some(2)}
	a.vWidth = a.width
	if some(4) {
		a.vWidth = pick(1, 5, 16, 32, 70, 96, 130)
	}
	a.kvHeads = pick(1, 1, 2, 3)
	a.heads = a.kvHeads * pick(1, 1, 2, 4)
	a.attr = ir.AttentionAttr{Ragged: !some(3), Causal: some(2), Mask: some(4)}
	if some(3) {
		a.attr.Window = 1 + rng.IntN(longest)
	}
	if some(4) {
		a.attr.SoftCap = 3
	}
	if some(6) {
		a.attr.Scale = -0.3
	}
	a.layout = []string{"own", "merged", "rows", "negated"}[rng.IntN(4)]
	length := func() int { return pick(0, 1, 2, 5, 7, 16, 17, 24, 25, rng.IntN(longest), rng.IntN(longest)) }
	for range rng.IntN(5) {
		q := length()
		k := q
		if a.layout != "merged" && some(2) {
			k = length()
		}
		a.qLens, a.kLens = append(a.qLens, q), append(a.kLens, k)
		if !a.attr.Ragged {
			a.qLens[len(a.qLens)-1], a.kLens[len(a.kLens)-1] = a.qLens[0], a.kLens[0]
		}
	}
	if some(5) {
		a.special = 0.002
	}
	a.computedOffsets = some(5)
	if a.short = some(2); a.short {
		a.sums, a.stored = some(6), some(2)
	}
	return a
}

// Every attribute, layout and length, on every instruction set, against the
// referee.
func TestAttentionForms(t *testing.T) { checkAttentions(t, 5, randomAttention) }

// checkAttentions compares attentions that draw makes with the referee.
func checkAttentions(t *testing.T, stream uint64, draw func(rng *rand.Rand, longest int) *attentionTest) {
	t.Helper()
	n := effort.Of(30, 120, 250, 250)
	devices := withSlow(t)
	for seed := range n {
		if few(devices[seed%len(devices)], seed/len(devices)) {
			continue
		}
		rng := rand.New(rand.NewPCG(uint64(seed), stream))
		a := draw(rng, 90)
		a.build(rng)
		a.check(t, fmt.Sprintf("seed %d", seed), devices[seed%len(devices)])
		if t.Failed() {
			return
		}
	}
}

// check compares what devices compute with the referee, which is asked once.
func (a *attentionTest) check(t *testing.T, name string, devices ...*Device) {
	t.Helper()
	want, bounds, err := interp.Evaluate(context.Background(), a.g, a.env, a.leaves)
	if err != nil {
		t.Fatalf("%s: %v: %v", name, a, err)
	}
	for _, d := range devices {
		got, err := evaluate(d, a.g, a.env, a.leaves, device.Options{Check: true})
		if err != nil {
			t.Fatalf("%s, %v: %v: %v", name, d.ISA(), a, err)
		}
		for i := range want {
			if err := compare(ir.F32, got[i], want[i], bounds[i]); err != nil {
				t.Errorf("%s, %v: %v: output %d: %v", name, d.ISA(), a, i, err)
				return
			}
		}
	}
}

// withMachineCode are the devices that generate code.
func withMachineCode(t *testing.T) []*Device {
	t.Helper()
	return slices.DeleteFunc(withSlow(t), func(d *Device) bool { return d.ISA() == Generic })
}

// Nothing outside the operands and results is touched.
func TestAttentionGuarded(t *testing.T) { guardAttention(t, randomAttention) }

func guardAttention(t *testing.T, draw func(rng *rand.Rand, longest int) *attentionTest) {
	t.Helper()
	ctx := context.Background()
	devices := withSlow(t)
	for seed := range 60 {
		rng := rand.New(rand.NewPCG(uint64(seed), 10))
		a := draw(rng, 60)
		a.build(rng)
		d := devices[seed%len(devices)]
		m := must(d.CompileGraph(ctx, a.g, device.Options{}))
		b := &device.Bound{Module: m, Env: a.env}
		var guards []*jit.Guarded
		place := func(n int) []byte {
			n = max(n, native.Padding) // which may be read of an empty buffer
			g := must(jit.AllocGuarded(n, 1))
			if seed%2 == 0 {
				g = must(jit.AllocGuardedFront(n))
			}
			guards = append(guards, g)
			return g.Bytes()
		}
		for _, l := range a.leaves {
			mem := place(len(l))
			copy(mem, l)
			b.Leaves = append(b.Leaves, must(d.Import(mem[:len(l)])))
		}
		for _, o := range a.g.Outputs {
			n := 4 * must(o.Shape.Numel().Eval(a.env))
			mem := place(n)
			b.Outputs = append(b.Outputs, must(d.Import(mem[:n])))
		}
		ev, err := d.Submit(ctx, b)
		if err == nil {
			err = ev.Wait(ctx)
		}
		if err != nil {
			t.Fatalf("seed %d, %v: %v: %v", seed, d.ISA(), a, err)
		}
		for _, g := range guards {
			if err := g.Close(); err != nil {
				t.Errorf("seed %d, %v: %v: %v", seed, d.ISA(), a, err)
			}
		}
		_ = m.Close()
	}
}

// Products are in bf16 where the operands say so and the processor can: else in
// f32.
func TestAttentionFormat(t *testing.T) {
	for _, d := range withSlow(t) {
		for _, a := range []*attentionTest{{width: 32}, {width: 32, short: true}, {width: 31, short: true}, {width: 32, short: true, sums: true}} {
			a.attr.Ragged, a.heads, a.kvHeads, a.vWidth, a.layout = true, 3, 1, 7, "merged"
			a.qLens = []int{5}
			a.build(rand.New(rand.NewPCG(1, 11)))
			m := must(d.CompileGraph(context.Background(), a.g, device.Options{})).(*module)
			want := template.Single
			if a.short && a.width == 32 && d.target() == x86.AVX512 && d.has.AVX512BF16 {
				want = template.BF16
			}
			for _, k := range m.kernels {
				if k, ok := k.(*attentionKernel); ok && (k.format != want || !k.q.plain && want == template.BF16) {
					t.Errorf("%v: %v: products in format %v, want %v", d.ISA(), a, k.format, want)
				}
			}
			_ = m.Close()
		}
	}
}

// Attentions of f16 and bf16, which the suite compares, are computed by tiles too
// where there are templates.
func TestAttentionOfHalves(t *testing.T) {
	for _, d := range machines(t) {
		for _, cs := range suite.Cases() {
			half := strings.HasSuffix(cs.Name, " f16") || strings.HasSuffix(cs.Name, " bf16")
			if !half || !strings.HasPrefix(cs.Name, "attention ") {
				continue
			}
			g, _, err := cs.Graph()
			if err != nil {
				t.Fatal(err)
			}
			m := must(d.CompileGraph(t.Context(), g, device.Options{})).(*module)
			tiles := slices.ContainsFunc(m.kernels, func(k kernel) bool { _, ok := k.(*attentionKernel); return ok })
			if want := d.ISA() != Generic && d.ISA() != NEON; tiles != want {
				t.Errorf("%v: %s goes by tiles: %v", d.ISA(), cs.Name, tiles)
			}
			_ = m.Close()
		}
	}
}

// Numbers of bf16 that are widened give the bits of the processor's instruction
// for their products, where that is slow and nobody is to see that it is not used.
func TestAttentionWideBits(t *testing.T) {
	host := cpuid.Host()
	if !host.SlowBF16() {
		t.Skip("not slow here, if there is one")
	}
	first, last := wideAndShort(t)
	for seed := range 40 {
		rng := rand.New(rand.NewPCG(uint64(seed), 13))
		a := randomAttention(rng, 300)
		a.short, a.width = true, 8*(1+rng.IntN(8))
		a.build(rng)
		want := must(evaluate(last, a.g, a.env, a.leaves, device.Options{}))
		for i, got := range must(evaluate(first, a.g, a.env, a.leaves, device.Options{})) {
			if !bytes.Equal(got, want[i]) {
				t.Errorf("seed %d: %v: output %d differs", seed, a, i)
			}
		}
	}
}

// Lengths beyond one block of keys.
func TestAttentionLong(t *testing.T) {
	devices := withMachineCode(t)
	for i, a := range []*attentionTest{
		{attr: ir.AttentionAttr{Ragged: true}, qLens: []int{3, 1}, kLens: []int{1100, 513}},
		{attr: ir.AttentionAttr{Ragged: true, Causal: true}, qLens: []int{300}, kLens: []int{800}},
		{attr: ir.AttentionAttr{Ragged: true, Causal: true, Window: 100}, qLens: []int{600}, kLens: []int{600}},
		{attr: ir.AttentionAttr{Mask: true, SoftCap: 5}, qLens: []int{30, 30}, kLens: []int{700, 700}},
		{attr: ir.AttentionAttr{Ragged: true}, qLens: []int{3, 1}, kLens: []int{1100, 513}, short: true},
		{attr: ir.AttentionAttr{Ragged: true, Causal: true, Window: 101}, qLens: []int{601}, kLens: []int{603}, short: true},
	} {
		a.heads, a.kvHeads, a.width, a.vWidth, a.sums, a.layout = 2, 1, 16, 24, !a.short, "own"
		if a.short {
			a.width = 32 // which tiles take
		}
		rng := rand.New(rand.NewPCG(uint64(i), 6))
		a.build(rng)
		a.check(t, fmt.Sprint("case ", i), devices...)
	}
}

// A sequence's rows have the same bits alone and in a batch, with one thread
// and with several.
func TestAttentionSameBits(t *testing.T) {
	ctx := context.Background()
	for _, isa := range []ISA{AMXFP16, AMX, AVX512, AVX2} {
		one, err := New(Options{ISA: isa, Threads: 1})
		if err != nil {
			t.Log(err)
			continue
		}
		defer one.Close()
		two := must(New(Options{ISA: isa, Threads: 2}))
		defer two.Close()
		for seed := range 40 {
			rng := rand.New(rand.NewPCG(uint64(seed), 7))
			a := randomAttention(rng, 300)
			a.attr.Ragged, a.attr.Mask, a.layout, a.sums, a.computedOffsets = true, false, "own", false, false
			a.symbolic = true
			if seed%8 == 0 {
				a.qLens, a.kLens = append(a.qLens, 40), append(a.kLens, 1300)
			}
			a.build(rng)
			m := must(one.CompileGraph(ctx, a.g, device.Options{}))
			_ = m.Close()
			whole := must(evaluate(one, a.g, a.env, a.leaves, device.Options{}))[0]
			if again := must(evaluate(two, a.g, a.env, a.leaves, device.Options{}))[0]; !bytes.Equal(again, whole) {
				t.Fatalf("%v, seed %d: two threads differ from one: %v", isa, seed, a)
			}
			q0, k0 := 0, 0
			for i := range a.qLens {
				q1, k1 := q0+a.qLens[i], k0+a.kLens[i]
				part := func(name string, lo, hi, each int) []byte { return a.values[name][4*lo*each : 4*hi*each] }
				alone := *a
				alone.qLens, alone.kLens = a.qLens[i:i+1], a.kLens[i:i+1]
				alone.build(rng)
				values := map[string][]byte{
					"q": part("q", q0, q1, a.heads*a.width), "k": part("k", k0, k1, a.kvHeads*a.width), "kv": part("kv", k0, k1, a.kvHeads*a.vWidth),
					"qo": offsets(alone.qLens), "ko": offsets(alone.kLens),
				}
				for j, l := range alone.g.Leaves {
					alone.leaves[j] = values[l.Name]
				}
				each := 4 * a.heads * a.vWidth
				if got := must(evaluate(two, alone.g, alone.env, alone.leaves, device.Options{}))[0]; !bytes.Equal(got, whole[q0*each:q1*each]) {
					t.Fatalf("%v, seed %d: sequence %d alone differs: %v", isa, seed, i, a)
				}
				q0, k0 = q1, k1
			}
		}
	}
}

// Values that are not finite do not reach rows that do not see them, nor do
// keys.
func TestAttentionUnseen(t *testing.T) {
	for _, d := range withSlow(t) {
		for _, short := range []bool{false, true} {
			for _, last := range []int{40, 41} { // key that is not finite: the first and the second of a pair
				for _, width := range []int{8, 32} { // which tiles take
					unseen(t, d, short, last, width)
				}
			}
		}
	}
}

func unseen(t *testing.T, d *Device, short bool, last, width int) {
	a := &attentionTest{attr: ir.AttentionAttr{Ragged: true, Causal: true}, heads: 1, kvHeads: 1, width: width, vWidth: 70, qLens: []int{60}, kLens: []int{60}, layout: "own", short: short}
	rng := rand.New(rand.NewPCG(1, 8))
	a.build(rng)
	finite := must(evaluate(d, a.g, a.env, a.leaves, device.Options{}))[0]
	for i, bad := range []float64{math.Inf(1), math.NaN()} {
		binary.LittleEndian.PutUint32(a.values["kv"][4*(last*a.vWidth+i):], math.Float32bits(float32(bad)))
		binary.LittleEndian.PutUint32(a.values["k"][4*(last*width+i):], math.Float32bits(float32(bad)))
	}
	out := must(evaluate(d, a.g, a.env, a.leaves, device.Options{}))[0]
	for i := range 60 * a.vWidth {
		v := math.Float32frombits(binary.LittleEndian.Uint32(out[4*i:]))
		if seen := i/a.vWidth >= last; seen != (v != v) {
			t.Fatalf("%v, heads of %d: row %d, lane %d is %v", d.ISA(), width, i/a.vWidth, i%a.vWidth, v)
		}
	}
	if n := 4 * last * a.vWidth; !bytes.Equal(out[:n], finite[:n]) {
		t.Errorf("%v, heads of %d, short %v: what no row sees changes its bits", d.ISA(), width, short)
	}
	a.check(t, "unseen", d)
}

// An infinite value of the last of an odd number of keys is infinite in all
// results: nothing stands beside it in a pair that its zero weight makes NaN of.
func TestAttentionInfiniteLast(t *testing.T) {
	devices := withSlow(t)
	for i := range 2 * len(devices) {
		d, width := devices[i/2], []int{8, 32}[i%2] // which tiles take
		a := &attentionTest{heads: 1, kvHeads: 1, width: width, vWidth: 20, qLens: []int{5}, kLens: []int{7}, layout: "own", short: true}
		a.attr.Ragged = true
		a.build(rand.New(rand.NewPCG(1, 12)))
		binary.LittleEndian.PutUint32(a.values["kv"][4*6*a.vWidth:], math.Float32bits(float32(math.Inf(1))))
		out := must(evaluate(d, a.g, a.env, a.leaves, device.Options{}))[0]
		for i := range 5 {
			if v := math.Float32frombits(binary.LittleEndian.Uint32(out[4*i*a.vWidth:])); !math.IsInf(float64(v), 1) {
				t.Errorf("%v, heads of %d: row %d is %v", d.ISA(), width, i, v)
			}
		}
		a.check(t, "infinite", d)
	}
}

// What memory held before is in no result: values behind the last key have weight
// 0, but may be no numbers.
func TestAttentionDirtyScratch(t *testing.T) {
	const threads = 16 // as in TestGemmDirtyScratch
	rng := rand.New(rand.NewPCG(1, 14))
	for _, d := range withSlow(t) {
		d.threads = threads
		for _, keys := range []int{1, 7, 16, 33, 515} {
			a := &attentionTest{attr: ir.AttentionAttr{Ragged: true, Causal: keys == 7}, heads: 2, kvHeads: 1, width: 32, vWidth: 20, qLens: []int{5}, kLens: []int{keys}, layout: "own", short: true}
			a.build(rng)
			dirty(t, d)
			a.check(t, fmt.Sprint(keys, " keys"), d)
		}
	}
}

// Offsets that fall or leave the rows, and sequences longer than the mask, are
// errors on all paths, whatever made the offsets.
func TestAttentionRefuses(t *testing.T) {
	for _, d := range withSlow(t) {
		for _, c := range []struct {
			name   string
			qo     []int32
			maskQ  int
			maskAt string
		}{{"falls", []int32{0, 9, 4, 12}, 0, ""}, {"too far", []int32{0, 4, 8, 13}, 0, ""}, {"below 0", []int32{0, -4, 8, 12}, 0, ""},
			{"huge", []int32{0, 4, math.MaxInt32, 12}, 0, ""}, {"mask", []int32{0, 4, 8, 12}, 3, "attention mask"}} {
			a := &attentionTest{attr: ir.AttentionAttr{Ragged: true, Mask: c.maskQ > 0}, heads: 1, kvHeads: 1, width: 8, vWidth: 8,
				qLens: []int{4, 4, 4}, kLens: []int{4, 4, 4}, layout: "own", maskQ: c.maskQ, maskK: 4}
			a.build(rand.New(rand.NewPCG(1, 9)))
			for i, v := range c.qo {
				binary.LittleEndian.PutUint32(a.values["qo"][4*i:], uint32(v))
			}
			_, err := evaluate(d, a.g, a.env, a.leaves, device.Options{})
			var index *device.IndexError
			if !errors.As(err, &index) || c.maskAt != "" && index.Op != c.maskAt {
				t.Errorf("%v, %s: %v", d.ISA(), c.name, err)
			}
		}
	}
}
