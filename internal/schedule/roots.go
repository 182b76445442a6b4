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
			x, y := s.shortOperands(n)
			s.needView(x, n.Op)
			if !s.constant(y) || y != n.In[1] && s.roundsFirst(n) {
				s.needView(y, n.Op)
			} else if w := s.roundedOnce(n); w != nil {
				s.needView(w, n.Op)
			}
		case ir.Attention:
			for _, in := range s.shortAttention(n) {
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
		case ir.Window:
			if a := n.Attr; (a.Size-1)*a.Dilation >= a.Stride { // windows overlap: what pads them is asked once an element
				s.needView(n.In[0], n.Op)
			}
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
	return len(s.operations(n)) > maxInlined
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
func (s *partition) shortOperands(n *ir.Node) (x, y *ir.Node) {
	x, y = widened(n.In[0]), widened(n.In[1])
	switch {
	case x == nil || y == nil:
	case template.FormatOf(n.DType, x.DType, y.DType) != template.Single, s.takesHalf(n, x, y):
		return x, y
	}
	return n.In[0], n.In[1]
}

// roundsFirst tells whether a short weight is rounded by a kernel of its own: where
// instructions for matrices take it from memory alone, and nobody packs it, each
// block of many rows would round it again.
func (s *partition) roundsFirst(n *ir.Node) bool { return s.opt.Half && manyRows(n) }

// roundedOnce is the weight of a product, before it was widened, where a kernel of
// its own rounds it once for all runs: nobody packs it, and each block of many rows
// would round it again; else nil. A product of few rows keeps the order of its
// sums, which on some devices is that of the weight as it lies in memory. Where
// there are instructions for matrices, products of f32 copy what lies in memory as
// well: any weight that is computed, as from bytes and their scales, is so once.
func (s *partition) roundedOnce(n *ir.Node) *ir.Node {
	w := widened(n.In[1])
	times := maxKept
	if y := behindViews(n.In[1]); w == nil && y.Op.Pointwise() && s.copied(y) {
		w, times = y, maxCopied
	}
	if w == nil || !s.opt.Unpacked || !manyRows(n) || s.origin[w.ID] != ofWeights || !s.within(s.bytes(w), times, w) {
		return nil
	}
	return w
}

// copied tells whether products that read n copy it as it lies in memory.
func (s *partition) copied(n *ir.Node) bool { return s.opt.Half && n.DType == ir.F32 }

func manyRows(n *ir.Node) bool {
	_, rows := n.Shape[len(n.Shape)-2].Bounds()
	return rows > fewRows
}

// fewRows is how many rows a product has that reads its weight about once.
const fewRows = 16

// takesHalf tells whether operands of n are of f16, which the target takes so.
func (s *partition) takesHalf(n *ir.Node, operands ...*ir.Node) bool {
	return s.opt.Half && n.DType == ir.F32 && !slices.ContainsFunc(operands, func(x *ir.Node) bool { return x.DType != ir.F16 })
}

// shortAttention are the operands of an attention, q, k and v before they were
// widened where the template takes them so.
func (s *partition) shortAttention(n *ir.Node) []*ir.Node {
	if n.DType != ir.F32 {
		return n.In
	}
	in, all := slices.Clone(n.In), true
	for i := range 3 {
		if in[i] = widened(in[i]); in[i] == nil {
			return n.In
		}
		all = all && in[i].DType == ir.BF16
	}
	if !all && !s.takesHalf(n, in[:3]...) {
		return n.In
	}
	return in
}

// widened is what n is a cast of, seen through index arithmetic; else nil.
func widened(n *ir.Node) *ir.Node {
	if n = behindViews(n); n.Op == ir.Cast {
		return n.In[0]
	}
	return nil
}

// behindViews is what n shows, through index arithmetic.
func behindViews(n *ir.Node) *ir.Node {
	for {
		switch n.Op {
		case ir.Reshape, ir.Permute, ir.Expand, ir.Slice, ir.Flip, ir.Window:
			n = n.In[0]
		default:
			return n
		}
	}
}
