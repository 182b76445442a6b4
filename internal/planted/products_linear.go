package planted

// linearDefects are in what tile kernels do with results before they store them.
var linearDefects = []Defect{
	{
		Name: "bias-behind-the-factor", File: "internal/emit/x86/gemm_linear.go",
		Old:     "	t.ifSet(gemmBias, t.addBias)\n	t.ifSet(gemmRowBias, t.addRowBias)\n	t.ifSet(gemmAdd, t.addBeside)",
		New:     "	t.ifSet(gemmAdd, t.addBeside)\n	t.ifSet(gemmBias, t.addBias)\n	t.ifSet(gemmRowBias, t.addRowBias)",
		Package: "internal/emit/x86", Run: "TestGemmTiles", Needs: machineCode,
	},
	{
		Name: "relu-of-nan", File: "internal/emit/x86/gemm_linear.go",
		Old:     "t.Op(asm.VMAXPS, t.acc(r, v), t.b(0), t.acc(r, v))",
		New:     "t.Op(asm.VMAXPS, t.acc(r, v), t.acc(r, v), t.b(0))",
		Package: "internal/emit/x86", Run: "TestGemmTiles", Needs: machineCode,
	},
	{
		Name: "what-lies-beside-the-next-tile", File: "internal/emit/x86/gemm_linear.go",
		Old:     "asm.Ptr(gRow, v*t.bytes-t.width())",
		New:     "asm.Ptr(gRow, v*t.bytes)",
		Package: "internal/emit/x86", Run: "TestGemmTiles", Needs: machineCode,
	},
	{
		Name: "unfinished-sums-over-what-is-to-be-added", File: "internal/device/cpu/gemm_linear.go",
		Old:     "return from[0] < to[1] && from[1] < to[0], nil",
		New:     "return from[0] > to[1] && from[1] > to[0], nil",
		Package: "internal/device/cpu", Run: "TestLinearEpilogues", Needs: machineCode,
	},
	{
		Name: "one-number-for-a-row-of-them", File: "internal/device/cpu/gemm_linear.go",
		Old:     "l.Bias.Col.IsInt(0) {",
		New:     "rows != 0 {",
		Package: "internal/device/cpu", Run: "TestLinearEpilogues", Needs: machineCode,
	},
	{
		Name: "epilogues-never-in-registers", File: "internal/device/cpu/gemm_linear.go",
		Old:     "	if l == nil {\n",
		New:     "	if l == nil || true {\n",
		Package: "internal/device/cpu", Run: "TestGemmForms", Needs: machineCode,
	},
	{
		Name: "step-along-the-gradient", File: "internal/device/cpu/gemm_linear.go",
		Old:     "a.scale = -a.scale",
		New:     "a.scale = +a.scale",
		Package: "internal/device/cpu", Run: "TestLinearEpilogues", Needs: machineCode,
	},
	{
		Name: "relu-of-anything-below-zero", File: "internal/template/gemm_linear.go",
		Old:     "less(below.Args[0], x, zero) && below.Args[2] == x",
		New:     "applies(below.Args[0], ir.Less) && below.Args[2] == x",
		Package: "internal/template", Run: "TestLinear",
	},
}
