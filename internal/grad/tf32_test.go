package grad_test

import (
	"testing"

	"github.com/sinterml/sinter/internal/grad"
	"github.com/sinterml/sinter/internal/ir"
)

// The gradients of a product that may be rounded may be rounded too, however its
// operands lie; those of others may not.
func TestTF32(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		for _, turned := range []bool{false, true} {
			shape := ir.Static(8, 8)
			b := ir.NewBuilder(nil)
			must := func(n *ir.Node, err error) *ir.Node {
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			leaf := func(name string) *ir.Node {
				x := must(b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: name, Type: ir.Type{DType: ir.F32, Shape: shape}}))
				if turned {
					x = must(b.Add(ir.Permute, ir.Attr{Axes: []int{1, 0}}, x))
				}
				return x
			}
			x, y := leaf("x"), leaf("y")
			z := must(b.Add(ir.MatMul, ir.Attr{TF32: allowed}, x, y))
			grads, missing, err := grad.Of(b, grad.Problem{Outputs: []*ir.Node{z}, Cotangents: []*ir.Node{leaf("d")}, Wrt: []*ir.Node{x, y}})
			if err != nil || missing[0] != nil || missing[1] != nil {
				t.Fatal(err, missing)
			}
			g := b.Finish(append(grads, z)...)
			products := 0
			for _, n := range g.Nodes {
				if n.Op != ir.MatMul {
					continue
				}
				if products++; n.Attr.TF32 != allowed {
					t.Errorf("allowed %v: %v", allowed, n)
				}
			}
			if products != 3 {
				t.Errorf("%d products, not 3\n%v", products, g)
			}
		}
	}
}
