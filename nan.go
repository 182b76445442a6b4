package sinter

import (
	"context"
	"fmt"
	"strings"

	"github.com/sinterml/sinter/internal/ir"
)

// NotFinite is a tensor of a graph with an element that is NaN or infinite.
type NotFinite struct {
	// Name is "input x" or "variable w" for leaves, else the operation with what it
	// was given.
	Name  string
	Leaf  bool
	Shape []int
	Value float64 // of the first such element
	At    []int   // its index
}

func (n *NotFinite) String() string {
	if n == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s %v is %v at %v", n.Name, n.Shape, n.Value, n.At)
}

// FindNaN runs the graph on inputs and looks for the first tensor with a NaN:
// inputs before variables, those before operations in their order. Where there
// is none it looks for what is infinite though nothing that it was computed from
// is. Nil: all is finite. Variables keep their values. It is slow, and meant for
// finding out what went wrong.
func (g *Graph) FindNaN(ctx context.Context, in map[string]Tensor, o Options) (*NotFinite, error) {
	if err := g.Err(); err != nil {
		return nil, err
	}
	var at []int // nodes, in the order in which they are looked at
	for _, kind := range []func(n *ir.Node) bool{
		func(n *ir.Node) bool { return n.Op == ir.Input },
		func(n *ir.Node) bool { return n.Op.HasLeaf() && n.Op != ir.Input && n.Op != ir.Assign },
		func(n *ir.Node) bool { return !n.Op.HasLeaf() },
	} {
		for i, n := range g.graph.Nodes {
			if v := g.values[i]; kind(n) && n.DType.IsFloat() && v != nil && v.outs == nil && v.expr.Load() != nil {
				at = append(at, i)
			}
		}
	}
	if len(at) == 0 {
		return nil, nil
	}
	nan, inf := make([]Tensor, len(at)), make([]Tensor, len(at))
	for i, node := range at {
		x := Tensor{g.values[node]}
		nan[i], inf[i] = x.IsNaN().Cast(I64).Sum(), x.IsInf().Cast(I64).Sum()
	}
	counts, err := compute(ctx, in, o, Stack(0, append(nan, inf...)...))
	if err != nil {
		return nil, err
	}
	all, err := Values[int64](ctx, counts)
	if err != nil {
		return nil, err
	}
	hasNaN, hasInf := all[:len(at)], all[len(at):]
	for i, node := range at {
		if hasNaN[i] != 0 {
			return g.notFinite(ctx, in, o, node)
		}
	}
	infinite := map[int]bool{}
	for i, node := range at {
		infinite[node] = hasInf[i] != 0
	}
	for _, node := range at {
		n := g.graph.Nodes[node]
		fresh := infinite[node] && n.Op != ir.Const
		for _, operand := range n.In {
			fresh = fresh && !infinite[operand.ID]
		}
		if fresh {
			return g.notFinite(ctx, in, o, node)
		}
	}
	return nil, nil
}

// compute runs x on those of the inputs that it needs.
func compute(ctx context.Context, in map[string]Tensor, o Options, x Tensor) (Tensor, error) {
	p, err := Compile(Capture(x), o)
	if err != nil {
		return Tensor{}, fmt.Errorf("looking for what is not finite: %w", err)
	}
	defer p.Close()
	needed := map[string]Tensor{}
	for _, i := range p.Info().Inputs {
		if t, ok := in[i.Name]; ok {
			needed[i.Name] = t
		}
	}
	out, err := p.Run(ctx, needed)
	if err != nil {
		return Tensor{}, fmt.Errorf("looking for what is not finite: %w", err)
	}
	return out[0], nil
}

// notFinite finds the first element of a node at fault.
func (g *Graph) notFinite(ctx context.Context, in map[string]Tensor, o Options, node int) (*NotFinite, error) {
	n := g.graph.Nodes[node]
	r := &NotFinite{Name: g.describe(n, 2), Leaf: n.Op.HasLeaf()}
	x, err := compute(ctx, in, o, Tensor{g.values[node]})
	if err != nil {
		return nil, err
	}
	values, err := Values[float64](ctx, x.Cast(F64))
	if err != nil {
		return nil, err
	}
	for _, d := range x.Shape() {
		size, _ := d.Const()
		r.Shape = append(r.Shape, size)
	}
	// NaN first, for a tensor may hold infinities for good.
	first := -1
	for i, v := range values {
		if v != v || first < 0 && v-v != 0 {
			first = i
			if v != v {
				break
			}
		}
	}
	if first < 0 {
		return nil, fmt.Errorf("%s was not finite, and is when it is computed again", r.Name)
	}
	r.Value, r.At = values[first], make([]int, len(r.Shape))
	for axis := len(r.Shape) - 1; axis >= 0; axis-- {
		r.At[axis] = first % r.Shape[axis]
		first /= r.Shape[axis]
	}
	return r, nil
}

// describe is an operation with its operands, so many levels of them, through
// what moves elements alone.
func (g *Graph) describe(n *ir.Node, levels int) string {
	for !n.Op.HasLeaf() && len(n.In) == 1 && (n.Op == ir.Reshape || n.Op == ir.Expand || n.Op == ir.Permute) {
		n = n.In[0]
	}
	switch {
	case n.Op == ir.Const:
		return "a constant"
	case n.Op.HasLeaf():
		return strings.TrimSpace(n.Op.String() + " " + g.graph.Leaves[n.Attr.Leaf].Name)
	case levels == 0:
		return n.Op.String()
	}
	operands := make([]string, len(n.In))
	for i, in := range n.In {
		operands[i] = g.describe(in, levels-1)
	}
	return n.Op.String() + "(" + strings.Join(operands, ", ") + ")"
}
