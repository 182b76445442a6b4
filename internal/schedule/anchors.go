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
		case ir.AttentionGrad:
			return b.attentionGrad(n)
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
		ConstY: b.s.constant(y), SteadyY: b.s.steadyValues(y), TF32: n.Attr.TF32, Acc: &loop.Local{Name: "acc", DType: n.DType},
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
	if t.Epilogue, err = b.epilogue(g, at(t.Row, t.Col), t.Acc.Ref()); err != nil {
		return nil, err
	}
	t.Params, t.Slots = b.params, len(b.checks)
	return t, nil
}

// epilogue stores what becomes of result, the anchor's at idx.
func (b *builder) epilogue(g *group, idx []*loop.Expr, result *loop.Expr) ([]loop.Stmt, error) {
	n := g.anchor
	b.local[n] = func([]*loop.Expr) *loop.Expr { return result }
	var body []loop.Stmt
	if len(g.members) == 1 || g.keeps {
		body = append(body, b.store(n, idx, result))
	}
	for _, m := range g.members[1:] {
		at := b.forward(n, m, idx, g.spine)
		e, err := b.compute(m, at, nil)
		if err != nil {
			return nil, err
		}
		body = append(body, b.store(m, at, e))
		b.local[m] = func([]*loop.Expr) *loop.Expr { return e }
	}
	return body, nil
}

// forward carries an index of the anchor along the spine to the stored node.
func (b *builder) forward(from, to *ir.Node, idx []*loop.Expr, spine map[*ir.Node]bool) []*loop.Expr {
	if from == to {
		return idx
	}
	way := map[*ir.Node]bool{}
	var lead func(n *ir.Node)
	lead = func(n *ir.Node) {
		if way[n] || !spine[n] {
			return
		}
		way[n] = true
		for _, in := range n.In {
			lead(in)
		}
	}
	lead(to)
	var next *ir.Node // any user on the way will do: they agree on the order
	for _, u := range b.s.users[from.ID] {
		if way[u] {
			next = u
			break
		}
	}
	return b.forward(next, to, b.forwardView(next, idx, from.Shape), spine)
}

// forwardView is where a reshape or permute has the element that its operand of
// a shape has at idx; every other node has it in the same place.
func (b *builder) forwardView(n *ir.Node, idx []*loop.Expr, from ir.Shape) []*loop.Expr {
	switch n.Op {
	case ir.Reshape:
		return b.reshapeIndex(idx, from, n.Shape)
	case ir.Permute:
		moved := make([]*loop.Expr, len(idx))
		for i, a := range n.Attr.Axes {
			moved[i] = idx[a]
		}
		return moved
	}
	return idx
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
	return &Host{Params: b.params, Node: n, Shape: n.In[0].Shape, First: b.s.firstOf(n)}
}

// firstOf is how many elements of each sorted line are read: all, unless everyone takes
// some from the first on.
func (s *partition) firstOf(n *ir.Node) ir.Dim {
	axis := n.Attr.Axis()
	all, most := n.Shape[axis], 0
	for _, get := range s.users[n.ID] {
		if s.out[get.ID] {
			return all
		}
		for _, u := range s.users[get.ID] {
			if u.Op != ir.Slice || !u.Attr.Starts[axis].IsConst(0) || u.Attr.Steps[axis] != 1 {
				return all
			}
			count, ok := u.Shape[axis].Const()
			if !ok {
				return all
			}
			most = max(most, count)
		}
	}
	return ir.N(most)
}
