package cpu

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/emit/x86"
)

// With AVX2 few rows of f32 fetch panels of weights that the second cache does not hold,
// and give the same bits.
func TestGemmFetching(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 72))
	for _, d := range machines(t) {
		if d.isa != AVX2 {
			continue
		}
		d.core.L2 = 64 << 10 // of which 32 kB may be B
		for _, c := range []struct {
			rows, cols, k int
			variable      bool
			want          x86.GemmForm
		}{
			{12, 90, 100, false, x86.GemmFetching},
			{1, 33, 1100, false, x86.GemmFetching}, // three blocks of k
			{24, 97, 90, false, x86.GemmFetching},
			{25, 97, 90, false, x86.GemmPanels},
			{12, 80, 100, false, x86.GemmPanels},
			{12, 90, 100, true, x86.GemmPanels},
		} {
			test := gemmCase{size: gemmSize{1, c.rows, c.cols, c.k}, x: "plain", y: "plain", out: "bias", const_: !c.variable, ints: true}.build(rng)
			want := test.reference(t)
			k := test.compile(t, d)
			for workers := 1; workers <= 2; workers++ {
				step, _, done := test.bindGuarded(t, d, k, workers, false)
				if got := step.(*gemmStep).tiles.Form; got != c.want {
					t.Errorf("%+v: tiles of form %d", c, got)
				}
				done()
				test.check(t, fmt.Sprintf("%+v, %d workers", c, workers), test.run(t, d, k, workers, false), want)
			}
		}
	}
}
