// Package x86 turns kernels into machine code for AVX-512 and AVX2. It is
// pure: it needs no processor of the kind, nor one that runs x86 code at all.
//
// A kernel becomes instructions on virtual registers (vcode.go), built by
// walking its statements (nest.go); then registers are given out (alloc.go)
// and the instructions assembled (write.go). The expression emitter between is
// open to hand-written templates through Fragment (fragment.go).
package x86

import (
	"fmt"

	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/loop"
)

// ISA is the instruction set that code may use.
type ISA = asm.ISA

// AVX512 is F, BW, DQ and VL; AVX2 goes with FMA, F16C and BMI2. Both need BMI2.
const (
	AVX2   = asm.AVX2
	AVX512 = asm.AVX512
)

// Code is one kernel in machine code, position independent, to be placed at a
// multiple of 64.
type Code struct {
	Text       []byte
	SpillBytes int   // of scratch memory that each running call needs
	Streams    []int // params with stores past the caches, whose addresses must be multiples of StreamAlign

	asm    *asm.Asm
	chains map[*loop.Local]int // see accumulates
}

// Listing is the code as text: offset, bytes, instruction.
func (c *Code) Listing() string { return c.asm.Listing() }

// Emit writes the machine code of k, which loop.Check accepts.
func Emit(k *loop.Kernel, isa ISA) (*Code, error) {
	code, _, err := emit(k, isa, emitOptions{})
	return code, err
}

type emitOptions struct {
	stream bool // stores past the caches, as a second form
	finish int  // of a kernel behind tiles: the word of their arguments; else 0
}

func emit(k *loop.Kernel, isa ISA, o emitOptions) (code, streaming *Code, err error) {
	plan := map[*loop.Loop]laneMode{}
	for {
		e := newEmitter(k, isa, plan)
		e.finishArgs = o.finish
		if o.stream {
			e.streamable = e.onlyWritten()
		}
		e.kernel()
		if e.giveUp != nil { // plan has changed
			continue
		}
		if e.err != nil {
			return nil, nil, fmt.Errorf("kernel %q: %w", k.Name, e.err)
		}
		code, streaming, err = e.finish()
		if err != nil {
			return nil, nil, fmt.Errorf("kernel %q: %w", k.Name, err)
		}
		return code, streaming, nil
	}
}

// emitter builds the virtual code of one kernel or fragment.
type emitter struct {
	isa       ISA
	k         *loop.Kernel
	a         *asm.Asm
	graph     *graph
	changes   map[*loop.Loop]deps
	symbols   map[string]int // words of the argument block
	layout    native.Layout
	fixedVars map[*loop.Var]reg       // variables from outside a fragment
	sets      map[*loop.Local]int     // how often a local is set or accumulated
	plan      map[*loop.Loop]laneMode // how Vector loops run
	giveUp    *loop.Loop              // a Vector loop whose plan was found not to do
	locals    map[*loop.Local]*local  // those with a value here
	bound     []*loop.Local           // keys of locals in the order they got one

	slab   instSlab
	tables [][]byte
	vregs  []vreg
	room   [classes]int // registers that weave may count on
	entry  *block       // pointers and constants: run first, once
	words  map[int]reg
	consts map[constKey]reg

	scopes    []*scope
	at        int  // the scope whose code is being written; see place
	early     bool // what is written is safe before loops that may not run
	lanes     lanes
	laneLocal uint64 // locals with a value for each lane

	finishArgs int // see emitOptions

	streamable uint64 // params that stores past the caches may go to
	streams    uint64 // those that have such stores
	chains     map[*loop.Local]int

	partial map[*loop.Local]*partials
	why     string // what made it give up
	err     error
}

// laneMode is how the iterations of a Vector loop are run. Where one turns out
// to have no code for something in the loop, the next is tried.
type laneMode uint8

const (
	maskedTail laneMode = iota // full registers, the rest masked
	scalarTail                 // full registers, the rest one by one
	oneByOne
)

type constKey struct {
	bits  uint64
	kind  operandKind
	class class
	elem  uint8
}

// lanes says how the innermost Vector loop runs at the moment.
type lanes struct {
	level  int // its scope; 0: none
	copies int // registers to a value
	mask   reg // the lanes of the last copy that count; 0: all
}

// tail is the mask of copy u, 0 for all lanes.
func (l *lanes) tail(u int) reg {
	if u == l.copies-1 {
		return l.mask
	}
	return 0
}

func newEmitter(k *loop.Kernel, isa ISA, plan map[*loop.Loop]laneMode) *emitter {
	e := &emitter{
		isa: isa, k: k, a: &asm.Asm{ISA: isa}, graph: native.NewGraph(), plan: plan,
		changes: map[*loop.Loop]deps{}, sets: map[*loop.Local]int{}, chains: map[*loop.Local]int{}, locals: map[*loop.Local]*local{},
		vregs: make([]vreg, 1, 256), entry: &block{}, words: map[int]reg{}, consts: map[constKey]reg{},
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
	e.room[vec], e.room[mask] = 30, 7
	if e.isa == AVX2 {
		e.room[vec] = 12
	}
	e.stmts(e.k.Body)
}

// finish gives out registers and assembles, a second time for the form with
// stores past the caches if there is any.
func (e *emitter) finish() (plain, streaming *Code, err error) {
	list := e.scopes[0].body.flatten(e.entry.flatten(make([]*inst, 0, 1024)))
	w, err := allocate(e, list, kernelFiles(e.isa))
	if err != nil {
		return nil, nil, err
	}
	if plain, err = w.assemble(list); err != nil {
		return nil, nil, err
	}
	if plain.chains = e.chains; e.streams == 0 {
		return plain, nil, nil
	}
	w.stream(list)
	if streaming, err = w.assemble(list); err != nil {
		return nil, nil, err
	}
	streaming.chains = e.chains
	for p := range e.k.Params {
		if e.streams&e.graph.ParamBit(p) != 0 {
			streaming.Streams = append(streaming.Streams, p)
		}
	}
	return plain, streaming, nil
}

// stopped tells that nothing emitted from here on matters.
func (e *emitter) stopped() bool { return e.err != nil || e.giveUp != nil }

func (e *emitter) unsupported(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf("%w: %s", native.ErrUnsupported, fmt.Sprintf(format, args...))
	}
}

// needOneLane has the Vector loop around, or its rest, run lane by lane: the
// way out for whatever has no vector form. Without such a loop it is an error.
func (e *emitter) needOneLane(format string, args ...any) {
	if e.stopped() {
		return
	}
	if !e.inVector() {
		e.unsupported(format, args...)
		return
	}
	next := oneByOne
	if e.lanes.mask != 0 { // the full registers before the masked rest were fine
		next = scalarTail
	}
	e.abandonLanes(e.scopes[e.lanes.level].loop, next, fmt.Sprintf(format, args...))
}

// abandonLanes ends this attempt; the next runs l as given.
func (e *emitter) abandonLanes(l *loop.Loop, next laneMode, why string) {
	if e.stopped() {
		return
	}
	e.giveUp, e.why = l, why
	if e.plan != nil {
		e.plan[l] = max(next, e.plan[l]+1)
	}
}

// wide is the number of 32-bit lanes of a full register.
func (e *emitter) wide() int {
	if e.isa == AVX512 {
		return 16
	}
	return 8
}
