package rewrite

import (
	"slices"

	"github.com/sinterml/sinter/internal/int4"
	"github.com/sinterml/sinter/internal/ir"
)

// Packed is weights of products that PackWeights put into leaves of their own:
// codes and scales as package int4 has them, whose values the caller makes.
type Packed struct {
	Of            *ir.Graph // its output is the weights, f32 [..., K, N], made of leaves that it shares with the graph before
	Codes, Scales int       // leaves of the graph that came out
}

// PackWeights makes products of data with weights that lie in memory in 4 bits:
// the weights are computed from codes and scales wherever they are needed, and
// are numbers of bf16; data is rounded to that. Attentions compute in bf16, but
// for gradients. It is no pass, as the codes are values, not a graph: what
// belongs before it in Run is done first, and Run goes over what comes out.
func PackWeights(g *ir.Graph, order int4.Order, o Options) (*ir.Graph, []Packed, error) {
	before := slices.DeleteFunc(slices.Clone(passes), func(p pass) bool { return p.precision != 0 })
	o.NoOpt = append(slices.Clone(o.NoOpt), "fma", "order")
	o.Precision = ir.I8 // of which products are too small, so that they are not merged with others
	merged, _, err := run(before, g, o)
	if err != nil {
		return nil, nil, err
	}
	s := newSetting(nil, nil, o)
	p := &packer{order: order, found: map[*ir.Node]*packedLeaves{}}
	small, err := p.pack(s, merged)
	if err == nil {
		small, err = roundAttentions(s, small, "int4")
	}
	if err != nil {
		return nil, nil, err
	}
	small = withInputs(small, g)
	if o.Check {
		err = ir.Check(small)
	}
	return small, p.numbered(small), err
}

// packer finds weights and puts leaves in their place.
type packer struct {
	graph *ir.Graph // before
	order int4.Order
	found map[*ir.Node]*packedLeaves
	all   []*packedLeaves
}

// packedLeaves are those of one matrix of weights. Until somebody has made the
// values, their storages are what tells leaves apart.
type packedLeaves struct {
	of            *ir.Graph
	codes, scales ir.Leaf
	made          [2]*ir.Node // by the builder; nil before
}

func (p *packer) pack(s *setting, g *ir.Graph) (*ir.Graph, error) {
	p.graph = g
	bound := boundNodes(g)
	chosen := chooseProducts(g, func(n *ir.Node) bool {
		return bound[withoutBatch(n.In[1]).ID]
	})
	f := narrowOf(ir.BF16)
	f.pass = "int4"
	if !slices.Contains(chosen, true) {
		return g, nil
	}
	var r *rewriter
	own := *g
	own.Leaves = slices.Clip(g.Leaves) // others compile the same graph
	return ir.Rebuild(&own, func(b *ir.Builder, n *ir.Node, in []*ir.Node) (*ir.Node, error) {
		if r == nil {
			r = newRewriter(s, b)
		}
		m, err := r.rebuild(n, in)
		if err != nil || !chosen[n.ID] || !r.asked("int4", m) {
			return m, err
		}
		s.applied["int4"]++
		r.node = m
		y := r.expand(r.unpack(p.leaves(n.In[1]), n.In[1]), m.In[1].Shape)
		m = r.op(ir.MatMul, f.roundedBelow(r, m.In[0]), y)
		return m, r.err
	})
}

// boundNodes tells which nodes are made of weights, or of what is bound beside
// inputs, and have the same elements in every run: variables may change between
// two runs, symbols may be other sizes, or places where a slice begins.
func boundNodes(g *ir.Graph) []bool {
	bound := unchanging(g)
	for i, n := range g.Nodes {
		_, static := n.Shape.Ints()
		bound[i] = bound[i] && static && !n.Attr.PlacedBySymbol()
		bound[i] = bound[i] && n.Op != ir.Variable && !slices.ContainsFunc(n.In, func(x *ir.Node) bool { return !bound[x.ID] })
	}
	return bound
}

// withoutBatch is the matrices that y repeats for each batch.
func withoutBatch(y *ir.Node) *ir.Node {
	if last := len(y.Shape) - 2; y.Op == ir.Expand && y.In[0].Shape[last:].Equal(y.Shape[last:]) {
		return y.In[0]
	}
	return y
}

// leaves are those for the weights that y has.
func (p *packer) leaves(y *ir.Node) *packedLeaves {
	y = withoutBatch(y)
	if l := p.found[y]; l != nil {
		return l
	}
	l := &packedLeaves{of: cone(p.graph, y)}
	name := "weights"
	if len(l.of.Leaves) > 0 {
		name = l.of.Leaves[0].Name
	}
	sizes, _ := y.Shape.Ints()
	codes, scales := int4.Shapes(sizes, p.order)
	l.codes = ir.Leaf{Kind: ir.Weight, Name: name + ".codes", Type: ir.Type{DType: ir.U8, Shape: ir.Static(codes...)}, Storage: &l.codes}
	l.scales = ir.Leaf{Kind: ir.Weight, Name: name + ".scales", Type: ir.Type{DType: ir.BF16, Shape: ir.Static(scales...)}, Storage: &l.scales}
	p.found[y] = l
	p.all = append(p.all, l)
	return l
}

