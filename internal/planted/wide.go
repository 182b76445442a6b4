package planted

// wideDefects are in lanes of 8 bytes.
var wideDefects = []Defect{
	{
		Name: "wide-product-without-a-cross", File: "internal/emit/x86/wide_int.go",
		Old:     "cross = e.v(asm.VPADDD, r(cross), r(e.vImm(asm.VPSRLQ, 32, r(cross))))",
		New:     "cross = e.vImm(asm.VPSRLQ, 32, r(cross))",
		Package: "internal/emit/x86", Run: "TestWide", Needs: machineCode,
	},
	{
		Name: "wide-shift-without-sign", File: "internal/emit/x86/wide_int.go",
		Old:     "return e.v(asm.VXORPD, r(e.vImm(asm.VPSRLQ, count, r(e.v(asm.VXORPD, r(x), r(m))))), r(m))",
		New:     "return e.v(asm.VXORPD, r(e.vImm(asm.VPSRLQ, count, r(x))), r(m))",
		Package: "internal/emit/x86", Run: "TestWide", Needs: machineCode,
	},
	{
		Name: "wide-shift-by-64", File: "internal/emit/x86/wide_int.go",
		Old:     "return e.v(asm.VANDPD, r(z), r(small))",
		New:     "return e.v(asm.VORPD, r(z), r(e.v(asm.VANDPD, r(z), r(small))))",
		Package: "internal/emit/x86", Run: "TestWide", Needs: machineCode,
	},
	{
		Name: "wide-to-double-unsigned", File: "internal/emit/x86/wide_convert.go",
		Old:     "two52, two84, uppers = 0x4330000000000000, 0x4530000080000000,",
		New:     "two52, two84, uppers = 0x4330000000000000, 0x4530000000000000,",
		Package: "internal/emit/x86", Run: "TestWide", Needs: machineCode,
	},
	{
		Name: "double-cut-past-2-63", File: "internal/emit/x86/wide_convert.go",
		Old:     "	x = e.v(asm.VBLENDVPD, r(x), bits64(1<<63-1), r(big))\n",
		New:     "	_ = big\n",
		Package: "internal/emit/x86", Run: "TestWide", Needs: machineCode,
	},
	{
		Name: "double-to-wide-of-nan", File: "internal/emit/x86/wide_convert.go",
		Old:     "return e.v(asm.VANDPD, r(number), r(x))",
		New:     "return e.v(asm.VORPD, r(x), r(e.v(asm.VANDPD, r(number), r(x))))",
		Package: "internal/emit/x86", Run: "TestWide", Needs: machineCode,
	},
	{
		Name: "double-to-u32-rounds-below-2-31", File: "internal/emit/x86/wide_convert.go",
		Old:     "if to.Compute() != ir.I32 && e.isa == AVX2 {",
		New:     "if to.Compute() == ir.I32 && e.isa == AVX2 {",
		Package: "internal/emit/x86", Run: "TestWide", Needs: machineCode,
	},
	{
		Name: "upper-lanes-of-the-lower-half", File: "internal/emit/x86/wide.go",
		Old:     "m.disp += int32(4 * e.wide())",
		New:     "m.disp += int32(2 * e.wide())",
		Package: "internal/emit/x86", Run: "TestWide|TestRandom$", Needs: machineCode,
	},
	{
		Name: "masks-of-halves-joined-in-no-order", File: "internal/emit/x86/wide_mask.go",
		Old:     "const evens, inOrder = 0b10_00_10_00, 0b11_01_10_00",
		New:     "const evens, inOrder = 0b10_00_10_00, 0b11_10_01_00",
		Package: "internal/emit/x86", Run: "TestWide", Needs: machineCode,
	},
	{
		Name: "halves-alike-by-one-operand", File: "internal/emit/x86/wide.go",
		Old:     "		if a[0] != a[1] {\n			return val{x, f(1)}\n		}\n",
		New:     "		if a[0] != a[1] {\n			return val{x, f(1)}\n		}\n		break\n",
		Package: "internal/emit/x86", Run: "TestWide|TestRandom$", Needs: machineCode,
	},
	{
		Name: "mask-of-a-half-behind-its-store", File: "internal/emit/x86/wide_memory.go",
		Old:     "e.do(asm.VMOVUPD, m, r(x[i])).mask = half",
		New:     "e.do(asm.VMOVUPD, m, r(x[i])).mask = k",
		Package: "internal/emit/x86", Run: "TestWide|TestRandom$", Needs: avx512,
	},
	{
		Name: "value-of-two-names-changed", File: "internal/emit/native/local.go",
		Old:     "only && b.Regs[src].names <= 1 &&",
		New:     "only &&",
		Package: "internal/emit/x86", Run: "TestWide|TestRandom$", Needs: machineCode,
	},
	{
		Name: "wide-fold-of-two-lanes", File: "internal/emit/x86/reduce.go",
		Old:     "with(e.vImm(asm.VPSHUFD, 0x4E, r(x)))",
		New:     "with(e.vImm(asm.VPSHUFD, 0xE4, r(x)))",
		Package: "internal/emit/x86", Run: "TestWide|TestRandom$", Needs: machineCode,
	},
	{
		Name: "wide-lanes-backwards-by-halves-in-order", File: "internal/emit/x86/reverse.go",
		Old:     "a.From(u*e.wide()+(i+1)*half-1)",
		New:     "a.From(u*e.wide()+(2-i)*half-1)",
		Package: "internal/emit/x86", Run: "TestLanesApart", Needs: machineCode,
	},
	{
		Name: "lanes-backwards-from-the-first", File: "internal/emit/x86/reverse.go",
		Old:     "a.From((u+1)*e.wide()-1)",
		New:     "a.From(u*e.wide())",
		Package: "internal/emit/x86", Run: "TestLanesApart", Needs: machineCode,
	},
	{
		Name: "another-name-of-a-changing-local-shared", File: "internal/emit/native/local.go",
		Old:     "case b.Sets[s.Local] == 1 && !b.mutable(v):",
		New:     "case b.Sets[s.Local] == 1:",
		Package: "internal/emit/x86", Run: "TestWide", Needs: machineCode,
	},
}
