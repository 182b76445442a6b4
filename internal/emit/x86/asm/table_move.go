package asm

// Forms between vector and general registers.
var (
	vecFromGP32 = operands(vReg, slot{inRM, kGP, s32})
	vecFromGP64 = operands(vReg, slot{inRM, kGP, s64})
	gp32FromVec = operands(slot{inReg, kGP, s32}, vRM)
	vFromGPM    = func(s size) form { return operands(vReg, slot{inRM, kGPM, s}) }
	gpmFromV    = func(s size) form { return operands(slot{inRM, kGPM, s}, vReg) }
)

// Moves. A load or store follows from where the memory operand stands.
var (
	VMOVUPS = move("vmovups", np, w0, 0x10, 0x11)
	VMOVUPD = move("vmovupd", p66, wE1, 0x10, 0x11)
	VMOVAPS = move("vmovaps", np, w0, 0x28, 0x29)
	VMOVAPD = move("vmovapd", p66, wE1, 0x28, 0x29)
	VMOVDQU = def("vmovdqu",
		enc(m0F, pF3, w0, 0x6F, fvm, rm).vex().flag(reverse),
		enc(m0F, pF3, w0, 0x7F, fvm, mr).vex())
	VMOVDQA = def("vmovdqa",
		enc(m0F, p66, w0, 0x6F, fvm, rm).vex().flag(reverse),
		enc(m0F, p66, w0, 0x7F, fvm, mr).vex())
	VMOVDQU8  = moveEVEX("vmovdqu8", pF2, w0)
	VMOVDQU16 = moveEVEX("vmovdqu16", pF2, w1)
	VMOVDQU32 = moveEVEX("vmovdqu32", pF3, w0)
	VMOVDQU64 = moveEVEX("vmovdqu64", pF3, w1)
	VMOVDQA32 = moveEVEX("vmovdqa32", p66, w0)
	VMOVDQA64 = moveEVEX("vmovdqa64", p66, w1)

	VMOVSS = moveScalar("vmovss", pF3, w0, t4)
	VMOVSD = moveScalar("vmovsd", pF2, wE1, t8)
	VMOVD  = def("vmovd",
		enc(m0F, p66, w0, 0x6E, t4, vFromGPM(s32)).scalar().sizes(xmm).flag(noMask),
		enc(m0F, p66, w0, 0x7E, t4, gpmFromV(s32)).scalar().flag(noMask))
	VMOVQ = def("vmovq",
		enc(m0F, p66, w1, 0x6E, t8, vecFromGP64).scalar().flag(noMask),
		enc(m0F, p66, w1, 0x7E, t8, operands(slot{inRM, kGP, s64}, vReg)).scalar().flag(noMask),
		enc(m0F, pF3, wE1, 0x7E, t8, rm).scalar().flag(noMask|reverse),
		enc(m0F, p66, wE1, 0xD6, t8, mr).scalar().flag(noMask))

	VMOVNTPS  = def("vmovntps", enc(m0F, np, w0, 0x2B, fvm, mr).mem().flag(noMask))
	VMOVNTDQ  = def("vmovntdq", enc(m0F, p66, w0, 0xE7, fvm, mr).mem().flag(noMask))
	VMOVNTDQA = def("vmovntdqa", enc(m0F38, p66, w0, 0x2A, fvm, rm).mem().flag(noMask))

	// Lanes whose element of the second operand has its sign bit set are loaded
	// or stored: the AVX2 way to treat the end of a row.
	VMASKMOVPS = maskMove("vmaskmovps", w0, 0x2C, 0x2E)
	VMASKMOVPD = maskMove("vmaskmovpd", w0, 0x2D, 0x2F)
	VPMASKMOVD = maskMove("vpmaskmovd", w0, 0x8C, 0x8E)
	VPMASKMOVQ = maskMove("vpmaskmovq", w1, 0x8C, 0x8E)

	VMOVHLPS  = def("vmovhlps", enc(m0F, np, w0, 0x12, t8, rvm).reg().scalar().flag(noMask))
	VMOVLHPS  = def("vmovlhps", enc(m0F, np, w0, 0x16, t8, rvm).reg().scalar().flag(noMask))
	VMOVSHDUP = def("vmovshdup", enc(m0F, pF3, w0, 0x16, fvm, rm))
	VMOVSLDUP = def("vmovsldup", enc(m0F, pF3, w0, 0x12, fvm, rm))
	VMOVDDUP  = def("vmovddup", enc(m0F, pF2, wE1, 0x12, dup, rm))
	VMOVMSKPS = def("vmovmskps", enc(m0F, np, w0, 0x50, fvm, gp32FromVec).vex().reg())
	VMOVMSKPD = def("vmovmskpd", enc(m0F, p66, w0, 0x50, fvm, gp32FromVec).vex().reg())
	VPMOVMSKB = def("vpmovmskb", enc(m0F, p66, w0, 0xD7, fvm, gp32FromVec).vex().reg())
)

