package schedule

import "github.com/sinterml/sinter/internal/ir"

// marks is a set of nodes of one graph, by ID, that costs nothing to empty: searches
// through a long graph are many, and most of them short.
type marks struct {
	round []int // by ID: when the node was added last
	now   int
}

// empty is also what makes a set ready, for a graph of n nodes.
func (m *marks) empty(n int) {
	if len(m.round) < n {
		m.round, m.now = make([]int, n), 0
	}
	m.now++
}

func (m *marks) has(n *ir.Node) bool { return m.round[n.ID] == m.now }

// add tells whether n was not there.
func (m *marks) add(n *ir.Node) bool {
	if m.has(n) {
		return false
	}
	m.round[n.ID] = m.now
	return true
}
