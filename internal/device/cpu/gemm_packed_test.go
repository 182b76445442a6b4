package cpu

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/loop"
)

// A step that many workers share gives the bits of one worker, also when it runs
// again on other numbers: what was packed for the last run is not used.
func TestGemmPackedAgain(t *testing.T) {
	for _, c := range []gemmCase{
		{size: gemmSize{1, 400, 330, 130}, x: "plain", y: "plain", out: "plain"},
		{size: gemmSize{1, 330, 200, 1100}, x: "transposed", y: "plain", out: "bias"},
		{size: gemmSize{2, 500, 150, 600}, x: "plain", y: "transposed", out: "gelu"},
		{size: gemmSize{2, 500, 40, 120}, x: "plain", y: "shared", out: "plain"},
		{size: gemmSize{1, 600, 1300, 200}, x: "plain", y: "plain", out: "plain"},
		{size: gemmSize{1, 330, 200, 1100}, x: "transposed", y: "plain", out: "bias", dtype: "f64"},
		{size: gemmSize{1, 300, 700, 300}, x: "transposed", y: "plain", out: "plain", dtype: "bf16"},
	} {
		t.Run(c.String(), func(t *testing.T) {
			for _, d := range withSlow(t) {
				if d.isa == Generic {
					continue // loops keep nothing from run to run
				}
				test := c.build(rand.New(rand.NewPCG(1, 2)))
				k := test.compile(t, d)
				alone, ours, endAlone := test.bindGuarded(t, d, k, 1, false)
				defer endAlone()
				for workers := 2; workers <= 3; workers++ {
					step, theirs, end := test.bindGuarded(t, d, k, workers, false)
					if s, ok := step.(*gemmStep); ok && s.workers[0].packed.have == nil && s.batch == 1 && s.rowParts > 1 {
						t.Errorf("%v: nothing is kept for %d tasks", d.isa, s.tasks())
					}
					for run := range 3 {
						rng := rand.New(rand.NewPCG(uint64(run), 3))
						for i, p := range test.g.Params {
							if p.Use == loop.Read {
								copy(ours[i].Bytes(), randomElements(rng, p.DType, len(ours[i].Bytes())/p.DType.Size(), false))
								copy(theirs[i].Bytes(), ours[i].Bytes())
							}
						}
						for _, s := range []struct {
							step    jit.Step
							workers int
						}{{alone, 1}, {step, workers}} {
							if err := d.pool.RunSteps(context.Background(), []jit.Step{s.step}, s.workers); err != nil {
								t.Fatal(err)
							}
						}
						for i := range ours {
							if !slices.Equal(ours[i].Bytes(), theirs[i].Bytes()) {
								t.Fatalf("%v: %d workers, run %d: %s differs", d.isa, workers, run, test.g.Params[i].Name)
							}
						}
					}
					end()
				}
			}
		})
	}
}