// Broadcasts of one element or block.
var (
	VBROADCASTSS    = def("vbroadcastss", enc(m0F38, p66, w0, 0x18, t4, rm).sizes(full, xmm))
	VBROADCASTSD    = def("vbroadcastsd", enc(m0F38, p66, wE1, 0x19, t8, rm).sizes(full, xmm).only(len256up))
	VPBROADCASTB    = broadcast("vpbroadcastb", w0, 0x78, t1, 0x7A, vecFromGP32)
	VPBROADCASTW    = broadcast("vpbroadcastw", w0, 0x79, t2, 0x7B, vecFromGP32)
	VPBROADCASTD    = broadcast("vpbroadcastd", w0, 0x58, t4, 0x7C, vecFromGP32)
	VPBROADCASTQ    = broadcast("vpbroadcastq", wE1, 0x59, t8, 0x7C, vecFromGP64)
	VBROADCASTF128  = def("vbroadcastf128", enc(m0F38, p66, w0, 0x1A, t16, rm).vex().mem().only(len256))
	VBROADCASTI128  = def("vbroadcasti128", enc(m0F38, p66, w0, 0x5A, t16, rm).vex().mem().only(len256))
	VBROADCASTF32X4 = def("vbroadcastf32x4", enc(m0F38, p66, w0, 0x1A, t16, rm).evex().mem().only(len256up))
	VBROADCASTI32X4 = def("vbroadcasti32x4", enc(m0F38, p66, w0, 0x5A, t16, rm).evex().mem().only(len256up))
	VBROADCASTF64X4 = def("vbroadcastf64x4", enc(m0F38, p66, w1, 0x1B, t32, rm).evex().mem().only(len512))
	VBROADCASTI64X4 = def("vbroadcasti64x4", enc(m0F38, p66, w1, 0x5B, t32, rm).evex().mem().only(len512))
	VPBROADCASTMW2D = def("vpbroadcastmw2d", enc(m0F38, pF3, w0, 0x3A, noMem, vecFromMask).evex().flag(noMask))
)

// Gathers and scatters. The name has the index first, then the element. With
// EVEX they take a Mask, with VEX a third operand whose signs are the mask;
// both are cleared lane by lane, so they have to be set anew each time.
var (
	VGATHERDPS  = gathers("vgatherdps", w0, 0x92, t4, full, full)
	VGATHERDPD  = gathers("vgatherdpd", w1, 0x92, t8, full, half)
	VGATHERQPS  = gathers("vgatherqps", w0, 0x93, t4, half, full)
	VGATHERQPD  = gathers("vgatherqpd", w1, 0x93, t8, full, full)
	VPGATHERDD  = gathers("vpgatherdd", w0, 0x90, t4, full, full)
	VPGATHERDQ  = gathers("vpgatherdq", w1, 0x90, t8, full, half)
	VPGATHERQD  = gathers("vpgatherqd", w0, 0x91, t4, half, full)
	VPGATHERQQ  = gathers("vpgatherqq", w1, 0x91, t8, full, full)
	VSCATTERDPS = scatters("vscatterdps", w0, 0xA2, t4, full, full)
	VSCATTERDPD = scatters("vscatterdpd", w1, 0xA2, t8, half, full)
	VSCATTERQPS = scatters("vscatterqps", w0, 0xA3, t4, full, half)
	VPSCATTERDD = scatters("vpscatterdd", w0, 0xA0, t4, full, full)
	VPSCATTERDQ = scatters("vpscatterdq", w1, 0xA0, t8, half, full)
	VPSCATTERQD = scatters("vpscatterqd", w0, 0xA1, t4, full, half)
	VPSCATTERQQ = scatters("vpscatterqq", w1, 0xA1, t8, full, full)
)

