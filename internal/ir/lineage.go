package ir

import "slices"

// lineage notes, while a graph is rebuilt, which old nodes each new one
// descends from:
//
//   - the one in whose turn it was made;
//   - every other that was found to be equal to it, or that has become one that
//     was made in the same turn and reads it: of products that were merged, the
//     merged one descends from all;
//   - those that nothing stands for any more, where it stands for what read
//     them: of a sum and its product, the fma descends from both.
//
// So every node of either graph has relatives in the other. A nil lineage notes
// nothing.
type lineage struct {
	old    *Graph
	b      *Builder
	turn   []int   // by number in the builder: the old node in whose turn it was made
	result []*Node // by old number
}

// maxHeirs bounds what stands for a node that is gone: a constant that was
// folded may have been part of everything.
const maxHeirs = 64

func newLineage(g *Graph, b *Builder) *lineage {
	return &lineage{old: g, b: b, result: make([]*Node, len(g.Nodes))}
}

// made ends the turn of old node i.
func (l *lineage) made(i int, n *Node) {
	if l == nil {
		return
	}
	for len(l.turn) < len(l.b.nodes) {
		l.turn = append(l.turn, i)
	}
	l.result[i] = n
}

// trace gives the finished graph its origins, in terms of those of the old one.
func (l *lineage) trace(g *Graph) *Graph {
	if l == nil {
		return g
	}
	turn := make([]int, len(g.Nodes)) // by number in g, which nodes have by now
	live := make(map[*Node]bool, len(g.Nodes))
	for _, n := range g.Nodes {
		live[n] = true
	}
	for at, n := range l.b.nodes { // in the order of the builder still
		if live[n] {
			turn[n.ID] = l.turn[at]
		}
	}
	heirs := make([][]int, len(l.old.Nodes)) // by old number: new nodes
	for i, n := range turn {
		heirs[n] = append(heirs[n], i)
	}
	for i, n := range l.result {
		if live[n] && turn[n.ID] != i {
			heirs[i] = append(heirs[i], sameTurn(n, turn)...)
		}
	}
	users := l.old.Users()
	for i := len(heirs) - 1; i >= 0; i-- {
		if live[l.result[i]] {
			continue
		}
		for _, u := range users[i] {
			heirs[i] = append(heirs[i], heirs[u.ID]...)
		}
		heirs[i] = sorted(heirs[i])
		heirs[i] = heirs[i][:min(len(heirs[i]), maxHeirs)]
	}
	own := l.old.Origins
	g.Origins = make([][]int, len(g.Nodes))
	for i, all := range heirs {
		for _, n := range all {
			g.Origins[n] = append(g.Origins[n], own[i]...)
		}
	}
	for i, from := range g.Origins {
		g.Origins[i] = sorted(from)
	}
	return g
}

// sameTurn lists n and what it needs among the nodes made in the same turn.
func sameTurn(n *Node, turn []int) []int {
	var all []int
	seen := map[*Node]bool{}
	var walk func(m *Node)
	walk = func(m *Node) {
		if seen[m] || turn[m.ID] != turn[n.ID] {
			return
		}
		seen[m] = true
		all = append(all, m.ID)
		for _, in := range m.In {
			walk(in)
		}
	}
	walk(n)
	return all
}

// Traced is g with each node as its own origin.
func (g *Graph) Traced() *Graph {
	traced := *g
	traced.Origins = make([][]int, len(g.Nodes))
	for i := range traced.Origins {
		traced.Origins[i] = []int{i}
	}
	return &traced
}

func sorted(v []int) []int {
	slices.Sort(v)
	return slices.Compact(v)
}
