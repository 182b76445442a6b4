package grad

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// conv's gradients are two products: with respect to x the transposed convolution of
// d; with respect to w the product of d with the windows of x.
func conv(m *maker, n *ir.Node, d []*ir.Node) []*ir.Node {
	c := &convGrad{m, n.Attr.Conv, n.In[0], n.In[1], n, ir.N(n.Attr.Conv.Groups), len(n.In[0].Shape) - 2}
	perGroup, ok := n.In[1].Shape[0].Div(c.groups)
	if !ok || m.err != nil { // which Infer has refused
		return nil
	}
	dx, err := ir.ConvTransposed(m.b, c.a, d[0], c.w, c.x.Shape[2:])
	if err != nil {
		m.err = err
		return nil
	}
	return []*ir.Node{dx, c.kernel(d[0], perGroup)}
}

type convGrad struct {
	*maker
	a       *ir.ConvAttr
	x, w, n *ir.Node
	groups  ir.Dim
	spatial int
}

// kernel is the product of d with the windows of x, which are the same matrix
// that a convolution multiplies with where it is done by a product of rows.
func (c *convGrad) kernel(d *ir.Node, perGroup ir.Dim) *ir.Node {
	if c.ofFew(perGroup) {
		return c.kernelOfFew(d, perGroup)
	}
	w := c.w.Shape
	windows, err := ir.ConvRows(c.b, c.a, c.x, c.w)
	if err != nil {
		c.err = err
		return nil
	}
	order := []int{1, 0}
	for i := range c.spatial {
		order = append(order, i+2)
	}
	// In memory, with the batch behind the channels: a product that is to find
	// each element by divisions is many times slower.
	d = c.op(ir.Contiguous, c.permute(d, order...))
	places := windows.Shape[len(windows.Shape)-2]
	if c.a.Groups > 1 {
		d = c.reshape(d, ir.Shape{c.groups, perGroup, places})
	} else {
		d = c.reshape(d, ir.Shape{w[0], places})
	}
	dw := c.reshape(c.op(ir.MatMul, d, windows), slices.Concat(w[:1], w[2:], w[1:2]))
	window := []int{0, c.spatial + 1}
	for i := range c.spatial {
		window = append(window, i+1)
	}
	return c.permute(dw, window...)
}

// fewWeights is how many weights a group has at each place of the window, at most, where a
// sum for each of them takes less than a product: as in a depthwise convolution.
const fewWeights = 4

func (c *convGrad) ofFew(perGroup ir.Dim) bool {
	_, most := perGroup.Mul(c.w.Shape[1]).Bounds()
	return c.a.Groups > 1 && most <= fewWeights
}

// kernelOfFew is the same as sums over all places, of groups that have too few channels
// for a product: of [N, group, O of group, C of group, window..., places...].
func (c *convGrad) kernelOfFew(d *ir.Node, perGroup ir.Dim) *ir.Node {
	x := c.x
	if sums := d.DType.Compute(); d.DType != sums { // once, not for each weight
		x, d = c.op(ir.Contiguous, c.cast(x, sums)), c.op(ir.Contiguous, c.cast(d, sums))
	}
	windows, err := ir.ConvWindows(c.b, c.a, x, c.w)
	if err != nil {
		c.err = err
		return nil
	}
	batch, channels, kernel, places := c.x.Shape[0], c.w.Shape[1], c.w.Shape[2:], d.Shape[2:]
	full := slices.Concat(ir.Shape{batch, c.groups, perGroup, channels}, kernel, places)
	d = c.expand(c.reshape(d, slices.Concat(ir.Shape{batch, c.groups, perGroup, ir.N(1)}, ones(c.spatial), places)), full)
	x = c.expand(c.reshape(windows, slices.Concat(ir.Shape{batch, c.groups, ir.N(1), channels}, kernel, places)), full)
	over := []int{0}
	for i := range c.spatial {
		over = append(over, 4+c.spatial+i)
	}
	return c.cast(c.reshape(c.sum(c.mul(d, x), over...), c.w.Shape), c.w.DType)
}