// Parts of registers, and single elements.
var (
	VINSERTF128   = def("vinsertf128", enc(m0F3A, p66, w0, 0x18, t16, rvmi).vex().only(len256).sizes(full, full, xmm))
	VINSERTI128   = def("vinserti128", enc(m0F3A, p66, w0, 0x38, t16, rvmi).vex().only(len256).sizes(full, full, xmm))
	VEXTRACTF128  = def("vextractf128", enc(m0F3A, p66, w0, 0x19, t16, mri).vex().only(len256).sizes(xmm))
	VEXTRACTI128  = def("vextracti128", enc(m0F3A, p66, w0, 0x39, t16, mri).vex().only(len256).sizes(xmm))
	VINSERTF32X4  = def("vinsertf32x4", enc(m0F3A, p66, w0, 0x18, t16, rvmi).evex().only(len256up).sizes(full, full, xmm))
	VINSERTI32X4  = def("vinserti32x4", enc(m0F3A, p66, w0, 0x38, t16, rvmi).evex().only(len256up).sizes(full, full, xmm))
	VINSERTF64X4  = def("vinsertf64x4", enc(m0F3A, p66, w1, 0x1A, t32, rvmi).evex().only(len512).sizes(full, full, ymm))
	VINSERTI64X4  = def("vinserti64x4", enc(m0F3A, p66, w1, 0x3A, t32, rvmi).evex().only(len512).sizes(full, full, ymm))
	VEXTRACTF32X4 = def("vextractf32x4", enc(m0F3A, p66, w0, 0x19, t16, mri).evex().only(len256up).sizes(xmm))
	VEXTRACTI32X4 = def("vextracti32x4", enc(m0F3A, p66, w0, 0x39, t16, mri).evex().only(len256up).sizes(xmm))
	VEXTRACTF64X4 = def("vextractf64x4", enc(m0F3A, p66, w1, 0x1B, t32, mri).evex().only(len512).sizes(ymm))
	VEXTRACTI64X4 = def("vextracti64x4", enc(m0F3A, p66, w1, 0x3B, t32, mri).evex().only(len512).sizes(ymm))
	VINSERTPS     = def("vinsertps", enc(m0F3A, p66, w0, 0x21, t4, rvmi).scalar().flag(noMask))
	VEXTRACTPS    = def("vextractps", enc(m0F3A, p66, w0, 0x17, t4, extract(s32)).scalar().flag(noMask))
	VPEXTRB       = def("vpextrb", enc(m0F3A, p66, w0, 0x14, t1, extract(s32)).scalar().flag(noMask))
	VPEXTRD       = def("vpextrd", enc(m0F3A, p66, w0, 0x16, t4, extract(s32)).scalar().flag(noMask))
	VPEXTRQ       = def("vpextrq", enc(m0F3A, p66, w1, 0x16, t8, extract(s64)).scalar().flag(noMask))
	VPINSRB       = def("vpinsrb", enc(m0F3A, p66, w0, 0x20, t1, insert(s32)).scalar().flag(noMask))
	VPINSRW       = def("vpinsrw", enc(m0F, p66, w0, 0xC4, t2, insert(s32)).scalar().flag(noMask))
	VPINSRD       = def("vpinsrd", enc(m0F3A, p66, w0, 0x22, t4, insert(s32)).scalar().flag(noMask))
	VPINSRQ       = def("vpinsrq", enc(m0F3A, p66, w1, 0x22, t8, insert(s64)).scalar().flag(noMask))
)

