package ir

import (
	"errors"
	"fmt"
	"reflect"
)

// attrUse is a set of fields of Attr.
type attrUse uint32

const (
	useDType attrUse = 1 << iota
	useShape
	useAxes
	useStarts
	useSteps
	useBefore
	useAfter
	useValue
	useMode
	useLeaf
	useOut
	useWindow // Size, Stride, Dilation
	useConv
	useAttention
	useDescending
	useTF32
)

// attrUses tells which fields each operation has; those not listed have none.
// Region belongs to all.
var attrUses = [opCount]attrUse{
	Const: useDType | useValue, Iota: useDType | useShape | useAxes, Rand: useShape | useLeaf,
	Input: useDType | useShape | useLeaf, Bound: useDType | useShape | useLeaf,
	Weight: useDType | useShape | useLeaf, Variable: useDType | useShape | useLeaf,
	Cast: useDType, Bitcast: useDType,
	ReduceSum: useAxes, ReduceProd: useAxes, ReduceMax: useAxes, ReduceMin: useAxes, ArgMax: useAxes, ArgMin: useAxes,
	Reshape: useShape, Permute: useAxes, Expand: useShape, Pad: useBefore | useAfter | useValue,
	Slice: useStarts | useSteps | useShape, Flip: useAxes, Window: useAxes | useWindow, Concat: useAxes,
	Gather: useAxes, Scatter: useAxes | useMode,
	MatMul: useTF32, Conv: useConv, Attention: useAttention | useTF32, AttentionGrad: useAttention, Sort: useAxes | useDescending, Scan: useAxes | useMode,
	SegmentIDs: useShape, SegmentReduce: useMode,
	Get: useOut, Assign: useLeaf,
}

func (op Op) attrs() attrUse {
	if op >= opCount {
		return 0
	}
	return attrUses[op]
}

// has gives the fields that are set.
func (a *Attr) has() attrUse {
	var u attrUse
	for _, f := range [...]struct {
		set bool
		use attrUse
	}{
		{a.DType != NoType, useDType}, {len(a.Shape) > 0, useShape}, {a.Axes != nil, useAxes},
		{a.Starts != nil, useStarts}, {a.Steps != nil, useSteps}, {a.Before != nil, useBefore}, {a.After != nil, useAfter},
		{a.Value != 0, useValue}, {a.Mode != "", useMode}, {a.Leaf != 0, useLeaf}, {a.Out != 0, useOut},
		{a.Size != 0 || a.Stride != 0 || a.Dilation != 0, useWindow},
		{a.Conv != nil, useConv}, {a.Attention != nil, useAttention}, {a.Descending, useDescending}, {a.TF32, useTF32},
	} {
		if f.set {
			u |= f.use
		}
	}
	return u
}

// Check says what is wrong with a symbol: names are words, so that a size can
// be read back, and sizes are not negative.
func (s Symbol) Check() error {
	for i, c := range s.Name {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '.') {
			return fmt.Errorf("size name %q: use letters, digits, underscores and points, a letter first", s.Name)
		}
	}
	if s.Name == "" {
		return errors.New("a size has no name")
	}
	if s.Min < 0 || s.Max < s.Min {
		return fmt.Errorf("size %s lies between %d and %d: want 0 <= min <= max", s.Name, s.Min, s.Max)
	}
	return nil
}

// Check verifies what every stage may rely on: operands come first and belong
// to the graph, each node is as Infer would make it and unlike all others, and
// leaves are numbered by first visit. Leaves alone may be there for nothing: an
// output that is one is no part of what a device runs.
func Check(g *Graph) error {
	if len(g.Outputs) == 0 {
		return errors.New("the graph has no outputs")
	}
	if err := checkLeaves(g); err != nil {
		return err
	}
	c := checker{g: g, symbols: map[string]Symbol{}, keys: make(map[string]int, len(g.Nodes)), used: make([]bool, len(g.Nodes))}
	for i, n := range g.Nodes {
		if err := c.node(i, n); err != nil {
			return fmt.Errorf("node %%%d: %w", i, err)
		}
	}
	for _, o := range g.Outputs {
		if err := c.operand(len(g.Nodes), o); err != nil {
			return fmt.Errorf("output: %w", err)
		}
		if o.Op.Outputs() > 1 {
			return fmt.Errorf("output %%%d, %v, has several outputs: select one by Get", o.ID, o.Op)
		}
	}
	for i, used := range c.used {
		if op := g.Nodes[i].Op; !used && (!op.HasLeaf() || op == Assign) {
			return fmt.Errorf("node %%%d, %v, is not needed by any output", i, g.Nodes[i].Op)
		}
	}
	if c.leaves != len(g.Leaves) {
		return fmt.Errorf("leaf %d is not read", c.leaves)
	}
	return nil
}

