package ir

import "slices"

// Windows is how a device's products read the windows of a convolution.
type Windows int

const (
	WindowsCopied    Windows = iota // into a matrix, row by row
	WindowsAsRows                   // where they lie, as rows that are brought into order block by block
	WindowsAsColumns                // where they lie, as columns of a matrix for each image
)

// ConvRows lays what stands under each place of a convolution as a row of a
// matrix: x [N, C, spatial...] becomes [N * places, window * C], in groups
// [groups, N * places, window * C of group], where the channel counts fastest,
// so that a row is made of whole runs of channels. It is a copy, as many times
// as large as x as the window has places, unless one image would take much memory.
func ConvRows(b *Builder, a *ConvAttr, x, w *Node) (*Node, error) {
	d := &definer{b: b}
	rows := d.convRows(a, x, w, false)
	return rows, d.err
}

// convRows is ConvRows; in place it leaves windows where they lie if that pays.
func (d *definer) convRows(a *ConvAttr, x, w *Node, inPlace bool) *Node {
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
	y = d.convWindows(a, y, w, 1)
	for i := range spatial {
		toRows = append(toRows, spatial+2+i)
	}
	if d.err != nil {
		return nil
	}
	image := y.Shape[1 : spatial+1]
	if y = d.add(Permute, Attr{Axes: append(toRows, spatial+1)}, y); d.err != nil {
		return nil
	}
	rows, terms := x.Shape[0].Mul(image.Numel()), w.Shape[1:].Numel()
	matrix := Shape{rows, terms}
	if a.Groups > 1 {
		matrix = Shape{N(a.Groups), rows, terms}
		y = d.groupsFirst(y, a.Groups, w.Shape[1])
	}
	if d.err != nil {
		return nil
	}
	_, oneImage := image.Numel().Mul(terms).Mul(N(a.Groups)).Bounds()
	_, all := y.Shape.Numel().Bounds()
	if inPlace = inPlace && all >= minInPlace && windowRun(a, x, w) >= minWindowRun; oneImage <= maxConvRow && !inPlace {
		y = d.add(Contiguous, Attr{}, y)
	}
	return d.reshape(y, matrix)
}

// groupsFirst takes the channels, the last axis, apart and puts the groups first.
func (d *definer) groupsFirst(y *Node, groups int, channels Dim) *Node {
	last := len(y.Shape) - 1
	y = d.reshape(y, join(y.Shape[:last], Shape{N(groups), channels}))
	order := []int{last}
	for i := range last {
		order = append(order, i)
	}
	return d.add(Permute, Attr{Axes: append(order, last+1)}, y)
}

// windowRun is how many numbers of a window lie side by side where channels do: those of
// a place, or of a row of places that have nothing between them. It is 0 if that is not
// known.
func windowRun(a *ConvAttr, x, w *Node) int {
	channels, known := x.Shape[1].Const()
	if !known {
		return 0
	}
	if last := len(a.Dilation) - 1; a.Dilation[last] == 1 {
		places, _ := w.Shape[last+2].Const()
		return channels * places
	}
	return channels
}

// convWindows adds an axis for each of the window's, whose places are counted by
// the axes of y from first on.
func (d *definer) convWindows(a *ConvAttr, y, w *Node, first int) *Node {
	for i := range a.Stride {
		size, _ := w.Shape[i+2].Const()
		y = d.add(Window, Attr{Axes: []int{first + i}, Size: size, Stride: a.Stride[i], Dilation: a.Dilation[i]}, y)
	}
	return y
}

// ConvAsProduct computes a convolution by ConvRows, convColumns or as convOfImages, and
// a product with w, for devices that are fast at products. Its sums run over the window
// first, then the channels; in groups over the channels first. Windows may stay where
// they lie if products can read them there and that pays.
func ConvAsProduct(b *Builder, n, x, w *Node, windows Windows) (*Node, error) {
	d := &definer{b: b}
	switch {
	case n.Attr.Conv.Groups > 1:
		return d.convInGroups(n, x, w, windows == WindowsAsColumns), d.err
	case windows == WindowsAsColumns && !channelsLast(x) && fillColumns(n) && !rowsInRuns(n.Attr.Conv, x, w):
		return d.convOfImages(n, x, w), d.err
	}
	inPlace := windows != WindowsCopied
	spatial := len(x.Shape) - 2
	image := n.Shape[2:]
	var kernel, places []int // axes
	for i := range spatial {
		kernel, places = append(kernel, i+2), append(places, i+1)
	}
	rows := d.convRows(n.Attr.Conv, x, w, inPlace)
	// w [O, C, window...] as [window * C, O].
	columns := d.reshape(d.add(Permute, Attr{Axes: append(kernel, 1, 0)}, w), Shape{w.Shape[1:].Numel(), w.Shape[0]})
	y := d.reshape(d.add(MatMul, Attr{}, rows, columns), join(Shape{x.Shape[0]}, image, Shape{w.Shape[0]}))
	y = d.add(Permute, Attr{Axes: append([]int{0, spatial + 1}, places...)}, y)
	return y, d.err
}

