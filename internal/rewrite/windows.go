package rewrite

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// windowsInPlace finds the products of f32 whose right operand is a copy of windows that
// nothing else needs, as those of a gradient of a kernel: where devices pack columns from
// where they lie the copy is not made.
type windowsInPlace struct {
	users   [][]*ir.Node
	outputs []*ir.Node
}

// product is n with its windows where they lie; nil if it has none, or a copy is wanted.
func (w *windowsInPlace) product(b *ir.Builder, n *ir.Node, in []*ir.Node) (*ir.Node, error) {
	if n.Op != ir.MatMul || n.DType != ir.F32 || !w.copied(n.In[1]) {
		return nil, nil
	}
	y, err := uncopied(b, in[1])
	if err != nil {
		return nil, err
	}
	return b.Add(ir.MatMul, n.Attr, in[0], y)
}

// copied tells whether x is a view of a copy of windows, which n alone needs.
func (w *windowsInPlace) copied(x *ir.Node) bool {
	for ; len(w.users[x.ID]) == 1 && !slices.Contains(w.outputs, x); x = x.In[0] {
		switch x.Op {
		case ir.Reshape, ir.Permute:
		case ir.Contiguous:
			return viewsWindows(x.In[0])
		default:
			return false
		}
	}
	return false
}

// viewsWindows tells whether x is a view with a Window in it.
func viewsWindows(x *ir.Node) bool {
	for ; x.Op == ir.Reshape || x.Op == ir.Permute || x.Op == ir.Window; x = x.In[0] {
		if x.Op == ir.Window {
			return true
		}
	}
	return false
}

// uncopied is a view of a copy as one of what was copied.
func uncopied(b *ir.Builder, x *ir.Node) (*ir.Node, error) {
	if x.Op == ir.Contiguous {
		return x.In[0], nil
	}
	of, err := uncopied(b, x.In[0])
	if err != nil {
		return nil, err
	}
	return b.Add(x.Op, x.Attr, of)
}
