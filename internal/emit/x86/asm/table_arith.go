package asm

// Floating-point arithmetic.
var (
	VADDPS  = def("vaddps", enc(m0F, np, w0, 0x58, fv4, rvm))
	VADDPD  = def("vaddpd", enc(m0F, p66, wE1, 0x58, fv8, rvm))
	VADDSS  = def("vaddss", enc(m0F, pF3, w0, 0x58, t4, rvm).scalar())
	VADDSD  = def("vaddsd", enc(m0F, pF2, wE1, 0x58, t8, rvm).scalar())
	VMULPS  = def("vmulps", enc(m0F, np, w0, 0x59, fv4, rvm))
	VMULPD  = def("vmulpd", enc(m0F, p66, wE1, 0x59, fv8, rvm))
	VMULSS  = def("vmulss", enc(m0F, pF3, w0, 0x59, t4, rvm).scalar())
	VMULSD  = def("vmulsd", enc(m0F, pF2, wE1, 0x59, t8, rvm).scalar())
	VSUBPS  = def("vsubps", enc(m0F, np, w0, 0x5C, fv4, rvm))
	VSUBPD  = def("vsubpd", enc(m0F, p66, wE1, 0x5C, fv8, rvm))
	VSUBSS  = def("vsubss", enc(m0F, pF3, w0, 0x5C, t4, rvm).scalar())
	VSUBSD  = def("vsubsd", enc(m0F, pF2, wE1, 0x5C, t8, rvm).scalar())
	VMINPS  = def("vminps", enc(m0F, np, w0, 0x5D, fv4, rvm))
	VMINPD  = def("vminpd", enc(m0F, p66, wE1, 0x5D, fv8, rvm))
	VMINSS  = def("vminss", enc(m0F, pF3, w0, 0x5D, t4, rvm).scalar())
	VMINSD  = def("vminsd", enc(m0F, pF2, wE1, 0x5D, t8, rvm).scalar())
	VDIVPS  = def("vdivps", enc(m0F, np, w0, 0x5E, fv4, rvm))
	VDIVPD  = def("vdivpd", enc(m0F, p66, wE1, 0x5E, fv8, rvm))
	VDIVSS  = def("vdivss", enc(m0F, pF3, w0, 0x5E, t4, rvm).scalar())
	VDIVSD  = def("vdivsd", enc(m0F, pF2, wE1, 0x5E, t8, rvm).scalar())
	VMAXPS  = def("vmaxps", enc(m0F, np, w0, 0x5F, fv4, rvm))
	VMAXPD  = def("vmaxpd", enc(m0F, p66, wE1, 0x5F, fv8, rvm))
	VMAXSS  = def("vmaxss", enc(m0F, pF3, w0, 0x5F, t4, rvm).scalar())
	VMAXSD  = def("vmaxsd", enc(m0F, pF2, wE1, 0x5F, t8, rvm).scalar())
	VSQRTPS = def("vsqrtps", enc(m0F, np, w0, 0x51, fv4, rm))
	VSQRTPD = def("vsqrtpd", enc(m0F, p66, wE1, 0x51, fv8, rm))
	VSQRTSS = def("vsqrtss", enc(m0F, pF3, w0, 0x51, t4, rvm).scalar())
	VSQRTSD = def("vsqrtsd", enc(m0F, pF2, wE1, 0x51, t8, rvm).scalar())

	// Approximations, with relative errors of 2^-14 and 1.5*2^-12.
	VRCP14PS   = def("vrcp14ps", enc(m0F38, p66, w0, 0x4C, fv4, rm).evex())
	VRCP14PD   = def("vrcp14pd", enc(m0F38, p66, w1, 0x4C, fv8, rm).evex())
	VRSQRT14PS = def("vrsqrt14ps", enc(m0F38, p66, w0, 0x4E, fv4, rm).evex())
	VRSQRT14PD = def("vrsqrt14pd", enc(m0F38, p66, w1, 0x4E, fv8, rm).evex())
	VRCPPS     = def("vrcpps", enc(m0F, np, w0, 0x53, fvm, rm).vex())
	VRSQRTPS   = def("vrsqrtps", enc(m0F, np, w0, 0x52, fvm, rm).vex())

	// Rounding to integers: the immediate is 8 for to nearest even, 9 down,
	// 10 up, 11 towards zero. vrndscale is the EVEX name of vround.
	VROUNDPS    = def("vroundps", enc(m0F3A, p66, w0, 0x08, fvm, rmi).vex())
	VROUNDPD    = def("vroundpd", enc(m0F3A, p66, w0, 0x09, fvm, rmi).vex())
	VROUNDSS    = def("vroundss", enc(m0F3A, p66, w0, 0x0A, t4, rvmi).vex().scalar())
	VROUNDSD    = def("vroundsd", enc(m0F3A, p66, w0, 0x0B, t8, rvmi).vex().scalar())
	VRNDSCALEPS = def("vrndscaleps", enc(m0F3A, p66, w0, 0x08, fv4, rmi).evex())
	VRNDSCALEPD = def("vrndscalepd", enc(m0F3A, p66, w1, 0x09, fv8, rmi).evex())
	VRNDSCALESS = def("vrndscaless", enc(m0F3A, p66, w0, 0x0A, t4, rvmi).evex().scalar())
	VRNDSCALESD = def("vrndscalesd", enc(m0F3A, p66, w1, 0x0B, t8, rvmi).evex().scalar())

	VSCALEFPS  = def("vscalefps", enc(m0F38, p66, w0, 0x2C, fv4, rvm).evex())
	VSCALEFPD  = def("vscalefpd", enc(m0F38, p66, w1, 0x2C, fv8, rvm).evex())
	VGETEXPPS  = def("vgetexpps", enc(m0F38, p66, w0, 0x42, fv4, rm).evex())
	VGETEXPPD  = def("vgetexppd", enc(m0F38, p66, w1, 0x42, fv8, rm).evex())
	VGETMANTPS = def("vgetmantps", enc(m0F3A, p66, w0, 0x26, fv4, rmi).evex())
	VGETMANTPD = def("vgetmantpd", enc(m0F3A, p66, w1, 0x26, fv8, rmi).evex())
	VREDUCEPS  = def("vreduceps", enc(m0F3A, p66, w0, 0x56, fv4, rmi).evex())
	VREDUCEPD  = def("vreducepd", enc(m0F3A, p66, w1, 0x56, fv8, rmi).evex())
	VRANGEPS   = def("vrangeps", enc(m0F3A, p66, w0, 0x50, fv4, rvmi).evex())
	VRANGEPD   = def("vrangepd", enc(m0F3A, p66, w1, 0x50, fv8, rvmi).evex())

	VANDPS  = def("vandps", enc(m0F, np, w0, 0x54, fv4, rvm))
	VANDPD  = def("vandpd", enc(m0F, p66, wE1, 0x54, fv8, rvm))
	VANDNPS = def("vandnps", enc(m0F, np, w0, 0x55, fv4, rvm))
	VANDNPD = def("vandnpd", enc(m0F, p66, wE1, 0x55, fv8, rvm))
	VORPS   = def("vorps", enc(m0F, np, w0, 0x56, fv4, rvm))
	VORPD   = def("vorpd", enc(m0F, p66, wE1, 0x56, fv8, rvm))
	VXORPS  = def("vxorps", enc(m0F, np, w0, 0x57, fv4, rvm))
	VXORPD  = def("vxorpd", enc(m0F, p66, wE1, 0x57, fv8, rvm))
)

