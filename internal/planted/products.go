package planted

// productDefects are in the matrix product: tile kernels, packing, plan.
var productDefects = []Defect{
	{
		Name: "k-remainder-dropped", File: "internal/emit/x86/gemm_tile.go",
		Old: `	t.steps(gemmRest, 1)
`,
		New:     "",
		Package: "internal/emit/x86", Run: "TestGemmTiles", Needs: machineCode,
	},
	{
		Name: "sums-not-continued", File: "internal/emit/x86/gemm_tile.go",
		Old: `	t.J(asm.EQ, fresh)
	t.eachRow`,
		New: `	t.Jmp(fresh)
	t.eachRow`,
		Package: "internal/emit/x86", Run: "TestGemmTiles", Needs: machineCode,
	},
	{
		Name: "padding-columns-written", File: "internal/emit/x86/gemm_tile.go",
		Old:     "t.Op(t.move, to, from, asm.Mask(1))",
		New:     "t.Op(t.move, to, from)",
		Package: "internal/emit/x86", Run: "TestGemmTiles|TestGemmDoubleTiles", Needs: avx512,
	},
	{
		Name: "fourth-vector-of-b", File: "internal/emit/x86/gemm_tile.go",
		Old:     "return asm.Idx(panel, gVectorB3, 1, 0)",
		New:     "return asm.Idx(panel, gVectorB, 2, 0)",
		Package: "internal/emit/x86", Run: "TestGemmTiles", Needs: machineCode,
	},
	{
		Name: "bytes-multiplied-saturating", File: "internal/emit/x86/gemm_format.go",
		Old:     "asm.VPBROADCASTD, asm.VPDPBUSD, asm.VPADDD",
		New:     "asm.VPBROADCASTD, asm.VPDPBUSDS, asm.VPADDD",
		Package: "internal/emit/x86", Run: "TestByteSumsWrap", Needs: avx512VNNI,
	},
	{
		Name: "bytes-widened-unsigned", File: "internal/emit/x86/gemm_tile.go",
		Old:     "t.Op(asm.VPSRAW, t.b(v), t.b(v), asm.Imm(8))",
		New:     "t.Op(asm.VPSRLW, t.b(v), t.b(v), asm.Imm(8))",
		Package: "internal/emit/x86", Run: "TestGemmTiles|TestByteSumsWrap", Needs: machineCode,
	},
	{
		Name: "transposed-halves-swapped", File: "internal/emit/x86/gemm_transpose.go",
		Old:     "x, y, asm.Imm(0x88), asm.Imm(0xDD))",
		New:     "x, y, asm.Imm(0xDD), asm.Imm(0x88))",
		Package: "internal/emit/x86", Run: "TestTranspose", Needs: avx512,
	},
	{
		Name: "doubles-masked-as-singles", File: "internal/emit/x86/gemm.go",
		Old:     "range n * f.Word() / 4 {",
		New:     "range n {",
		Package: "internal/emit/x86", Run: "TestGemmDoubleTiles", Needs: machineCode,
	},
	{
		Name: "columns-of-doubles-as-singles", File: "internal/emit/x86/gemm_tile.go",
		Old:     "return asm.Ptr(gBases[0], word*r)",
		New:     "return asm.Ptr(gBases[0], 4*r)",
		Package: "internal/emit/x86", Run: "TestGemmDoubleTiles", Needs: machineCode,
	},
	{
		Name: "halves-of-turned-doubles-swapped", File: "internal/emit/x86/gemm_transpose.go",
		Old:     "t.halves(&v[j], &v[2+j])",
		New:     "t.halves(&v[2+j], &v[j])",
		Package: "internal/emit/x86", Run: "TestTranspose", Needs: machineCode,
	},
	{
		Name: "unfinished-sums-of-doubles-overlap", File: "internal/device/cpu/gemm_run.go",
		Old:     "unsafe.Add(w.c, s.word*above*s.strideC)",
		New:     "unsafe.Add(w.c, 4*above*s.strideC)",
		Package: "internal/device/cpu", Run: "TestGemmDoublesFinished", Needs: machineCode,
	},
	{
		Name: "squares-of-doubles-half-as-far", File: "internal/device/cpu/pack.go",
		Old:     "unsafe.Add(y, s.word*k0+",
		New:     "unsafe.Add(y, 4*k0+",
		Package: "internal/device/cpu", Run: "TestGemmDoubles$", Needs: machineCode,
	},
	{
		Name: "blocks-of-k-not-added", File: "internal/device/cpu/gemm_run.go",
		Old:     "w.args.Continue = uintptr(kb)",
		New:     "w.args.Continue = 0",
		Package: "internal/device/cpu", Run: "TestGemmEdges", Needs: machineCode,
	},
	{
		Name: "step-filled-up-with-neighbours", File: "internal/emit/x86/gemm_tile.go",
		Old:     "t.Op(asm.VMOVDQU8, to, from, asm.MaskZ(2), asm.L128)",
		New:     "t.Op(asm.VMOVDQU8, to, from, asm.L128)",
		Package: "internal/emit/x86", Run: "TestGemmTiles", Needs: avx512VNNI,
	},
	{
		Name: "part-of-a-step-dropped", File: "internal/device/cpu/gemm_run.go",
		Old:     "part = s.k % s.group * s.sizeX",
		New:     "part = 0",
		Package: "internal/device/cpu", Run: "TestShortProducts|TestSpecialBF16Products", Needs: avx512VNNI,
	},
	{
		Name: "packed-step-not-filled-up", File: "internal/device/cpu/gemm_rows.go",
		Old:     "clear(row[(end-first)*size:])",
		New:     "clear(row[max(len(row), size):])",
		Package: "internal/device/cpu", Run: "TestGemmDirtyScratch", Needs: avx512BF16,
	},
	{
		Name: "last-panel-not-packed", File: "internal/device/cpu/pack.go",
		Old:     "first, end := col0/s.panelCols(), ceilDiv(col1, s.panelCols())",
		New:     "first, end := col0/s.panelCols(), max(1, col1/s.panelCols())",
		Package: "internal/device/cpu", Run: "TestGemmEdges", Needs: machineCode,
	},
	{
		Name: "packed-weights-of-another-product", File: "internal/device/cpu/pack.go",
		Old:     `fmt.Fprintf(&b, " %s", names[e.Var])`,
		New:     `fmt.Fprintf(&b, " %s", names[nil])`,
		Package: "internal/device/cpu", Run: "TestPackTellsTurnedFromPlain", Needs: machineCode,
	},
	{
		Name: "transposed-edge-of-columns", File: "internal/device/cpu/pack.go",
		Old:     "col := min(c, cols-n)",
		New:     "col := c",
		Package: "internal/device/cpu", Run: "TestGemm", Needs: machineCode,
	},
	{
		Name: "transposed-edge-of-k", File: "internal/device/cpu/pack.go",
		Old:     "turn(col, ks-n, 1)",
		New:     "turn(col, ks/n*n-n, 1)",
		Package: "internal/device/cpu", Run: "TestGemm", Needs: machineCode,
	},
	{
		Name: "last-turned-rows-not-packed", File: "internal/device/cpu/gemm_rows.go",
		Old:     "return c.run(0, ceilDiv(r1-r0, template.TurnedRows))",
		New:     "return c.run(0, max(1, (r1-r0)/template.TurnedRows))",
		Package: "internal/device/cpu", Run: "TestGemmTurned", Needs: avx512BF16,
	},
	{
		Name: "copied-columns-of-six-rows-without-the-last-two", File: "internal/device/cpu/gemm_rows.go",
		Old:     "*(*uint64)(unsafe.Add(to, 8)), *(*uint64)(unsafe.Add(to, 16)) = a, b, c",
		New:     "*(*uint64)(unsafe.Add(to, 8)), *(*uint64)(unsafe.Add(to, 16)) = a, b, b+0*c",
		Package: "internal/device/cpu", Run: "TestGemmColumnsCopied", Needs: machineCode,
	},
	{
		Name: "copied-columns-of-five-rows-without-the-last", File: "internal/device/cpu/gemm_rows.go",
		Old:     "*(*uint32)(unsafe.Add(to, 16)) = a, b, c",
		New:     "*(*uint32)(unsafe.Add(to, 16)) = a, b, c+1",
		Package: "internal/device/cpu", Run: "TestGemmColumnsCopied", Needs: machineCode,
	},
	{
		Name: "copied-columns-of-few-rows-too-close", File: "internal/device/cpu/gemm_rows.go",
		Old:     "unsafe.Add(to, 4*(words*k+i))",
		New:     "unsafe.Add(to, 4*(max(1, words-1)*k+i))",
		Package: "internal/device/cpu", Run: "TestGemmColumnsCopied", Needs: machineCode,
	},
	{
		Name: "copied-columns-with-the-pitch-in-place", File: "internal/device/cpu/gemm_rows.go",
		Old:     "w.args.A, w.args.LDA = w.a, uintptr(s.word*(r1-r0))",
		New:     "w.args.A, w.args.LDA = w.a, uintptr(s.word*s.tiles.Tile.Rows)",
		Package: "internal/device/cpu", Run: "TestGemmColumnsCopied", Needs: machineCode,
	},
	{
		Name: "epilogue-of-wrong-columns", File: "internal/device/cpu/gemm_run.go",
		Old:     "c.set(template.FirstCol, col0)",
		New:     "c.set(template.FirstCol, 0)",
		Package: "internal/device/cpu", Run: "TestGemmSameBits", Needs: machineCode,
	},
	{
		Name: "epilogue-of-the-row-panel-above", File: "internal/emit/x86/gemm_tile.go",
		Old:     "t.Op(asm.ADD, asm.Ptr(gArgs, gemmFinish+finishDown), asm.Imm(t.tile.Rows))",
		New:     "t.Op(asm.ADD, asm.Ptr(gArgs, gemmFinish+finishDown), asm.Imm(0))",
		Package: "internal/emit/x86", Run: "TestGemmFinish", Needs: machineCode,
	},
	{
		Name: "plan-leaves-rows-out", File: "internal/device/cpu/gemm_plan.go",
		Old:     "row1: (row + 1) * p.rowPanels / p.rowParts",
		New:     "row1: row*p.rowPanels/p.rowParts + p.rowPanels/p.rowParts",
		Package: "internal/device/cpu", Run: "TestGemmPlan", Needs: machineCode,
	},
	{
		Name: "columns-of-last-panel", File: "internal/template/gemm_parts.go",
		Old:     "cols = loop.Apply(ir.Min, ir.I64, loop.SubIndex(loop.SizeOf(g.Cols), first), cols)",
		New:     "cols = loop.Apply(ir.Min, ir.I64, loop.SubIndex(loop.SizeOf(g.Cols.Plus(-1)), first), cols)",
		Package: "internal/device/cpu", Run: "TestGemmEdges", Needs: machineCode,
	},
	{
		Name: "bytes-of-other-signs", File: "internal/template/gemm_format.go",
		Old:     "case sums == ir.I32 && x == ir.U8 && y == ir.I8:",
		New:     "case sums == ir.I32 && x == ir.I8 && y == ir.I8:",
		Package: "internal/template", Run: "TestFormatOf", Needs: machineCode,
	},
	{
		Name: "packed-of-the-last-run", File: "internal/device/cpu/gemm_packed.go",
		Old:     "		clear(s.workers[i].packed.have)",
		New:     "		clear(s.workers[i].packed.have[:0])",
		Package: "internal/device/cpu", Run: "TestGemmPackedAgain", Needs: machineCode,
	},
	{
		Name: "packed-of-other-columns", File: "internal/device/cpu/gemm_packed.go",
		Old:     "have.batch != batch || have.col != part.col0",
		New:     "have.batch != batch",
		Package: "internal/device/cpu", Run: "TestGemmPackedAgain", Needs: machineCode,
	},
	{
		Name: "packed-block-of-another-k", File: "internal/device/cpu/gemm_packed.go",
		Old:     "i = (b.col0-part.col0)/s.blockPanels*s.kBlocks + kb",
		New:     "i = (b.col0 - part.col0) / s.blockPanels * s.kBlocks",
		Package: "internal/device/cpu", Run: "TestGemmPackedAgain", Needs: machineCode,
	},
	{
		Name: "last-row-paired-with-itself", File: "internal/emit/arm64/gemm_pairs.go",
		Old:     "if 2*pair+1 < t.rows {",
		New:     "if 2*pair+2 < t.rows {",
		Package: "internal/emit/arm64", Run: "TestGemm", Needs: neonMatrix,
	},
	{
		Name: "last-step-of-rows-read-too-far", File: "internal/emit/arm64/gemm_pairs.go",
		Old:     "load(asm.LDRVS)",
		New:     "load(asm.LDRVD)",
		Package: "internal/emit/arm64", Run: "TestGemm|TestBF16Tiles", Needs: neonMatrix,
	},
	{
		Name: "last-step-of-columns-dropped", File: "internal/emit/arm64/gemm_pairs.go",
		Old:     "a.Op(asm.CBZ, jK, end)",
		New:     "a.Op(asm.B, end)",
		Package: "internal/emit/arm64", Run: "TestGemm", Needs: neonMatrix,
	},
	{
		Name: "step-filled-up-with-the-row-before", File: "internal/emit/arm64/gemm_pairs.go",
		Old:     "a.Op(asm.MOVI0, y)",
		New:     "a.Op(asm.ORR16B, y, x, x)",
		Package: "internal/emit/arm64", Run: "TestGemm|TestBF16Tiles", Needs: neonMatrix,
	},
	{
		Name: "squares-taken-apart-by-columns", File: "internal/emit/arm64/gemm_pairs.go",
		Old:     "t.Op(asm.ZIP22D, y, x, y)",
		New:     "t.Op(asm.ZIP22D, y, y, x)",
		Package: "internal/emit/arm64", Run: "TestGemm", Needs: neonMatrix,
	},
	{
		Name: "unsigned-bytes-as-signed", File: "internal/emit/arm64/gemm.go",
		Old:     "t.multiply, t.add = asm.USMMLA, asm.ADD4S",
		New:     "t.multiply, t.add = asm.SMMLA, asm.ADD4S",
		Package: "internal/emit/arm64", Run: "TestGemm|TestByteSumsWrap", Needs: neonMatrix,
	},
	{
		Name: "block-of-k-of-joined-columns", File: "internal/device/cpu/gemm_neon.go",
		Old:     "y[arm64.PairedBytes(k0)/4:]",
		New:     "y[:]",
		Package: "internal/device/cpu", Run: "TestLongByteProducts", Needs: neonMatrix,
	},
	{
		Name: "weights-packed-for-other-instructions", File: "internal/device/cpu/gemm_generic.go",
		Old:     `layout = fmt.Sprint("neon ", tiles)`,
		New:     `layout = fmt.Sprint("neon ", k.format)`,
		Package: "internal/device/cpu", Run: "TestGemmPacksOfAllDevices", Needs: neonMatrix,
	},
	{
		Name: "widened-rows-as-close-as-short-ones", File: "internal/device/cpu/gemm_rows.go",
		Old: `	if s.tiles.Format == x86.GemmWide {
		size = 4
	}
`,
		New:     "",
		Package: "internal/device/cpu", Run: "TestGemmForms|TestWideProduct", Needs: avx512BF16,
	},
	{
		Name: "widened-in-each-run-though-weights", File: "internal/device/cpu/gemm_tiles.go",
		Old:     "case g.ConstY && !g.TurnedX():",
		New:     "case !g.ConstY && !g.TurnedX():",
		Package: "internal/device/cpu", Run: "TestWideProducts", Needs: avx512BF16,
	},
	{
		Name: "tile-sums-not-continued", File: "internal/emit/x86/gemm_amx.go",
		Old:     "func(sum asm.T, at asm.M) { t.Op(asm.TILELOADD, sum, at) }",
		New:     "func(sum asm.T, _ asm.M) { t.Op(asm.TILEZERO, sum) }",
		Package: "internal/emit/x86", Run: "TestGemmTiles", Needs: amx,
	},
	{
		Name: "lower-rows-of-a-tile-one-too-high", File: "internal/emit/x86/gemm_amx.go",
		Old:     "t.Op(asm.IMUL, gLower, gLDA, asm.Imm(amxRows))",
		New:     "t.Op(asm.IMUL, gLower, gLDA, asm.Imm(amxRows-1))",
		Package: "internal/emit/x86", Run: "TestGemmTiles", Needs: amx,
	},
	{
		Name: "tile-written-behind-the-columns", File: "internal/emit/x86/gemm_amx.go",
		Old:     "t.store(t.cell(v), 0, v)",
		New:     "t.Op(asm.VMOVUPS, t.cell(v), asm.V(0))",
		Package: "internal/emit/x86", Run: "TestGemmTiles", Needs: amx,
	},
	{
		Name: "chunk-of-columns-not-filled-up", File: "internal/device/cpu/pack.go",
		Old: `	s.fillUp(to, end-first, k0, k1)
`,
		New:     "",
		Package: "internal/device/cpu", Run: "TestGemmDirtyScratch", Needs: amx,
	},
	{
		Name: "chunk-of-rows-not-filled-up", File: "internal/device/cpu/gemm_rows.go",
		Old:     "clear(to[copy(to, row):])",
		New:     "copy(to, row)",
		Package: "internal/device/cpu", Run: "TestGemmDirtyScratch", Needs: amx,
	},
	{
		Name: "block-of-no-whole-chunks", File: "internal/device/cpu/gemm_plan.go",
		Old:     "max(p.chunk, ceilDiv(p.steps, p.kBlocks*p.chunk)*p.chunk)",
		New:     "max(p.chunk, ceilDiv(p.steps, p.kBlocks))",
		Package: "internal/device/cpu", Run: "TestGemmEdges", Needs: amx,
	},
	{
		Name: "turned-chunk-not-filled-up", File: "internal/device/cpu/gemm_rows.go",
		Old: `	clear(unsafe.Slice((*uint32)(unsafe.Add(w.narrow, 4*stride*(there-k0))), stride*(k1-there)))
`,
		New:     "",
		Package: "internal/device/cpu", Run: "TestGemmDirtyScratch", Needs: amx,
	},
	{
		Name: "pair-of-thirds-left-out", File: "internal/emit/x86/gemm_thirds.go",
		Old:     "{{0, 2}, {0, 1}, {1, 1}, {1, 0}, {2, 0}, {0, 0}}",
		New:     "{{0, 1}, {1, 1}, {1, 0}, {2, 0}, {0, 0}}",
		Package: "internal/device/cpu", Run: "TestPartsAccuracy", Needs: amx,
	},
	{
		Name: "odd-number-forgotten", File: "internal/emit/x86/gemm_split.go",
		Old:     "g.Op(asm.KORW, hFound, hFound, asm.K(2))",
		New:     "g.Op(asm.KORW, hFound, asm.K(2), asm.K(2))",
		Package: "internal/emit/x86", Run: "TestThirds", Needs: amx,
	},
	{
		Name: "third-cut-off", File: "internal/emit/x86/gemm_thirds.go",
		Old:     "hSplit, g.F32(1<<16+1)",
		New:     "hSplit, g.F32(1<<15+1)",
		Package: "internal/emit/x86", Run: "TestThirds", Needs: amx,
	},
	{
		Name: "sums-of-thirds-not-scaled", File: "internal/emit/x86/gemm_amx.go",
		Old:     "t.Op(asm.VFMADD231PS, before, scale, t.amxCell(r, v))",
		New:     "t.Op(asm.VADDPS, before, before, t.amxCell(r, v))",
		Package: "internal/emit/x86", Run: "TestGemmTiles", Needs: amx,
	},
	{
		Name: "odd-rows-in-thirds", File: "internal/device/cpu/gemm_apart.go",
		Old: `	for _, f := range rows {
		row |= f
	}
`,
		New:     "",
		Package: "internal/device/cpu", Run: "TestPartsOdd", Needs: amx,
	},
	{
		Name: "second-half-of-odd-panels-in-thirds", File: "internal/device/cpu/gemm_apart.go",
		Old:     "w.panels[i*vectors:][:vectors]",
		New:     "w.panels[i*vectors:][:1]",
		Package: "internal/device/cpu", Run: "TestPartsOdd", Needs: amx,
	},
	{
		Name: "odd-rows-of-the-block-before", File: "internal/device/cpu/gemm_run.go",
		Old: `	clear(w.rows)
`,
		New:     "",
		Package: "internal/device/cpu", Run: "TestPartsRowsAlone", Needs: amx,
	},
	{
		Name: "thirds-of-what-is-no-column", File: "internal/device/cpu/pack.go",
		Old:     "if s.splits() && col1%s.panelCols() != 0 {",
		New:     "if false {",
		Package: "internal/device/cpu", Run: "TestPartsDirtyScratch", Needs: amx,
	},
	{
		Name: "sums-of-odd-rows-misplaced", File: "internal/device/cpu/gemm_apart.go",
		Old: `		g.C = unsafe.Add(g.C, (row-panel)*int(g.LDC))
`,
		New:     "",
		Package: "internal/device/cpu", Run: "TestPartsOdd", Needs: amx,
	},
	{
		Name: "pair-of-halves-left-out", File: "internal/emit/x86/gemm_halves.go",
		Old:     "{{0, 0}, {0, 1}, {1, 0}}",
		New:     "{{0, 0}, {0, 1}}",
		Package: "internal/device/cpu", Run: "TestPartsAccuracy", Needs: amxFP16,
	},
	{
		Name: "second-halves-not-scaled", File: "internal/emit/x86/gemm_halves.go",
		Old:     "t.Op(asm.VFMADD213PS, sum, jShift, asm.Ptr(jSums, r*amxBytes))",
		New:     "t.Op(asm.VADDPS, sum, sum, asm.Ptr(jSums, r*amxBytes))",
		Package: "internal/emit/x86", Run: "TestGemmTiles", Needs: amxFP16,
	},
	{
		Name: "row-joined-in-the-scale-of-the-first", File: "internal/emit/x86/gemm_halves.go",
		Old: `		t.Op(asm.ADD, jScale, gLDA)
`,
		New:     "",
		Package: "internal/emit/x86", Run: "TestGemmTiles", Needs: amxFP16,
	},
	{
		Name: "last-tile-not-joined", File: "internal/emit/x86/gemm_tile.go",
		Old: `	t.joinLast()
	t.nextRows()
`,
		New:     "	t.nextRows()\n",
		Package: "internal/emit/x86", Run: "TestGemmTiles", Needs: amxFP16,
	},
	{
		Name: "sums-stored-over-rows-that-wait", File: "internal/emit/x86/gemm_amx.go",
		Old: `	t.finishRest() // of the tile before
`,
		New:     "",
		Package: "internal/emit/x86", Run: "TestGemmTiles", Needs: amx,
	},
	{
		Name: "rows-that-wait-at-the-end-forgotten", File: "internal/emit/x86/gemm_tile.go",
		Old: `	t.finishRest()
	if t.format.AMX() {`,
		New:     "	if t.format.AMX() {",
		Package: "internal/emit/x86", Run: "TestGemmTiles", Needs: amx,
	},
	{
		Name: "loop-goes-on-with-registers-of-the-epilogue", File: "internal/emit/x86/gemm_finish_later.go",
		Old: `	for i, r := range liveWhileMultiplying {
		t.Op(asm.MOV, r, asm.Ptr(gArgs, gemmSaved+8*i))
	}
`,
		New:     "",
		Package: "internal/emit/x86", Run: "TestGemmTiles", Needs: amx,
	},
	{
		Name: "rows-joined-with-registers-of-the-epilogue", File: "internal/emit/x86/gemm_finish_later.go",
		Old: `		t.joinConstants(fValue)
`,
		New:     "",
		Package: "internal/device/cpu", Run: "TestPartsForms", Needs: amxFP16,
	},
	{
		Name: "rows-at-once-before-they-are-joined", File: "internal/emit/x86/gemm_finish_later.go",
		Old: `	t.joinLast()
	t.Bind(later)
`,
		New: `	t.Bind(later)
`,
		Package: "internal/emit/x86", Run: "TestGemmTiles", Needs: amxFP16,
	},
	{
		Name: "halves-added-to-what-is-not-there", File: "internal/emit/x86/gemm_halves.go",
		Old:     "asm.Ptr(jC, 0), asm.MaskZ(jBefore))",
		New:     "asm.Ptr(jC, 0))",
		Package: "internal/emit/x86", Run: "TestGemmTiles", Needs: amxFP16,
	},
	{
		Name: "greatest-number-too-large-for-halves", File: "internal/emit/x86/gemm_halves.go",
		Old:     "halvesTop   = 14",
		New:     "halvesTop   = 15",
		Package: "internal/emit/x86", Run: "TestHalves", Needs: amxFP16,
	},
	{
		Name: "greatest-of-a-quarter-of-the-lanes", File: "internal/emit/x86/gemm_halves.go",
		Old:     "[]int{0b01_00_11_10, 0b10_11_00_01}",
		New:     "[]int{0b10_11_00_01, 0b10_11_00_01}",
		Package: "internal/emit/x86", Run: "TestHalves", Needs: amxFP16,
	},
	{
		Name: "second-half-of-what-was-not-scaled", File: "internal/emit/x86/gemm_halves.go",
		Old: `	g.Op(asm.VMULPS, x, x, hSplit)
`,
		New:     "",
		Package: "internal/emit/x86", Run: "TestHalves", Needs: amxFP16,
	},
	{
		Name: "odd-panels-of-weights-forgotten", File: "internal/device/cpu/gemm_split.go",
		Old: `		w.note(s.foundOf(b.batch0, kb)[first:end])
`,
		New:     "",
		Package: "internal/device/cpu", Run: "TestPartsOdd", Needs: amx,
	},
	{
		Name: "odd-panels-that-are-kept-forgotten", File: "internal/device/cpu/gemm_split.go",
		Old: `	w.note(found)
`,
		New:     "",
		Package: "internal/device/cpu", Run: "TestPartsOdd", Needs: amx,
	},
	{
		Name: "scales-of-packed-blocks-without-room", File: "internal/device/cpu/gemm_plan.go",
		Old:     "(p.size*k0+p.extra*block)*p.packedCols()",
		New:     "p.size*k0*p.packedCols()",
		Package: "internal/device/cpu", Run: "TestParts", Needs: amxFP16,
	},
	{
		Name: "more-memory-kept-than-was-in-use", File: "internal/jit/memory.go",
		Old:     "max(limit, a.stats.Peak-a.stats.Live)",
		New:     "max(limit, a.stats.Peak)",
		Package: "internal/jit", Run: "TestFreedMemoryLingers",
	},
	{
		Name: "memory-lingers-for-ever", File: "internal/jit/cache.go",
		Old:     "!c.blocks[n].freed.After(by)",
		New:     "c.blocks[n].freed.IsZero()",
		Package: "internal/jit", Run: "TestFreedMemoryLingers",
	},
	{
		Name: "rows-between-odd-ones-finished-twice", File: "internal/device/cpu/gemm_apart.go",
		Old:     "r < to && is == want",
		New:     "r < to && (is || !want)",
		Package: "internal/device/cpu", Run: "TestPartsOdd", Needs: amx,
	},
	{
		Name: "row-behind-a-tile-of-odd-ones-left-out", File: "internal/device/cpu/gemm_apart.go",
		Old:     "from = to - 1",
		New:     "from = to",
		Package: "internal/device/cpu", Run: "TestPartsOdd", Needs: amx,
	},
	{
		Name: "zeros-are-not-small", File: "internal/emit/x86/gemm_halves.go",
		Old: `	below(hSmallest, halvesSmall, 0)
`,
		New: `	g.Op(asm.VPSUBD, hSmallest, hSmallest, hOne)
	below(hSmallest, halvesSmall, 1)
`,
		Package: "internal/device/cpu", Run: "TestPartsUneven", Needs: amxFP16,
	},
	{
		Name: "tiny-numbers-of-columns-forgotten", File: "internal/emit/x86/gemm_split.go",
		Old:     " || f&FoundSmall != 0 && column&FoundTiny != 0",
		New:     "",
		Package: "internal/device/cpu", Run: "TestPartsUneven", Needs: amxFP16,
	},
	{
		Name: "small-numbers-far-smaller", File: "internal/emit/x86/gemm_halves.go",
		Old:     "halvesSmall = 22",
		New:     "halvesSmall = 40",
		Package: "internal/device/cpu", Run: "TestPartsUneven", Needs: amxFP16,
	},
	{
		Name: "what-fills-up-columns-is-small", File: "internal/emit/x86/gemm_halves_panels.go",
		Old:     "g.scales(g.nonzeroOfPanel, asm.Mask(hColumns))",
		New:     "g.scales(g.nonzeroOfPanel)",
		Package: "internal/emit/x86", Run: "TestHalves", Needs: amxFP16,
	},
	{
		Name: "sum-of-halves-is-minus-zero", File: "internal/emit/x86/gemm_halves.go",
		Old:     "t.Op(asm.VADDPS, before, before, jZero)",
		New:     "t.Op(asm.VORPS, before, before, before)",
		Package: "internal/device/cpu", Run: "TestPartsMinusZero", Needs: amxFP16,
	},
	{
		Name: "second-sum-of-the-tile-before-lost", File: "internal/emit/x86/gemm_halves.go",
		Old: `		t.storeSum(1, gPitch, gCount)
		t.clearSum(1)
`,
		New:     "		t.clearSum(1)\n",
		Package: "internal/emit/x86", Run: "TestGemmTiles", Needs: amxFP16,
	},
	{
		Name: "least-number-beside-0-not-looked-for", File: "internal/emit/x86/gemm_halves.go",
		Old: `	nonzero()
`,
		New:     "",
		Package: "internal/emit/x86", Run: "TestHalves", Needs: amxFP16,
	},
	{
		Name: "every-fourth-number-of-a-panel-not-looked-at", File: "internal/emit/x86/gemm_halves.go",
		Old:     "i := asm.V(1); i < looks; i++",
		New:     "i := asm.V(1); i < looks-1; i++",
		Package: "internal/emit/x86", Run: "TestHalves", Needs: amxFP16,
	},
	{
		Name: "scale-of-a-row-among-its-numbers", File: "internal/emit/x86/gemm_halves.go",
		Old: `	g.Op(asm.ADD, hEnd, asm.Imm(chunk))
`,
		New:     "",
		Package: "internal/emit/x86", Run: "TestHalves", Needs: amxFP16,
	},
	{
		Name: "squares-below-are-those-above", File: "internal/emit/x86/gemm_transpose.go",
		Old: `	a.Op(asm.ADD, from, row)
`,
		New:     "",
		Package: "internal/emit/x86", Run: "TestTranspose", Needs: machineCode,
	},
	{
		Name: "odd-rows-that-lie-by-columns-not-told", File: "internal/emit/x86/gemm_halves_turned.go",
		Old: `	g.report(FoundOdd, hFound)
`,
		New:     "",
		Package: "internal/emit/x86", Run: "TestHalvesTurned", Needs: amxFP16,
	},
	{
		Name: "rows-by-columns-in-the-scale-of-the-first", File: "internal/emit/x86/gemm_halves_turned.go",
		Old: `	g.Op(asm.ADD, hInto, asm.Imm(4))
`,
		New:     "",
		Package: "internal/emit/x86", Run: "TestHalvesTurned", Needs: amxFP16,
	},
	{
		Name: "columns-behind-the-last-are-read", File: "internal/emit/x86/gemm_halves_panels.go",
		Old:     "asm.Ptr(hFrom, 0), asm.MaskZ(hColumns))",
		New:     "asm.Ptr(hFrom, 0))",
		Package: "internal/emit/x86", Run: "TestHalvesPanels", Needs: amxFP16,
	},
	{
		Name: "values-behind-the-last-are-those-of-before", File: "internal/emit/x86/gemm_halves_panels.go",
		Old: `	g.Op(asm.VMOVUPS, asm.Ptr(hInto, 0), asm.V(0))
`,
		New:     "",
		Package: "internal/emit/x86", Run: "TestHalvesPanels", Needs: amxFP16,
	},
	{
		Name: "columns-are-looked-at-before-they-are-turned", File: "internal/emit/x86/gemm_halves_panels.go",
		Old:     "g.turnIn(false)",
		New:     "g.turnIn(true)",
		Package: "internal/emit/x86", Run: "TestHalvesPanels", Needs: amxFP16,
	},
	{
		Name: "columns-left-over-split-to-the-first", File: "internal/device/cpu/gemm_split.go",
		Old:     "before, panels := (col-col0)/x86.PackedCols, ceilDiv(end-col, x86.PackedCols)",
		New:     "before, panels := 0, ceilDiv(end-col, x86.PackedCols)",
		Package: "internal/device/cpu", Run: "TestParts", Needs: amxFP16,
	},
	{
		Name: "columns-split-from-the-first-block-of-k", File: "internal/device/cpu/gemm_split.go",
		Old:     "unsafe.Add(y, 4*(first+col*s.colY))",
		New:     "unsafe.Add(y, 4*col*s.colY)",
		Package: "internal/device/cpu", Run: "TestParts", Needs: amxFP16,
	},
	{
		Name: "rows-by-columns-from-the-panel-before", File: "internal/device/cpu/gemm_split.go",
		Old:     "From: unsafe.Add(x, at(r0, first))",
		New:     "From: unsafe.Add(x, at(r0-r0%64, first))",
		Package: "internal/device/cpu", Run: "TestParts", Needs: amxFP16,
	},
	{
		Name: "columns-apart-lose-the-last", File: "internal/device/cpu/gemm_columns.go",
		Old:     "if n%2 != 0 {",
		New:     "if n%2 != 0 && n > 15 {",
		Package: ".", Run: "TestConvWindows",
	},
	{
		Name: "columns-of-the-first-block", File: "internal/device/cpu/gemm_columns.go",
		Old:     "rows := o.rows[min(k0, len(o.rows)):min(k1, len(o.rows))]",
		New:     "rows := o.rows[:min(k1-k0, len(o.rows))]",
		Package: ".", Run: "TestConvWindows",
	},
	{
		Name: "tables-grow-evenly-over-remainders", File: "internal/loop/values.go",
		Old:     "return int(c), x.Kind == KindVar && x.Var == f.v",
		New:     "return 0, x.Kind == KindVar && x.Var == f.v",
		Package: "internal/loop", Run: "TestValues",
	},
	{
		Name: "separate-parts-with-a-batch", File: "internal/loop/separate.go",
		Old:     "case !others && one == v && one != nil:",
		New:     "case one == v && one != nil && !e.Uses(w):",
		Package: "internal/loop", Run: "TestSeparate",
	},
	{
		Name: "windows-of-channels-that-lie-apart", File: "internal/ir/conv_product.go",
		Old:     "if !padded(n.Attr.Conv) { //",
		New:     "if n.Attr.Conv == nil { //",
		Package: "internal/rewrite", Run: "TestLowerConv",
	},
	{
		Name: "windows-of-images-in-another-order", File: "internal/ir/conv_product.go",
		Old:     "if !w.Shape[1].IsConst(1) && !w.Shape[2:].Numel().IsConst(1) {",
		New:     "if w.Shape[1].IsConst(1) && !w.Shape[2:].Numel().IsConst(1) {",
		Package: ".", Run: "TestConvWindows",
	},
	{
		Name: "places-of-vectors-that-end-a-run", File: "internal/device/cpu/gemm_columns.go",
		Old:     "o.cols.Length%lanes > 0 && o.cols.Length < s.cols",
		New:     "o.cols.Length%lanes > 4 && o.cols.Length < s.cols",
		Package: ".", Run: "TestConvWindows", Needs: machineCode,
	},
	{
		Name: "places-of-the-panel-before", File: "internal/device/cpu/gemm_columns.go",
		Old:     "min(col+v*s.lanes, s.cols-1)",
		New:     "min(col+v*s.lanes/2, s.cols-1)",
		Package: ".", Run: "TestConvWindows", Needs: machineCode,
	},
	{
		Name: "places-begin-again", File: "internal/device/cpu/gemm_run.go",
		Old:     "s.placesOfB(w, y, s.kStart(kb), col0",
		New:     "s.placesOfB(w, y, 0, col0",
		Package: ".", Run: "TestConvRowsBits", Needs: machineCode,
	},
	{
		Name: "windows-copied-for-others", File: "internal/rewrite/windows.go",
		Old:     "n.DType != ir.F32 ||",
		New:     "",
		Package: "internal/rewrite", Run: "TestWindowsInPlace",
	},
}
