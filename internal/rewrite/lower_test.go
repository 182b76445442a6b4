package rewrite

import (
	"cmp"
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
		packs           bool // windows
		columns         bool
		dtype           ir.DType
		dilation        int
		precision       ir.DType
		symbolic        bool // channels
		unpadded        bool
		turned          []int // axes of the image
		turnedKernel    bool
		turnedResult    []int
		stride          int
		computed        bool // element by element, from what lies so
		images          bool // a product has a matrix for each image
	}{
		{name: "one group", side: 8, channels: 4, groups: 1, outputs: 6, products: true, wants: true, copies: 2},
		{name: "no kernel for products", side: 8, channels: 4, groups: 1, outputs: 6},
		{name: "groups", side: 8, channels: 4, groups: 2, outputs: 6, products: true},
		{name: "groups of enough channels", side: 8, channels: 8, groups: 2, outputs: 10, products: true, wants: true, copies: 2},
		{name: "groups of one output", side: 8, channels: 8, groups: 2, outputs: 2, products: true},
		{name: "a large image", side: 4096, channels: 4, groups: 1, outputs: 6, products: true, wants: true, copies: 1},
		{name: "a large image in groups", side: 4096, channels: 8, groups: 2, outputs: 8, products: true, wants: true, copies: 1},
		// Windows of 22 channels are runs of 66 numbers.
		{name: "packed", side: 90, channels: 22, groups: 1, outputs: 6, products: true, wants: true, copies: 1, packs: true},
		{name: "packed bf16", side: 90, channels: 22, groups: 1, outputs: 6, products: true, wants: true, copies: 1, packs: true, dtype: ir.BF16},
		{name: "not packed", side: 90, channels: 22, groups: 1, outputs: 6, products: true, wants: true, copies: 2},
		{name: "short runs", side: 100, channels: 21, groups: 1, outputs: 6, products: true, wants: true, copies: 2, packs: true},
		{name: "runs of a place", side: 80, channels: 63, groups: 1, outputs: 6, products: true, wants: true, copies: 2, packs: true, dilation: 2},
		{name: "long runs of a place", side: 80, channels: 64, groups: 1, outputs: 6, products: true, wants: true, copies: 1, packs: true, dilation: 2},
		{name: "small images", side: 40, channels: 64, groups: 1, outputs: 6, products: true, wants: true, copies: 2, packs: true},
		{name: "channels of the run", side: 56, channels: 64, groups: 1, outputs: 6, products: true, wants: true, copies: 2, packs: true, symbolic: true},
		{name: "f64", side: 56, channels: 64, groups: 1, outputs: 6, products: true, wants: true, copies: 2, packs: true, dtype: ir.F64},
		{name: "bytes", side: 56, channels: 64, groups: 1, outputs: 6, products: true, wants: true, copies: 2, packs: true, precision: ir.I8},
		{name: "packed in groups", side: 90, channels: 64, groups: 2, outputs: 8, products: true, wants: true, copies: 2, packs: true},
		// Columns need neither many channels nor large images. The kernel is turned, so
		// that terms are in the order of rows.
		{name: "columns", side: 8, channels: 4, groups: 1, outputs: 6, products: true, wants: true, copies: 2, columns: true, images: true},
		{name: "columns of a kernel that is turned", side: 8, channels: 4, groups: 1, outputs: 6, products: true, wants: true, copies: 2, columns: true, turnedKernel: true, images: true},
		{name: "columns of one channel", side: 8, channels: 1, groups: 1, outputs: 6, products: true, wants: true, copies: 1, columns: true, images: true},
		{name: "columns without padding", side: 10, channels: 4, groups: 1, outputs: 6, products: true, wants: true, copies: 1, columns: true, unpadded: true, images: true},
		{name: "columns of a turned image without padding", side: 10, channels: 4, groups: 1, outputs: 6, products: true, wants: true, copies: 2, columns: true, unpadded: true, turned: []int{0, 1, 3, 2}, images: true},
		{name: "channels last", side: 8, channels: 4, groups: 1, outputs: 6, products: true, wants: true, copies: 2, columns: true, turned: []int{0, 3, 1, 2}},
		{name: "computed from channels last", side: 8, channels: 4, groups: 1, outputs: 6, products: true, wants: true, copies: 2, columns: true, turned: []int{0, 3, 1, 2}, computed: true},
		{name: "for channels last", side: 8, channels: 4, groups: 1, outputs: 6, products: true, wants: true, copies: 2, columns: true, turnedResult: []int{0, 2, 3, 1}},
		{name: "for another order", side: 8, channels: 4, groups: 1, outputs: 6, products: true, wants: true, copies: 2, columns: true, turnedResult: []int{1, 0, 2, 3}, images: true},
		{name: "strides and few channels", side: 16, channels: 21, groups: 1, outputs: 6, products: true, wants: true, copies: 2, columns: true, stride: 2, images: true},
		{name: "strides and many channels", side: 16, channels: 22, groups: 1, outputs: 6, products: true, wants: true, copies: 2, columns: true, stride: 2},
		{name: "few places", side: 7, channels: 4, groups: 1, outputs: 6, products: true, wants: true, copies: 2, columns: true},
		{name: "many places", side: 13, channels: 4, groups: 1, outputs: 6, products: true, wants: true, copies: 2, columns: true, images: true},
		{name: "places that fill a panel", side: 4, channels: 4, groups: 1, outputs: 6, products: true, wants: true, copies: 2, columns: true, images: true},
		{name: "columns of bf16", side: 8, channels: 4, groups: 1, outputs: 6, products: true, wants: true, copies: 2, columns: true, dtype: ir.BF16},
		{name: "columns of bf16, packed rows", side: 90, channels: 22, groups: 1, outputs: 6, products: true, wants: true, copies: 1, columns: true, dtype: ir.BF16},
		{name: "columns in bf16", side: 90, channels: 22, groups: 1, outputs: 22, products: true, wants: true, copies: 1, columns: true, precision: ir.BF16},
		{name: "columns in bytes", side: 56, channels: 64, groups: 1, outputs: 6, products: true, wants: true, copies: 2, columns: true, precision: ir.I8},
		{name: "columns in groups", side: 8, channels: 8, groups: 2, outputs: 10, products: true, wants: true, copies: 1, columns: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := ir.NewBuilder(nil)
			leaf := func(name string, sizes ...int) *ir.Node {
				var s ir.Shape
				for _, n := range sizes {
					d := ir.N(n)
					if c.symbolic && n == c.channels {
						d = ir.Sym("C", 64, 128)
					}
					s = append(s, d)
				}
				n, err := b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: name, Type: ir.Type{DType: cmp.Or(c.dtype, ir.F32), Shape: s}})
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			dilation := max(c.dilation, 1)
			a := &ir.ConvAttr{Stride: []int{1, 1}, Dilation: []int{dilation, dilation}, Before: []int{1, 1}, After: []int{1, 1}, Groups: c.groups}
			if c.stride > 0 {
				a.Stride = []int{c.stride, c.stride}
			}
			if c.unpadded {
				a.Before, a.After = []int{0, 0}, []int{0, 0}
			}
			turned := func(n *ir.Node, axes []int) *ir.Node {
				n, err := b.Add(ir.Permute, ir.Attr{Axes: axes}, n)
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			size := []int{3, c.channels, c.side, c.side}
			x := leaf("x", size...)
			if c.turned != nil {
				lies := make([]int, len(size)) // in memory
				for i, axis := range c.turned {
					lies[axis] = size[i]
				}
				x = turned(leaf("turned", lies...), c.turned)
			}
			if c.computed {
				var err error
				if x, err = b.Add(ir.Exp, ir.Attr{}, x); err != nil {
					t.Fatal(err)
				}
			}
			w := leaf("w", c.outputs, c.channels/c.groups, 3, 3)
			if c.turnedKernel {
				w = turned(leaf("kernel", c.channels, c.outputs, 3, 3), []int{1, 0, 2, 3})
			}
			y, err := b.Add(ir.Conv, ir.Attr{Conv: a}, x, w)
			if err != nil {
				t.Fatal(err)
			}
			if c.turnedResult != nil {
				if y, err = b.Add(ir.Neg, ir.Attr{}, y); err != nil {
					t.Fatal(err)
				}
				y = turned(y, c.turnedResult)
			}
			windows := ir.WindowsCopied
			switch {
			case c.columns:
				windows = ir.WindowsAsColumns
			case c.packs:
				windows = ir.WindowsAsRows
			}
			g, err := Lower(b.Finish(y), c.precision, windows, func(n *ir.Node) bool { return c.products && n.Op == ir.MatMul })
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
					if images := len(n.Shape) == 3 && n.Shape[0].IsConst(3); images != c.images {
						t.Errorf("a product of %v", n.Shape)
					}
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
