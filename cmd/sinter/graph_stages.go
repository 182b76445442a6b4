package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/sinterml/sinter"
)

// stage is the text of one stage and what can be counted in it.
type stage struct {
	Name    string `json:"name"`
	Nodes   int    `json:"nodes"`   // operations of the graph
	Kernels int    `json:"kernels"` // started by a run
	Bytes   int    `json:"bytes"`   // of weights (trace, simplify) or machine code (code)
	text    string
}

// measureStages puts the texts that a device traced in order. Partition is
// made from the plan, which names the nodes of each kernel.
func measureStages(texts map[string]string, info sinter.ProgramInfo) []stage {
	if texts["plan"] != "" {
		texts["partition"] = partition(texts["simplify"], texts["plan"])
	}
	var stages []stage
	for _, name := range stageNames {
		text := texts[name]
		if text == "" {
			continue
		}
		s := stage{Name: name, text: text}
		switch name {
		case "trace", "simplify":
			s.Nodes, s.Bytes = len(graphNodes(text)), weightBytes(text)
		case "partition", "plan", "loops":
			s.Nodes, s.Kernels = len(graphNodes(texts["simplify"])), info.Kernels
		case "code":
			s.Kernels, s.Bytes = info.Kernels, info.CodeBytes
		}
		stages = append(stages, s)
	}
	return stages
}

var nodeLine = regexp.MustCompile(`(?m)^(%\d+) = .*$`)

// graphNodes finds the line of each node, by its name, in a printed graph.
func graphNodes(text string) map[string]string {
	nodes := map[string]string{}
	for _, m := range nodeLine.FindAllStringSubmatch(text, -1) {
		nodes[m[1]] = m[0]
	}
	return nodes
}

var (
	kernelLine = regexp.MustCompile(`(?m)^k\d+ .*$`)
	kernelNode = regexp.MustCompile(` (%\d+):\w+`)
)

// partition prints under the head of each kernel the nodes that it does.
func partition(graph, plan string) string {
	nodes := graphNodes(graph)
	var b strings.Builder
	for _, line := range kernelLine.FindAllString(plan, -1) {
		head, _, _ := strings.Cut(line, " %")
		fmt.Fprintln(&b, head)
		for _, m := range kernelNode.FindAllStringSubmatch(line, -1) {
			fmt.Fprintf(&b, "  %s\n", nodes[m[1]])
		}
	}
	return b.String()
}

var (
	weightLine = regexp.MustCompile(`(?m)^leaf \d+ weight ".*" (\w+)\[([\d ]*)\]$`)
	typeBits   = regexp.MustCompile(`\d+$`)
)

// weightBytes adds up the weights that a printed graph reads.
func weightBytes(text string) int {
	total := 0
	for _, m := range weightLine.FindAllStringSubmatch(text, -1) {
		n := 1 // bool
		if bits, err := strconv.Atoi(typeBits.FindString(m[1])); err == nil {
			n = bits / 8
		}
		for size := range strings.FieldsSeq(m[2]) {
			if k, err := strconv.Atoi(size); err == nil {
				n *= k
			}
		}
		total += n
	}
	return total
}
