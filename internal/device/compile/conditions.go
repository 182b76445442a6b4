package compile

import (
	"encoding/binary"
	"fmt"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
)

// Conditions are what a graph asks of the sizes and the data that it is bound
// to, beside what types say. Kernels are made on the strength of them, so they
// are looked at before each run.
type Conditions struct {
	Leaves  int         // how many there are
	symbols []ir.Symbol // sizes within bounds: indices were proved to be inside from these
	empty   []*ir.Node  // a maximum over an axis that may be empty
	cuts    []cut
}

// cut is a leaf whose values cut rows into segments.
type cut struct {
	op   ir.Op
	leaf int
	rows ir.Dim
}

// ConditionsOf finds those of a graph.
func ConditionsOf(g *ir.Graph) Conditions {
	c := Conditions{Leaves: len(g.Leaves), symbols: g.Symbols()}
	for _, n := range g.Nodes {
		switch {
		case n.Op == ir.ReduceMax, n.Op == ir.ReduceMin, n.Op == ir.ArgMax, n.Op == ir.ArgMin:
			for _, axis := range n.Attr.Axes {
				if lo, _ := n.In[0].Shape[axis].Bounds(); lo == 0 {
					c.empty = append(c.empty, n)
					break
				}
			}
		case n.Op == ir.SegmentIDs:
			c.cut(n.Op, n.In[0], n.Shape[0])
		case n.Op == ir.SegmentReduce:
			c.cut(n.Op, n.In[1], n.In[0].Shape[0])
		case n.Attr.Attention != nil && n.Attr.Attention.Ragged:
			c.cut(n.Op, n.In[3], n.In[0].Shape[0])
			c.cut(n.Op, n.In[4], n.In[1].Shape[0])
		}
	}
	return c
}

// cut notes offsets that are leaves. Others are computed by the program.
func (c *Conditions) cut(op ir.Op, offsets *ir.Node, rows ir.Dim) {
	if offsets.Op.HasLeaf() && offsets.Op != ir.Assign {
		c.cuts = append(c.cuts, cut{op, offsets.Attr.Leaf, rows})
	}
}

// Sizes checks the values of the symbols.
func (c *Conditions) Sizes(env ir.Env) error {
	for _, s := range c.symbols {
		n, ok := env[s.Name]
		if !ok {
			return fmt.Errorf("size %q is not bound", s.Name)
		}
		if int64(n) < s.Min || int64(n) > s.Max {
			return fmt.Errorf("size %q is %d, outside [%d, %d]", s.Name, n, s.Min, s.Max)
		}
	}
	for _, n := range c.empty {
		results, err := n.Shape.Numel().Eval(env)
		if err != nil {
			return err
		}
		terms, err := n.In[0].Shape.Numel().Eval(env)
		if err != nil {
			return err
		}
		if results > 0 && terms == 0 {
			return fmt.Errorf("%v over an empty axis of %v has no value", n.Op, n.In[0].Shape)
		}
	}
	return nil
}

// Offsets checks the values that cut rows into segments: the first is 0, none
// is below the one before, the last is the number of rows. It asks for the bytes
// of leaves by number.
func (c *Conditions) Offsets(env ir.Env, bytes func(leaf int) ([]byte, error)) error {
	for _, cut := range c.cuts {
		rows, err := cut.rows.Eval(env)
		if err != nil {
			return err
		}
		data, err := bytes(cut.leaf)
		if err != nil {
			return err
		}
		last := 0
		n := len(data) / 4
		for at := range n {
			o := int(int32(binary.LittleEndian.Uint32(data[4*at:])))
			if o < last || o > rows || at == 0 && o != 0 || at == n-1 && o != rows {
				return fmt.Errorf("offsets start with 0, never fall and end with the number of rows, %d: %w", rows,
					&device.IndexError{Op: cut.op.String(), Index: int64(o), Size: rows, At: at})
			}
			last = o
		}
	}
	return nil
}
