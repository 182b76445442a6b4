package rewrite

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// computeBF16 rounds both operands of products to bf16. Their products are
// exact in f32, in which they are summed, so that whoever multiplies them by
// instructions for bf16 gets the same but for the order of the sum. Results
// stay in f32: they have its range.
func computeBF16(s *setting, g *ir.Graph) (*ir.Graph, error) {
	return computeNarrow(s, g, narrowOf(ir.BF16))
}

// computeF16 rounds operands and results of products to f16, as processors do
// that have products of f16 alone: what is above 65504 becomes infinite, in
// gradients too.
func computeF16(s *setting, g *ir.Graph) (*ir.Graph, error) {
	return computeNarrow(s, g, narrowOf(ir.F16))
}

// narrow is a float format shorter than f32 that a pass rounds to.
type narrow struct {
	pass    string
	dtype   ir.DType
	results bool // are rounded too
}

// narrowOf is the format that a precision rounds products to; that of no dtype
// where it rounds none so.
func narrowOf(precision ir.DType) narrow {
	switch precision {
	case ir.BF16:
		return narrow{pass: "bf16", dtype: ir.BF16}
	case ir.F16:
		return narrow{pass: "f16", dtype: ir.F16, results: true}
	}
	return narrow{}
}

// computeNarrow rounds at every product and convolution, of a forward pass or of
// a gradient, but for products that are too small, and those of weights alone:
// they are computed once.
func computeNarrow(s *setting, g *ir.Graph, f narrow) (*ir.Graph, error) {
	fixed := unchanging(g)
	chosen := make([]bool, len(g.Nodes))
	for i, n := range g.Nodes {
		switch {
		case n.DType != ir.F32:
		case n.Op == ir.MatMul:
			chosen[i] = !(fixed[n.In[0].ID] && fixed[n.In[1].ID]) && mayBeLarge(n) && f.changes(n.In)
		case n.Op == ir.Conv:
			chosen[i] = f.suitsConv(n)
		case n.Op == ir.Attention, n.Op == ir.AttentionGrad:
			chosen[i] = f.suitsAttention(n)
		case n.Op == ir.Get && (n.In[0].Op == ir.Attention && n.Attr.Out == 0 || n.In[0].Op == ir.AttentionGrad):
			chosen[i] = f.results && chosen[n.In[0].ID]
		}
	}
	return replaceChosen(s, g, f.pass, chosen, f.compute)
}

// compute is n, just made, from rounded operands.
func (f narrow) compute(r *rewriter, n *ir.Node) *ir.Node {
	switch n.Op {
	case ir.Attention, ir.AttentionGrad:
		return f.attention(r, n)
	case ir.Conv:
		n = r.make(ir.Conv, n.Attr, f.rounded(r, n.In[0]), f.rounded(r, n.In[1]))
	case ir.MatMul:
		n = r.op(ir.MatMul, f.roundedBelow(r, n.In[0]), f.roundedBelow(r, n.In[1]))
	}
	if f.results {
		return f.rounded(r, n)
	}
	return n
}

// changes tells whether some operand may hold what the format does not.
func (f narrow) changes(operands []*ir.Node) bool {
	return slices.ContainsFunc(operands, func(x *ir.Node) bool { return !f.has(x) })
}

// has tells whether x was widened from the format, or from what it holds.
func (f narrow) has(x *ir.Node) bool {
	for isView(x) {
		x = x.In[0]
	}
	return x.Op == ir.Cast && holds(f.dtype, x.In[0].DType)
}

// isView tells whether every element of x is one of its operand, moved or copied.
func isView(x *ir.Node) bool {
	return x.Op == ir.Contiguous || x.Op.Class() == ir.ClassMovement && len(x.In) == 1 && x.Op != ir.Pad
}

func (f narrow) rounded(r *rewriter, x *ir.Node) *ir.Node {
	if f.has(x) {
		return x
	}
	return r.cast(ir.F32, r.cast(f.dtype, x))
}

// roundedBelow is x by way of the format, rounded below the views that x is, so
// that what several share, as a product and its gradients do, is rounded once, by
// the kernel that computes it, and copied in the format.
func (f narrow) roundedBelow(r *rewriter, x *ir.Node) *ir.Node {
	if f.has(x) {
		return x
	}
	return r.cast(ir.F32, f.short(r, x))
}

// short is x in the format. Of a leaf no more is rounded than is seen.
func (f narrow) short(r *rewriter, x *ir.Node) *ir.Node {
	if !isView(x) || x.Op == ir.Slice && x.In[0].Op.Class() == ir.ClassLeaf {
		return r.cast(f.dtype, x)
	}
	return r.make(x.Op, x.Attr, f.short(r, x.In[0]))
}

// suitsConv leaves out no size: a convolution may become a product whose sizes
// are others.
func (f narrow) suitsConv(n *ir.Node) bool {
	return f.dtype != 0 && n.DType == ir.F32 && f.changes(n.In)
}

// round is rounded where no rule is to see it.
func (f narrow) round(b *ir.Builder, x *ir.Node) (*ir.Node, error) {
	short, err := b.Add(ir.Cast, ir.Attr{DType: f.dtype}, x)
	if err != nil {
		return nil, err
	}
	return b.Add(ir.Cast, ir.Attr{DType: x.DType}, short)
}

// suitsAttention tells whether both products of an attention can be in the
// format: templates take bf16 by pairs.
func (f narrow) suitsAttention(n *ir.Node) bool {
	width, static := lastDim(n.In[0]).Const()
	return n.DType == ir.F32 && (f.dtype != ir.BF16 || static && width%2 == 0 && width > 0) && f.changes(n.In[:3])
}

// attention rounds q, k and v, and of a gradient that of the result: operands of
// its products. Templates compute both products of the forward pass in the
// format, but that weights of f16, which has no digits for the small ones, may be
// held in TF32, which has as many and the range of f32.
func (f narrow) attention(r *rewriter, n *ir.Node) *ir.Node {
	operands := slices.Clone(n.In)
	for i := range 3 {
		operands[i] = f.roundedBelow(r, operands[i])
	}
	if n.Op == ir.AttentionGrad {
		dout := len(operands) - ir.GradOperands + 1 // behind the logsumexp
		operands[dout] = f.roundedBelow(r, operands[dout])
	}
	a := n.Attr
	a.TF32 = a.TF32 || f.dtype == ir.F16 && n.Op == ir.Attention
	return r.make(n.Op, a, operands...)
}

// roundAttentions has attentions compute in bf16, but for those whose logsumexp
// is asked for, as for a gradient.
func roundAttentions(s *setting, g *ir.Graph, pass string) (*ir.Graph, error) {
	f := narrow{pass: pass, dtype: ir.BF16} // under the pass that asks
	chosen := make([]bool, len(g.Nodes))
	for i, n := range g.Nodes {
		switch {
		case n.Op == ir.Attention:
			chosen[i] = f.suitsAttention(n)
		case n.Op == ir.Get && n.Attr.Out == 1:
			chosen[n.In[0].ID] = false
		}
	}
	return replaceChosen(s, g, pass, chosen, f.attention)
}
