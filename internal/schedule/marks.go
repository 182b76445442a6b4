package schedule

import "github.com/sinterml/sinter/internal/ir"

// marks is a set of nodes of one graph, by ID, that costs nothing to empty: searches
// through a long graph are many, and most of them short.
type marks struct {
	round []int // by ID: when the node was added last
	now   int   // from 1 on
}

func newMarks(nodes int) marks { return marks{make([]int, nodes), 1} }

func (m *marks) empty() { m.now++ }

func (m *marks) has(n *ir.Node) bool { return m.round[n.ID] == m.now }

// add tells whether n was not there.
func (m *marks) add(n *ir.Node) bool {
	if m.has(n) {
		return false
	}
	m.round[n.ID] = m.now
	return true
}
