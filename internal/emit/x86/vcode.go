package x86

import (
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
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
	block = native.Block[*inst]
	item  = native.Item[*inst]
)

const (
	gpr     = native.General
	vec     = native.Vector // xmm, ymm, zmm
	mask    = native.Mask   // k1 to k7; AVX-512 alone
	classes = native.Classes
)

type operandKind uint8

const (
	noOperand operandKind = iota
	regOperand
	memOperand
	constOperand // of the pool: one element for all lanes
	dataOperand  // of the pool: a vector
)

// operand is a source, or the target of a store. There are many: it is small.
type operand struct {
	kind   operandKind
	scale  uint8 // memory: of index; 0 where there is none
	elem   uint8 // constant: bytes of the element
	byVec  bool  // memory: index is a vector, of a gather or scatter
	noBase bool  // memory: base is the argument block
	disp   int32
	reg    reg // or memory: base
	index  reg
	bits   uint64 // of a constant; data: index in emitter.tables
}

func r(x reg) operand { return operand{kind: regOperand, reg: x} }

func argWord(word int) operand {
	return operand{kind: memOperand, noBase: true, disp: int32(8 * word)}
}

func bits32(b uint32) operand { return operand{kind: constOperand, elem: 4, bits: uint64(b)} }

func bits64(b uint64) operand { return operand{kind: constOperand, elem: 8, bits: b} }

type instKind uint8

const (
	plain     instKind = iota
	zeroing            // dst = 0
	fused              // dst = ±src[0]*src[1] ± src[2], see fmaOp
	labelHere          // bind label
	jump               // to label
	jumpIf             // to label on cc
	loopStart          // of the live ranges; not code
	loopEnd
	alignLoop
	moveReg // dst = src[0], of any class
	divide  // dst = src[0] / src[1], or the remainder: imm
)

// inst is an instruction. Its operands in assembler order are dst, the sources,
// the immediate. With tied, dst is the first source's register, which is not
// named twice.
type inst struct {
	kind   instKind
	tied   bool
	hasImm bool
	zero   bool // mask clears the lanes it leaves out
	early  bool // dst differs from all sources but the tied one, and the mask is overwritten
	narrow bool // general registers at 32 bits
	stream bool // a store of a full register that may go past the caches
	n      uint8
	len    asm.Length
	cc     asm.CC
	negMul bool // fused: -src[0]*src[1]
	negAdd bool // fused: - src[2]
	wide   bool // fused: of f64
	op     asm.Op
	label  asm.Label
	dst    reg
	mask   reg
	src    [3]operand
	imm    int64
}

// instSlab hands out instructions in bulk.
type instSlab struct{ free []inst }

func (s *instSlab) new() *inst {
	if len(s.free) == 0 {
		s.free = make([]inst, 64)
	}
	in := &s.free[0]
	s.free = s.free[1:]
	return in
}

// Result is the register that in writes, or 0.
func (in *inst) Result() reg { return in.dst }

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
func (in *inst) Apart() bool { return in.tied || in.early || in.kind == fused }

// Heirs are the sources whose register an instruction that overwrites one takes
// over.
func (in *inst) Heirs() (from [3]reg) {
	switch {
	case in.tied || in.kind == moveReg:
		from[0] = in.src[0].register()
	case in.kind == fused:
		from = [3]reg{in.src[2].register(), in.src[0].register(), in.src[1].register()}
	}
	return from
}

// register is the register that the operand is, or 0.
func (o *operand) register() reg {
	if o.kind == regOperand {
		return o.reg
	}
	return 0
}

// Uses calls f for every register that in reads.
func (in *inst) Uses(f func(reg)) {
	for i := range in.n {
		o := &in.src[i]
		if o.reg != 0 {
			f(o.reg)
		}
		if o.index != 0 {
			f(o.index)
		}
	}
	if in.mask != 0 {
		f(in.mask)
	}
}
