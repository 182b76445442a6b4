package rewrite

import (
	"math"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// movementRules join moves that follow one another and drop those that move
// nothing. They never change a value.
var movementRules = []rule{
	{"same-shape", []ir.Op{ir.Reshape, ir.Expand}, "the shape does not change", sameShape},
	{"reshape-reshape", []ir.Op{ir.Reshape}, "only the last shape counts", reshapeReshape},
	{"expand-expand", []ir.Op{ir.Expand}, "repeated at once", expandExpand},
	{"permute-permute", []ir.Op{ir.Permute}, "the orders compose", permutePermute},
	{"permute-ones", []ir.Op{ir.Permute}, "only axes of size 1 change places: a reshape, or nothing", permuteOnes},
	{"pad-nothing", []ir.Op{ir.Pad}, "nothing before, nothing after", padNothing},
	{"pad-pad", []ir.Op{ir.Pad}, "one border of the same value", padPad},
	{"slice-all", []ir.Op{ir.Slice}, "every element is kept", sliceAll},
	{"slice-slice", []ir.Op{ir.Slice}, "starts add, steps multiply", sliceSlice},
	{"slice-pad", []ir.Op{ir.Slice}, "no element is from the border, or all are", slicePad},
	{"slice-concat", []ir.Op{ir.Slice}, "every element is from one operand", sliceConcat},
	{"slice-expand", []ir.Op{ir.Slice}, "fewer repetitions", sliceExpand},
	{"flip-ones", []ir.Op{ir.Flip}, "an axis of size 1, or of equal elements, has no other end", flipOnes},
	{"flip-flip", []ir.Op{ir.Flip}, "axes turned twice", flipFlip},
	{"concat-one", []ir.Op{ir.Concat}, "operands without elements add nothing", concatOne},
	{"concat-concat", []ir.Op{ir.Concat}, "operands of operands along the same axis", concatConcat},
}

func sameShape(r *rewriter, n *ir.Node) *ir.Node {
	if n.Shape.Equal(n.In[0].Shape) {
		return n.In[0]
	}
	return nil
}

func reshapeReshape(r *rewriter, n *ir.Node) *ir.Node {
	if y := n.In[0]; y.Op == ir.Reshape {
		return r.reshape(y.In[0], n.Shape)
	}
	return nil
}

func expandExpand(r *rewriter, n *ir.Node) *ir.Node {
	if y := n.In[0]; y.Op == ir.Expand {
		return r.expand(y.In[0], n.Shape)
	}
	return nil
}

func permutePermute(r *rewriter, n *ir.Node) *ir.Node {
	y := n.In[0]
	if y.Op != ir.Permute {
		return nil
	}
	axes := make([]int, len(n.Attr.Axes))
	for i, ax := range n.Attr.Axes {
		axes[i] = y.Attr.Axes[ax]
	}
	return r.make(ir.Permute, ir.Attr{Axes: axes}, y.In[0])
}

func permuteOnes(r *rewriter, n *ir.Node) *ir.Node {
	last := -1
	for _, ax := range n.Attr.Axes {
		if n.In[0].Shape[ax].IsConst(1) {
			continue
		}
		if ax < last {
			return nil
		}
		last = ax
	}
	return r.reshape(n.In[0], n.Shape)
}

func padNothing(r *rewriter, n *ir.Node) *ir.Node {
	if zeros(n.Attr.Before) && zeros(n.Attr.After) {
		return n.In[0]
	}
	return nil
}

func zeros(d []ir.Dim) bool {
	return !slices.ContainsFunc(d, func(d ir.Dim) bool { return !d.IsConst(0) })
}

func padPad(r *rewriter, n *ir.Node) *ir.Node {
	y := n.In[0]
	if y.Op != ir.Pad || y.Attr.Value != n.Attr.Value {
		return nil
	}
	a := ir.Attr{Value: n.Attr.Value}
	for i := range n.Shape {
		a.Before = append(a.Before, n.Attr.Before[i].Add(y.Attr.Before[i]))
		a.After = append(a.After, n.Attr.After[i].Add(y.Attr.After[i]))
	}
	return r.make(ir.Pad, a, y.In[0])
}

// sliceAll: equal sizes leave no room for a start or a step above 1, except
// where the size is 1 or 0, which have no second element.
func sliceAll(r *rewriter, n *ir.Node) *ir.Node {
	if n.Shape.Equal(n.In[0].Shape) {
		return n.In[0]
	}
	return nil
}

func sliceSlice(r *rewriter, n *ir.Node) *ir.Node {
	y := n.In[0]
	if y.Op != ir.Slice {
		return nil
	}
	a := ir.Attr{Shape: n.Shape}
	for i, d := range n.Shape {
		start := n.Attr.Starts[i].Mul(ir.N(y.Attr.Steps[i])).Add(y.Attr.Starts[i])
		if max(n.Attr.Steps[i], y.Attr.Steps[i]) > math.MaxInt32 {
			return nil // over one element a step may be anything; the product must not overflow
		}
		step := n.Attr.Steps[i] * y.Attr.Steps[i]
		if d.IsConst(0) { // reads nothing, so wherever it starts
			start, step = ir.N(0), 1
		}
		a.Starts, a.Steps = append(a.Starts, start), append(a.Steps, step)
	}
	return r.make(ir.Slice, a, y.In[0])
}

// slicePad goes by constant sizes, axis by axis.
func slicePad(r *rewriter, n *ir.Node) *ir.Node {
	y := n.In[0]
	if y.Op != ir.Pad {
		return nil
	}
	inside := true
	a := ir.Attr{Shape: n.Shape, Steps: n.Attr.Steps, Starts: slices.Clone(n.Attr.Starts)}
	for i := range n.Shape {
		first, last, ok := span(n, i)
		before, ok1 := y.Attr.Before[i].Const()
		size, ok2 := y.In[0].Shape[i].Const()
		switch {
		case zeros([]ir.Dim{y.Attr.Before[i], y.Attr.After[i]}):
			continue
		case !ok || !ok1 || !ok2:
			inside = false
		case last < before || first >= before+size:
			return r.splat(n.DType, n.Shape, y.Attr.Value)
		case first < before || last >= before+size:
			inside = false
		}
		a.Starts[i] = a.Starts[i].Sub(y.Attr.Before[i])
	}
	if !inside {
		return nil
	}
	return r.make(ir.Slice, a, y.In[0])
}

// span gives the first and last index that slice n reads along an axis; ok is
// false for symbolic and for empty ones.
func span(n *ir.Node, axis int) (first, last int, ok bool) {
	first, ok1 := n.Attr.Starts[axis].Const()
	size, ok2 := n.Shape[axis].Const()
	return first, first + (size-1)*n.Attr.Steps[axis], ok1 && ok2 && size > 0
}

func sliceConcat(r *rewriter, n *ir.Node) *ir.Node {
	y := n.In[0]
	if y.Op != ir.Concat {
		return nil
	}
	axis := y.Attr.Axis()
	first, last, ok := span(n, axis)
	if !ok {
		return nil
	}
	at := 0
	for _, in := range y.In {
		size, ok := in.Shape[axis].Const()
		if !ok {
			return nil
		}
		if first >= at && last < at+size {
			a := ir.Attr{Shape: n.Shape, Steps: n.Attr.Steps, Starts: slices.Clone(n.Attr.Starts)}
			a.Starts[axis] = ir.N(first - at)
			return r.make(ir.Slice, a, in)
		}
		at += size
	}
	return nil
}

func sliceExpand(r *rewriter, n *ir.Node) *ir.Node {
	y := n.In[0]
	if y.Op != ir.Expand {
		return nil
	}
	x := y.In[0]
	a := ir.Attr{Shape: slices.Clone(n.Shape), Steps: slices.Clone(n.Attr.Steps), Starts: slices.Clone(n.Attr.Starts)}
	for i, d := range x.Shape {
		if d.IsConst(1) {
			a.Shape[i], a.Steps[i], a.Starts[i] = ir.N(1), 1, ir.N(0)
		}
	}
	return r.expand(r.make(ir.Slice, a, x), n.Shape)
}

func flipOnes(r *rewriter, n *ir.Node) *ir.Node {
	x := n.In[0]
	axes := make([]int, 0, len(n.Attr.Axes))
	for _, ax := range n.Attr.Axes {
		repeated := x.Op == ir.Expand && x.In[0].Shape[ax].IsConst(1)
		if !repeated && !x.Shape[ax].IsConst(1) {
			axes = append(axes, ax)
		}
	}
	switch len(axes) {
	case 0:
		return x
	case len(n.Attr.Axes):
		return nil
	}
	return r.make(ir.Flip, ir.Attr{Axes: axes}, x)
}

func flipFlip(r *rewriter, n *ir.Node) *ir.Node {
	y := n.In[0]
	if y.Op != ir.Flip {
		return nil
	}
	axes := []int{}
	for ax := range n.Shape {
		if n.Attr.Has(ax) != y.Attr.Has(ax) {
			axes = append(axes, ax)
		}
	}
	return r.make(ir.Flip, ir.Attr{Axes: axes}, y.In[0])
}

func concatOne(r *rewriter, n *ir.Node) *ir.Node {
	axis := n.Attr.Axis()
	in := slices.DeleteFunc(slices.Clone(n.In), func(x *ir.Node) bool { return x.Shape[axis].IsConst(0) })
	switch len(in) {
	case 0:
		return n.In[0]
	case 1:
		return in[0]
	case len(n.In):
		return nil
	}
	return r.make(ir.Concat, ir.Attr{Axes: n.Attr.Axes}, in...)
}

func concatConcat(r *rewriter, n *ir.Node) *ir.Node {
	axis := n.Attr.Axis()
	var in []*ir.Node
	for _, x := range n.In {
		if x.Op == ir.Concat && x.Attr.Axis() == axis {
			in = append(in, x.In...)
		} else {
			in = append(in, x)
		}
	}
	if len(in) == len(n.In) && slices.Equal(in, n.In) {
		return nil
	}
	return r.make(ir.Concat, ir.Attr{Axes: n.Attr.Axes}, in...)
}