// Fused multiply-add, d the first operand and destination: 132 is d*c + b,
// 213 is b*d + c, 231 is b*c + d.
var (
	VFMADD132PS  = fma("vfmadd132ps", w0, 0x98, fv4)
	VFMADD213PS  = fma("vfmadd213ps", w0, 0xA8, fv4)
	VFMADD231PS  = fma("vfmadd231ps", w0, 0xB8, fv4)
	VFMADD132PD  = fma("vfmadd132pd", w1, 0x98, fv8)
	VFMADD213PD  = fma("vfmadd213pd", w1, 0xA8, fv8)
	VFMADD231PD  = fma("vfmadd231pd", w1, 0xB8, fv8)
	VFMADD132SS  = fma("vfmadd132ss", w0, 0x99, t4)
	VFMADD213SS  = fma("vfmadd213ss", w0, 0xA9, t4)
	VFMADD231SS  = fma("vfmadd231ss", w0, 0xB9, t4)
	VFMADD132SD  = fma("vfmadd132sd", w1, 0x99, t8)
	VFMADD213SD  = fma("vfmadd213sd", w1, 0xA9, t8)
	VFMADD231SD  = fma("vfmadd231sd", w1, 0xB9, t8)
	VFMSUB132PS  = fma("vfmsub132ps", w0, 0x9A, fv4)
	VFMSUB213PS  = fma("vfmsub213ps", w0, 0xAA, fv4)
	VFMSUB231PS  = fma("vfmsub231ps", w0, 0xBA, fv4)
	VFMSUB132PD  = fma("vfmsub132pd", w1, 0x9A, fv8)
	VFMSUB213PD  = fma("vfmsub213pd", w1, 0xAA, fv8)
	VFMSUB231PD  = fma("vfmsub231pd", w1, 0xBA, fv8)
	VFMSUB213SS  = fma("vfmsub213ss", w0, 0xAB, t4)
	VFMSUB231SS  = fma("vfmsub231ss", w0, 0xBB, t4)
	VFNMADD132PS = fma("vfnmadd132ps", w0, 0x9C, fv4)
	VFNMADD213PS = fma("vfnmadd213ps", w0, 0xAC, fv4)
	VFNMADD231PS = fma("vfnmadd231ps", w0, 0xBC, fv4)
	VFNMADD132PD = fma("vfnmadd132pd", w1, 0x9C, fv8)
	VFNMADD213PD = fma("vfnmadd213pd", w1, 0xAC, fv8)
	VFNMADD231PD = fma("vfnmadd231pd", w1, 0xBC, fv8)
	VFNMADD213SS = fma("vfnmadd213ss", w0, 0xAD, t4)
	VFNMADD231SS = fma("vfnmadd231ss", w0, 0xBD, t4)
	VFNMSUB132PS = fma("vfnmsub132ps", w0, 0x9E, fv4)
	VFNMSUB213PS = fma("vfnmsub213ps", w0, 0xAE, fv4)
	VFNMSUB231PS = fma("vfnmsub231ps", w0, 0xBE, fv4)
	VFNMSUB132PD = fma("vfnmsub132pd", w1, 0x9E, fv8)
	VFNMSUB213PD = fma("vfnmsub213pd", w1, 0xAE, fv8)
	VFNMSUB231PD = fma("vfnmsub231pd", w1, 0xBE, fv8)
)

