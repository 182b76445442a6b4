package schedule

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/template"
)

// partition decides which nodes become roots, computed by a kernel and kept in
// registers or memory, and which are inlined into every user; and which roots
// share a kernel.
type partition struct {
	g      *ir.Graph
	opt    Options
	limits *splitLimits
	users  [][]*ir.Node
	out    []bool // by ID: is an output

	origin []origin            // by ID
	steady []bool              // by leaf
	root   []bool              // by ID
	kept   []keptFor           // by ID, of roots: why they are
	group  []*group            // by ID, of roots
	taken  []bool              // by ID: on the way from an anchor to what its kernel stores
	groups []*group            // by first member
	layout map[bufferKey][]int // the order of axes in memory, where it is not that of the shape
	joins  map[*ir.Node]*join  // by anchor

	decided bool              // which groups are constant
	refused map[refusal]Apart // nil: nobody asks

	// What cone and buffers found, by ID; see forget.
	cones [][]*ir.Node
	reach []map[*ir.Node]bool
}

// group is the roots that one kernel computes.
type group struct {
	members []*ir.Node // operands first
	// A group around a reduction has rows: every member has shape full, or
	// full with axes reduced to 1.
	rows bool
	full ir.Shape // also of groups that are pointwise
	axes []int
	// A group that splits is made of reductions in parts, and of values of the
	// row that the second kernel computes from their results.
	split bool
	// A group around an anchor has it as first member. With an epilogue the
	// last member is what it ends in, those between are kept on the way, and the
	// anchor itself stays in registers, unless it is kept too.
	anchor *ir.Node
	ops    map[*ir.Node]bool // that the kernel does, those inlined into members included
	spine  map[*ir.Node]bool // nodes from the anchor to the last member
	keeps  bool              // the anchor itself

	origin   origin // of the members
	constant bool   // runs once for a set of weights
}

func newPartition(g *ir.Graph, o Options) *partition {
	s := &partition{g: g, opt: o, limits: &usualSplit, users: g.Users(), out: make([]bool, len(g.Nodes)), root: make([]bool, len(g.Nodes)), kept: make([]keptFor, len(g.Nodes))}
	if o.limits != nil {
		s.limits = o.limits
	}
	for _, n := range g.Outputs {
		s.out[n.ID] = true
	}
	return s
}

func (s *partition) run() error {
	s.findOrigins()
	s.markRoots()
	defer s.chooseLayouts()
	for range 8 { // a new root may split groups, which may ask for more roots
		s.makeGroups()
		if !s.shareExpensive() {
			return nil
		}
	}
	s.makeGroups()
	return nil
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

// maxInlined bounds the operations of one kernel's expression: registers are
// few, and what walks expressions stays linear in the graph.
const maxInlined = 256

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
		size[n.ID] = min(total, 2*maxInlined)
		if total > maxInlined && n.Op.Pointwise() {
			s.keep(n, KeptLarge, 0)
		}
	}
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

// needBuffer makes n itself a root unless it is in memory as it stands.
func (s *partition) needBuffer(n *ir.Node, by ir.Op) {
	if !s.isBuffer(n) {
		s.keep(n, KeptOperand, by)
	}
}

// makeGroups forms the kernels anew from the present roots.
func (s *partition) makeGroups() {
	s.group, s.taken = make([]*group, len(s.g.Nodes)), make([]bool, len(s.g.Nodes))
	s.groups = nil
	clear(s.refused)
	s.forget(0)
	for _, n := range s.g.Nodes {
		if !s.root[n.ID] || s.group[n.ID] != nil {
			continue
		}
		if n.Op.Class() == ir.ClassAnchor {
			s.anchorGroup(n)
			continue
		}
		g := s.joinRows(n)
		if g == nil {
			g = s.joinPointwise(n)
		}
		if g != nil {
			g.members = append(g.members, n)
			s.operations(n, g.ops)
			g.origin = mix(g.origin, s.origin[n.ID])
			s.group[n.ID] = g
			continue
		}
		g = &group{members: []*ir.Node{n}, full: n.Shape, ops: map[*ir.Node]bool{}, origin: s.origin[n.ID]}
		s.operations(n, g.ops)
		if n.Op.Class() == ir.ClassReduce {
			g.rows, g.full, g.axes, g.split = true, n.In[0].Shape, n.Attr.Axes, s.splits(n)
		}
		s.add(g)
	}
}

