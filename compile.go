package sinter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/sinterml/sinter/internal/device"
	pipeline "github.com/sinterml/sinter/internal/device/compile"
	"github.com/sinterml/sinter/internal/ir"
)

// Options say how to compile. The zero value is the best device, as written,
// everything on.
type Options struct {
	Device *Device // nil: the best
	// Precision is what products compute in; 0 is F32.
	Precision Precision
	// NoOpt names optimisations to leave out; "all" leaves out every one. A name
	// that is none is an error, on devices that optimise nothing too.
	NoOpt []string
	// Trace, if set, is given the text of each stage of compiling.
	Trace func(stage, text string)
	// Check runs the checker of each stage.
	Check bool
}

// compiled is a program without what its leaves are bound to, so that graphs
// that differ only in that share it.
type compiled struct {
	device  *Device
	graph   *ir.Graph // no storages; outputs distinct, none a leaf
	module  device.Module
	offsets []offsetsUse
	symbols []ir.Symbol
	options device.Options // without Trace
	refs    int            // guarded by device.programs.mu
	listed  bool           // one of them is the list's; guarded likewise
}

// Program is a compiled graph. It may run from many goroutines at once.
type Program struct {
	*compiled
	precision              Precision
	leaves                 []ir.Leaf // with storages
	outputs                []output
	inputs                 []int        // leaves that are inputs
	variables              []*Variable  // by leaf; nil: something else
	assigns                []*Variable  // by output of the compiled graph; nil: no assignment
	assigned               []assignment // in the order in which all programs lock variables
	readsVariables, ragged bool         // a symbol is the last of offsets
	lends                  bool         // the storages of assigned variables go to tensors
	users                  users
	spare                  spare
	cleanup                runtime.Cleanup // releases what nobody closed
}

// assignment is a variable that a program assigns.
type assignment struct {
	variable     *Variable
	leaf, output int  // of the compiled graph
	inPlace      bool // the device may write over the old version
}

// output says where a result comes from: from output at of the compiled graph,
// or from leaf at.
type output struct {
	leaf bool
	at   int
	typ  ir.Type
}

// Compile turns a graph into a program for one device. Graphs that are equal
// but for the values they are bound to share the work.
func Compile(g *Graph, o Options) (*Program, error) {
	return compile(context.Background(), g, o)
}

