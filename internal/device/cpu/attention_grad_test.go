package cpu

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
)

// randomGradient draws an attention whose gradients are wanted, most often all.
func randomGradient(rng *rand.Rand, longest int) *attentionTest {
	a := randomAttention(rng, longest)
	a.grads = rng.Perm(3)
	if rng.IntN(3) == 0 {
		a.grads = a.grads[:1+rng.IntN(2)]
	}
	return a
}

// Every attribute, layout and length, on every instruction set, against the
// referee.
func TestGradientForms(t *testing.T) { checkAttentions(t, 25, randomGradient) }

// Lengths beyond one block of queries and of keys.
func TestGradientLong(t *testing.T) {
	devices := withMachineCode(t)
	for i, a := range []*attentionTest{
		{attr: ir.AttentionAttr{Ragged: true}, qLens: []int{3, 200}, kLens: []int{300, 129}},
		{attr: ir.AttentionAttr{Ragged: true, Causal: true}, qLens: []int{300}, kLens: []int{400}},
		{attr: ir.AttentionAttr{Causal: true}, qLens: []int{257, 257}, kLens: []int{257, 257}},
		{attr: ir.AttentionAttr{Ragged: true, Causal: true, Window: 100}, qLens: []int{400}, kLens: []int{400}},
		{attr: ir.AttentionAttr{Window: 30}, qLens: []int{290}, kLens: []int{310}},
		{attr: ir.AttentionAttr{Mask: true, SoftCap: 5}, qLens: []int{130, 130}, kLens: []int{200, 200}},
	} {
		if testing.Short() && i%3 > 0 {
			continue
		}
		rng := rand.New(rand.NewPCG(uint64(i), 26))
		a.heads, a.kvHeads, a.width, a.vWidth, a.layout = 4, 2, 20, 24, "own"
		a.grads = []int{0, 1, 2}
		a.build(rng)
		a.check(t, fmt.Sprint(i), devices...)
	}
}

// Nothing outside the operands and results is touched.
func TestGradientGuarded(t *testing.T) { guardAttention(t, randomGradient) }

// A sequence's gradients have the same bits alone and in a batch, with one
// thread and with several.
func TestGradientSameBits(t *testing.T) {
	for _, isa := range []ISA{AMXFP16, AMX, AVX512, AVX2} {
		one, err := New(Options{ISA: isa, Threads: 1})
		if err != nil {
			t.Log(err)
			continue
		}
		defer one.Close()
		three := must(New(Options{ISA: isa, Threads: 3}))
		defer three.Close()
		for seed := range 20 {
			rng := rand.New(rand.NewPCG(uint64(seed), 27))
			a := randomGradient(rng, 300)
			a.attr.Ragged, a.attr.Mask, a.layout, a.computedOffsets, a.short = true, false, "own", false, false
			a.grads, a.alone, a.symbolic, a.special = []int{0, 1, 2}, true, true, 0
			a.build(rng)
			whole := must(evaluate(one, a.g, a.env, a.leaves, device.Options{}))
			for i, again := range must(evaluate(three, a.g, a.env, a.leaves, device.Options{})) {
				if !bytes.Equal(again, whole[i]) {
					t.Fatalf("%v, seed %d, output %d: three threads differ from one: %v", isa, seed, i, a)
				}
			}
			q0, k0 := 0, 0
			for i := range a.qLens {
				q1, k1 := q0+a.qLens[i], k0+a.kLens[i]
				checkAlone(t, three, a, whole, i, keyRange{q0, q1}, keyRange{k0, k1})
				q0, k0 = q1, k1
			}
		}
	}
}

// checkAlone compares the gradients of sequence i, queries and keys of these
// rows, with those of its batch.
func checkAlone(t *testing.T, d *Device, a *attentionTest, whole [][]byte, i int, q, k keyRange) {
	t.Helper()
	part := func(name string, r keyRange, each int) []byte { return a.values[name][4*r.from*each : 4*r.to*each] }
	alone := *a
	alone.qLens, alone.kLens = a.qLens[i:i+1], a.kLens[i:i+1]
	alone.build(rand.New(rand.NewPCG(1, 28)))
	values := map[string][]byte{
		"q": part("q", q, a.heads*a.width), "k": part("k", k, a.kvHeads*a.width), "kv": part("kv", k, a.kvHeads*a.vWidth),
		"qo": offsets(alone.qLens), "ko": offsets(alone.kLens),
		"lse": part("lse", q, a.heads), "delta": part("delta", q, a.heads), "dout": part("dout", q, a.heads*a.vWidth),
	}
	for j, l := range alone.g.Leaves {
		alone.leaves[j] = values[l.Name]
	}
	rows, each := []keyRange{q, k, k}, []int{a.heads * a.width, a.kvHeads * a.width, a.kvHeads * a.vWidth}
	for out, got := range must(evaluate(d, alone.g, alone.env, alone.leaves, device.Options{})) {
		if r := rows[out]; !bytes.Equal(got, whole[out][4*r.from*each[out]:4*r.to*each[out]]) {
			t.Fatalf("%v: output %d of sequence %d alone differs: %v", d.ISA(), out, i, a)
		}
	}
}

