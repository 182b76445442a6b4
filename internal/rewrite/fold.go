package rewrite

import "github.com/sinterml/sinter/internal/ir"

// pointwiseOps are all operations element by element.
var pointwiseOps = func() []ir.Op {
	var all []ir.Op
	for _, op := range ir.Ops() {
		if op.Pointwise() {
			all = append(all, op)
		}
	}
	return all
}()

var foldRules = []rule{
	{"pointwise", pointwiseOps, "one element tells them all; operations on which devices differ stay",
		foldPointwise},
	{"movement", []ir.Op{ir.Reshape, ir.Permute, ir.Expand, ir.Slice, ir.Flip, ir.Window, ir.Contiguous, ir.Pad, ir.Concat},
		"a constant in every element, moved, is that constant", foldMovement},
	{"extreme", []ir.Op{ir.ReduceMax, ir.ReduceMin}, "the extreme of equals is one of them", foldExtreme},
	{"iota-one", []ir.Op{ir.Iota}, "the only index along an axis of size 1 is 0", foldIota},
}

func foldPointwise(r *rewriter, n *ir.Node) *ir.Node {
	var v [3]uint64
	for i, in := range n.In {
		bits, ok := splatOf(in)
		if !ok {
			return nil
		}
		v[i] = bits
	}
	bits, ok := scalar(n.Op, n.In[0].DType, n.DType, v[:len(n.In)]...)
	if !ok {
		return nil
	}
	return r.splat(n.DType, n.Shape, bits)
}

func foldMovement(r *rewriter, n *ir.Node) *ir.Node {
	if canonical(n) {
		return nil
	}
	bits, ok := splatOf(n.In[0])
	if !ok || n.Op == ir.Pad && n.Attr.Value != bits {
		return nil
	}
	for _, in := range n.In[1:] {
		if other, ok := splatOf(in); !ok || other != bits {
			return nil
		}
	}
	return r.splat(n.DType, n.Shape, bits)
}

func foldExtreme(r *rewriter, n *ir.Node) *ir.Node {
	bits, ok := splatOf(n.In[0])
	if !ok || !filled(n.In[0].Shape, n.Attr.Axes) {
		return nil
	}
	return r.splat(n.DType, n.Shape, bits)
}

func foldIota(r *rewriter, n *ir.Node) *ir.Node {
	if !n.Shape[n.Attr.Axis()].IsConst(1) {
		return nil
	}
	return r.splat(n.DType, n.Shape, 0)
}

// filled tells whether none of the axes can be empty.
func filled(s ir.Shape, axes []int) bool {
	for _, ax := range axes {
		if lo, _ := s[ax].Bounds(); lo < 1 {
			return false
		}
	}
	return true
}
