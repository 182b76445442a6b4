package planted

// neonDefects are in the lanes of 8 bytes of arm64.
var neonDefects = []Defect{
	{
		Name: "neon-lower-half-of-a-mask-twice", File: "internal/emit/arm64/wide_mask.go",
		Old:     "e.vImm(asm.SXTL2D2, 0, k)",
		New:     "e.vImm(asm.SXTL2D, 0, k)",
		Package: "internal/emit/arm64", Run: "TestWide", Needs: neon,
	},
	{
		Name: "neon-unsigned-cast-wraps", File: "internal/emit/arm64/wide_convert.go",
		Old:     "e.vTied(asm.UQXTN2S2, e.v(asm.UQXTN2S, y[0]), y[1])",
		New:     "e.lowLanes(y)",
		Package: "internal/emit/arm64", Run: "TestWide", Needs: neon,
	},
	{
		Name: "neon-shift-by-less-than-nothing", File: "internal/emit/arm64/wide_int.go",
		Old:     "e.v(asm.CMHI2D, e.wideConstant(64), y[i]), y[i]",
		New:     "e.v(asm.CMGT2D, e.wideConstant(64), y[i]), y[i]",
		Package: "internal/emit/arm64", Run: "TestWide", Needs: neon,
	},
	{
		Name: "neon-upper-half-not-reduced", File: "internal/emit/arm64/reduce.go",
		Old:     "e.combineWide(op, d, val{x[0]}, val{x[1]})",
		New:     "val{x[0]}",
		Package: "internal/emit/arm64", Run: "TestWide|TestRandom", Needs: neon,
	},
}
