package arm64

import (
	"errors"

	"github.com/sinterml/sinter/internal/emit/arm64/asm"
	"github.com/sinterml/sinter/internal/emit/native"
)

// Code is entered with the address of the argument block in X0, 8-byte words in
// the order of native.Layout. It is a leaf that never moves SP and keeps X18,
// X28, X29 and X30; all other registers are its own.
const (
	argsReg  = asm.X(0)
	farReg   = asm.X(16) // addresses that do not fit an access
	spillReg = asm.X(27)
)

// kernelFiles are the registers that are given out.
func kernelFiles() native.Files {
	f := native.Files{Base: uint8(spillReg), Spills: true}
	f.Free[gpr] = (1<<28 - 1) &^ native.SetOf(uint8(argsReg), uint8(farReg), 18)
	f.Free[vec] = 0xFFFFFFFF
	f.Scratch[gpr] = []uint8{17, 15, 14, 13}
	f.Scratch[vec] = []uint8{31, 30, 29, 28}
	return f
}

// writer assembles code whose registers have their places.
type writer struct {
	e      *emitter
	a      *asm.Asm
	files  native.Files
	places *native.Places
	used   [native.Classes]int // scratch registers the instruction uses so far
	err    error
}

// assemble writes a whole kernel.
func (w *writer) assemble(list []*inst) (*Code, error) {
	if w.places.Bytes > 0 {
		w.a.Op(asm.LDR, spillReg, asm.Ptr(argsReg, 8*native.WordSpill))
	}
	for _, in := range list {
		w.used = [native.Classes]int{}
		w.inst(in)
	}
	w.a.Op(asm.RET)
	if w.err != nil {
		return nil, w.err
	}
	text, err := w.a.Finish()
	if err != nil {
		return nil, err
	}
	return &Code{Text: text, SpillBytes: (w.places.Bytes + 63) &^ 63, asm: w.a}, nil
}

func (w *writer) inst(in *inst) {
	if in.dst != 0 && w.places.At[in.dst] == native.InMemory && w.e.Regs[in.dst].Anew == in {
		return // made anew at each use
	}
	switch in.kind {
	case labelHere:
		w.a.Bind(in.label)
	case jump:
		w.a.Op(asm.B, in.label)
	case jumpIf:
		w.a.Op(asm.BCOND, in.cond, in.label)
	case jumpZero:
		w.a.Op(asm.CBZ, asm.X(w.get(in.src[0])), in.label)
	case loopStart, loopEnd:
	case moveReg:
		w.move(in.dst, in.src[0])
	default:
		w.plain(in)
	}
}

// takeScratch is a register to hold a value from memory for one instruction.
func (w *writer) takeScratch(c class) uint8 {
	if w.used[c] == len(w.files.Scratch[c]) {
		w.err = errors.New("an instruction with too many values in memory")
		return 0
	}
	p := w.files.Scratch[c][w.used[c]]
	w.used[c]++
	return p
}

// get is the register that holds x, loaded if need be.
func (w *writer) get(x reg) uint8 {
	if p := w.places.At[x]; p >= 0 {
		return uint8(p)
	}
	p := w.takeScratch(w.e.Regs[x].Class)
	w.loadTo(p, x)
	return p
}

// loadTo loads x, which is in memory or can be made anew, to a register.
func (w *writer) loadTo(p uint8, x reg) {
	v := &w.e.Regs[x]
	switch {
	case v.Anew != nil:
		w.write(v.Anew, p, nil)
	case v.Class == vec:
		w.a.Op(asm.LDRVQ, asm.V(p), w.slot(x))
	default:
		w.a.Op(asm.LDR, asm.X(p), w.slot(x))
	}
}

func (w *writer) slot(x reg) asm.Mem { return asm.Ptr(spillReg, int(w.places.Slot[x])) }

// store writes the result p of an instruction back if it lives in memory.
func (w *writer) store(x reg, p uint8) {
	switch {
	case w.places.At[x] != native.InMemory:
	case w.e.Regs[x].Class == vec:
		w.a.Op(asm.STRVQ, asm.V(p), w.slot(x))
	default:
		w.a.Op(asm.STR, asm.X(p), w.slot(x))
	}
}

func (w *writer) move(dst, src reg) {
	d := w.places.At[dst]
	switch {
	case d == native.InMemory:
		w.store(dst, w.get(src))
	case w.places.At[src] == native.InMemory:
		w.loadTo(uint8(d), src)
	default:
		w.copy(w.e.Regs[dst].Class, uint8(d), uint8(w.places.At[src]))
	}
}

func (w *writer) copy(c class, d, s uint8) {
	switch {
	case d == s:
	case c == vec:
		w.a.Op(asm.ORR16B, asm.V(d), asm.V(s), asm.V(s))
	default:
		w.a.Op(asm.ORR, asm.X(d), asm.ZR, asm.X(s))
	}
}

// plain writes an ordinary instruction. The register of a result in memory may
// be that of a source: sources are read first.
func (w *writer) plain(in *inst) {
	var srcs [3]uint8
	for i, x := range in.src[:in.n] {
		srcs[i] = w.get(x)
	}
	d := uint8(0)
	if in.dst != 0 {
		c := w.e.Regs[in.dst].Class
		switch p := w.places.At[in.dst]; {
		case p >= 0:
			d = uint8(p)
		case in.tied && w.places.At[in.src[0]] == native.InMemory:
			d = srcs[0]
		default:
			d = w.takeScratch(c)
		}
		if in.tied {
			w.copy(c, d, srcs[0])
		}
	}
	w.write(in, d, srcs[:])
	if in.dst != 0 {
		w.store(in.dst, d)
	}
}

// write assembles in with its result in d and its sources in srcs.
func (w *writer) write(in *inst, d uint8, srcs []uint8) {
	switch in.kind {
	case number:
		w.a.MovImm(asm.X(d), in.imm)
		return
	case literal:
		w.a.Op(asm.LDRLIT, asm.V(d), w.a.Const(in.data))
		return
	case zeroing:
		w.a.Op(asm.MOVI0, asm.V(d))
		return
	case argument:
		w.a.Op(asm.LDR, asm.X(d), w.address(argsReg, 8*in.imm, asm.LDR))
		return
	}
	var room [6]asm.Arg
	args := room[:0]
	register := func(x reg, p uint8) asm.Arg {
		if w.e.Regs[x].Class == vec {
			return asm.V(p)
		}
		return asm.X(p)
	}
	if in.dst != 0 {
		args = append(args, register(in.dst, d))
		if in.hasLane {
			args = append(args, asm.Imm(in.lane))
		}
	}
	for i, x := range in.src[:in.n] {
		if i > 0 || !in.tied {
			args = append(args, register(x, srcs[i]))
		}
	}
	if in.hasImm {
		args = append(args, asm.Imm(in.imm))
	}
	if in.hasCond {
		args = append(args, in.cond)
	}
	if in.hasMem {
		args = append(args, w.address(asm.X(w.get(in.base)), in.disp, in.op))
	}
	w.a.Op(in.op, args...)
}

// address is base + disp as op can have it.
func (w *writer) address(base asm.X, disp int64, op asm.Op) asm.Mem {
	if asm.Reaches(op, disp) {
		return asm.Ptr(base, int(disp))
	}
	if disp > 0 && disp < 4096 {
		w.a.Op(asm.ADDI, farReg, base, asm.Imm(disp))
	} else {
		w.a.MovImm(farReg, disp)
		w.a.Op(asm.ADD, farReg, base, farReg)
	}
	return asm.Ptr(farReg, 0)
}
