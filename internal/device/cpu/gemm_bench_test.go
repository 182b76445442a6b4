package cpu

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/jit"
)

// nineShapes are rows x cols x k of the products that the project is judged by.
var nineShapes = [][3]int{
	{512, 512, 512}, {1024, 1024, 1024}, {2048, 2048, 2048},
	{1024, 384, 384}, {1024, 1536, 384}, {1024, 384, 1536},
	{4096, 384, 384}, {4096, 1536, 384}, {4096, 384, 1536},
}

// fewRows are products of a sentence encoder for one short text.
var fewRows = [][3]int{
	{1, 1536, 384}, {1, 384, 1536}, {12, 384, 384}, {12, 1152, 384}, {12, 1536, 384}, {12, 384, 1536}, {128, 1152, 384}, {128, 384, 1536},
}

// drawnShapes are random ones, a third of the sizes prime.
func drawnShapes(n int, seed uint64) [][3]int {
	rng := rand.New(rand.NewPCG(seed, 0))
	size := func(lo int) int {
		for {
			v := lo + rng.IntN(4097-lo)
			if rng.IntN(3) > 0 || prime(v) {
				return v
			}
		}
	}
	var all [][3]int
	for range n {
		all = append(all, [3]int{size(1), size(16), size(16)})
	}
	return all
}

func prime(n int) bool {
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return n > 1
}

// clock is the time since some moment. On Linux it counts only what this
// thread ran, so that neighbours on the same core do not show.
var clock = func() time.Duration { return time.Since(begin) }

var begin = time.Now()

// peakRate is multiply-adds' operations a second, measured for about 2 ms.
func peakRate(code *jit.Code, flops int) float64 {
	rounds := int64(200_000_000 / flops)
	start := clock()
	jit.Call(code.Entry(0), unsafe.Pointer(&rounds))
	return float64(rounds) * float64(flops) / (clock() - start).Seconds()
}

// BenchmarkGemm reports the share of the peak loop's rate, each round measured
// beside it, the median of the rounds, and the rate of the fastest. The loop has the instruction that the
// product's format is multiplied by.
func BenchmarkGemm(b *testing.B) {
	for _, isa := range []ISA{AMXFP16, AMX, AVX512, AVX2} {
		d, err := New(Options{ISA: isa})
		if err != nil {
			b.Logf("without %v: %v", isa, err)
			continue
		}
		for _, set := range []struct {
			name   string
			shapes [][3]int
		}{{"nine", nineShapes}, {"few", fewRows}, {"drawn", drawnShapes(20, 1)}} {
			for _, s := range set.shapes {
				for _, dtype := range []string{"f32", "f64", "bf16", "int8"} {
					for _, out := range []string{"plain", "bias", "gelu"} {
						b.Run(fmt.Sprintf("%v/%s/%s/%s/%dx%dx%d", isa, dtype, set.name, out, s[0], s[1], s[2]), func(b *testing.B) {
							benchGemm(b, d, gemmCase{size: gemmSize{1, s[0], s[1], s[2]}, x: "plain", y: "plain", out: out, const_: true, dtype: dtype})
						})
					}
				}
			}
		}
		_ = d.Close()
	}
}