func compile(ctx context.Context, g *Graph, o Options) (*Program, error) {
	if err := g.Err(); err != nil {
		return nil, err
	}
	precision, err := products(o.Precision)
	if err != nil {
		return nil, err
	}
	if err := pipeline.CheckSwitches(o.NoOpt); err != nil {
		return nil, fmt.Errorf("NoOpt: %w", err)
	}
	d := o.Device
	if d == nil {
		best, err := deviceFor(g.graph)
		if err != nil {
			return nil, err
		}
		d = best
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	graph := g.graph
	switch {
	case o.Precision == Int4:
		graph, err = packWeights(ctx, d, graph, o)
	case d.referee():
		graph, err = asAsked(graph, precision)
	}
	if err != nil {
		return nil, err
	}
	bare, outputs, leaves := split(graph)
	if err := errors.Join(checkAssigns(bare, leaves), checkBindable(bare, leaves)); err != nil {
		return nil, err
	}
	// Where all results are leaves the device runs nothing, which is no graph to check.
	check := o.Check && len(bare.Outputs) > 0
	do := device.Options{NoOpt: slices.Clone(o.NoOpt), Precision: precision, Trace: o.Trace, Check: check}
	c, err := d.programs.get(ctx, d, bare, do)
	if err != nil {
		return nil, err
	}
	p := &Program{compiled: c, precision: cmp.Or(o.Precision, F32), leaves: leaves, outputs: outputs}
	p.prepare()
	p.cleanup = runtime.AddCleanup(p, release, c)
	return p, nil
}

// prepare finds what every run asks for.
func (p *Program) prepare() {
	p.variables = make([]*Variable, len(p.leaves))
	found := map[string]bool{}
	for i, l := range p.leaves {
		if v, ok := l.Storage.(*Variable); ok {
			p.variables[i] = v
			p.readsVariables = true
		} else if l.Kind == ir.Input {
			p.inputs = append(p.inputs, i)
			for _, d := range l.Type.Shape {
				if s, _, ok := d.SymbolPlus(); ok {
					found[s.Name] = true
				}
			}
		}
	}
	p.ragged = slices.ContainsFunc(p.symbols, func(s ir.Symbol) bool { return !found[s.Name] })
	inPlace := p.module.Info().InPlace
	p.assigns = make([]*Variable, len(p.graph.Outputs))
	for i, n := range p.graph.Outputs {
		if n.Op == ir.Assign {
			v := p.variables[n.Attr.Leaf]
			p.assigns[i] = v
			p.assigned = append(p.assigned, assignment{v, n.Attr.Leaf, i, inPlace != nil && inPlace[i]})
		}
	}
	slices.SortFunc(p.assigned, func(a, b assignment) int { return cmp.Compare(a.variable.id, b.variable.id) })
}

// split separates what is compiled from what it is bound to: leaves without
// storages, each output once, no outputs that are leaves.
func split(g *ir.Graph) (bare *ir.Graph, outputs []output, leaves []ir.Leaf) {
	leaves = slices.Clone(g.Leaves)
	bare = &ir.Graph{Nodes: g.Nodes, Leaves: slices.Clone(g.Leaves)}
	for i := range bare.Leaves {
		bare.Leaves[i].Storage = nil
	}
	at := map[*ir.Node]int{}
	for _, n := range g.Outputs {
		if n.Op.HasLeaf() && n.Op != ir.Assign {
			outputs = append(outputs, output{true, n.Attr.Leaf, n.Type})
			continue
		}
		i, ok := at[n]
		if !ok {
			i = len(bare.Outputs)
			at[n] = i
			bare.Outputs = append(bare.Outputs, n)
		}
		outputs = append(outputs, output{false, i, n.Type})
	}
	return bare, outputs, leaves
}

// checkAssigns refuses two new values for one variable.
func checkAssigns(g *ir.Graph, leaves []ir.Leaf) error {
	seen := map[int]bool{}
	for _, n := range g.Outputs {
		if n.Op != ir.Assign {
			continue
		}
		if seen[n.Attr.Leaf] {
			return fmt.Errorf("variable %q is assigned twice by one program", leaves[n.Attr.Leaf].Name)
		}
		seen[n.Attr.Leaf] = true
	}
	return nil
}

// checkBindable makes sure that Run can find every size, and checks where
// offsets come from.
func checkBindable(g *ir.Graph, leaves []ir.Leaf) error {
	found := map[string]bool{}
	for _, l := range leaves {
		if l.Kind != ir.Input {
			continue
		}
		for _, d := range l.Type.Shape {
			if s, _, ok := d.SymbolPlus(); ok {
				found[s.Name] = true
			}
		}
		if isOffsets(l.Type) {
			found[rowsSymbol(l.Name)] = true
		}
	}
	var missing []string
	for _, s := range g.Symbols() {
		if !found[s.Name] {
			missing = append(missing, s.Name)
		}
	}
	if missing == nil {
		return nil
	}
	return fmt.Errorf("no input tells the size %s: give it to an Input as a dimension of its own", strings.Join(missing, ", "))
}

// ProgramInfo describes a compiled program.
type ProgramInfo struct {
	Device    string      // by name
	Kernels   int         // started by one run
	Constant  int         // that depend on weights alone: run once for a set of them
	CodeBytes int         // of generated code
	Generic   []string    // kernels that run without generated code
	Inputs    []InputInfo // that Run wants, in the order of the graph
}

// InputInfo is an input that Program.Run is to be given.
type InputInfo struct {
	Name  string
	DType DType
	Shape []Dim
}

// Info tells how the program will run.
func (p *Program) Info() ProgramInfo {
	if p == nil || p.compiled == nil {
		return ProgramInfo{}
	}
	i := p.module.Info()
	var inputs []InputInfo
	for _, l := range p.leaves {
		if l.Kind == ir.Input {
			inputs = append(inputs, InputInfo{l.Name, l.Type.DType, slices.Clone(l.Type.Shape)})
		}
	}
	return ProgramInfo{p.device.Name(), i.Kernels, i.Constant, i.CodeBytes, i.Generic, inputs}
}

// Close frees the program once what runs of it has ended.
func (p *Program) Close() error {
	if p == nil || p.compiled == nil {
		return errZeroProgram
	}
	if !p.users.close(func() { p.spare.drop(); release(p.compiled) }) {
		return errClosedProgram
	}
	p.cleanup.Stop()
	runtime.KeepAlive(p) // or the collector finds it dead, and the cleanup begins, before it has been stopped
	return nil
}

func release(c *compiled) { c.device.programs.release(c) }

var (
	errZeroProgram   = errors.New("the zero Program runs nothing: make one with Compile")
	errClosedProgram = fmt.Errorf("the program is %w", ErrClosed)
)
