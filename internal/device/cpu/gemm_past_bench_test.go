package cpu

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/jit"
)

// BenchmarkGemmPast reports the time of products whose results go past the caches as a
// part of the time through them, on one thread and in turns, and the same of a product with
// a loop behind it that reads the results: medians of the rounds. First when the caches were
// others' meanwhile, then again at once. Core.Past says from how many bytes on which
// processors do so.
func BenchmarkGemmPast(b *testing.B) {
	d, err := New(Options{ISA: AVX512})
	if err != nil {
		b.Skip(err)
	}
	defer func() { _ = d.Close() }()
	for _, c := range []gemmCase{
		{size: gemmSize{1, 1913, 3253, 37}, dtype: "int8"}, {size: gemmSize{1, 1913, 3264, 37}, dtype: "int8"}, {size: gemmSize{1, 2071, 2054, 61}, dtype: "int8"}, {size: gemmSize{1, 1913, 3253, 64}, dtype: "int8"},
		{size: gemmSize{1, 640, 3253, 37}, dtype: "int8"}, {size: gemmSize{1, 1280, 3253, 37}, dtype: "int8"}, {size: gemmSize{1, 4000, 3253, 37}, dtype: "int8"},
		{size: gemmSize{1, 1913, 3253, 4}, dtype: "f32"}, {size: gemmSize{1, 1913, 3253, 8}, dtype: "f32"}, {size: gemmSize{1, 1913, 3253, 16}, dtype: "f32"},
	} {
		c.const_ = true
		for _, again := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/%dx%dx%d/again=%v", c.dtype, c.size.rows, c.size.cols, c.size.k, again), func(b *testing.B) { benchPast(b, d, c.orPlain(), again) })
		}
	}
}

func benchPast(b *testing.B, d *Device, c gemmCase, again bool) {
	runtime.LockOSThread() // for clock
	defer runtime.UnlockOSThread()
	test := c.build(rand.New(rand.NewPCG(1, 2)))
	var steps [2]jit.Step
	for i, least := range []int{math.MaxInt, 1} {
		d.core.Past = least
		step, done := test.bind(b, d, test.compile(b, d), 1)
		defer done()
		if step.(*gemmStep).tiles.past() != (i == 1) {
			b.Fatalf("past the caches: %v", i == 0)
		}
		steps[i] = step
	}
	run := func(step jit.Step, read bool) float64 {
		start := clock()
		if err := d.pool.RunSteps(context.Background(), []jit.Step{step}, 1); err != nil {
			b.Fatal(err)
		}
		if read {
			s := step.(*gemmStep)
			wordSum += sumWords(unsafe.Slice((*uint64)(s.ptrs[s.kernel.out.Param]), s.rows*s.cols/2))
		}
		return (clock() - start).Seconds()
	}
	var alone, behind, seconds []float64
	others := make([]uint64, 8<<20)
	for i := range others {
		others[i] = uint64(i)
	}
	for b.Loop() {
		for _, s := range steps {
			for _, read := range []bool{false, true} {
				if wordSum += sumWords(others); again {
					run(s, false)
				}
				seconds = append(seconds, run(s, read))
			}
		}
		t := seconds[len(seconds)-4:]
		alone, behind = append(alone, t[2]/t[0]), append(behind, t[3]/t[1])
	}
	for unit, ratios := range map[string][]float64{"past/cached": alone, "read-past/cached": behind} {
		slices.Sort(ratios)
		b.ReportMetric(ratios[len(ratios)/2], unit)
	}
	b.ReportMetric(0, "ns/op")
}

var wordSum uint64

// sumWords reads words at about the rate at which memory delivers them.
func sumWords(words []uint64) (sum uint64) {
	var a, b, c, d uint64
	for ; len(words) >= 8; words = words[8:] {
		a += words[0] + words[4]
		b += words[1] + words[5]
		c += words[2] + words[6]
		d += words[3] + words[7]
	}
	return a + b + c + d
}
