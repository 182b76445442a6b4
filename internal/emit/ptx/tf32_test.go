package ptx_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/ptx"
	"github.com/sinterml/sinter/internal/ir"
)

// tf32Case multiplies matrices as they lie and turned, with a bias behind them,
// and once as it is written, which stays f32.
func tf32Case(fill suite.Fill, k int) *suite.Case {
	sizes := []ir.Env{{"M": 0}, {"M": 3}, {"M": 16}, {"M": 130}}
	if k > 100 && effort.Less() { // long sums, of few rows
		sizes = sizes[1:2]
	}
	return &suite.Case{Name: "tf32", Sizes: sizes, Build: func(b *suite.Builder) []*ir.Node {
		m, wide, cols := ir.Sym("M", 0, 4096), ir.N(k), ir.N(36)
		swap := ir.Attr{Axes: []int{1, 0}}
		x, w := b.Input(ir.F32, fill, m, wide), b.Input(ir.F32, suite.Ordinary, wide, cols)
		xt, wt := b.Add(ir.Permute, swap, b.Input(ir.F32, fill, wide, m)), b.Add(ir.Permute, swap, b.Input(ir.F32, suite.Ordinary, cols, wide))
		bias := b.Add(ir.Expand, ir.Attr{Shape: ir.Shape{m, cols}}, b.Input(ir.F32, suite.Ordinary, ir.N(1), cols))
		product := func(x, w *ir.Node, allowed bool) *ir.Node {
			return b.Add(ir.Add, ir.Attr{}, b.Add(ir.MatMul, ir.Attr{TF32: allowed}, x, w), bias)
		}
		return []*ir.Node{product(x, w, true), product(x, wt, true), product(xt, w, true), product(xt, wt, true), product(x, w, false)}
	}}
}

// TestTF32 compares products of f32 that may be rounded with the referee, whose
// bound knows what each operand loses. Operands lie in all ways, can be copied and
// cannot, and may be infinite, NaN, or too large to be rounded.
func TestTF32(t *testing.T) {
	few := suite.Given(1, -3, 0.25, 1024, -0.5)
	special := suite.Given(1, math.Inf(1), 3, -1, math.NaN(), 2, 0.5, 1e-40, -7, 0, 3.402e38, 1, 1, 1, 1, 1, 1, 1, 1)
	for _, target := range targets {
		d, err := launch.New(&backend{target: target}, launch.Options{Kind: "ptx", Shape: target.Shape(), Units: 4})
		if err != nil {
			t.Fatal(err)
		}
		for i, fill := range []suite.Fill{suite.Ordinary, suite.Special, few, special} {
			for _, k := range []int{20, 35, 600} {
				if k == 600 && i > 0 || quick() && (k == 20 || i%3 != 0) || effort.Now() == effort.CI && k != 600 && (k == 20) != (i%2 == 0) {
					continue
				}
				cs := tf32Case(fill, k)
				if err := cs.Run(context.Background(), d, device.Options{Check: true}); err != nil {
					t.Errorf("%v, operands %d, %d wide: %v", target, i, k, err)
				}
			}
		}
		// The product that is written so is a kernel of its own.
		units, plain := 0, 0
		for _, k := range kernelsOf(t, target, []*suite.Case{tf32Case(few, 20)}) {
			p, err := ptx.Write(target, []*entry.Kernel{k})
			switch {
			case err != nil:
				t.Error(err)
			case strings.Contains(p.Source, ".tf32.tf32."):
				units++
			case k.Gemm != nil:
				plain++
			}
		}
		want := []int{4, 1}
		if target.SM < 80 {
			want = []int{0, 5}
		}
		if got := []int{units, plain}; !slices.Equal(got, want) {
			t.Errorf("%v: %d products on units for matrices and %d not, want %d", target, units, plain, want)
		}
	}
}
