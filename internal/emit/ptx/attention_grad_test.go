package ptx_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/ir"
)

// TestAttentionGrad compares gradients of attentions that are drawn with the
// referee: of all widths up to 128, grouped heads, NaN and infinities among the
// operands.
func TestAttentionGrad(t *testing.T) {
	target := targets[1]
	d, err := launch.New(&backend{target: target}, launch.Options{Kind: "ptx", Shape: target.Shape(), Units: 4})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range effort.Of(4, 4, 8, 16) {
		rng := rand.New(rand.NewPCG(uint64(seed), 5))
		c := drawnGradient(rng)
		t.Run(c.String(), func(t *testing.T) {
			cs := &suite.Case{Name: c.String(), Sizes: c.sizes, Build: func(b *suite.Builder) []*ir.Node { return suite.Gradients(b, c.node(b)) }}
			kernels := kernelsOf(t, target, []*suite.Case{cs})
			if !slices.ContainsFunc(kernels, func(k *entry.Kernel) bool { return k.Own != nil && k.Tile.Depth == 0 }) {
				t.Error("the gradient does not go by tiles")
			}
			if err := cs.Run(context.Background(), d, device.Options{Check: true}); err != nil {
				t.Error(err)
			}
		})
	}
}

// drawnGradient draws an attention, and lengths of which some are 0.
func drawnGradient(rng *rand.Rand) attendCase {
	pick := func(from ...int) int { return from[rng.IntN(len(from))] }
	group := pick(1, 1, 2, 3)
	c := attendCase{dtype: ir.F32, half: ir.F32, width: pick(1, 5, 16, 17, 32, 64, 80, 127, 128), kvHeads: pick(1, 2), keys: suite.Ordinary, values: suite.Ordinary}
	c.heads, c.vWidth = c.kvHeads*group, pick(c.width, c.width, 1, 3, 40)
	if rng.IntN(3) == 0 {
		c.half = ir.BF16
	}
	c.attr = ir.AttentionAttr{Scale: 0.3, Causal: rng.IntN(2) == 0, Ragged: rng.IntN(2) == 0, Mask: rng.IntN(3) == 0}
	if rng.IntN(2) == 0 {
		c.attr.Window = pick(1, 5, 40, math.MaxInt32)
	}
	if rng.IntN(3) == 0 {
		c.attr.SoftCap = 2
	}
	if rng.IntN(2) == 0 {
		c.keys, c.values = odd(500), odd(50)
	}
	for range 3 {
		env := ir.Env{"Q": pick(1, 7, 40, 70), "K": pick(1, 9, 33, 65)}
		c.sizes = append(c.sizes, env)
	}
	c.sizes = append(c.sizes, ir.Env{"Q": 0, "K": 3}, ir.Env{"Q": 3, "K": 0})
	for _, env := range c.sizes {
		if c.attr.Ragged {
			env["B"] = pick(1, 2, 4)
		}
	}
	return c
}
