package planted

// scheduleDefects are in what makes kernels of graphs: index arithmetic, the
// order of passes over a row, reductions in parts, the memory plan.
var scheduleDefects = []Defect{
	{
		Name: "layout-of-another-shape", File: "internal/schedule/layout.go",
		Old:     "idx[ax], n.Shape[ax]",
		New:     "idx[ax], n.Shape[i]",
		Package: "internal/schedule", Run: "TestRandomLayouts",
	},
	{
		Name: "reshape-of-another-layout", File: "internal/schedule/view.go",
		Old:     " && b.s.layout[b.s.key(x)] == nil",
		New:     "",
		Package: "internal/schedule", Run: "TestRandomLayouts",
	},
	{
		Name: "outputs-in-another-layout", File: "internal/schedule/layout.go",
		Old:     "case u.Attr.Out == 0 && s.out[u.ID]:",
		New:     "case u.Attr.Out == 1 && s.out[u.ID]:",
		Package: "internal/schedule", Run: "TestRandomLayouts",
	},
	{
		Name: "overwritten-before-it-is-read", File: "internal/schedule/commit.go",
		Old:     "!ok || product && work != k",
		New:     "!ok",
		Package: ".", Run: "TestProductsReadOldValuesFirst", Needs: machineCode,
	},
	{
		Name: "kept-wherever-a-slice-begins", File: "internal/schedule/constants.go",
		Old:     "n.Op == ir.Assign || n.Attr.PlacedBySymbol():",
		New:     "n.Op == ir.Assign:",
		Package: "internal/device/cpu", Run: "TestKeptBySymbols",
	},
	{
		Name: "packed-whatever-the-symbols", File: "internal/device/cpu/pack.go",
		Old:     "|| !slices.Equal(n.values, values)",
		New:     "|| slices.Contains(values, -1)",
		Package: "internal/device/cpu", Run: "TestKeptBySymbols", Needs: machineCode,
	},
	{
		Name: "values-have-the-width-of-keys", File: "internal/schedule/attention.go",
		Old:     "b.attentionIndex(t, o.node.Shape)",
		New:     "b.attentionIndex(t, q.Shape)",
		Package: "internal/device/cpu", Run: "TestConformance",
	},
	{
		Name: "lifetime-ends-early", File: "internal/schedule/memory.go",
		Old:     "max(b.Last, i)",
		New:     "max(b.Last, i-1)",
		Package: "internal/schedule", Run: "TestRandomGraphs",
	},
	{
		Name: "neighbours-share-memory", File: "internal/schedule/memory.go",
		Old:     "p.Buffers[i].First <= p.Buffers[j].Last &&",
		New:     "p.Buffers[i].First < p.Buffers[j].Last &&",
		Package: "internal/schedule", Run: "TestPack|TestRandomGraphs",
	},
	{
		Name: "gap-too-small", File: "internal/schedule/memory.go",
		Old:     "if at+sizes[i] <= a.Offsets[j] {",
		New:     "if at < a.Offsets[j] {",
		Package: "internal/schedule", Run: "TestPack",
	},
	{
		Name: "index-forgotten-before-it-is-named", File: "internal/schedule/memory.go",
		Old:     "p.Buffers[c.Buffer].Last = len(p.Kernels)",
		New:     "p.Buffers[c.Buffer].Last = max(p.Buffers[c.Buffer].Last, i)",
		Package: "internal/device/cpu", Run: "TestConformance/avx2_optimised",
	},
	{
		Name: "flip-off-by-one", File: "internal/schedule/view.go",
		Old:     "loop.SizeOf(x.Shape[i].Plus(-1)), idx[i])",
		New:     "loop.SizeOf(x.Shape[i]), idx[i])",
		Package: "internal/schedule", Run: "TestRandomGraphs",
	},
	{
		Name: "pad-takes-first-element", File: "internal/schedule/view.go",
		Old:     "loop.Int(-1), at[i])",
		New:     "loop.Int(0), at[i])",
		Package: "internal/schedule", Run: "TestRandomGraphs",
	},
	{
		Name: "concat-boundary", File: "internal/schedule/view.go",
		Old:     "loop.SizeOf(starts[i].Plus(-1)), idx[axis])",
		New:     "loop.SizeOf(starts[i]), idx[axis])",
		Package: "internal/schedule", Run: "TestRandomGraphs",
	},
	{
		Name: "window-stride-for-dilation", File: "internal/schedule/view.go",
		Old:     "loop.MulIndex(idx[i], loop.Int(n.Attr.Stride))",
		New:     "loop.MulIndex(idx[i], loop.Int(n.Attr.Dilation))",
		Package: "internal/schedule", Run: "TestRandomGraphs",
	},
	{
		Name: "reshape-of-wrong-stride", File: "internal/schedule/view.go",
		Old:     "stride = stride.Mul(from[fi[i]])",
		New:     "stride = from[fi[i]]",
		Package: "internal/device/cpu", Run: "TestRandomGraphs",
	},
	{
		Name: "gather-unchecked", File: "internal/schedule/builder.go",
		Old:     "at[axis] = loop.Index(castIndex64(i), size, b.check(n, size))",
		New:     "at[axis], _ = castIndex64(i), b.check(n, size)",
		Package: "internal/device/cpu", Run: "TestConformance/avx2_optimised",
	},
	{
		Name: "scatter-unchecked", File: "internal/schedule/indexed.go",
		Old:     "to[axis] = loop.Index(castIndex64(i), size, slot)",
		New:     "to[axis], _ = castIndex64(i), slot",
		Package: "internal/device/cpu", Run: "TestConformance/avx2_optimised",
	},
	{
		Name: "divisor-unchecked", File: "internal/schedule/builder.go",
		Old:     "bad := loop.And(valid, zero)",
		New:     "bad := loop.Apply(ir.Less, ir.Bool, zero, zero)",
		Package: "internal/device/cpu", Run: "TestConformance/avx2_optimised",
	},
	{
		Name: "scan-starts-with-nothing", File: "internal/schedule/indexed.go",
		Old:     `kind := map[string]ir.Op{"sum": ir.ReduceSum, "prod": ir.ReduceProd, "max": ir.ReduceMax}[n.Attr.Mode]`,
		New:     `kind := map[string]ir.Op{"sum": ir.ReduceSum, "prod": ir.ReduceSum, "max": ir.ReduceMax}[n.Attr.Mode]`,
		Package: "internal/schedule", Run: "TestRandomGraphs",
	},
	{
		Name: "segments-shifted", File: "internal/schedule/indexed.go",
		Old:     "return seg, ends[0], ends[1], nil",
		New:     "return seg, ends[0], loop.SubIndex(ends[1], loop.Int(1)), nil",
		Package: "internal/schedule", Run: "TestRandomGraphs",
	},
	{
		Name: "epilogue-across-reorderings", File: "internal/schedule/epilogue.go",
		Old:     "agree = agree && (!on || p == o)",
		New:     "agree = agree && (!on || p != nil)",
		Package: "internal/schedule", Run: "TestGolden",
	},
	{
		Name: "epilogue-keeps-what-others-need", File: "internal/schedule/epilogue.go",
		Old:     "func(u *ir.Node) bool { return !s.inside.has(u) }):",
		New:     "func(u *ir.Node) bool { return !s.inside.has(u) && n == t }):",
		Package: "internal/schedule", Run: "TestGolden|TestRandomGraphs",
	},
	{
		Name: "epilogue-needs-its-own-row", File: "internal/schedule/epilogue.go",
		Old: `			if s.inside.has(n) && !s.inside.has(x) {
				return true`,
		New: `			if s.inside.has(n) && !s.inside.has(x) {
				return false`,
		Package: "internal/schedule", Run: "TestEpilogueOfOtherElements",
	},
	{
		Name: "kept-value-behind-the-function", File: "internal/schedule/anchors.go",
		Old:     "body = append(body, b.store(n, idx, result))",
		New:     "body = append(body, b.store(n, idx, loop.Apply(ir.Neg, n.DType, result)))",
		Package: "internal/schedule", Run: "TestRandomGraphs",
	},
	{
		Name: "reduction-used-in-its-own-pass", File: "internal/schedule/rows.go",
		Old:     "l = max(l, level[in]+1)",
		New:     "l = max(l, level[in])",
		Package: "internal/schedule", Run: "TestRandomGraphs",
	},
	{
		Name: "view-of-a-row-that-is-not-there-yet", File: "internal/schedule/rows.go",
		Old:     "f.last == f.first || f.viewed ||",
		New:     "f.last == f.first ||",
		Package: "internal/device/cpu", Run: "TestKeptRows",
	},
	{
		Name: "a-rows-value-for-another", File: "internal/schedule/rows.go",
		Old:     "|| !r.ofRow(e) || !r.thisRow(idx) {",
		New:     "|| !r.ofRow(e) {",
		Package: "internal/device/cpu", Run: "TestKeptRows",
	},
	{
		Name: "maximum-starts-at-a-number", File: "internal/schedule/rows.go",
		Old:     "v = math.Inf(sign)",
		New:     "v = float64(sign) * math.MaxFloat32",
		Package: "internal/device/cpu", Run: "TestRandomGraphs|TestSplitReductions",
	},
	{
		Name: "halves-summed-in-halves", File: "internal/schedule/rows.go",
		Old:     `acc := r.newLocal("acc", n.DType.Compute()) // narrow`,
		New:     `acc := r.newLocal("acc", n.DType) // narrow`,
		Package: "internal/device/cpu", Run: "TestRandomGraphs|TestConformance/avx2_optimised",
	},
	{
		Name: "block-beyond-the-end", File: "internal/schedule/blocks.go",
		Old:     "hi := loop.Apply(ir.Min, ir.I64, loop.AddIndex(lo, loop.Int(size)), l.Hi)",
		New:     "hi := loop.AddIndex(lo, loop.Int(size))",
		Package: "internal/schedule", Run: "TestLongParts|TestRandomGraphs",
	},
	{
		Name: "last-of-several-rows-dropped", File: "internal/schedule/columns.go",
		Old:     "n%width == 0",
		New:     "n%width >= 0",
		Package: "internal/device/cpu", Run: "TestSplitReductions",
	},
	{
		Name: "tie-goes-to-the-later", File: "internal/schedule/arg.go",
		Old:     "yes := isBool(ir.Less, best, e)",
		New:     "yes := isBool(ir.Xor, isBool(ir.Less, e, best), loop.Const(ir.Bool, 1))",
		Package: "internal/device/cpu", Run: "TestRandomGraphs|TestSplitReductions",
	},
	{
		Name: "tie-between-interleaved-rows", File: "internal/schedule/arg.go",
		Old:     "loop.Apply(ir.Less, ir.Bool, place, f.where.Ref())",
		New:     "loop.Apply(ir.Less, ir.Bool, f.where.Ref(), place)",
		Package: "internal/device/cpu", Run: "TestSplitReductions",
	},
	{
		Name: "nan-is-not-the-extreme", File: "internal/schedule/arg.go",
		Old:     "isBool(ir.Or, yes, isNaN(e))",
		New:     "yes",
		Package: "internal/device/cpu", Run: "TestRandomGraphs|TestConformance/avx2_optimised",
	},
	{
		Name: "inputs-taken-for-weights", File: "internal/schedule/constants.go",
		Old:     "case n.Op.HasLeaf() && s.steady[n.Attr.Leaf]:",
		New:     "case n.Op.HasLeaf():",
		Package: "internal/schedule", Run: "TestConstant",
	},
	{
		Name: "constant-kernel-with-data", File: "internal/schedule/constants.go",
		Old:     "return a == b || a == neutral || b == neutral",
		New:     "return a == neutral || b == neutral || a != b || a == b",
		Package: "internal/schedule", Run: "TestConstant",
	},
	{
		Name: "hash-without-shared-storage", File: "internal/ir/hash.go",
		Old: `alias = at
`,
		New: `alias, _ = i, at
`,
		Package: "internal/ir", Run: "TestHash",
	},
	{
		Name: "index-within-by-one", File: "internal/loop/bounds.go",
		Old:     "notNegative(b.Plus(-1).Sub(hi))",
		New:     "notNegative(b.Sub(hi))",
		Package: "internal/loop", Run: "TestIndexSimplification",
	},
	{
		Name: "bounds-of-negative-products", File: "internal/loop/bounds.go",
		Old:     "if notNegative(xl) && notNegative(yl) {",
		New:     "if notNegative(xl) {",
		Package: "internal/loop", Run: "TestIndexSimplification",
	},
	{
		Name: "checks-of-two-indices-shared", File: "internal/loop/transform.go",
		Old:     ", slot: e.Slot}",
		New:     "}",
		Package: "internal/loop", Run: "TestShare",
	},
	{
		Name: "narrow-locals-moved-as-bits", File: "internal/loop/movebits.go",
		Old:     "walkLocals(k.Body, func(l *Local) { delete(moved, l.DType) })",
		New:     "",
		Package: "internal/loop", Run: "TestMoveBits",
	},
	{
		Name: "finish-of-wrong-row", File: "internal/template/gemm_parts.go",
		Old: `row := loop.MulIndex(loop.SubIndex(g.Row.Ref(), b.size(FirstRow)), b.size(Stride))
	at := loop.AddIndex(row, loop.SubIndex(g.Col.Ref(), b.size(FirstCol)))`,
		New: `row := loop.MulIndex(g.Row.Ref(), b.size(Stride))
	at := loop.AddIndex(row, loop.SubIndex(g.Col.Ref(), b.size(FirstCol)))`,
		Package: "internal/device/cpu", Run: "TestGemmForms", Needs: machineCode,
	},
	{
		Name: "joined-part-at-the-start", File: "internal/schedule/join.go",
		Old:     "at[axis] = loop.AddIndex(at[axis], loop.SizeOf(p.start))",
		New:     "at[axis] = loop.AddIndex(at[axis], loop.SizeOf(j.parts[0].start))",
		Package: "internal/schedule", Run: "TestJoins",
	},
	{
		Name: "joined-though-others-read-it", File: "internal/schedule/join.go",
		Old:     "return len(s.users[n.ID]) == 1 && !s.root[n.ID] && !s.out[n.ID]",
		New:     "return !s.root[n.ID] && !s.out[n.ID]",
		Package: "internal/schedule", Run: "TestJoins",
	},
	{
		Name: "pieces-joined-over-a-gap", File: "internal/grad/pieces.go",
		Old:     "p.axis == axis && p.start.Equal(start)",
		New:     "p.axis == axis && (len(row) > 0 || p.start.Equal(start))",
		Package: "internal/grad", Run: "TestPieces",
	},
	{
		Name: "outputs-that-reshape-are-computed-again", File: "internal/schedule/lower.go",
		Old: `		n = inMemory(n)
		key := bufferKey`,
		New:     `		key := bufferKey`,
		Package: "internal/schedule", Run: "TestReshapedOutputs|TestRandomGraphs",
	},
	{
		Name: "sorts-of-elements-apart", File: "internal/schedule/anchors.go",
		Old:     "|| u.Attr.Steps[axis] != 1 {",
		New:     "{",
		Package: "internal/schedule", Run: "TestFirstOf",
	},
	{
		Name: "heaps-sink-below-any", File: "internal/device/cpu/sort.go",
		Old:     "if child+1 < len(h) && h[child+1] > h[child] {",
		New:     "if child+1 < len(h)-1 && h[child+1] > h[child] {",
		Package: "internal/device/cpu", Run: "TestSmallest",
	},
}
