package cpu

import (
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/template"
)

// profiled keeps the kernels of the last run.
type profiled struct{ kernels []device.KernelRun }

func (p *profiled) Record(_ device.Module, kernels []device.KernelRun) { p.kernels = kernels }

// Attention is profiled on every instruction set: what its products are, where
// they are not loops, in which format, and what it moves.
func TestAttentionProfile(t *testing.T) {
	for _, d := range machines(t) {
		for _, stored := range []bool{false, true} {
			a := &attentionTest{attr: ir.AttentionAttr{Ragged: true, Causal: true}, heads: 3, kvHeads: 3, width: 8, vWidth: 8,
				qLens: []int{3, 2}, kLens: []int{3, 2}, layout: "merged", short: stored, stored: stored}
			a.build(rand.New(rand.NewPCG(1, 13)))
			p := &profiled{}
			run, done := a.bind(t, d, p)
			if err := run(); err != nil {
				t.Fatal(err)
			}
			done()
			if len(p.kernels) != 1 {
				t.Fatalf("%v: %d kernels", d.ISA(), len(p.kernels))
			}
			k, rows := &p.kernels[0], float64(5*3*8)
			products, format, element := float64(2*3*16*(1+2+3+1+2)), template.Single, 4.0
			if stored {
				element = 2
				if d.target() == x86.AVX512 && d.has.AVX512BF16 {
					format = template.BF16
				}
			}
			if d.ISA() == Generic { // products are operations of loops, and not counted
				products = 0
			}
			if k.Products != products || products > 0 && k.Format != format.String() {
				t.Errorf("%v: %v products in %q, want %v in %q", d.ISA(), k.Products, k.Format, products, format.String())
			}
			if moved := 3*rows*element + 2*4*3; k.Read != moved || k.Written != 4*rows {
				t.Errorf("%v: read %v and wrote %v bytes, want %v and %v", d.ISA(), k.Read, k.Written, moved, 4*rows)
			}
		}
	}
}
