package sinter

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/sinterml/sinter/internal/ir"
)

// sizes finds the value of every symbol, from the first input dimension that
// holds it alone or plus a constant, and checks every dimension against them.
func (p *Program) sizes(leaves []*storage) (ir.Env, error) {
	env := ir.Env{}
	from := map[string]string{} // where each size was found, for messages
	for i, l := range p.leaves {
		if l.Kind != ir.Input {
			continue
		}
		got := leaves[i].sizes
		if len(got) != len(l.Type.Shape) {
			return nil, fmt.Errorf("input %q has shape %v, want %v", l.Name, leaves[i].Shape, l.Type.Shape)
		}
		for axis, d := range l.Type.Shape {
			s, plus, ok := d.SymbolPlus()
			if !ok {
				continue
			}
			if _, known := env[s.Name]; known {
				continue
			}
			if err := bindSymbol(env, s, got[axis]-plus); err != nil {
				return nil, fmt.Errorf("input %q, axis %d: %w", l.Name, axis, err)
			}
			from[s.Name] = fmt.Sprintf("%s=%d from input %q, axis %d", s.Name, env[s.Name], l.Name, axis)
		}
	}
	if err := p.rowSizes(env, leaves, from); err != nil {
		return nil, err
	}
	return env, p.checkSizes(env, leaves, from)
}

func bindSymbol(env ir.Env, s ir.Symbol, n int) error {
	if int64(n) < s.Min || int64(n) > s.Max {
		return fmt.Errorf("size %s would be %d, outside its bounds %d to %d", s.Name, n, s.Min, s.Max)
	}
	env[s.Name] = n
	return nil
}

// rowSizes binds the symbols that Rows made for offsets that are inputs.
func (p *Program) rowSizes(env ir.Env, leaves []*storage, from map[string]string) error {
	for _, s := range p.symbols {
		if _, known := env[s.Name]; known {
			continue
		}
		for i, l := range p.leaves {
			if l.Kind != ir.Input || rowsSymbol(l.Name) != s.Name {
				continue
			}
			rows, err := leaves[i].lastOffset()
			if err == nil {
				err = bindSymbol(env, s, rows)
			}
			if err != nil {
				return fmt.Errorf("input %q: %w", l.Name, err)
			}
			from[s.Name] = fmt.Sprintf("%s=%d from the last of input %q", s.Name, rows, l.Name)
		}
	}
	return nil
}

func (p *Program) checkSizes(env ir.Env, leaves []*storage, from map[string]string) error {
	for i, l := range p.leaves {
		if l.Kind != ir.Input {
			continue
		}
		for axis, d := range l.Type.Shape {
			want, err := d.Eval(env)
			if err != nil {
				return fmt.Errorf("input %q, axis %d: %w", l.Name, axis, err)
			}
			if got := leaves[i].sizes[axis]; got != want {
				why := ""
				for i, s := range d.Symbols() {
					if i == 0 {
						why = fmt.Sprintf(": %v", d)
					}
					why += ", " + from[s.Name]
				}
				return fmt.Errorf("input %q, axis %d is %d, want %d%s", l.Name, axis, got, want, why)
			}
		}
	}
	return nil
}

// offsetsUse is a leaf that an operation uses as the offsets of ragged rows.
type offsetsUse struct {
	leaf int
	rows ir.Dim // what the last offset must be
}

func isOffsets(t ir.Type) bool { return t.DType == I32 && len(t.Shape) == 1 }

// findOffsets lists the offsets of a graph. Tracing made sure that they are
// leaves.
func findOffsets(g *ir.Graph) []offsetsUse {
	var all []offsetsUse
	add := func(n *ir.Node, rows ir.Dim) {
		if n.Op.HasLeaf() && n.Op != ir.Assign {
			all = append(all, offsetsUse{n.Attr.Leaf, rows})
		}
	}
	for _, n := range g.Nodes {
		switch {
		case n.Attr.Attention != nil && n.Attr.Attention.Ragged:
			add(n.In[3], n.In[0].Shape[0])
			add(n.In[4], n.In[1].Shape[0])
		case n.Op == ir.SegmentIDs:
			add(n.In[0], n.Shape[0])
		case n.Op == ir.SegmentReduce:
			add(n.In[1], n.In[0].Shape[0])
		}
	}
	return all
}

// checkOffsets makes sure that offsets begin with 0, do not decrease and end
// with the number of rows: kernels trust them.
func (p *Program) checkOffsets(ctx context.Context, leaves []*storage, env ir.Env) error {
	for _, u := range p.offsets {
		rows, err := u.rows.Eval(env)
		if err != nil {
			return err
		}
		err = leaves[u.leaf].read(ctx, func(b []byte) error { return checkOffsets(b, rows) })
		if err != nil {
			name := ""
			if n := p.leaves[u.leaf].Name; n != "" {
				name = fmt.Sprintf(" %q", n)
			}
			return fmt.Errorf("offsets%s: %w", name, err)
		}
	}
	return nil
}

func checkOffsets(b []byte, rows int) error {
	last := 0
	for i := 0; i < len(b)/4; i++ {
		n := int(int32(binary.NativeEndian.Uint32(b[4*i:])))
		if i == 0 && n != 0 {
			return fmt.Errorf("begin with %d, not 0", n)
		}
		if n < last {
			return fmt.Errorf("fall from %d to %d at %d: sequences lie one after another", last, n, i)
		}
		last = n
	}
	if last != rows {
		return fmt.Errorf("end with %d, but there are %d rows", last, rows)
	}
	return nil
}