// Shuffles of lanes.
var (
	VPERM2F128 = def("vperm2f128", enc(m0F3A, p66, w0, 0x06, fvm, rvmi).vex().only(len256))
	VPERM2I128 = def("vperm2i128", enc(m0F3A, p66, w0, 0x46, fvm, rvmi).vex().only(len256))
	VPERMILPS  = def("vpermilps", enc(m0F3A, p66, w0, 0x04, fv4, rmi), enc(m0F38, p66, w0, 0x0C, fv4, rvm))
	VPERMILPD  = def("vpermilpd", enc(m0F3A, p66, wE1, 0x05, fv8, rmi), enc(m0F38, p66, wE1, 0x0D, fv8, rvm))
	VPERMPS    = def("vpermps", enc(m0F38, p66, w0, 0x16, fv4, rvm).only(len256up))
	VPERMD     = def("vpermd", enc(m0F38, p66, w0, 0x36, fv4, rvm).only(len256up))
	VPERMPD    = def("vpermpd", enc(m0F3A, p66, w1, 0x01, fv8, rmi).only(len256up), enc(m0F38, p66, w1, 0x16, fv8, rvm).evex().only(len256up))
	VPERMQ     = def("vpermq", enc(m0F3A, p66, w1, 0x00, fv8, rmi).only(len256up), enc(m0F38, p66, w1, 0x36, fv8, rvm).evex().only(len256up))
	VPERMB     = def("vpermb", enc(m0F38, p66, w0, 0x8D, fvm, rvm).evex())
	VPERMW     = def("vpermw", enc(m0F38, p66, w1, 0x8D, fvm, rvm).evex())
	VPERMT2B   = def("vpermt2b", enc(m0F38, p66, w0, 0x7D, fvm, rvm).evex())
	VPERMT2W   = def("vpermt2w", enc(m0F38, p66, w1, 0x7D, fvm, rvm).evex())
	VPERMT2D   = def("vpermt2d", enc(m0F38, p66, w0, 0x7E, fv4, rvm).evex())
	VPERMT2PS  = def("vpermt2ps", enc(m0F38, p66, w0, 0x7F, fv4, rvm).evex())
	VPERMT2PD  = def("vpermt2pd", enc(m0F38, p66, w1, 0x7F, fv8, rvm).evex())
	VPERMI2D   = def("vpermi2d", enc(m0F38, p66, w0, 0x76, fv4, rvm).evex())
	VPERMI2PS  = def("vpermi2ps", enc(m0F38, p66, w0, 0x77, fv4, rvm).evex())
	VSHUFPS    = def("vshufps", enc(m0F, np, w0, 0xC6, fv4, rvmi))
	VSHUFPD    = def("vshufpd", enc(m0F, p66, wE1, 0xC6, fv8, rvmi))
	VSHUFF32X4 = def("vshuff32x4", enc(m0F3A, p66, w0, 0x23, fv4, rvmi).evex().only(len256up))
	VSHUFF64X2 = def("vshuff64x2", enc(m0F3A, p66, w1, 0x23, fv8, rvmi).evex().only(len256up))
	VSHUFI32X4 = def("vshufi32x4", enc(m0F3A, p66, w0, 0x43, fv4, rvmi).evex().only(len256up))
	VSHUFI64X2 = def("vshufi64x2", enc(m0F3A, p66, w1, 0x43, fv8, rvmi).evex().only(len256up))
	VPSHUFD    = def("vpshufd", enc(m0F, p66, w0, 0x70, fv4, rmi))
	VPSHUFB    = def("vpshufb", enc(m0F38, p66, w0, 0x00, fvm, rvm))
	VPALIGNR   = def("vpalignr", enc(m0F3A, p66, w0, 0x0F, fvm, rvmi))
	VALIGND    = def("valignd", enc(m0F3A, p66, w0, 0x03, fv4, rvmi).evex())
	VALIGNQ    = def("valignq", enc(m0F3A, p66, w1, 0x03, fv8, rvmi).evex())

	VUNPCKLPS   = def("vunpcklps", enc(m0F, np, w0, 0x14, fv4, rvm))
	VUNPCKHPS   = def("vunpckhps", enc(m0F, np, w0, 0x15, fv4, rvm))
	VUNPCKLPD   = def("vunpcklpd", enc(m0F, p66, wE1, 0x14, fv8, rvm))
	VUNPCKHPD   = def("vunpckhpd", enc(m0F, p66, wE1, 0x15, fv8, rvm))
	VPUNPCKLBW  = def("vpunpcklbw", enc(m0F, p66, w0, 0x60, fvm, rvm))
	VPUNPCKLWD  = def("vpunpcklwd", enc(m0F, p66, w0, 0x61, fvm, rvm))
	VPUNPCKLDQ  = def("vpunpckldq", enc(m0F, p66, w0, 0x62, fv4, rvm))
	VPUNPCKLQDQ = def("vpunpcklqdq", enc(m0F, p66, wE1, 0x6C, fv8, rvm))
	VPUNPCKHBW  = def("vpunpckhbw", enc(m0F, p66, w0, 0x68, fvm, rvm))
	VPUNPCKHWD  = def("vpunpckhwd", enc(m0F, p66, w0, 0x69, fvm, rvm))
	VPUNPCKHDQ  = def("vpunpckhdq", enc(m0F, p66, w0, 0x6A, fv4, rvm))
	VPUNPCKHQDQ = def("vpunpckhqdq", enc(m0F, p66, wE1, 0x6D, fv8, rvm))
	VPACKSSWB   = def("vpacksswb", enc(m0F, p66, w0, 0x63, fvm, rvm))
	VPACKUSWB   = def("vpackuswb", enc(m0F, p66, w0, 0x67, fvm, rvm))
	VPACKSSDW   = def("vpackssdw", enc(m0F, p66, w0, 0x6B, fv4, rvm))
	VPACKUSDW   = def("vpackusdw", enc(m0F38, p66, w0, 0x2B, fv4, rvm))
)

