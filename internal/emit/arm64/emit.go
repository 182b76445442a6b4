// Package arm64 turns kernels into machine code for NEON. It is pure: it needs
// no processor of the kind.
//
// A kernel becomes instructions on virtual registers (vcode.go), built by
// walking its statements (nest.go); then registers are given out and the
// instructions assembled (write.go). NEON has registers of four 32-bit lanes and
// no masks: what a loop leaves behind full registers is done one by one.
package arm64

import (
	"fmt"

	"github.com/sinterml/sinter/internal/emit/arm64/asm"
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/loop"
)

// wide is the number of 32-bit lanes of a register.
const wide = 4

// Code is one kernel in machine code, position independent, to be placed at a
// multiple of 64.
type Code struct {
	Text       []byte
	SpillBytes int // of scratch memory that each running call needs

	asm *asm.Asm
}

// Listing is the code as text: offset, word, instruction.
func (c *Code) Listing() string { return c.asm.Listing() }

// Emit writes the machine code of k, which loop.Check accepts. The error is
// native.ErrUnsupported where there is none.
func Emit(k *loop.Kernel) (*Code, error) {
	plan := map[*loop.Loop]bool{}
	for {
		e := newEmitter(k, plan)
		e.kernel()
		if e.giveUp { // plan has changed
			continue
		}
		var code *Code
		err := e.err
		if err == nil {
			code, err = e.finish()
		}
		if err != nil {
			return nil, fmt.Errorf("arm64: kernel %q: %w", k.Name, err)
		}
		return code, nil
	}
}

// emitter builds the virtual code of one kernel.
type emitter struct {
	k        *loop.Kernel
	a        *asm.Asm
	graph    *native.Graph
	changes  map[*loop.Loop]deps
	symbols  map[string]int // words of the argument block
	layout   native.Layout
	sets     map[*loop.Local]int    // how often a local is set or accumulated
	oneByOne map[*loop.Loop]bool    // Vector loops that were found to have no vector form
	giveUp   bool                   // oneByOne has changed
	locals   map[*loop.Local]*local // those with a value here
	bound    []*loop.Local          // keys of locals in the order they got one

	vregs  []native.VReg[*inst]
	entry  *block // pointers and constants: run first, once
	words  map[int]reg
	consts map[[16]byte]reg

	scopes    []*scope
	at        int  // the scope whose code is being written; see place
	early     bool // what is written is safe before loops that may not run
	lanes     lanes
	laneLocal uint64 // locals with a value for each lane

	partial map[*loop.Local][]reg // lanes that a Vector loop accumulates, by copy
	err     error
}

// lanes says how the innermost Vector loop runs at the moment.
type lanes struct {
	level  int // its scope; 0: none
	copies int // registers to a value
}

func newEmitter(k *loop.Kernel, oneByOne map[*loop.Loop]bool) *emitter {
	e := &emitter{
		k: k, a: asm.New(), graph: native.NewGraph(), oneByOne: oneByOne,
		changes: map[*loop.Loop]deps{}, sets: map[*loop.Local]int{}, locals: map[*loop.Local]*local{},
		vregs: make([]native.VReg[*inst], 1, 256), entry: &block{}, words: map[int]reg{}, consts: map[[16]byte]reg{},
	}
	symbols := k.Symbols()
	e.symbols, e.layout = native.SymbolWords(len(k.Params), symbols), native.LayoutFor(len(k.Params), len(symbols))
	e.graph.Statements(k.Body, e.changes)
	e.countSets(k.Body)
	if e.graph.Full {
		e.unsupported("more than 64 loops, locals or buffers")
	}
	return e
}

func (e *emitter) countSets(body []loop.Stmt) {
	for _, s := range body {
		switch s := s.(type) {
		case *loop.Loop:
			e.countSets(s.Body)
		case *loop.Set:
			e.sets[s.Local]++
		case *loop.Acc:
			e.sets[s.Local]++
		}
	}
}

// kernel emits the whole body.
func (e *emitter) kernel() {
	if e.err != nil {
		return
	}
	e.scopes = []*scope{newScope(nil, 0, deps{})}
	e.stmts(e.k.Body)
}

// finish gives out registers and assembles.
func (e *emitter) finish() (*Code, error) {
	list := e.scopes[0].body.flatten(e.entry.flatten(make([]*inst, 0, 1024)))
	files := kernelFiles()
	places, err := native.Allocate(e.vregs, list, &files, [native.Classes]int{gpr: 8, vec: 16})
	if err != nil {
		return nil, err
	}
	w := &writer{e: e, a: e.a, files: files, places: places}
	return w.assemble(list)
}

// stopped tells that nothing emitted from here on matters.
func (e *emitter) stopped() bool { return e.err != nil || e.giveUp }

func (e *emitter) unsupported(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf("%w: %s", native.ErrUnsupported, fmt.Sprintf(format, args...))
	}
}

// needOneLane has the Vector loop around run lane by lane: the way out for
// whatever has no vector form. Without such a loop it is an error.
func (e *emitter) needOneLane(format string, args ...any) {
	switch {
	case e.stopped():
	case !e.inVector():
		e.unsupported(format, args...)
	default:
		e.oneByOne[e.scopes[e.lanes.level].loop] = true
		e.giveUp = true
	}
}
