package schedule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// lowerAll makes the kernels of all groups, in an order in which each comes
// after those it reads from.
func (s *partition) lowerAll() (*Plan, error) {
	order := s.order()
	s.decideConstants(order)
	p := &Plan{Graph: s.g}
	bufs := &buffers{plan: p, at: map[bufferKey]int{}}
	for i, l := range s.g.Leaves {
		p.Buffers = append(p.Buffers, Buffer{Kind: LeafBuffer, Number: i, DType: l.Type.DType, Len: l.Type.Shape.Numel()})
	}
	for _, n := range s.g.Nodes {
		if n.Op.HasLeaf() && n.Op != ir.Assign {
			p.Buffers[n.Attr.Leaf].Node = n
		}
	}
	bufs.outputs(s)
	for _, g := range order {
		var made []lowered
		var err error
		if g.split {
			made, err = s.lowerSplit(g)
		} else {
			b := s.newBuilder()
			made = []lowered{{b: b, nodes: s.nodesOf(g)}}
			made[0].work, err = s.lower(b, g)
		}
		if err != nil {
			return nil, fmt.Errorf("lower %s: %w", groupName(g), err)
		}
		for _, m := range made {
			k := m.number(bufs)
			k.Constant, k.group = g.constant && s.opt.on("keep"), g
			p.Kernels = append(p.Kernels, k)
		}
	}
	if err := s.copies(p, bufs); err != nil {
		return nil, err
	}
	p.keepConstants()
	return p, nil
}

// lowered is a kernel whose buffers have no numbers yet.
type lowered struct {
	b     *builder
	work  Work
	nodes []*ir.Node
}

func (l lowered) number(bufs *buffers) *Kernel {
	k := &Kernel{Name: l.b.name, Work: l.work, Nodes: l.nodes}
	for _, key := range l.b.bufs {
		k.Args = append(k.Args, bufs.get(key))
	}
	for _, c := range l.b.checks {
		k.Checks = append(k.Checks, Check{Op: c.op, Buffer: bufs.get(c.key), Size: c.size})
	}
	return k
}

// buffers numbers the memory of a plan.
type buffers struct {
	plan *Plan
	at   map[bufferKey]int
}

// outputs gives the first output that is computed by a kernel its buffer;
// leaves, what is kept, and repeated outputs are copied at the end.
func (b *buffers) outputs(s *partition) {
	for i, n := range s.g.Outputs {
		n = inMemory(n)
		key := bufferKey{node: n}
		if n.Op == ir.Get {
			key = bufferKey{node: n.In[0], out: n.Attr.Out}
		}
		if _, ok := b.at[key]; ok || n.Op.Class() == ir.ClassLeaf && n.Op.HasLeaf() || s.keeps(n) {
			continue
		}
		b.at[key] = b.add(OutputBuffer, i, key)
	}
}

func (b *buffers) add(kind BufferKind, number int, key bufferKey) int {
	d, n := key.content()
	b.plan.Buffers = append(b.plan.Buffers, Buffer{Kind: kind, Number: number, DType: d, Len: n, Node: key.node, Out: key.out})
	return len(b.plan.Buffers) - 1
}

func (b *buffers) get(key bufferKey) int {
	if key.node == nil {
		return -1
	}
	if key.parts == nil && key.node.Op.Class() == ir.ClassLeaf && key.node.Op.HasLeaf() {
		return key.node.Attr.Leaf
	}
	if i, ok := b.at[key]; ok {
		return i
	}
	b.at[key] = b.add(TempBuffer, 0, key)
	return b.at[key]
}

// copies adds a kernel for each output that no kernel stores: leaves, results
// of constant kernels, and values that are outputs twice.
func (s *partition) copies(p *Plan, bufs *buffers) error {
	stored := map[int]bool{}
	for _, b := range p.Buffers {
		if b.Kind == OutputBuffer {
			stored[b.Number] = true
		}
	}
	for i, n := range s.g.Outputs {
		if stored[i] {
			continue
		}
		b := s.newBuilder()
		v := b.variable("i", n.Shape.Numel())
		src := b.load(inMemory(n), v.Ref(), nil)
		dst := len(b.params)
		b.params = append(b.params, loop.Param{Name: fmt.Sprintf("p%d", dst), DType: n.DType, Len: n.Shape.Numel(), Use: loop.Write})
		p.Buffers = append(p.Buffers, Buffer{Kind: OutputBuffer, Number: i, DType: n.DType, Len: n.Shape.Numel(), Node: n})
		body := b.parallel(b.nest([]*loop.Var{v}, loop.Vector, []loop.Stmt{&loop.Store{Param: dst, Index: v.Ref(), Value: src}}))
		p.Kernels = append(p.Kernels, &Kernel{
			Name: "copy", Work: &loop.Kernel{Name: "copy", Params: b.params, Body: body},
			Args: []int{bufs.get(b.bufs[0]), len(p.Buffers) - 1}, Nodes: []*ir.Node{n},
		})
	}
	return nil
}

