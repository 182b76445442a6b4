package sinter

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/sinterml/sinter/internal/ir"
)

// Graph is what Capture found: every operation that some tensors need, each
// once. It keeps all of it, also after it ran and the tensors dropped theirs.
type Graph struct {
	graph  *ir.Graph
	err    error
	values []*value // by node, for printing; the first that became the node
}

// Capture collects the operations that outputs need, back to inputs, weights,
// variables and tensors with values. Equal operations are merged. An error
// of an output is the graph's: see Err.
func Capture(outputs ...Tensor) *Graph {
	values := make([]*value, len(outputs))
	for i, x := range outputs {
		values[i] = x.load()
	}
	g, err := captureValues(values)
	if err != nil {
		return &Graph{graph: &ir.Graph{}, err: err}
	}
	return g
}

func captureValues(outputs []*value) (*Graph, error) {
	c := capture{b: ir.NewBuilder(nil), made: map[*value]*ir.Node{}, leaves: map[any]*ir.Node{}, first: map[*ir.Node]*value{}}
	nodes := make([]*ir.Node, len(outputs))
	for i, v := range outputs {
		n, err := c.walk(v)
		if err != nil {
			return nil, err
		}
		nodes[i] = n
	}
	g := c.b.Finish(nodes...)
	if err := consistentSymbols(g); err != nil {
		return nil, err
	}
	values := make([]*value, len(g.Nodes))
	for i, n := range g.Nodes {
		values[i] = c.first[n]
	}
	return &Graph{graph: g, values: values}, nil
}

// capture is one walk from values to nodes.
type capture struct {
	b      *ir.Builder
	made   map[*value]*ir.Node
	first  map[*ir.Node]*value
	leaves map[any]*ir.Node // by storage, variable or input name
	draws  int
	region map[int]int // what is recomputed, numbered as met
	// visit is called for each value that became a node, where a gradient is
	// wanted: then values with gradients of their own are nodes of their own.
	visit func(v *value, e *expr, n *ir.Node)
}

// frame is a value being visited. Its expression is read once: it may be
// swapped for a result at any time by another goroutine.
type frame struct {
	v *value
	e *expr
}

// walk makes the node of v and of what it needs. It keeps its own stack:
// chains of operations may be longer than a goroutine's stack.
func (c *capture) walk(v *value) (*ir.Node, error) {
	if v.err != nil {
		return nil, v.err
	}
	stack := []frame{{v, v.expr.Load()}}
	for len(stack) > 0 {
		f := stack[len(stack)-1]
		if c.made[f.v] != nil {
			stack = stack[:len(stack)-1]
			continue
		}
		ready := true
		for i := len(f.e.in) - 1; i >= 0; i-- {
			if in := f.e.in[i]; c.made[in] == nil {
				stack = append(stack, frame{in, in.expr.Load()})
				ready = false
			}
		}
		if !ready {
			continue
		}
		n, err := c.node(f.e)
		if err != nil {
			return nil, err
		}
		c.made[f.v] = n
		if c.visit != nil {
			c.visit(f.v, f.e, n)
		} else if c.first[n] == nil {
			c.first[n] = f.v
		}
		stack = stack[:len(stack)-1]
	}
	return c.made[v], nil
}

func (c *capture) node(e *expr) (*ir.Node, error) {
	if e.op.HasLeaf() && e.op != ir.Assign {
		return c.leaf(e)
	}
	attr := e.attr
	in := make([]*ir.Node, len(e.in))
	for i, x := range e.in {
		in[i] = c.made[x]
	}
	if e.custom != nil {
		if c.visit == nil {
			return in[0], nil
		}
		in = in[:1]
	}
	if attr.Region != 0 {
		if c.region == nil {
			c.region = map[int]int{}
		}
		if c.region[attr.Region] == 0 {
			c.region[attr.Region] = len(c.region) + 1
		}
		attr.Region = c.region[attr.Region]
	}
	switch e.op {
	case ir.Rand:
		// A number of its own keeps two draws apart that look the same.
		c.draws++
		attr.Leaf = c.draws
	case ir.Assign:
		attr.Leaf = in[0].Attr.Leaf
	}
	return c.b.Add(e.op, attr, in...)
}

