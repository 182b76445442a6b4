// Package compile is what devices that run plans have in common: the way from a
// graph to its plan, what a run is checked for before it starts, and how what
// kernels found wrong becomes an error.
package compile

import (
	"fmt"
	"slices"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/inspect"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/rewrite"
	"github.com/sinterml/sinter/internal/schedule"
)

// Target is what a device has kernels for.
type Target struct {
	// Templates are the anchors with a kernel of their own. All others but those
	// that are lowered to loops are replaced by their definitions.
	Templates map[ir.Op]bool
	// Windows is how products read those of convolutions.
	Windows ir.Windows
	// TurnProducts is as in rewrite.Options.
	TurnProducts bool
	// See schedule.Options.
	Half, Unpacked bool
	// Without names parts of scheduling that the device cannot follow.
	Without []string
}

// looped are the anchors that the scheduler lowers to loops.
var looped = map[ir.Op]bool{ir.Scan: true, ir.SegmentIDs: true, ir.SegmentReduce: true}

// Plan takes a graph through the stages that need no target: rewriting and
// scheduling for what a device has kernels for. look, if not nil, is told of each.
func Plan(g *ir.Graph, o device.Options, t Target, look *inspect.Compilation) (*schedule.Plan, error) {
	trace := func(stage string, s fmt.Stringer) {
		if o.Trace != nil {
			o.Trace(stage, s.String())
		}
	}
	trace("trace", g)
	g = look.Begin(NumberLeaves(g))
	noRewrite, noSchedule := splitSwitches(o.NoOpt)
	defined, err := rewrite.Lower(g, o.Precision, t.Windows, func(n *ir.Node) bool { return t.Templates[n.Op] || looped[n.Op] })
	if err != nil {
		return nil, fmt.Errorf("define: %w", err)
	}
	look.Defined(defined, defined == g)
	g, _, err = rewrite.Run(defined, rewrite.Options{NoOpt: noRewrite, Precision: o.Precision, TurnProducts: t.TurnProducts, Check: o.Check, Trace: o.Trace, Observe: look.Observer()})
	if err != nil {
		return nil, err
	}
	trace("simplify", g)
	noSchedule = append(noSchedule, t.Without...)
	plan, err := schedule.Build(g, schedule.Options{NoOpt: noSchedule, Anchors: t.Templates, Half: t.Half, Unpacked: t.Unpacked, Explain: look != nil || o.Trace != nil})
	if err != nil {
		return nil, err
	}
	// Always: it takes a thousandth of what Build does, and a kernel that reads
	// what no other has written yet would be wrong without a word.
	if err := plan.Check(); err != nil {
		return nil, fmt.Errorf("plan: %w: please report this", err)
	}
	if o.Trace != nil {
		o.Trace("partition", plan.Partition())
	}
	trace("plan", plan)
	return plan, nil
}

// NumberLeaves notes the place of each leaf in the graph that was handed in:
// passes drop leaves that nobody needs any more, and number the others anew.
func NumberLeaves(g *ir.Graph) *ir.Graph {
	numbered := *g
	numbered.Leaves = slices.Clone(g.Leaves)
	for i := range numbered.Leaves {
		numbered.Leaves[i].Number = i
	}
	return &numbered
}
