package planted

// attentionDefects are in the attention: who sees whom, and the softmax.
var attentionDefects = []Defect{
	{
		Name: "causal-off-by-one", File: "internal/device/cpu/attention_run.go",
		Old:     "r.to = own + 1",
		New:     "r.to = own",
		Package: "internal/device/cpu", Run: "TestAttention", Needs: machineCode,
	},
	{
		Name: "window-off-by-one", File: "internal/device/cpu/attention_run.go",
		Old:     "own+1-a.Window",
		New:     "own-a.Window",
		Package: "internal/device/cpu", Run: "TestAttention", Needs: machineCode,
	},
	{
		Name: "query-aligned-at-start", File: "internal/device/cpu/attention_run.go",
		Old:     "own := i + n - (c.q1 - c.q0)",
		New:     "own := i",
		Package: "internal/device/cpu", Run: "TestAttention", Needs: machineCode,
	},
	{
		Name: "ragged-offset-forgotten", File: "internal/device/cpu/attention_run.go",
		Old: `			i += k.q0
`,
		New: `			i += k.k0
`,
		Package: "internal/device/cpu", Run: "TestAttention", Needs: machineCode,
	},
	{
		Name: "head-of-another-group", File: "internal/device/cpu/attention_run.go",
		Old:     "head: c.kvHead*group + g",
		New:     "head: c.kvHead + g*s.work.KVHeads",
		Package: "internal/device/cpu", Run: "TestAttention", Needs: machineCode,
	},
	{
		Name: "packed-keys-of-another-block", File: "internal/device/cpu/attention_run.go",
		Old:     "p := packedKeys{true, c.seq, c.kvHead, kb}",
		New:     "p := packedKeys{true, c.seq, c.kvHead, 0}",
		Package: "internal/device/cpu", Run: "TestAttention", Needs: machineCode,
	},
	{
		Name: "keys-beyond-the-last", File: "internal/device/cpu/attention_run.go",
		Old:     "stride*min(j+l, n-1)",
		New:     "stride*(j+l)",
		Package: "internal/device/cpu", Run: "TestAttention", Needs: machineCode,
	},
	{
		Name: "sums-not-rescaled", File: "internal/device/cpu/attention_run.go",
		Old: `	if started {
		a.Rescale = a.Top
	}
`,
		New:     "",
		Package: "internal/device/cpu", Run: "TestAttention", Needs: machineCode,
	},
	{
		Name: "infinite-values-unseen", File: "internal/device/cpu/attention_run.go",
		Old:     "if w.finite() || !a.Causal && a.Window == 0 {",
		New:     "if w.finite() || !a.Causal || a.Window == 0 {",
		Package: "internal/device/cpu", Run: "TestAttention", Needs: machineCode,
	},
	{
		Name: "rows-that-see-nothing", File: "internal/device/cpu/attention_run.go",
		Old: `		clear(none)
`,
		New: `		clear(none[:0])
`,
		Package: "internal/device/cpu", Run: "TestAttention", Needs: machineCode,
	},
	{
		Name: "negative-scale", File: "internal/device/cpu/attention_run.go",
		Old: `	if s.scale < 0 {
		a.Fill = float32(math.Inf(1))
	}
`,
		New:     "",
		Package: "internal/device/cpu", Run: "TestAttention", Needs: machineCode,
	},
	{
		Name: "softmax-without-maximum", File: "internal/emit/x86/attention_softmax.go",
		Old: `	g.Op(asm.VSUBPS, sX, sX, sSafe)
`,
		New:     "",
		Package: "internal/emit/x86", Run: "TestSoftmaxSteps", Needs: machineCode,
	},
	{
		Name: "softmax-old-total-unscaled", File: "internal/emit/x86/attention_softmax.go",
		Old:     "g.Op(asm.VMULSS, total, keep, asm.Ptr(sState, stateTotal))",
		New:     "g.Op(asm.VMOVSS, total, asm.Ptr(sState, stateTotal))",
		Package: "internal/emit/x86", Run: "TestSoftmaxSteps", Needs: machineCode,
	},
	{
		Name: "softmax-of-nothing", File: "internal/emit/x86/attention_softmax.go",
		Old: `	g.Op(asm.VMAXPS, sSafe, sSafe, g.F32(-math.MaxFloat32))
`,
		New:     "",
		Package: "internal/emit/x86", Run: "TestSoftmaxSteps|TestAttention", Needs: machineCode,
	},
	{
		Name: "keys-shifted-in-loops", File: "internal/template/attention_loops.go",
		Old:     "to = loop.AddIndex(own, loop.Int(1))",
		New:     "to = own",
		Package: "internal/device/cpu", Run: "TestAttention", Needs: machineCode,
	},
	{
		Name: "sequence-longer-than-its-mask", File: "internal/device/cpu/attention_rows.go",
		Old:     "m.rows > m.room {",
		New:     "m.rows > m.room+1 {",
		Package: "internal/device/cpu", Run: "TestAttentionRefuses", Needs: machineCode,
	},
	{
		Name: "attention-bf16-pair-of-one", File: "internal/template/attention_parts.go",
		Old:     "high := bits(loop.Apply(ir.Min, ir.I64, next, ",
		New:     "high := bits(loop.Apply(ir.Min, ir.I64, row, ",
		Package: "internal/device/cpu", Run: "TestAttention", Needs: avx512BF16,
	},
	{
		Name: "attention-bf16-pair-beyond-the-last", File: "internal/template/attention_parts.go",
		Old: `	high = loop.Apply(ir.Where, ir.U32, loop.Apply(ir.Less, ir.Bool, next, end), high, loop.Const(ir.U32, 0))
`,
		New:     "",
		Package: "internal/device/cpu", Run: "TestAttention", Needs: avx512BF16,
	},
	{
		Name: "attention-bf16-odd-key-forgotten", File: "internal/device/cpu/attention_run.go",
		Old:     "g.SetK(s.steps(to) - step)",
		New:     "g.SetK(to/s.group - step)",
		Package: "internal/device/cpu", Run: "TestAttention", Needs: avx512BF16,
	},
	{
		Name: "attention-bf16-unseen-of-a-pair", File: "internal/device/cpu/attention_run.go",
		Old:     "if s.format == template.BF16 {\n\t\t\ts.seenSums",
		New:     "if false {\n\t\t\ts.seenSums",
		Package: "internal/device/cpu", Run: "TestAttention", Needs: avx512BF16,
	},
	{
		Name: "attention-bf16-first-of-a-pair-finite", File: "internal/emit/x86/attention.go",
		Old:     "a.Op(asm.VPSLLD, x, asm.Ptr(from, 0), asm.Imm(16))",
		New:     "a.Op(asm.VMOVUPS, x, asm.Ptr(from, 0))",
		Package: "internal/emit/x86", Run: "TestFinite", Needs: avx512BF16,
	},
	{
		Name: "attention-bf16-digits-of-exp", File: "internal/emit/x86/attention_bf16.go",
		Old:     "0x1.cefc16p-3",
		New:     "0x1.cffc16p-3",
		Package: "internal/emit/x86", Run: "TestSoftmaxSteps", Needs: avx512BF16,
	},
	{
		Name: "attention-bf16-sum-of-every-other", File: "internal/emit/x86/attention_bf16.go",
		Old:     "g.U32(one<<16|one)",
		New:     "g.U32(one)",
		Package: "internal/emit/x86", Run: "TestSoftmaxSteps", Needs: avx512BF16,
	},
	{
		Name: "attention-rounded-with-logsumexp", File: "internal/rewrite/bf16.go",
		Old:     "n.Op == ir.Get && n.Attr.Out == 1",
		New:     "n.Op == ir.Get && n.Attr.Out == 2",
		Package: "internal/rewrite", Run: "TestGolden", Needs: anything,
	},
}