// cone is a graph of n alone.
func cone(g *ir.Graph, n *ir.Node) *ir.Graph {
	b := ir.NewBuilder(slices.Clip(g.Leaves))
	made := map[*ir.Node]*ir.Node{}
	needed := make([]bool, len(g.Nodes))
	needed[n.ID] = true
	for i := n.ID; i >= 0; i-- {
		if needed[i] {
			for _, in := range g.Nodes[i].In {
				needed[in.ID] = true
			}
		}
	}
	for i, m := range g.Nodes[:n.ID+1] {
		if !needed[i] {
			continue
		}
		in := make([]*ir.Node, len(m.In))
		for j, x := range m.In {
			in[j] = made[x]
		}
		made[m], _ = ir.Copy(b, m, in) // as it was in g
	}
	return b.Finish(made[n])
}

// unpack makes the weights y, one matrix for all batches, from codes and scales.
func (r *rewriter) unpack(l *packedLeaves, y *ir.Node) *ir.Node {
	y = withoutBatch(y)
	last := len(y.Shape) - 2
	batch, n := y.Shape[:last], y.Shape[last+1]
	groups := l.scales.Type.Shape[last]
	matrices := func(axes ...ir.Dim) ir.Shape { return append(slices.Clone(batch), axes...) }
	words := groups.Mul(ir.N(int4.Group / 2))
	pairs := matrices(words, ir.N(2), n)
	grouped := matrices(groups, ir.N(int4.Group), n)
	code := r.cast(ir.I32, r.rows(r.leaf(&l.made[0], l.codes), matrices(words, n)))
	code = r.expand(r.reshape(code, matrices(words, ir.N(1), n)), pairs)
	number := func(t ir.Shape, v int32) *ir.Node { return r.splat(ir.I32, t, uint64(uint32(v))) }
	half := r.make(ir.Iota, ir.Attr{DType: ir.I32, Shape: pairs, Axes: []int{last + 1}})
	code = r.op(ir.Shr, code, r.op(ir.Mul, half, number(pairs, 4)))
	code = r.op(ir.Sub, r.op(ir.And, code, number(pairs, 15)), number(pairs, int4.Zero))
	scale := r.cast(ir.F32, r.leaf(&l.made[1], l.scales))
	scale = r.expand(r.reshape(scale, matrices(groups, ir.N(1), n)), grouped)
	w := r.op(ir.Mul, r.cast(ir.F32, r.reshape(code, grouped)), scale)
	w = r.reshape(r.upperHalf(w), matrices(groups.Mul(ir.N(int4.Group)), n))
	return r.cast(ir.F32, r.first(w, y.Shape))
}

// rows is codes by rows, whatever their order.
func (r *rewriter) rows(codes *ir.Node, shape ir.Shape) *ir.Node {
	if len(codes.Shape) == len(shape) {
		return codes
	}
	last := len(shape) - 2
	axes := make([]int, len(codes.Shape))
	for i := range axes {
		axes[i] = i
	}
	axes[last], axes[last+1] = last+1, last // panels beside each other in each row
	codes = r.make(ir.Permute, ir.Attr{Axes: axes}, codes)
	whole := slices.Clone(shape)
	whole[last+1] = codes.Shape[last+1].Mul(ir.N(int4.Panel))
	return r.first(r.reshape(codes, whole), shape)
}

// first is what of x lies within a shape.
func (r *rewriter) first(x *ir.Node, shape ir.Shape) *ir.Node {
	if x.Shape.Equal(shape) {
		return x
	}
	starts, steps := make([]ir.Dim, len(shape)), make([]int, len(shape))
	for i := range steps {
		starts[i], steps[i] = ir.N(0), 1
	}
	return r.make(ir.Slice, ir.Attr{Starts: starts, Steps: steps, Shape: shape}, x)
}

// upperHalf is x as bf16, for numbers that it holds: nothing is to be rounded.
func (r *rewriter) upperHalf(x *ir.Node) *ir.Node {
	bits := r.make(ir.Bitcast, ir.Attr{DType: ir.U32}, x)
	bits = r.op(ir.Shr, bits, r.splat(ir.U32, x.Shape, 16))
	return r.make(ir.Bitcast, ir.Attr{DType: ir.BF16}, r.cast(ir.U16, bits))
}

// leaf reads a leaf, which is added when it is first met.
func (r *rewriter) leaf(made **ir.Node, l ir.Leaf) *ir.Node {
	if *made == nil {
		n, err := r.b.AddLeaf(l)
		if err != nil {
			r.err = err
			return r.node
		}
		*made = n
	}
	return *made
}

// withInputs is g with all inputs that before has: whoever runs it is given
// them, whether they are needed or not.
func withInputs(g, before *ir.Graph) *ir.Graph {
	whole := *g
	whole.Nodes, whole.Leaves = slices.Clip(g.Nodes), slices.Clip(g.Leaves)
	for _, l := range before.Leaves {
		same := func(m ir.Leaf) bool { return m.Kind == ir.Input && m.Name == l.Name }
		if l.Kind != ir.Input || slices.ContainsFunc(g.Leaves, same) {
			continue
		}
		attr := ir.Attr{Leaf: len(whole.Leaves), DType: l.Type.DType, Shape: l.Type.Shape}
		whole.Nodes = append(whole.Nodes, &ir.Node{ID: len(whole.Nodes), Op: ir.Input, Attr: attr, Type: l.Type})
		whole.Leaves = append(whole.Leaves, l)
	}
	return &whole
}

// numbered lists what was packed by the numbers that leaves have in g.
func (p *packer) numbered(g *ir.Graph) []Packed {
	var all []Packed
	for _, l := range p.all {
		at := func(storage *ir.Leaf) int {
			return slices.IndexFunc(g.Leaves, func(m ir.Leaf) bool { return m.Storage == any(storage) })
		}
		all = append(all, Packed{l.of, at(&l.codes), at(&l.scales)})
	}
	return all
}
