package ir

import (
	"maps"
	"slices"
)

// ConvTransposed is the gradient of a convolution with respect to its x: of d [N, O,
// places...], which are a convolution's results, and w [O, C/groups, kernel...] it makes
// [N, C, size...], the sum of what each place took from an element of x. a is that
// convolution's; After does not count, as size says where x ends.
//
// Places of x that are apart by the stride take the same weights of w. Each such phase is
// a convolution of d with stride 1 and with its part of the kernel, so that nothing is
// multiplied by zeros between the places of d; phases with as many weights are channels
// of one.
func ConvTransposed(b *Builder, a *ConvAttr, d, w *Node, size Shape) (*Node, error) {
	t := &convTransposed{definer: definer{b: b}, d: d, groups: a.Groups}
	rank, pieces := len(size)+2, 1
	starts := make([]int, len(size))
	for i := range size {
		k, _ := w.Shape[i+2].Const()
		axis := planPhases(k, a.Stride[i], a.Dilation[i], a.Before[i], d.Shape[i+2], size[i])
		if axis == nil {
			return t.fail("%v elements of axis %d are no whole strides and a rest", size[i], i), t.err
		}
		t.axes, starts[i] = append(t.axes, axis), axis.start
		pieces *= len(axis.parts)
	}
	if pieces > maxPieces && slices.Max(a.Dilation) > 1 {
		plain := *a
		plain.Dilation = slices.Repeat([]int{1}, len(size))
		if w = t.undilated(w, a.Dilation); t.err != nil {
			return nil, t.err
		}
		return ConvTransposed(b, &plain, d, w, size)
	}
	t.kernel = t.turned(w)
	y := t.interleaved(t.pieces(nil))
	if t.err != nil {
		return nil, t.err
	}
	to := Attr{Starts: zeros(rank), Steps: slices.Repeat([]int{1}, rank), Shape: slices.Concat(y.Shape[:2], size)}
	for i, start := range starts {
		to.Starts[i+2] = N(start)
	}
	if !y.Shape.Equal(to.Shape) {
		y = t.add(Slice, to, y)
	}
	return y, t.err
}

// maxPieces is how many convolutions are made at most, if there are fewer with zeros
// between the weights of a dilated kernel, which are multiplied then.
const maxPieces = 16

// undilated is a kernel with zeros between its weights.
func (t *convTransposed) undilated(w *Node, dilation []int) *Node {
	for i, apart := range dilation {
		axis := i + 2
		if apart == 1 || t.err != nil {
			continue
		}
		rank := len(w.Shape)
		k, _ := w.Shape[axis].Const()
		pairs := slices.Insert(slices.Clone(w.Shape), axis+1, N(1))
		pad := Attr{Before: zeros(rank + 1), After: zeros(rank + 1)}
		pad.After[axis+1] = N(apart - 1)
		long := slices.Clone(w.Shape)
		long[axis] = N(k * apart)
		cut := Attr{Starts: zeros(rank), Steps: slices.Repeat([]int{1}, rank), Shape: slices.Clone(long)}
		cut.Shape[axis] = N((k-1)*apart + 1)
		if w = t.reshape(t.add(Pad, pad, t.reshape(w, pairs)), long); t.err == nil { // none behind the last
			w = t.add(Slice, cut, w)
		}
	}
	return w
}

type convTransposed struct {
	definer
	d, kernel *Node // kernel as [C, O/groups, kernel...]
	groups    int
	axes      []*phases
}

// phases are those of one axis. Element stride*q + r of the padded x, for q from first
// on, is phase r at q.
type phases struct {
	stride int
	length Dim // of each phase
	start  int // of x in what the phases make together
	parts  []phase
}

// phase is count phases from one on, each with taps weights: tap m of phase r is weight
// r - from + weight + m*step of the kernel and meets d at q - offset - m*apart.
type phase struct {
	count, taps  int
	weight, step int
	apart        int
	before       int // zeros around d
	after        int
}

