package inspect

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/rewrite"
)

// firstGraph fills the stage of the graph that was handed in.
func (b *builder) firstGraph(stage *Stage, g *ir.Graph) {
	for i, n := range g.Nodes {
		node := b.node(g, n)
		if b.f.Values != nil {
			node.Values = b.texts.number(b.f.Values[i])
		}
		stage.Nodes = append(stage.Nodes, node)
	}
}

// nextGraph fills the stage of a graph with what it is beside the one before.
func (b *builder) nextGraph(stage *Stage, s Step, before *ir.Graph) {
	kept := make([]bool, len(before.Nodes))
	for i, n := range s.Graph.Nodes {
		from := s.Graph.Origins[i]
		at := slices.IndexFunc(from, func(o int) bool { return !kept[o] && sameOperation(s.Graph, n, before, before.Nodes[o]) })
		var node Node
		if at >= 0 {
			kept[from[at]] = true
			stage.Kept++
			node = Node{Copy: 1 + from[at], In: inputs(n)}
			if len(from) == 1 {
				from = nil
			}
		} else {
			stage.Made++
			node = b.node(s.Graph, n)
			node.Rule = b.texts.number(s.By[n])
		}
		node.From = from
		stage.Nodes = append(stage.Nodes, node)
	}
	for i, k := range kept {
		if !k {
			stage.Removed = append(stage.Removed, i)
		}
	}
}

// node is what a node of g is by itself.
func (b *builder) node(g *ir.Graph, n *ir.Node) Node {
	node := Node{In: inputs(n), Op: b.texts.number(n.Op.String()), Type: b.texts.number(typeText(n))}
	attr := n.Attr
	if n.Op.HasLeaf() {
		node.Leaf, attr.Leaf = 1+g.Leaves[attr.Leaf].Number, 0
	}
	node.Attr = b.texts.number(attr.String())
	return node
}

func inputs(n *ir.Node) []int {
	var in []int
	for _, x := range n.In {
		in = append(in, x.ID)
	}
	return in
}

// typeText is the type of all results.
func typeText(n *ir.Node) string {
	if len(n.Outs) == 0 {
		return n.Type.String()
	}
	all := make([]string, len(n.Outs))
	for i, t := range n.Outs {
		all[i] = t.String()
	}
	return strings.Join(all, ", ")
}

// sameOperation tells whether two nodes of two graphs differ in their operands
// at most.
func sameOperation(g *ir.Graph, n *ir.Node, h *ir.Graph, m *ir.Node) bool {
	if n.Op != m.Op || !n.Type.Equal(m.Type) || len(n.In) != len(m.In) {
		return false
	}
	a, b := n.Attr, m.Attr
	if n.Op.HasLeaf() {
		if g.Leaves[a.Leaf].Number != h.Leaves[b.Leaf].Number {
			return false
		}
		a.Leaf, b.Leaf = 0, 0
	}
	return string(a.Append(nil)) == string(b.Append(nil))
}

// rulesOf sorts rules by how often they applied.
func rulesOf(applied map[string]int) []Rule {
	if len(applied) == 0 {
		return nil
	}
	reasons := map[string]string{}
	for _, p := range rewrite.Passes() {
		for _, r := range p.Rules {
			reasons[r.Name] = r.Reason
		}
	}
	var rules []Rule
	for name, n := range applied {
		rules = append(rules, Rule{name, reasons[name], n})
	}
	slices.SortFunc(rules, func(x, y Rule) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), strings.Compare(x.Name, y.Name))
	})
	return rules
}
