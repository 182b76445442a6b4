package arm64

import (
	"github.com/sinterml/sinter/internal/emit/arm64/asm"
	"github.com/sinterml/sinter/internal/emit/native"
)

// This file is the code between loop IR and machine code: instructions of the
// machine on virtual registers, in a tree of blocks so that what does not
// change in a loop can be put before it while the loop is being built.

// What is shared with other machines goes by short names here.
type (
	node  = native.Node
	deps  = native.Deps
	poly  = native.Poly
	mono  = native.Mono
	reg   = native.Reg
	val   = native.Val
	class = native.Class
)

const (
	gpr = native.General
	vec = native.Vector
)

type instKind uint8

const (
	plain     instKind = iota
	labelHere          // bind label
	jump               // to label
	jumpIf             // to label on cond
	jumpZero           // to label if src[0] is 0
	loopStart          // of the live ranges; not code
	loopEnd
	moveReg  // dst = src[0], of any class
	number   // dst = imm
	literal  // dst = data, of the pool
	zeroing  // dst = 0, a vector
	argument // dst = a word of the argument block, imm
)

// inst is an instruction. Its operands in assembler order are dst, the sources,
// the immediate or the address. With tied, dst is the first source's register,
// which is not named twice.
type inst struct {
	kind    instKind
	tied    bool
	hasImm  bool
	hasMem  bool // the address is base + disp
	hasLane bool // of dst, named behind it
	hasCond bool
	n       uint8
	op      asm.Op
	cond    asm.Cond
	label   asm.Label
	dst     reg
	src     [3]reg
	base    reg
	disp    int64
	imm     int64
	lane    int64
	data    [16]byte
}

// Result is the register that in writes, or 0.
func (in *inst) Result() reg { return in.dst }

// Uses calls f for every register that in reads.
func (in *inst) Uses(f func(reg)) {
	for _, x := range in.src[:in.n] {
		f(x)
	}
	if in.base != 0 {
		f(in.base)
	}
}

// Span tells where loops begin and end.
func (in *inst) Span() native.Span {
	switch in.kind {
	case loopStart:
		return native.LoopStart
	case loopEnd:
		return native.LoopEnd
	}
	return native.Inside
}

// Apart holds where the first source is copied to dst before the others are
// read.
func (in *inst) Apart() bool { return in.tied }

// Heirs is the source that dst starts from.
func (in *inst) Heirs() (from [3]reg) {
	if in.tied || in.kind == moveReg {
		from[0] = in.src[0]
	}
	return from
}
