// Package ptxsim runs PTX on the processor, for tests of what this house emits
// where there is no GPU. It takes the part of the language that emitters here
// write, and is strict where a GPU is lenient: an access outside of memory, a
// misaligned one, a barrier that some threads of a block miss, accesses of two
// threads to one place of shared memory without a barrier between, warp-wide
// instructions in a diverged warp are errors that name the instruction.
// Registers and memory start with garbage.
package ptxsim

import (
	"fmt"
	"sort"
)

// Module is a program of PTX text.
type Module struct {
	Version   string // of the language
	Target    string
	functions map[string]*Function
	dynamic   string // the name of shared memory whose size a launch tells
}

// Function is an entry point.
type Function struct {
	Name    string
	Params  []Param
	Shared  int // bytes of shared memory that it declares
	Threads int // that a block has at most, 0: not said
	module  *Module
	args    int // bytes
	local   int // bytes of memory of a thread
	code    []step
	rows    int // registers of all types but predicates
	preds   int
	consts  []constant
	special map[string]int // rows of special registers
	dynamic bool           // uses shared memory whose size a launch tells
	unit    int            // bytes of the narrowest access to shared memory
	loads   int            // instructions that remember where they were last
	phased  bool           // has barriers of phases, or wgmma
	sums    []int          // registers that wgmma adds to or reads
}

// Param is an argument of an entry point: Size bytes at Offset of the block of
// all arguments.
type Param struct {
	Name         string
	Offset, Size int
}

// Function finds an entry point.
func (m *Module) Function(name string) (*Function, error) {
	if f, ok := m.functions[name]; ok {
		return f, nil
	}
	return nil, fmt.Errorf("ptxsim: no entry point %s", name)
}

// Functions lists the entry points' names in order.
func (m *Module) Functions() []string {
	var all []string
	for name := range m.functions {
		all = append(all, name)
	}
	sort.Strings(all)
	return all
}

// ArgBytes is the size of the block of all arguments.
func (f *Function) ArgBytes() int { return f.args }

// constant is a row that holds one value in all lanes.
type constant struct {
	row   int
	value uint64
}

// Fault is an error while a kernel runs.
type Fault struct {
	Kernel string
	Line   int    // of the text
	Text   string // of the instruction
	Block  [3]uint32
	Thread int
	What   string
}

func (f *Fault) Error() string {
	return fmt.Sprintf("ptxsim: %s: line %d %q, block %v, thread %d: %s", f.Kernel, f.Line, f.Text, f.Block, f.Thread, f.What)
}
