package rewrite

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// sinkRules move views from the operands of an operation to its result. Each
// moves work towards the leaves and none moves it back, so they end.
var sinkRules = []rule{
	{"expand", pointwiseOps, "elements that repeat are computed once, then repeated", sinkExpand},
	{"reshape", pointwiseOps, "operands under one reshape: one reshape of the result, which may meet its inverse", sinkReshape},
	{"permute", pointwiseOps, "operands in one order: one permute of the result", sinkPermute},
	{"reduce-expand", slices.Concat(reductions, []ir.Op{ir.ArgMax, ir.ArgMin}), "rows that repeat are reduced once; not sums of floats, whose order may go by the shape", sinkReduceExpand},
	{"permute-expand", []ir.Op{ir.Permute}, "fewer elements change places", permuteExpand},
	{"reshape-expand", []ir.Op{ir.Reshape}, "repetition comes last, where pointwise work can pass it", reshapeExpand},
}

// mayFail tells whether computing elements that nothing asks for could end the
// run: 1 idiv 0 is an error, and an empty shape computes no element.
func mayFail(n *ir.Node) bool {
	if n.Op != ir.IDiv && n.Op != ir.Mod {
		return false
	}
	bits, ok := splatOf(n.In[1])
	return !ok || bits == 0
}

func sinkExpand(r *rewriter, n *ir.Node) *ir.Node {
	small := slices.Clone(n.Shape)
	for i := range small {
		repeated := false
		for _, in := range n.In {
			if isSplat(in) {
				continue
			}
			if in.Op != ir.Expand || !in.In[0].Shape[i].IsConst(1) {
				repeated = false
				break
			}
			repeated = true
		}
		if !repeated {
			continue
		}
		if lo, _ := small[i].Bounds(); lo < 1 && mayFail(n) {
			continue
		}
		small[i] = ir.N(1)
	}
	if small.Equal(n.Shape) {
		return nil
	}
	in := make([]*ir.Node, len(n.In))
	for j, x := range n.In {
		if bits, ok := splatOf(x); ok {
			in[j] = r.splat(x.DType, small, bits)
		} else {
			in[j] = r.expand(x.In[0], small)
		}
	}
	return r.expand(r.make(n.Op, n.Attr, in...), n.Shape)
}

// sinkReshape wants at least one reshaped operand, and all others to have the
// same source shape, be constants, or be repetitions that can take the
// opposite reshape.
func sinkReshape(r *rewriter, n *ir.Node) *ir.Node {
	var source ir.Shape
	found := false
	for _, x := range n.In {
		if x.Op == ir.Reshape && !isSplat(x) {
			source, found = x.In[0].Shape, true
			break
		}
	}
	if !found {
		return nil
	}
	in := make([]*ir.Node, len(n.In))
	for j, x := range n.In {
		switch {
		case isSplat(x):
		case x.Op == ir.Reshape && x.In[0].Shape.Equal(source):
			in[j] = x.In[0]
		case x.Op == ir.Expand && regroup(x, source) != nil:
		default:
			return nil
		}
	}
	for j, x := range n.In {
		if bits, ok := splatOf(x); ok {
			in[j] = r.splat(x.DType, source, bits)
		} else if in[j] == nil {
			in[j] = r.expandReshaped(x, source)
		}
	}
	return r.reshape(r.make(n.Op, n.Attr, in...), n.Shape)
}

func sinkPermute(r *rewriter, n *ir.Node) *ir.Node {
	var order []int
	for _, x := range n.In {
		if x.Op == ir.Permute && !isSplat(x) {
			order = x.Attr.Axes
			break
		}
	}
	if order == nil {
		return nil
	}
	back := make([]int, len(order))
	shape := make(ir.Shape, len(order))
	for i, ax := range order {
		back[ax], shape[ax] = i, n.Shape[i]
	}
	for _, x := range n.In {
		if !isSplat(x) && x.Op != ir.Expand && (x.Op != ir.Permute || !slices.Equal(x.Attr.Axes, order)) {
			return nil
		}
	}
	in := make([]*ir.Node, len(n.In))
	for j, x := range n.In {
		if bits, ok := splatOf(x); ok {
			in[j] = r.splat(x.DType, shape, bits)
		} else if x.Op == ir.Permute {
			in[j] = x.In[0]
		} else {
			in[j] = r.expand(r.make(ir.Permute, ir.Attr{Axes: back}, x.In[0]), shape)
		}
	}
	return r.make(ir.Permute, ir.Attr{Axes: order}, r.make(n.Op, n.Attr, in...))
}

