package x86

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// chooseCopies is how many registers each value of the loop has: several hide
// the latency of accumulating, and of loads in short bodies. It depends on the
// kernel and its static sizes alone, as the order of sums does.
func (e *emitter) chooseCopies(l *loop.Loop, t trip) int {
	m := bodyMeasure{e: e, nodes: map[*node]bool{}}
	outer := e.lanes
	e.lanes = lanes{level: e.top(), copies: 1}
	m.stmts(l.Body)
	e.lanes = outer
	if m.scattered {
		return 1 // memory decides, and each copy would need pointers of its own
	}
	registers, masks := 28, 3
	if e.isa == AVX2 {
		registers, masks = 12, 12
	}
	const longBody = 48 // as many operations fill a core's window by themselves
	copies := 4
	for copies > 1 && (m.held*copies+4 > registers || m.masks*copies > masks || m.operations*copies > 4*longBody) {
		copies /= 2
	}
	for copies > 1 && t.static && t.n < int64(copies*e.wide()) {
		copies /= 2
	}
	return copies
}

// bodyMeasure looks through the body of a Vector loop.
type bodyMeasure struct {
	e          *emitter
	nodes      map[*node]bool
	operations int
	held       int  // locals, which occupy registers throughout
	masks      int  // those of them that are bool
	scattered  bool // lanes of some access do not lie one after the other
}

func (m *bodyMeasure) visit(x *loop.Expr) {
	if x != nil {
		m.node(m.e.graph.Node(x))
	}
}

func (m *bodyMeasure) node(n *node) {
	if m.nodes[n] {
		return
	}
	m.nodes[n] = true
	switch {
	case n.Kind == loop.KindLoad:
		m.access(n.Operands[0])
		return
	case n.Kind == loop.KindApply && n.DType != ir.I64:
		m.operations++
	}
	for _, a := range n.Operands {
		m.node(a)
	}
}

func (m *bodyMeasure) local(l *loop.Local) {
	m.held++
	if l.DType == ir.Bool {
		m.masks++
	}
}

func (m *bodyMeasure) access(index *node) {
	a := m.e.accessOf(index)
	m.scattered = m.scattered || a.lane && !a.unit()
}

func (m *bodyMeasure) stmts(body []loop.Stmt) {
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
			m.access(m.e.graph.Node(s.Index))
		}
	}
}
