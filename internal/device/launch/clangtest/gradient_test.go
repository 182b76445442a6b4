package clangtest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/emit/cstyle"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
	"github.com/sinterml/sinter/internal/ir"
)

// TestGradientRegisters compiles gradients of attention with heads of usual sizes
// in the shape of AMD's GPUs: no value is spilled.
func TestGradientRegisters(t *testing.T) {
	if effort.Now() < effort.CI {
		t.Skip("the compiler takes ten seconds: set SINTER_CI")
	}
	c := Find(t)
	shape := entry.Shape{Items: 256, Near: 32 << 10, Shared: 64 << 10}
	for _, width := range []int{64, 128} {
		s := flattest.Attended{Batch: 1, Heads: 4, KVHeads: 2, Queries: 1, Keys: 1, Width: width}
		a, _ := flattest.AttentionGrad(rand.New(rand.NewPCG(1, 0)), ir.F32, s, ir.AttentionAttr{Scale: 0.125, Causal: true})
		p, err := cstyle.HIP.Write([]*entry.Kernel{shape.AttentionGrad(fmt.Sprintf("attentiongrad_%d", width), a)})
		if err != nil {
			t.Fatal(err)
		}
		for _, arch := range architectures {
			kernels, err := c.HIP(t.Context(), arch, p.Source)
			if err != nil {
				t.Fatal(err)
			}
			report(t, kernels)
		}
	}
}
