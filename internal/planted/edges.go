package planted

// edgeDefects are where values, sizes and settings are seldom what they are in
// models: each was there until somebody looked.
var edgeDefects = []Defect{
	{
		Name: "fused-product-rounded-twice", File: "internal/loop/scalar.go",
		Old:     "b&below != half &&",
		New:     "b&below != half+1 &&",
		Package: "internal/loop", Run: "TestFMA32",
	},
	{
		Name: "subnormal-fused-product-rounded-twice", File: "internal/loop/scalar.go",
		Old:     "b&^(1<<63) >= normals",
		New:     "b&^(1<<63) >= normals>>8",
		Package: "internal/loop", Run: "TestFMA32",
	},
	{
		Name: "old-value-written-before-all-read-it", File: "internal/emit/entry/barrier.go",
		Old:     "if b.overwrites(now.writes, b.open.reads) {",
		New:     "if b.overwrites(now.writes, now.reads) {",
		Package: "internal/device/launch", Run: "TestInPlace",
	},
	{
		Name: "text-without-tokens-has-its-neighbour's-state", File: "embed/embed.go",
		Old:     "return p != model.PoolMean",
		New:     "return p == model.PoolMean",
		Package: "embed", Run: "TestTextsWithoutTokens",
	},
	{
		Name: "pair-without-tokens-has-a-score", File: "embed/rerank.go",
		Old:     "return len(p.ids) == 0",
		New:     "return len(p.ids) < 0",
		Package: "embed", Run: "TestPairsWithoutTokens",
	},
	{
		Name: "types-that-the-tokenizer-does-not-give", File: "model/crossencoder.go",
		Old:     "c.net.dims().types && !c.untyped",
		New:     "c.net.dims().types",
		Package: "model", Run: "TestReferenceCrossEncoders",
	},
	{
		Name: "window-of-one-side", File: "nn/attention.go",
		Old:     "sees.And(back.Less(window)).And(back.Neg().Less(window))",
		New:     "sees.And(back.Less(window))",
		Package: "nn", Run: "TestAttentionThatDrops",
	},
	{
		Name: "shares-of-keys-that-nobody-sees", File: "nn/attention.go",
		Old:     "sinter.Where(blind, sinter.Scalar(0), most)",
		New:     "most",
		Package: "nn", Run: "TestAttentionThatDropsSeesNothing",
	},
	{
		Name: "running-variance-of-one-value", File: "nn/norm.go",
		Old:     "sinter.Where(others.Less(one), old, moving(sample)(old))",
		New:     "moving(sample)(old)",
		Package: "nn", Run: "TestBatchNormOfOneValue",
	},
	{
		Name: "last-epoch-left-open", File: "train/run.go",
		Old:     "begun || !r.done(); begun = false",
		New:     "begun && !r.done() || !r.done(); begun = false",
		Package: "train", Run: "TestStepsThatEndAnEpoch",
	},
	{
		Name: "nothing-kept-of-a-run-that-nobody-hears", File: "train/run.go",
		Old:     "err == nil || r.unheard ||",
		New:     "err == nil ||",
		Package: "train", Run: "TestReportFails",
	},
	{
		Name: "range-counted-in-halves", File: "create.go",
		Old:     "return F32, nil\n",
		New:     "return dt, nil\n",
		Package: ".", Run: "TestArange",
	},
	{
		Name: "logits-that-are-right-cancel", File: "loss.go",
		Old:     "logits.Mul(one.Sub(targets))",
		New:     "logits.Mul(one).Sub(logits.Mul(targets))",
		Package: ".", Run: "TestBCEWithLogits",
	},
	{
		Name: "weights-of-rows-that-do-not-count", File: "loss.go",
		Old:     "			weights = Where(counts, weights, weights.like(0))\n",
		New:     "			_ = weights\n",
		Package: "nn", Run: "TestPyTorch",
	},
	{
		Name: "class-without-weight-that-is-impossible", File: "loss.go",
		Old:     "return Where(nothing, x.like(0), x).Mul(weights)",
		New:     "_ = nothing\n\treturn x.Mul(weights)",
		Package: ".", Run: "TestCrossEntropyWeights",
	},
	{
		Name: "loss-without-weight-hides-a-nan", File: "loss.go",
		Old:     "weights.Equal(Scalar(0)).And(x.Equal(Scalar(math.Inf(-1))))",
		New:     "weights.Equal(Scalar(math.Copysign(0, 1)))",
		Package: ".", Run: "TestCrossEntropyWeights",
	},
	{
		Name: "fan-of-a-transposed-convolution", File: "nn/conv.go",
		Old:     "fan := sizes[1]",
		New:     "fan := c.in / groups",
		Package: "nn", Run: "TestLayersBegin",
	},
	{
		Name: "prune-forgets-what-a-file-had-until-now", File: "cmd/sinter/internal/index/prune.go",
		Old:     "s.tx.put(tableReleased, f.Content[:], encodeTime(s.now))",
		New:     "s.release(f.Content)",
		Package: "cmd/sinter/internal/index", Run: "TestPrune",
	},
}