// planPhases cuts an axis of a kernel of k weights into phases; nil if it is not known
// how many elements there are beside whole strides.
func planPhases(k, stride, dilation, before int, places, size Dim) *phases {
	p := planPadded(k, stride, dilation, before, places, size)
	usable := func(p *phases) bool {
		least, _ := p.length.Bounds()
		return least > 0 && !slices.ContainsFunc(p.parts, func(f phase) bool { return f.taps > 0 && min(f.before, f.after) < 0 })
	}
	if p == nil || usable(p) {
		return p
	}
	// Zeros are so many that some places of d do not count: those of the padded x
	// all do.
	whole := places.Plus(-1).Mul(N(stride)).Plus((k-1)*dilation + 1)
	if more, ok := size.Plus(before).Sub(whole).Const(); ok && more > 0 {
		whole = whole.Plus(more)
	}
	if p = planPadded(k, stride, dilation, 0, places, whole); p != nil {
		p.start += before
	}
	return p
}

func planPadded(k, stride, dilation, before int, places, size Dim) *phases {
	first := before / stride
	last, ok := floorOf(size.Plus(before-1), stride)
	if !ok {
		return nil
	}
	p := &phases{stride: stride, length: last.Plus(1 - first), start: before - first*stride}
	common := divisor(stride, dilation)
	step := stride / common
	begins := map[int]int{} // the first weight of each phase that has some
	for weight := range min(k, step) {
		begins[weight*dilation%stride] = weight
	}
	next := 0
	for _, r := range slices.Sorted(maps.Keys(begins)) {
		f := phase{count: 1, weight: begins[r], step: step, apart: dilation / common}
		f.taps = (k - f.weight + step - 1) / step
		offset := (f.weight*dilation - r) / stride
		f.before = (f.taps-1)*f.apart + offset - first
		if f.after, ok = last.Plus(1 - offset).Sub(places).Const(); !ok {
			return nil
		}
		if r > next {
			p.parts = append(p.parts, phase{count: r - next})
		}
		next = r + 1
		if n := len(p.parts); n > 0 && p.parts[n-1].taps == f.taps && dilation == 1 {
			p.parts[n-1].count++
			continue
		}
		p.parts = append(p.parts, f)
	}
	if next < stride {
		p.parts = append(p.parts, phase{count: stride - next})
	}
	return p
}

// floorOf is floor(d/n) where what is left over is a constant.
func floorOf(d Dim, n int) (Dim, bool) {
	for rest := range n {
		if q, ok := d.Plus(-rest).Div(N(n)); ok {
			return q, true
		}
	}
	return Dim{}, false
}

func divisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// turned is w [O, C/groups, kernel...] as [C, O/groups, kernel...].
func (t *convTransposed) turned(w *Node) *Node {
	groups, in := N(t.groups), w.Shape[1]
	out, ok := w.Shape[0].Div(groups)
	if !ok {
		return t.fail("%v output channels do not divide into %v groups", w.Shape[0], groups)
	}
	order := []int{0, 2, 1}
	for i := range w.Shape[2:] {
		order = append(order, i+3)
	}
	split := t.reshape(w, slices.Concat(Shape{groups, out, in}, w.Shape[2:]))
	return t.reshape(t.add(Permute, Attr{Axes: order}, split), slices.Concat(Shape{groups.Mul(in), out}, w.Shape[2:]))
}

// pieces are the phases of all axes behind those that are chosen, put together: [N, C,
// phases..., length...].
func (t *convTransposed) pieces(chosen []phase) *Node {
	i := len(chosen)
	if i == len(t.axes) {
		return t.piece(chosen)
	}
	var all []*Node
	for _, p := range t.axes[i].parts {
		all = append(all, t.pieces(append(slices.Clone(chosen), p)))
	}
	if len(all) == 1 || t.err != nil {
		return all[0]
	}
	return t.add(Concat, Attr{Axes: []int{i + 2}}, all...)
}

