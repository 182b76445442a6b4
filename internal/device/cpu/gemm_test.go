package cpu

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/schedule"
)

// reference interprets the loops of the template.
func (t *gemmTest) reference(tb testing.TB) [][]byte {
	bufs := make([][]byte, len(t.data))
	for i := range bufs {
		bufs[i] = slices.Clone(t.data[i])
	}
	k := t.g.Loops()
	lo, hi, err := k.Span(t.env)
	if err != nil {
		tb.Fatal(err)
	}
	if err := loop.Interpret(k, &loop.Args{Buffers: bufs, Sizes: t.env, Start: lo, End: hi, Status: make([]int64, t.g.Slots)}); err != nil {
		tb.Fatal(err)
	}
	return bufs
}

// compile makes the kernel on a device.
func (t *gemmTest) compile(tb testing.TB, d *Device) kernel {
	tb.Helper()
	c := d.compiler(d.isa != Generic)
	k, err := compileGemm(c, t.g)
	if err != nil {
		tb.Fatal(err)
	}
	if err := c.slab.seal(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if c.slab.code != nil {
			_ = c.slab.code.Close()
		}
	})
	return k
}

// bind binds the kernel for a benchmark: to memory such as runs have, whose large pages the
// processor finds faster than those that have guards behind them.
func (t *gemmTest) bind(b *testing.B, d *Device, k kernel, workers int) (jit.Step, func()) {
	b.Helper()
	inRuns := *t
	inRuns.weights = map[int]*buffer{}
	for i, data := range t.data {
		if inRuns.weights[i] = t.weights[i]; inRuns.weights[i] != nil {
			continue
		}
		m, err := d.newBuffer(len(data))
		if err != nil {
			b.Fatal(err)
		}
		copy(m.data, data)
		inRuns.weights[i] = m
	}
	step, _, done := inRuns.bindGuarded(b, d, k, workers, false)
	return step, func() {
		done()
		for i, m := range inRuns.weights {
			if t.weights[i] == nil {
				_ = m.Close()
			}
		}
	}
}

// bindGuarded binds the kernel to memory with guard pages: behind each buffer,
// or before it with front. In tests one worker reads a B by rows where it lies and several
// pack it, whatever the processor.
func (t *gemmTest) bindGuarded(tb testing.TB, d *Device, k kernel, workers int, front bool) (jit.Step, []*jit.Guarded, func()) {
	tb.Helper()
	if _, test := tb.(*testing.T); test {
		core := d.core
		defer func() { d.core = core }()
		d.core.DirectRows, d.core.DirectCrowded = 0, 0
		if workers == 1 {
			d.core.DirectRows, d.core.DirectCrowded = math.MaxInt, math.MaxInt
		}
	}
	plan := &schedule.Plan{}
	args := &schedule.Kernel{Name: t.g.Name, Work: t.g}
	t.status = make([]int64, t.g.Slots)
	r := &binding{module: &module{device: d, plan: plan, holder: d.shelf.NewHolder()}, env: t.env, kernel: args, workers: workers, status: t.status}
	var guards []*jit.Guarded
	for i, data := range t.data {
		var g *jit.Guarded
		var err error
		if front {
			g, err = jit.AllocGuardedFront(len(data))
		} else {
			g, err = jit.AllocGuarded(len(data), 1)
		}
		if err != nil {
			tb.Fatal(err)
		}
		copy(g.Bytes(), data)
		guards = append(guards, g)
		kind := schedule.LeafBuffer
		if t.g.Params[i].Use != loop.Read {
			kind = schedule.OutputBuffer
		}
		plan.Buffers = append(plan.Buffers, schedule.Buffer{Kind: kind})
		args.Args = append(args.Args, i)
		b, at := makeBuffer(g.Bytes(), nil), g.Pointer()
		if w := t.weights[i]; w != nil {
			b, at = w, w.pointer()
		}
		r.params, r.ptrs = append(r.params, b), append(r.ptrs, at)
	}
	step, err := k.bind(r)
	if err != nil {
		tb.Fatal(err)
	}
	t.bound = r
	return step, guards, func() {
		r.close()
		for i, g := range guards {
			if err := g.Close(); err != nil {
				tb.Errorf("param %s: %v", t.g.Params[i].Name, err)
			}
		}
	}
}

