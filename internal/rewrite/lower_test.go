package rewrite

import (
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// TestLowerConv: a convolution becomes a product where there is a kernel for
// those, unless its channels are in groups of few. Windows of a large image are not
// copied. TestReferenceOperators compares the results.
func TestLowerConv(t *testing.T) {
	for _, c := range []struct {
		name            string
		side, channels  int
		groups          int
		outputs         int
		products, wants bool
		copies          int
	}{
		{"one group", 8, 4, 1, 6, true, true, 2},
		{"no kernel for products", 8, 4, 1, 6, false, false, 0},
		{"groups", 8, 4, 2, 6, true, false, 0},
		{"groups of enough channels", 8, 8, 2, 10, true, true, 2},
		{"groups of one output", 8, 8, 2, 2, true, false, 0},
		{"a large image", 4096, 4, 1, 6, true, true, 1},
		{"a large image in groups", 4096, 8, 2, 8, true, true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := ir.NewBuilder(nil)
			leaf := func(name string, sizes ...int) *ir.Node {
				var s ir.Shape
				for _, n := range sizes {
					s = append(s, ir.N(n))
				}
				n, err := b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: name, Type: ir.Type{DType: ir.F32, Shape: s}})
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			a := &ir.ConvAttr{Stride: []int{1, 1}, Dilation: []int{1, 1}, Before: []int{1, 1}, After: []int{1, 1}, Groups: c.groups}
			y, err := b.Add(ir.Conv, ir.Attr{Conv: a}, leaf("x", 3, c.channels, c.side, c.side), leaf("w", c.outputs, c.channels/c.groups, 3, 3))
			if err != nil {
				t.Fatal(err)
			}
			g, err := Lower(b.Finish(y), 0, false, func(n *ir.Node) bool { return c.products && n.Op == ir.MatMul })
			if err != nil {
				t.Fatal(err)
			}
			if err := ir.Check(g); err != nil {
				t.Error(err)
			}
			products, copies := 0, 0
			for _, n := range g.Nodes {
				if n.Op == ir.Conv {
					t.Error("the convolution is still there")
				}
				switch n.Op {
				case ir.MatMul:
					products++
				case ir.Contiguous:
					copies++
				}
			}
			if copies != c.copies {
				t.Errorf("%d copies, want %d", copies, c.copies)
			}
			if want := map[bool]int{true: 1}[c.wants]; products != want {
				t.Errorf("%d products, want %d", products, want)
			}
		})
	}
}
