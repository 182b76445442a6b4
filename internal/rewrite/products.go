package rewrite

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// product is one of several matrix products that read the same left operand.
type product struct {
	matmul *ir.Node
	sum    *ir.Node // its only reader where that adds a bias, else nil
	bias   *ir.Node // [1, N], repeated over the rows by sum
}

// productGroup is merged when the first of its products is met.
type productGroup struct {
	products []product
	met      bool
}

// mergeProducts makes one product of all that multiply the same matrix by
// weights: the weights side by side, the results cut apart. Each element is
// summed over the same axis in the same order. Weights never change, so that
// they are put together once, when they are packed. Where every product has a
// bias, it is added before the cut.
func mergeProducts(s *setting, g *ir.Graph) (*ir.Graph, error) {
	groups := sharedProducts(g, s.precision)
	if len(groups) == 0 {
		return g, nil
	}
	var m *productMerger
	return ir.Rebuild(g, func(b *ir.Builder, n *ir.Node, in []*ir.Node) (*ir.Node, error) {
		if m == nil {
			m = &productMerger{newRewriter(s, b), make([]*ir.Node, len(g.Nodes)), map[*ir.Node]*ir.Node{}}
		}
		same, err := ir.Copy(b, n, in)
		if err != nil {
			return nil, err
		}
		if group := groups[n]; group != nil && !group.met {
			group.met = true
			if m.asked("merge-products", same) {
				s.applied["merge-products"]++
				m.node = same
				m.merge(group.products, in[0])
			}
		}
		if cut := m.cuts[n]; cut != nil {
			same = cut
		}
		return same, m.err
	})
}

// sharedProducts finds, by product, groups of at least two. Where a precision is
// asked for, products too small for it stay apart from those that are not, and
// those of a shorter float from those with weights of f32, which would widen all.
func sharedProducts(g *ir.Graph, precision ir.DType) map[*ir.Node]*productGroup {
	type key struct {
		a, region   int
		small, tf32 bool
		short       ir.DType
	}
	byA := map[key]*productGroup{}
	groups := map[*ir.Node]*productGroup{}
	var fixed []bool
	var users [][]*ir.Node
	for _, n := range g.Nodes {
		if n.Op != ir.MatMul {
			continue
		}
		if fixed == nil {
			fixed, users = fixedNodes(g), g.Users()
			for _, o := range g.Outputs {
				users[o.ID] = append(users[o.ID], nil)
			}
		}
		if !fixed[n.In[1].ID] || !plainMatrix(n.In[1].Shape) {
			continue
		}
		k := key{n.In[0].ID, n.Attr.Region, tooSmall(n, precision), n.Attr.TF32, shortOf(n, precision)}
		if byA[k] == nil {
			byA[k] = &productGroup{}
		}
		p := product{matmul: n}
		p.sum, p.bias = biasOf(n, users[n.ID], fixed)
		byA[k].products = append(byA[k].products, p)
	}
	for _, group := range byA {
		if len(group.products) < 2 {
			continue
		}
		for _, p := range group.products {
			groups[p.matmul] = group
		}
	}
	return groups
}

// shortOf is the float that both operands of a product were widened from, or hold
// no more than: it can compute in that. 0 if there is none, or a precision rounds
// all products alike.
func shortOf(n *ir.Node, precision ir.DType) ir.DType {
	switch precision {
	case ir.BF16, ir.F16, ir.I8:
		return 0
	}
	for _, d := range []ir.DType{ir.BF16, ir.F16} {
		if !(narrow{dtype: d}).changes(n.In) {
			return d
		}
	}
	return 0
}

// tooSmall tells whether a product stays as written though a precision is asked
// for.
func tooSmall(n *ir.Node, precision ir.DType) bool {
	switch precision {
	case 0, ir.F32:
		return false
	case ir.I8:
		return !isLarge(n)
	}
	return !mayBeLarge(n)
}

// fixedNodes tells which nodes are weights or made of weights by moves and
// element by element, as packing can do once for all runs; so none holds a
// product, that another one of its group would have to wait for.
func fixedNodes(g *ir.Graph) []bool {
	fixed, steady := make([]bool, len(g.Nodes)), g.Steady()
	for i, n := range g.Nodes {
		switch {
		case n.Op == ir.Const, n.Op == ir.Iota, n.Op.HasLeaf() && steady[n.Attr.Leaf]:
			fixed[i] = true
		case n.Op.Pointwise(), n.Op.Class() == ir.ClassMovement:
			fixed[i] = !slices.ContainsFunc(n.In, func(x *ir.Node) bool { return !fixed[x.ID] })
		}
	}
	return fixed
}

// plainMatrix tells whether s is [K, N], batch axes of size 1 aside, with a
// static N: what can be cut off again.
func plainMatrix(s ir.Shape) bool {
	for _, d := range s[:len(s)-2] {
		if !d.IsConst(1) {
			return false
		}
	}
	return s[len(s)-1].Static()
}

