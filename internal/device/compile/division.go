package compile

import "github.com/sinterml/sinter/internal/ir"

// Divisors makes a graph whose outputs are, for each integer division of g in
// order, where its divisor is zero; none of its own divisions is by zero.
func Divisors(g *ir.Graph) (*ir.Graph, []ir.Op, error) {
	var zeros []*ir.Node
	var ops []ir.Op
	b := ir.NewBuilder(g.Leaves)
	made := make([]*ir.Node, len(g.Nodes))
	for i, n := range g.Nodes {
		in := make([]*ir.Node, len(n.In))
		for j, x := range n.In {
			in[j] = made[x.ID]
		}
		if n.Op == ir.IDiv || n.Op == ir.Mod {
			zero, err := isZero(b, in[1])
			if err != nil {
				return nil, nil, err
			}
			one, err := full(b, in[1].Type, 1)
			if err != nil {
				return nil, nil, err
			}
			if in[1], err = b.Add(ir.Where, ir.Attr{}, zero, one, in[1]); err != nil {
				return nil, nil, err
			}
			zeros, ops = append(zeros, zero), append(ops, n.Op)
		}
		var err error
		if made[i], err = ir.Copy(b, n, in); err != nil {
			return nil, nil, err
		}
	}
	return b.Finish(zeros...), ops, nil
}

func isZero(b *ir.Builder, x *ir.Node) (*ir.Node, error) {
	zero, err := full(b, x.Type, 0)
	if err != nil {
		return nil, err
	}
	return b.Add(ir.Equal, ir.Attr{}, x, zero)
}

// full is a constant of type t.
func full(b *ir.Builder, t ir.Type, bits uint64) (*ir.Node, error) {
	n, err := b.Add(ir.Const, ir.Attr{DType: t.DType, Value: bits})
	if err != nil {
		return nil, err
	}
	ones := make(ir.Shape, len(t.Shape))
	for i := range ones {
		ones[i] = ir.N(1)
	}
	if n, err = b.Add(ir.Reshape, ir.Attr{Shape: ones}, n); err != nil {
		return nil, err
	}
	return b.Add(ir.Expand, ir.Attr{Shape: t.Shape}, n)
}
