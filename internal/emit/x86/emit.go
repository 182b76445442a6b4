// Package x86 turns kernels into machine code for AVX-512 and AVX2. It is
// pure: it needs no processor of the kind, nor one that runs x86 code at all.
//
// A kernel becomes instructions on virtual registers (vcode.go), built by
// walking its statements (native.Builder, nest.go); then registers are given out
// (alloc.go) and the instructions assembled (write.go). The expression emitter
// between is open to hand-written templates through Fragment (fragment.go).
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
	stream  bool // stores past the caches, as a second form
	finish  int  // of a kernel behind tiles: the word of their arguments; else 0
	vectors int  // of those tiles; else 0
}

func emit(k *loop.Kernel, isa ISA, o emitOptions) (code, streaming *Code, err error) {
	plan := map[*loop.Loop]laneMode{}
	for {
		e := newEmitter(k, isa, plan)
		e.finishArgs, e.vectors = o.finish, o.vectors
		if o.stream {
			e.streamable = e.onlyWritten()
		}
		e.kernel()
		if e.GiveUp != nil || e.again { // plan has changed
			continue
		}
		if e.Err != nil {
			return nil, nil, fmt.Errorf("kernel %q: %w", k.Name, e.Err)
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
	native.Builder[*inst]
	isa  ISA
	a    *asm.Asm
	plan map[*loop.Loop]laneMode // how Vector loops run

	slab   instSlab
	tables [][]byte
	room   [classes]int // registers that weave may count on
	consts map[constKey]reg

	finishArgs int // see emitOptions
	vectors    int

	streamable uint64 // params that stores past the caches may go to
	streams    uint64 // those that have such stores
	chains     map[*loop.Local]int

	partial map[*loop.Local]*partials
	why     string // what made it give up
	apart   bool   // nothing is accumulated: no loop needs what another leaves in registers
	again   bool   // a loop gave up
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

func newEmitter(k *loop.Kernel, isa ISA, plan map[*loop.Loop]laneMode) *emitter {
	e := &emitter{isa: isa, a: &asm.Asm{ISA: isa}, plan: plan, chains: map[*loop.Local]int{}, consts: map[constKey]reg{}}
	e.Builder = native.NewBuilder[*inst](k, e)
	e.apart = !loop.Accumulates(k.Body)
	return e
}

// kernel emits the whole body.
func (e *emitter) kernel() {
	if e.Err != nil {
		return
	}
	e.Weave = e.weave
	e.room[vec], e.room[mask] = 30, 7
	if e.isa == AVX2 {
		e.room[vec] = 12
	}
	e.Stmts(e.Kernel.Body)
}

// finish gives out registers and assembles, a second time for the form with
// stores past the caches if there is any.
func (e *emitter) finish() (plain, streaming *Code, err error) {
	list := e.Scopes[0].Body.Flatten(e.Entry.Flatten(make([]*inst, 0, 1024)))
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
	for p := range e.Kernel.Params {
		if e.streams&e.Graph.ParamBit(p) != 0 {
			streaming.Streams = append(streaming.Streams, p)
		}
	}
	return plain, streaming, nil
}

// OneLane has what masks cannot do run as scalars, and then the whole loop.
func (e *emitter) OneLane(l *loop.Loop, why string) {
	next := oneByOne
	if e.Lanes.Mask != 0 { // the full registers before the masked rest were fine
		next = scalarTail
	}
	e.abandonLanes(l, next, why)
}

// abandonLanes ends this attempt; the next runs l as given.
func (e *emitter) abandonLanes(l *loop.Loop, next laneMode, why string) {
	if e.Stopped() {
		return
	}
	e.GiveUp, e.why = l, why
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
