package nn

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/sinterml/sinter"
)

// Summary is a table of what a net keeps: names, shapes, numbers of elements
// and bytes, and their totals; with outputs of the net, also the operations
// that they take. A variable that has several names counts once, and what is
// not trained is marked.
func Summary(net any, outputs ...sinter.Tensor) string {
	all, err := State(net)
	if err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "name\tshape\telements\tbytes")
	first := map[*sinter.Variable]string{}
	var trained, state, bytes int
	for _, p := range all {
		x := p.Variable.Tensor()
		n := 1
		for _, s := range sizesOf(p.Variable) {
			n *= s
		}
		size := n * x.DType().Size()
		mark := "" // behind the last column
		if p.State {
			mark = "\tstate"
		}
		if other, tied := first[p.Variable]; tied {
			mark = "\t= " + other
		} else {
			first[p.Variable] = p.Name
			bytes += size
			if p.State {
				state += n
			} else {
				trained += n
			}
		}
		fmt.Fprintf(w, "%s\t%v%v\t%d\t%d%s\n", p.Name, x.DType(), sizesOf(p.Variable), n, size, mark)
	}
	w.Flush()
	fmt.Fprintf(&b, "%d parameters", trained)
	if state > 0 {
		fmt.Fprintf(&b, " and %d elements of state", state)
	}
	fmt.Fprintf(&b, ", %d bytes\n", bytes)
	if len(outputs) > 0 {
		g := sinter.Capture(outputs...)
		if err := g.Err(); err != nil {
			fmt.Fprintf(&b, "no operations: %v\n", err)
		} else {
			fmt.Fprintf(&b, "%v operations forward\n", g.Operations())
		}
	}
	return b.String()
}
