package ir

// attention is what dense and ragged attention have in common: q is [B, G, R,
// T, W] for G key heads that R query heads each share, k and v are [B, G, 1,
// S, W]. A ragged batch is one sequence (B is 1) in which rows see only rows
// of their own segment.
type attention struct {
	*definer
	*AttentionAttr
	from, t        DType // of the operands, that is computed in
	b, g, r, tq, s Dim
	w, v           Dim
	scores         Shape // [B, G, R, T, S]
	// Ragged: the segment of each query and key, and its position there.
	qSegment, kSegment   *Node
	qPosition, kPosition *Node
	qLast, kLast         *Node // how many rows come after it in its sequence
}

func (d *definer) attention(n *Node, in []*Node) []*Node {
	a := d.newAttention(n, in)
	if a == nil {
		return nil
	}
	visible := a.visible()
	score := a.score(a.operand(in[0]), a.operand(in[1]))
	if a.Mask {
		score = a.add(Add, Attr{}, score, a.mask(in[len(in)-1], visible))
	}
	out, lse := a.softmax(score, visible, a.operand(in[2]))
	return a.results(n, out, lse)
}

// newAttention is the attention with these operands, mask and all; nil if
// there is none.
func (d *definer) newAttention(n *Node, in []*Node) *attention {
	q, k, v := in[0], in[1], in[2]
	rank := len(q.Shape)
	r, ok := q.Shape[1].Div(k.Shape[1])
	if !ok {
		d.fail("%v query heads do not divide into %v key heads", q.Shape[1], k.Shape[1])
		return nil
	}
	a := &attention{definer: d, AttentionAttr: n.Attr.Attention, from: n.DType, t: computed(n.DType),
		b: N(1), g: k.Shape[1], r: r, w: q.Shape[rank-1], v: v.Shape[rank-1]}
	if a.Ragged {
		a.tq, a.s = q.Shape[0], k.Shape[0]
		a.qSegment, a.qPosition, a.qLast = a.positions(in[3], a.tq)
		a.kSegment, a.kPosition, a.kLast = a.positions(in[4], a.s)
	} else {
		a.b, a.tq, a.s = q.Shape[0], q.Shape[2], k.Shape[2]
		a.qLast = d.add(Flip, Attr{Axes: []int{0}}, d.iota(I32, Shape{a.tq}, 0))
		a.kLast = d.add(Flip, Attr{Axes: []int{0}}, d.iota(I32, Shape{a.s}, 0))
	}
	a.scores = Shape{a.b, a.g, a.r, a.tq, a.s}
	return a
}

// operand brings q, k, v or what has their layout into the type that is
// computed in, heads in front of rows.
func (a *attention) operand(x *Node) *Node {
	if a.Ragged {
		x = a.headsFirst(x)
	}
	return a.cast(x, a.from, a.t)
}

// headsFirst turns [rows, heads, width] into [heads, rows, width].
func (a *attention) headsFirst(x *Node) *Node { return a.add(Permute, Attr{Axes: []int{1, 0, 2}}, x) }

// positions gives for each row of a ragged batch its segment, its position
// there, and how many rows follow in the segment.
func (a *attention) positions(offsets *Node, rows Dim) (segment, position, last *Node) {
	one := Shape{rows}
	segment = a.segmentIDs(offsets, rows)
	at := func(index *Node) *Node { return a.add(Gather, Attr{Axes: []int{0}}, offsets, index) }
	row := a.iota(I32, one, 0)
	position = a.add(Sub, Attr{}, row, at(segment))
	end := at(a.add(Add, Attr{}, segment, a.number(I32, 1, one)))
	last = a.add(Sub, Attr{}, a.add(Sub, Attr{}, end, a.number(I32, 1, one)), row)
	return segment, position, last
}

// visible tells which keys a query sees: [T, S]. Counted from the ends of
// their sequences, the query's own position among the keys is qLast.
func (a *attention) visible() *Node {
	s := Shape{a.tq, a.s}
	rows := func(x *Node) *Node { return a.expand(x, Shape{a.tq, N(1)}, s) }
	cols := func(x *Node) *Node { return a.expand(x, Shape{N(1), a.s}, s) }
	q, k := rows(a.qLast), cols(a.kLast)
	visible := a.fill(Bool, 1, s)
	if a.Ragged {
		visible = a.add(Equal, Attr{}, rows(a.qSegment), cols(a.kSegment))
	}
	if a.Causal {
		visible = a.and(visible, a.not(a.less(k, q), s))
	}
	if a.Window > 0 {
		window := a.number(I32, float64(a.Window), s)
		visible = a.and(visible, a.less(a.add(Sub, Attr{}, k, q), window))
		visible = a.and(visible, a.less(a.add(Sub, Attr{}, q, k), window))
	}
	return a.expand(visible, Shape{N(1), N(1), N(1), a.tq, a.s}, a.scores)
}

