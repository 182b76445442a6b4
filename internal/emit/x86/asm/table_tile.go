package asm

// Forms of tile instructions (AMX), which are VEX-encoded.
var (
	tReg  = slot{inReg, kT, unsized}
	tMem  = slot{inRM, kM, unsized}
	tDots = operands(tReg, slot{inRM, kT, unsized}, slot{inVvvv, kT, unsized})
)

// Tiles. Before others LDTILECFG gives each its rows and bytes a row, from 64
// bytes of memory, and clears all. Loads and stores take base and index: row r is
// at base + disp + r*scale*index. Dots multiply lanes of 32 bits: of rows of the
// second operand with those of columns of the third, into sums in the first.
var (
	LDTILECFG   = def("ldtilecfg", enc(m0F38, np, w0, 0x49, noMem, operands(tMem)).vex().scalar().slash(0))
	TILERELEASE = def("tilerelease", enc(m0F38, np, w0, 0x49, noMem, form{}).vex().scalar().slash(0))
	TILEZERO    = def("tilezero", enc(m0F38, pF2, w0, 0x49, noMem, operands(tReg)).vex().scalar())
	TILELOADD   = def("tileloadd", enc(m0F38, pF2, w0, 0x4B, noMem, operands(tReg, tMem)).vex().scalar().flag(sibMem))
	TILELOADDT1 = def("tileloaddt1", enc(m0F38, p66, w0, 0x4B, noMem, operands(tReg, tMem)).vex().scalar().flag(sibMem)) // past the first cache, a hint
	TILESTORED  = def("tilestored", enc(m0F38, pF3, w0, 0x4B, noMem, operands(tMem, tReg)).vex().scalar().flag(sibMem))
	TDPBF16PS   = def("tdpbf16ps", enc(m0F38, pF3, w0, 0x5C, noMem, tDots).vex().scalar())
	TDPFP16PS   = def("tdpfp16ps", enc(m0F38, pF2, w0, 0x5C, noMem, tDots).vex().scalar())
	TDPBUSD     = def("tdpbusd", enc(m0F38, p66, w0, 0x5E, noMem, tDots).vex().scalar())
)
