package grad_test

import (
	"context"
	"encoding/binary"
	"math"
	"testing"

	"github.com/sinterml/sinter/internal/device/interp"
	"github.com/sinterml/sinter/internal/grad"
	"github.com/sinterml/sinter/internal/ir"
)

// Gradients of slices that are the whole of a tensor are joined, in whatever
// order they come; others are added.
func TestPieces(t *testing.T) {
	const all = 6
	for name, c := range map[string]struct {
		slices  [][2]int // of the elements of x: start and count
		whole   bool     // and x itself is read too
		concats int
	}{
		"in order":          {slices: [][2]int{{0, 1}, {1, 3}, {4, 2}}, concats: 1},
		"out of order":      {slices: [][2]int{{1, 3}, {4, 2}, {0, 1}}, concats: 1},
		"beside the whole":  {slices: [][2]int{{4, 2}, {0, 4}}, whole: true, concats: 1},
		"in two ways":       {slices: [][2]int{{0, 3}, {2, 4}, {3, 3}, {0, 2}}, concats: 2},
		"with a gap":        {slices: [][2]int{{0, 2}, {3, 3}}},
		"that overlap":      {slices: [][2]int{{0, 4}, {3, 3}}},
		"one more than all": {slices: [][2]int{{0, 2}, {1, 3}, {2, 4}}, concats: 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := ir.NewBuilder([]ir.Leaf{{Kind: ir.Input, Name: "x", Type: ir.Type{DType: ir.F64, Shape: ir.Shape{ir.N(2), ir.N(all)}}}})
			add := func(op ir.Op, a ir.Attr, in ...*ir.Node) *ir.Node {
				n, err := b.Add(op, a, in...)
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			x, err := b.ReadLeaf(0)
			if err != nil {
				t.Fatal(err)
			}
			var p grad.Problem
			p.Wrt = []*ir.Node{x}
			use := func(y *ir.Node, factor float64) {
				bits, err := ir.Bits(ir.F64, factor)
				if err != nil {
					t.Fatal(err)
				}
				one := add(ir.Reshape, ir.Attr{Shape: ir.Shape{ir.N(1), ir.N(1)}}, add(ir.Const, ir.Attr{DType: ir.F64, Value: bits}))
				p.Outputs = append(p.Outputs, y)
				p.Cotangents = append(p.Cotangents, add(ir.Expand, ir.Attr{Shape: y.Shape}, one))
			}
			want := make([]float64, all)
			for i, s := range c.slices {
				y := add(ir.Slice, ir.Attr{Starts: []ir.Dim{ir.N(0), ir.N(s[0])}, Steps: []int{1, 1}, Shape: ir.Shape{ir.N(2), ir.N(s[1])}}, x)
				use(y, float64(i+2))
				for j := range s[1] {
					want[s[0]+j] += float64(i + 2)
				}
			}
			if c.whole {
				use(x, 100)
				for j := range want {
					want[j] += 100
				}
			}
			grads, missing, err := grad.Of(b, p)
			if err != nil || missing[0] != nil {
				t.Fatal(err, missing)
			}
			g := b.Finish(grads...)
			concats := 0
			for _, n := range g.Nodes {
				if n.Op == ir.Concat {
					concats++
				}
			}
			if concats != c.concats {
				t.Errorf("%d are joined, want %d\n%v", concats, c.concats, g)
			}
			out, _, err := interp.Evaluate(context.Background(), g, ir.Env{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 2 * all {
				if got := math.Float64frombits(binary.LittleEndian.Uint64(out[0][8*i:])); got != want[i%all] {
					t.Errorf("element %d is %v, want %v\n%v", i, got, want[i%all], g)
				}
			}
		})
	}
}
