package suite

import (
	"fmt"

	"github.com/sinterml/sinter/internal/ir"
)

// matMulCases multiplies every dtype, by operands in all views, with work
// before and after the product.
func matMulCases() []*Case {
	m, k, n := ir.Sym("M", 0, 4096), ir.Sym("K", 0, 4096), ir.Sym("N", 0, 4096)
	sizes := []ir.Env{{"M": 5, "K": 7, "N": 9}, {"M": 0, "K": 3, "N": 4}, {"M": 3, "K": 0, "N": 4}, {"M": 3, "K": 4, "N": 0},
		{"M": 1, "K": 1, "N": 1}, {"M": 1, "K": 40, "N": 33}, {"M": 33, "K": 17, "N": 65}}
	var all []*Case
	for _, d := range takes(ir.MatMul, ir.Attr{}, 2, 2, 2) {
		all = append(all, &Case{Name: fmt.Sprintf("matmul %v", d), Sizes: sizes, Build: func(b *Builder) []*ir.Node {
			var outs []*ir.Node
			for v := range views {
				outs = append(outs, b.Add(ir.MatMul, ir.Attr{}, b.view(v, d, Ordinary, m, k), b.view(2*v, d, Ordinary, k, n)))
			}
			return append(outs, b.Add(ir.MatMul, ir.Attr{}, b.Input(d, Special, m, k), b.Input(d, Ordinary, k, n)))
		}}, &Case{Name: fmt.Sprintf("matmul batched %v", d), Sizes: sizes, Build: func(b *Builder) []*ir.Node {
			batch := ir.Shape{ir.N(2), ir.N(3)}
			x := b.Input(d, Ordinary, append(batch[:2:2], m, k)...)
			y := b.Input(d, Ordinary, append(batch[:2:2], n, k)...)
			one := b.Add(ir.Expand, ir.Attr{Shape: append(batch[:2:2], k, n)}, b.Input(d, Ordinary, ir.N(1), ir.N(1), k, n))
			return []*ir.Node{
				b.Add(ir.MatMul, ir.Attr{}, x, b.Add(ir.Permute, ir.Attr{Axes: []int{0, 1, 3, 2}}, y)),
				b.Add(ir.MatMul, ir.Attr{}, x, one),
			}
		}})
	}
	all = append(all, append(fewRowsCases(), PackedCases()...)...)
	all = append(all, tf32Case(sizes))
	all = append(all, manyRowsCases()...)
	return append(all, layerCase("linear layer", m, sizes[:1], 7, 9), layerCase("linear layer wide", m,
		[]ir.Env{{"M": 1}, {"M": 0}, {"M": 13}, {"M": 70}}, 300, 130))
}

// tf32Case multiplies f32 that a device may round to TF32: numbers that have no
// more digits, whose sums are exact, others, and those that are not finite.
func tf32Case(sizes []ir.Env) *Case {
	m, k, n := ir.Sym("M", 0, 4096), ir.Sym("K", 0, 4096), ir.Sym("N", 0, 4096)
	return &Case{Name: "matmul tf32", Sizes: sizes, Build: func(b *Builder) []*ir.Node {
		var outs []*ir.Node
		for _, fill := range []Fill{Given(1, -3, 1024, 0.25, -0.5, 7), Ordinary, Special} {
			x, y := b.Input(ir.F32, fill, m, k), b.Input(ir.F32, Given(2, 5, -1, 0.125), k, n)
			turned := b.Add(ir.Permute, ir.Attr{Axes: []int{1, 0}}, b.Input(ir.F32, Ordinary, n, k))
			outs = append(outs, b.Add(ir.MatMul, ir.Attr{TF32: true}, x, y), b.Add(ir.MatMul, ir.Attr{TF32: true}, x, turned))
		}
		return outs
	}}
}

