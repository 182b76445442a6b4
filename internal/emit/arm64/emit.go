// Package arm64 turns kernels into machine code for NEON. It is pure: it needs
// no processor of the kind.
//
// A kernel becomes instructions on virtual registers (vcode.go), built by
// walking its statements (native.Builder, nest.go); then registers are given out
// and the instructions assembled (write.go). NEON has registers of four 32-bit
// lanes and no masks: what a loop leaves behind full registers is done one by
// one.
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
		if e.GiveUp != nil { // plan has changed
			continue
		}
		var code *Code
		err := e.Err
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
	native.Builder[*inst]
	a        *asm.Asm
	oneByOne map[*loop.Loop]bool // Vector loops that were found to have no vector form
	consts   map[[16]byte]reg
	partial  map[*loop.Local][]val // lanes that a Vector loop accumulates, by copy
}

func newEmitter(k *loop.Kernel, oneByOne map[*loop.Loop]bool) *emitter {
	e := &emitter{a: asm.New(), oneByOne: oneByOne, consts: map[[16]byte]reg{}}
	e.Builder = native.NewBuilder[*inst](k, e)
	return e
}

// kernel emits the whole body.
func (e *emitter) kernel() {
	if e.Err != nil {
		return
	}
	e.Stmts(e.Kernel.Body)
}

// finish gives out registers and assembles.
func (e *emitter) finish() (*Code, error) {
	list := e.Scopes[0].Body.Flatten(e.Entry.Flatten(make([]*inst, 0, 1024)))
	files := kernelFiles()
	places, err := native.Allocate(e.Regs, list, &files, [native.Classes]int{gpr: 8, vec: 16})
	if err != nil {
		return nil, err
	}
	w := &writer{e: e, a: e.a, files: files, places: places}
	return w.assemble(list)
}

// OneLane has the next attempt run l one by one.
func (e *emitter) OneLane(l *loop.Loop, _ string) {
	e.GiveUp = l
	e.oneByOne[l] = true
}
