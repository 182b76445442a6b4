package arm64

import (
	"github.com/sinterml/sinter/internal/loop"
)

// access is how the lanes of a value lie in a buffer.
type access struct {
	index  *poly // in elements, of lane 0 of copy 0
	lane   bool  // differs from lane to lane
	stride *poly // elements from lane to lane; nil if that differs
}

// accessOf finds how index moves with the lanes.
func (e *emitter) accessOf(index *node) access {
	a := access{index: e.graph.PolyOf(index)}
	if e.varies(index) {
		a.lane = true
		a.stride, _ = a.index.Stride(e.scopes[e.lanes.level].loop.Var, e.differs())
	}
	return a
}

// unit tells whether lanes lie one after the other.
func (a *access) unit() bool {
	if a.stride == nil {
		return false
	}
	c, ok := a.stride.Constant()
	return ok && c == 1
}

// address is a pointer and a displacement in bytes.
type address struct {
	base reg
	disp int64
}

// address is where copy u of an access begins.
func (e *emitter) address(param int, a access, u int) address {
	index := a.index
	if a.stride != nil && u > 0 {
		index = index.Plus(a.stride, int64(u*wide))
	}
	return e.pointer(param, index)
}

// farthest is what all accesses reach without more instructions.
const farthest = 4095

// pointer is the address of element index. Copies, and accesses near each other,
// share the pointer and differ in the displacement.
func (e *emitter) pointer(param int, index *poly) address {
	p := index.Scaled(int64(e.k.Params[param].DType.Size()))
	near := p.C & farthest
	if -256 <= p.C && p.C < 0 {
		near = p.C
	}
	return address{e.base(param, &poly{C: p.C - near, Monos: p.Monos}), near}
}

// base is the buffer's address plus p bytes; each summand is added in the
// outermost loop in which it does not change.
func (e *emitter) base(param int, p *poly) reg {
	buffer := e.word(e.layout.Params + param)
	if len(p.Monos) == 0 && p.C == 0 {
		return buffer
	}
	level := 0
	for _, m := range p.Monos {
		level = max(level, e.monoDepth(m))
	}
	return e.keyed(p, 'p', param, level, func() reg {
		outer, here, _ := e.split(p)
		x := buffer
		if len(here.Monos) > 0 && len(outer.Monos) > 0 {
			x = e.base(param, outer)
		} else {
			here = p
		}
		for _, m := range here.Monos {
			x = e.plusMono(x, m)
		}
		return e.addTo(x, p.C)
	})
}

// element is the address of a scalar load.
func (e *emitter) element(n *node) address {
	return e.pointer(n.Param, e.graph.PolyOf(n.Operands[0]))
}

// bodyMeasure looks through the body of a Vector loop.
type bodyMeasure struct {
	e          *emitter
	nodes      map[*node]bool
	operations int
	held       int  // locals, which occupy registers throughout
	scattered  bool // lanes of some access do not lie one after the other
}

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
		return 1 // memory decides
	}
	const registers = 28
	const longBody = 48 // as many operations fill a core's window by themselves
	copies := 4
	for copies > 1 && (m.held*copies+4 > registers || m.operations*copies > 4*longBody) {
		copies /= 2
	}
	for copies > 1 && t.static && t.n < int64(copies*wide) {
		copies /= 2
	}
	return copies
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
	if n.Kind == loop.KindLoad {
		m.access(n.Operands[0])
		return
	}
	if n.Kind == loop.KindApply && computable(n.DType) {
		m.operations++
	}
	for _, a := range n.Operands {
		m.node(a)
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
			m.held++
		case *loop.Acc:
			m.visit(s.Value)
			m.held++
		case *loop.Store:
			m.visit(s.Value)
			m.visit(s.Valid)
			m.access(m.e.graph.Node(s.Index))
		}
	}
}
