package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sinterml/sinter/internal/ir"
)

// DOT draws the graph that kernels are made of in the language of Graphviz, a
// box around the nodes of each kernel. A node that several kernels compute
// stands in the first of them, which says so.
func (c *Compilation) DOT() string {
	g := c.Steps[len(c.Steps)-1].Graph
	in := make([][]int, len(g.Nodes)) // kernels
	if c.Plan != nil {
		for i, k := range c.Plan.Kernels {
			for _, n := range k.Nodes {
				in[n.ID] = append(in[n.ID], i)
			}
		}
	}
	var b strings.Builder
	b.WriteString("digraph {\n\tnode [shape=box]\n")
	for i, kernels := range in {
		if len(kernels) == 0 {
			writeNode(&b, "\t", g, g.Nodes[i], nil)
		}
	}
	if c.Plan != nil {
		for i, k := range c.Plan.Kernels {
			fmt.Fprintf(&b, "\tsubgraph cluster%d {\n\t\tlabel=%q\n", i, shorten(fmt.Sprintf("k%d %s", i, k.Name), maxName))
			for _, n := range k.Nodes {
				if in[n.ID][0] == i {
					writeNode(&b, "\t\t", g, n, in[n.ID][1:])
				}
			}
			b.WriteString("\t}\n")
		}
	}
	for i, n := range g.Nodes {
		for _, x := range n.In {
			fmt.Fprintf(&b, "\tn%d -> n%d%s\n", x.ID, i, c.tooltip(in[x.ID], in[i]))
		}
	}
	for i, n := range g.Outputs {
		fmt.Fprintf(&b, "\tout%d [shape=ellipse]\n\tn%d -> out%d\n", i, n.ID, i)
	}
	b.WriteString("}\n")
	return b.String()
}

// tooltip says of an edge why it leads from one of these kernels to one of those.
func (c *Compilation) tooltip(from, to []int) string {
	if c.Plan == nil || len(from) == 0 || len(to) == 0 {
		return ""
	}
	for _, e := range c.Plan.Edges {
		if !slices.Contains(from, e.From) || !slices.Contains(to, e.To) {
			continue
		}
		var why []string
		for _, reason := range []string{e.Kept, e.Apart} {
			if reason != "" {
				why = append(why, reason)
			}
		}
		return fmt.Sprintf(" [tooltip=%q]", shorten(strings.Join(why, "; "), maxText))
	}
	return ""
}

func writeNode(b *strings.Builder, indent string, g *ir.Graph, n *ir.Node, also []int) {
	label := n.Op.String()
	if n.Op.HasLeaf() && n.Op != ir.Assign {
		label += " " + shorten(g.Leaves[n.Attr.Leaf].Name, maxName)
	}
	label += "\n" + shorten(typeText(n), maxText)
	if len(also) > 0 {
		label += "\nalso in"
		for _, k := range also[:min(len(also), 8)] {
			label += fmt.Sprintf(" k%d", k)
		}
	}
	fmt.Fprintf(b, "%sn%d [label=%q]\n", indent, n.ID, label)
}