// leaf reads a leaf, adding it on its first visit.
func (c *capture) leaf(e *expr) (*ir.Node, error) {
	l := ir.Leaf{Kind: e.op, Name: e.name, Type: ir.Type{DType: e.attr.DType, Shape: e.attr.Shape}}
	var key any
	switch {
	case e.op == ir.Input:
		key = e.name
	case e.variable != nil:
		key, l.Storage = e.variable, e.variable
	case c.visit != nil: // of two tensors over one storage each has a gradient
		key, l.Storage = e, e.store
	default:
		key, l.Storage = e.store, e.store
	}
	if n := c.leaves[key]; n != nil {
		if e.op == ir.Input && !n.Type.Equal(l.Type) {
			return nil, fmt.Errorf("input %q is both %v and %v: use one Input for both", e.name, n.Type, l.Type)
		}
		return n, nil
	}
	n, err := c.b.AddLeaf(l)
	c.leaves[key] = n
	return n, err
}

// consistentSymbols refuses one name with two sets of bounds.
func consistentSymbols(g *ir.Graph) error {
	seen := map[string]ir.Symbol{}
	for _, n := range g.Nodes {
		for _, shape := range []ir.Shape{n.Shape, n.Attr.Starts, n.Attr.Before, n.Attr.After} {
			for _, d := range shape {
				if d.Static() {
					continue
				}
				for _, s := range d.Symbols() {
					if t, ok := seen[s.Name]; ok && t != s {
						return fmt.Errorf("size %q lies between %d and %d in one place, %d and %d in another: use equal bounds", s.Name, t.Min, t.Max, s.Min, s.Max)
					}
					seen[s.Name] = s
				}
			}
		}
	}
	return nil
}

// Err is the error of the outputs that Capture was given.
func (g *Graph) Err() error {
	if g == nil || g.graph == nil {
		return errors.New("the zero Graph is empty: make one with Capture")
	}
	return g.err
}

// String prints one operation a line, and below them the values that are there
// by now. It never evaluates.
func (g *Graph) String() string {
	if err := g.Err(); err != nil {
		return "graph error: " + err.Error() + "\n"
	}
	var b strings.Builder
	b.WriteString(g.graph.String())
	for i, v := range g.values {
		if s := v.preview(); s != "" {
			b.WriteString("# %" + strconv.Itoa(i) + " =" + s + "\n")
		}
	}
	return b.String()
}

// preview prints the first of the values, if they are there.
func (v *value) preview() string {
	if v == nil {
		return ""
	}
	if e := v.expr.Load(); e.store != nil {
		return e.store.preview(8)
	}
	return ""
}

// DOT prints the graph in the language of Graphviz.
func (g *Graph) DOT() string {
	if err := g.Err(); err != nil {
		return "digraph {\n\terror [label=" + strconv.Quote(err.Error()) + "]\n}\n"
	}
	var b strings.Builder
	b.WriteString("digraph {\n\tnode [shape=box]\n")
	for i, n := range g.graph.Nodes {
		label := n.Op.String()
		if n.Op.HasLeaf() && n.Op != ir.Assign {
			label += " " + g.graph.Leaves[n.Attr.Leaf].Name
		}
		label += "\n" + n.Type.String()
		if s := g.values[i].preview(); s != "" {
			label += "\n" + s[1:]
		}
		fmt.Fprintf(&b, "\tn%d [label=%q]\n", i, label)
		for _, in := range n.In {
			fmt.Fprintf(&b, "\tn%d -> n%d\n", in.ID, i)
		}
	}
	for i, n := range g.graph.Outputs {
		fmt.Fprintf(&b, "\tout%d [shape=ellipse]\n\tn%d -> out%d\n", i, n.ID, i)
	}
	b.WriteString("}\n")
	return b.String()
}
