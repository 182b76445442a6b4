// Package schedule turns a graph into kernels: it decides which nodes share
// one, lowers each kernel to loops or fits it to a template, orders them and
// plans their memory.
package schedule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// Plan is a program as kernels over buffers, in the order they run.
type Plan struct {
	Graph   *ir.Graph
	Buffers []Buffer
	Kernels []*Kernel
	// InPlace is, for each output, the variable (by number in Graph.Leaves)
	// whose memory may be bound to the output too, or -1. If it is for any, all
	// must be well when kernel Commit begins: from there on nothing fails.
	InPlace []int
	Commit  int
	Edges   []Edge // where asked for
}

// BufferKind says who owns a buffer's memory.
type BufferKind uint8

const (
	LeafBuffer     BufferKind = iota + 1 // bound to a leaf, read only
	OutputBuffer                         // bound to an output
	TempBuffer                           // in the run's arena
	ConstantBuffer                       // written by a constant kernel, kept with the weights
	InterimBuffer                        // between constant kernels
)

// Buffer is one array of a plan.
type Buffer struct {
	Kind        BufferKind
	Number      int // of the leaf or output
	DType       ir.DType
	Len         ir.Dim // elements
	First, Last int    // kernels between which a temp holds a value, both inclusive
	// Node is whose value it holds, Out which result of that; of parts of a
	// reduction, the reduction. Nil for leaves that nobody reads.
	Node *ir.Node
	Out  int
}

// Kernel is one step of a plan.
type Kernel struct {
	Name   string
	Work   Work
	Args   []int      // a buffer for each of Work's params; -1 for scratch
	Nodes  []*ir.Node // what it computes, in order
	Checks []Check    // one for each status word

	Constant bool // depends on weights alone: runs once for a set of them
	Again    bool // does what a kernel before it did, rather than that being kept

	group *group // nil: it copies an output
}

// Work is what a kernel does: *loop.Kernel, *template.Gemm,
// *template.Attention, *template.AttentionGrad or *Host.
type Work any

// Check tells what a status word that was set means: an index in Buffer that
// is outside Size; for IDiv and Mod, which have Buffer -1, a division by zero.
type Check struct {
	Op     ir.Op
	Buffer int
	Size   ir.Dim
}

// Host is a step that is no loop nest, run by a Go function of the device.
type Host struct {
	Params []loop.Param
	Node   *ir.Node // Sort
	Shape  ir.Shape // of the operand
	First  ir.Dim   // elements of a sorted line that are read, the first ones
}

// String tells hosts apart that do different work.
func (h *Host) String() string {
	return fmt.Sprintf("host %v %v : %v%v first %v\n", h.Node.Op, &h.Node.Attr, h.Node.DType, h.Shape, h.First)
}

// Options are the parts of scheduling that can be left out, by name in NoOpt:
// "fuse" (off: one kernel a node), "rows" (reductions that share their rows),
// "split" (reductions to few results in parts), "epilogue" (work after an
// anchor), "join" (a kernel stores its results side by side where that is what
// others read), "constants" (what depends on weights alone is computed apart),
// "keep" (and once, rather than in each run),
// "layout" (values lie in memory in the order in which products read them),
// "free-early" (kernels that free memory run early), "recompute" (norms run
// again where memory is scarce), "pack-memory" (temps share memory), "in-place"
// (variables change where they lie), "stagger" (passes over rows share a loop),
// "tuning" (kernels are as sinter tune found them to be the fastest), "warpgroups"
// (large products on GPUs that multiply matrices in shared memory do so) and
// "tensor-maps" (there a unit copies their operands that the driver has described
// to it), which devices look at.
type Options struct {
	NoOpt []string
	// Anchors lists the anchors the target has templates for; others must
	// have been replaced by their definitions before.
	Anchors map[ir.Op]bool
	// Half says that products and attentions take operands of f16 as they are,
	// before they are widened.
	Half bool
	// Unpacked says that products read weights as they lie in memory, in each run:
	// nobody packs them once.
	Unpacked bool

	// Explain asks for Plan.Edges.
	Explain bool

	limits *splitLimits // of tests; nil for the usual ones
}