// biasOf finds the bias that the only user of a product adds.
func biasOf(n *ir.Node, users []*ir.Node, fixed []bool) (sum, bias *ir.Node) {
	if len(users) != 1 || users[0] == nil || users[0].Op != ir.Add || users[0].Attr.Region != n.Attr.Region {
		return nil, nil
	}
	sum = users[0]
	other := sum.In[0]
	if other == n {
		other = sum.In[1]
	}
	last := len(n.Shape) - 1
	if other.Op != ir.Expand || !fixed[other.ID] || !other.In[0].Shape[last].Equal(n.Shape[last]) {
		return nil, nil
	}
	for _, d := range other.In[0].Shape[:last] {
		if !d.IsConst(1) {
			return nil, nil
		}
	}
	return sum, other.In[0]
}

type productMerger struct {
	*rewriter
	copies []*ir.Node            // of fixed nodes, by number in the old graph
	cuts   map[*ir.Node]*ir.Node // what becomes of the old products or sums
}

// merge makes the product of a with the weights of all, and what its readers
// read instead of theirs.
func (m *productMerger) merge(all []product, a *ir.Node) {
	last := len(a.Shape) - 1
	withBias := !slices.ContainsFunc(all, func(p product) bool { return p.sum == nil })
	var weights, biases []*ir.Node
	for _, p := range all {
		weights = append(weights, m.copy(p.matmul.In[1]))
		if withBias {
			biases = append(biases, m.copy(p.bias))
		}
	}
	whole := m.raw(ir.MatMul, ir.Attr{TF32: all[0].matmul.Attr.TF32}, a, m.sideBySide(weights, last))
	if withBias {
		bias := m.expand(m.sideBySide(biases, last), whole.Shape)
		whole = m.raw(ir.Add, ir.Attr{}, whole, bias)
	}
	at := 0
	for _, p := range all {
		cut := ir.Attr{Shape: p.matmul.Shape, Starts: make([]ir.Dim, last+1), Steps: make([]int, last+1)}
		for i := range cut.Steps {
			cut.Steps[i] = 1
		}
		cut.Starts[last] = ir.N(at)
		n, _ := p.matmul.Shape[last].Const()
		at += n
		old := p.matmul
		if withBias {
			old = p.sum
		}
		m.cuts[old] = m.raw(ir.Slice, cut, whole)
	}
}

// copy makes a fixed node of the old graph in the new one.
func (m *productMerger) copy(n *ir.Node) *ir.Node {
	if c := m.copies[n.ID]; c != nil {
		return c
	}
	in := make([]*ir.Node, len(n.In))
	for i, x := range n.In {
		in[i] = m.copy(x)
	}
	if m.err != nil {
		return m.node
	}
	c, err := m.b.Add(n.Op, n.Attr, in...)
	if err != nil {
		m.err = err
		return m.node
	}
	m.copies[n.ID] = c
	return c
}

// sideBySide puts fixed matrices together along an axis, and where all of them
// were made alike makes them after that: a quantised weight is then still a
// cast of bytes times a scale, which its product knows.
func (m *productMerger) sideBySide(all []*ir.Node, axis int) *ir.Node {
	first := all[0]
	if !alike(all, axis) {
		return m.make(ir.Concat, ir.Attr{Axes: []int{axis}}, all...)
	}
	if bits, ok := splatOf(first); ok {
		return m.splat(first.DType, joined(all, axis), bits)
	}
	attr := first.Attr
	inner := axis
	switch first.Op {
	case ir.Permute:
		inner = attr.Axes[axis]
	case ir.Expand:
		attr.Shape = joined(all, axis)
	}
	in := make([]*ir.Node, len(first.In))
	for i := range in {
		operands := make([]*ir.Node, len(all))
		for j, n := range all {
			operands[j] = n.In[i]
		}
		in[i] = m.sideBySide(operands, inner)
	}
	return m.make(first.Op, attr, in...)
}

// joined is the shape of all put together along an axis.
func joined(all []*ir.Node, axis int) ir.Shape {
	s := slices.Clone(all[0].Shape)
	for _, n := range all[1:] {
		s[axis] = s[axis].Add(n.Shape[axis])
	}
	return s
}

// alike tells whether all are the same operation with the same attributes, one
// that putting together can pass.
func alike(all []*ir.Node, axis int) bool {
	first := all[0]
	bits, splat := splatOf(first)
	for _, n := range all {
		if other, ok := splatOf(n); ok != splat || other != bits {
			return false
		}
		if splat {
			continue
		}
		if n.Op != first.Op || n.DType != first.DType || n.Attr.Region != first.Attr.Region {
			return false
		}
		switch {
		case n.Op.Pointwise():
			if n.In[0].DType != first.In[0].DType {
				return false
			}
		case n.Op == ir.Permute:
			if !slices.Equal(n.Attr.Axes, first.Attr.Axes) {
				return false
			}
		case n.Op == ir.Expand:
			if !n.In[0].Shape[axis].Equal(n.Shape[axis]) || !sameOff(n.In[0].Shape, first.In[0].Shape, axis) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// sameOff tells whether two shapes are equal off an axis.
func sameOff(s, t ir.Shape, axis int) bool {
	for i := range s {
		if i != axis && !s[i].Equal(t[i]) {
			return false
		}
	}
	return true
}