// order sorts the groups so that each comes after what it reads; among those
// that are ready, the earliest in the graph first.
func (s *partition) order() []*group {
	var sorted []*group
	state := map[*group]bool{}
	var place func(g *group)
	place = func(g *group) {
		if g == nil || state[g] {
			return
		}
		state[g] = true
		for _, m := range g.members {
			for _, r := range s.cone(m) {
				place(s.group[r.ID])
			}
		}
		sorted = append(sorted, g)
	}
	for _, g := range s.groups {
		place(g)
	}
	return sorted
}

func (s *partition) lower(b *builder, g *group) (Work, error) {
	b.name = groupName(g)
	var body []loop.Stmt
	var err error
	first := g.members[0]
	switch {
	case g.anchor != nil:
		return s.lowerAnchor(b, g)
	case first.Op == ir.ArgMax || first.Op == ir.ArgMin:
		body, err = b.argReduce(first)
	case first.Op == ir.Scatter:
		body, err = b.scatter(first)
	case g.rows:
		body, err = b.rows(g)
	default:
		body, err = b.pointwise(g)
	}
	if err != nil {
		return nil, err
	}
	return b.kernel(body), nil
}

// kernel closes the kernel around its statements.
func (b *builder) kernel(body []loop.Stmt) *loop.Kernel {
	k := &loop.Kernel{Name: b.name, Params: b.params, Slots: len(b.checks), Body: body}
	return loop.Share(k)
}

// pointwise lowers a group of nodes over one index space.
func (b *builder) pointwise(g *group) ([]loop.Stmt, error) {
	vars, idx := b.axes("i", g.full, func(int) bool { return true })
	var body []loop.Stmt
	for _, n := range g.members {
		e, err := b.compute(n, idx, nil)
		if err != nil {
			return nil, err
		}
		body = append(body, b.store(n, idx, e))
		b.local[n] = func([]*loop.Expr) *loop.Expr { return e }
	}
	return b.parallel(loop.Collapse(b.nest(vars, loop.Vector, body))), nil
}

// Sizes of the pieces that parallel work is cut into.
const (
	blockLanes = 4096 // of a vector loop that is the whole kernel
	fewTasks   = 16   // below so many iterations the outer loop takes in the next one
)

// parallel makes the outermost loop the Global one.
func (b *builder) parallel(body []loop.Stmt) []loop.Stmt {
	if len(body) != 1 {
		return body
	}
	outer, ok := body[0].(*loop.Loop)
	if !ok || outer.Lo != nil {
		return body
	}
	if outer.Range == loop.Vector {
		lanes := blockLanes
		for _, s := range outer.Body {
			if _, nested := s.(*loop.Loop); nested {
				lanes = 64 // each lane does much
			}
		}
		return loop.Split(outer, b.variable("block", ir.Dim{}), lanes)
	}
	for {
		n, static := outer.Hi.AsInt()
		inner, ok := outer.Body[0].(*loop.Loop)
		if !static || n >= fewTasks || len(outer.Body) != 1 || !ok || inner.Range != loop.Serial || inner.Lo != nil {
			break
		}
		outer = loop.Flatten(outer, inner)
	}
	outer.Range = loop.Global
	return []loop.Stmt{outer}
}

// groupName tells what a kernel does: its operations in short.
func groupName(g *group) string {
	var parts []string
	for _, m := range g.members {
		if len(parts) == 4 {
			parts = append(parts, "more")
			break
		}
		parts = append(parts, m.Op.String())
	}
	return strings.Join(parts, "_")
}

// nodesOf lists what a kernel computes: its members, what it inlines, and outputs that
// reshape what it stores.
func (s *partition) nodesOf(g *group) []*ir.Node {
	in := map[*ir.Node]bool{}
	var nodes []*ir.Node
	var walk func(n *ir.Node)
	walk = func(n *ir.Node) {
		if in[n] {
			return
		}
		in[n], nodes = true, append(nodes, n)
		for _, x := range n.In {
			if !in[x] && (!s.isBuffer(x) || g.spine[x]) && x.Op != ir.Const {
				walk(x)
			}
		}
	}
	for _, m := range g.members {
		walk(m)
	}
	for _, n := range s.g.Outputs { // views of what it stores
		of := inMemory(n)
		if of.Op == ir.Get {
			of = of.In[0]
		}
		for ; in[of] && !in[n]; n = n.In[0] {
			in[n], nodes = true, append(nodes, n)
		}
	}
	slices.SortFunc(nodes, func(a, b *ir.Node) int { return a.ID - b.ID }) // as in the graph
	return nodes
}
