package ptx_test

import (
	"context"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/ptx"
	"github.com/sinterml/sinter/internal/ir"
)

// layerCase is a product of data with a weight that lies turned, and one of two
// values that are computed, their operands rounded to a format, if that is one, as
// a precision has it.
func layerCase(format ir.DType) *suite.Case {
	return &suite.Case{Name: "layer", Sizes: []ir.Env{{"M": 0}, {"M": 3}, {"M": 130}}, Build: func(b *suite.Builder) []*ir.Node {
		m, wide, cols := ir.Sym("M", 0, 4096), ir.N(48), ir.N(40)
		rounded := func(x *ir.Node) *ir.Node {
			if format == 0 {
				return x
			}
			return b.Add(ir.Cast, ir.Attr{DType: ir.F32}, b.Add(ir.Cast, ir.Attr{DType: format}, x))
		}
		product := func(x, w *ir.Node) *ir.Node { return b.Add(ir.MatMul, ir.Attr{}, rounded(x), rounded(w)) }
		x := b.Input(ir.F32, suite.Special, m, wide)
		w := b.Add(ir.Permute, ir.Attr{Axes: []int{1, 0}}, b.Leaf(ir.Weight, ir.F32, suite.Ordinary, cols, wide))
		y := product(x, w)
		return []*ir.Node{y, product(b.Add(ir.Neg, ir.Attr{}, y), b.Add(ir.Neg, ir.Attr{}, b.Input(ir.F32, suite.Ordinary, cols, cols)))}
	}}
}

// TestUnitsInPrecision: products that a precision rounds run on units for
// matrices, where the target has them for its format, with operands that can be
// copied as they lie.
func TestUnitsInPrecision(t *testing.T) {
	kinds := map[ir.DType]string{ir.F16: ".f16.f16.", ir.BF16: ".bf16.bf16.", ir.TF32: ".tf32.tf32.", ir.I8: ".u8.s8."}
	for _, target := range targets {
		for _, precision := range []ir.DType{0, ir.F16, ir.BF16, ir.TF32, ir.I8} {
			found := 0
			for _, k := range kernelsIn(t, target, []*suite.Case{layerCase(0)}, precision) {
				p, err := ptx.Write(target, []*entry.Kernel{k})
				if err != nil {
					t.Fatal(err)
				}
				copies := strings.Contains(p.Source, "cp.async.cg") || strings.Contains(p.Source, "ld.global.nc.v4.b32")
				if kind := kinds[precision]; kind != "" && copies && strings.Contains(p.Source, kind) {
					found++
				}
			}
			want := 2
			switch {
			case precision == ir.I8:
				want = 1 // that of data with a weight
			case precision == 0 || target.SM < 80 && precision != ir.F16:
				want = 0
			}
			if found != want {
				t.Errorf("%v, precision %v: %d products on units for matrices, want %d", target, precision, found, want)
			}
		}
	}
}

// TestHalfLayers compares such products of f16 and bf16 with the referee.
func TestHalfLayers(t *testing.T) {
	for _, target := range targets {
		d, err := launch.New(&backend{target: target}, launch.Options{Kind: "ptx", Shape: target.Shape(), Units: 4})
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range []ir.DType{ir.F16, ir.BF16} {
			if err := layerCase(format).Run(context.Background(), d, device.Options{Check: true}); err != nil {
				t.Errorf("%v, %v: %v", target, format, err)
			}
		}
	}
}