func (s *partition) add(g *group) {
	s.groups = append(s.groups, g)
	for _, n := range g.members {
		s.group[n.ID] = g
	}
}

// forget drops what is known about the nodes from an ID on: one of them has
// become a root.
func (s *partition) forget(from int) {
	if s.cones == nil {
		s.cones, s.reach = make([][]*ir.Node, len(s.g.Nodes)), make([]map[*ir.Node]bool, len(s.g.Nodes))
	}
	clear(s.cones[from:])
	clear(s.reach[from:])
}

// anchorGroup makes the kernel of an anchor and what it absorbs behind it.
func (s *partition) anchorGroup(n *ir.Node) {
	g := &group{members: []*ir.Node{n}, anchor: n, origin: s.origin[n.ID]}
	switch {
	case n.Op != ir.MatMul:
		s.refuseReaders(n, n, ApartTemplate)
	case !s.opt.on("fuse"):
		s.refuseReaders(n, n, ApartFuse)
	case !s.opt.on("epilogue"):
		s.refuseReaders(n, n, ApartEpilogue)
	default:
		if tail, kept, spine := s.epilogue(n); tail != nil {
			if len(kept) > 0 && kept[0] == n {
				g.keeps, kept = true, kept[1:]
			}
			for _, m := range append(kept, tail) {
				why := KeptBeside
				if m == tail {
					why = KeptTail
				}
				s.keep(m, why, 0)
				s.forget(m.ID)
				g.members = append(g.members, m)
			}
			g.spine = spine
			for m := range spine {
				s.taken[m.ID] = true
			}
		}
	}
	if j := s.joins[n]; j != nil {
		g.members = append(g.members, s.stored(j)...)
	}
	s.add(g)
}

// joinRows finds the group of a reduction that n can share the rows of.
func (s *partition) joinRows(n *ir.Node) *group {
	for i := len(s.groups) - 1; i >= 0; i-- {
		g := s.groups[i]
		if !g.rows {
			continue
		}
		why := s.apartFromRows(n, g)
		if why == 0 {
			return g
		}
		s.refuse(n, g.members[0], why)
	}
	return nil
}

// apartFromRows tells why n cannot share the rows of g; 0: it can.
func (s *partition) apartFromRows(n *ir.Node, g *group) Apart {
	switch {
	case !s.opt.on("fuse"):
		return ApartFuse
	case !s.opt.on("rows"):
		return ApartRows
	case n.Op == ir.ArgMax || n.Op == ir.ArgMin || !foldable(g.members[0].Op):
		return ApartArg
	case !agree(g.origin, s.origin[n.ID]):
		return ApartWeights
	case g.before(n):
		return ApartRegion
	case !s.rowMember(n, g):
		return ApartLoops
	case !s.rowAligned(n, g):
		return ApartOtherRows
	case g.split && !s.splitMember(n, g):
		return ApartSplit
	case !s.touches(n, g):
		return ApartNothing
	case s.cyclic(n, g):
		return ApartCycle
	}
	more := map[*ir.Node]bool{}
	if s.operations(n, more); !g.fits(more) {
		return ApartLarge
	}
	return 0
}

// before tells whether n is computed again, by a Checkpoint, long after members
// of g: in one kernel with them it would be kept instead.
func (g *group) before(n *ir.Node) bool {
	region := n.Attr.Region
	return region != 0 && slices.ContainsFunc(g.members, func(m *ir.Node) bool { return m.Attr.Region != region })
}

// operations adds what computing n takes, as far as it is not in memory, to a
// set.
func (s *partition) operations(n *ir.Node, set map[*ir.Node]bool) {
	set[n] = true
	for _, in := range n.In {
		if !set[in] && !s.isBuffer(in) && in.Op.Class() != ir.ClassLeaf {
			s.operations(in, set)
		}
	}
}