// fewRowsCases multiplies a few rows, whose number is known, by weights that lie
// either way, of sizes that are known and that are not.
func fewRowsCases() []*Case {
	k, n := ir.Sym("K", 0, 4096), ir.Sym("N", 0, 4096)
	var all []*Case
	for _, d := range []ir.DType{ir.F32, ir.F64, ir.F16, ir.BF16, ir.I8, ir.I32} {
		all = append(all, &Case{Name: fmt.Sprintf("matmul few rows %v", d), Sizes: []ir.Env{{"K": 7, "N": 9}, {"K": 0, "N": 4}, {"K": 3, "N": 0}, {"K": 530, "N": 33}}, Build: func(b *Builder) []*ir.Node {
			var outs []*ir.Node
			times := func(fill Fill, m, k, n ir.Dim) {
				x := b.Input(d, fill, m, k)
				turned := b.Add(ir.Permute, ir.Attr{Axes: []int{1, 0}}, b.Input(d, fill, n, k))
				outs = append(outs, b.Add(ir.MatMul, ir.Attr{}, x, b.Input(d, fill, k, n)), b.Add(ir.MatMul, ir.Attr{}, x, turned))
			}
			times(Special, ir.N(3), k, n)
			times(Ordinary, ir.N(1), ir.N(272), ir.N(48))
			if d == ir.F32 { // drivers' compilers take a second for each
				times(Ordinary, ir.N(5), k, n)
				times(Ordinary, ir.N(8), ir.N(64), ir.N(16))
			}
			return outs
		}})
	}
	return all
}

// manyRowsCases multiplies more rows and columns than a tile of any device has,
// with more values of k than lie close by at a time, by operands that lie either
// way.
func manyRowsCases() []*Case {
	m := ir.Sym("M", 0, 512)
	const width, out = 328, 264
	var all []*Case
	for _, d := range []ir.DType{ir.F16, ir.BF16} {
		all = append(all, &Case{Name: fmt.Sprintf("matmul many rows %v", d), Sizes: []ir.Env{{"M": 0}, {"M": 65}, {"M": 130}}, Build: func(b *Builder) []*ir.Node {
			operand := func(turned bool, rows, cols ir.Dim) *ir.Node {
				if turned {
					return b.Add(ir.Permute, ir.Attr{Axes: []int{1, 0}}, b.Input(d, Ordinary, cols, rows))
				}
				return b.Input(d, Ordinary, rows, cols)
			}
			times := func(turnedX, turnedY bool) *ir.Node {
				return b.Add(ir.MatMul, ir.Attr{}, operand(turnedX, m, ir.N(width)), operand(turnedY, ir.N(width), ir.N(out)))
			}
			if d == ir.F16 {
				return []*ir.Node{times(true, true), times(false, false)}
			}
			return []*ir.Node{times(true, false), times(false, true)}
		}})
	}
	return all
}

// layerCase is a linear layer with its activation and a residual, twice: the
// weight stored as it is used, and stored the other way.
func layerCase(name string, m ir.Dim, sizes []ir.Env, width, out int) *Case {
	return &Case{Name: name, Sizes: sizes, Build: func(b *Builder) []*ir.Node {
		x := b.Input(ir.F32, Ordinary, m, ir.N(width))
		shape := ir.Shape{m, ir.N(out)}
		layer := func(w *ir.Node) *ir.Node {
			bias := b.Add(ir.Expand, ir.Attr{Shape: shape}, b.Leaf(ir.Weight, ir.F32, Ordinary, ir.N(1), ir.N(out)))
			y := gelu(b, b.Add(ir.Add, ir.Attr{}, b.Add(ir.MatMul, ir.Attr{}, x, w), bias), shape...)
			return b.Add(ir.Add, ir.Attr{}, y, b.Input(ir.F32, Ordinary, shape...))
		}
		stored := b.Leaf(ir.Weight, ir.F32, Ordinary, ir.N(width), ir.N(out))
		other := b.Add(ir.Permute, ir.Attr{Axes: []int{1, 0}}, b.Leaf(ir.Bound, ir.F32, Ordinary, ir.N(out), ir.N(width)))
		return []*ir.Node{layer(stored), layer(other)}
	}, Flops: func(env ir.Env) float64 { return 4 * float64(env["M"]*width*out) }}
}