// convColumns lays what stands under each place of a convolution in groups as a
// column of its group's matrix: x [N, C, spatial...] becomes [groups, C of group *
// window, N * places], so that the kernel [O, C of group, window...] is a row of
// each as it lies. It is a copy like that of ConvRows, or a view of what is in place.
func (d *definer) convColumns(a *ConvAttr, x, w *Node, inPlace bool) *Node {
	y := d.imageWindows(a, x, w)
	if d.err != nil {
		return nil
	}
	spatial := len(x.Shape) - 2
	places := y.Shape[len(y.Shape)-spatial:].Numel()
	order := []int{1}
	for i := range spatial {
		order = append(order, i+2)
	}
	order = append(order, 0)
	for i := range spatial {
		order = append(order, spatial+2+i)
	}
	if y = d.add(Permute, Attr{Axes: order}, y); d.err != nil {
		return nil
	}
	if _, most := w.Shape[1:].Numel().Mul(N(a.Groups)).Mul(places).Bounds(); most <= maxConvRow && !inPlace {
		y = d.add(Contiguous, Attr{}, y)
	}
	return d.reshape(y, Shape{N(a.Groups), w.Shape[1:].Numel(), x.Shape[0].Mul(places)})
}

// ConvWindows is what stands under each place of a convolution, x [N, C, spatial...] as a
// view [N, C, window..., places...] of x or of a copy with zeros around.
func ConvWindows(b *Builder, a *ConvAttr, x, w *Node) (*Node, error) {
	d := &definer{b: b}
	windows := d.imageWindows(a, x, w)
	return windows, d.err
}

// imageWindows is what stands under each place of a convolution, x [N, C, spatial...] as
// [N, C, window..., places...], with zeros around x.
func (d *definer) imageWindows(a *ConvAttr, x, w *Node) *Node {
	spatial := len(x.Shape) - 2
	before, after := zeros(spatial+2), zeros(spatial+2)
	order := []int{0, 1}
	for i := range spatial {
		before[i+2], after[i+2] = N(a.Before[i]), N(a.After[i])
		order = append(order, spatial+2+i)
	}
	for i := range spatial {
		order = append(order, i+2)
	}
	if padded(a) {
		x = d.add(Contiguous, Attr{}, d.add(Pad, Attr{Before: before, After: after}, x))
	}
	y := d.convWindows(a, x, w, 2)
	return d.add(Permute, Attr{Axes: order}, y)
}

func padded(a *ConvAttr) bool {
	return slices.ContainsFunc(slices.Concat(a.Before, a.After), func(n int) bool { return n != 0 })
}

// convOfImages is a product of w with the windows of each image: its results lie as
// those of a convolution do. Terms are in the order that ConvRows has, the window's
// places first, then the channels, so that sums are the same.
func (d *definer) convOfImages(n, x, w *Node) *Node {
	if !padded(n.Attr.Conv) { // what is padded is copied
		x = d.copied(x)
	}
	windows := d.imageWindows(n.Attr.Conv, x, w)
	spatial := len(x.Shape) - 2
	toTerms, toRows := []int{0}, []int{0}
	for i := range spatial {
		toTerms, toRows = append(toTerms, i+2), append(toRows, i+2)
	}
	toTerms, toRows = append(toTerms, 1), append(toRows, 1)
	for i := range spatial {
		toTerms = append(toTerms, spatial+2+i)
	}
	images, outputs, terms := x.Shape[0], w.Shape[0], w.Shape[1:].Numel()
	columns := d.reshape(d.add(Permute, Attr{Axes: toTerms}, windows), Shape{images, terms, n.Shape[2:].Numel()})
	rows := w
	if !w.Shape[1].IsConst(1) && !w.Shape[2:].Numel().IsConst(1) {
		rows = d.add(Permute, Attr{Axes: toRows}, w)
	}
	rows = d.reshape(d.copied(rows), Shape{N(1), outputs, terms})
	rows = d.add(Expand, Attr{Shape: Shape{images, outputs, terms}}, rows)
	return d.reshape(d.add(MatMul, Attr{}, rows, columns), n.Shape)
}

