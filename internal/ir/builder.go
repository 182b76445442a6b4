package ir

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
)

// Builder makes the nodes of one graph. Equal nodes are made once, so common
// sub-expressions merge by construction; Rand nodes and recomputed regions
// differ in their attributes and stay apart.
type Builder struct {
	nodes   []*Node
	leaves  []Leaf
	table   map[string]*Node
	key     []byte
	swapped []byte
	slab    []Node // nodes are allocated in batches: a pass rebuilds them all
}

// NewBuilder starts a graph with the given leaves.
func NewBuilder(leaves []Leaf) *Builder {
	return &Builder{leaves: leaves, table: map[string]*Node{}}
}

// NewDistinctBuilder starts a graph in which equal nodes stay apart.
func NewDistinctBuilder() *Builder { return &Builder{} }

// Leaves returns the leaves so far.
func (b *Builder) Leaves() []Leaf { return b.leaves }

// AddLeaf adds a leaf and the node that reads it.
func (b *Builder) AddLeaf(l Leaf) (*Node, error) {
	b.leaves = append(b.leaves, l)
	return b.ReadLeaf(len(b.leaves) - 1)
}

// ReadLeaf makes the node that reads leaf i.
func (b *Builder) ReadLeaf(i int) (*Node, error) {
	if i < 0 || i >= len(b.leaves) {
		return nil, fmt.Errorf("there is no leaf %d", i)
	}
	l := &b.leaves[i]
	return b.Add(l.Kind, Attr{Leaf: i, DType: l.Type.DType, Shape: l.Type.Shape})
}

// Add makes a node, or finds the equal one; operands of a commutative
// operation may stand in either order. An operation that its operands do not
// fit is an error. The node keeps in and the slices of attr.
func (b *Builder) Add(op Op, attr Attr, in ...*Node) (*Node, error) {
	outs, err := b.infer(op, &attr, in)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", op, err)
	}
	if n := b.find(op, &attr, outs[0], in); n != nil {
		return n, nil
	}
	if len(b.slab) == 0 {
		b.slab = make([]Node, 64)
	}
	n := &b.slab[0]
	b.slab = b.slab[1:]
	*n = Node{ID: len(b.nodes), Op: op, Attr: attr, In: in, Type: outs[0]}
	if len(outs) > 1 {
		n.Outs = outs
	}
	b.nodes = append(b.nodes, n)
	if b.table != nil {
		b.table[string(b.key)] = n
	}
	return n, nil
}

// find looks for the equal node, and leaves the new one's key in b.key.
func (b *Builder) find(op Op, attr *Attr, t Type, in []*Node) *Node {
	if b.table == nil {
		return nil
	}
	b.key = appendKey(b.key[:0], op, attr, t, in)
	if n := b.table[string(b.key)]; n != nil {
		return n
	}
	if !op.Commutes() || in[0] == in[1] {
		return nil
	}
	b.swapped = appendKey(b.swapped[:0], op, attr, t, []*Node{in[1], in[0]})
	return b.table[string(b.swapped)]
}

// infer checks the operands and the leaf, which Infer cannot see, and gives
// the types of the outputs.
func (b *Builder) infer(op Op, attr *Attr, in []*Node) ([]Type, error) {
	for i, n := range in {
		if n == nil || n.ID >= len(b.nodes) || b.nodes[n.ID] != n {
			return nil, fmt.Errorf("operand %d is not a node of this graph", i)
		}
	}
	outs, err := inferNode(op, attr, in)
	if err != nil || !op.HasLeaf() {
		return outs, err
	}
	return outs, checkLeaf(op, attr.Leaf, outs[0], in, b.leaves)
}

// inferNode is Infer over nodes, which also knows that a node with several
// outputs is read through Get, and Get reads nothing else.
func inferNode(op Op, attr *Attr, in []*Node) ([]Type, error) {
	types := make([]Type, 0, 4)
	for i, n := range in {
		t := n.Type
		switch several := n.Op.Outputs() > 1; {
		case op == Get && !several:
			return nil, fmt.Errorf("%v has one output: use it as it is", n.Op)
		case op == Get && (attr.Out < 0 || attr.Out >= n.Op.Outputs()):
			return nil, fmt.Errorf("%v has no output %d", n.Op, attr.Out)
		case op == Get:
			t = n.Out(attr.Out)
		case several:
			return nil, fmt.Errorf("operand %d, %v, has several outputs: select one by Get", i, n.Op)
		}
		types = append(types, t)
	}
	return Infer(op, attr, types)
}

// checkLeaf checks a node of an operation that has a leaf against that leaf.
func checkLeaf(op Op, leaf int, t Type, in []*Node, leaves []Leaf) error {
	if leaf < 0 || leaf >= len(leaves) {
		return fmt.Errorf("there is no leaf %d", leaf)
	}
	l := &leaves[leaf]
	want := op
	if op == Assign {
		want = Variable
		if in[0].Op != Variable || in[0].Attr.Leaf != leaf {
			return fmt.Errorf("operand 0 is not the variable of leaf %d", leaf)
		}
	}
	if l.Kind != want || !l.Type.Equal(t) {
		return fmt.Errorf("%v does not fit leaf %d, %v %q %v", t, leaf, l.Kind, l.Name, l.Type)
	}
	return nil
}

