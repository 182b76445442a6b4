package x86

import (
	"errors"

	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
)

// writer assembles code whose registers have their places.
type writer struct {
	e       *emitter
	a       *asm.Asm
	place   []int8
	slot    []int32 // byte in the spill area, of registers in memory
	slots   int     // bytes of the spill area
	scratch [classes][]uint8
	base    asm.R
	offset  int   // of the spill area from base
	based   bool  // base is set already
	args    asm.R // the argument block

	streaming bool // stores that may go past the caches do

	used [classes]int // scratch registers the instruction uses so far
	err  error
}

func (w *writer) spillBytes() int { return (w.slots + 63) &^ 63 }

// assemble writes a whole kernel.
func (w *writer) assemble(list []*inst) (*Code, error) {
	w.code(list)
	if w.streaming {
		w.a.Op(asm.SFENCE) // whoever learns that the call is over finds the data
	}
	if args := w.e.finishArgs; args > 0 {
		returnToTile(w.a, args)
	} else {
		w.a.Op(asm.VZEROUPPER)
		w.a.Op(asm.RET)
	}
	text, err := w.a.Finish()
	if err != nil {
		return nil, err
	}
	return &Code{Text: text, SpillBytes: w.spillBytes(), asm: w.a}, nil
}

// code assembles instructions in order.
func (w *writer) code(list []*inst) {
	if w.slots > 0 && !w.based {
		w.a.Op(asm.MOV, w.base, asm.Ptr(w.args, 8*native.WordSpill))
	}
	for _, in := range list {
		w.used = [classes]int{}
		w.inst(in)
	}
}

func (w *writer) inst(in *inst) {
	if in.dst != 0 && w.place[in.dst] == native.InMemory && w.e.Regs[in.dst].Anew == in {
		return // made anew at each use
	}
	switch in.kind {
	case labelHere:
		w.a.Bind(in.label)
	case jump:
		w.a.Jmp(in.label)
	case jumpIf:
		w.a.J(in.cc, in.label)
	case alignLoop:
		w.a.Align(32)
	case loopStart, loopEnd:
	case moveReg:
		w.move(in.dst, in.src[0].reg)
	case divide:
		w.divide(in)
	case fused:
		w.fused(in)
	default:
		w.plain(in)
	}
}

// phys is an assembler's register.
func phys(c class, p uint8) asm.Arg {
	switch c {
	case vec:
		return asm.V(p)
	case mask:
		return asm.K(p)
	}
	return asm.R(p)
}

// takeScratch is a register to hold a value from memory for one instruction.
func (w *writer) takeScratch(c class) uint8 {
	if w.used[c] == len(w.scratch[c]) {
		w.err = errors.New("an instruction with too many values in memory")
		w.a.Op(0) // makes the assembler fail as well
		return 0
	}
	p := w.scratch[c][w.used[c]]
	w.used[c]++
	return p
}

// get is the register that holds x, loaded if need be.
func (w *writer) get(x reg) uint8 {
	if p := w.place[x]; p >= 0 {
		return uint8(p)
	}
	p := w.takeScratch(w.e.Regs[x].Class)
	w.loadTo(p, x)
	return p
}

// loadTo loads x, which is in memory or can be made anew, to a register.
func (w *writer) loadTo(p uint8, x reg) {
	v := &w.e.Regs[x]
	if v.Anew != nil {
		w.write(v.Anew, p, nil)
		return
	}
	w.a.Op(slotMove[v.Class], phys(v.Class, p), w.slotOf(x))
}

var slotMove = [classes]asm.Op{gpr: asm.MOV, vec: asm.VMOVUPS, mask: asm.KMOVQ}

func (w *writer) slotOf(x reg) asm.M { return asm.Ptr(w.base, w.offset+int(w.slot[x])) }

// store writes the result p of an instruction back if it lives in memory.
func (w *writer) store(x reg, p uint8) {
	if w.place[x] == native.InMemory {
		c := w.e.Regs[x].Class
		w.a.Op(slotMove[c], w.slotOf(x), phys(c, p))
	}
}

func (w *writer) move(dst, src reg) {
	c := w.e.Regs[dst].Class
	d := w.place[dst]
	switch {
	case d == native.InMemory:
		w.store(dst, w.get(src))
	case w.place[src] == native.InMemory:
		w.loadTo(uint8(d), src)
	default:
		w.copy(c, uint8(d), uint8(w.place[src]))
	}
}

func (w *writer) copy(c class, d, s uint8) {
	if d == s {
		return
	}
	op := [classes]asm.Op{gpr: asm.MOV, vec: asm.VMOVAPS, mask: asm.KMOVQ}[c]
	w.a.Op(op, phys(c, d), phys(c, s))
}