// run runs the kernel once and returns what the buffers hold then.
func (t *gemmTest) run(tb testing.TB, d *Device, k kernel, workers int, front bool) [][]byte {
	tb.Helper()
	step, guards, done := t.bindGuarded(tb, d, k, workers, front)
	defer done()
	if s, ok := step.(*gemmStep); ok {
		t.linear, t.past = s.linear, s.tiles.past() && s.gemmPlan.past
	}
	if err := d.pool.RunSteps(context.Background(), []jit.Step{step}, workers); err != nil {
		tb.Fatal(err)
	}
	return copiesOf(guards)
}

func copiesOf(guards []*jit.Guarded) (all [][]byte) {
	for _, g := range guards {
		all = append(all, slices.Clone(g.Bytes()))
	}
	return all
}

// shortDevices are a device for each instruction set of this machine and, where
// they have instructions for bytes or bf16, as many without; of arm64 one without
// matrix instructions, and one without dot products too.
func shortDevices(tb testing.TB) []*Device {
	all := withSlow(tb)
	for _, d := range machines(tb) {
		formats := []x86.GemmFormat{x86.GemmBF16, x86.GemmBytes}
		has := func(f x86.GemmFormat) bool { return x86.HasGemm(d.target(), f, &d.has) }
		if d.isa == Generic || d.isa == NEON || !slices.ContainsFunc(formats, has) {
			continue
		}
		d.has.AVX512VNNI, d.has.AVX512BF16, d.has.AVXVNNI = false, false, false
		all = append(all, d)
	}
	all = append(all, onNEON(tb, func(has *cpuid.Features) bool {
		found := has.I8MM || has.BF16
		has.I8MM, has.BF16 = false, false
		return found
	})...)
	return append(all, onNEON(tb, func(has *cpuid.Features) bool {
		found := has.DotProd
		has.I8MM, has.BF16, has.DotProd = false, false, false
		return found
	})...)
}

// onNEON is a device of an arm64 processor that lacks what without takes away;
// none where it takes nothing.
func onNEON(tb testing.TB, without func(*cpuid.Features) bool) []*Device {
	if host := cpuid.Host(); !host.NEON {
		return nil
	}
	d, err := New(Options{ISA: NEON})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = d.Close() })
	if !without(&d.has) {
		return nil
	}
	return []*Device{d}
}

func (t *gemmTest) check(tb testing.TB, name string, got, want [][]byte) {
	tb.Helper()
	for i := range want {
		if d := firstDifference(got[i], want[i]); d >= 0 {
			tb.Errorf("%s: param %s differs first at byte %d of %d", name, t.g.Params[i].Name, d, len(want[i]))
			return
		}
	}
}

func firstDifference(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

// Every form of operand and epilogue, sizes around the tile's edges: the bits
// of the interpreted loops, whatever the number of workers.
func TestGemmForms(t *testing.T) {
	for _, dtype := range []string{"", "f64", "bf16", "int8"} {
		t.Run(dtype, func(t *testing.T) { testForms(t, dtype) })
	}
}

func testForms(t *testing.T, dtype string) {
	rng := rand.New(rand.NewPCG(1, 2))
	devices := machines(t)
	if dtype == "bf16" || dtype == "int8" {
		devices = shortDevices(t)
	}
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	linear := map[*Device]int{}
	for range 60 {
		size := gemmSize{1 + rng.IntN(3), rng.IntN(20), rng.IntN(140), rng.IntN(40)}
		if rng.IntN(3) > 0 {
			size.batch = 1
		}
		c := gemmCase{
			size: size, syms: pick("", "m", "m", "b", "mk", "bmnk", "n"),
			x: pick("plain", "plain", "wide", "transposed", "relu", "step"),
			y: pick("plain", "transposed", "scaled", "turned", "turned", "shared"), out: pick("plain", "bias", "residual", "transposed", "bf16", "two"),
			const_: rng.IntN(2) == 0, ints: rng.IntN(2) == 0, dtype: dtype,
		}
		if dtype == "bf16" {
			c.ints = true // rounds otherwise than the loops
		}
		test := c.build(rng)
		want := test.reference(t)
		for _, d := range devices {
			if d.isa == Generic && dtype == "" && !c.ints { // rounds each product
				continue
			}
			k := test.compile(t, d)
			for _, workers := range []int{1, 3} {
				test.check(t, fmt.Sprintf("%v %v %d workers", c, d.isa, workers), test.run(t, d, k, workers, rng.IntN(2) == 0), want)
			}
			if test.linear {
				linear[d]++
			}
		}
		if t.Failed() {
			return
		}
	}
	for _, d := range devices {
		if (dtype == "" || dtype == "bf16") && d.planTarget().TurnProducts && linear[d] < 5 {
			t.Errorf("%v: %d epilogues were left to tile kernels", d.isa, linear[d])
		}
	}
}
