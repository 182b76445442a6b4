package schedule

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// A concatenation of what one kernel computes is that kernel's result: it stores
// each part where it belongs. So the gradients of queries, keys and values that
// one product made lie side by side for the products that read them. Where these
// read it in a shorter type, that is stored as well, or in its place.

// join is a concatenation that the kernel of an anchor stores.
type join struct {
	anchor, concat *ir.Node
	parts          []joinPart
	casts          []*ir.Node // of concat, stored too
}

// joinPart is an operand of a concatenation: output out of the anchor, through
// views, that begins at start along the axis.
type joinPart struct {
	out   int
	way   []*ir.Node // views from the output to the operand
	start ir.Dim
}

// findJoins finds the concatenations that kernels can store, and makes roots of
// them.
func (s *partition) findJoins() {
	s.joins = map[*ir.Node]*join{}
	if !s.opt.on("join") || !s.opt.on("fuse") {
		return
	}
	for _, n := range s.g.Nodes {
		if n.Op != ir.Concat || s.origin[n.ID] != changing {
			continue
		}
		j := s.joinOf(n)
		if j == nil || s.joins[j.anchor] != nil {
			continue
		}
		s.joins[j.anchor] = j
		for _, u := range s.users[n.ID] {
			if u.Op == ir.Cast && u.Attr.Region == n.Attr.Region {
				j.casts = append(j.casts, u)
				s.root[u.ID] = true
			}
		}
		s.root[n.ID] = s.out[n.ID] || len(j.casts) < len(s.users[n.ID])
	}
}

// joinOf tells how the kernel of an anchor may store concatenation n, or nil.
func (s *partition) joinOf(n *ir.Node) *join {
	j := &join{concat: n}
	start := ir.N(0)
	for _, x := range n.In {
		p := joinPart{start: start}
		start = start.Add(x.Shape[n.Attr.Axis()])
		for ; x.Op == ir.Reshape || x.Op == ir.Permute; x = x.In[0] {
			if !s.once(x) {
				return nil
			}
			p.way = append(p.way, x)
		}
		slices.Reverse(p.way)
		if x.Op != ir.Get || !s.once(x) || x.In[0].Op != ir.AttentionGrad || j.anchor != nil && j.anchor != x.In[0] || !s.opt.Anchors[x.In[0].Op] {
			return nil
		}
		j.anchor, p.out = x.In[0], x.Attr.Out
		j.parts = append(j.parts, p)
	}
	return j
}

// once tells whether n has one reader, and no memory that others see.
func (s *partition) once(n *ir.Node) bool {
	return len(s.users[n.ID]) == 1 && !s.root[n.ID] && !s.out[n.ID]
}

// stored are the nodes that the kernel of a join stores beside the anchor.
func (s *partition) stored(j *join) []*ir.Node {
	if s.root[j.concat.ID] {
		return append([]*ir.Node{j.concat}, j.casts...)
	}
	return j.casts
}

// joined tells whether n is stored by the kernel of an anchor that it is joined
// from.
func (s *partition) joined(n *ir.Node) bool {
	g := s.group[n.ID]
	return g != nil && g.anchor != nil && s.joins[g.anchor] != nil && n != g.anchor
}

// layJoins has a concatenation lie as a cast of it does, which is stored by the
// same loops.
func (s *partition) layJoins() {
	for _, j := range s.joins {
		for _, c := range j.casts {
			axes := s.layout[bufferKey{node: c}]
			if key := (bufferKey{node: j.concat}); axes != nil && s.layout[key] == nil && !s.out[j.concat.ID] {
				s.layout[key] = axes
			}
		}
	}
}

// storeOutput stores output out of anchor n at idx: in a buffer of its own, or
// where it belongs in what it is joined to.
func (b *builder) storeOutput(n *ir.Node, out int, idx []*loop.Expr, value *loop.Expr) []loop.Stmt {
	j := b.s.joins[n]
	part := -1
	if j != nil {
		part = slices.IndexFunc(j.parts, func(p joinPart) bool { return p.out == out })
	}
	if part < 0 {
		return []loop.Stmt{&loop.Store{Param: b.param(bufferKey{node: n, out: out}, loop.Write), Index: linear(idx, n.Out(out).Shape), Value: value}}
	}
	p := j.parts[part]
	at, shape := idx, n.Out(out).Shape
	for _, v := range p.way {
		at, shape = b.forwardView(v, at, shape), v.Shape
	}
	at = slices.Clone(at)
	axis := j.concat.Attr.Axis()
	at[axis] = loop.AddIndex(at[axis], loop.SizeOf(p.start))
	var all []loop.Stmt
	for _, m := range b.s.stored(j) {
		v := value
		if m != j.concat {
			v = loop.Apply(ir.Cast, m.DType, v)
		}
		all = append(all, b.store(m, at, v))
	}
	return all
}
