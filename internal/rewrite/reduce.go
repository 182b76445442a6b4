package rewrite

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

var reductions = []ir.Op{ir.ReduceSum, ir.ReduceProd, ir.ReduceMax, ir.ReduceMin}

var reduceRules = []rule{
	{"reduce-ones", reductions, "an axis of size 1 has nothing to reduce; but a sum starts at +0, so that -0 becomes +0", reduceOnes},
	{"arg-one", []ir.Op{ir.ArgMax, ir.ArgMin}, "the only index is 0", argOne},
	{"reduce-reduce", reductions, "one pass over all axes: exact for integers and for choices", reduceReduce},
	{"reduce-repeated", []ir.Op{ir.ReduceMax, ir.ReduceMin}, "the extreme of repetitions is the extreme of one", reduceRepeated},
}

// mergeReductionRules may change the order in which floats are added.
var mergeReductionRules = []rule{
	{"reduce-expand", []ir.Op{ir.ReduceSum, ir.ReduceProd}, "rows that repeat are summed once", reduceOnce},
	{"reduce-reduce", []ir.Op{ir.ReduceSum, ir.ReduceProd}, "one pass over all axes", mergeReduce},
}

func reduceOnes(r *rewriter, n *ir.Node) *ir.Node {
	x := n.In[0]
	axes := slices.DeleteFunc(slices.Clone(n.Attr.Axes), func(ax int) bool { return x.Shape[ax].IsConst(1) })
	switch {
	case len(axes) == 0 && n.Op == ir.ReduceSum && isFloat(n):
		return r.op(ir.Add, x, r.number(n.Type, 0))
	case len(axes) == 0:
		return x
	case len(axes) == len(n.Attr.Axes):
		return nil
	}
	return r.make(n.Op, ir.Attr{Axes: axes}, x)
}

func argOne(r *rewriter, n *ir.Node) *ir.Node {
	if n.In[0].Shape[n.Attr.Axis()].IsConst(1) {
		return r.number(n.Type, 0)
	}
	return nil
}

func reduceReduce(r *rewriter, n *ir.Node) *ir.Node {
	if orderMatters(n) {
		return nil
	}
	return mergeReduce(r, n)
}

// orderMatters tells whether reduction n rounds on its way.
func orderMatters(n *ir.Node) bool {
	return isFloat(n) && (n.Op == ir.ReduceSum || n.Op == ir.ReduceProd)
}

func mergeReduce(r *rewriter, n *ir.Node) *ir.Node {
	y := n.In[0]
	if y.Op != n.Op {
		return nil
	}
	axes := append(slices.Clone(n.Attr.Axes), y.Attr.Axes...)
	slices.Sort(axes)
	return r.make(n.Op, ir.Attr{Axes: slices.Compact(axes)}, y.In[0])
}

func reduceRepeated(r *rewriter, n *ir.Node) *ir.Node {
	y := n.In[0]
	if y.Op != ir.Expand {
		return nil
	}
	s := slices.Clone(n.Shape)
	var axes, rest []int
	for _, ax := range n.Attr.Axes {
		if y.In[0].Shape[ax].IsConst(1) {
			axes = append(axes, ax)
		} else {
			rest = append(rest, ax)
			s[ax] = y.Shape[ax]
		}
	}
	if len(axes) == 0 || !filled(y.Shape, axes) {
		return nil
	}
	x := r.expand(y.In[0], s)
	return r.make(n.Op, ir.Attr{Axes: rest}, x)
}
