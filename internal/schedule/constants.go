package schedule

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// A constant kernel computes, from weights and constants alone, what is needed
// by kernels that depend on more. It runs once for a set of weights: devices
// keep its results with them.

// origin tells what a node depends on.
type origin uint8

const (
	changing  origin = iota // also on what may differ from run to run
	neutral                 // on constants, and computed wherever it is needed
	ofWeights               // on weights, and perhaps constants
)

// maxKept bounds the bytes that are kept, in bytes of the weights that they
// were computed from.
const maxKept = 2

// maxCopied bounds those of a weight that products copy as it lies in memory: bytes
// become floats.
const maxCopied = 4

// findOrigins notes what each node depends on. Values of weights with symbolic
// sizes, or seen from a symbolic place on, change with these.
func (s *partition) findOrigins() {
	s.origin, s.steady, s.writes = make([]origin, len(s.g.Nodes)), s.g.Steady(), make([]bool, len(s.g.Leaves))
	for _, n := range s.g.Nodes {
		if n.Op == ir.Assign {
			s.writes[n.Attr.Leaf] = true
		}
	}
	if !s.opt.on("constants") {
		return
	}
	for _, n := range s.g.Nodes {
		s.origin[n.ID] = s.originOf(n)
	}
}

func (s *partition) originOf(n *ir.Node) origin {
	_, static := n.Shape.Ints()
	for _, o := range n.Outs {
		_, ok := o.Shape.Ints()
		static = static && ok
	}
	switch {
	case !static || n.Op == ir.Assign || n.Attr.PlacedBySymbol():
		return changing
	case n.Op.HasLeaf() && s.steady[n.Attr.Leaf]:
		return ofWeights
	case n.Op == ir.Const || n.Op == ir.Iota:
		return neutral
	case n.Op.Class() == ir.ClassLeaf:
		return changing
	}
	o := neutral
	for _, in := range n.In {
		switch s.origin[in.ID] {
		case changing:
			return changing
		case ofWeights:
			o = ofWeights
		}
	}
	if o == neutral && !n.Op.Pointwise() && n.Op.Class() != ir.ClassMovement {
		return changing // nothing to keep it with
	}
	return o
}

// mix is the origin of what depends on a and on b.
func mix(a, b origin) origin {
	switch {
	case a == neutral:
		return b
	case b == neutral || a == b:
		return a
	}
	return changing
}

// agree tells whether nodes of these origins may share a kernel: one that is
// constant must not compute anything else.
func agree(a, b origin) bool { return a == b || a == neutral || b == neutral }

// constant tells whether n, which a product reads, depends on weights, bound
// values and constants alone and needs no memory of its own.
func (s *partition) constant(n *ir.Node) bool { return s.madeOf(n, false) }

// steadyValues tells the same of variables, too, that the graph does not assign.
func (s *partition) steadyValues(n *ir.Node) bool { return s.madeOf(n, true) }

func (s *partition) madeOf(n *ir.Node, variables bool) bool {
	seen := map[*ir.Node]bool{}
	var walk func(n *ir.Node) bool
	walk = func(n *ir.Node) bool {
		switch {
		case n.Op == ir.Weight, n.Op == ir.Bound, n.Op == ir.Const, n.Op == ir.Iota, seen[n]:
			return true
		case n.Op == ir.Variable:
			return variables && !s.writes[n.Attr.Leaf]
		case s.isBuffer(n):
			return s.keeps(n)
		case !n.Op.Pointwise() && n.Op.Class() != ir.ClassMovement, n.Attr.PlacedBySymbol():
			return false
		}
		seen[n] = true
		for _, in := range n.In {
			if !walk(in) {
				return false
			}
		}
		return true
	}
	return walk(n)
}

// keeps tells whether n, which has a buffer, is computed by a constant kernel;
// before that has been decided, whether it may be.
func (s *partition) keeps(n *ir.Node) bool {
	if n.Op == ir.Get {
		n = n.In[0]
	}
	if !s.decided {
		return s.origin[n.ID] == ofWeights
	}
	return s.group[n.ID] != nil && s.group[n.ID].constant
}

