package planted

// amxDefects are in products by AMX.
var amxDefects = []Defect{
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
}
