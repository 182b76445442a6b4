package ir

// GradOperands is how many operands an AttentionGrad has behind those of its
// attention.
const GradOperands = 3

// GradientOperands are the operands of an AttentionGrad apart: those of the
// attention, its logsumexp, the gradient with respect to its result, and delta,
// the mean of what is asked of a row's weights less what is asked of its
// logsumexp:
//
//	delta = sum(dout * out) - dlse
//
// With w = exp(score - logsumexp) the gradient with respect to the score of a
// visible key is w * (dout*v - delta). Source: Dao et al., "FlashAttention",
// 2022, appendix B.
func GradientOperands(in []*Node) (attention []*Node, lse, dout, delta *Node) {
	n := len(in) - GradOperands
	return in[:n:n], in[n], in[n+1], in[n+2]
}

// attentionGrad is the definition of AttentionGrad: the logsumexp and delta are
// operands like others.
func (d *definer) attentionGrad(n *Node, in []*Node) []*Node {
	in, lse, dout, delta := GradientOperands(in)
	a := d.newAttention(n, in)
	if a == nil {
		return nil
	}
	visible := a.visible()
	q, k, v, dout := a.operand(in[0]), a.operand(in[1]), a.operand(in[2]), a.operand(dout)
	score := a.score(q, k)
	capped := score
	if a.Mask {
		score = a.add(Add, Attr{}, score, a.mask(in[len(in)-1], visible))
	}
	lse, delta = a.rowValue(lse), a.rowValue(delta)
	live := a.and(visible, a.not(a.add(Equal, Attr{}, lse, a.fill(a.t, Lowest(a.t), a.scores)), a.scores))
	zero := a.number(a.t, 0, a.scores)
	weights := a.add(Exp, Attr{}, a.where(live, a.add(Sub, Attr{}, score, lse), zero))
	weights = a.where(live, weights, zero)
	asked := a.reshape(a.reduce(ReduceSum, a.pairs(dout, v, a.v), 5), a.scores)
	ds := a.add(Mul, Attr{}, weights, a.add(Sub, Attr{}, asked, delta))
	if a.SoftCap != 0 {
		flat := a.add(Div, Attr{}, capped, a.number(a.t, a.SoftCap, a.scores))
		slope := a.add(Sub, Attr{}, a.number(a.t, 1, a.scores), a.add(Mul, Attr{}, flat, flat))
		ds = a.add(Mul, Attr{}, ds, slope)
	}
	ds = a.where(live, a.add(Mul, Attr{}, ds, a.number(a.t, a.Scale, a.scores)), zero)
	keys := func(x *Node) *Node {
		return a.expand(x, Shape{a.b, a.g, N(1), N(1), a.s, a.w}, insert(a.scores, 5, a.w))
	}
	return []*Node{
		a.gradient(in[0], a.reduce(ReduceSum, a.seen(live, ds, keys(k), a.w), 4)),
		a.gradient(in[1], a.reduce(ReduceSum, a.seen(live, ds, a.queries(q, a.w), a.w), 2, 3)),
		a.gradient(in[2], a.reduce(ReduceSum, a.seen(live, weights, a.queries(dout, a.v), a.v), 2, 3)),
	}
}

// rowValue spreads one value for each query, [B, heads, T] or [rows, heads],
// over the scores.
func (a *attention) rowValue(x *Node) *Node {
	if a.Ragged {
		x = a.add(Permute, Attr{Axes: []int{1, 0}}, x)
	}
	return a.expand(x, Shape{a.b, a.g, a.r, a.tq, N(1)}, a.scores)
}

// queries spreads rows of queries over the keys.
func (a *attention) queries(x *Node, width Dim) *Node {
	return a.expand(x, Shape{a.b, a.g, a.r, a.tq, N(1), width}, insert(a.scores, 5, width))
}

// pairs are the products of rows of queries and keys, lane by lane.
func (a *attention) pairs(q, k *Node, width Dim) *Node {
	return a.add(Mul, Attr{}, a.queries(q, width), a.expand(k, Shape{a.b, a.g, N(1), N(1), a.s, width}, insert(a.scores, 5, width)))
}

// seen is x by a value for each pair, 0 where live is not: what a pair that is
// not seen holds may be infinite.
func (a *attention) seen(live, value, x *Node, width Dim) *Node {
	full, one := insert(a.scores, 5, width), insert(a.scores, 5, N(1))
	product := a.add(Mul, Attr{}, a.expand(value, one, full), x)
	return a.where(a.expand(live, one, full), product, a.number(a.t, 0, full))
}

// gradient gives x the layout and the type of an operand.
func (a *attention) gradient(operand, x *Node) *Node {
	if a.Ragged {
		s := operand.Shape
		x = a.headsFirst(a.reshape(x, Shape{s[1], s[0], s[2]}))
	}
	return a.reshape(a.cast(x, a.t, a.from), operand.Shape)
}
