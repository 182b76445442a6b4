package grad

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// conv's gradients are two products: with respect to x the convolution of d,
// spread by the strides, with the kernel turned around; with respect to w the
// product of d with the windows of x.
func conv(m *maker, n *ir.Node, d []*ir.Node) []*ir.Node {
	c := &convGrad{m, n.Attr.Conv, n.In[0], n.In[1], n, ir.N(n.Attr.Conv.Groups), len(n.In[0].Shape) - 2}
	perGroup, ok := n.In[1].Shape[0].Div(c.groups)
	if !ok || m.err != nil { // which Infer has refused
		return nil
	}
	return []*ir.Node{c.input(d[0], perGroup), c.kernel(d[0], perGroup)}
}

type convGrad struct {
	*maker
	a       *ir.ConvAttr
	x, w, n *ir.Node
	groups  ir.Dim
	spatial int
}

func (c *convGrad) input(d *ir.Node, perGroup ir.Dim) *ir.Node {
	dx := d
	plain := &ir.ConvAttr{Stride: slices.Repeat([]int{1}, c.spatial), Dilation: c.a.Dilation,
		Before: make([]int, c.spatial), After: make([]int, c.spatial), Groups: c.a.Groups}
	axes := make([]int, c.spatial)
	for i := range c.spatial {
		axis := i + 2
		axes[i] = axis
		reach := c.w.Shape[axis].Plus(-1).Mul(ir.N(c.a.Dilation[i])) // of a window, beyond its first element
		padded := c.x.Shape[axis].Plus(c.a.Before[i] + c.a.After[i])
		// d as it lies in the padded x, and on both sides as much as a window reaches.
		dx = c.place(dx, axis, reach, c.a.Stride[i], padded.Add(reach))
	}
	dx = c.add(ir.Conv, ir.Attr{Conv: plain}, dx, c.flip(c.turned(perGroup), axes...))
	for i := range c.spatial {
		dx = c.narrow(dx, i+2, ir.N(c.a.Before[i]), c.x.Shape[i+2])
	}
	return dx
}

// turned is w [O, C/groups, kernel...] as [C, O/groups, kernel...].
func (c *convGrad) turned(perGroup ir.Dim) *ir.Node {
	kernel := c.w.Shape[2:]
	in := c.w.Shape[1]
	split := c.reshape(c.w, append(ir.Shape{c.groups, perGroup, in}, kernel...))
	order := []int{0, 2, 1}
	for i := range c.spatial {
		order = append(order, i+3)
	}
	return c.reshape(c.permute(split, order...), append(ir.Shape{c.groups.Mul(in), perGroup}, kernel...))
}

// kernel is the product of d with the windows of x, which are the same matrix
// that a convolution multiplies with where it is done by a product.
func (c *convGrad) kernel(d *ir.Node, perGroup ir.Dim) *ir.Node {
	if !ir.ConvPaysAsProduct(c.n) {
		return c.kernelByGroup(d, perGroup)
	}
	w := c.w.Shape
	rows, err := ir.ConvRows(c.b, c.a, c.x, c.w)
	if err != nil {
		c.err = err
		return nil
	}
	lastChannel, window := []int{0}, []int{0, c.spatial + 1}
	for i := range c.spatial {
		lastChannel, window = append(lastChannel, i+2), append(window, i+1)
	}
	d = c.reshape(c.permute(d, append(lastChannel, 1)...), ir.Shape{rows.Shape[0], w[0]})
	dw := c.op(ir.MatMul, c.transposed(d), rows)
	dw = c.reshape(dw, slices.Concat(w[:1], w[2:], w[1:2]))
	return c.permute(dw, window...)
}

// kernelByGroup is kernel for several groups.
func (c *convGrad) kernelByGroup(d *ir.Node, perGroup ir.Dim) *ir.Node {
	// The windows: [N, C, image..., kernel...].
	windows := c.x
	for i := range c.spatial {
		windows = c.pad(windows, i+2, ir.N(c.a.Before[i]), ir.N(c.a.After[i]))
	}
	for i := range c.spatial {
		axis := i + 2
		size, _ := c.w.Shape[axis].Const()
		windows = c.add(ir.Window, ir.Attr{Axes: []int{axis}, Size: size, Stride: c.a.Stride[i], Dilation: c.a.Dilation[i]}, windows)
	}
	batch, image, kernel, in := c.x.Shape[0], c.n.Shape[2:], c.w.Shape[2:], c.w.Shape[1]
	places := batch.Mul(ir.Shape(image).Numel())
	// By group [places, C/groups * kernel] and [O/groups, places].
	order := []int{1, 0}
	for i := range c.spatial {
		order = append(order, i+3)
	}
	order = append(order, 2)
	for i := range c.spatial {
		order = append(order, c.spatial+i+3)
	}
	windows = c.reshape(windows, slices.Concat(ir.Shape{batch, c.groups, in}, image, kernel))
	windows = c.reshape(c.permute(windows, order...), ir.Shape{c.groups, places, in.Mul(ir.Shape(kernel).Numel())})
	order = []int{1, 2, 0}
	for i := range c.spatial {
		order = append(order, i+3)
	}
	d = c.reshape(d, append(ir.Shape{batch, c.groups, perGroup}, image...))
	d = c.reshape(c.permute(d, order...), ir.Shape{c.groups, perGroup, places})
	return c.reshape(c.op(ir.MatMul, d, windows), c.w.Shape)
}
