package asm

// Conversions. Where the widths differ the wider operand has the encoded length.
var (
	VCVTDQ2PS   = def("vcvtdq2ps", enc(m0F, np, w0, 0x5B, fv4, rm))
	VCVTPS2DQ   = def("vcvtps2dq", enc(m0F, p66, w0, 0x5B, fv4, rm))
	VCVTTPS2DQ  = def("vcvttps2dq", enc(m0F, pF3, w0, 0x5B, fv4, rm))
	VCVTUDQ2PS  = def("vcvtudq2ps", enc(m0F, pF2, w0, 0x7A, fv4, rm).evex())
	VCVTPS2UDQ  = def("vcvtps2udq", enc(m0F, np, w0, 0x79, fv4, rm).evex())
	VCVTTPS2UDQ = def("vcvttps2udq", enc(m0F, np, w0, 0x78, fv4, rm).evex())

	VCVTPS2PD   = def("vcvtps2pd", enc(m0F, np, w0, 0x5A, hv4, rm).sizes(full, half))
	VCVTDQ2PD   = def("vcvtdq2pd", enc(m0F, pF3, w0, 0xE6, hv4, rm).sizes(full, half))
	VCVTUDQ2PD  = def("vcvtudq2pd", enc(m0F, pF3, w0, 0x7A, hv4, rm).evex().sizes(full, half))
	VCVTPS2QQ   = def("vcvtps2qq", enc(m0F, p66, w0, 0x7B, hv4, rm).evex().sizes(full, half))
	VCVTTPS2QQ  = def("vcvttps2qq", enc(m0F, p66, w0, 0x7A, hv4, rm).evex().sizes(full, half))
	VCVTTPS2UQQ = def("vcvttps2uqq", enc(m0F, p66, w0, 0x78, hv4, rm).evex().sizes(full, half))

	VCVTPD2PS   = def("vcvtpd2ps", enc(m0F, p66, wE1, 0x5A, fv8, rm).sizes(half, full))
	VCVTPD2DQ   = def("vcvtpd2dq", enc(m0F, pF2, wE1, 0xE6, fv8, rm).sizes(half, full))
	VCVTTPD2DQ  = def("vcvttpd2dq", enc(m0F, p66, wE1, 0xE6, fv8, rm).sizes(half, full))
	VCVTTPD2UDQ = def("vcvttpd2udq", enc(m0F, np, w1, 0x78, fv8, rm).evex().sizes(half, full))
	VCVTQQ2PS   = def("vcvtqq2ps", enc(m0F, np, w1, 0x5B, fv8, rm).evex().sizes(half, full))
	VCVTUQQ2PS  = def("vcvtuqq2ps", enc(m0F, pF2, w1, 0x7A, fv8, rm).evex().sizes(half, full))

	VCVTQQ2PD   = def("vcvtqq2pd", enc(m0F, pF3, w1, 0xE6, fv8, rm).evex())
	VCVTUQQ2PD  = def("vcvtuqq2pd", enc(m0F, pF3, w1, 0x7A, fv8, rm).evex())
	VCVTPD2QQ   = def("vcvtpd2qq", enc(m0F, p66, w1, 0x7B, fv8, rm).evex())
	VCVTTPD2QQ  = def("vcvttpd2qq", enc(m0F, p66, w1, 0x7A, fv8, rm).evex())
	VCVTTPD2UQQ = def("vcvttpd2uqq", enc(m0F, p66, w1, 0x78, fv8, rm).evex())

	// Half precision; the immediate of vcvtps2ph is the rounding, 0 for nearest
	// even and 4 for that of MXCSR.
	VCVTPH2PS      = def("vcvtph2ps", enc(m0F38, p66, w0, 0x13, hvm, rm).sizes(full, half))
	VCVTPS2PH      = def("vcvtps2ph", enc(m0F3A, p66, w0, 0x1D, hvm, mri).sizes(half, full))
	VCVTNEPS2BF16  = def("vcvtneps2bf16", enc(m0F38, pF3, w0, 0x72, fv4, rm).evex().sizes(half, full))
	VCVTNE2PS2BF16 = def("vcvtne2ps2bf16", enc(m0F38, pF2, w0, 0x72, fv4, rvm).evex())

	VCVTSI2SS  = def("vcvtsi2ss", enc(m0F, pF3, wOp, 0x2A, noMem, fromInt).scalar().flag(noMask))
	VCVTSI2SD  = def("vcvtsi2sd", enc(m0F, pF2, wOp, 0x2A, noMem, fromInt).scalar().flag(noMask))
	VCVTSS2SI  = def("vcvtss2si", enc(m0F, pF3, wOp, 0x2D, t4, toInt).scalar().flag(noMask))
	VCVTTSS2SI = def("vcvttss2si", enc(m0F, pF3, wOp, 0x2C, t4, toInt).scalar().flag(noMask))
	VCVTSD2SI  = def("vcvtsd2si", enc(m0F, pF2, wOp, 0x2D, t8, toInt).scalar().flag(noMask))
	VCVTTSD2SI = def("vcvttsd2si", enc(m0F, pF2, wOp, 0x2C, t8, toInt).scalar().flag(noMask))
	VCVTSS2SD  = def("vcvtss2sd", enc(m0F, pF3, w0, 0x5A, t4, rvm).scalar())
	VCVTSD2SS  = def("vcvtsd2ss", enc(m0F, pF2, wE1, 0x5A, t8, rvm).scalar())
)

