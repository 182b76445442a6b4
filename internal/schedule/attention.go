package schedule

import (
	"fmt"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// attention fits an attention to the template.
func (b *builder) attention(n *ir.Node) (*template.Attention, error) {
	t, err := b.attentionOf(n, n.In)
	if err != nil {
		return nil, err
	}
	t.Acc, t.LSE = &loop.Local{Name: "acc", DType: n.DType}, &loop.Local{Name: "lse", DType: n.Out(1).DType}
	idx := b.attentionIndex(t, n.Shape)
	t.Epilogue = []loop.Stmt{b.store(n, idx, t.Acc.Ref())}
	if b.s.getsOutput(n, 1) {
		st := &loop.Store{Param: b.param(bufferKey{node: n, out: 1}, loop.Write), Index: linear(idx[:len(idx)-1], n.Out(1).Shape), Value: t.LSE.Ref()}
		t.Sums = []loop.Stmt{st}
	}
	t.Params, t.Slots, t.TF32 = b.params, len(b.checks), n.Attr.TF32
	return t, nil
}

// attentionGrad fits the gradient of an attention to its template.
func (b *builder) attentionGrad(n *ir.Node) (*template.AttentionGrad, error) {
	in, lse, dout, delta := ir.GradientOperands(n.In)
	a, err := b.attentionOf(n, in)
	if err != nil {
		return nil, err
	}
	t := &template.AttentionGrad{Attention: *a}
	idx := b.attentionIndex(a, dout.Shape)
	for _, o := range []struct {
		to   **loop.Expr
		node *ir.Node
		idx  []*loop.Expr
	}{{&t.DOut, dout, idx}, {&t.Logsumexp, lse, idx[:len(idx)-1]}, {&t.Delta, delta, idx[:len(idx)-1]}} {
		if *o.to, err = b.value(o.node, o.idx, nil); err != nil {
			return nil, err
		}
	}
	for i := range t.Grads {
		if !b.s.getsOutput(n, i) {
			continue
		}
		acc := &loop.Local{Name: [...]string{"dq", "dk", "dv"}[i], DType: n.DType}
		t.Grads[i] = template.Gradient{Acc: acc, Store: b.storeOutput(n, i, b.attentionIndex(a, n.Out(i).Shape), acc.Ref())}
	}
	t.Params, t.Slots = b.params, len(b.checks)
	return t, nil
}

// attentionOf is what attentions and their gradients have in common: in are
// the operands of the attention.
func (b *builder) attentionOf(n *ir.Node, in []*ir.Node) (*template.Attention, error) {
	q, k, v := in[0], in[1], in[2]
	a := *n.Attr.Attention
	t := &template.Attention{Name: b.name, Attr: a, DType: n.DType}
	head := 1
	width := len(q.Shape) - 1
	for _, p := range []struct {
		to  *int
		dim ir.Dim
	}{{&t.Heads, q.Shape[head]}, {&t.KVHeads, k.Shape[head]}, {&t.Width, q.Shape[width]}, {&t.VWidth, v.Shape[width]}} {
		c, ok := p.dim.Const()
		if !ok {
			return nil, fmt.Errorf("heads and widths of attention must be constant, not %v", p.dim)
		}
		*p.to = c
	}
	t.Row, t.Head, t.Lane = &loop.Var{Name: "row"}, b.variable("h", q.Shape[head]), b.variable("d", q.Shape[width])
	t.Seq, t.I, t.J = &loop.Var{Name: "seq"}, &loop.Var{Name: "i"}, &loop.Var{Name: "j"}
	if a.Ragged {
		t.Queries, t.Keys, t.Batch = q.Shape[0], k.Shape[0], in[3].Shape[0].Plus(-1)
		t.QOffsets, t.KOffsets = b.offsets(in[3]), b.offsets(in[4])
	} else {
		t.Batch, t.QLen, t.KLen = q.Shape[0], q.Shape[2], k.Shape[2]
		t.Queries, t.Keys = t.Batch.Mul(t.QLen), t.Batch.Mul(t.KLen)
	}
	var err error
	for _, o := range []struct {
		to   **loop.Expr
		node *ir.Node
	}{{&t.Q, q}, {&t.K, k}, {&t.V, v}} {
		if *o.to, err = b.value(o.node, b.attentionIndex(t, o.node.Shape), nil); err != nil {
			return nil, err
		}
	}
	if a.Mask {
		m := in[len(in)-1]
		t.MaskShape = m.Shape
		if t.Mask, err = b.mask(t, m); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// attentionIndex is the index of an operand or result of an attention, of a
// shape, at (Row, Head, Lane): rows and lanes are not as many for all.
func (b *builder) attentionIndex(t *template.Attention, shape ir.Shape) []*loop.Expr {
	b.bounds[t.Lane] = shape[len(shape)-1]
	if t.Attr.Ragged {
		b.bounds[t.Row] = shape[0]
		return []*loop.Expr{t.Row.Ref(), t.Head.Ref(), t.Lane.Ref()}
	}
	length := shape[2]
	b.bounds[t.Row] = t.Batch.Mul(length)
	row := t.Row.Ref()
	return []*loop.Expr{loop.DivIndex(row, length, b.bound), t.Head.Ref(), loop.ModIndex(row, length, b.bound), t.Lane.Ref()}
}

// mask reads an additive mask that broadcasts to [batch, heads, queries, keys].
func (b *builder) mask(t *template.Attention, m *ir.Node) (*loop.Expr, error) {
	idx := []*loop.Expr{t.Seq.Ref(), t.Head.Ref(), t.I.Ref(), t.J.Ref()}
	for i, d := range m.Shape {
		if d.IsConst(1) {
			idx[i] = loop.Int(0)
		}
	}
	return b.value(m, idx, nil)
}

// offsets is the param of an offsets operand, which must lie in memory as it
// is.
func (b *builder) offsets(n *ir.Node) int {
	for n.Op == ir.Reshape && !b.s.isBuffer(n) {
		n = n.In[0]
	}
	return b.param(b.s.key(n), loop.Read)
}
