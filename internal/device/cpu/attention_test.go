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
