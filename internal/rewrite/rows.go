package rewrite

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// rowView is the rows of a matrix where they come from: what is computed of
// whole rows is computed there, in the loops that computed the elements, and
// moved afterwards.
type rowView struct {
	base  *ir.Node
	axes  []int      // of base, sorted: a row is what lies along them
	steps []viewStep // from base to the matrix
}

// viewStep is a Permute or Reshape, and the axes of its result that a row lies
// along.
type viewStep struct {
	view *ir.Node
	axes []int
}

// viewRows looks through what moves elements and leaves rows, which lie along
// the last axis of x, whole.
func viewRows(x *ir.Node) rowView {
	v := rowView{base: x, axes: []int{len(x.Shape) - 1}}
	for {
		var axes []int
		switch v.base.Op {
		case ir.Permute:
			for _, a := range v.axes {
				axes = append(axes, v.base.Attr.Axes[a])
			}
			slices.Sort(axes)
		case ir.Reshape:
			axes = regroupAxes(v.base.In[0].Shape, v.base.Shape, v.axes)
		}
		if axes == nil {
			return v
		}
		v.steps = slices.Insert(v.steps, 0, viewStep{v.base, v.axes})
		v.base, v.axes = v.base.In[0], axes
	}
}

// regroupAxes gives the axes of a shape that become the given ones of another
// when it is reshaped; nil if these take parts of others.
func regroupAxes(from, to ir.Shape, axes []int) []int {
	var all []int
	for i, j := 0, 0; i < len(from) || j < len(to); {
		i0, j0 := i, j
		if i, j = nextGroup(from, to, i, j); i < 0 {
			return nil
		}
		taken, left := false, false
		for k := j0; k < j; k++ {
			switch {
			case slices.Contains(axes, k):
				taken = true
			case !to[k].IsConst(1):
				left = true
			}
		}
		if taken && left {
			return nil
		}
		for k := i0; k < i && taken; k++ {
			all = append(all, k)
		}
	}
	return all
}

// moved takes what was computed at the base of a view, element by element or
// one value a row, to where the view leads.
func (r *rewriter) moved(v rowView, n *ir.Node) *ir.Node {
	rows := !n.Shape.Equal(v.base.Shape)
	for _, s := range v.steps {
		switch {
		case s.view.Op == ir.Permute:
			n = r.make(ir.Permute, s.view.Attr, n)
		case rows:
			n = r.reshape(n, narrowed(s.view.Shape, s.axes...))
		default:
			n = r.reshape(n, s.view.Shape)
		}
	}
	return n
}
