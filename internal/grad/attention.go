package grad

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
)

// attention's gradient computes the weights of the keys again, from the
// logsumexp: two products for the scores and what is asked of each weight, and
// three for the gradients. Source: Dao et al., "FlashAttention", 2022, appendix
// B, without its blocks. Ragged sequences go through the definition.
func attention(m *maker, n *ir.Node, d []*ir.Node) []*ir.Node {
	if n.Attr.Attention.Ragged || m.err != nil {
		return byDefinition(m, n, d)
	}
	return newAttentionGrad(m, n).operands(d)
}

// attentionGrad views q as [B, G, R, T, W] for G key heads that R query heads
// each share. Keys and values are [B, G, S, W]; scores are [B, G, R*T, S].
type attentionGrad struct {
	*maker
	n              *ir.Node
	a              *ir.AttentionAttr
	t              ir.DType // that is computed in
	b, g, r, tq, s ir.Dim
	w, v           ir.Dim
}

func newAttentionGrad(m *maker, n *ir.Node) *attentionGrad {
	q, k := n.In[0].Shape, n.In[1].Shape
	r, _ := q[1].Div(k[1]) // Infer has seen that it divides
	return &attentionGrad{maker: m, n: n, a: n.Attr.Attention, t: n.DType.Compute(),
		b: q[0], g: k[1], r: r, tq: q[2], s: k[2], w: q[3], v: n.In[2].Shape[3]}
}

// rows views x [B, heads, T, width], or [B, heads, T] with width 1, as [B, G,
// R*T, width].
func (a *attentionGrad) rows(x *ir.Node, width ir.Dim) *ir.Node {
	return a.cast(a.reshape(x, ir.Shape{a.b, a.g, a.r.Mul(a.tq), width}), a.t)
}

func (a *attentionGrad) operands(d []*ir.Node) []*ir.Node {
	q, k, v := a.rows(a.n.In[0], a.w), a.cast(a.n.In[1], a.t), a.cast(a.n.In[2], a.t)
	scores, slope := a.scores(q, k)
	visible := a.visible()
	weights := a.weights(scores, visible)
	var dv, ds *ir.Node
	if d[0] != nil {
		dout := a.rows(d[0], a.v)
		dv = a.op(ir.MatMul, a.transposed(weights), dout)
		out := a.rows(a.add(ir.Get, ir.Attr{}, a.n), a.v)
		mean := a.sum(a.mul(dout, out), 3) // of what is asked of a row's weights
		ds = a.op(ir.Sub, a.op(ir.MatMul, dout, a.transposed(v)), a.expand(mean, scores.Shape))
	}
	if d[1] != nil {
		dlse := a.expand(a.rows(d[1], ir.N(1)), scores.Shape)
		if ds == nil {
			ds = dlse
		} else {
			ds = a.plus(ds, dlse)
		}
	}
	ds = a.where(visible, a.mul(weights, ds), a.zeros(weights)) // a hidden key may be infinite
	all := make([]*ir.Node, len(a.n.In))
	if a.a.Mask {
		all[len(all)-1] = a.mask(ds)
	}
	if slope != nil {
		ds = a.mul(ds, slope)
	}
	ds = a.times(ds, a.a.Scale)
	all[0] = a.like(a.op(ir.MatMul, ds, k), 0)
	all[1] = a.like(a.op(ir.MatMul, a.transposed(ds), q), 1)
	if dv != nil {
		all[2] = a.like(dv, 2)
	}
	return all
}

// like gives x the type of operand i.
func (a *attentionGrad) like(x *ir.Node, i int) *ir.Node {
	return a.cast(a.reshape(x, a.n.In[i].Shape), a.n.DType)
}

// scores are those that the weights are made of, mask and all, and their
// slope with respect to scale * q*k; nil: 1.
func (a *attentionGrad) scores(q, k *ir.Node) (s, slope *ir.Node) {
	s = a.times(a.op(ir.MatMul, q, a.transposed(k)), a.a.Scale)
	if c := a.a.SoftCap; c != 0 {
		flat := a.op(ir.Tanh, a.times(s, 1/c))
		s, slope = a.times(flat, c), a.op(ir.Sub, a.number(flat, 1), a.mul(flat, flat))
	}
	if a.a.Mask {
		mask := a.cast(a.n.In[len(a.n.In)-1], a.t)
		m := mask.Shape
		mask = a.reshape(mask, append(a.maskHeads(m), m[2:]...))
		mask = a.expand(mask, ir.Shape{a.b, a.g, a.r, a.tq, a.s})
		s = a.plus(s, a.reshape(mask, s.Shape))
	}
	return s, slope
}

// maskHeads is the front of a mask's shape with the heads as [G, R].
func (a *attentionGrad) maskHeads(m ir.Shape) ir.Shape {
	if m[1].IsConst(1) {
		return ir.Shape{m[0], ir.N(1), ir.N(1)}
	}
	return ir.Shape{m[0], a.g, a.r}
}

// mask adds the gradient up over what the mask was repeated along.
func (a *attentionGrad) mask(ds *ir.Node) *ir.Node {
	operand := a.n.In[len(a.n.In)-1]
	full := ir.Shape{a.b, a.g, a.r, a.tq, a.s}
	m := append(a.maskHeads(operand.Shape), operand.Shape[2:]...)
	var axes []int
	for i, size := range m {
		if !size.Equal(full[i]) {
			axes = append(axes, i)
		}
	}
	dm := a.sum(a.reshape(ds, full), axes...)
	return a.cast(a.reshape(dm, operand.Shape), a.n.DType)
}

// visible tells which keys a query sees, both counted from the ends.
func (a *attentionGrad) visible() *ir.Node {
	pairs := ir.Shape{a.tq, a.s}
	last := func(axis int) *ir.Node {
		return a.flip(a.add(ir.Iota, ir.Attr{DType: ir.I32, Shape: pairs, Axes: []int{axis}}), axis)
	}
	q, k := last(0), last(1)
	yes := a.fill(ir.Bool, 1, pairs)
	seen := yes
	if a.a.Causal {
		seen = a.op(ir.Xor, a.op(ir.Less, k, q), yes)
	}
	if w := a.a.Window; w > 0 {
		window := a.fill(ir.I32, float64(w), pairs)
		seen = a.op(ir.And, seen, a.op(ir.Less, a.op(ir.Sub, k, q), window))
		seen = a.op(ir.And, seen, a.op(ir.Less, a.op(ir.Sub, q, k), window))
	}
	full := ir.Shape{a.b, a.g, a.r, a.tq, a.s}
	seen = a.expand(a.reshape(seen, ir.Shape{ir.N(1), ir.N(1), ir.N(1), a.tq, a.s}), full)
	return a.reshape(seen, ir.Shape{a.b, a.g, a.r.Mul(a.tq), a.s})
}

// weights are e^(score - logsumexp); 0 where nothing is visible.
func (a *attentionGrad) weights(scores, visible *ir.Node) *ir.Node {
	lse := a.add(ir.Get, ir.Attr{Out: 1}, a.n)
	none := a.op(ir.Equal, lse, a.number(lse, math.Inf(-1)))
	lse = a.rows(a.where(none, a.zeros(lse), lse), ir.N(1))
	below := a.op(ir.Sub, scores, a.expand(lse, scores.Shape))
	return a.op(ir.Exp, a.where(visible, below, a.number(below, math.Inf(-1))))
}
