package suite

import (
	"fmt"

	"github.com/sinterml/sinter/internal/ir"
)

// indexedCases gathers and scatters every dtype by both index types along both
// axes, indices coming more than once.
func indexedCases() []*Case {
	var all []*Case
	count := ir.Sym("I", 0, 4096)
	sizes := []ir.Env{{"N": 3, "M": 5, "I": 4}, {"N": 0, "M": 5, "I": 4}, {"N": 3, "M": 1, "I": 0}, {"N": 17, "M": 33, "I": 40}}
	const reach = 6 // indices are below it; the indexed axis is longer
	for _, d := range ir.DTypes() {
		for _, it := range []ir.DType{ir.I32, ir.I64} {
			index := func(b *Builder, v, axis int) *ir.Node {
				if axis == 0 {
					return b.view(v, it, Below(reach), count, cols)
				}
				return b.view(v, it, Below(reach), rows, count)
			}
			operand := func(b *Builder, v, axis int, fill Fill) *ir.Node {
				if axis == 0 {
					return b.view(v, d, fill, cols.Plus(reach), cols)
				}
				return b.view(v, d, fill, rows, cols.Plus(reach))
			}
			all = append(all, &Case{Name: fmt.Sprintf("gather %v by %v", d, it), Sizes: sizes, Exact: true, Build: func(b *Builder) []*ir.Node {
				var outs []*ir.Node
				for v := range 2 * len(views) {
					outs = append(outs, b.Add(ir.Gather, ir.Attr{Axes: []int{v % 2}}, operand(b, v, v%2, Anything), index(b, v+3, v%2)))
				}
				return outs
			}})
			for _, mode := range []string{"set", "add"} {
				if mode == "add" && d == ir.Bool {
					continue
				}
				fill := Anything
				if mode == "add" {
					fill = Special
				}
				all = append(all, &Case{Name: fmt.Sprintf("scatter %s %v by %v", mode, d, it), Sizes: sizes, Exact: mode == "set", Build: func(b *Builder) []*ir.Node {
					var outs []*ir.Node
					for v := range 2 * len(views) {
						updates := b.view(v+2, d, fill, count, cols)
						if v%2 == 1 {
							updates = b.view(v+2, d, fill, rows, count)
						}
						outs = append(outs, b.Add(ir.Scatter, ir.Attr{Axes: []int{v % 2}, Mode: mode}, operand(b, v, v%2, fill), index(b, v+3, v%2), updates))
					}
					return outs
				}})
			}
		}
	}
	return append(all, tableCase())
}

// tableCase looks up whole rows, as the embedding of tokens does: the index is
// expanded over the columns.
func tableCase() *Case {
	return &Case{Name: "gather rows of a table", Sizes: []ir.Env{{"N": 3}, {"N": 0}, {"N": 1}, {"N": 200}}, Build: func(b *Builder) []*ir.Node {
		const entries, width = 50, 48
		table := b.Leaf(ir.Weight, ir.F32, Ordinary, ir.N(entries), ir.N(width))
		ids := b.Add(ir.Reshape, ir.Attr{Shape: ir.Shape{rows, ir.N(1)}}, b.Input(ir.I32, Below(entries), rows))
		looked := b.Add(ir.Gather, ir.Attr{Axes: []int{0}}, table, b.Add(ir.Expand, ir.Attr{Shape: ir.Shape{rows, ir.N(width)}}, ids))
		return []*ir.Node{looked, b.Add(ir.ReduceSum, ir.Attr{Axes: []int{1}}, looked)}
	}}
}