// decideConstants chooses the constant kernels among the groups, which are in
// the order they run. What only goes to outputs is not kept: a program that
// computes nothing else runs once, as a rule. Nor is what takes too much memory.
func (s *partition) decideConstants(order []*group) {
	s.decided = true
	barred := map[*group]bool{}
	for again := true; again; {
		again = false
		s.markConstants(order, barred)
		for _, g := range order {
			s.sources(g, func(h *group, _ *ir.Node) {
				if g.constant && !h.constant {
					barred[g], again = true, true
				}
			})
		}
	}
}

// sources visits the groups whose results g reads.
func (s *partition) sources(g *group, visit func(h *group, root *ir.Node)) {
	for _, m := range g.members {
		for _, r := range s.cone(m) {
			if h := s.group[r.ID]; h != nil && h != g {
				visit(h, r)
			}
		}
	}
}

func (s *partition) markConstants(order []*group, barred map[*group]bool) {
	wanted := map[*group]bool{}   // by groups that must run each time, directly or not
	needed := map[*ir.Node]bool{} // by groups that do run each time
	for i := len(order) - 1; i >= 0; i-- {
		g := order[i]
		g.constant = g.origin != changing && wanted[g] && !barred[g] && s.worthKeeping(g, needed)
		s.sources(g, func(h *group, r *ir.Node) {
			wanted[h] = wanted[h] || wanted[g] || g.origin == changing
			needed[r] = needed[r] || !g.constant
		})
	}
}

// worthKeeping tells whether what others need of g is small enough to be kept.
// What is but read by constant kernels need not be.
func (s *partition) worthKeeping(g *group, needed map[*ir.Node]bool) bool {
	kept, times := ir.Dim{}, maxKept
	for _, m := range g.members {
		if needed[m] || s.handedOut(m) {
			kept = kept.Add(s.bytes(m))
		}
		if s.copied(m) && s.kept[m.ID] == (keptFor{KeptOperand, ir.MatMul}) {
			times = maxCopied
		}
	}
	return s.within(kept, times, g.members...)
}

// small tells whether so many bytes may be kept that were computed as nodes.
func (s *partition) small(bytes ir.Dim, nodes ...*ir.Node) bool {
	return s.within(bytes, maxKept, nodes...)
}

// within tells whether bytes are so many times those of the weights that nodes
// depend on, at most.
func (s *partition) within(bytes ir.Dim, times int, nodes ...*ir.Node) bool {
	n, ok := bytes.Const()
	return ok && n <= times*s.weightBytes(nodes)
}

// handedOut tells whether n, or what gets one of its results, is an output.
func (s *partition) handedOut(n *ir.Node) bool {
	out := s.out[n.ID]
	for _, u := range s.users[n.ID] {
		out = out || u.Op == ir.Get && s.out[u.ID]
	}
	return out
}

// bytes is the size of all results of n.
func (s *partition) bytes(n *ir.Node) ir.Dim {
	sum := n.Shape.Numel().Mul(ir.N(n.DType.Size()))
	for i := range n.Outs {
		if i > 0 {
			sum = sum.Add(n.Outs[i].Shape.Numel().Mul(ir.N(n.Outs[i].DType.Size())))
		}
	}
	return sum
}

// weightBytes is the size of all weights that nodes depend on.
func (s *partition) weightBytes(nodes []*ir.Node) int {
	seen := map[*ir.Node]bool{}
	total := 0
	var walk func(n *ir.Node)
	walk = func(n *ir.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		if n.Op.HasLeaf() && s.steady[n.Attr.Leaf] {
			size, _ := n.Shape.Numel().Const()
			total += size * n.DType.Size()
		}
		for _, in := range n.In {
			walk(in)
		}
	}
	for _, n := range nodes {
		walk(n)
	}
	return total
}

// keepConstants gives the results of constant kernels memory that is not the
// run's.
func (p *Plan) keepConstants() {
	made := make([]bool, len(p.Buffers)) // by a constant kernel
	for _, k := range p.Kernels {
		for i, prm := range k.Params() {
			if a := k.Args[i]; k.Constant && a >= 0 && prm.Use != loop.Read {
				made[a] = true
				p.Buffers[a].Kind = InterimBuffer
			}
		}
	}
	keep := func(buf int) {
		if buf >= 0 && made[buf] {
			p.Buffers[buf].Kind = ConstantBuffer
		}
	}
	for _, k := range p.Kernels {
		if k.Constant {
			continue
		}
		for _, a := range k.Args {
			keep(a)
		}
		for _, c := range k.Checks {
			keep(c.Buffer)
		}
	}
}
