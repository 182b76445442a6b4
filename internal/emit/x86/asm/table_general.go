package asm

// Operand forms of general-register instructions.
var (
	gReg  = slot{inReg, kGP, opSize}
	gRM   = slot{inRM, kGPM, opSize}
	gVvvv = slot{inVvvv, kGP, opSize}
	gRAX  = slot{implicit, kGP, opSize}

	gMR   = operands(gRM, gReg)
	gRM2  = operands(gReg, gRM)
	gM    = operands(gRM)
	gMI8  = operands(gRM, slot{inImm8s, kImm, unsized})
	gMI32 = operands(gRM, slot{inImm32, kImm, unsized})
	gAI32 = operands(gRAX, slot{inImm32, kImm, unsized})
	gRMV  = operands(gReg, gRM, gVvvv)
)

func one(w wBit, opc byte, f form) row { return enc(mOne, np, w, opc, noMem, f).legacy() }
func two(w wBit, opc byte, f form) row { return enc(m0F, np, w, opc, noMem, f).legacy() }

func (r row) prefix(pp prefix) row { r.pp = pp; return r }

// arith is one of the eight classic operations; n is its number.
func arith(name string, n byte) Op {
	return def(name,
		one(wOp, n<<3|0x01, gMR),
		one(wOp, n<<3|0x03, gRM2),
		one(wOp, 0x83, gMI8).slash(int8(n)),
		one(wOp, n<<3|0x05, gAI32).flag(noModRM),
		one(wOp, 0x81, gMI32).slash(int8(n)))
}

// shift takes a count in the instruction; for a count in a register use shlx
// and its kin.
func shift(name string, n int8) Op {
	return def(name,
		one(wOp, 0xD1, operands(gRM, slot{implicit, kImm, unsized})).slash(n),
		one(wOp, 0xC1, operands(gRM, imm8)).slash(n))
}

func unary(name string, opc byte, n int8) Op { return def(name, one(wOp, opc, gM).slash(n)) }

// bmi is a VEX instruction on general registers.
func bmi(name string, pp prefix, opc byte, f form) Op {
	return def(name, enc(m0F38, pp, wOp, opc, noMem, f).vex().scalar())
}

func extend(name string, w wBit, opc byte, dst kind, src size) Op {
	return def(name, two(w, opc, operands(slot{inReg, dst, opSize}, slot{inRM, kGPM, src})))
}

func bare(name string, r row) Op { return def(name, r) }

func prefetch(name string, opc byte, n int8) Op {
	return def(name, two(w0, opc, operands(slot{inRM, kM, s8})).slash(n))
}

// narrow is a move of the low 8 or 16 bits of a register to memory.
func narrow(opc byte, pp prefix, s size) Op {
	return def("mov", one(w0, opc, operands(slot{inRM, kM, s}, slot{inReg, kGP, s})).prefix(pp))
}

// The conditional instructions, 16 each in the order of the conditions.
var (
	cmovFirst = conditional("cmov", func(c byte) row { return two(wOp, 0x40|c, gRM2) })
	setFirst  = conditional("set", func(c byte) row {
		return two(w0, 0x90|c, operands(slot{inRM, kGPM, s8})).slash(0)
	})
)

func conditional(name string, r func(c byte) row) (first Op) {
	for c := range byte(16) {
		op := def(name+ccNames[c], r(c))
		if c == 0 {
			first = op
		}
	}
	return first
}

// CMOV is the move of a register or memory to a register if c holds; memory is
// read in either case.
func CMOV(c CC) Op { return ifCC(cmovFirst, c) }

// SET writes 1 to the low byte of a register, or a byte in memory, if c holds,
// else 0.
func SET(c CC) Op { return ifCC(setFirst, c) }

func ifCC(first Op, c CC) Op {
	if c > GT {
		return 0
	}
	return first + Op(c)
}