// What is not finite reaches the gradients of what it is seen by, and of what
// it sees, and no others.
func TestGradientUnseen(t *testing.T) {
	const n = 200
	devices := machines(t)
	for i := range 8 {
		ofKeys, bad := i%2 > 0, []int{130, 195}[i/2%2] // in the midst of blocks, and at their end
		if testing.Short() && i/2%2 > 0 {
			continue
		}
		a := &attentionTest{attr: ir.AttentionAttr{Ragged: true, Causal: true}, heads: 1, kvHeads: 1, width: 8, vWidth: 20,
			qLens: []int{n}, kLens: []int{n}, layout: "own", grads: []int{0, 1, 2}, alone: true}
		if i >= 4 { // operands in place
			a.width, a.vWidth = 16, 32
		}
		a.build(rand.New(rand.NewPCG(1, 29)))
		spoil := func(name string, width int) {
			for i, v := range []float64{math.Inf(1), math.NaN()} {
				binary.LittleEndian.PutUint32(a.values[name][4*(bad*width+i):], math.Float32bits(float32(v)))
			}
		}
		want := [3]func(row int) bool{} // of dq, dk and dv: NaN
		if ofKeys {
			spoil("k", a.width)
			spoil("kv", a.vWidth)
			one := func(row int) bool { return row == bad }
			want = [3]func(int) bool{func(row int) bool { return row >= bad }, one, one}
		} else {
			spoil("q", a.width)
			spoil("dout", a.vWidth)
			before := func(row int) bool { return row <= bad }
			want = [3]func(int) bool{func(row int) bool { return row == bad }, before, before}
		}
		for _, d := range devices {
			for out, data := range must(evaluate(d, a.g, a.env, a.leaves, device.Options{})) {
				width := len(data) / 4 / n
				for row := range n {
					v := math.Float32frombits(binary.LittleEndian.Uint32(data[4*row*width:]))
					if nan := v != v; nan != want[out](row) {
						t.Fatalf("%v, keys %v: output %d, row %d is %v", d.ISA(), ofKeys, out, row, v)
					}
				}
			}
		}
		a.check(t, "unseen", devices...)
	}
}

// A query that sees nothing, its logsumexp being -Inf, adds nothing, whatever it
// holds, where operands are used in place, too.
func TestGradientInPlace(t *testing.T) {
	const n, bad = 200, 97
	devices := machines(t)
	a := &attentionTest{attr: ir.AttentionAttr{Ragged: true}, heads: 1, kvHeads: 1, width: 16, vWidth: 32,
		qLens: []int{n}, kLens: []int{n}, layout: "own", grads: []int{0, 1, 2}, alone: true}
	a.build(rand.New(rand.NewPCG(1, 31)))
	for name, at := range map[string]int{"q": bad * a.width, "dout": bad*a.vWidth + 5} {
		binary.LittleEndian.PutUint32(a.values[name][4*at:], math.Float32bits(float32(math.Inf(1))))
	}
	binary.LittleEndian.PutUint32(a.values["lse"][4*bad:], math.Float32bits(float32(math.Inf(-1))))
	for _, d := range devices {
		for out, data := range must(evaluate(d, a.g, a.env, a.leaves, device.Options{})) {
			for i := range len(data) / 4 {
				if v := math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])); v-v != 0 {
					t.Fatalf("%v: output %d, element %d is %v", d.ISA(), out, i, v)
				}
			}
		}
	}
	a.check(t, "sees nothing", devices...)
}

// No memory grows with queries times keys.
func TestGradientMemory(t *testing.T) {
	const n, width, most = 4096, 16, 4 << 20        // n*n scores would be 64 MB
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // each worker has memory of its own
	for _, d := range machines(t) {
		if d.ISA() == Generic {
			continue
		}
		a := &attentionTest{attr: ir.AttentionAttr{Causal: true}, heads: 1, kvHeads: 1, width: width, vWidth: width, qLens: []int{n}, kLens: []int{n}, layout: "own", grads: []int{0, 1, 2}}
		a.build(rand.New(rand.NewPCG(1, 30)))
		before := d.Stats()
		run, done := a.bind(t, d, nil)
		held := d.Stats().Allocated
		if err := run(); err != nil {
			t.Fatal(err)
		}
		if peak := d.Stats().Peak; peak > max(before.Peak, held)+most {
			t.Errorf("%v: %d bytes beside operands and results, want at most %d", d.ISA(), peak-held, most)
		}
		done()
	}
}
