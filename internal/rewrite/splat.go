package rewrite

import (
	"github.com/sinterml/sinter/internal/ir"
)

// splatOf gives the bits of n's elements where all are one constant.
func splatOf(n *ir.Node) (bits uint64, ok bool) {
	for {
		switch n.Op {
		case ir.Const:
			return n.Attr.Value, true
		case ir.Reshape, ir.Expand, ir.Permute, ir.Slice, ir.Flip:
			n = n.In[0]
		default:
			return 0, false
		}
	}
}

func isSplat(n *ir.Node) bool {
	_, ok := splatOf(n)
	return ok
}

// is tells whether every element of n is the constant v, the sign of a zero
// included.
func is(n *ir.Node, v float64) bool {
	bits, ok := splatOf(n)
	if !ok {
		return false
	}
	want, err := ir.Bits(n.DType, v)
	return err == nil && bits == want
}

// isOnes tells whether every bit of every element is set; true is for bool.
func isOnes(n *ir.Node) bool {
	bits, ok := splatOf(n)
	return ok && bits == ones(n.DType)
}

func ones(d ir.DType) uint64 {
	if d == ir.Bool {
		return 1
	}
	return ^uint64(0) >> (64 - 8*d.Size())
}

// splat makes the constant bits in every element of a shape, in the one form
// that constants have: const, reshape to ones, expand.
func (r *rewriter) splat(d ir.DType, s ir.Shape, bits uint64) *ir.Node {
	n := r.raw(ir.Const, ir.Attr{DType: d, Value: bits})
	if len(s) == 0 {
		return n
	}
	all := make(ir.Shape, len(s))
	for i := range all {
		all[i] = ir.N(1)
	}
	n = r.raw(ir.Reshape, ir.Attr{Shape: all}, n)
	if s.Equal(all) {
		return n
	}
	return r.raw(ir.Expand, ir.Attr{Shape: s}, n)
}

// number is splat of the value v.
func (r *rewriter) number(t ir.Type, v float64) *ir.Node {
	bits, err := ir.Bits(t.DType, v)
	if err != nil {
		r.err = err
		return r.node
	}
	return r.splat(t.DType, t.Shape, bits)
}

// canonical tells whether n, a constant in every element, has the form that
// splat makes.
func canonical(n *ir.Node) bool {
	if n.Op == ir.Expand {
		n = n.In[0]
	}
	if n.Op == ir.Reshape {
		for _, d := range n.Shape {
			if !d.IsConst(1) {
				return false
			}
		}
		n = n.In[0]
	}
	return n.Op == ir.Const
}
