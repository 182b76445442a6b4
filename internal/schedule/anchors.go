package schedule

import (
	"fmt"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// lowerAnchor fits an anchor to its template, or to loops of its own.
func (s *partition) lowerAnchor(b *builder, g *group) (Work, error) {
	n := g.anchor
	if s.opt.Anchors[n.Op] {
		switch n.Op {
		case ir.MatMul:
			return b.gemm(g)
		case ir.Attention:
			return b.attention(n)
		case ir.Sort:
			return b.sort(n), nil
		}
	}
	var body []loop.Stmt
	var err error
	switch n.Op {
	case ir.Scan:
		body, err = b.scan(n)
	case ir.SegmentIDs:
		body, err = b.segmentIDs(n)
	case ir.SegmentReduce:
		body, err = b.segmentReduce(n)
	default:
		return nil, fmt.Errorf("the target has no kernel for %v: replace it by its definition", n.Op)
	}
	if err != nil {
		return nil, err
	}
	return b.kernel(body), nil
}

// gemm fits a matmul and what follows it to the template.
func (b *builder) gemm(g *group) (*template.Gemm, error) {
	n := g.anchor
	x, y := n.In[0], n.In[1]
	r := len(n.Shape)
	t := &template.Gemm{
		Name: b.name, DType: n.DType, BatchSize: n.Shape[:r-2].Numel(),
		Rows: n.Shape[r-2], Cols: n.Shape[r-1], K: x.Shape[r-1],
		ConstY: b.s.constant(y), Acc: &loop.Local{Name: "acc", DType: n.DType},
	}
	t.Batch, t.Row = b.variable("b", t.BatchSize), b.variable("m", t.Rows)
	t.Col, t.Inner = b.variable("n", t.Cols), b.variable("k", t.K)
	batch := b.reshapeIndex([]*loop.Expr{t.Batch.Ref()}, ir.Shape{t.BatchSize}, n.Shape[:r-2])
	at := func(row, col *loop.Var) []*loop.Expr {
		return append(append([]*loop.Expr(nil), batch...), row.Ref(), col.Ref())
	}
	var err error
	if t.X, err = b.value(x, at(t.Row, t.Inner), nil); err != nil {
		return nil, err
	}
	if t.Y, err = b.value(y, at(t.Inner, t.Col), nil); err != nil {
		return nil, err
	}
	tail := g.members[len(g.members)-1]
	idx := at(t.Row, t.Col)
	result := t.Acc.Ref()
	if tail != n {
		b.local[n] = func([]*loop.Expr) *loop.Expr { return result }
		idx = b.forward(n, tail, idx, g.spine)
		if result, err = b.compute(tail, idx, nil); err != nil {
			return nil, err
		}
	}
	t.Epilogue = []loop.Stmt{b.store(tail, idx, result)}
	t.Params, t.Slots = b.params, len(b.checks)
	return t, nil
}

// forward carries an index of the anchor along the spine to the stored node.
func (b *builder) forward(from, to *ir.Node, idx []*loop.Expr, spine map[*ir.Node]bool) []*loop.Expr {
	if from == to {
		return idx
	}
	var next *ir.Node // any user on the spine will do: they agree on the order
	for _, u := range b.s.users[from.ID] {
		if spine[u] {
			next = u
			break
		}
	}
	switch next.Op {
	case ir.Reshape:
		idx = b.reshapeIndex(idx, from.Shape, next.Shape)
	case ir.Permute:
		moved := make([]*loop.Expr, len(idx))
		for i, a := range next.Attr.Axes {
			moved[i] = idx[a]
		}
		idx = moved
	}
	return b.forward(next, to, idx, spine)
}

// attention fits an attention to the template.
func (b *builder) attention(n *ir.Node) (*template.Attention, error) {
	q, k, v := n.In[0], n.In[1], n.In[2]
	a := *n.Attr.Attention
	t := &template.Attention{Name: b.name, Attr: a, DType: n.DType, Acc: &loop.Local{Name: "acc", DType: n.DType}, LSE: &loop.Local{Name: "lse", DType: n.Out(1).DType}}
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
		t.Queries, t.Keys, t.Batch = q.Shape[0], k.Shape[0], n.In[3].Shape[0].Plus(-1)
		t.QOffsets, t.KOffsets = b.offsets(n.In[3]), b.offsets(n.In[4])
	} else {
		t.Batch, t.QLen, t.KLen = q.Shape[0], q.Shape[2], k.Shape[2]
		t.Queries, t.Keys = t.Batch.Mul(t.QLen), t.Batch.Mul(t.KLen)
	}
	at := func(length, width ir.Dim) []*loop.Expr { // rows and lanes are not as many for all
		b.bounds[t.Lane] = width
		if a.Ragged {
			b.bounds[t.Row] = length
			return []*loop.Expr{t.Row.Ref(), t.Head.Ref(), t.Lane.Ref()}
		}
		b.bounds[t.Row] = t.Batch.Mul(length)
		row := t.Row.Ref()
		return []*loop.Expr{loop.DivIndex(row, length, b.bound), t.Head.Ref(), loop.ModIndex(row, length, b.bound), t.Lane.Ref()}
	}
	var err error
	for _, o := range []struct {
		to   **loop.Expr
		node *ir.Node
	}{{&t.Q, q}, {&t.K, k}, {&t.V, v}} {
		length := o.node.Shape[0]
		if !a.Ragged {
			length = o.node.Shape[2]
		}
		if *o.to, err = b.value(o.node, at(length, o.node.Shape[width]), nil); err != nil {
			return nil, err
		}
	}
	if a.Mask {
		m := n.In[len(n.In)-1]
		t.MaskShape = m.Shape
		if t.Mask, err = b.mask(t, m); err != nil {
			return nil, err
		}
	}
	length := t.Queries
	if !a.Ragged {
		length = t.QLen
	}
	idx := at(length, v.Shape[width])
	t.Epilogue = []loop.Stmt{b.store(n, idx, t.Acc.Ref())}
	if b.s.getsOutput(n, 1) {
		st := &loop.Store{Param: b.param(bufferKey{node: n, out: 1}, loop.Write), Index: linear(idx[:len(idx)-1], n.Out(1).Shape), Value: t.LSE.Ref()}
		t.Sums = []loop.Stmt{st}
	}
	t.Params, t.Slots = b.params, len(b.checks)
	return t, nil
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

// getsOutput tells whether anyone reads output i of n.
func (s *partition) getsOutput(n *ir.Node, i int) bool {
	for _, u := range s.users[n.ID] {
		if u.Op == ir.Get && u.Attr.Out == i {
			return true
		}
	}
	return false
}

func (b *builder) sort(n *ir.Node) *Host {
	b.param(b.s.key(n.In[0]), loop.Read)
	b.param(bufferKey{node: n}, loop.Write)
	b.param(bufferKey{node: n, out: 1}, loop.Write)
	return &Host{Params: b.params, Node: n, Shape: n.In[0].Shape}
}
