package schedule

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/template"
)

// Roots are what is computed by a kernel and kept; all else is inlined into every
// user.

// markRoots marks what cannot be inlined.
func (s *partition) markRoots() {
	all := !s.opt.on("fuse")
	for _, n := range s.g.Nodes {
		switch n.Op.Class() {
		case ir.ClassLeaf:
			if s.out[n.ID] && !n.Op.HasLeaf() {
				s.keep(n, KeptOutput, 0)
			}
		case ir.ClassReduce:
			s.keep(n, KeptReduction, 0)
		case ir.ClassAnchor:
			s.keep(n, KeptAnchor, 0)
		default:
			switch {
			case n.Op == ir.Get:
			case n.Op == ir.Scatter || n.Op == ir.Contiguous || n.Op == ir.Assign:
				s.keep(n, KeptWritten, 0)
			case s.out[n.ID]:
				s.keep(n, KeptOutput, 0)
			case all:
				s.keep(n, KeptApart, 0)
			}
		}
	}
	s.findJoins()
	for _, n := range s.g.Nodes {
		switch n.Op {
		case ir.MatMul:
			x, y := shortOperands(n)
			s.needView(x, n.Op)
			if !s.constant(y) {
				s.needView(y, n.Op)
			}
		case ir.Attention:
			for _, in := range shortAttention(n) {
				s.needView(in, n.Op)
			}
		case ir.AttentionGrad:
			for _, in := range n.In {
				if w := widened(in); in.DType.IsFloat() && w != nil && w.DType.Compute() == in.DType {
					in = w // its kernel copies rows, and casts them
				}
				s.needView(in, n.Op)
			}
		case ir.Gather, ir.Scatter, ir.SegmentReduce:
			s.needView(n.In[1], n.Op)
		case ir.Sort:
			s.needBuffer(n.In[0], n.Op)
		case ir.SegmentIDs:
			s.needView(n.In[0], n.Op)
		}
	}
	s.limitSize()
}

// isBuffer tells whether n's value lies in memory before any kernel that
// reads it.
func (s *partition) isBuffer(n *ir.Node) bool {
	switch n.Op {
	case ir.Input, ir.Bound, ir.Weight, ir.Variable, ir.Get:
		return true
	}
	return s.root[n.ID]
}

// maxInlined bounds the operations of one kernel's expression, as registers are
// few; maxWritten the same where each is counted as often as it is written in
// the expression, so that what walks expressions stays linear in the graph.
const (
	maxInlined = 256
	maxWritten = 8 * maxInlined
)

// limitSize makes roots so that no expression grows without bound.
func (s *partition) limitSize() {
	size := make([]int, len(s.g.Nodes))
	for _, n := range s.g.Nodes {
		if n.Op.Class() == ir.ClassLeaf || n.Op == ir.Get {
			continue
		}
		total := 1
		for _, in := range n.In {
			if !s.isBuffer(in) {
				total += size[in.ID]
			}
		}
		size[n.ID] = min(total, 2*maxWritten)
		if total > maxInlined && n.Op.Pointwise() && (total > maxWritten || s.isLarge(n)) {
			s.keep(n, KeptLarge, 0)
		}
	}
}

// isLarge tells whether computing n takes more than maxInlined operations.
func (s *partition) isLarge(n *ir.Node) bool {
	all := map[*ir.Node]bool{}
	s.operations(n, all)
	return len(all) > maxInlined
}

// needView makes roots so that n is a buffer seen through index arithmetic
// alone, as an operation asks for it.
func (s *partition) needView(n *ir.Node, by ir.Op) {
	for m := n; ; m = m.In[0] {
		if s.isBuffer(m) {
			return
		}
		switch m.Op {
		case ir.Reshape, ir.Permute, ir.Expand, ir.Slice, ir.Flip, ir.Window:
		case ir.Pad, ir.Concat:
			s.keep(n, KeptOperand, by)
			return
		default:
			s.keep(m, KeptOperand, by)
			return
		}
	}
}

// needBuffer makes n itself a root unless it is in memory as it stands.
func (s *partition) needBuffer(n *ir.Node, by ir.Op) {
	if !s.isBuffer(n) {
		s.keep(n, KeptOperand, by)
	}
}

// shortOperands are the operands of a product, before they were widened where
// the template takes them so.
func shortOperands(n *ir.Node) (x, y *ir.Node) {
	x, y = widened(n.In[0]), widened(n.In[1])
	if x == nil || y == nil || template.FormatOf(n.DType, x.DType, y.DType) == template.Single {
		return n.In[0], n.In[1]
	}
	return x, y
}

// shortAttention are the operands of an attention, q, k and v before they were
// widened where the template takes them so.
func shortAttention(n *ir.Node) []*ir.Node {
	if n.DType != ir.F32 {
		return n.In
	}
	in := slices.Clone(n.In)
	for i := range 3 {
		if in[i] = widened(in[i]); in[i] == nil || in[i].DType != ir.BF16 {
			return n.In
		}
	}
	return in
}

// widened is what n is a cast of, seen through index arithmetic; else nil.
func widened(n *ir.Node) *ir.Node {
	for {
		switch n.Op {
		case ir.Reshape, ir.Permute, ir.Expand, ir.Slice, ir.Flip, ir.Window:
			n = n.In[0]
		case ir.Cast:
			return n.In[0]
		default:
			return nil
		}
	}
}