// convInGroups computes a convolution in groups by convColumns and a product of
// as many matrices.
func (d *definer) convInGroups(n, x, w *Node, inPlace bool) *Node {
	groups, image := N(n.Attr.Conv.Groups), n.Shape[2:]
	outC, ok := n.Shape[1].Div(groups)
	if !ok {
		return d.fail("%v output channels do not divide into %v groups", n.Shape[1], groups)
	}
	if inPlace && !padded(n.Attr.Conv) { // what is padded is copied
		x = d.copied(x)
	}
	columns := d.convColumns(n.Attr.Conv, x, w, inPlace)
	rows := d.reshape(w, Shape{groups, outC, w.Shape[1:].Numel()})
	y := d.reshape(d.add(MatMul, Attr{}, rows, columns), join(Shape{n.Shape[1], x.Shape[0]}, image))
	order := []int{1, 0}
	for i := range image {
		order = append(order, i+2)
	}
	return d.add(Permute, Attr{Axes: order}, y)
}

// maxConvRow bounds what is copied of one image, in elements: 64 MB of f32. A
// product reads larger ones where they lie, place by place where they are not packed in
// runs, which is slower.
const maxConvRow = 1 << 24

// Windows are left in place for a product that packs its rows from runs so long, as short
// ones take longer to begin than to copy, and where there may be so many elements, 16 MB
// of f32: a smaller copy stays in the caches, and the gradient of the kernel has the same
// (go test -run xxx -bench 'Operators/convolution$' .).
const (
	minWindowRun = 64
	minInPlace   = 1 << 22
)

// copied is x, in memory of its own if it is a view of what lies in another order.
func (d *definer) copied(x *Node) *Node {
	of := x
	for of.Op == Reshape {
		of = of.In[0]
	}
	if of.Op.Class() == ClassMovement && of.Op != Contiguous {
		return d.add(Contiguous, Attr{}, x)
	}
	return x
}

// fillColumns tells whether the places of n's images fill panels of 16 columns but for a
// ninth: a product computes all of a panel, and no image shares one with the next.
func fillColumns(n *Node) bool {
	const panel, many = 16, 128
	least, most := n.Shape[2:].Numel().Bounds()
	return least >= many || least == most && 9*least >= 8*((least+panel-1)/panel*panel)
}

// rowsInRuns tells whether places lie apart, so that columns are packed number by number,
// where windows have long runs as rows.
func rowsInRuns(a *ConvAttr, x, w *Node) bool {
	return a.Stride[len(a.Stride)-1] > 1 && windowRun(a, x, w) >= minWindowRun
}

// channelsLast tells whether x's channels lie side by side, and its places do not, as
// those of an image that is turned for a convolution, and of what is computed from it
// element by element.
func channelsLast(x *Node) bool {
	for x.Op.Pointwise() && len(x.In) > 0 {
		x = x.In[0]
	}
	return x.Op == Permute && x.Attr.Axes[1] == len(x.Shape)-1
}

// minConvGroup is how many channels a group needs on both sides: with 4 a product
// takes a fifth of the time of loops on processors, with 2 about as long, and it
// needs memory for the windows (go test -run xxx -bench Operators/grouped .).
const minConvGroup = 4

// ConvPaysAsProduct tells whether ConvAsProduct is for n: a group of channels is a
// product of its own, and those of few channels are too small to pay.
func ConvPaysAsProduct(n *Node) bool {
	if n.Op != Conv || n.Attr.Conv.Groups == 1 {
		return n.Op == Conv
	}
	outC, _ := n.Shape[1].Div(N(n.Attr.Conv.Groups))
	in, _ := n.In[1].Shape[1].Bounds()
	out, _ := outC.Bounds()
	return in >= minConvGroup && out >= minConvGroup
}

func zeros(n int) []Dim {
	z := make([]Dim, n)
	for i := range z {
		z[i] = N(0)
	}
	return z
}
