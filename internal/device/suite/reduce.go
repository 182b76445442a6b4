package suite

import (
	"fmt"

	"github.com/sinterml/sinter/internal/ir"
)

// reduceCases is every reduction over rows, columns and all, of all views.
func reduceCases() []*Case {
	var all []*Case
	for _, op := range ir.Ops() {
		if op.Class() != ir.ClassReduce {
			continue
		}
		first := ir.Attr{Axes: []int{0}}
		for _, d := range takes(op, first, 1, 3, 3) {
			axes := [][]int{{0}, {1}}
			if op != ir.ArgMax && op != ir.ArgMin {
				axes = append(axes, []int{0, 1}, []int{})
			}
			fill := reduceFill(op, d)
			sizes := planes
			if op != ir.ReduceSum && op != ir.ReduceProd {
				sizes = []ir.Env{{"N": 3, "M": 5}, {"N": 1, "M": 1}, {"N": 17, "M": 33}, {"N": 70, "M": 41}}
			}
			build := func(n, m ir.Dim) func(b *Builder) []*ir.Node {
				return func(b *Builder) []*ir.Node {
					var outs []*ir.Node
					for v := range views {
						x := b.view(v, d, fill, n, m)
						for _, a := range axes {
							outs = append(outs, b.Add(op, ir.Attr{Axes: a}, x))
						}
					}
					return outs
				}
			}
			name := fmt.Sprintf("%v %v", op, d)
			all = append(all, &Case{Name: name, Sizes: sizes, Build: build(rows, cols)},
				&Case{Name: name + " static", Build: build(ir.N(9), ir.N(37))})
		}
	}
	return append(all, wholeCases()...)
}

// reduceFill keeps products from ending up as 0 or infinity at once.
func reduceFill(op ir.Op, d ir.DType) Fill {
	if op == ir.ReduceProd && d.IsFloat() {
		return Given(1.5, -1, 0.5, 1, 2, -0.5, 3, 1, 0.25, -2)
	}
	return Special
}

// wholeCases reduce long vectors, which devices cut into chunks, and rows in
// several passes.
func wholeCases() []*Case {
	var all []*Case
	n := ir.Sym("N", 1, 1<<20)
	long := []ir.Env{{"N": 1}, {"N": 255}, {"N": 4097}, {"N": 30000}}
	for _, d := range []ir.DType{ir.F32, ir.F64, ir.BF16, ir.I32, ir.I64, ir.U8} {
		all = append(all, &Case{Name: fmt.Sprintf("reduce long %v", d), Sizes: long, Build: func(b *Builder) []*ir.Node {
			x := b.Input(d, Ordinary, n)
			axes := ir.Attr{Axes: []int{0}}
			return []*ir.Node{b.Add(ir.ReduceSum, axes, x), b.Add(ir.ReduceMax, axes, x), b.Add(ir.ReduceMin, axes, x),
				b.Add(ir.ArgMax, axes, x), b.Add(ir.ArgMin, axes, x)}
		}})
	}
	all = append(all,
		&Case{Name: "softmax", Sizes: planes, Build: func(b *Builder) []*ir.Node {
			var outs []*ir.Node
			for v := range views {
				outs = append(outs, softmax(b, b.view(v, ir.F32, Ordinary, rows, cols)))
			}
			return outs
		}},
		&Case{Name: "softmax large", Sizes: []ir.Env{{"N": 200, "M": 130}}, Build: func(b *Builder) []*ir.Node {
			return []*ir.Node{softmax(b, b.Input(ir.F32, Ordinary, rows, cols))}
		}, Flops: func(env ir.Env) float64 { return 5 * float64(env["N"]*env["M"]) }},
	)
	return all
}

func softmax(b *Builder, x *ir.Node) *ir.Node {
	shape := ir.Attr{Shape: ir.Shape{rows, cols}}
	axis := ir.Attr{Axes: []int{1}}
	top := b.Add(ir.Expand, shape, b.Add(ir.ReduceMax, axis, x))
	e := b.Add(ir.Exp, ir.Attr{}, b.Add(ir.Sub, ir.Attr{}, x, top))
	return b.Add(ir.Div, ir.Attr{}, e, b.Add(ir.Expand, shape, b.Add(ir.ReduceSum, axis, e)))
}