// fits tells whether a kernel that does more operations too stays within what
// registers and time allow.
func (g *group) fits(more map[*ir.Node]bool) bool {
	count := len(g.ops)
	for m := range more {
		if !g.ops[m] {
			count++
		}
		if count > 2*maxInlined {
			return false
		}
	}
	return true
}

// foldable tells whether op is a reduction that can share its rows.
func foldable(op ir.Op) bool {
	return op.Class() == ir.ClassReduce && op != ir.ArgMax && op != ir.ArgMin
}

// rowMember tells whether n's own loops are those of g.
func (s *partition) rowMember(n *ir.Node, g *group) bool {
	if n.Op.Class() == ir.ClassReduce {
		return n.In[0].Shape.Equal(g.full) && slices.Equal(n.Attr.Axes, g.axes)
	}
	if !elementwise(n) && n.Op != ir.Expand {
		return false
	}
	return n.Shape.Equal(g.full) || n.Shape.Equal(g.rowShape())
}

func (g *group) rowShape() ir.Shape {
	s := slices.Clone(g.full)
	for _, a := range g.axes {
		s[a] = ir.N(1)
	}
	return s
}

// rowAligned tells whether n reads what g computes only at its own row: through
// pointwise nodes, and from row values through an expansion along the axes.
func (s *partition) rowAligned(n *ir.Node, g *group) bool {
	row := g.rowShape()
	seen := map[*ir.Node]bool{}
	var ok func(m *ir.Node, shape ir.Shape) bool
	operands := func(m *ir.Node, shape ir.Shape) bool {
		for _, in := range m.In {
			if !ok(in, shape) {
				return false
			}
		}
		return true
	}
	ok = func(m *ir.Node, shape ir.Shape) bool {
		if s.root[m.ID] {
			return s.group[m.ID] != g || m.Shape.Equal(shape)
		}
		if seen[m] {
			return true
		}
		seen[m] = true
		switch {
		case elementwise(m):
			return operands(m, shape)
		case m.Op == ir.Expand && m.In[0].Shape.Equal(row) && shape.Equal(g.full):
			return ok(m.In[0], row)
		}
		return !s.reads(m, g)
	}
	if n.Op.Class() == ir.ClassReduce {
		return ok(n.In[0], g.full)
	}
	if n.Op == ir.Expand {
		return n.In[0].Shape.Equal(row) && ok(n.In[0], row)
	}
	return operands(n, n.Shape)
}

// reads tells whether the inlined nodes below n reach a member of g.
func (s *partition) reads(n *ir.Node, g *group) bool {
	return slices.ContainsFunc(s.cone(n), func(r *ir.Node) bool { return s.group[r.ID] == g })
}

// cone is the roots that n reads through inlined nodes; n itself counts as
// inlined.
func (s *partition) cone(n *ir.Node) []*ir.Node {
	if c := s.cones[n.ID]; c != nil {
		return c
	}
	roots := []*ir.Node{}
	seen := map[*ir.Node]bool{}
	var walk func(m *ir.Node)
	walk = func(m *ir.Node) {
		for _, in := range m.In {
			if seen[in] {
				continue
			}
			seen[in] = true
			if s.root[in.ID] {
				roots = append(roots, in)
			} else {
				walk(in)
			}
		}
	}
	walk(n)
	s.cones[n.ID] = roots
	return roots
}

// touches tells whether sharing a kernel with g saves n something: it reads a
// member, or a buffer that g reads as well.
func (s *partition) touches(n *ir.Node, g *group) bool {
	if s.reads(n, g) {
		return true
	}
	mine := s.buffers(n)
	for _, m := range g.members {
		for b := range s.buffers(m) {
			if mine[b] {
				return true
			}
		}
	}
	return false
}

