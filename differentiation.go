package sinter

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sinterml/sinter/internal/grad"
	"github.com/sinterml/sinter/internal/ir"
)

// differentiation carries tensors to nodes, where the rules of gradients work,
// and back. Unlike for a capture, equal nodes stay apart: a gradient with
// respect to one of two equal tensors is not that of both.
type differentiation struct {
	capture
	values map[*ir.Node]*value
	custom map[*ir.Node]grad.Custom
	err    error

	computed []computed
	inside   []map[*value]bool // of each Checkpoint
}

// computed is a leaf that was computed from other tensors.
type computed struct {
	node    *ir.Node
	origins origins
}

var errInside = errors.New("it was made inside a Checkpoint, which computes it again: give it to the Checkpoint as an operand, or make it outside")

func newDifferentiation() *differentiation {
	d := &differentiation{values: map[*ir.Node]*value{}, custom: map[*ir.Node]grad.Custom{}}
	d.capture = capture{b: ir.NewDistinctBuilder(), made: map[*value]*ir.Node{}, leaves: map[any]*ir.Node{}, visit: d.visit}
	return d
}

// build is a tensor of what f makes of the operands' nodes.
func build(given []Tensor, f func(b *ir.Builder, in []*ir.Node) (*ir.Node, error)) Tensor {
	d := newDifferentiation()
	in := make([]*ir.Node, len(given))
	for i, x := range given {
		n, err := d.b.AddLeaf(ir.Leaf{Kind: ir.Input, Type: x.v.Type})
		if err != nil {
			return fail(err, given...)
		}
		in[i], d.values[n] = n, x.v
	}
	n, err := f(d.b, in)
	if err != nil {
		return fail(err, given...)
	}
	return d.tensor(n)
}

// visit is called for each value that became a node.
func (d *differentiation) visit(v *value, e *expr, n *ir.Node) {
	if d.values[n] == nil {
		d.values[n] = v
	}
	if e.origins != nil {
		d.computed = append(d.computed, computed{n, e.origins})
	}
	if e.inside != nil {
		d.inside = append(d.inside, e.inside)
	}
	if e.custom != nil {
		c := grad.Custom{Back: func(dy *ir.Node) ([]*ir.Node, error) { return d.customBack(e, dy) }}
		for _, x := range e.in[1:] {
			c.Operands = append(c.Operands, d.made[x])
		}
		d.custom[n] = c
	}
}

// node is the node of a tensor without an error.
func (d *differentiation) node(x Tensor) *ir.Node {
	n, err := d.walk(x.v)
	if err != nil && d.err == nil {
		d.err = err
	}
	return n
}

// forgetful lists the leaves that were computed from some of wrt.
func (d *differentiation) forgetful(wrt []Tensor) []computed {
	var all []computed
	for _, c := range d.computed {
		if slices.ContainsFunc(wrt, func(x Tensor) bool { return c.origins.has(x.load().serial) }) {
			all = append(all, c)
		}
	}
	return all
}

// hidden tells whether v lies inside a Checkpoint.
func (d *differentiation) hidden(v *value) bool {
	return slices.ContainsFunc(d.inside, func(inside map[*value]bool) bool { return inside[v] })
}

func (d *differentiation) run(p grad.Problem) (grads []Tensor, missing []error, err error) {
	if d.err != nil {
		return nil, nil, d.err
	}
	nodes, missing, err := grad.Of(d.b, p)
	if err != nil {
		return nil, nil, err
	}
	grads = make([]Tensor, len(nodes))
	for i, n := range nodes {
		if missing[i] == nil {
			grads[i] = d.tensor(n)
		}
	}
	return grads, missing, nil
}

// tensor makes the value of a node and of what it needs.
func (d *differentiation) tensor(n *ir.Node) Tensor {
	stack := []*ir.Node{n}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		if d.values[n] != nil {
			stack = stack[:len(stack)-1]
			continue
		}
		ready := true
		in := make([]*value, len(n.In))
		for i, x := range n.In {
			if in[i] = d.values[x]; in[i] == nil {
				stack = append(stack, x)
				ready = false
			}
		}
		if !ready {
			continue
		}
		v := newValue(n.Type, &expr{op: n.Op, attr: n.Attr, in: in})
		v.outs = n.Outs
		d.values[n], d.made[v] = v, n
		stack = stack[:len(stack)-1]
	}
	return Tensor{d.values[n]}
}

// customBack asks a gradient of the user's.
func (d *differentiation) customBack(e *expr, dy *ir.Node) ([]*ir.Node, error) {
	in := make([]Tensor, len(e.in)-1)
	for i := range in {
		in[i] = Tensor{e.in[i+1]}
	}
	got := e.custom(in, Tensor{e.in[0]}, d.tensor(dy))
	if len(got) != len(in) {
		return nil, fmt.Errorf("a custom gradient gives %d tensors for %d operands", len(got), len(in))
	}
	nodes := make([]*ir.Node, len(got))
	for i, g := range got {
		if g.v == nil {
			continue
		}
		if err := g.Err(); err != nil {
			return nil, fmt.Errorf("custom gradient of operand %d: %w", i, err)
		}
		if want := in[i].v.Type; !g.v.Type.Equal(want) {
			return nil, fmt.Errorf("the custom gradient of operand %d is %v, want %v", i, g.v.Type, want)
		}
		nodes[i] = d.node(g)
	}
	return nodes, d.err
}