// Blends. VEX ones select by the sign of a fourth operand or by an immediate,
// EVEX ones by the Mask, taking the third operand where it is set.
var (
	VBLENDVPS = def("vblendvps", enc(m0F3A, p66, w0, 0x4A, fvm, rvmr).vex())
	VBLENDVPD = def("vblendvpd", enc(m0F3A, p66, w0, 0x4B, fvm, rvmr).vex())
	VPBLENDVB = def("vpblendvb", enc(m0F3A, p66, w0, 0x4C, fvm, rvmr).vex())
	VBLENDPS  = def("vblendps", enc(m0F3A, p66, w0, 0x0C, fvm, rvmi).vex())
	VBLENDPD  = def("vblendpd", enc(m0F3A, p66, w0, 0x0D, fvm, rvmi).vex())
	VPBLENDD  = def("vpblendd", enc(m0F3A, p66, w0, 0x02, fvm, rvmi).vex())
	VBLENDMPS = def("vblendmps", enc(m0F38, p66, w0, 0x65, fv4, rvm).evex())
	VBLENDMPD = def("vblendmpd", enc(m0F38, p66, w1, 0x65, fv8, rvm).evex())
	VPBLENDMB = def("vpblendmb", enc(m0F38, p66, w0, 0x66, fvm, rvm).evex())
	VPBLENDMW = def("vpblendmw", enc(m0F38, p66, w1, 0x66, fvm, rvm).evex())
	VPBLENDMD = def("vpblendmd", enc(m0F38, p66, w0, 0x64, fv4, rvm).evex())
	VPBLENDMQ = def("vpblendmq", enc(m0F38, p66, w1, 0x64, fv8, rvm).evex())
)

func move(name string, pp prefix, w wBit, load, store byte) Op {
	return def(name,
		enc(m0F, pp, w, load, fvm, rm).flag(reverse),
		enc(m0F, pp, w, store, fvm, mr))
}

func moveEVEX(name string, pp prefix, w wBit) Op {
	return def(name,
		enc(m0F, pp, w, 0x6F, fvm, rm).evex(),
		enc(m0F, pp, w, 0x7F, fvm, mr).evex())
}

// moveScalar loads (clearing the rest of the register), stores, or, with three
// registers, puts the low element of the third on top of the second.
func moveScalar(name string, pp prefix, w wBit, t tuple) Op {
	return def(name,
		enc(m0F, pp, w, 0x10, t, rm).mem().scalar(),
		enc(m0F, pp, w, 0x11, t, mr).mem().scalar(),
		enc(m0F, pp, w, 0x10, t, rvm).reg().scalar().flag(reverse),
		enc(m0F, pp, w, 0x11, t, operands(vRM, vVvvv, vReg)).vex().reg().scalar())
}

func maskMove(name string, w wBit, load, store byte) Op {
	return def(name,
		enc(m0F38, p66, w, load, fvm, rvm).vex().mem(),
		enc(m0F38, p66, w, store, fvm, mvr).vex())
}

func broadcast(name string, w wBit, opc byte, t tuple, fromGP byte, f form) Op {
	wGP := w0
	if w == wE1 {
		wGP = w1
	}
	return def(name,
		enc(m0F38, p66, w, opc, t, rm).sizes(full, xmm),
		enc(m0F38, p66, wGP, fromGP, noMem, f).evex())
}

func gathers(name string, w wBit, opc byte, t tuple, data, index size) Op {
	return def(name,
		enc(m0F38, p66, w, opc, t, gatherVEX).vex().sizes(data, index, data).flag(gather),
		enc(m0F38, p66, w, opc, t, gatherEVEX).evex().sizes(data, index).flag(gather))
}

func scatters(name string, w wBit, opc byte, t tuple, index, data size) Op {
	return def(name, enc(m0F38, p66, w, opc, t, scatter).evex().sizes(index, data).flag(gather))
}

func extract(s size) form { return operands(slot{inRM, kGPM, s}, vReg, imm8) }

func insert(s size) form { return operands(vReg, vVvvv, slot{inRM, kGPM, s}, imm8) }
