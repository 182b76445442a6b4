package suite

import (
	"fmt"

	"github.com/sinterml/sinter/internal/ir"
)

// leafCases reads every kind of leaf and makes what comes from nothing.
func leafCases() []*Case {
	var all []*Case
	for _, kind := range []ir.Op{ir.Input, ir.Bound, ir.Weight, ir.Variable} {
		for _, d := range ir.DTypes() {
			all = append(all, &Case{Name: fmt.Sprintf("%v %v", kind, d), Exact: true, Build: func(b *Builder) []*ir.Node {
				x := b.Leaf(kind, d, Anything, ir.Static(3, 7)...)
				one := b.Leaf(kind, d, Anything)
				empty := b.Leaf(kind, d, Anything, ir.Static(0, 3)...)
				unused := b.Leaf(kind, d, Anything, ir.N(2))
				gone := b.Add(ir.Slice, ir.Attr{Starts: ir.Static(0), Steps: []int{1}, Shape: ir.Static(0)}, unused)
				return []*ir.Node{b.Add(ir.Flip, ir.Attr{Axes: []int{0}}, x), b.Add(ir.Contiguous, ir.Attr{}, one),
					b.Add(ir.Contiguous, ir.Attr{}, empty), gone}
			}})
		}
	}
	for _, d := range ir.DTypes() {
		all = append(all, &Case{Name: fmt.Sprintf("const %v", d), Sizes: planes, Exact: true, Build: func(b *Builder) []*ir.Node {
			return []*ir.Node{b.Full(d, 1, rows, cols), b.Full(d, 0, cols), b.Full(d, 1)}
		}})
		if fits(ir.Iota, ir.Attr{DType: d, Shape: ir.Static(3), Axes: []int{0}}) {
			all = append(all, &Case{Name: fmt.Sprintf("iota %v", d), Sizes: planes, Build: func(b *Builder) []*ir.Node {
				shape := ir.Shape{rows, cols}
				return []*ir.Node{b.Add(ir.Iota, ir.Attr{DType: d, Shape: shape, Axes: []int{0}}), b.Add(ir.Iota, ir.Attr{DType: d, Shape: shape, Axes: []int{1}})}
			}})
		}
		all = append(all, &Case{Name: fmt.Sprintf("assign %v", d), Exact: true, Build: func(b *Builder) []*ir.Node {
			old := b.Leaf(ir.Variable, d, Anything, ir.N(11))
			given := b.Input(d, Anything, ir.N(11))
			flipped := b.Add(ir.Flip, ir.Attr{Axes: []int{0}}, given)
			moved := b.Add(ir.Flip, ir.Attr{Axes: []int{0}}, old) // reads the version before
			if b.err != nil {
				return nil
			}
			return []*ir.Node{b.Add(ir.Assign, ir.Attr{Leaf: old.Attr.Leaf}, old, flipped), moved}
		}})
	}
	rand := func(name string, shape ir.Shape) *Case {
		return &Case{Name: name, Sizes: planes, Exact: true, Build: func(b *Builder) []*ir.Node {
			key := b.Input(ir.U32, Anything, ir.N(4))
			draw := func(n int) *ir.Node { return b.Add(ir.Rand, ir.Attr{Shape: shape, Leaf: n}, key) }
			return []*ir.Node{draw(1), b.Add(ir.Shr, ir.Attr{}, draw(2), b.Full(ir.U32, 8, shape...))}
		}}
	}
	// The second may have more words than 32 bits number.
	return append(all, rand("rand", ir.Shape{rows, cols}), rand("rand of many", ir.Shape{ir.Sym("N", 0, 1<<33), cols}))
}