// score is scale * q·k, capped.
func (a *attention) score(q, k *Node) *Node {
	full := insert(a.scores, 5, a.w)
	product := a.add(Mul, Attr{},
		a.expand(q, Shape{a.b, a.g, a.r, a.tq, N(1), a.w}, full),
		a.expand(k, Shape{a.b, a.g, N(1), N(1), a.s, a.w}, full))
	score := a.reshape(a.reduce(ReduceSum, product, 5), a.scores)
	score = a.add(Mul, Attr{}, score, a.number(a.t, a.Scale, a.scores))
	if a.SoftCap != 0 {
		limit := a.number(a.t, a.SoftCap, a.scores)
		score = a.add(Mul, Attr{}, a.add(Tanh, Attr{}, a.add(Div, Attr{}, score, limit)), limit)
	}
	return score
}

// mask is the additive mask [batch, heads, queries, keys] under the scores.
func (a *attention) mask(operand, visible *Node) *Node {
	mask, s := a.cast(operand, a.from, a.t), operand.Shape
	if a.Ragged {
		return a.raggedMask(mask, s, visible)
	}
	heads := Shape{a.g, a.r}
	if s[1].IsConst(1) {
		heads = Shape{N(1), N(1)}
	}
	return a.expand(mask, join(s[:1], heads, s[2:]), a.scores)
}

// raggedMask gathers the mask by segment, head and the positions of query and
// key. Pairs that do not see each other read its first element; where the mask
// is smaller than the sequences the index is -1, an error when it runs.
func (a *attention) raggedMask(mask *Node, s Shape, visible *Node) *Node {
	one := N(1)
	head := a.iota(I64, Shape{a.g.Mul(a.r)}, 0)
	index := []*Node{
		a.expand(a.cast(a.qSegment, I32, I64), Shape{one, one, one, a.tq, one}, a.scores),
		a.expand(head, Shape{one, a.g, a.r, one, one}, a.scores),
		a.expand(a.cast(a.qPosition, I32, I64), Shape{one, one, one, a.tq, one}, a.scores),
		a.expand(a.cast(a.kPosition, I32, I64), Shape{one, one, one, one, a.s}, a.scores),
	}
	flat, inside := a.number(I64, 0, a.scores), a.fill(Bool, 1, a.scores)
	for i, n := range s {
		if n.IsConst(1) {
			continue
		}
		size := a.size(n, I64, a.scores)
		flat = a.add(Add, Attr{}, a.add(Mul, Attr{}, flat, size), index[i])
		inside = a.and(inside, a.less(index[i], size))
	}
	flat = a.where(inside, flat, a.number(I64, -1, a.scores))
	flat = a.where(visible, flat, a.number(I64, 0, a.scores))
	picked := a.add(Gather, Attr{Axes: []int{0}}, a.reshape(mask, Shape{s.Numel()}), a.reshape(flat, Shape{a.scores.Numel()}))
	return a.reshape(picked, a.scores)
}

// softmax weighs v by the scores of the visible keys. Without any, or with
// scores of -Inf alone, out is 0 and the logsumexp -Inf.
func (a *attention) softmax(score, visible, v *Node) (out, lse *Node) {
	none := a.fill(a.t, Lowest(a.t), a.scores)
	score = a.where(visible, score, none)
	row := Shape{a.b, a.g, a.r, a.tq, N(1)}
	top := a.maximum(score, a.t, 5, 4)
	empty := a.add(Equal, Attr{}, top, a.fill(a.t, Lowest(a.t), row))
	// The result does not depend on what is subtracted: a bitcast keeps gradients
	// out of it. For them no branch not taken may be infinite either.
	from := a.add(Bitcast, Attr{DType: a.t}, a.where(empty, a.number(a.t, 0, row), top))
	p := a.add(Exp, Attr{}, a.add(Sub, Attr{}, score, a.expand(from, row, a.scores)))
	sum := a.where(empty, a.number(a.t, 1, row), a.reduce(ReduceSum, p, 4))
	lse = a.where(empty, a.fill(a.t, Lowest(a.t), row), a.add(Add, Attr{}, from, a.add(Log, Attr{}, sum)))

	full := insert(a.scores, 5, a.v)
	product := a.add(Mul, Attr{},
		a.expand(p, insert(a.scores, 5, N(1)), full),
		a.expand(v, Shape{a.b, a.g, N(1), N(1), a.s, a.v}, full))
	seen := a.expand(visible, insert(a.scores, 5, N(1)), full)
	product = a.where(seen, product, a.number(a.t, 0, full)) // 0 * Inf of a hidden key is NaN
	wide := Shape{a.b, a.g, a.r, a.tq, a.v}
	out = a.reshape(a.reduce(ReduceSum, product, 4), wide)
	out = a.add(Div, Attr{}, out, a.expand(sum, row, wide))
	return a.where(a.expand(empty, row, wide), a.number(a.t, 0, wide), out), lse
}

// results gives the outputs the types of the anchor's.
func (a *attention) results(n *Node, out, lse *Node) []*Node {
	heads := a.g.Mul(a.r)
	if a.Ragged {
		out = a.headsFirst(a.reshape(out, Shape{heads, a.tq, a.v}))
		lse = a.add(Permute, Attr{Axes: []int{1, 0}}, a.reshape(lse, Shape{heads, a.tq}))
	}
	out = a.reshape(a.cast(out, a.t, n.DType), n.Out(0).Shape)
	return []*Node{out, a.reshape(lse, n.Out(1).Shape)}
}
