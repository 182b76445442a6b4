package schedule

import "github.com/sinterml/sinter/internal/ir"

// partition decides which nodes become roots, computed by a kernel and kept in
// registers or memory, and which are inlined into every user; and which roots
// share a kernel.
type partition struct {
	g      *ir.Graph
	opt    Options
	limits *splitLimits
	users  [][]*ir.Node
	out    []bool // by ID: is an output

	origin   []origin            // by ID
	steady   []bool              // by leaf
	writes   []bool              // by leaf: the graph assigns it
	root     []bool              // by ID
	kept     []keptFor           // by ID, of roots: why they are
	group    []*group            // by ID, of roots
	taken    []bool              // by ID: on the way from an anchor to what its kernel stores
	groups   []*group            // by first member
	numbered int                 // of them so far
	layout   map[bufferKey][]int // the order of axes in memory, where it is not that of the shape
	joins    map[*ir.Node]*join  // by anchor

	decided bool              // which groups are constant
	refused map[refusal]Apart // nil: nobody asks

	// What cone and buffers found, by ID; see forget.
	cones  [][]*ir.Node
	reach  [][]*ir.Node
	readBy map[*ir.Node][]*group // by buffer: groups without an anchor that read it
	// The highest ID, by ID, in any kernel with a member up to that; or itself.
	highest []int

	// Of the search that is under way, and of what a product's kernel may do.
	seen, alone, candidates, inside marks
	searches                        int // by way of other kernels, so far
}

func newPartition(g *ir.Graph, o Options) *partition {
	s := &partition{g: g, opt: o, limits: &usualSplit, users: g.Users(), out: make([]bool, len(g.Nodes)), root: make([]bool, len(g.Nodes)), kept: make([]keptFor, len(g.Nodes))}
	for _, m := range []*marks{&s.seen, &s.alone, &s.candidates, &s.inside} {
		*m = newMarks(len(g.Nodes))
	}
	if o.limits != nil {
		s.limits = o.limits
	}
	for _, n := range g.Outputs {
		s.out[inMemory(n).ID] = true
	}
	return s
}

// inMemory is what an output lies in memory as: a reshape is what it reshapes.
func inMemory(n *ir.Node) *ir.Node {
	for n.Op == ir.Reshape {
		n = n.In[0]
	}
	return n
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

// makeGroups forms the kernels anew from the present roots.
func (s *partition) makeGroups() {
	s.group, s.taken = make([]*group, len(s.g.Nodes)), make([]bool, len(s.g.Nodes))
	s.groups, s.readBy = nil, map[*ir.Node][]*group{}
	clear(s.refused)
	s.forget(0)
	s.highest = make([]int, len(s.g.Nodes))
	for i := range s.highest {
		s.highest[i] = i
	}
	for _, n := range s.g.Nodes {
		if !s.root[n.ID] || s.group[n.ID] != nil {
			continue
		}
		if n.Op.Class() == ir.ClassAnchor {
			s.anchorGroup(n)
			continue
		}
		near := s.near(n)
		g := s.joinRows(n, near)
		if g == nil {
			g = s.joinPointwise(n, near)
		}
		if g != nil {
			g.members = append(g.members, n)
			s.noteBuffers(n, g)
			g.ops = append(g.ops, s.without(s.operations(n), g)...)
			g.origin = mix(g.origin, s.origin[n.ID])
			s.group[n.ID] = g
			s.spans(g)
			if !g.rows && s.opt.on("fuse") {
				s.mergeInto(g, n, near)
			}
			continue
		}
		g = &group{members: []*ir.Node{n}, full: n.Shape, ops: s.operations(n), origin: s.origin[n.ID]}
		if n.Op.Class() == ir.ClassReduce {
			g.rows, g.full, g.axes, g.split = true, n.In[0].Shape, n.Attr.Axes, s.splits(n)
		}
		s.add(g)
		s.noteBuffers(n, g)
	}
}

func (s *partition) add(g *group) {
	g.number = s.numbered
	s.numbered++
	s.groups = append(s.groups, g)
	for _, n := range g.members {
		s.group[n.ID] = g
	}
	s.spans(g)
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
