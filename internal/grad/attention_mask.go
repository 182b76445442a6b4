package grad

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
)

// maskGrad is the gradient with respect to the mask of a dense attention. It
// views q as [B, G, R, T, W] for G key heads that R query heads each share; keys
// and values are [B, G, S, W], scores [B, G, R*T, S].
type maskGrad struct {
	*maker
	n              *ir.Node
	a              *ir.AttentionAttr
	t              ir.DType // that is computed in
	b, g, r, tq, s ir.Dim
}

func newMaskGrad(m *maker, n *ir.Node) *maskGrad {
	q, k := n.In[0].Shape, n.In[1].Shape
	r, _ := q[1].Div(k[1]) // Infer has seen that it divides
	return &maskGrad{maker: m, n: n, a: n.Attr.Attention, t: n.DType.Compute(), b: q[0], g: k[1], r: r, tq: q[2], s: k[2]}
}

// rows views x [B, heads, T, width], or [B, heads, T] with width 1, as [B, G,
// R*T, width].
func (a *maskGrad) rows(x *ir.Node, width ir.Dim) *ir.Node {
	return a.cast(a.reshape(x, ir.Shape{a.b, a.g, a.r.Mul(a.tq), width}), a.t)
}

// gradient is weight * (dout*v - delta), see ir.GradientOperands, added up over
// what the mask was repeated along.
func (a *maskGrad) gradient(v, lse, dout, delta *ir.Node) *ir.Node {
	q, k := a.n.In[0], a.cast(a.n.In[1], a.t)
	scores := a.scores(a.rows(q, q.Shape[3]), k)
	visible := a.visible()
	weights := a.weights(scores, visible, lse)
	asked := a.op(ir.MatMul, a.rows(dout, dout.Shape[3]), a.transposed(a.cast(v, a.t)))
	ds := a.mul(weights, a.op(ir.Sub, asked, a.expand(a.rows(delta, ir.N(1)), asked.Shape)))
	ds = a.where(visible, ds, a.zeros(ds)) // a hidden key may be infinite

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

// scores are those that the weights are made of, mask and all.
func (a *maskGrad) scores(q, k *ir.Node) *ir.Node {
	s := a.times(a.op(ir.MatMul, q, a.transposed(k)), a.a.Scale)
	if c := a.a.SoftCap; c != 0 {
		s = a.times(a.op(ir.Tanh, a.times(s, 1/c)), c)
	}
	mask := a.cast(a.n.In[len(a.n.In)-1], a.t)
	m := mask.Shape
	mask = a.reshape(mask, append(a.maskHeads(m), m[2:]...))
	mask = a.expand(mask, ir.Shape{a.b, a.g, a.r, a.tq, a.s})
	return a.plus(s, a.reshape(mask, s.Shape))
}

// maskHeads is the front of a mask's shape with the heads as [G, R].
func (a *maskGrad) maskHeads(m ir.Shape) ir.Shape {
	if m[1].IsConst(1) {
		return ir.Shape{m[0], ir.N(1), ir.N(1)}
	}
	return ir.Shape{m[0], a.g, a.r}
}

// visible tells which keys a query sees, both counted from the ends.
func (a *maskGrad) visible() *ir.Node {
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
func (a *maskGrad) weights(scores, visible, lse *ir.Node) *ir.Node {
	none := a.op(ir.Equal, lse, a.number(lse, math.Inf(-1)))
	lse = a.rows(a.where(none, a.zeros(lse), lse), ir.N(1))
	below := a.op(ir.Sub, scores, a.expand(lse, scores.Shape))
	return a.op(ir.Exp, a.where(visible, below, a.number(below, math.Inf(-1))))
}