// piece is one convolution.
func (t *convTransposed) piece(chosen []phase) *Node {
	if t.err != nil {
		return nil
	}
	conv := &ConvAttr{Groups: t.groups}
	counts, count := Shape{}, N(1)
	var length Shape
	taps := true
	for i, p := range chosen {
		conv.Stride, conv.Dilation = append(conv.Stride, 1), append(conv.Dilation, p.apart)
		conv.Before, conv.After = append(conv.Before, p.before), append(conv.After, p.after)
		counts, count = append(counts, N(p.count)), count.Mul(N(p.count))
		length, taps = append(length, t.axes[i].length), taps && p.taps > 0
	}
	batch, channels := t.d.Shape[0], t.kernel.Shape[0]
	shape := slices.Concat(Shape{batch, channels}, counts, length)
	if !taps {
		return t.fill(t.d.DType, 0, shape)
	}
	return t.reshape(t.add(Conv, Attr{Conv: conv}, t.d, t.weights(chosen, channels.Mul(count))), shape)
}

// weights are the kernel's of a piece, turned around: [C * phases, O/groups, taps...].
func (t *convTransposed) weights(chosen []phase, channels Dim) *Node {
	w := t.kernel
	spatial := len(chosen)
	order, behind, flipped := []int{0}, []int{1}, []int{}
	shape := Shape{channels, w.Shape[1]}
	for i, p := range chosen {
		axis := 2 + 2*i // [..., taps, phases of it, kernel of the axes that follow...]
		w = t.tapsOf(w, axis, p)
		order, behind, flipped = append(order, axis+1), append(behind, axis), append(flipped, spatial+2+i)
		shape = append(shape, N(p.taps))
	}
	w = t.add(Permute, Attr{Axes: append(order, behind...)}, w)
	return t.reshape(t.add(Flip, Attr{Axes: flipped}, w), shape)
}

// tapsOf makes an axis of the kernel two: taps, and the phases that have them.
func (t *convTransposed) tapsOf(w *Node, axis int, p phase) *Node {
	if t.err != nil {
		return nil
	}
	s := Attr{Starts: zeros(len(w.Shape)), Steps: slices.Repeat([]int{1}, len(w.Shape)), Shape: slices.Clone(w.Shape)}
	split := slices.Concat(w.Shape[:axis], Shape{N(p.taps), N(p.count)}, w.Shape[axis+1:])
	if p.count == 1 {
		if !w.Shape[axis].IsConst(p.taps) {
			s.Starts[axis], s.Steps[axis], s.Shape[axis] = N(p.weight), p.step, N(p.taps)
			w = t.add(Slice, s, w)
		}
		return t.reshape(w, split)
	}
	// Weights p.weight to p.weight + p.count of each p.step.
	k, _ := w.Shape[axis].Const()
	if more := p.taps*p.step - k; more > 0 {
		pad := Attr{Before: zeros(len(w.Shape)), After: zeros(len(w.Shape))}
		pad.After[axis] = N(more)
		w = t.add(Pad, pad, w)
	} else {
		s.Shape[axis] = N(p.taps * p.step)
		w = t.add(Slice, s, w)
	}
	rows := slices.Concat(split[:axis+1], Shape{N(p.step)}, split[axis+2:])
	of := Attr{Starts: zeros(len(rows)), Steps: slices.Repeat([]int{1}, len(rows)), Shape: split}
	of.Starts[axis+1] = N(p.weight)
	return t.add(Slice, of, t.reshape(w, rows))
}

// interleaved is [N, C, phases..., length...] as [N, C, length * phases...].
func (t *convTransposed) interleaved(y *Node) *Node {
	if t.err != nil {
		return nil
	}
	order := []int{0, 1}
	shape := slices.Clone(y.Shape[:2])
	apart := false
	for i, p := range t.axes {
		order = append(order, 2+len(t.axes)+i, 2+i)
		shape = append(shape, p.length.Mul(N(p.stride)))
		apart = apart || p.stride > 1
	}
	if apart {
		y = t.add(Permute, Attr{Axes: order}, y)
	}
	return t.reshape(y, shape)
}
