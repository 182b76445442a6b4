package cpu

import (
	"fmt"
	"testing"

	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/ir"
)

// BenchmarkAttentionGrad reports the rate of the five products, counting pairs
// that are visible alone, and its share of the peak loop's; the medians of the
// rounds. The shapes are those of the GPTs that bench train runs, and a long one.
func BenchmarkAttentionGrad(b *testing.B) {
	for _, isa := range []ISA{AMX, AVX512, AVX2} {
		d, err := New(Options{ISA: isa, Threads: 1})
		if err != nil {
			b.Logf("without %v: %v", isa, err)
			continue
		}
		for _, c := range []struct{ sequences, length, heads, kvHeads, width int }{{8, 256, 6, 6, 64}, {12, 64, 4, 4, 32}, {1, 2048, 8, 2, 128}} {
			a := &attentionTest{attr: ir.AttentionAttr{Causal: true}, heads: c.heads, kvHeads: c.kvHeads, width: c.width, vWidth: c.width, layout: "rows", grads: []int{0, 1, 2}, alone: true}
			for range c.sequences {
				a.qLens, a.kLens = append(a.qLens, c.length), append(a.kLens, c.length)
			}
			b.Run(fmt.Sprintf("%v/%dx%dx%dx%d", isa, c.sequences, c.length, c.heads, c.width), func(b *testing.B) { benchGradient(b, d, a) })
		}
		_ = d.Close()
	}
}

func benchGradient(b *testing.B, d *Device, a *attentionTest) {
	work := 0.0
	for i, n := range a.qLens {
		pairs := float64(n) * float64(a.kLens[i]+1) / 2
		work += pairs * float64(2*a.heads*(3*a.width+2*a.vWidth))
	}
	b.ReportMetric(1e3*a.measure(b, d, x86.GemmF32, work), "ms")
}