// General instructions. R operands make them 64 bits wide, R32 operands 32;
// with memory and an immediate alone they are 64 bits wide.
var (
	MOV = def("mov",
		one(wOp, 0x89, gMR),
		one(wOp, 0x8B, gRM2),
		one(w0, 0xB8, operands(slot{inOpc, kR32, opSize}, slot{inImm32, kImm, unsized})).flag(noModRM),
		one(w1, 0xC7, operands(slot{inRM, kR | kM, s64}, slot{inImm32, kImm, unsized})).slash(0),
		one(w1, 0xB8, operands(slot{inOpc, kR, s64}, slot{inImm64, kImm, unsized})).flag(noModRM))
	MOVB    = narrow(0x88, np, s8)
	MOVW    = narrow(0x89, p66, s16)
	MOVZX8  = extend("movzx", wOp, 0xB6, kGP, s8)
	MOVZX16 = extend("movzx", wOp, 0xB7, kGP, s16)
	MOVSX8  = extend("movsx", wOp, 0xBE, kGP, s8)
	MOVSX16 = extend("movsx", wOp, 0xBF, kGP, s16)
	MOVSXD  = def("movsxd", one(w1, 0x63, operands(slot{inReg, kR, s64}, slot{inRM, kGPM, s32})))
	LEA     = def("lea", one(wOp, 0x8D, operands(gReg, slot{inRM, kM, unsized})))

	ADD = arith("add", 0)
	OR  = arith("or", 1)
	ADC = arith("adc", 2)
	SBB = arith("sbb", 3)
	AND = arith("and", 4)
	SUB = arith("sub", 5)
	XOR = arith("xor", 6)
	CMP = arith("cmp", 7)

	TEST = def("test",
		one(wOp, 0x85, gMR),
		one(wOp, 0xA9, gAI32).flag(noModRM),
		one(wOp, 0xF7, gMI32).slash(0))
	IMUL = def("imul",
		two(wOp, 0xAF, gRM2),
		one(wOp, 0x6B, operands(gReg, gRM, slot{inImm8s, kImm, unsized})),
		one(wOp, 0x69, operands(gReg, gRM, slot{inImm32, kImm, unsized})))
	INC = unary("inc", 0xFF, 0)
	DEC = unary("dec", 0xFF, 1)
	NOT = unary("not", 0xF7, 2)
	NEG = unary("neg", 0xF7, 3)
	MUL = unary("mul", 0xF7, 4) // RDX:RAX = RAX * operand
	DIV = unary("div", 0xF7, 6) // RAX, RDX = quotient, remainder of RDX:RAX

	IDIV = unary("idiv", 0xF7, 7) // after CQO or CDQ
	CQO  = bare("cqo", one(w1, 0x99, form{}))
	CDQ  = bare("cdq", one(w0, 0x99, form{}))

	ROL = shift("rol", 0)
	ROR = shift("ror", 1)
	SHL = shift("shl", 4)
	SHR = shift("shr", 5)
	SAR = shift("sar", 7)

	// BMI. The shifts leave the flags alone.
	SHLX  = bmi("shlx", p66, 0xF7, gRMV)
	SHRX  = bmi("shrx", pF2, 0xF7, gRMV)
	SARX  = bmi("sarx", pF3, 0xF7, gRMV)
	BZHI  = bmi("bzhi", np, 0xF5, gRMV) // clears the bits from a position upwards
	ANDN  = bmi("andn", np, 0xF2, operands(gReg, gVvvv, gRM))
	BEXTR = bmi("bextr", np, 0xF7, gRMV)

	POPCNT = def("popcnt", two(wOp, 0xB8, gRM2).prefix(pF3))
	LZCNT  = def("lzcnt", two(wOp, 0xBD, gRM2).prefix(pF3))
	TZCNT  = def("tzcnt", two(wOp, 0xBC, gRM2).prefix(pF3))

	PREFETCHNTA = prefetch("prefetchnta", 0x18, 0)
	PREFETCHT0  = prefetch("prefetcht0", 0x18, 1)
	PREFETCHT1  = prefetch("prefetcht1", 0x18, 2)
	PREFETCHT2  = prefetch("prefetcht2", 0x18, 3)
	PREFETCHW   = prefetch("prefetchw", 0x0D, 1)

	JMP    = def("jmp", one(w0, 0xFF, operands(slot{inRM, kR, s64})).slash(4)) // to an address; Asm.Jmp goes to a label
	RET    = bare("ret", one(w0, 0xC3, form{}))
	INT3   = bare("int3", one(w0, 0xCC, form{}))
	UD2    = bare("ud2", two(w0, 0x0B, form{}))
	PAUSE  = bare("pause", one(w0, 0x90, form{}).prefix(pF3))
	RDTSC  = bare("rdtsc", two(w0, 0x31, form{}))
	LFENCE = bare("lfence", two(w0, 0xAE, form{}).slash(5))
	MFENCE = bare("mfence", two(w0, 0xAE, form{}).slash(6))
	SFENCE = bare("sfence", two(w0, 0xAE, form{}).slash(7))
)
