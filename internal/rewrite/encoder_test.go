package rewrite

import (
	"math"
	"strconv"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// encoder builds the graph of a transformer encoder as a user of tensors would
// write it: broadcasts by reshape and expand, biases, layer norms, tanh-free
// GELU, ragged attention.
type encoder struct {
	t *testing.B
	b *ir.Builder
	n int
}

func (e *encoder) add(op ir.Op, a ir.Attr, in ...*ir.Node) *ir.Node {
	n, err := e.b.Add(op, a, in...)
	if err != nil {
		e.t.Fatal(err)
	}
	return n
}

func (e *encoder) leaf(kind ir.Op, d ir.DType, s ir.Shape) *ir.Node {
	e.n++
	n, err := e.b.AddLeaf(ir.Leaf{Kind: kind, Name: "w" + strconv.Itoa(e.n), Type: ir.Type{DType: d, Shape: s}})
	if err != nil {
		e.t.Fatal(err)
	}
	return n
}

// like gives v, a vector or a number, in the shape of x.
func (e *encoder) like(v, x *ir.Node) *ir.Node {
	s := make(ir.Shape, len(x.Shape))
	for i := range s {
		s[i] = ir.N(1)
	}
	copy(s[len(s)-len(v.Shape):], v.Shape)
	return e.add(ir.Expand, ir.Attr{Shape: x.Shape}, e.add(ir.Reshape, ir.Attr{Shape: s}, v))
}

func (e *encoder) number(v float64, x *ir.Node) *ir.Node {
	return e.like(e.add(ir.Const, ir.Attr{DType: ir.F32, Value: uint64(math.Float32bits(float32(v)))}), x)
}

func (e *encoder) linear(x *ir.Node, out int) *ir.Node {
	in, _ := x.Shape[1].Const()
	w := e.add(ir.Permute, ir.Attr{Axes: []int{1, 0}}, e.leaf(ir.Weight, ir.F32, ir.Static(out, in)))
	y := e.add(ir.MatMul, ir.Attr{}, x, w)
	return e.add(ir.Add, ir.Attr{}, y, e.like(e.leaf(ir.Weight, ir.F32, ir.Static(out)), y))
}

func (e *encoder) mean(x *ir.Node) *ir.Node {
	width, _ := x.Shape[1].Const()
	s := e.add(ir.ReduceSum, ir.Attr{Axes: []int{1}}, x)
	return e.add(ir.Mul, ir.Attr{}, s, e.number(1/float64(width), s))
}

func (e *encoder) norm(x *ir.Node) *ir.Node {
	d := e.add(ir.Sub, ir.Attr{}, x, e.add(ir.Expand, ir.Attr{Shape: x.Shape}, e.mean(x)))
	v := e.mean(e.add(ir.Mul, ir.Attr{}, d, d))
	r := e.add(ir.Recip, ir.Attr{}, e.add(ir.Sqrt, ir.Attr{}, e.add(ir.Add, ir.Attr{}, v, e.number(1e-12, v))))
	y := e.add(ir.Mul, ir.Attr{}, d, e.add(ir.Expand, ir.Attr{Shape: x.Shape}, r))
	y = e.add(ir.Mul, ir.Attr{}, y, e.like(e.leaf(ir.Weight, ir.F32, x.Shape[1:]), y))
	return e.add(ir.Add, ir.Attr{}, y, e.like(e.leaf(ir.Weight, ir.F32, x.Shape[1:]), y))
}

func (e *encoder) gelu(x *ir.Node) *ir.Node {
	y := e.add(ir.Erf, ir.Attr{}, e.add(ir.Div, ir.Attr{}, x, e.number(math.Sqrt2, x)))
	y = e.add(ir.Add, ir.Attr{}, y, e.number(1, y))
	return e.add(ir.Mul, ir.Attr{}, e.add(ir.Mul, ir.Attr{}, x, e.number(0.5, x)), y)
}

func (e *encoder) block(x, offsets *ir.Node, heads int) *ir.Node {
	width, _ := x.Shape[1].Const()
	split := func(y *ir.Node) *ir.Node {
		return e.add(ir.Reshape, ir.Attr{Shape: ir.Shape{y.Shape[0], ir.N(heads), ir.N(width / heads)}}, y)
	}
	q, k, v := split(e.linear(x, width)), split(e.linear(x, width)), split(e.linear(x, width))
	a := e.add(ir.Attention, ir.Attr{Attention: &ir.AttentionAttr{Scale: 0.125, Ragged: true}}, q, k, v, offsets, offsets)
	y := e.add(ir.Reshape, ir.Attr{Shape: x.Shape}, e.add(ir.Get, ir.Attr{}, a))
	x = e.norm(e.add(ir.Add, ir.Attr{}, x, e.linear(y, width)))
	return e.norm(e.add(ir.Add, ir.Attr{}, x, e.linear(e.gelu(e.linear(x, 4*width)), width)))
}

func encoderGraph(t *testing.B, blocks int) *ir.Graph {
	e := &encoder{t: t, b: ir.NewBuilder(nil)}
	x := e.leaf(ir.Input, ir.F32, ir.Shape{ir.Sym("N", 1, 4096), ir.N(384)})
	offsets := e.leaf(ir.Input, ir.I32, ir.Shape{ir.Sym("B", 1, 64).Plus(1)})
	for range blocks {
		x = e.block(x, offsets, 12)
	}
	return e.b.Finish(x)
}

func BenchmarkEncoder(b *testing.B) {
	g := encoderGraph(b, 4)
	b.ReportMetric(float64(len(g.Nodes)), "nodes")
	for b.Loop() {
		if _, _, err := Run(g, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCopy(b *testing.B) {
	g := encoderGraph(b, 4)
	for b.Loop() {
		if _, err := ir.Rebuild(g, ir.Copy); err != nil {
			b.Fatal(err)
		}
	}
}
