package rewrite

import "github.com/sinterml/sinter/internal/ir"

// Lower replaces every anchor that keep refuses by its definition, for targets
// without a kernel for it, or, where they have one for products, a convolution
// by a product, of windows as it reads those; and lets sums of narrow floats be kept in
// f32. Convolutions are rounded to what a precision says before, as the pass
// does that meets them.
func Lower(g *ir.Graph, precision ir.DType, windows ir.Windows, keep func(n *ir.Node) bool) (*ir.Graph, error) {
	outs := map[*ir.Node][]*ir.Node{} // of anchors that were replaced
	products := keep(&ir.Node{Op: ir.MatMul})
	replaced := false
	var inPlace *windowsInPlace
	if windows == ir.WindowsAsColumns && precision != ir.I8 && narrowOf(precision) == (narrow{}) {
		inPlace = &windowsInPlace{g.Users(), g.Outputs}
	}
	low, err := ir.Rebuild(g, func(b *ir.Builder, n *ir.Node, in []*ir.Node) (*ir.Node, error) {
		if n.Op == ir.Get && outs[n.In[0]] != nil {
			return outs[n.In[0]][n.Attr.Out], nil
		}
		if n.Op == ir.Scatter && n.Attr.Mode == "add" && n.DType.IsFloat() && n.DType.Compute() != n.DType {
			replaced = true
			return scatterWide(b, n, in)
		}
		if inPlace != nil {
			if y, err := inPlace.product(b, n, in); err != nil || y != nil {
				replaced = true
				return y, err
			}
		}
		if n.Op.Class() != ir.ClassAnchor || keep(n) {
			return ir.Copy(b, n, in)
		}
		replaced = true
		if n.Op == ir.Conv {
			read := windows
			if n.DType.Compute() != ir.F32 || precision == ir.I8 {
				read = ir.WindowsCopied // bytes are found row by row, so rows have to be there
			}
			if read == ir.WindowsAsColumns && turnsResult(g, n) {
				read = ir.WindowsAsRows
			}
			return lowerConv(b, n, in, products, read, narrowOf(precision))
		}
		defs, err := ir.Define(b, n, in)
		if err != nil {
			return nil, err
		}
		outs[n] = defs
		return defs[0], nil
	})
	if err != nil || !replaced {
		return g, err
	}
	return low, nil
}

// turnsResult tells whether all that needs n, but for work element by element, has
// channels last: rows give them so.
func turnsResult(g *ir.Graph, n *ir.Node) bool {
	same := map[*ir.Node]bool{n: true} // n, and what is computed from its elements
	turned := false
	for _, u := range g.Nodes[n.ID+1:] {
		for _, in := range u.In {
			switch {
			case !same[in]:
			case u.Op.Pointwise() || u.Op == ir.Reshape && keepsChannels(in, u):
				same[u] = true
			case u.Op == ir.Permute && u.Attr.Axes[len(u.Shape)-1] == 1:
				turned = true
			default:
				return false
			}
		}
	}
	for _, o := range g.Outputs {
		turned = turned && !same[o]
	}
	return turned
}

// keepsChannels tells whether a reshape leaves the first two axes as they are.
func keepsChannels(from, to *ir.Node) bool {
	return len(to.Shape) > 2 && from.Shape[0].Equal(to.Shape[0]) && from.Shape[1].Equal(to.Shape[1])
}

// lowerConv replaces a convolution by a product, if there are products and that
// pays, else by its definition, rounded to a format.
func lowerConv(b *ir.Builder, n *ir.Node, in []*ir.Node, products bool, windows ir.Windows, f narrow) (*ir.Node, error) {
	rounds := f.suitsConv(n)
	if windows == ir.WindowsAsColumns && (n.DType != ir.F32 || rounds) {
		windows = ir.WindowsAsRows // columns are copied without conversion
	}
	for i := range in {
		if rounds {
			var err error
			if in[i], err = f.round(b, in[i]); err != nil {
				return nil, err
			}
		}
	}
	define := func() (*ir.Node, error) {
		defs, err := ir.Define(b, n, in)
		if err != nil {
			return nil, err
		}
		return defs[0], nil
	}
	if products && ir.ConvPaysAsProduct(n) {
		define = func() (*ir.Node, error) { return ir.ConvAsProduct(b, n, in[0], in[1], windows) }
	}
	y, err := define()
	if err != nil || !rounds || !f.results {
		return y, err
	}
	return f.round(b, y)
}

// scatterWide adds in the type that arithmetic is done in, and rounds once. An
// element without updates comes back as it was.
func scatterWide(b *ir.Builder, n *ir.Node, in []*ir.Node) (*ir.Node, error) {
	wide := ir.Attr{DType: n.DType.Compute()}
	x, err := b.Add(ir.Cast, wide, in[0])
	if err != nil {
		return nil, err
	}
	updates, err := b.Add(ir.Cast, wide, in[2])
	if err != nil {
		return nil, err
	}
	sum, err := b.Add(ir.Scatter, n.Attr, x, in[1], updates)
	if err != nil {
		return nil, err
	}
	return b.Add(ir.Cast, ir.Attr{DType: n.DType}, sum)
}
