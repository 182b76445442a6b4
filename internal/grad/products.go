package grad

import "github.com/sinterml/sinter/internal/ir"

// The gradient of a weight that is used in each step of a recurrent layer is a sum of
// products of few terms, each as large as the weight. They are joined to one product of
// all terms, which writes the weight's gradient once.

// product is a gradient that is a product of two matrices, perhaps turned.
type product struct {
	of          *ir.Node // the gradient
	left, right *ir.Node
	turned      bool
	attr        ir.Attr
}

// productOf takes a gradient as a product, if it is one that is worth joining: to copy
// its operands is less than to add it.
func productOf(dy *ir.Node) (p product, ok bool) {
	p.of = dy
	if len(dy.Shape) != 2 {
		return p, false
	}
	for dy.Op == ir.Permute && turned(dy) {
		dy, p.turned = dy.In[0], !p.turned
	}
	if dy.Op != ir.MatMul || dy.Attr.Region != 0 {
		return p, false
	}
	p.left, p.right, p.attr = dy.In[0], dy.In[1], dy.Attr
	rows, known := dy.Shape[0].Const()
	cols, known2 := dy.Shape[1].Const()
	terms, known3 := p.left.Shape[1].Const()
	return p, known && known2 && known3 && terms*(rows+cols) <= rows*cols
}

// sumOfProducts joins those that are alike and adds the others.
func (m *maker) sumOfProducts(all []product) (sum *ir.Node) {
	for len(all) > 0 {
		p := all[0]
		var alike, others []product
		for _, q := range all {
			if q.turned == p.turned && q.attr.TF32 == p.attr.TF32 && q.left.DType == p.left.DType {
				alike = append(alike, q)
			} else {
				others = append(others, q)
			}
		}
		all = others
		dy := p.of
		if len(alike) > 1 {
			dy = m.joined(alike)
		}
		if sum == nil {
			sum = dy
		} else {
			sum = m.plus(sum, dy)
		}
	}
	return sum
}

// joined is the sum of products that are alike as one.
func (m *maker) joined(all []product) *ir.Node {
	var left, right []*ir.Node
	columns := true // the left operands are rows that are turned: these are joined
	for _, p := range all {
		left, right = append(left, p.left), append(right, p.right)
		columns = columns && turned(p.left) && p.left.Op == ir.Permute
	}
	concat := func(axis int, of []*ir.Node) *ir.Node { // in memory, where products read it by rows or columns
		return m.op(ir.Contiguous, m.add(ir.Concat, ir.Attr{Axes: []int{axis}}, of...))
	}
	var x *ir.Node
	if columns {
		for i := range left {
			left[i] = left[i].In[0]
		}
		x = m.transposed(concat(0, left))
	} else {
		x = concat(1, left)
	}
	y := m.add(ir.MatMul, ir.Attr{TF32: all[0].attr.TF32}, x, concat(0, right))
	if all[0].turned {
		return m.transposed(y)
	}
	return y
}
