package suite

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math"

	"github.com/sinterml/sinter/internal/device/compile"
	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/int4"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/rewrite"
)

// PackWeights is g with weights of its products in 4 bits, and the values of its
// leaves, made of those of g's.
func PackWeights(ctx context.Context, g *ir.Graph, leaves [][]byte, order int4.Order, o rewrite.Options) (*ir.Graph, [][]byte, error) {
	small, packed, err := rewrite.PackWeights(compile.NumberLeaves(g), order, o)
	if err != nil {
		return nil, nil, err
	}
	of := func(g *ir.Graph) [][]byte {
		values := make([][]byte, len(g.Leaves))
		for i, l := range g.Leaves {
			values[i] = leaves[l.Number]
		}
		return values
	}
	values := of(small)
	for _, p := range packed {
		w, _, err := interp.Evaluate(ctx, p.Of, nil, of(p.Of))
		if err != nil {
			return nil, nil, err
		}
		shape, err := p.Of.Outputs[0].Shape.Eval(nil)
		if err != nil {
			return nil, nil, err
		}
		for _, leaf := range []int{p.Codes, p.Scales} {
			t := small.Leaves[leaf].Type
			n, _ := t.Shape.Numel().Const()
			values[leaf] = make([]byte, n*t.DType.Size())
		}
		if err := int4.Pack(values[p.Codes], values[p.Scales], floats(w[0]), shape, order); err != nil {
			return nil, nil, err
		}
	}
	return small, values, nil
}

func floats(b []byte) []float32 {
	all := make([]float32, len(b)/4)
	for i := range all {
		all[i] = math.Float32frombits(binary.NativeEndian.Uint32(b[4*i:]))
	}
	return all
}

// PackedCases multiply by weights in 4 bits, with groups cut off at the end, for
// any number of rows and for few.
func PackedCases() []*Case {
	m := ir.Sym("M", 0, 4096)
	return []*Case{{Name: "matmul packed", Sizes: []ir.Env{{"M": 0}, {"M": 1}, {"M": 33}}, Build: func(b *Builder) []*ir.Node {
		return []*ir.Node{b.packedProduct(m, 70, 48, int4.Rows), b.packedProduct(ir.N(3), 96, 32, int4.Rows), b.packedProduct(ir.N(1), 1061, 17, int4.Panels)}
	}}}
}

// packedProduct is m rows of data times weights [k, n] of which any codes are
// drawn, and scales of few digits as weights have them.
func (b *Builder) packedProduct(m ir.Dim, k, n int, order int4.Order) *ir.Node {
	inner := &Builder{graph: ir.NewBuilder(nil), fills: map[string]Fill{}}
	x := inner.Add(ir.Cast, ir.Attr{DType: ir.F32}, inner.Input(ir.BF16, Ordinary, m, ir.N(k)))
	y := inner.Add(ir.MatMul, ir.Attr{}, x, inner.Leaf(ir.Weight, ir.F32, Ordinary, ir.N(k), ir.N(n)))
	if inner.err != nil {
		return b.keep(nil, inner.err)
	}
	small, packed, err := rewrite.PackWeights(inner.graph.Finish(y), order, rewrite.Options{NoOpt: []string{"all"}})
	if err != nil || len(packed) != 1 {
		return b.keep(nil, cmp.Or(err, errNotPacked))
	}
	made := make([]*ir.Node, len(small.Nodes))
	for i, node := range small.Nodes {
		switch {
		case node.Op.HasLeaf() && node.Attr.Leaf == packed[0].Codes:
			made[i] = b.Leaf(ir.Weight, node.DType, Anything, node.Shape...)
		case node.Op.HasLeaf() && node.Attr.Leaf == packed[0].Scales:
			made[i] = b.Leaf(ir.Weight, node.DType, Given(0.5, -0.3125, 1.9375, -0.0625, 0x1p-20), node.Shape...)
		case node.Op.HasLeaf():
			made[i] = b.Input(node.DType, Ordinary, node.Shape...)
		default:
			in := make([]*ir.Node, len(node.In))
			for j, operand := range node.In {
				in[j] = made[operand.ID]
			}
			made[i] = b.Add(node.Op, node.Attr, in...)
		}
	}
	return made[small.Outputs[0].ID]
}

var errNotPacked = errors.New("no weights were packed")