// convCases has one and two spatial axes, strides, dilation, padding, groups.
func convCases() []*Case {
	all := []*Case{convOfRuns(ir.F32), convOfRuns(ir.BF16), convOfRuns(ir.F16)}
	for _, d := range takes(ir.Conv, ir.Attr{Conv: &ir.ConvAttr{Stride: []int{1}, Dilation: []int{1}, Before: []int{0}, After: []int{0}, Groups: 1}}, 2, 1, 1, 1) {
		all = append(all, &Case{Name: fmt.Sprintf("conv %v", d), Sizes: []ir.Env{{"N": 2}, {"N": 0}, {"N": 1}, {"N": 5}}, Build: func(b *Builder) []*ir.Node {
			conv := func(x, w *ir.Node, stride, dilation, before, after, groups int) *ir.Node {
				spatial := 0
				if b.err == nil {
					spatial = len(x.Shape) - 2
				}
				c := &ir.ConvAttr{Groups: groups}
				for range spatial {
					c.Stride, c.Dilation = append(c.Stride, stride), append(c.Dilation, dilation)
					c.Before, c.After = append(c.Before, before), append(c.After, after)
				}
				return b.Add(ir.Conv, ir.Attr{Conv: c}, x, w)
			}
			line := b.Input(d, Ordinary, rows, ir.N(4), ir.N(11))
			image := b.Input(d, Ordinary, rows, ir.N(3), ir.N(7), ir.N(6))
			turned := b.Add(ir.Permute, ir.Attr{Axes: []int{0, 3, 1, 2}}, b.Input(d, Ordinary, rows, ir.N(7), ir.N(6), ir.N(3)))
			w := b.Leaf(ir.Weight, d, Ordinary, ir.Static(5, 3, 3, 2)...)
			return []*ir.Node{
				conv(line, b.Leaf(ir.Weight, d, Ordinary, ir.Static(6, 4, 3)...), 1, 1, 0, 0, 1),
				conv(line, b.Leaf(ir.Weight, d, Ordinary, ir.Static(6, 2, 3)...), 2, 2, 1, 2, 2),
				conv(line, b.Leaf(ir.Weight, d, Ordinary, ir.Static(4, 1, 1)...), 3, 1, 0, 0, 4),
				conv(image, w, 1, 1, 0, 0, 1), conv(image, w, 2, 1, 1, 1, 1), conv(turned, w, 1, 2, 2, 1, 1),
			}
		}})
	}
	return all
}

// convOfRuns has images so large, and so many channels, that a device may read windows
// as runs of memory, which begin and end within what it takes at once.
func convOfRuns(d ir.DType) *Case {
	return &Case{Name: fmt.Sprintf("conv channels %v", d), Sizes: []ir.Env{{"N": 2}, {"N": 0}, {"N": 1}}, Build: func(b *Builder) []*ir.Node {
		conv := func(channels, height, width, kernel int, a ir.ConvAttr) *ir.Node {
			x := b.Input(d, Ordinary, rows, ir.N(channels), ir.N(height), ir.N(width))
			a.Groups = 1
			return b.Add(ir.Conv, ir.Attr{Conv: &a}, x, b.Leaf(ir.Weight, d, Ordinary, ir.Static(7, channels, kernel, kernel)...))
		}
		one := []int{1, 1}
		return []*ir.Node{
			conv(22, 36, 37, 3, ir.ConvAttr{Stride: one, Dilation: one, Before: one, After: one}),
			conv(70, 40, 21, 3, ir.ConvAttr{Stride: []int{2, 1}, Dilation: one, Before: []int{0, 2}, After: one}), // 630 terms: several blocks
			conv(65, 34, 36, 2, ir.ConvAttr{Stride: one, Dilation: []int{2, 3}, Before: one, After: []int{0, 0}}),
		}
	}}
}