// appendKey appends what tells nodes apart: equal keys are equal nodes.
func appendKey(k []byte, op Op, attr *Attr, t Type, in []*Node) []byte {
	k = append(k, byte(op))
	k = binary.AppendUvarint(k, uint64(len(in)))
	for _, n := range in {
		k = binary.AppendUvarint(k, uint64(n.ID))
	}
	return t.Append(attr.Append(k))
}

// Finish returns the graph that computes outputs: what they need, operands
// first, numbered in order of first visit. The builder must not be used again.
func (b *Builder) Finish(outputs ...*Node) *Graph { return b.finish(outputs, nil) }

// FinishShort is Finish in an order that keeps values for a short time: outputs
// that need few steps come first, so that what they alone read is free again,
// and of a node's operands the one with the longest way to a leaf, so that what
// takes few steps is computed when it is needed.
func (b *Builder) FinishShort(outputs ...*Node) *Graph {
	height := make([]int32, len(b.nodes))
	for i, n := range b.nodes {
		for _, in := range n.In {
			height[i] = max(height[i], height[in.ID]+1)
		}
	}
	return b.finish(outputs, height)
}

func (b *Builder) finish(outputs []*Node, height []int32) *Graph {
	g := &Graph{Outputs: outputs}
	v := visitor{graph: g, state: make([]uint8, len(b.nodes)), height: height}
	for _, out := range v.lowFirst(slices.Clone(outputs)) {
		v.visit(out)
	}
	b.number(g)
	return g
}

// visitor lists nodes, operands first.
type visitor struct {
	graph  *Graph
	state  []uint8 // by the builder's number
	height []int32 // nil: operands in their order
	stack  []*Node
	next   []*Node // operands about to be pushed
}

func (v *visitor) lowFirst(nodes []*Node) []*Node {
	if v.height != nil {
		slices.SortStableFunc(nodes, func(x, y *Node) int { return cmp.Compare(v.height[x.ID], v.height[y.ID]) })
	}
	return nodes
}

func (v *visitor) visit(out *Node) {
	const unseen, open, done = 0, 1, 2
	v.stack = append(v.stack, out)
	for len(v.stack) > 0 {
		n := v.stack[len(v.stack)-1]
		switch v.state[n.ID] {
		case done:
			v.stack = v.stack[:len(v.stack)-1]
		case unseen:
			v.state[n.ID] = open
			v.next = v.next[:0]
			for i := len(n.In) - 1; i >= 0; i-- {
				if v.state[n.In[i].ID] == unseen {
					v.next = append(v.next, n.In[i])
				}
			}
			v.stack = append(v.stack, v.lowFirst(v.next)...) // the last is visited first
		default:
			v.state[n.ID] = done
			v.graph.Nodes = append(v.graph.Nodes, n)
			v.stack = v.stack[:len(v.stack)-1]
		}
	}
}

// number gives nodes and leaves their places in g. IDs change only now: the
// walk goes by the builder's numbers.
func (b *Builder) number(g *Graph) {
	leafAt := make([]int, len(b.leaves))
	for i := range leafAt {
		leafAt[i] = -1
	}
	for i, n := range g.Nodes {
		n.ID = i
		if n.Op.HasLeaf() {
			if at := leafAt[n.Attr.Leaf]; at < 0 {
				leafAt[n.Attr.Leaf] = len(g.Leaves)
				g.Leaves = append(g.Leaves, b.leaves[n.Attr.Leaf])
			}
			n.Attr.Leaf = leafAt[n.Attr.Leaf]
		}
	}
}

// HasLeaf tells whether Attr.Leaf of op's nodes numbers a leaf.
func (op Op) HasLeaf() bool {
	switch op {
	case Input, Bound, Weight, Variable, Assign:
		return true
	}
	return false
}

// Rebuild calls f for every node of g, operands first, with the new operands, and
// returns the graph that f's results make: the frame of every pass. f may
// return any node that b has made.
func Rebuild(g *Graph, f func(b *Builder, n *Node, in []*Node) (*Node, error)) (*Graph, error) {
	b, outs, lineage, err := rebuild(g, f)
	if err != nil {
		return nil, err
	}
	return lineage.trace(b.Finish(outs...)), nil
}

// Reorder is g in the order of FinishShort.
func Reorder(g *Graph) (*Graph, error) {
	b, outs, lineage, err := rebuild(g, Copy)
	if err != nil {
		return nil, err
	}
	return lineage.trace(b.FinishShort(outs...)), nil
}

func rebuild(g *Graph, f func(b *Builder, n *Node, in []*Node) (*Node, error)) (b *Builder, outs []*Node, l *lineage, err error) {
	b = NewBuilder(g.Leaves)
	if g.Origins != nil {
		l = newLineage(g, b)
	}
	made := make([]*Node, len(g.Nodes))
	for i, n := range g.Nodes {
		in := make([]*Node, len(n.In))
		for j, x := range n.In {
			in[j] = made[x.ID]
		}
		if made[i], err = f(b, n, in); err != nil {
			return nil, nil, nil, err
		}
		l.made(i, made[i])
	}
	outs = make([]*Node, len(g.Outputs))
	for i, o := range g.Outputs {
		outs[i] = made[o.ID]
	}
	return b, outs, l, nil
}

// Copy is the f of Rebuild that changes nothing.
func Copy(b *Builder, n *Node, in []*Node) (*Node, error) { return b.Add(n.Op, n.Attr, in...) }
