package main

import (
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

// measureStages puts the texts that a device traced in order.
func measureStages(texts map[string]string, info sinter.ProgramInfo) []stage {
	var stages []stage
	for _, name := range stageNames {
		text := texts[name]
		if text == "" {
			continue
		}
		s := stage{Name: name, text: text}
		switch name {
		case "trace", "simplify":
			s.Nodes, s.Bytes = countNodes(text), weightBytes(text)
		case "partition", "plan", "loops":
			s.Nodes, s.Kernels = countNodes(texts["simplify"]), info.Kernels
		case "code":
			s.Kernels, s.Bytes = info.Kernels, info.CodeBytes
		}
		stages = append(stages, s)
	}
	return stages
}

// countNodes counts the operations of a printed graph, a line each.
func countNodes(text string) int { return strings.Count(text, "\n%") }

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
