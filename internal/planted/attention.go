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
		Old:     "if w.finite() || !s.masks() {",
		New:     "if w.finite() || s.masks() {",
		Package: "internal/device/cpu", Run: "TestAttention", Needs: machineCode,
	},
	{
		Name: "tile-without-its-last-keys", File: "internal/device/cpu/attention_place.go",
		Old:     "int(w.ranges[r1-1][1] / 4)}",
		New:     "int(w.ranges[r0][1] / 4)}",
		Package: "internal/device/cpu", Run: "TestAttention", Needs: machineCode,
	},
	{
		Name: "masked-block-taken-for-whole", File: "internal/device/cpu/attention_place.go",
		Old:     "s.visible(k.attentionChunk, k.first).to-k0 >= k.to",
		New:     "s.visible(k.attentionChunk, k.end-1).to-k0 >= k.to",
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
		Name: "pairs-in-the-other-order", File: "internal/emit/x86/gemm_wide.go",
		Old:     "for _, half := range []int{1, 0} {",
		New:     "for _, half := range []int{0, 1} {",
		Package: "internal/emit/x86", Run: "TestGemm", Needs: avx512,
	},
	{
		Name: "second-number-with-the-first", File: "internal/emit/x86/gemm_operands.go",
		Old:     "t.upper(), t.U32(0xFFFF0000)",
		New:     "t.upper(), t.U32(0xFFFFFFFF)",
		Package: "internal/emit/x86", Run: "TestGemmTiles", Needs: avx512,
	},
	{
		Name: "weights-not-widened", File: "internal/emit/x86/attention_bf16.go",
		Old: `		g.Op(asm.VPSLLD, wide, wide, asm.Imm(16))
`,
		New:     "",
		Package: "internal/emit/x86", Run: "TestSoftmaxSteps", Needs: avx512BF16,
	},
	{
		Name: "weights-of-a-pair-as-one", File: "internal/device/cpu/attention_run.go",
		Old:     "4*b.first*strideS+s.tiles.Format.StepA()*step",
		New:     "4*b.first*strideS+4*step",
		Package: "internal/device/cpu", Run: "TestAttention", Needs: avx512BF16,
	},
	{
		Name: "unseen-values-of-a-pair", File: "internal/device/cpu/attention_run.go",
		Old:     "whole := s.group * cutOf(s.tiles.Format).chunk",
		New:     "whole := 1",
		Package: "internal/device/cpu", Run: "TestAttentionUnseen", Needs: avx512BF16,
	},
	{
		Name: "unseen-values-of-a-chunk", File: "internal/device/cpu/attention_run.go",
		Old:     "whole := s.group * cutOf(s.tiles.Format).chunk",
		New:     "whole := s.group",
		Package: "internal/device/cpu", Run: "TestAttentionUnseen", Needs: amx,
	},
	{
		Name: "unseen-values-not-put-back", File: "internal/device/cpu/attention_run.go",
		Old:     "func(v *uint16) { *v, back = back[0], back[1:] }",
		New:     "func(v *uint16) { back = back[1:] }",
		Package: "internal/device/cpu", Run: "TestAttentionUnseen", Needs: avx512BF16,
	},
	{
		Name: "values-behind-the-last-key", File: "internal/device/cpu/attention_run.go",
		Old: `	s.fillUp(w.values, s.steps(n), steps)
`,
		New:     "",
		Package: "internal/device/cpu", Run: "TestAttentionDirtyScratch", Needs: amx,
	},
	{
		Name: "weights-of-half-a-chunk", File: "internal/device/cpu/attention_plan.go",
		Old:     "return max(k.tiles.lanes, k.group*cutOf(k.tiles.Format).chunk)",
		New:     "return k.tiles.lanes",
		Package: "internal/device/cpu", Run: "TestAttention", Needs: amx,
	},
	{
		Name: "heads-of-half-a-chunk", File: "internal/device/cpu/attention.go",
		Old:     "t.Width%(x86.GemmAMXBF16.Group()*x86.GemmChunk) == 0",
		New:     "t.Width%x86.GemmChunk == 0",
		Package: "internal/device/cpu", Run: "TestAttention", Needs: amx,
	},
}
