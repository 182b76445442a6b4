package asm

// Integer arithmetic on vectors.
var (
	VPADDB  = def("vpaddb", enc(m0F, p66, w0, 0xFC, fvm, rvm))
	VPADDW  = def("vpaddw", enc(m0F, p66, w0, 0xFD, fvm, rvm))
	VPADDD  = def("vpaddd", enc(m0F, p66, w0, 0xFE, fv4, rvm))
	VPADDQ  = def("vpaddq", enc(m0F, p66, wE1, 0xD4, fv8, rvm))
	VPADDSW = def("vpaddsw", enc(m0F, p66, w0, 0xED, fvm, rvm))
	VPSUBB  = def("vpsubb", enc(m0F, p66, w0, 0xF8, fvm, rvm))
	VPSUBW  = def("vpsubw", enc(m0F, p66, w0, 0xF9, fvm, rvm))
	VPSUBD  = def("vpsubd", enc(m0F, p66, w0, 0xFA, fv4, rvm))
	VPSUBQ  = def("vpsubq", enc(m0F, p66, wE1, 0xFB, fv8, rvm))

	VPMULLW    = def("vpmullw", enc(m0F, p66, w0, 0xD5, fvm, rvm))
	VPMULHW    = def("vpmulhw", enc(m0F, p66, w0, 0xE5, fvm, rvm))
	VPMULHUW   = def("vpmulhuw", enc(m0F, p66, w0, 0xE4, fvm, rvm))
	VPMULLD    = def("vpmulld", enc(m0F38, p66, w0, 0x40, fv4, rvm))
	VPMULLQ    = def("vpmullq", enc(m0F38, p66, w1, 0x40, fv8, rvm).evex())
	VPMULDQ    = def("vpmuldq", enc(m0F38, p66, wE1, 0x28, fv8, rvm))
	VPMULUDQ   = def("vpmuludq", enc(m0F, p66, wE1, 0xF4, fv8, rvm))
	VPMADDWD   = def("vpmaddwd", enc(m0F, p66, w0, 0xF5, fvm, rvm))
	VPMADDUBSW = def("vpmaddubsw", enc(m0F38, p66, w0, 0x04, fvm, rvm))
	VPSADBW    = def("vpsadbw", enc(m0F, p66, w0, 0xF6, fvm, rvm).flag(noMask))

	VPMINSB = def("vpminsb", enc(m0F38, p66, w0, 0x38, fvm, rvm))
	VPMINSW = def("vpminsw", enc(m0F, p66, w0, 0xEA, fvm, rvm))
	VPMINSD = def("vpminsd", enc(m0F38, p66, w0, 0x39, fv4, rvm))
	VPMINSQ = def("vpminsq", enc(m0F38, p66, w1, 0x39, fv8, rvm).evex())
	VPMAXSB = def("vpmaxsb", enc(m0F38, p66, w0, 0x3C, fvm, rvm))
	VPMAXSW = def("vpmaxsw", enc(m0F, p66, w0, 0xEE, fvm, rvm))
	VPMAXSD = def("vpmaxsd", enc(m0F38, p66, w0, 0x3D, fv4, rvm))
	VPMAXSQ = def("vpmaxsq", enc(m0F38, p66, w1, 0x3D, fv8, rvm).evex())
	VPMINUB = def("vpminub", enc(m0F, p66, w0, 0xDA, fvm, rvm))
	VPMINUW = def("vpminuw", enc(m0F38, p66, w0, 0x3A, fvm, rvm))
	VPMINUD = def("vpminud", enc(m0F38, p66, w0, 0x3B, fv4, rvm))
	VPMINUQ = def("vpminuq", enc(m0F38, p66, w1, 0x3B, fv8, rvm).evex())
	VPMAXUB = def("vpmaxub", enc(m0F, p66, w0, 0xDE, fvm, rvm))
	VPMAXUW = def("vpmaxuw", enc(m0F38, p66, w0, 0x3E, fvm, rvm))
	VPMAXUD = def("vpmaxud", enc(m0F38, p66, w0, 0x3F, fv4, rvm))
	VPMAXUQ = def("vpmaxuq", enc(m0F38, p66, w1, 0x3F, fv8, rvm).evex())
	VPABSB  = def("vpabsb", enc(m0F38, p66, w0, 0x1C, fvm, rm))
	VPABSW  = def("vpabsw", enc(m0F38, p66, w0, 0x1D, fvm, rm))
	VPABSD  = def("vpabsd", enc(m0F38, p66, w0, 0x1E, fv4, rm))
	VPABSQ  = def("vpabsq", enc(m0F38, p66, w1, 0x1F, fv8, rm).evex())

	VPLZCNTD = def("vplzcntd", enc(m0F38, p66, w0, 0x44, fv4, rm).evex())
	VPLZCNTQ = def("vplzcntq", enc(m0F38, p66, w1, 0x44, fv8, rm).evex())
)