// BenchmarkGemmForms is BenchmarkGemm for operands that are not constant or
// lie otherwise in memory: training and attention have them.
func BenchmarkGemmForms(b *testing.B) {
	d, err := New(Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	for _, f := range []struct{ x, y string }{{"plain", "plain"}, {"plain", "transposed"}, {"transposed", "plain"}, {"relu", "plain"}} {
		for _, s := range []gemmSize{{1, 128, 512, 784}, {1, 2048, 384, 384}, {1, 384, 1536, 2048}, {96, 128, 128, 32}, {96, 128, 32, 128}} {
			for _, dtype := range []string{"f32", "f64", "bf16"} {
				b.Run(fmt.Sprintf("%s/%s-%s/%dx%dx%dx%d", dtype, f.x, f.y, s.batch, s.rows, s.cols, s.k), func(b *testing.B) {
					benchGemm(b, d, gemmCase{size: s, x: f.x, y: f.y, out: "plain", dtype: dtype})
				})
			}
		}
	}
}

// trainingProducts are those of a linear layer in a training step: the result,
// the gradient of what it is given, and that of its weight, which lies as
// [out, in]. All operands change from step to step.
var trainingProducts = []struct{ name, x, y string }{
	{"forward", "plain", "transposed"}, {"input", "plain", "plain"}, {"weight", "transposed", "plain"},
}

// trainingLayers are tokens x in x out of the layers of a perceptron and of two
// small GPTs.
var trainingLayers = [][3]int{
	{128, 784, 512}, {128, 512, 512}, {128, 512, 10},
	{768, 128, 384}, {768, 128, 128}, {768, 128, 512}, {768, 512, 128}, {768, 128, 65},
	{2048, 384, 1152}, {2048, 384, 384}, {2048, 384, 1536}, {2048, 1536, 384}, {2048, 384, 65},
}

// BenchmarkGemmTraining is BenchmarkGemm for the products of training steps.
func BenchmarkGemmTraining(b *testing.B) {
	for _, isa := range []ISA{AMXFP16, AMX, AVX512, AVX2} {
		d, err := New(Options{ISA: isa})
		if err != nil {
			b.Logf("without %v: %v", isa, err)
			continue
		}
		for _, l := range trainingLayers {
			tokens, in, out := l[0], l[1], l[2]
			sizes := []gemmSize{{1, tokens, out, in}, {1, tokens, in, out}, {1, out, in, tokens}}
			for i, p := range trainingProducts {
				s := sizes[i]
				b.Run(fmt.Sprintf("%v/%s/%dx%dx%d", isa, p.name, s.rows, s.cols, s.k), func(b *testing.B) {
					benchGemm(b, d, gemmCase{size: s, x: p.x, y: p.y, out: "plain"})
				})
			}
		}
		_ = d.Close()
	}
}

// BenchmarkGemmPack is the time to bring ten million weights into the order of
// tile kernels, on one thread.
func BenchmarkGemmPack(b *testing.B) {
	d, err := New(Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	for _, dtype := range []string{"f32", "f64", "bf16", "int8"} {
		for _, y := range []string{"plain", "transposed", "scaled", "turned"} {
			b.Run(dtype+"/"+y, func(b *testing.B) {
				c := gemmCase{size: gemmSize{1, 1, 5120, 2048}, x: "plain", y: y, out: "plain", const_: true, dtype: dtype}
				test := c.build(rand.New(rand.NewPCG(1, 2)))
				step, done := test.bind(b, d, test.compile(b, d), 1)
				defer done()
				s := step.(*gemmStep)
				r := &binding{module: &module{device: d, holder: d.shelf.NewHolder()}, env: test.env, ptrs: s.ptrs, workers: 1}
				defer r.close()
				for b.Loop() {
					mem, _, err := s.packAll(r)
					if err != nil {
						b.Fatal(err)
					}
					_ = mem.Close()
				}
			})
		}
	}
}

func benchGemm(b *testing.B, d *Device, c gemmCase) {
	runtime.LockOSThread() // for clock
	defer runtime.UnlockOSThread()
	test := c.build(rand.New(rand.NewPCG(1, 2)))
	step, done := test.bind(b, d, test.compile(b, d), 1)
	defer done()
	text, flops, err := x86.PeakLoop(d.target(), step.(*gemmStep).tiles.Format)
	if err != nil {
		b.Fatal(err)
	}
	peak, err := jit.Map(text)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = peak.Close() }()
	work := 2 * float64(c.size.batch) * float64(c.size.rows) * float64(c.size.cols) * float64(c.size.k)
	runs := max(1, int(1e9*float64(c.format().Group())/work))
	var shares []float64
	best := 0.0 // operations a second
	for b.Loop() {
		rate := peakRate(peak, flops)
		start := clock()
		for range runs {
			if err := d.pool.RunSteps(context.Background(), []jit.Step{step}, 1); err != nil {
				b.Fatal(err)
			}
		}
		reached := work * float64(runs) / (clock() - start).Seconds()
		best = max(best, reached)
		shares = append(shares, reached/rate)
	}
	slices.Sort(shares)
	b.ReportMetric(shares[len(shares)/2], "share")
	b.ReportMetric(best/1e9, "GFLOP/s")
	b.ReportMetric(0, "ns/op")
}
