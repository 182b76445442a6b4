package rewrite

import (
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// TestWindowsInPlace has the product of a gradient of a kernel read windows where they
// lie, but where it would be slow, or the copy is needed anyway.
func TestWindowsInPlace(t *testing.T) {
	for _, c := range []struct {
		name      string
		windows   ir.Windows
		groups    int
		precision ir.DType
		dtype     ir.DType
		left      bool // windows are the left operand
		again     bool // the copy is an output, too
		copies    int  // beside that of the image with zeros around
	}{
		{name: "columns", windows: ir.WindowsAsColumns, groups: 1, copies: 0},
		{name: "in groups", windows: ir.WindowsAsColumns, groups: 2, copies: 0},
		{name: "rows", windows: ir.WindowsAsRows, groups: 1, copies: 1},
		{name: "copied", windows: ir.WindowsCopied, groups: 1, copies: 1},
		{name: "rounded", windows: ir.WindowsAsColumns, groups: 1, precision: ir.BF16, copies: 1},
		{name: "bytes", windows: ir.WindowsAsColumns, groups: 1, precision: ir.I8, copies: 1},
		{name: "f64", windows: ir.WindowsAsColumns, groups: 1, dtype: ir.F64, copies: 1},
		{name: "on the left", windows: ir.WindowsAsColumns, groups: 1, left: true, copies: 1},
		{name: "needed again", windows: ir.WindowsAsColumns, groups: 1, again: true, copies: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.dtype == 0 {
				c.dtype = ir.F32
			}
			b := ir.NewBuilder(nil)
			leaf := func(name string, dims ...int) *ir.Node {
				var s ir.Shape
				for _, n := range dims {
					s = append(s, ir.N(n))
				}
				n, err := b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: name, Type: ir.Type{DType: c.dtype, Shape: s}})
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			a := &ir.ConvAttr{Stride: []int{1, 1}, Dilation: []int{1, 1}, Before: []int{1, 1}, After: []int{1, 1}, Groups: c.groups}
			windows, err := ir.ConvRows(b, a, leaf("x", 3, 8, 6, 6), leaf("w", 4, 8/c.groups, 3, 3))
			if err != nil {
				t.Fatal(err)
			}
			rows, terms := 3*6*6, 8/c.groups*9
			d := leaf("d", 4, rows)
			if c.groups > 1 {
				d = leaf("d", c.groups, 4/c.groups, rows)
			}
			if c.left {
				d = leaf("d", terms, 5)
				d, windows = windows, d
			}
			y, err := b.Add(ir.MatMul, ir.Attr{}, d, windows)
			if err != nil {
				t.Fatal(err)
			}
			outs := []*ir.Node{y}
			if c.again {
				outs = append(outs, windows)
			}
			g, err := Lower(b.Finish(outs...), c.precision, c.windows, func(n *ir.Node) bool { return n.Op == ir.MatMul })
			if err != nil {
				t.Fatal(err)
			}
			if err := ir.Check(g); err != nil {
				t.Error(err)
			}
			copies := -1
			for _, n := range g.Nodes {
				if n.Op == ir.Contiguous {
					copies++
				}
			}
			if copies != c.copies {
				t.Errorf("%d copies of windows, want %d:\n%v", copies, c.copies, g)
			}
		})
	}
}