// plain writes an ordinary instruction. The register of a result in memory may
// be that of a source: sources are read first.
func (w *writer) plain(in *inst) {
	var srcs [3]uint8
	for i := range in.n {
		if o := &in.src[i]; o.kind == regOperand {
			srcs[i] = w.get(o.reg)
		}
	}
	d := uint8(0)
	if in.dst != 0 {
		c := w.e.Regs[in.dst].Class
		switch p := w.place[in.dst]; {
		case p >= 0:
			d = uint8(p)
		case in.tied && w.place[in.src[0].reg] == native.InMemory:
			d = srcs[0]
		case !in.tied && w.used[c] > 0 && c != mask:
			d = w.scratch[c][0]
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

// write assembles in with its result in d and its register sources in srcs.
func (w *writer) write(in *inst, d uint8, srcs []uint8) {
	var room [8]asm.Arg
	args := room[:0]
	general := func(p uint8) asm.Arg {
		if in.narrow {
			return asm.R32(p)
		}
		return asm.R(p)
	}
	register := func(c class, p uint8) asm.Arg {
		if c == gpr {
			return general(p)
		}
		return phys(c, p)
	}
	if in.kind == zeroing || in.n == 0 && in.op == asm.KXNORW {
		w.fill(in, d)
		return
	}
	if in.dst != 0 {
		args = append(args, register(w.e.Regs[in.dst].Class, d))
	}
	for i := range in.n {
		if i == 0 && in.tied {
			continue
		}
		o := &in.src[i]
		if o.kind == regOperand {
			args = append(args, register(w.e.Regs[o.reg].Class, srcs[i]))
			continue
		}
		args = append(args, w.operand(o))
	}
	if in.hasImm {
		args = append(args, asm.Imm(in.imm))
	}
	if in.len != 0 {
		args = append(args, in.len)
	}
	if in.mask != 0 {
		k := asm.K(w.get(in.mask))
		if in.zero {
			args = append(args, asm.MaskZ(k))
		} else {
			args = append(args, asm.Mask(k))
		}
	}
	op := in.op
	if in.stream && w.streaming {
		op = asm.VMOVNTPS
	}
	w.a.Op(op, args...)
}

// fill makes a register of zeros or ones from nothing.
func (w *writer) fill(in *inst, d uint8) {
	switch w.e.Regs[in.dst].Class {
	case mask:
		op := asm.KXORW
		if in.kind != zeroing {
			op = in.op
		}
		w.a.Op(op, asm.K(d), asm.K(d), asm.K(d))
	default:
		w.a.Op(asm.VXORPS, asm.V(d), asm.V(d), asm.V(d), asm.L128)
	}
}

func (w *writer) operand(o *operand) asm.Arg {
	switch o.kind {
	case constOperand:
		if o.elem == 8 {
			return w.a.U64(o.bits)
		}
		return w.a.U32(uint32(o.bits))
	case dataOperand:
		return w.a.Vec(w.e.tables[o.bits])
	case memOperand:
		return w.memory(o)
	}
	w.err = errors.New("an operand of no kind")
	return nil
}

func (w *writer) memory(o *operand) asm.M {
	base := w.args
	if !o.noBase {
		base = asm.R(w.get(o.reg))
	}
	var m asm.M
	switch {
	case o.byVec:
		m = asm.VIdx(base, asm.V(w.get(o.index)), int(o.scale), int(o.disp))
	case o.index != 0:
		m = asm.Idx(base, asm.R(w.get(o.index)), int(o.scale), int(o.disp))
	default:
		m = asm.Ptr(base, int(o.disp))
	}
	return m
}

// The multiply-add instructions by type, the order of their operands and signs: of
// the product, of the summand.
var fmaOps = [2][3][2][2]asm.Op{{
	{{asm.VFMADD132PS, asm.VFMSUB132PS}, {asm.VFNMADD132PS, asm.VFNMSUB132PS}},
	{{asm.VFMADD213PS, asm.VFMSUB213PS}, {asm.VFNMADD213PS, asm.VFNMSUB213PS}},
	{{asm.VFMADD231PS, asm.VFMSUB231PS}, {asm.VFNMADD231PS, asm.VFNMSUB231PS}},
}, {
	{{asm.VFMADD132PD, asm.VFMSUB132PD}, {asm.VFNMADD132PD, asm.VFNMSUB132PD}},
	{{asm.VFMADD213PD, asm.VFMSUB213PD}, {asm.VFNMADD213PD, asm.VFNMSUB213PD}},
	{{asm.VFMADD231PD, asm.VFMSUB231PD}, {asm.VFNMADD231PD, asm.VFNMSUB231PD}},
}}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

// fused writes dst = ±a*b ± c in the form whose destination is a source that
// already is in the register of dst, with the operand in memory, if any, last.
func (w *writer) fused(in *inst) {
	var at [3]uint8
	memory := -1
	for i := range at {
		if in.src[i].kind == regOperand {
			at[i] = w.get(in.src[i].reg)
		} else {
			memory = i
		}
	}
	d, tie := uint8(0), -1
	if p := w.place[in.dst]; p >= 0 {
		d = uint8(p)
		for i := range at {
			if i != memory && at[i] == d {
				tie = i
			}
		}
	}
	if tie < 0 { // a copy of a factor, or of the summand if that is all there is
		tie = 0
		if memory == 0 {
			tie = 1
		}
		if w.place[in.dst] == native.InMemory {
			d = at[tie]
			if w.place[in.src[tie].reg] >= 0 {
				d = w.takeScratch(vec)
			}
		}
		w.copy(vec, d, at[tie])
	}
	signs := func(form int) asm.Op { return fmaOps[index(in.wide)][form][index(in.negMul)][index(in.negAdd)] }
	last := func(i int) asm.Arg {
		if i == memory {
			return w.operand(&in.src[i])
		}
		return asm.V(at[i])
	}
	switch {
	case tie == 2 && memory == 0:
		w.a.Op(signs(2), asm.V(d), asm.V(at[1]), last(0))
	case tie == 2:
		w.a.Op(signs(2), asm.V(d), asm.V(at[0]), last(1))
	case memory == 1-tie:
		w.a.Op(signs(0), asm.V(d), asm.V(at[2]), last(1-tie))
	default:
		w.a.Op(signs(1), asm.V(d), asm.V(at[1-tie]), last(2))
	}
	w.store(in.dst, d)
}