// Switches are the names that NoOpt may hold.
var Switches = []string{"fuse", "rows", "split", "epilogue", "join", "constants", "keep", "layout", "free-early", "recompute", "pack-memory", "in-place", "stagger", "tuning", "warpgroups", "tensor-maps"}

func (o *Options) on(name string) bool {
	for _, n := range o.NoOpt {
		if n == name || n == "all" {
			return false
		}
	}
	return true
}

// Build schedules g.
func Build(g *ir.Graph, o Options) (*Plan, error) {
	s := newPartition(g, o)
	if o.Explain {
		s.refused = map[refusal]Apart{}
	}
	if err := s.run(); err != nil {
		return nil, fmt.Errorf("partition: %w", err)
	}
	p, err := s.lowerAll()
	if err != nil {
		return nil, err
	}
	if o.on("free-early") {
		p.orderForMemory()
	}
	if o.on("recompute") {
		p.recompute()
	}
	p.Commit = len(p.Kernels)
	if o.on("in-place") {
		p.commits()
	}
	p.lifetimes()
	if o.Explain {
		s.explain(p)
	}
	return p, nil
}

// String prints buffers and kernels.
func (p *Plan) String() string {
	var b strings.Builder
	b.WriteString("plan\n")
	for i, buf := range p.Buffers {
		fmt.Fprintf(&b, "b%d = ", i)
		switch buf.Kind {
		case LeafBuffer:
			fmt.Fprintf(&b, "leaf %d %q", buf.Number, p.Graph.Leaves[buf.Number].Name)
		case OutputBuffer:
			fmt.Fprintf(&b, "output %d", buf.Number)
			if p.Overwrites(buf.Number) >= 0 {
				fmt.Fprintf(&b, " in place of b%d", p.Overwrites(buf.Number))
			}
		case TempBuffer:
			fmt.Fprintf(&b, "temp live %d-%d", buf.First, buf.Last)
		case ConstantBuffer:
			b.WriteString("constant")
		case InterimBuffer:
			b.WriteString("interim")
		}
		fmt.Fprintf(&b, " %v[%v]\n", buf.DType, buf.Len)
	}
	for i, k := range p.Kernels {
		p.writeHead(&b, i, k)
		for _, n := range k.Nodes {
			fmt.Fprintf(&b, " %%%d:%v", n.ID, n.Op)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Overwrites is the leaf whose memory an output may be written over, or -1.
func (p *Plan) Overwrites(output int) int {
	if p.InPlace == nil {
		return -1
	}
	return p.InPlace[output]
}

// Shares says of each param of k, a kernel of the plan, whether its memory may be
// that of another: an old value that it reads, and the new one that it writes
// over it, each element once it was read. Nil: of none.
func (p *Plan) Shares(k *Kernel) []bool {
	var all []bool
	for to, a := range k.Args {
		if a < 0 || p.Buffers[a].Kind != OutputBuffer || p.Overwrites(p.Buffers[a].Number) < 0 {
			continue
		}
		from := slices.Index(k.Args, p.Overwrites(p.Buffers[a].Number))
		if from < 0 {
			continue
		}
		if all == nil {
			all = make([]bool, len(k.Args))
		}
		all[from], all[to] = true, true
	}
	return all
}

// Params are the buffers that the kernel's work takes.
func (k *Kernel) Params() []loop.Param {
	switch w := k.Work.(type) {
	case *loop.Kernel:
		return w.Params
	case *template.Gemm:
		return w.Params
	case *template.Attention:
		return w.Params
	case *template.AttentionGrad:
		return w.Params
	case *Host:
		return w.Params
	}
	return nil
}