// buffers is the set of buffers of full size that n reads through inlined
// nodes; small operands such as a bias are worth no common kernel.
func (s *partition) buffers(n *ir.Node) map[*ir.Node]bool {
	if set := s.reach[n.ID]; set != nil {
		return set
	}
	set := map[*ir.Node]bool{}
	seen := map[*ir.Node]bool{}
	var walk func(m *ir.Node)
	walk = func(m *ir.Node) {
		for _, in := range m.In {
			if seen[in] {
				continue
			}
			seen[in] = true
			if s.isBuffer(in) {
				if in.Shape.Equal(m.Shape) || m.Op.Class() == ir.ClassReduce || m.Op == ir.Reshape {
					set[in] = true
				}
			} else if in.Op != ir.Expand {
				walk(in)
			}
		}
	}
	walk(n)
	s.reach[n.ID] = set
	return set
}

// cyclic tells whether n and g depend on one another through a third kernel,
// so that they cannot be one.
func (s *partition) cyclic(n *ir.Node, g *group) bool {
	return s.through([]*ir.Node{n}, g, func(r *ir.Node) bool { return s.group[r.ID] == g }) ||
		s.through(g.members, g, func(r *ir.Node) bool { return r == n })
}

// through tells whether some root that is found is needed to compute start by
// way of a kernel besides skip. A kernel of low IDs may lead to high ones: one
// that it reads may have been joined by a node that comes late, and a product's
// ends in one that may read what is in no kernel yet.
func (s *partition) through(start []*ir.Node, skip *group, found func(root *ir.Node) bool) bool {
	seen := map[*group]bool{skip: true}
	alone := map[*ir.Node]bool{} // seen roots whose kernel is not known yet
	var follow func(m *ir.Node, direct bool) bool
	follow = func(m *ir.Node, direct bool) bool {
		for _, r := range s.cone(m) {
			if !direct && found(r) {
				return true
			}
			members := []*ir.Node{r}
			switch h := s.group[r.ID]; {
			case h == nil && !alone[r]:
				alone[r] = true
			case h == nil || seen[h]:
				continue
			default:
				seen[h] = true
				members = h.members
			}
			if slices.ContainsFunc(members, func(x *ir.Node) bool { return follow(x, false) }) {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(start, func(m *ir.Node) bool { return follow(m, true) })
}

// elementwise tells whether n at an index needs its operands at that index
// alone. The new value of a variable is such a node: an optimizer's update of a
// parameter and of what it remembers of it is one kernel.
func elementwise(n *ir.Node) bool { return n.Op.Pointwise() || n.Op == ir.Assign }

// joinPointwise finds a group of elementwise roots with n's loops.
func (s *partition) joinPointwise(n *ir.Node) *group {
	more := map[*ir.Node]bool{}
	if elementwise(n) {
		s.operations(n, more)
	}
	for i := len(s.groups) - 1; i >= 0; i-- {
		g := s.groups[i]
		if g.anchor != nil || g.rows {
			continue
		}
		why := s.apartFromPointwise(n, g, more)
		if why == 0 {
			return g
		}
		s.refuse(n, g.members[0], why)
	}
	return nil
}

// apartFromPointwise tells why n, which takes more operations, cannot share the
// loops of g, that have no reduction; 0: it can.
func (s *partition) apartFromPointwise(n *ir.Node, g *group, more map[*ir.Node]bool) Apart {
	switch {
	case !s.opt.on("fuse"):
		return ApartFuse
	case n.Op.Class() == ir.ClassReduce:
		return ApartLoops
	case !elementwise(n) || !elementwise(g.members[0]):
		return ApartIndexed
	case !agree(g.origin, s.origin[n.ID]):
		return ApartWeights
	case g.before(n):
		return ApartRegion
	case !g.full.Equal(n.Shape):
		return ApartLoops
	case !g.fits(more):
		return ApartLarge
	case !s.samePlace(n, g):
		return ApartOtherPlaces
	case !s.touches(n, g):
		return ApartNothing
	case s.cyclic(n, g):
		return ApartCycle
	}
	return 0
}

// samePlace tells whether n reads members of g only at its own index.
func (s *partition) samePlace(n *ir.Node, g *group) bool {
	for _, in := range n.In {
		switch {
		case s.root[in.ID]:
		case elementwise(in):
			if !s.samePlace(in, g) {
				return false
			}
		case s.reads(in, g):
			return false
		}
	}
	return true
}