// Widening of integers, with zeros or the sign.
var (
	VPMOVZXBW = widen("vpmovzxbw", 0x30, hvm, half)
	VPMOVZXBD = widen("vpmovzxbd", 0x31, qvm, quarter)
	VPMOVZXBQ = widen("vpmovzxbq", 0x32, ovm, eighth)
	VPMOVZXWD = widen("vpmovzxwd", 0x33, hvm, half)
	VPMOVZXWQ = widen("vpmovzxwq", 0x34, qvm, quarter)
	VPMOVZXDQ = widen("vpmovzxdq", 0x35, hvm, half)
	VPMOVSXBW = widen("vpmovsxbw", 0x20, hvm, half)
	VPMOVSXBD = widen("vpmovsxbd", 0x21, qvm, quarter)
	VPMOVSXBQ = widen("vpmovsxbq", 0x22, ovm, eighth)
	VPMOVSXWD = widen("vpmovsxwd", 0x23, hvm, half)
	VPMOVSXWQ = widen("vpmovsxwq", 0x24, qvm, quarter)
	VPMOVSXDQ = widen("vpmovsxdq", 0x25, hvm, half)
)

// Narrowing of integers to a register or memory: cut off, or with S and US
// saturated to signed and unsigned.
var (
	VPMOVWB   = truncate("vpmovwb", 0x30, hvm, half)
	VPMOVSWB  = truncate("vpmovswb", 0x20, hvm, half)
	VPMOVUSWB = truncate("vpmovuswb", 0x10, hvm, half)
	VPMOVDB   = truncate("vpmovdb", 0x31, qvm, quarter)
	VPMOVSDB  = truncate("vpmovsdb", 0x21, qvm, quarter)
	VPMOVUSDB = truncate("vpmovusdb", 0x11, qvm, quarter)
	VPMOVDW   = truncate("vpmovdw", 0x33, hvm, half)
	VPMOVSDW  = truncate("vpmovsdw", 0x23, hvm, half)
	VPMOVUSDW = truncate("vpmovusdw", 0x13, hvm, half)
	VPMOVQB   = truncate("vpmovqb", 0x32, ovm, eighth)
	VPMOVQW   = truncate("vpmovqw", 0x34, qvm, quarter)
	VPMOVQD   = truncate("vpmovqd", 0x35, hvm, half)
	VPMOVSQD  = truncate("vpmovsqd", 0x25, hvm, half)
	VPMOVUSQD = truncate("vpmovusqd", 0x15, hvm, half)
)

var (
	fromInt = operands(vReg, vVvvv, slot{inRM, kGP, opSize})
	toInt   = operands(slot{inReg, kGP, opSize}, vRM)
)

func widen(name string, opc byte, t tuple, src size) Op {
	return def(name, enc(m0F38, p66, w0, opc, t, rm).sizes(full, src))
}

func truncate(name string, opc byte, t tuple, dst size) Op {
	return def(name, enc(m0F38, pF3, w0, opc, t, mr).evex().sizes(dst, full))
}