type checker struct {
	g       *Graph
	symbols map[string]Symbol
	keys    map[string]int
	key     []byte
	used    []bool
	leaves  int // seen so far
}

func (c *checker) node(i int, n *Node) error {
	if n == nil || n.ID != i {
		return fmt.Errorf("is not numbered %d", i)
	}
	for _, in := range n.In {
		if err := c.operand(i, in); err != nil {
			return err
		}
	}
	if extra := n.Attr.has() &^ n.Op.attrs(); extra != 0 {
		return fmt.Errorf("%v has attributes that it does not take: %v", n.Op, &n.Attr)
	}
	outs, err := inferNode(n.Op, &n.Attr, n.In)
	if err != nil {
		return fmt.Errorf("%v: %w", n.Op, err)
	}
	if !outs[0].Equal(n.Type) || (len(outs) > 1) != (n.Outs != nil) {
		return fmt.Errorf("%v is %v, stored is %v", n.Op, outs[0], n.Type)
	}
	for j, t := range n.Outs {
		if !outs[j].Equal(t) {
			return fmt.Errorf("%v: output %d is %v, stored is %v", n.Op, j, outs[j], t)
		}
	}
	if err := c.sizes(n); err != nil {
		return err
	}
	if n.Op.HasLeaf() {
		if err := checkLeaf(n.Op, n.Attr.Leaf, n.Type, n.In, c.g.Leaves); err != nil {
			return err
		}
		if n.Attr.Leaf > c.leaves {
			return fmt.Errorf("reads leaf %d before leaf %d: they are numbered by first visit", n.Attr.Leaf, c.leaves)
		}
		c.leaves = max(c.leaves, n.Attr.Leaf+1)
	}
	return c.distinct(n)
}

// operand checks that in is one of the first limit nodes.
func (c *checker) operand(limit int, in *Node) error {
	if in == nil || in.ID < 0 || in.ID >= limit || c.g.Nodes[in.ID] != in {
		return errors.New("uses a node that does not come before it")
	}
	c.used[in.ID] = true
	return nil
}

// sizes checks that symbols of equal name are equal.
func (c *checker) sizes(n *Node) error {
	shapes := [...]Shape{n.Shape, n.Attr.Starts, n.Attr.Before, n.Attr.After}
	for _, s := range shapes {
		for _, d := range s {
			for _, t := range d.terms {
				for _, sym := range t.vars {
					known, ok := c.symbols[sym.Name]
					if !ok {
						if err := sym.Check(); err != nil {
							return err
						}
						c.symbols[sym.Name] = sym
					} else if known != sym {
						return fmt.Errorf("size %s lies between %d and %d here, %d and %d before", sym.Name, sym.Min, sym.Max, known.Min, known.Max)
					}
				}
			}
		}
	}
	return nil
}

// distinct checks that no earlier node is the same.
func (c *checker) distinct(n *Node) error {
	c.key = appendKey(c.key[:0], n.Op, &n.Attr, n.Type, n.In)
	if at, ok := c.keys[string(c.key)]; ok {
		return fmt.Errorf("is the same as %%%d", at)
	}
	c.keys[string(c.key)] = n.ID
	if n.Op.Commutes() && n.In[0] != n.In[1] {
		c.key = appendKey(c.key[:0], n.Op, &n.Attr, n.Type, []*Node{n.In[1], n.In[0]})
		if at, ok := c.keys[string(c.key)]; ok {
			return fmt.Errorf("is the same as %%%d with operands exchanged", at)
		}
	}
	return nil
}

func checkLeaves(g *Graph) error {
	inputs := map[string]bool{}
	for i := range g.Leaves {
		l := &g.Leaves[i]
		if !l.Kind.isLeafKind() {
			return fmt.Errorf("leaf %d is of kind %v", i, l.Kind)
		}
		if l.Storage != nil && !reflect.TypeOf(l.Storage).Comparable() {
			return fmt.Errorf("the storage of leaf %d, a %T, cannot be compared: use a pointer", i, l.Storage)
		}
		if l.Kind != Input {
			continue
		}
		if l.Storage != nil {
			return fmt.Errorf("input %q has storage: it is bound when a program runs", l.Name)
		}
		if inputs[l.Name] {
			return fmt.Errorf("two inputs are named %q", l.Name)
		}
		inputs[l.Name] = true
	}
	return nil
}

// isLeafKind tells whether op may be the kind of a Leaf.
func (op Op) isLeafKind() bool { return op.HasLeaf() && op != Assign }
