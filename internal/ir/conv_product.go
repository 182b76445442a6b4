package ir

// ConvRows lays what stands under each place of a convolution as a row of a
// matrix: x [N, C, spatial...] becomes [N * places, window * C], where the
// channel counts fastest, so that a row is made of whole runs of channels. It is
// a copy, as many times as large as x as the window has places, unless one
// image would take much memory.
func ConvRows(b *Builder, a *ConvAttr, x, w *Node) (*Node, error) {
	d := &definer{b: b}
	rows := d.convRows(a, x, w)
	return rows, d.err
}

func (d *definer) convRows(a *ConvAttr, x, w *Node) *Node {
	spatial := len(x.Shape) - 2
	before, after := zeros(spatial+2), zeros(spatial+2)
	lastChannel, toRows := []int{0}, []int{0}
	for i := range spatial {
		before[i+1], after[i+1] = N(a.Before[i]), N(a.After[i])
		lastChannel = append(lastChannel, i+2)
		toRows = append(toRows, i+1)
	}
	// The copy with zeros around is small; behind it the windows are runs of
	// memory.
	y := d.add(Permute, Attr{Axes: append(lastChannel, 1)}, x)
	y = d.add(Contiguous, Attr{}, d.add(Pad, Attr{Before: before, After: after}, y))
	for i := range spatial {
		size, _ := w.Shape[i+2].Const()
		y = d.add(Window, Attr{Axes: []int{i + 1}, Size: size, Stride: a.Stride[i], Dilation: a.Dilation[i]}, y)
		toRows = append(toRows, spatial+2+i)
	}
	if d.err != nil {
		return nil
	}
	image := y.Shape[1 : spatial+1]
	if y = d.add(Permute, Attr{Axes: append(toRows, spatial+1)}, y); d.err != nil {
		return nil
	}
	if _, most := y.Shape[1:].Numel().Bounds(); most <= maxConvRow {
		y = d.add(Contiguous, Attr{}, y)
	}
	return d.reshape(y, Shape{x.Shape[0].Mul(image.Numel()), w.Shape[2:].Numel().Mul(x.Shape[1])})
}

// ConvAsProduct computes a convolution of one group by ConvRows and a product
// with w, for devices that are fast at products. Its sums run over the window
// first, then the channels.
func ConvAsProduct(b *Builder, n, x, w *Node) (*Node, error) {
	d := &definer{b: b}
	spatial := len(x.Shape) - 2
	image := n.Shape[2:]
	var kernel, places []int // axes
	for i := range spatial {
		kernel, places = append(kernel, i+2), append(places, i+1)
	}
	rows := d.convRows(n.Attr.Conv, x, w)
	// w [O, C, window...] as [window * C, O].
	columns := d.reshape(d.add(Permute, Attr{Axes: append(kernel, 1, 0)}, w), Shape{w.Shape[1:].Numel(), w.Shape[0]})
	y := d.reshape(d.add(MatMul, Attr{}, rows, columns), join(Shape{x.Shape[0]}, image, Shape{w.Shape[0]}))
	y = d.add(Permute, Attr{Axes: append([]int{0, spatial + 1}, places...)}, y)
	return y, d.err
}

// maxConvRow bounds what is copied of one image, in elements: 64 MB of f32. A
// product reads larger ones where they lie, place by place, which is slower.
const maxConvRow = 1 << 24

// ConvPaysAsProduct tells whether ConvAsProduct is for n: a group of channels
// would be a product of its own, and many are too small to pay.
func ConvPaysAsProduct(n *Node) bool { return n.Op == Conv && n.Attr.Conv.Groups == 1 }

func zeros(n int) []Dim {
	z := make([]Dim, n)
	for i := range z {
		z[i] = N(0)
	}
	return z
}
