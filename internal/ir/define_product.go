package ir

// matMul is the sum over k of x[..., m, k, 1] * y[..., 1, k, n].
func (d *definer) matMul(n, x, y *Node) *Node {
	t := computed(n.DType)
	r := len(n.Shape)
	batch, m, k, cols := n.Shape[:r-2], x.Shape[r-2], x.Shape[r-1], n.Shape[r-1]
	full := join(batch, Shape{m, k, cols})
	product := d.add(Mul, Attr{},
		d.expand(d.cast(x, n.DType, t), join(batch, Shape{m, k, N(1)}), full),
		d.expand(d.cast(y, n.DType, t), join(batch, Shape{N(1), k, cols}), full))
	return d.cast(d.reshape(d.reduce(ReduceSum, product, r-1), n.Shape), t, n.DType)
}

// conv pads x with zeros, takes the window under each result, multiplies by w
// and sums over the channels of the group and the window:
// [batch, group, O of group, C of group, image..., kernel...].
func (d *definer) conv(n, x, w *Node) *Node {
	a, t := n.Attr.Conv, computed(n.DType)
	groups, spatial := N(a.Groups), len(x.Shape)-2
	before, after := make([]Dim, spatial+2), make([]Dim, spatial+2)
	for i := range spatial {
		before[i+2], after[i+2] = N(a.Before[i]), N(a.After[i])
	}
	windows := d.add(Pad, Attr{Before: before, After: after}, d.cast(x, n.DType, t))
	axes := []int{3}
	for i := range spatial {
		size, _ := w.Shape[i+2].Const()
		windows = d.add(Window, Attr{Axes: []int{i + 2}, Size: size, Stride: a.Stride[i], Dilation: a.Dilation[i]}, windows)
		axes = append(axes, 4+spatial+i)
	}
	outC, ok := n.Shape[1].Div(groups)
	if !ok {
		return d.fail("%v output channels do not divide into %v groups", n.Shape[1], groups)
	}
	batch, image, inC, kernel := n.Shape[0], n.Shape[2:], w.Shape[1], w.Shape[2:]
	full := join(Shape{batch, groups, outC, inC}, image, kernel)
	product := d.add(Mul, Attr{},
		d.expand(windows, join(Shape{batch, groups, N(1), inC}, image, kernel), full),
		d.expand(d.cast(w, n.DType, t), join(Shape{N(1), groups, outC, inC}, onesLike(image), kernel), full))
	return d.cast(d.reshape(d.reduce(ReduceSum, product, axes...), n.Shape), t, n.DType)
}
