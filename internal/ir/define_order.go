package ir

// sort counts for each element those that come before it, which is its place
// in the result: [..., i, j, ...] tells whether element j comes before i.
func (d *definer) sort(n, x *Node) []*Node {
	ax, s := n.Attr.Axis(), n.Shape
	full := insert(s, ax+1, s[ax])
	spread := func(y *Node) (i, j *Node) {
		return d.expand(y, insert(s, ax+1, N(1)), full), d.expand(y, insert(s, ax, N(1)), full)
	}
	xi, xj := spread(x)
	nanI, nanJ := spread(d.not(d.add(Equal, Attr{}, x, x), s))
	smaller := d.less(xj, xi)
	if n.Attr.Descending {
		smaller = d.less(xi, xj)
	}
	alike := d.add(Or, Attr{}, d.add(Equal, Attr{}, xi, xj), d.and(nanI, nanJ))
	first := d.less(d.iota(I64, full, ax+1), d.iota(I64, full, ax))
	before := d.add(Or, Attr{}, smaller, d.and(alike, first))
	before = d.add(Or, Attr{}, before, d.and(nanI, d.not(nanJ, full)))
	rank := d.reshape(d.reduce(ReduceSum, d.cast(before, Bool, I64), ax+1), s)
	scatter := Attr{Axes: []int{ax}, Mode: "set"}
	index := d.iota(I64, s, ax)
	return []*Node{d.add(Scatter, scatter, x, rank, x), d.add(Scatter, scatter, index, rank, index)}
}

// scan reduces, for each i, over all j: [..., i, j, ...] holds element j where
// j is up to i, else what changes nothing.
func (d *definer) scan(n, x *Node) *Node {
	ax, s, t := n.Attr.Axis(), n.Shape, computed(n.DType)
	full := insert(s, ax+1, s[ax])
	after := d.less(d.iota(I64, full, ax), d.iota(I64, full, ax+1))
	xj := d.expand(d.cast(x, n.DType, t), insert(s, ax, N(1)), full)
	return d.cast(d.reshape(d.masked(n.Attr.Mode, xj, after, t, full, ax+1), s), t, n.DType)
}

// masked reduces x along an axis, leaving out where skip is true.
func (d *definer) masked(mode string, x, skip *Node, t DType, s Shape, axis int) *Node {
	switch mode {
	case "sum":
		return d.reduce(ReduceSum, d.where(skip, d.number(t, 0, s), x), axis)
	case "prod":
		return d.reduce(ReduceProd, d.where(skip, d.number(t, 1, s), x), axis)
	case "max":
		return d.maximum(d.where(skip, d.fill(t, Lowest(t), s), x), t, len(s), axis)
	}
	return d.fail("unknown mode %q", mode)
}

// segmentIDs counts for each of rows the segments that end at or before it.
func (d *definer) segmentIDs(offsets *Node, rows Dim) *Node {
	segments := offsets.Shape[0].Plus(-1)
	full := Shape{rows, segments}
	ends := d.add(Slice, Attr{Starts: []Dim{N(1)}, Steps: []int{1}, Shape: Shape{segments}}, offsets)
	before := d.less(d.iota(I32, full, 0), d.expand(ends, Shape{N(1), segments}, full))
	count := d.reduce(ReduceSum, d.cast(d.not(before, full), Bool, I32), 1)
	return d.reshape(count, Shape{rows})
}

// segmentReduce reduces over all rows, those of other segments left out:
// [segment, row, ...].
func (d *definer) segmentReduce(n, x, offsets *Node) *Node {
	t := computed(n.DType)
	segments, rows, rest := n.Shape[0], x.Shape[0], x.Shape[1:]
	full := join(Shape{segments, rows}, rest)
	of := d.expand(d.segmentIDs(offsets, rows), join(Shape{N(1), rows}, onesLike(rest)), full)
	other := d.not(d.add(Equal, Attr{}, of, d.iota(I32, full, 0)), full)
	xs := d.expand(d.cast(x, n.DType, t), join(Shape{N(1), rows}, rest), full)
	return d.cast(d.reshape(d.masked(n.Attr.Mode, xs, other, t, full, 1), n.Shape), t, n.DType)
}