func both(b *Builder, n *ir.Node) []*ir.Node {
	return []*ir.Node{b.Add(ir.Get, ir.Attr{}, n), b.Add(ir.Get, ir.Attr{Out: 1}, n)}
}

// orderCases sorts and scans along both axes, with equals, NaN and infinities.
func orderCases() []*Case {
	var all []*Case
	for _, d := range takes(ir.Sort, ir.Attr{Axes: []int{0}}, 1, 3) {
		all = append(all, &Case{Name: fmt.Sprintf("sort %v", d), Sizes: planes, Exact: true, Build: func(b *Builder) []*ir.Node {
			var outs []*ir.Node
			for v := range views {
				outs = append(outs, both(b, b.Add(ir.Sort, ir.Attr{Axes: []int{v % 2}, Descending: v%3 == 0}, b.view(v, d, Special, rows, cols)))...)
			}
			return append(outs, both(b, b.Add(ir.Sort, ir.Attr{Axes: []int{1}}, b.Input(d, Given(1, 0, 3, 1, 0), rows, cols)))...)
		}})
	}
	for _, mode := range []string{"sum", "prod", "max"} {
		for _, d := range takes(ir.Scan, ir.Attr{Axes: []int{0}, Mode: mode}, 1, 3) {
			fill := Special
			if mode == "prod" {
				fill = reduceFill(ir.ReduceProd, d)
			}
			all = append(all, &Case{Name: fmt.Sprintf("scan %s %v", mode, d), Sizes: planes, Build: func(b *Builder) []*ir.Node {
				var outs []*ir.Node
				for v := range views {
					outs = append(outs, b.Add(ir.Scan, ir.Attr{Axes: []int{v % 2}, Mode: mode}, b.view(v, d, fill, rows, cols)))
				}
				return outs
			}})
		}
	}
	return all
}

// segmentCases cuts rows into segments, some empty.
func segmentCases() []*Case {
	batch := ir.Sym("B", 0, 64)
	sizes := []ir.Env{{"N": 7, "M": 3, "B": 3}, {"N": 0, "M": 3, "B": 0}, {"N": 0, "M": 3, "B": 2}, {"N": 1, "M": 1, "B": 1}, {"N": 40, "M": 17, "B": 6}}
	offsets := func(b *Builder) *ir.Node { return b.Input(ir.I32, Offsets(rows), batch.Plus(1)) }
	all := []*Case{{Name: "segmentids", Sizes: sizes, Build: func(b *Builder) []*ir.Node {
		ids := b.Add(ir.SegmentIDs, ir.Attr{Shape: ir.Shape{rows}}, offsets(b))
		return []*ir.Node{ids, b.Add(ir.Add, ir.Attr{}, ids, ids)}
	}}}
	for _, mode := range []string{"sum", "max"} {
		for _, d := range ir.DTypes() {
			a := ir.Attr{Mode: mode}
			if !fits(ir.SegmentReduce, a, ir.Type{DType: d, Shape: ir.Static(3)}, ir.Type{DType: ir.I32, Shape: ir.Static(2)}) {
				continue
			}
			all = append(all, &Case{Name: fmt.Sprintf("segmentreduce %s %v", mode, d), Sizes: sizes, Build: func(b *Builder) []*ir.Node {
				o := offsets(b)
				var outs []*ir.Node
				for v := range views {
					outs = append(outs, b.Add(ir.SegmentReduce, a, b.view(v, d, Special, rows, cols), o))
				}
				return append(outs, b.Add(ir.SegmentReduce, a, b.Input(d, Ordinary, rows), o))
			}})
		}
	}
	return all
}
