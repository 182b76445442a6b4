package planted

// modelDefects are in the reading of models: what stands where, and what comes
// after what.
var modelDefects = []Defect{
	{
		Name: "half-window-taken-for-whole", File: "model/modernbert.go",
		Old:     "max(2**c.HalfWindow, 1)",
		New:     "max(*c.HalfWindow, 1)",
		Package: "model", Run: "TestModernBertWindow",
	},
	{
		Name: "local-window-whole", File: "model/modernbert.go",
		Old:     "o.Window = *c.Window/2 + 1",
		New:     "o.Window = *c.Window / 2",
		Package: "model", Run: "TestReferenceEncoders/avx2/modernbert",
	},
	{
		Name: "local-layers-by-global-angles", File: "model/modernbert.go",
		Old:     "turn = local",
		New:     "_ = local",
		Package: "model", Run: "TestReferenceEncoders/avx2/modernbert",
	},
	{
		Name: "layer-types-ignored", File: "model/modernbert.go",
		Old:     "return c.LayerTypes[i] == localLayer",
		New:     "return i%c.GlobalEvery != 0",
		Package: "model", Run: "TestReferenceEncoders/avx2/modernbert",
	},
	{
		Name: "gate-and-value-swapped", File: "model/modernbert.go",
		Old:     "y = activations[c.Activation](parts[0]).Mul(parts[1])",
		New:     "y = activations[c.Activation](parts[1]).Mul(parts[0])",
		Package: "model", Run: "TestReferenceEncoders/avx2/modernbert",
	},
	{
		Name: "rotary-other-way", File: "model/modernbert.go",
		Old:     "a.Mul(r.cos).Sub(b.Mul(r.sin)), b.Mul(r.cos).Add(a.Mul(r.sin))",
		New:     "a.Mul(r.cos).Sub(b.Mul(r.sin)), b.Mul(r.cos).Sub(a.Mul(r.sin))",
		Package: "model", Run: "TestReferenceEncoders/avx2/modernbert",
	},
	{
		Name: "positions-from-the-padding", File: "model/roberta.go",
		Old:     "m.first = c.Pad + 1",
		New:     "m.first = c.Pad",
		Package: "model", Run: "TestReferenceEncoders/avx2/roberta",
	},
	{
		Name: "bias-of-the-other-direction", File: "model/mpnet.go",
		Old:     "mpnetBucket(j-i)",
		New:     "mpnetBucket(i-j)",
		Package: "model", Run: "TestReferenceEncoders/avx2/mpnet",
	},
	{
		Name: "bias-of-far-tokens", File: "model/mpnet.go",
		Old:     "half, exact, most = mpnetBuckets / 2, mpnetBuckets / 4, 128",
		New:     "half, exact, most = mpnetBuckets / 2, mpnetBuckets / 4, 256",
		Package: "model", Run: "TestReferenceEncoders/avx2/mpnet",
	},
	{
		Name: "types-of-pairs-left-out", File: "model/postnorm.go",
		Old:     "x = x.Add(w.Types.Take(in.TypeIDs, 0))",
		New:     "x = x.Add(w.Types.Index(0, 0))",
		Package: "model", Run: "TestReferenceCrossEncoders/avx2/bert",
	},
	{
		Name: "head-of-the-mean-state", File: "model/modernbert.go",
		Old:     `if m.config.HeadPooling == "mean" {`,
		New:     `if m.config.HeadPooling != "mean" {`,
		Package: "model", Run: "TestReferenceCrossEncoders/avx2/modernbert",
	},
	{
		Name: "sigmoid-left-out", File: "model/crossencoder.go",
		Old:     "x = x.Sigmoid()",
		New:     "_ = x",
		Package: "model", Run: "TestReferenceCrossEncoders/avx2",
	},
	{
		Name: "weights-of-positions-from-zero", File: "model/pooling.go",
		Old:     "Cast(sinter.F32).Add(sinter.Scalar(1))",
		New:     "Cast(sinter.F32).Add(sinter.Scalar(0))",
		Package: "model", Run: "TestReferenceEncoders/avx2/poolings",
	},
	{
		Name: "first-token-for-the-last", File: "model/pooling.go",
		Old:     "return x.Take(ends.Sub(sinter.Scalar(1)), 0)",
		New:     "return x.Take(starts, 0)",
		Package: "model", Run: "TestReferenceEncoders/avx2/distilbert-dense",
	},
	{
		Name: "dense-without-residual", File: "model/dense.go",
		Old:     "return y.Add(x)",
		New:     "return y",
		Package: "model", Run: "TestReferenceEncoders/avx2/distilbert-dense",
	},
	{
		Name: "prompt-of-passages-for-queries", File: "embed/embed.go",
		Old:     "return p.query }",
		New:     "return p.passage }",
		Package: "embed", Run: "TestReferenceTexts",
	},
	{
		Name: "types-of-pairs-not-passed-on", File: "embed/rerank.go",
		Old:     "types = append(ids, p.ids...), append(types, p.types...)",
		New:     "types = append(ids, p.ids...), append(types, make([]int32, len(p.types))...)",
		Package: "embed", Run: "TestReferencePairs",
	},
}
