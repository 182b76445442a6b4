package ir

import "strconv"

// String prints the graph, one node a line, in a form that Parse reads back.
// It is the same for equal graphs in every process.
func (g *Graph) String() string {
	b := []byte("graph\n")
	for _, s := range g.Symbols() {
		b = append(append(b, "symbol "...), s.Name...)
		b = strconv.AppendInt(append(b, ' '), s.Min, 10)
		b = strconv.AppendInt(append(b, ' '), s.Max, 10)
		b = append(b, '\n')
	}
	for i, l := range g.Leaves {
		b = strconv.AppendInt(append(b, "leaf "...), int64(i), 10)
		b = append(append(b, ' '), l.Kind.String()...)
		b = strconv.AppendQuote(append(b, ' '), l.Name)
		b = append(l.Type.Append(append(b, ' ')), '\n')
	}
	for _, n := range g.Nodes {
		b = append(n.Append(b), '\n')
	}
	return string(append(g.appendOutputs(b), '\n'))
}

// Append appends the node's line: %3 = add %1 %2 : f32[4].
func (n *Node) Append(b []byte) []byte {
	b = append(appendRef(b, n), " = "...)
	b = append(b, n.Op.String()...)
	for _, in := range n.In {
		b = appendRef(append(b, ' '), in)
	}
	b = append(n.Attr.Append(b), " : "...)
	if len(n.Outs) == 0 {
		return n.Type.Append(b)
	}
	for i, t := range n.Outs {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = t.Append(b)
	}
	return b
}

func (n *Node) String() string { return string(n.Append(nil)) }

func appendRef(b []byte, n *Node) []byte {
	return strconv.AppendInt(append(b, '%'), int64(n.ID), 10)
}

func (g *Graph) appendOutputs(b []byte) []byte {
	b = append(b, "return"...)
	for _, o := range g.Outputs {
		b = appendRef(append(b, ' '), o)
	}
	return b
}