// Logic. The names without a width are VEX, those with one EVEX.
var (
	VPAND      = def("vpand", enc(m0F, p66, w0, 0xDB, fvm, rvm).vex())
	VPANDN     = def("vpandn", enc(m0F, p66, w0, 0xDF, fvm, rvm).vex())
	VPOR       = def("vpor", enc(m0F, p66, w0, 0xEB, fvm, rvm).vex())
	VPXOR      = def("vpxor", enc(m0F, p66, w0, 0xEF, fvm, rvm).vex())
	VPANDD     = def("vpandd", enc(m0F, p66, w0, 0xDB, fv4, rvm).evex())
	VPANDQ     = def("vpandq", enc(m0F, p66, w1, 0xDB, fv8, rvm).evex())
	VPANDND    = def("vpandnd", enc(m0F, p66, w0, 0xDF, fv4, rvm).evex())
	VPANDNQ    = def("vpandnq", enc(m0F, p66, w1, 0xDF, fv8, rvm).evex())
	VPORD      = def("vpord", enc(m0F, p66, w0, 0xEB, fv4, rvm).evex())
	VPORQ      = def("vporq", enc(m0F, p66, w1, 0xEB, fv8, rvm).evex())
	VPXORD     = def("vpxord", enc(m0F, p66, w0, 0xEF, fv4, rvm).evex())
	VPXORQ     = def("vpxorq", enc(m0F, p66, w1, 0xEF, fv8, rvm).evex())
	VPTERNLOGD = def("vpternlogd", enc(m0F3A, p66, w0, 0x25, fv4, rvmi).evex())
	VPTERNLOGQ = def("vpternlogq", enc(m0F3A, p66, w1, 0x25, fv8, rvmi).evex())
	VPTEST     = def("vptest", enc(m0F38, p66, w0, 0x17, fvm, rm).vex())
)

// Shifts: by an immediate, by the low 64 bits of a vector register, or, with V,
// each lane by its own count. Counts past the width give 0, or all sign bits.
var (
	VPSLLW  = shifts("vpsllw", w0, 0x71, 6, fvm, 0xF1)
	VPSRLW  = shifts("vpsrlw", w0, 0x71, 2, fvm, 0xD1)
	VPSRAW  = shifts("vpsraw", w0, 0x71, 4, fvm, 0xE1)
	VPSLLD  = shifts("vpslld", w0, 0x72, 6, fv4, 0xF2)
	VPSRLD  = shifts("vpsrld", w0, 0x72, 2, fv4, 0xD2)
	VPSRAD  = shifts("vpsrad", w0, 0x72, 4, fv4, 0xE2)
	VPSLLQ  = shifts("vpsllq", wE1, 0x73, 6, fv8, 0xF3)
	VPSRLQ  = shifts("vpsrlq", wE1, 0x73, 2, fv8, 0xD3)
	VPSRAQ  = def("vpsraq", enc(m0F, p66, w1, 0x72, fv8, vmi).evex().slash(4), byVector(w1, 0xE2).evex())
	VPSLLDQ = byteShift("vpslldq", 7)
	VPSRLDQ = byteShift("vpsrldq", 3)
	VPROLD  = def("vprold", enc(m0F, p66, w0, 0x72, fv4, vmi).evex().slash(1))
	VPRORD  = def("vprord", enc(m0F, p66, w0, 0x72, fv4, vmi).evex().slash(0))

	VPSLLVD = def("vpsllvd", enc(m0F38, p66, w0, 0x47, fv4, rvm))
	VPSLLVQ = def("vpsllvq", enc(m0F38, p66, w1, 0x47, fv8, rvm))
	VPSRLVD = def("vpsrlvd", enc(m0F38, p66, w0, 0x45, fv4, rvm))
	VPSRLVQ = def("vpsrlvq", enc(m0F38, p66, w1, 0x45, fv8, rvm))
	VPSRAVD = def("vpsravd", enc(m0F38, p66, w0, 0x46, fv4, rvm))
	VPSRAVQ = def("vpsravq", enc(m0F38, p66, w1, 0x46, fv8, rvm).evex())
	VPSLLVW = def("vpsllvw", enc(m0F38, p66, w1, 0x12, fvm, rvm).evex())
	VPSRLVW = def("vpsrlvw", enc(m0F38, p66, w1, 0x10, fvm, rvm).evex())
	VPSRAVW = def("vpsravw", enc(m0F38, p66, w1, 0x11, fvm, rvm).evex())
)

