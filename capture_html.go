package sinter

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"strconv"

	"github.com/sinterml/sinter/internal/ir"
)

const pageHead = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>graph</title>
<style>
body { font: 14px monospace; margin: 2em }
td, th { padding: 0.1em 1em 0.1em 0; text-align: left; vertical-align: top }
tr:target { background: #ffd }
</style>
</head>
<body>
`

// HTML writes the graph as a page: a row for each operation, which its users
// link to, with the values that are there by now. It never evaluates.
func (g *Graph) HTML(w io.Writer) error {
	if w == nil {
		return errNilWriter
	}
	var b bytes.Buffer
	b.WriteString(pageHead)
	if err := g.Err(); err != nil {
		fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(err.Error()))
	} else {
		g.writeTable(&b)
	}
	b.WriteString("</body>\n</html>\n")
	_, err := w.Write(b.Bytes())
	return err
}

func (g *Graph) writeTable(b *bytes.Buffer) {
	b.WriteString("<table>\n<tr><th></th><th>operation</th><th>operands</th><th>type</th><th>values</th></tr>\n")
	for i, n := range g.graph.Nodes {
		op := n.Op.String()
		if n.Op.HasLeaf() && n.Op != ir.Assign {
			if name := g.graph.Leaves[n.Attr.Leaf].Name; name != "" {
				op += " " + strconv.Quote(name)
			}
		}
		fmt.Fprintf(b, "<tr id=\"n%d\"><td>%%%d</td><td>%s</td><td>", i, i, html.EscapeString(op))
		writeLinks(b, n.In)
		fmt.Fprintf(b, "</td><td>%s</td><td>%s</td></tr>\n", html.EscapeString(n.Type.String()), html.EscapeString(g.values[i].preview()))
	}
	b.WriteString("</table>\n<p>outputs: ")
	writeLinks(b, g.graph.Outputs)
	b.WriteString("</p>\n")
}

func writeLinks(b *bytes.Buffer, nodes []*ir.Node) {
	for i, n := range nodes {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(b, "<a href=\"#n%d\">%%%d</a>", n.ID, n.ID)
	}
}
