// Package asm is a run-time assembler for arm64 (A64): general registers at 64
// bits and NEON, with the dot products and matrix instructions of later versions.
//
// An instruction is written as in Arm's syntax, destination first; the
// arrangement of lanes is part of its name:
//
//	a := asm.New()
//	loop := a.Here()
//	a.Op(asm.LDRVQ, asm.V(0), asm.Ptr(1, 0))
//	a.Op(asm.FADD4S, asm.V(0), asm.V(0), asm.V(1))
//	a.Op(asm.SUBI, asm.X(2), asm.X(2), asm.Imm(1))
//	a.Op(asm.CBNZ, asm.X(2), loop)
//	a.Op(asm.RET)
//	code, err := a.Finish()
//
// Errors stick: after the first one nothing more is assembled, and Err and
// Finish return it. The code is position independent, with its constants behind
// it, and starts at a multiple of 16.
package asm

import (
	"encoding/binary"
	"fmt"
)

// Asm collects instructions.
type Asm struct {
	code   []byte
	list   []entry
	labels []int32 // positions by label - 1, or unbound
	fixups []fixup
	pool   []constant
	done   bool
	err    error
}

// entry is an instruction, or a label, as it was given.
type entry struct {
	at   uint32 // offset of its first byte
	op   Op     // 0: a label
	args [4]Arg
	n    uint8
}

type constant struct {
	label Label
	data  [16]byte
}

// New returns an assembler.
func New() *Asm { return &Asm{code: make([]byte, 0, 4096), list: make([]entry, 0, 512)} }

func (a *Asm) fail(format string, args ...any) {
	if a.err == nil {
		a.err = fmt.Errorf("asm: at byte %d: %w", len(a.code), fmt.Errorf(format, args...))
	}
}

// Op assembles one instruction.
func (a *Asm) Op(op Op, args ...Arg) {
	switch {
	case a.err != nil:
		return
	case a.done:
		a.fail("the code is finished")
		return
	case op == noOp || op >= ops:
		a.fail("no instruction has number %d", int(op))
		return
	case len(args) > 4:
		a.fail("%s: more than four operands", rows[op].name)
		return
	}
	in := entry{at: uint32(len(a.code)), op: op, n: uint8(len(args))}
	copy(in.args[:], args)
	word, bad := a.encode(&rows[op], args)
	if bad != "" {
		a.fail("%s: %s", in.text(), bad)
		return
	}
	a.list = append(a.list, in)
	a.code = binary.LittleEndian.AppendUint32(a.code, word)
}

// MovImm loads a number in as few instructions as its quarters need.
func (a *Asm) MovImm(d X, n int64) {
	quarter := func(v uint64, i int) uint16 { return uint16(v >> (16 * i)) }
	flip, first := uint64(0), MOVZ
	zeros, ones := 0, 0
	for i := range 4 {
		switch quarter(uint64(n), i) {
		case 0:
			zeros++
		case 0xFFFF:
			ones++
		}
	}
	if ones > zeros {
		flip, first = ^uint64(0), MOVN
	}
	started := false
	for i := range 4 {
		switch v := quarter(uint64(n)^flip, i); {
		case v == 0:
		case !started:
			a.Op(first, d, Imm(v), Imm(i))
			started = true
		default:
			a.Op(MOVK, d, Imm(quarter(uint64(n), i)), Imm(i))
		}
	}
	if !started {
		a.Op(first, d, Imm(0), Imm(0))
	}
}

// Const is the label of 16 bytes behind the code.
func (a *Asm) Const(data [16]byte) Label {
	if a.done {
		a.fail("a constant after the code is finished")
	}
	for i := range a.pool {
		if a.pool[i].data == data {
			return a.pool[i].label
		}
	}
	l := a.NewLabel()
	a.pool = append(a.pool, constant{l, data})
	return l
}

// Finish places the constants, resolves the labels and returns the code.
func (a *Asm) Finish() ([]byte, error) {
	if a.err == nil && !a.done {
		a.placePool()
		a.done = true
		a.resolve()
	}
	if a.err != nil {
		return nil, a.err
	}
	return a.code, nil
}

func (a *Asm) placePool() {
	if len(a.pool) == 0 {
		return
	}
	for len(a.code)%16 != 0 {
		a.Op(NOP)
	}
	for _, c := range a.pool {
		a.labels[c.label-1] = int32(len(a.code))
		a.code = append(a.code, c.data[:]...)
	}
}
