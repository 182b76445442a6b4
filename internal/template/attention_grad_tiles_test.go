package template_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/schedule"
	"github.com/sinterml/sinter/internal/template"
)

// attentionGrad schedules the gradients that are wanted of an attention of f32
// operands: of four heads of 5, values of 3, two key heads, and two sequences of
// 5 queries and 7 keys, or three ragged ones. A mask is as large as any sequence.
func attentionGrad(t *testing.T, a ir.AttentionAttr, wanted ...int) *template.AttentionGrad {
	t.Helper()
	b := ir.NewBuilder(nil)
	add := func(op ir.Op, attr ir.Attr, in ...*ir.Node) *ir.Node {
		n, err := b.Add(op, attr, in...)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	input := func(d ir.DType, shape ...int) *ir.Node {
		n, err := b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: fmt.Sprint("x", len(b.Finish().Leaves)), Type: ir.Type{DType: d, Shape: ir.Static(shape...)}})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	var in []*ir.Node
	out, sums := []int{2, 4, 5, 3}, []int{2, 4, 5}
	if a.Ragged {
		in = []*ir.Node{input(ir.F32, 10, 4, 5), input(ir.F32, 14, 2, 5), input(ir.F32, 14, 2, 3), input(ir.I32, 4), input(ir.I32, 4)}
		out, sums = []int{10, 4, 3}, []int{10, 4}
	} else {
		in = []*ir.Node{input(ir.F32, 2, 4, 5, 5), input(ir.F32, 2, 2, 7, 5), input(ir.F32, 2, 2, 7, 3)}
	}
	if a.Mask && a.Ragged {
		in = append(in, input(ir.F32, 1, 4, 6, 8))
	} else if a.Mask {
		in = append(in, input(ir.F32, 2, 1, 5, 7))
	}
	n := add(ir.AttentionGrad, ir.Attr{Attention: &a}, append(in, input(ir.F32, sums...), input(ir.F32, out...), input(ir.F32, sums...))...)
	var outs []*ir.Node
	for _, i := range wanted {
		outs = append(outs, add(ir.Get, ir.Attr{Out: i}, n))
	}
	p, err := schedule.Build(b.Finish(outs...), schedule.Options{Anchors: map[ir.Op]bool{ir.AttentionGrad: true}})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range p.Kernels {
		if w, ok := k.Work.(*template.AttentionGrad); ok {
			return w
		}
	}
	t.Fatal("no gradient of an attention in the plan")
	return nil
}

var pairTiles = []template.PairTile{
	{Rows: 4, Cols: 4, EachRows: 2, EachCols: 1}, {Rows: 2, Cols: 8, EachRows: 1, EachCols: 2}, {Rows: 16, Cols: 2, EachRows: 4, EachCols: 1}, {Rows: 1, Cols: 1, EachRows: 1, EachCols: 1},
}

// Tiles of a gradient compute what its loops do, but for roundings, and the same
// bits whatever the tile and whatever else is wanted.
func TestGradientTiles(t *testing.T) {
	for _, attr := range []ir.AttentionAttr{{Scale: 0.5}, {Scale: 0.5, Causal: true}, {Scale: 0.5, Window: 2}, {Scale: 0.5, Causal: true, Window: 3, SoftCap: 2}, {Scale: 0.5, Window: 40},
		{Scale: 0.5, Mask: true}, {Scale: -0.5, Mask: true, Causal: true, SoftCap: 3}} {
		for _, ragged := range []bool{false, true} {
			attr.Ragged = ragged
			for _, wanted := range [][]int{{0, 1, 2}, {0}, {1}, {2}} {
				a := attentionGrad(t, attr, wanted...)
				want := run(t, &a.Attention, a.Loops())
				var first []byte
				for _, p := range pairTiles {
					got := run(t, &a.Attention, a.Tiles(p).Kernel)
					if first == nil {
						first = got
					}
					if !bytes.Equal(first, got) {
						t.Errorf("%+v: results differ from tile to tile", attr)
					}
					for i := 0; i < len(want); i += 4 {
						x, y := math.Float32frombits(binary.LittleEndian.Uint32(want[i:])), math.Float32frombits(binary.LittleEndian.Uint32(got[i:]))
						if x != y && !(math.Abs(float64(x-y)) <= 1e-5*(1+math.Abs(float64(x)))) {
							t.Fatalf("%+v, %+v, %v: element %d is %v, not %v\n%v", attr, p, wanted, i/4, y, x, a.Tiles(p))
						}
					}
				}
			}
		}
	}
}
