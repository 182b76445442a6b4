package planted

// rewriteDefects are in the passes from graph to graph: rules that forget NaN,
// infinity or -0, moves in the wrong order, types that do not fit.
var rewriteDefects = []Defect{
	{
		Name: "convolution-pads-behind", File: "internal/ir/conv_product.go",
		Old:     "before[i+1], after[i+1] = N(a.Before[i]), N(a.After[i])",
		New:     "before[i+1], after[i+1] = N(a.After[i]), N(a.Before[i])",
		Package: ".", Run: "TestReferenceOperators",
	},
	{
		Name: "convolution-stride-of-another-axis", File: "internal/ir/conv_product.go",
		Old:     "Stride: a.Stride[i], Dilation",
		New:     "Stride: a.Stride[0], Dilation",
		Package: "nn", Run: "TestPyTorch",
	},
	{
		Name: "windows-gradient-in-another-order", File: "internal/grad/movement.go",
		Old:     "		if i == axis {\n			order = append(order, rank)\n		}\n	}\n	return m.permute(d, order...)",
		New:     "		if i == rank-1 {\n			order = append(order, rank)\n		}\n	}\n	return m.permute(d, order...)",
		Package: ".", Run: "TestReferenceOperators",
	},
	{
		Name: "sub-self-of-floats", File: "internal/rewrite/algebra.go",
		Old:     "if n.In[0] == n.In[1] && !isFloat(n) {",
		New:     "if n.In[0] == n.In[1] {",
		Package: "internal/rewrite", Run: "TestExactPassesKeepBits",
	},
	{
		Name: "mul-zero-of-floats", File: "internal/rewrite/algebra.go",
		Old:     "is(c, 0) && !isFloat(n)",
		New:     "is(c, 0)",
		Package: "internal/rewrite", Run: "TestExactPassesKeepBits",
	},
	{
		Name: "add-zero-of-any-sign", File: "internal/rewrite/algebra.go",
		Old:     "is(c, negZero)",
		New:     "is(c, 0)",
		Package: "internal/rewrite", Run: "TestExactPassesKeepBits",
	},
	{
		Name: "max-with-infinity-drops-nan", File: "internal/rewrite/algebra.go",
		Old:     "case bits == absorb && !isFloat(n):",
		New:     "case bits == absorb:",
		Package: "internal/rewrite", Run: "TestGolden",
	},
	{
		Name: "equal-to-itself-with-nan", File: "internal/rewrite/algebra.go",
		Old:     "n.In[0] != n.In[1] || n.Op == ir.Equal && isFloat(n.In[0])",
		New:     "n.In[0] != n.In[1]",
		Package: "internal/rewrite", Run: "TestGolden",
	},
	{
		Name: "abs-of-negated-unsigned", File: "internal/rewrite/algebra.go",
		Old:     "case x.Op == ir.Neg && !n.DType.IsUnsigned():",
		New:     "case x.Op == ir.Neg:",
		Package: "internal/rewrite", Run: "TestGolden",
	},
	{
		Name: "div-by-any-constant", File: "internal/rewrite/algebra.go",
		Old:     "math.Abs(f) != 0.5",
		New:     "f == 0",
		Package: "internal/rewrite", Run: "TestExactPassesKeepBits",
	},
	{
		Name: "where-not-without-swap", File: "internal/rewrite/algebra.go",
		Old:     "ir.Where, c, n.In[2], n.In[1])",
		New:     "ir.Where, c, n.In[1], n.In[2])",
		Package: "internal/rewrite", Run: "TestExactPassesKeepBits",
	},
	{
		Name: "sub-of-negated", File: "internal/rewrite/algebra.go",
		Old:     "return r.op(ir.Add, n.In[0], y.In[0])",
		New:     "return r.op(ir.Sub, n.In[0], y.In[0])",
		Package: "internal/rewrite", Run: "TestExactPassesKeepBits",
	},
	{
		Name: "cast-through-narrow", File: "internal/rewrite/casts.go",
		Old:     "if !holds(y.DType, from) {",
		New:     "if y.DType == ir.Bool {",
		Package: "internal/rewrite", Run: "TestExactPassesKeepBits",
	},
	{
		Name: "cast-saturates-or-wraps", File: "internal/rewrite/casts.go",
		Old:     "to.IsInt() && !holds(to, from)",
		New:     "to.IsInt() && to.Size() < from.Size()",
		Package: "internal/rewrite", Run: "TestExactPassesKeepBits",
	},
	{
		Name: "mod-power-by-divisor", File: "internal/rewrite/bits.go",
		Old:     "1<<k-1))",
		New:     "1<<k))",
		Package: "internal/rewrite", Run: "TestExactPassesKeepBits",
	},
	{
		Name: "shift-by-width", File: "internal/rewrite/scalar.go",
		Old:     "case count >= uint64(8*d.Size()):",
		New:     "case count > uint64(8*d.Size()):",
		Package: "internal/rewrite", Run: "TestScalarAgreesWithReferee",
	},
	{
		Name: "floor-of-negative-divisor", File: "internal/rewrite/scalar.go",
		Old:     "if m != 0 && (m < 0) != (y < 0) {",
		New:     "if m != 0 && m < 0 {",
		Package: "internal/rewrite", Run: "TestScalarAgreesWithReferee",
	},
	{
		Name: "fma-rounds-twice", File: "internal/rewrite/scalar.go",
		Old:     "|| exact == 0 {",
		New:     "|| exact == exact {",
		Package: "internal/rewrite", Run: "TestScalarAgreesWithReferee",
	},
	{
		Name: "round-half-away", File: "internal/rewrite/scalar.go",
		Old:     "math.RoundToEven(x)",
		New:     "math.Round(x)",
		Package: "internal/rewrite", Run: "TestScalarAgreesWithReferee",
	},
	{
		Name: "cast-of-nan", File: "internal/rewrite/scalar.go",
		Old: `case math.IsNaN(f):
		return 0
`,
		New: `case math.IsNaN(f):
		return ir.Lowest(to)
`,
		Package: "internal/rewrite", Run: "TestScalarAgreesWithReferee",
	},
	{
		Name: "fold-pad-of-other-value", File: "internal/rewrite/fold.go",
		Old:     "if !ok || n.Op == ir.Pad && n.Attr.Value != bits {",
		New:     "if !ok {",
		Package: "internal/rewrite", Run: "TestExactPassesKeepBits",
	},
	{
		Name: "fold-extreme-of-nothing", File: "internal/rewrite/fold.go",
		Old:     "if !ok || !filled(n.In[0].Shape, n.Attr.Axes) {",
		New:     "if !ok {",
		Package: "internal/rewrite", Run: "TestGolden",
	},
	{
		Name: "slices-add-starts-unscaled", File: "internal/rewrite/movement.go",
		Old:     "n.Attr.Starts[i].Mul(ir.N(y.Attr.Steps[i])).Add(",
		New:     "n.Attr.Starts[i].Add(",
		Package: "internal/rewrite", Run: "TestExactPassesKeepBits",
	},
	{
		Name: "slice-of-pad-off-by-one", File: "internal/rewrite/movement.go",
		Old:     "case last < before || first >= before+size:",
		New:     "case last <= before || first >= before+size:",
		Package: "internal/rewrite", Run: "TestExactPassesKeepBits",
	},
	{
		Name: "permutes-composed-backwards", File: "internal/rewrite/movement.go",
		Old:     "axes[i] = y.Attr.Axes[ax]",
		New:     "axes[ax] = y.Attr.Axes[i]",
		Package: "internal/rewrite", Run: "TestExactPassesKeepBits",
	},
	{
		Name: "pads-of-two-values", File: "internal/rewrite/movement.go",
		Old:     "y.Op != ir.Pad || y.Attr.Value != n.Attr.Value",
		New:     "y.Op != ir.Pad",
		Package: "internal/rewrite", Run: "TestExactPassesKeepBits",
	},
	{
		Name: "flips-join", File: "internal/rewrite/movement.go",
		Old:     "n.Attr.Has(ax) != y.Attr.Has(ax)",
		New:     "n.Attr.Has(ax) || y.Attr.Has(ax)",
		Package: "internal/rewrite", Run: "TestExactPassesKeepBits",
	},
	{
		Name: "sum-of-one-keeps-negative-zero", File: "internal/rewrite/reduce.go",
		Old: `n.Op == ir.ReduceSum && isFloat(n):
		return r.op`,
		New: `n.Op == ir.ReduceSum && !isFloat(n):
		return r.op`,
		Package: "internal/rewrite", Run: "TestExactPassesKeepBits",
	},
	{
		Name: "products-reordered", File: "internal/rewrite/reduce.go",
		Old:     "return isFloat(n) && (n.Op == ir.ReduceSum || n.Op == ir.ReduceProd)",
		New:     "return isFloat(n) && n.Op == ir.ReduceSum",
		Package: "internal/rewrite", Run: "TestGolden",
	},
	{
		Name: "reduce-loses-an-axis", File: "internal/rewrite/reduce.go",
		Old:     "axes := append(slices.Clone(n.Attr.Axes), y.Attr.Axes...)",
		New:     "axes := slices.Clone(y.Attr.Axes)",
		Package: "internal/rewrite", Run: "TestExactPassesKeepBits",
	},
	{
		Name: "sink-divides-nothing-by-zero", File: "internal/rewrite/sink.go",
		Old:     "return !ok || bits == 0",
		New:     "return ok && bits == 0",
		Package: "internal/rewrite", Run: "TestGolden",
	},
	{
		Name: "sink-reshape-splits-repetition", File: "internal/rewrite/sink.go",
		Old:     "if repeated && kept {",
		New:     "if repeated && kept && i0 < 0 {",
		Package: "internal/rewrite", Run: "TestExactPassesKeepBits",
	},
	{
		Name: "sink-permute-the-wrong-way", File: "internal/rewrite/sink.go",
		Old:     "ir.Attr{Axes: back}",
		New:     "ir.Attr{Axes: order}",
		Package: "internal/rewrite", Run: "TestGolden",
	},
	{
		Name: "merged-products-in-other-order", File: "internal/rewrite/products.go",
		Old: "whole := m.raw(ir.MatMul,",
		New: `slices.Reverse(weights)
	whole := m.raw(ir.MatMul,`,
		Package: "internal/rewrite", Run: "TestGolden",
	},
	{
		Name: "merged-products-cut-in-place", File: "internal/rewrite/products.go",
		Old: `		at += n
`,
		New: `		at = n
`,
		Package: "internal/rewrite", Run: "TestGolden",
	},
	{
		Name: "fma-of-difference-changes-sign", File: "internal/rewrite/fma.go",
		Old:     "case !last:",
		New:     "case last:",
		Package: "internal/rewrite", Run: "TestReassociatingPassesStayWithinBounds",
	},
	{
		Name: "fma-of-halves", File: "internal/rewrite/fma.go",
		Old:     "n.DType != ir.F32 && n.DType != ir.F64",
		New:     "!n.DType.IsFloat()",
		Package: "internal/rewrite", Run: "TestReassociatingPassesStayWithinBounds|TestGolden",
	},
	{
		Name: "int8-zero-point-sign", File: "internal/rewrite/int8.go",
		Old:     "r.op(ir.Round, r.op(ir.Neg, r.op(ir.Mul, low, inverse)))",
		New:     "r.op(ir.Round, r.op(ir.Mul, low, inverse))",
		Package: "internal/rewrite", Run: "TestPrecisionStaysWithinBounds|TestInt8SpecialValues",
	},
	{
		Name: "int8-range-without-zero", File: "internal/rewrite/int8.go",
		Old:     "low := r.op(ir.Min, r.make(ir.ReduceMin, over, x), zero)",
		New:     "low := r.make(ir.ReduceMin, over, x)",
		Package: "internal/rewrite", Run: "TestPrecisionStaysWithinBounds|TestInt8SpecialValues",
	},
	{
		Name: "int8-scale-along-wrong-axis", File: "internal/rewrite/int8.go",
		Old:     "r.quantiseAlong(y.In[0], y.Attr.Axes[axis])",
		New:     "r.quantiseAlong(y.In[0], axis)",
		Package: "internal/rewrite", Run: "TestPrecisionStaysWithinBounds|TestInt8SpecialValues",
	},
	{
		Name: "bf16-weights-not-rounded", File: "internal/rewrite/narrow.go",
		Old:     "f.roundedBelow(r, n.In[0]), f.roundedBelow(r, n.In[1])",
		New:     "f.roundedBelow(r, n.In[0]), n.In[1]",
		Package: "internal/rewrite", Run: "TestGolden|TestPrecisionStaysWithinBounds",
	},
	{
		Name: "loss-scale-takes-infinite-gradients", File: "optim/loss_scale.go",
		Old:     "g.Mul(sinter.Scalar(0)).Sum()",
		New:     "g.Mul(sinter.Scalar(0)).Max()",
		Package: "optim", Run: "TestLossScale",
	},
	{
		Name: "int8-sums-too-long", File: "internal/rewrite/int8.go",
		Old:     "255 * 128",
		New:     "127 * 127",
		Package: "internal/rewrite", Run: "TestGolden|TestPrecision|TestInt8",
	},
	{
		Name: "gelu-short-for-other-readers", File: "internal/rewrite/gelu.go",
		Old:     "u.Op != ir.Permute && u.Op != ir.Reshape || !quantised(u, users, products)",
		New:     "u.Op != ir.Permute && u.Op != ir.Reshape",
		Package: "internal/rewrite", Run: "GELU",
	},
	{
		Name: "gelu-of-another-value", File: "internal/rewrite/gelu.go",
		Old:     "if erfArgument(y) == x {",
		New:     "if erfArgument(y) != nil {",
		Package: "internal/rewrite", Run: "GELU",
	},
	{
		Name: "gelu-polynomial-too-far", File: "internal/rewrite/gelu.go",
		Old:     "r.op(ir.Min, a, c(2))",
		New:     "r.op(ir.Min, a, c(2.125))",
		Package: "internal/rewrite", Run: "GELU",
	},
	{
		Name: "expressions-of-any-size", File: "internal/schedule/roots.go",
		Old:     "total > maxInlined && n.Op.Pointwise() && (total > maxWritten || s.isLarge(n))",
		New:     "total > maxWritten && n.Op.Pointwise()",
		Package: "internal/schedule", Run: "TestLargeExpressions",
	},
	{
		Name: "int8-zero-points-added", File: "internal/rewrite/int8.go",
		Old:     "r.op(ir.Sub, sums, shift)",
		New:     "r.op(ir.Add, sums, shift)",
		Package: "internal/rewrite", Run: "TestPrecisionStaysWithinBounds|TestInt8SpecialValues",
	},
}