// Comparisons: to a vector with VEX (V destination), to a mask with EVEX (K
// destination). The test instructions set a mask bit where a AND b is not 0
// (vptestm) or is 0 (vptestnm).
var (
	VPCMPEQB = compares("vpcmpeqb", m0F, w0, 0x74, fvm)
	VPCMPEQW = compares("vpcmpeqw", m0F, w0, 0x75, fvm)
	VPCMPEQD = compares("vpcmpeqd", m0F, w0, 0x76, fv4)
	VPCMPEQQ = compares("vpcmpeqq", m0F38, w1, 0x29, fv8)
	VPCMPGTB = compares("vpcmpgtb", m0F, w0, 0x64, fvm)
	VPCMPGTW = compares("vpcmpgtw", m0F, w0, 0x65, fvm)
	VPCMPGTD = compares("vpcmpgtd", m0F, w0, 0x66, fv4)
	VPCMPGTQ = compares("vpcmpgtq", m0F38, w1, 0x37, fv8)

	VPCMPB  = def("vpcmpb", enc(m0F3A, p66, w0, 0x3F, fvm, kvmi).evex().flag(intPred))
	VPCMPW  = def("vpcmpw", enc(m0F3A, p66, w1, 0x3F, fvm, kvmi).evex().flag(intPred))
	VPCMPD  = def("vpcmpd", enc(m0F3A, p66, w0, 0x1F, fv4, kvmi).evex().flag(intPred))
	VPCMPQ  = def("vpcmpq", enc(m0F3A, p66, w1, 0x1F, fv8, kvmi).evex().flag(intPred))
	VPCMPUB = def("vpcmpub", enc(m0F3A, p66, w0, 0x3E, fvm, kvmi).evex().flag(intPred))
	VPCMPUW = def("vpcmpuw", enc(m0F3A, p66, w1, 0x3E, fvm, kvmi).evex().flag(intPred))
	VPCMPUD = def("vpcmpud", enc(m0F3A, p66, w0, 0x1E, fv4, kvmi).evex().flag(intPred))
	VPCMPUQ = def("vpcmpuq", enc(m0F3A, p66, w1, 0x1E, fv8, kvmi).evex().flag(intPred))

	VPTESTMB  = def("vptestmb", enc(m0F38, p66, w0, 0x26, fvm, kvm).evex())
	VPTESTMW  = def("vptestmw", enc(m0F38, p66, w1, 0x26, fvm, kvm).evex())
	VPTESTMD  = def("vptestmd", enc(m0F38, p66, w0, 0x27, fv4, kvm).evex())
	VPTESTMQ  = def("vptestmq", enc(m0F38, p66, w1, 0x27, fv8, kvm).evex())
	VPTESTNMB = def("vptestnmb", enc(m0F38, pF3, w0, 0x26, fvm, kvm).evex())
	VPTESTNMW = def("vptestnmw", enc(m0F38, pF3, w1, 0x26, fvm, kvm).evex())
	VPTESTNMD = def("vptestnmd", enc(m0F38, pF3, w0, 0x27, fv4, kvm).evex())
	VPTESTNMQ = def("vptestnmq", enc(m0F38, pF3, w1, 0x27, fv8, kvm).evex())
)

// shifts has the immediate forms, whose source may be memory in EVEX alone,
// and the form that takes its count from a vector.
func shifts(name string, w wBit, opc byte, n int8, t tuple, byVec byte) Op {
	return def(name,
		enc(m0F, p66, w, opc, t, vmi).vex().reg().slash(n),
		enc(m0F, p66, w, opc, t, vmi).evex().slash(n),
		byVector(w, byVec))
}

func byVector(w wBit, opc byte) row { return enc(m0F, p66, w, opc, t16, rvm).sizes(full, full, xmm) }

// byteShift moves bytes within each 128 bits.
func byteShift(name string, n int8) Op {
	return def(name,
		enc(m0F, p66, w0, 0x73, fvm, vmi).vex().reg().slash(n),
		enc(m0F, p66, w0, 0x73, fvm, vmi).evex().slash(n).flag(noMask))
}

func compares(name string, mm opMap, w wBit, opc byte, t tuple) Op {
	return def(name,
		enc(mm, p66, w0, opc, fvm, rvm).vex(),
		enc(mm, p66, w, opc, t, kvm).evex())
}
