package cpu

import (
	"context"
	"fmt"
	"math/rand/v2"
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
	test := c.build(rand.New(rand.NewPCG(1, 2)))
	var steps [2]jit.Step
	for i, least := range []int{1 << 50, 1} {
		d.core.Past = least
		step, done := test.bind(b, d, test.compile(b, d), 1)
		defer done()
		if step.(*gemmStep).tiles.past() != (i == 1) {
			b.Fatalf("past the caches: %v", i == 0)
		}
		steps[i] = step
	}
	t := newTurns(b, again)
	for b.Loop() {
		for i, step := range steps {
			s := step.(*gemmStep)
			t.time(i, func() {
				if err := d.pool.RunSteps(context.Background(), []jit.Step{step}, 1); err != nil {
					b.Fatal(err)
				}
			}, unsafe.Slice((*byte)(s.ptrs[s.kernel.out.Param]), s.word*s.rows*s.cols))
		}
	}
	t.report("past/cached")
}
