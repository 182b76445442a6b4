package inspect

import (
	"context"
	"strings"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/rewrite"
	"github.com/sinterml/sinter/internal/schedule"
)

// Compilation is what a device notes while it compiles a graph, for who wants
// to look at it. The zero value is ready.
type Compilation struct {
	Steps  []Step // the first is the graph that was handed in
	Plan   *schedule.Plan
	Codes  []Compiled
	CodeOf []int // of each kernel of the plan: in Codes
	Apart  bool  // temps do not share memory
	// Product tells how a kernel that is a matrix product runs at given sizes;
	// nil: nobody knows.
	Product func(kernel int, env ir.Env) (p Product, ok bool)
}

// Step is a graph, and how it came from the one before.
type Step struct {
	Name, Doc string
	// Graph has Origins in the graph before; in the first step none. It is that
	// graph where Same is set.
	Graph *ir.Graph
	Same  bool
	Rules map[string]int
	By    map[*ir.Node]string // the rule that made a node
}

// Looker is a device that can show how it compiles: the Compilation is that of
// CompileGraph with the same options, whose result is thrown away.
type Looker interface {
	Look(ctx context.Context, g *ir.Graph, o device.Options) (*Compilation, error)
}

// Begin notes the graph that is compiled, and gives it back to be followed.
func (c *Compilation) Begin(g *ir.Graph) *ir.Graph {
	if c == nil {
		return g
	}
	c.Steps = []Step{{Name: "trace", Doc: "operations as they were asked for", Graph: g}}
	return g.Traced()
}

// Defined notes the graph without anchors that the device has no kernel for.
func (c *Compilation) Defined(g *ir.Graph, same bool) {
	if c != nil {
		c.Steps = append(c.Steps, Step{Name: "define", Doc: "operations that the device has no kernel for become others", Graph: g, Same: same})
	}
}

// Observer is what the passes are to tell of their steps; nil where nobody asks.
func (c *Compilation) Observer() func(rewrite.Stat, *ir.Graph) {
	if c == nil {
		return nil
	}
	docs := map[string]string{}
	for _, p := range rewrite.Passes() {
		docs[p.Name] = p.Doc
	}
	return func(s rewrite.Stat, g *ir.Graph) {
		c.Steps = append(c.Steps, Step{Name: s.Step, Doc: docOf(s.Step, docs), Graph: g, Same: len(s.Rules) == 0, Rules: s.Rules, By: s.By})
	}
}

// docOf says what a step does: its passes, one after the other.
func docOf(step string, docs map[string]string) string {
	var all []string
	for name := range strings.SplitSeq(step, "+") {
		all = append(all, docs[name])
	}
	return strings.Join(all, "; ")
}

// Product is how a matrix product runs.
type Product struct {
	Tile   string       // what its innermost loop computes at once
	Main   CompiledPart // that loop
	Packed int64        // bytes of a constant operand as it is read, 0: it may change
	From   []int        // params of the kernel that this is made from
	Layout string       // products with equal ones of the same buffers share it
}

// Compiled is the code of one or more kernels.
type Compiled struct {
	Loops   string
	Generic bool
	Parts   []CompiledPart
}

// CompiledPart is a piece of machine code.
type CompiledPart struct {
	Name, Text string
	Bytes      int
}
