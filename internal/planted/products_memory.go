package planted

// productMemoryDefects are in products where these fetch operands or store results past the caches.
var productMemoryDefects = []Defect{
	{
		Name: "many-rows-fetch", File: "internal/emit/x86/gemm_choice.go",
		Old:     "few := s.Rows <= fetchingPanels*",
		New:     "few := s.Rows >= fetchingPanels-",
		Package: "internal/device/cpu", Run: "TestGemmFetching", Needs: machineCode,
	},
	{
		Name: "each-row-panel-fetches-all", File: "internal/device/cpu/gemm_run.go",
		Old:     "uintptr(ceilDiv(line, rows))",
		New:     "uintptr(line)",
		Package: "internal/device/cpu", Run: "TestGemmFetchedBlocks", Needs: machineCode,
	},
	{
		Name: "next-block-of-k-fetched-instead-of-columns", File: "internal/device/cpu/gemm_run.go",
		Old:     "next = s.packed(0, b.col1*s.width)",
		New:     "next = s.packed(kb, b.col1*s.width)",
		Package: "internal/device/cpu", Run: "TestGemmFetchedBlocks", Needs: machineCode,
	},
	{
		Name: "wide-blocks-where-row-panels-fetch", File: "internal/device/cpu/gemm_plan.go",
		Old:     "case p.fetch && p.rowPanels > 1:",
		New:     "case p.fetch && p.rowPanels > 2:",
		Package: "internal/device/cpu", Run: "TestGemmFetchedBlocks", Needs: machineCode,
	},
	{
		Name: "row-panels-fetch-from-the-start", File: "internal/emit/x86/gemm_tile.go",
		Old:     "t.Op(asm.MOV, asm.Ptr(gArgs, gemmFetch), gNextB)",
		New:     "t.Op(asm.MOV, gNextB, asm.Ptr(gArgs, gemmFetch))",
		Package: "internal/emit/x86", Run: "TestGemmTiles", Needs: machineCode,
	},
	{
		Name: "columns-far-apart-not-fetched", File: "internal/device/cpu/gemm.go",
		Old:     "if c.device.core.FarColumns {",
		New:     "if c.device.core.FarColumns && k.format != template.Single {",
		Package: "internal/device/cpu", Run: "TestGemmColumnsFar", Needs: machineCode,
	},
	{
		Name: "columns-nearby-fetched", File: "internal/emit/x86/gemm_operands.go",
		Old:     "if t.form == GemmFarColumns {",
		New:     "if t.form.Columns() {",
		Package: "internal/emit/x86", Run: "TestGemmFetchesColumns",
	},
	{
		Name: "rows-past-the-caches-of-another-place", File: "internal/device/cpu/gemm_past.go",
		Old:     "s.rowOut&-s.rowOut",
		New:     "s.rowOut",
		Package: "internal/device/cpu", Run: "TestGemmPast", Needs: avx512VNNI,
	},
	{
		Name: "first-line-past-the-caches-mistaken", File: "internal/device/cpu/gemm_past.go",
		Old:     "int(-at % uintptr(s.lanes))",
		New:     "int(at % uintptr(s.lanes))",
		Package: "internal/device/cpu", Run: "TestGemmPast", Needs: avx512VNNI,
	},
	{
		Name: "few-columns-in-front-of-the-first-line-left-out", File: "internal/device/cpu/gemm_past.go",
		Old:     "if col0 == 0 {",
		New:     "if col0 == 0 && skip != 1 {",
		Package: "internal/device/cpu", Run: "TestGemmPast", Needs: avx512VNNI,
	},
	{
		Name: "columns-behind-a-block-by-rows-left-out", File: "internal/device/cpu/gemm_past.go",
		Old:     "col < min(col1+s.lanes, s.cols)",
		New:     "col < min(col1, s.cols)",
		Package: "internal/device/cpu", Run: "TestGemmPast", Needs: avx512VNNI,
	},
	{
		Name: "steps-of-a-block-by-rows-too-close", File: "internal/device/cpu/gemm_past.go",
		Old:     "(ceilDiv(s.blockPanels*s.width, s.lanes) + 1 | 1) * s.lanes",
		New:     "ceilDiv(s.blockPanels*s.width, s.lanes) * s.lanes",
		Package: "internal/device/cpu", Run: "TestGemmPast", Needs: avx512VNNI,
	},
	{
		Name: "row-panels-past-the-caches-all-as-high", File: "internal/device/cpu/gemm_past.go",
		Old:     "return height, panels - (height*panels - rows)",
		New:     "return height, panels",
		Package: "internal/device/cpu", Run: "TestEvenly", Needs: avx512VNNI,
	},
	{
		Name: "columns-past-the-caches-of-the-next-task", File: "internal/device/cpu/gemm_past.go",
		Old:     "min(col1+skip, s.cols)",
		New:     "min(col1, s.cols)",
		Package: "internal/device/cpu", Run: "TestGemmPast", Needs: avx512VNNI,
	},
	{
		Name: "words-across-lines-past-the-caches", File: "internal/device/cpu/gemm_past.go",
		Old:     "uintptr(p)%4 == 0",
		New:     "uintptr(p)%2 == 0",
		Package: "internal/device/cpu", Run: "TestGemmNotPastHere", Needs: avx512VNNI,
	},
	{
		Name: "not-packed-past-the-caches", File: "internal/device/cpu/gemm_bind.go",
		Old:     "s.packedB != nil && form != kind.form {",
		New:     "form != kind.form {",
		Package: "internal/device/cpu", Run: "TestGemmNotPastHere", Needs: avx512VNNI,
	},
	{
		Name: "step-past-the-caches-moves-anywhere", File: "internal/device/cpu/gemm_bind.go",
		Old:     "if s.tiles.past() && !wordAligned(r.ptrs[s.kernel.out.Param]) {",
		New:     "if s.tiles.past() && !wordAligned(s.workers[0].args.C) {",
		Package: "internal/device/cpu", Run: "TestGemmPastMoves", Needs: avx512VNNI,
	},
	{
		Name: "kernels-past-the-caches-made-in-a-run", File: "internal/device/cpu/gemm_bind.go",
		Old:     "int(max(least, 1))}) {",
		New:     "int(0*least) + depth}) {",
		Package: "internal/device/cpu", Run: "TestGemmPastKernels", Needs: avx512VNNI,
	},
	{
		Name: "past-the-caches-without-fence", File: "internal/emit/x86/gemm_tile.go",
		Old: `		t.Op(asm.SFENCE) // whoever learns that the call is over finds the results
`,
		New:     "",
		Package: "internal/emit/x86", Run: "TestGemmStoresPast", Needs: machineCode,
	},
	{
		Name: "kept-rows-of-the-last-block-of-k", File: "internal/device/cpu/gemm_rows.go",
		Old:     "((panel-t.row0)*s.kBlocks+kb)*s.keptRows()",
		New:     "(panel-t.row0)*s.kBlocks*s.keptRows()",
		Package: "internal/device/cpu", Run: "TestGemmKeptRows", Needs: machineCode,
	},
	{
		Name: "kept-rows-packed-by-the-first-task", File: "internal/device/cpu/gemm_rows.go",
		Old:     "if b.col0 > t.col0 {",
		New:     "if b.col0 > 0 {",
		Package: "internal/device/cpu", Run: "TestGemmKeptRows", Needs: machineCode,
	},
	{
		Name: "kept-rows-of-the-first-matrix", File: "internal/device/cpu/gemm_rows.go",
		Old:     "if b.col0 > t.col0 {",
		New:     "if b.col0 > t.col0 || b.batch0 > t.batch0 {",
		Package: "internal/device/cpu", Run: "TestGemmKeptRows", Needs: machineCode,
	},
	{
		Name: "as-many-rows-kept-as-there-are", File: "internal/device/cpu/gemm_bind.go",
		Old:     "<= maxKept",
		New:     "<= 2*maxKept",
		Package: "internal/device/cpu", Run: "TestGemmKeptRows", Needs: machineCode,
	},
	{
		Name: "factor-of-what-lies-beside-in-the-mask", File: "internal/emit/x86/gemm_linear.go",
		Old:     "scale := t.product()",
		New:     "scale := t.x(0)",
		Package: "internal/emit/x86", Run: "TestGemmTiles", Needs: machineCode,
	},
}