// Dot products, added to the destination: 4 bytes, unsigned by signed, 2 words,
// 2 bf16 values (which flushes subnormals) a lane. The trailing S saturates.
var (
	VPDPBUSD  = def("vpdpbusd", enc(m0F38, p66, w0, 0x50, fv4, rvm).vexAlone())
	VPDPBUSDS = def("vpdpbusds", enc(m0F38, p66, w0, 0x51, fv4, rvm).vexAlone())
	VPDPWSSD  = def("vpdpwssd", enc(m0F38, p66, w0, 0x52, fv4, rvm).vexAlone())
	VPDPWSSDS = def("vpdpwssds", enc(m0F38, p66, w0, 0x53, fv4, rvm).vexAlone())
	VDPBF16PS = def("vdpbf16ps", enc(m0F38, pF3, w0, 0x52, fv4, rvm).evex())
)

// Comparisons: to a vector of all ones or zeros with VEX (V destination), to a
// mask with EVEX (K destination).
var (
	VCMPPS = def("vcmpps",
		enc(m0F, np, w0, 0xC2, fvm, rvmi).vex().flag(fpPred),
		enc(m0F, np, w0, 0xC2, fv4, kvmi).evex().flag(fpPred))
	VCMPPD = def("vcmppd",
		enc(m0F, p66, w0, 0xC2, fvm, rvmi).vex().flag(fpPred),
		enc(m0F, p66, w1, 0xC2, fv8, kvmi).evex().flag(fpPred))
	VCMPSS = def("vcmpss",
		enc(m0F, pF3, w0, 0xC2, t4, rvmi).vex().scalar().flag(fpPred),
		enc(m0F, pF3, w0, 0xC2, t4, kvmi).evex().scalar().flag(fpPred))
	VCMPSD = def("vcmpsd",
		enc(m0F, pF2, w0, 0xC2, t8, rvmi).vex().scalar().flag(fpPred),
		enc(m0F, pF2, w1, 0xC2, t8, kvmi).evex().scalar().flag(fpPred))
	VUCOMISS   = def("vucomiss", enc(m0F, np, w0, 0x2E, t4, rm).scalar().flag(noMask))
	VUCOMISD   = def("vucomisd", enc(m0F, p66, wE1, 0x2E, t8, rm).scalar().flag(noMask))
	VTESTPS    = def("vtestps", enc(m0F38, p66, w0, 0x0E, fvm, rm).vex())
	VFPCLASSPS = def("vfpclassps", enc(m0F3A, p66, w0, 0x66, fv4, kmi).evex())
	VFPCLASSPD = def("vfpclasspd", enc(m0F3A, p66, w1, 0x66, fv8, kmi).evex())
)

func fma(name string, w wBit, opc byte, t tuple) Op {
	r := enc(m0F38, p66, w, opc, t, rvm)
	if t == t4 || t == t8 {
		r = r.scalar()
	}
	return def(name, r)
}
