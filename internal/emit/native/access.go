package native

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Access is how the lanes of a value lie in a buffer.
type Access struct {
	Index  *Poly // in elements, of lane 0 of copy 0
	Lane   bool  // differs from lane to lane
	Stride *Poly // elements from lane to lane; nil if that differs
}

// AccessOf finds how index moves with the lanes.
func (b *Builder[I]) AccessOf(index *Node) Access {
	a := Access{Index: b.Graph.PolyOf(index)}
	if b.Varies(index) {
		a.Lane = true
		a.Stride, _ = a.Index.Stride(b.Scopes[b.Lanes.Level].Loop.Var, b.differs())
	}
	return a
}

// Unit tells whether lanes lie one after the other.
func (a *Access) Unit() bool {
	if a.Stride == nil {
		return false
	}
	c, ok := a.Stride.Constant()
	return ok && c == 1
}

// From is the index of so many lanes further.
func (a *Access) From(lane int) *Poly {
	if a.Stride == nil || lane == 0 {
		return a.Index
	}
	return a.Index.Plus(a.Stride, int64(lane))
}

// Body says what a copy of the body of a Vector loop takes.
type Body struct {
	Operations int  // on lanes, of types that are counted, those of 8 bytes twice
	Locals     int  // which occupy registers throughout
	Masks      int  // those of them that are bool
	Pairs      int  // those of them that have lanes of 8 bytes
	Scattered  bool // lanes of some access do not lie one after the other
}

// ChooseCopies is how many registers each value of the innermost scope, a Vector
// loop of registers of so many lanes, has: several hide the latency of
// accumulating, and of loads in short bodies. It depends on the kernel and its
// static sizes alone, as the order of sums does. fits tells whether so many
// copies find registers; operations are counted on the types that counts names.
func (b *Builder[I]) ChooseCopies(t Trip, wide int, counts func(ir.DType) bool, fits func(copies int, body Body) bool) int {
	m := measure[I]{b: b, counts: counts, nodes: map[*Node]bool{}}
	outer := b.Lanes
	b.Lanes = Lanes{Level: b.Top(), Copies: 1}
	m.stmts(b.Scopes[b.Top()].Loop.Body)
	b.Lanes = outer
	if m.Scattered {
		return 1 // memory decides, and each copy would need pointers of its own
	}
	const longBody = 48 // as many operations fill a core's window by themselves
	copies := 4
	for copies > 1 && (!fits(copies, m.Body) || m.Operations*copies > 4*longBody) {
		copies /= 2
	}
	for copies > 1 && t.Static && t.N < int64(copies*wide) {
		copies /= 2
	}
	return copies
}

// measure looks through the body of a Vector loop.
type measure[I Inst] struct {
	Body
	b      *Builder[I]
	counts func(ir.DType) bool
	nodes  map[*Node]bool
}

func (m *measure[I]) visit(x *loop.Expr) {
	if x != nil {
		m.node(m.b.Graph.Node(x))
	}
}

func (m *measure[I]) node(n *Node) {
	if m.nodes[n] {
		return
	}
	m.nodes[n] = true
	switch {
	case n.Kind == loop.KindLoad:
		m.access(n.Operands[0])
		return
	case n.Kind == loop.KindApply && m.counts(n.DType):
		m.Operations += max(1, n.DType.Size()/4)
	}
	for _, a := range n.Operands {
		m.node(a)
	}
}

func (m *measure[I]) local(l *loop.Local) {
	m.Locals++
	switch {
	case l.DType == ir.Bool:
		m.Masks++
	case l.DType.Size() == 8:
		m.Pairs++
	}
}

func (m *measure[I]) access(index *Node) {
	a := m.b.AccessOf(index)
	m.Scattered = m.Scattered || a.Lane && !a.Unit()
}

func (m *measure[I]) stmts(body []loop.Stmt) {
	for _, s := range body {
		switch s := s.(type) {
		case *loop.Loop:
			m.stmts(s.Body)
		case *loop.Set:
			m.visit(s.Value)
			m.local(s.Local)
		case *loop.Acc:
			m.visit(s.Value)
			m.local(s.Local)
		case *loop.Store:
			m.visit(s.Value)
			m.visit(s.Valid)
			m.access(m.b.Graph.Node(s.Index))
		}
	}
}
