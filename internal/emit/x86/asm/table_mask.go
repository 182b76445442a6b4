package asm

// Forms of mask instructions, which are VEX-encoded and belong to AVX-512.
var (
	kReg  = slot{inReg, kK, unsized}
	kRM   = slot{inRM, kK, unsized}
	kVvvv = slot{inVvvv, kK, unsized}

	vecFromMask = operands(vReg, kRM)
	maskFromVec = operands(kReg, slot{inRM, kV, full})
)

// The W and prefix that stand for a width, for most mask instructions.
type maskWidth struct {
	pp prefix
	w  wBit
}

var (
	kb = maskWidth{p66, w0}
	kw = maskWidth{np, w0}
	kd = maskWidth{p66, w1}
	kq = maskWidth{np, w1}
)

// Mask registers: B, W, D, Q have 8, 16, 32, 64 lanes.
var (
	KMOVB = kmov("kmovb", kb, t1, p66, w0, s32)
	KMOVW = kmov("kmovw", kw, t2, np, w0, s32)
	KMOVD = kmov("kmovd", kd, t4, pF2, w0, s32)
	KMOVQ = kmov("kmovq", kq, t8, pF2, w1, s64)

	KANDB  = mask3("kandb", kb, 0x41)
	KANDW  = mask3("kandw", kw, 0x41)
	KANDD  = mask3("kandd", kd, 0x41)
	KANDQ  = mask3("kandq", kq, 0x41)
	KANDNB = mask3("kandnb", kb, 0x42)
	KANDNW = mask3("kandnw", kw, 0x42)
	KANDND = mask3("kandnd", kd, 0x42)
	KANDNQ = mask3("kandnq", kq, 0x42)
	KORB   = mask3("korb", kb, 0x45)
	KORW   = mask3("korw", kw, 0x45)
	KORD   = mask3("kord", kd, 0x45)
	KORQ   = mask3("korq", kq, 0x45)
	KXNORB = mask3("kxnorb", kb, 0x46)
	KXNORW = mask3("kxnorw", kw, 0x46)
	KXNORD = mask3("kxnord", kd, 0x46)
	KXNORQ = mask3("kxnorq", kq, 0x46)
	KXORB  = mask3("kxorb", kb, 0x47)
	KXORW  = mask3("kxorw", kw, 0x47)
	KXORD  = mask3("kxord", kd, 0x47)
	KXORQ  = mask3("kxorq", kq, 0x47)

	KUNPCKBW = mask3("kunpckbw", kb, 0x4B)
	KUNPCKWD = mask3("kunpckwd", kw, 0x4B)
	KUNPCKDQ = mask3("kunpckdq", kq, 0x4B)

	KNOTB    = mask2("knotb", kb, 0x44)
	KNOTW    = mask2("knotw", kw, 0x44)
	KNOTD    = mask2("knotd", kd, 0x44)
	KNOTQ    = mask2("knotq", kq, 0x44)
	KORTESTB = mask2("kortestb", kb, 0x98) // EQ if the union is 0, ULT if it is all ones
	KORTESTW = mask2("kortestw", kw, 0x98)
	KORTESTD = mask2("kortestd", kd, 0x98)
	KORTESTQ = mask2("kortestq", kq, 0x98)
	KTESTW   = mask2("ktestw", kw, 0x99)

	KSHIFTLB = maskShift("kshiftlb", w0, 0x32)
	KSHIFTLW = maskShift("kshiftlw", w1, 0x32)
	KSHIFTLD = maskShift("kshiftld", w0, 0x33)
	KSHIFTLQ = maskShift("kshiftlq", w1, 0x33)
	KSHIFTRB = maskShift("kshiftrb", w0, 0x30)
	KSHIFTRW = maskShift("kshiftrw", w1, 0x30)
	KSHIFTRD = maskShift("kshiftrd", w0, 0x31)
	KSHIFTRQ = maskShift("kshiftrq", w1, 0x31)

	// Between masks and vectors: lanes of all ones, and signs of lanes.
	VPMOVM2B = def("vpmovm2b", enc(m0F38, pF3, w0, 0x28, noMem, vecFromMask).evex().flag(noMask))
	VPMOVM2W = def("vpmovm2w", enc(m0F38, pF3, w1, 0x28, noMem, vecFromMask).evex().flag(noMask))
	VPMOVM2D = def("vpmovm2d", enc(m0F38, pF3, w0, 0x38, noMem, vecFromMask).evex().flag(noMask))
	VPMOVM2Q = def("vpmovm2q", enc(m0F38, pF3, w1, 0x38, noMem, vecFromMask).evex().flag(noMask))
	VPMOVB2M = def("vpmovb2m", enc(m0F38, pF3, w0, 0x29, noMem, maskFromVec).evex().flag(noMask))
	VPMOVW2M = def("vpmovw2m", enc(m0F38, pF3, w1, 0x29, noMem, maskFromVec).evex().flag(noMask))
	VPMOVD2M = def("vpmovd2m", enc(m0F38, pF3, w0, 0x39, noMem, maskFromVec).evex().flag(noMask))
	VPMOVQ2M = def("vpmovq2m", enc(m0F38, pF3, w1, 0x39, noMem, maskFromVec).evex().flag(noMask))

	VZEROUPPER = def("vzeroupper", enc(m0F, np, w0, 0x77, noMem, form{}).vex().scalar())
)

func mask3(name string, k maskWidth, opc byte) Op {
	return def(name, enc(m0F, k.pp, k.w, opc, noMem, operands(kReg, kVvvv, kRM)).vex().only(len256))
}

func mask2(name string, k maskWidth, opc byte) Op {
	return def(name, enc(m0F, k.pp, k.w, opc, noMem, operands(kReg, kRM)).vex().scalar())
}

func maskShift(name string, w wBit, opc byte) Op {
	return def(name, enc(m0F3A, p66, w, opc, noMem, operands(kReg, kRM, imm8)).vex().scalar())
}

// kmov has a prefix of its own for general registers.
func kmov(name string, k maskWidth, t tuple, pp prefix, w wBit, s size) Op {
	return def(name,
		enc(m0F, k.pp, k.w, 0x90, t, operands(kReg, slot{inRM, kK | kM, unsized})).vex().scalar(),
		enc(m0F, k.pp, k.w, 0x91, t, operands(slot{inRM, kM, unsized}, kReg)).vex().scalar(),
		enc(m0F, pp, w, 0x92, noMem, operands(kReg, slot{inRM, kGP, s})).vex().scalar(),
		enc(m0F, pp, w, 0x93, noMem, operands(slot{inReg, kGP, s}, slot{inRM, kK, unsized})).vex().scalar())
}
