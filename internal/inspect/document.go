// Package inspect holds what is known of a program at each stage of compiling,
// as one document: nodes and where they come from, kernels and why they are
// apart, memory over time, a measured run. Pages and texts that show a program
// are made of it.
package inspect

// Document is the facts about one program. It is written as compact JSON: lists
// refer to one another by position, and every text that repeats is a number into
// Strings, where 0 is "".
type Document struct {
	Title     string   `json:"title,omitempty"`
	Device    string   `json:"device,omitempty"`
	Precision string   `json:"precision,omitempty"` // what products compute in
	Off       []string `json:"off,omitempty"`       // optimisations that were switched off
	// Missing says in a sentence each what is not here, and why.
	Missing []string `json:"missing,omitempty"`
	Symbols []Symbol `json:"symbols,omitempty"`

	Leaves []Leaf  `json:"leaves"` // by number in the graph that was captured
	Stages []Stage `json:"stages"` // in their order, trace to code
	// Kernels are those of the plan, in the order they run.
	Kernels []Kernel `json:"kernels,omitempty"`
	Codes   []Code   `json:"codes,omitempty"` // that kernels share
	Edges   []Edge   `json:"edges,omitempty"`
	Buffers []Buffer `json:"buffers,omitempty"` // of the plan: what kernels read and write
	Memory  *Memory  `json:"memory,omitempty"`
	Run     *Run     `json:"run,omitempty"`

	Strings []string `json:"strings"`
}

// Symbol is a size that a run brings.
type Symbol struct {
	Name string `json:"name"`
	Min  int64  `json:"min"`
	Max  int64  `json:"max"`
	At   *int   `json:"at,omitempty"` // what it is in Memory, Kernels and Buffers
}

// Leaf is a value from outside.
type Leaf struct {
	Kind  string `json:"kind"` // input, bound, weight, variable
	Name  string `json:"name"` // shortened if very long
	Type  int    `json:"type"` // a string, f32[n 64]
	Bytes int64  `json:"bytes,omitempty"`
}

// Stage is the program after one step of compiling. The first ones are graphs:
// "trace", then "define" and a step for each pass, or passes that run together
// ("fold+simplify+sink"). "partition", "plan", "loops" and "code" show Kernels.
type Stage struct {
	Name string `json:"name"`
	Doc  string `json:"doc,omitempty"`
	// Same tells that the step left the graph as it was: it has no Nodes, those
	// of the stage before are still the program's.
	Same  bool   `json:"same,omitempty"`
	Off   bool   `json:"off,omitempty"`   // the step was switched off
	Rules []Rule `json:"rules,omitempty"` // that applied

	Nodes   []Node   `json:"nodes,omitempty"`
	Outputs []int    `json:"outputs,omitempty"` // nodes
	Repeats []Repeat `json:"repeats,omitempty"`
	// What the step did to the nodes of the graph before: Gone nodes of that have
	// no copy here (Removed lists them), Made nodes of this are no copies.
	Kept    int   `json:"kept,omitempty"`
	Made    int   `json:"made,omitempty"`
	Removed []int `json:"removed,omitempty"` // nodes of the graph before
}

// Rule is a rewrite rule that applied, pass/rule.
type Rule struct {
	Name   string `json:"name"`
	Reason string `json:"reason,omitempty"`
	Count  int    `json:"count"`
}

// Node is an operation of a graph; its number is its place in Stage.Nodes.
type Node struct {
	// Copy is 1 + the number of the node of the graph before that this one is
	// again, perhaps over other operands: all but In is the same there, and left
	// out here. 0: it was made by this step, from From.
	Copy int   `json:"c,omitempty"`
	In   []int `json:"i,omitempty"` // operands
	// From are nodes of the graph before that it was made of, in place of
	// others; it is left out where it would be Copy alone.
	From []int `json:"f,omitempty"`

	Op     int `json:"o,omitempty"` // a string
	Type   int `json:"t,omitempty"` // a string, f32[n 64]; several results: "f32[n 64], f32[n]"
	Attr   int `json:"a,omitempty"` // a string, axes=[1]
	Leaf   int `json:"l,omitempty"` // 1 + number of the leaf it reads or assigns
	Rule   int `json:"r,omitempty"` // a string: the rule that made it, where one did
	Values int `json:"v,omitempty"` // a string: the first of its values, where they are there
}

// Repeat is a group of nodes that comes several times, one after the other: such
// as the layers of a model. Part k is the nodes Starts[k] to Starts[k+1]-1; in
// the stage "partition", kernels.
type Repeat struct {
	Starts []int    `json:"starts"`          // one more than parts
	Names  []string `json:"names,omitempty"` // of each part, after the weights it reads, "encoder.layer.3"
}

