package ir

import "slices"

// Type is what is known of a value before it is computed.
type Type struct {
	DType DType
	Shape Shape
}

// Equal compares by form.
func (t Type) Equal(u Type) bool { return t.DType == u.DType && t.Shape.Equal(u.Shape) }

// Append appends f32[N 384].
func (t Type) Append(b []byte) []byte { return t.Shape.Append(append(b, t.DType.String()...)) }

func (t Type) String() string { return string(t.Append(nil)) }

// Node is one operation of a graph. Nodes are immutable once built; passes
// make new ones.
type Node struct {
	ID   int // position in Graph.Nodes
	Op   Op
	Attr Attr
	In   []*Node
	Type        // of the first output
	Outs []Type // of all outputs, where Op has several
}

// Out is the type of output i.
func (n *Node) Out(i int) Type {
	if i == 0 {
		return n.Type
	}
	return n.Outs[i]
}

// Leaf describes a value that a program gets from outside.
type Leaf struct {
	Kind    Op // Input, Bound, Weight or Variable
	Name    string
	Type    Type
	Storage any // what the runtime bound, a pointer: leaves that share it compare equal; nil for an Input
	Number  int // free for a compiler: what the leaf was before passes dropped others
}

// Graph is a program before compilation: pure operations, each once, in an
// order in which operands come before their users.
type Graph struct {
	Nodes   []*Node
	Outputs []*Node // Assign nodes among them commit their variables
	Leaves  []Leaf  // numbered by first visit from the outputs

	// Origins, where set, lists for each node those of an earlier graph that it
	// was made of, by number and in order. Rebuild and Reorder keep it up; it is
	// no part of the program.
	Origins [][]int
}

// Symbols lists every symbol of the graph in order of first use.
func (g *Graph) Symbols() []Symbol {
	var all []Symbol
	seen := map[string]bool{}
	add := func(s Shape) {
		for _, d := range s {
			if d.Static() {
				continue
			}
			for _, sym := range d.Symbols() {
				if !seen[sym.Name] {
					seen[sym.Name] = true
					all = append(all, sym)
				}
			}
		}
	}
	for _, n := range g.Nodes {
		add(n.Shape)
		add(n.Attr.Starts)
		add(n.Attr.Before)
		add(n.Attr.After)
	}
	return all
}

// Steady tells which leaves keep their values from run to run: weights, and
// what is bound where inputs bring the data. Without inputs, bound values may
// be data, other ones each time.
func (g *Graph) Steady() []bool {
	inputs := slices.ContainsFunc(g.Leaves, func(l Leaf) bool { return l.Kind == Input })
	steady := make([]bool, len(g.Leaves))
	for i, l := range g.Leaves {
		steady[i] = l.Kind == Weight || l.Kind == Bound && inputs
	}
	return steady
}

// Users lists, for each node by ID, the nodes that read it, each use once.
func (g *Graph) Users() [][]*Node {
	users := make([][]*Node, len(g.Nodes))
	for _, n := range g.Nodes {
		for _, in := range n.In {
			users[in.ID] = append(users[in.ID], n)
		}
	}
	return users
}