func sinkReduceExpand(r *rewriter, n *ir.Node) *ir.Node {
	if orderMatters(n) {
		return nil
	}
	return reduceOnce(r, n)
}

// reduceOnce takes repetition along axes that are not reduced to the result.
func reduceOnce(r *rewriter, n *ir.Node) *ir.Node {
	y := n.In[0]
	if y.Op != ir.Expand || isSplat(y) {
		return nil
	}
	small := slices.Clone(y.Shape)
	for i, d := range y.In[0].Shape {
		if d.IsConst(1) && !n.Attr.Has(i) {
			small[i] = d
		}
	}
	// An empty result would not have asked for the extreme of nothing.
	if small.Equal(y.Shape) || !filled(y.Shape, n.Attr.Axes) && n.Op != ir.ReduceSum && n.Op != ir.ReduceProd {
		return nil
	}
	return r.expand(r.make(n.Op, n.Attr, r.expand(y.In[0], small)), n.Shape)
}

func permuteExpand(r *rewriter, n *ir.Node) *ir.Node {
	y := n.In[0]
	if y.Op != ir.Expand {
		return nil
	}
	return r.expand(r.make(ir.Permute, n.Attr, y.In[0]), n.Shape)
}

func reshapeExpand(r *rewriter, n *ir.Node) *ir.Node {
	if y := n.In[0]; y.Op == ir.Expand && !isSplat(y) && regroup(y, n.Shape) != nil {
		return r.expandReshaped(y, n.Shape)
	}
	return nil
}

// expandReshaped makes the reshape of an expand as the expand of a reshape;
// regroup has told that it can.
func (r *rewriter) expandReshaped(y *ir.Node, to ir.Shape) *ir.Node {
	x := r.reshape(y.In[0], regroup(y, to))
	return r.expand(x, to)
}

// regroup gives the shape from which an expand makes `to`, where y is an expand
// and the reshape to `to` neither joins repeated axes with others nor splits
// them between such; nil if it does.
func regroup(y *ir.Node, to ir.Shape) ir.Shape {
	from, source := y.Shape, y.In[0].Shape
	out := make(ir.Shape, len(to))
	i, j := 0, 0
	for i < len(from) || j < len(to) {
		i0, j0 := i, j
		if i, j = nextGroup(from, to, i, j); i < 0 {
			return nil
		}
		repeated, kept := false, false
		for k := i0; k < i; k++ {
			switch {
			case from[k].IsConst(1):
			case source[k].IsConst(1):
				repeated = true
			default:
				kept = true
			}
		}
		if repeated && kept {
			return nil
		}
		for k := j0; k < j; k++ {
			if out[k] = to[k]; repeated {
				out[k] = ir.N(1)
			}
		}
	}
	return out
}

// nextGroup finds the ends of the shortest runs of axes of a from i and of b
// from j that have equally many elements; -1 if it cannot tell.
func nextGroup(a, b ir.Shape, i, j int) (int, int) {
	p, q := ir.N(1), ir.N(1)
	for first := true; first || !p.Equal(q); first = false {
		_, less := q.Div(p) // p divides q: take one more of a
		switch {
		case i < len(a) && (less || j == len(b)):
			p = p.Mul(a[i])
			i++
		case j < len(b):
			q = q.Mul(b[j])
			j++
		default:
			return -1, -1
		}
		if p.IsConst(0) || q.IsConst(0) {
			return -1, -1
		}
	}
	return i, j
}