// Kernel is a step of the plan; its number is its place in Kernels.
type Kernel struct {
	Name   int    `json:"name"`             // a string
	Kind   string `json:"kind"`             // loops, gemm, attention, attention gradient, host
	Nodes  []int  `json:"nodes"`            // of the last graph, what it computes, in order
	Reads  []int  `json:"reads,omitempty"`  // buffers
	Writes []int  `json:"writes,omitempty"` // buffers
	// Constant kernels depend on weights alone: they run once for a set of them.
	Constant bool `json:"constant,omitempty"`
	Again    bool `json:"again,omitempty"`   // it runs another kernel's work again instead of keeping it
	InPlace  bool `json:"inplace,omitempty"` // it writes variables where they lie
	Code     int  `json:"code"`              // its code in Codes

	// Work at the sizes of Symbol.At: multiplications and additions of matrix
	// products on numbers of Format, other operations, and bytes that it has to
	// read and write; 0 where that depends on values.
	Products   float64 `json:"products,omitempty"`
	Format     string  `json:"format,omitempty"` // f32, bf16, int8
	Operations float64 `json:"operations,omitempty"`
	Read       float64 `json:"read,omitempty"`
	Written    float64 `json:"written,omitempty"`
}

// Code is how a kernel is done, shared by kernels that do the same.
type Code struct {
	Loops   string `json:"loops,omitempty"`   // of a template: what it means
	Generic bool   `json:"generic,omitempty"` // no machine code: Go closures
	Tile    string `json:"tile,omitempty"`    // of a template: rows x columns of the tile kernel
	// Parts is its machine code: one part for loops; of a template its main loop
	// and what is around that.
	Parts []Part `json:"parts,omitempty"`
}

// Part is a piece of machine code.
type Part struct {
	Name  int    `json:"name"` // a string
	Bytes int    `json:"bytes"`
	Text  string `json:"text"` // offset, bytes and instruction, a line each
}

// Edge says why a kernel does not do what another one reads from it.
type Edge struct {
	From   int `json:"from"` // kernels
	To     int `json:"to"`
	Buffer int `json:"buffer"`
	// Kept is why the value is in memory, Apart why the reader is a kernel of its
	// own; strings, either may be "".
	Kept  int `json:"kept,omitempty"`
	Apart int `json:"apart,omitempty"`
}

// Buffer is memory that kernels read and write.
type Buffer struct {
	Kind   string `json:"kind"`             // leaf, output, temp, constant (kept with the weights), interim (between constant kernels)
	Leaf   int    `json:"leaf,omitempty"`   // 1 + number in Leaves
	Output int    `json:"output,omitempty"` // 1 + number of the output
	Node   int    `json:"node"`             // of the last graph, whose value it holds; -1: of none
	Type   int    `json:"type"`             // a string, f32[64*n]
	Bytes  int64  `json:"bytes,omitempty"`  // at the sizes of Symbol.At
	// First and Last are kernels between which a temp holds its value, both
	// included; Last may be the number of kernels, where it is looked at when
	// the run has ended.
	First int `json:"first,omitempty"`
	Last  int `json:"last,omitempty"`
	// Offset is where a temp lies in the arena, in bytes, and Room what it takes
	// there: sizes are rounded up.
	Offset int64 `json:"offset,omitempty"`
	Room   int64 `json:"room,omitempty"`
}

// Memory is the memory of a run at the sizes of Symbol.At, in bytes.
type Memory struct {
	Arena int64 `json:"arena"` // that all temps share
	// Live is what temps take during each kernel; Peak is the kernel at which
	// that is most.
	Live   []int64 `json:"live"`
	Peak   int     `json:"peak"`
	AtPeak []int   `json:"at_peak"` // temps that hold values then, the largest first

	Leaves   int64 `json:"leaves"`             // weights, variables, inputs and what is bound
	Outputs  int64 `json:"outputs"`            // but for variables that change in place
	Constant int64 `json:"constant,omitempty"` // results of constant kernels, kept with the weights
	Packed   int64 `json:"packed,omitempty"`   // weights in the order that products read, kept with them
}

// Run is what was measured.
type Run struct {
	Seconds float64 `json:"seconds"` // of a run, on average
	Runs    int     `json:"runs"`
	Kernels []Timed `json:"kernels"`
	// Limits of the machine that shares were taken of: operations a second by
	// format, and bytes a second from memory.
	Peaks     map[string]float64 `json:"peaks,omitempty"`
	Bandwidth float64            `json:"bandwidth,omitempty"`
	// Timeline is one run.
	Timeline []Event `json:"timeline,omitempty"`
}

// Timed is a kernel in a run, averages over all runs.
type Timed struct {
	Kernel  int     `json:"kernel"`
	Seconds float64 `json:"seconds"`
	Share   float64 `json:"share,omitempty"` // of what the machine could do; 0: not known
	GFlops  float64 `json:"gflops,omitempty"`
	GBytes  float64 `json:"gbytes,omitempty"` // a second
	Tasks   int     `json:"tasks,omitempty"`
	// Format is that of products, if there are some, Mixed tells that there are
	// other operations too. Read and Written are bytes of a run.
	Format  string  `json:"format,omitempty"`
	Mixed   bool    `json:"mixed,omitempty"`
	Read    float64 `json:"read,omitempty"`
	Written float64 `json:"written,omitempty"`
	// ByMemory tells that the share is of the bandwidth, not of arithmetic.
	ByMemory bool `json:"by_memory,omitempty"`
}

// Event is a kernel in the timeline, in microseconds from the start of the run.
type Event struct {
	Kernel   int     `json:"kernel"`
	Begin    float64 `json:"begin"`
	Duration float64 `json:"duration"`
}
