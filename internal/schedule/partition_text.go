package schedule

import (
	"fmt"
	"strings"
)

// Partition prints the nodes that each kernel computes, and under them why it
// is not one with the kernels that it reads from, if the plan was to explain.
func (p *Plan) Partition() string {
	var b strings.Builder
	edges := p.Edges // by kernel that reads
	for i, k := range p.Kernels {
		p.writeHead(&b, i, k)
		b.WriteString("\n")
		for _, n := range k.Nodes {
			fmt.Fprintf(&b, "  %v\n", n)
		}
		for len(edges) > 0 && edges[0].To == i {
			e := edges[0]
			edges = edges[1:]
			fmt.Fprintf(&b, "  # reads b%d, %%%d, of k%d: %s; %s\n", e.Buffer, p.Buffers[e.Buffer].Node.ID, e.From, e.Kept, e.Apart)
		}
	}
	return b.String()
}

// writeHead writes a kernel's number, name and arguments.
func (p *Plan) writeHead(b *strings.Builder, i int, k *Kernel) {
	fmt.Fprintf(b, "k%d ", i)
	if k.Constant {
		b.WriteString("constant ")
	}
	fmt.Fprintf(b, "%s(", k.Name)
	for j, a := range k.Args {
		if j > 0 {
			b.WriteString(", ")
		}
		if a < 0 {
			b.WriteString("scratch")
		} else {
			fmt.Fprintf(b, "b%d", a)
		}
	}
	b.WriteString(")")
}
