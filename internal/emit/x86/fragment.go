package x86

import (
	"errors"
	"fmt"

	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/loop"
)

// Fragment emits statements in the middle of hand-written code: the prologue or
// epilogue of a template, with the expression emitter that generated kernels
// have. It is the seam between the two.
//
// The statements are Set, Acc and Store as they would stand in the body of a
// Vector loop over Lane. They are emitted for Copies full registers at once:
// lane j of copy u is the iteration Start + u*lanes + j. The code that comes
// out runs straight through; it changes the registers given to it as free, the
// flags, and nothing else.
//
// An epilogue of a tile of results calls Emit once a row, with Locals binding
// the accumulator to the row's registers and Vars binding the row's number:
//
//	f := Fragment{Asm: a, Kernel: k, Args: asm.RDI, Layout: native.LayoutOf(k), Lane: col, ...}
//	for i := range rows {
//		f.Vars[row] = At{Reg: firstRow, Plus: i}
//		f.Locals[acc] = accumulators[i]
//		err := f.Emit(epilogue)
//	}
type Fragment struct {
	Asm    *asm.Asm
	Kernel *loop.Kernel // whose Params the statements name; its Body is not looked at

	// Free are the registers that the code may change. Two or three more than
	// an expression seems to need avoid the spill area.
	Vectors  []asm.V
	Generals []asm.R
	Masks    []asm.K // AVX-512

	// Args points to words as Layout says; only Params, Symbols and Status are
	// used. Pointers in registers go by Params instead.
	Args    asm.R
	Layout  native.Layout
	Symbols map[string]int   // words of the symbols by name
	Params  map[int]asm.R    // params whose address is in a register
	Spill   asm.R            // with SpillBytes > 0: points to a spill area
	Offset  int              // of the part of the area that the fragment may use
	Room    int              // bytes of it; 0: nothing may be spilled
	Lane    *loop.Var        // the variable that differs from lane to lane
	Start   At               // its value in lane 0 of copy 0
	Vars    map[*loop.Var]At // the other variables
	Copies  int              // registers to a value; 0 means 1
	Tail    asm.Arg          // lanes of the last copy that count: an asm.K, with AVX2 an asm.V of ones and zeros; nil: all

	// Locals binds locals to registers that hold their lanes, one for each
	// copy; a local of one register is the same in all copies. They are not
	// free registers. A Set or Acc changes them.
	Locals map[*loop.Local][]asm.V
}

// At is an i64: a general register plus a constant.
type At struct {
	Reg  asm.R
	Plus int
}

// Emit emits the statements. ErrUnsupported is an error before anything was
// assembled, so that the caller can do without the fragment.
func (f *Fragment) Emit(body []loop.Stmt) error {
	e := f.emitter(body)
	if e.Err == nil {
		e.Stmts(body)
	}
	switch {
	case e.Err != nil:
		return e.Err
	case e.GiveUp != nil:
		return fmt.Errorf("%w: %s", native.ErrUnsupported, e.why)
	}
	code := e.Scopes[0].Body.Flatten(e.Entry.Flatten(nil))
	w, err := allocate(e, code, f.files())
	if err != nil {
		return err
	}
	if w.spillBytes() > f.Room {
		return fmt.Errorf("x86: a fragment needs %d bytes of spill area, not %d", w.spillBytes(), f.Room)
	}
	w.args, w.base, w.offset, w.based = f.Args, f.Spill, f.Offset, true
	w.code(code)
	return f.Asm.Err()
}

// emitter is set up as if inside the Vector loop over Lane.
func (f *Fragment) emitter(body []loop.Stmt) *emitter {
	k := &loop.Kernel{Name: f.Kernel.Name, Params: f.Kernel.Params, Slots: f.Kernel.Slots, Body: body}
	e := newEmitter(k, f.Asm.ISA, nil)
	e.a = f.Asm
	e.Symbols, e.Layout = f.Symbols, f.Layout
	for v, at := range f.Vars {
		e.bindVar(v, at)
	}
	if f.Lane == nil {
		e.Err = errors.New("x86: a fragment without a lane variable")
		return e
	}
	e.bindVar(f.Lane, f.Start)
	for p, x := range f.Params {
		e.Words[f.Layout.Params+p] = e.fixed(gpr, uint8(x))
	}
	lane := &loop.Loop{Var: f.Lane, Range: loop.Vector}
	s := native.NewScope[*inst](lane, e.FixedVars[f.Lane], deps{Vars: e.Graph.VarBit(f.Lane)})
	outer := native.NewScope[*inst](nil, 0, deps{})
	outer.Body.Items = []item{{Sub: s.Early}, {Sub: s.Pre}, {Sub: s.Body}}
	e.Scopes = []*native.Scope[*inst]{outer, s}
	e.At = 1
	e.Lanes = native.Lanes{Level: 1, Copies: max(1, f.Copies)}
	switch t := f.Tail.(type) {
	case asm.K:
		e.Lanes.Mask = e.fixed(mask, uint8(t))
	case asm.V:
		e.Lanes.Mask = e.fixed(vec, uint8(t))
	}
	for l, regs := range f.Locals {
		e.bindLocal(l, regs)
	}
	return e
}

func (e *emitter) bindVar(v *loop.Var, at At) {
	if e.FixedVars == nil {
		e.FixedVars, e.Graph.Plus = map[*loop.Var]reg{}, map[*loop.Var]int64{}
	}
	e.FixedVars[v] = e.fixed(gpr, uint8(at.Reg))
	e.Graph.Plus[v] = int64(at.Plus)
}

func (e *emitter) bindLocal(l *loop.Local, regs []asm.V) {
	bound := &native.Local{Lanes: true}
	for _, x := range regs {
		bound.Vals = append(bound.Vals, val{e.fixed(vec, uint8(x))})
	}
	e.Locals[l] = bound
	e.LaneLocal |= native.BitOf(e.Graph, e.Graph.Locals, l)
	e.Sets[l]++ // its registers may change: nothing else shares them
}

// fixed is a virtual register that stands for a physical one.
func (e *emitter) fixed(c class, p uint8) reg {
	x := e.NewReg(c)
	e.Regs[x].Fixed = int8(p)
	return x
}

// files are the free registers; the last of each kind serve for moving values
// to and from memory where the others do not suffice.
func (f *Fragment) files() native.Files {
	var all native.Files
	give := func(c class, regs []uint8) {
		all.Free[c] = native.SetOf(regs...)
		all.Scratch[c] = regs[max(0, len(regs)-3):]
	}
	give(vec, numbers(f.Vectors))
	give(gpr, numbers(f.Generals))
	give(mask, numbers(f.Masks))
	all.Base = uint8(f.Spill)
	all.Spills = f.Room > 0
	return all
}

func numbers[T ~uint8](regs []T) []uint8 {
	var all []uint8
	for _, x := range regs {
		all = append(all, uint8(x))
	}
	return all
}
