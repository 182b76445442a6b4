package cpu

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
)

// BenchmarkAttention reports the rate of the two products, 4*T*T*width
// operations a head and sequence whatever a mask leaves out, and its share of
// the peak loop's in the format that it multiplies in, each round measured beside it; the
// medians of the rounds.
func BenchmarkAttention(b *testing.B) {
	for _, isa := range []ISA{AMX, AVX512, AVX2} {
		d, err := New(Options{ISA: isa, Threads: 1})
		if err != nil {
			b.Logf("without %v: %v", isa, err)
			continue
		}
		for _, c := range []struct {
			sequences, length, heads, kvHeads, width int
			causal                                   bool
		}{{8, 128, 12, 12, 32, false}, {32, 16, 12, 12, 32, false}, {8, 256, 12, 12, 64, false}, {1, 2048, 8, 2, 128, true}, {12, 64, 4, 4, 32, true}, {64, 37, 12, 12, 32, false}} {
			a := &attentionTest{attr: ir.AttentionAttr{Ragged: true, Causal: c.causal}, heads: c.heads, kvHeads: c.kvHeads, width: c.width, vWidth: c.width, layout: "merged"}
			for range c.sequences {
				a.qLens, a.kLens = append(a.qLens, c.length), append(a.kLens, c.length)
			}
			for _, format := range []x86.GemmFormat{x86.GemmF32, x86.GemmBF16} {
				if !x86.HasGemm(d.target(), format, &d.has) {
					continue
				}
				a.short, a.stored = format == x86.GemmBF16, format == x86.GemmBF16
				peak := format
				if a.short && d.widens {
					peak = x86.GemmF32
				}
				b.Run(fmt.Sprintf("%v/%v/%dx%dx%dx%d causal=%v", isa, format, c.sequences, c.length, c.heads, c.width, c.causal), func(b *testing.B) {
					benchAttention(b, d, a, peak)
				})
			}
		}
		_ = d.Close()
	}
}

func benchAttention(b *testing.B, d *Device, a *attentionTest, format x86.GemmFormat) {
	work := 0.0
	for i := range a.qLens {
		work += 4 * float64(a.heads) * float64(a.qLens[i]) * float64(a.kLens[i]) * float64(a.width)
	}
	b.ReportMetric(work/a.measure(b, d, format, work)/1e9, "GFLOP/s")
}

// measure reports what share of the peak loop's rate the work of a run is done
// at, and returns the seconds that it takes; medians of the rounds.
func (a *attentionTest) measure(b *testing.B, d *Device, format x86.GemmFormat, work float64) float64 {
	runtime.LockOSThread() // for clock
	defer runtime.UnlockOSThread()
	text, flops, err := x86.PeakLoop(d.target(), format)
	if err != nil {
		b.Fatal(err)
	}
	peak, err := jit.Map(text)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = peak.Close() }()
	a.build(rand.New(rand.NewPCG(1, 2)))
	run, done := a.bind(b, d, nil)
	defer done()
	runs := max(1, int(5e8/work))
	var shares, times []float64
	for b.Loop() {
		bound := peakRate(peak, flops)
		start := clock()
		for range runs {
			if err := run(); err != nil {
				b.Fatal(err)
			}
		}
		took := (clock() - start).Seconds() / float64(runs)
		shares, times = append(shares, work/took/bound), append(times, took)
	}
	slices.Sort(shares)
	slices.Sort(times)
	b.ReportMetric(shares[len(shares)/2], "share")
	b.ReportMetric(0, "ns/op")
	return times[len(times)/2]
}

// bind compiles the graph and returns what runs it.
func (a *attentionTest) bind(tb testing.TB, d *Device, record device.Recorder) (run func() error, done func()) {
	ctx := context.Background()
	m, err := d.CompileGraph(ctx, a.g, device.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	bound := &device.Bound{Module: m, Env: a.env, Record: record}
	for _, l := range a.leaves {
		bound.Leaves = append(bound.Leaves, must(d.Import(l)))
	}
	for _, o := range a.g.Outputs {
		n := must(o.Shape.Numel().Eval(a.env))
		bound.Outputs = append(bound.Outputs, must(d.Alloc(n*o.DType.Size())))
	}
	run = func() error {
		ev, err := d.Submit(ctx, bound)
		if err != nil {
			return err
		}
		return ev.Wait(ctx)
	}
	return run, func() { _ = m.Close() }
}

// Compiling an attention is quick: its parts alone are emitted.
func BenchmarkAttentionCompile(b *testing.B) {
	d, err := New(Options{Threads: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	a := &attentionTest{attr: ir.AttentionAttr{Ragged: true}, heads: 12, kvHeads: 12, width: 32, vWidth: 32, layout: "merged", qLens: []int{8}, kLens: []int{8}, symbolic: true}
	a.build(rand.New(rand.NewPCG(1, 2)))
	plan, err := Plan(a.g, device.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		m, err := d.build(plan, true, device.Options{}, nil)
		if err != nil {
			b.Fatal(err)
		}
		_ = m.Close()
	}
}
