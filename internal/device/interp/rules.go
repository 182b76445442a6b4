package interp

import "github.com/sinterml/sinter/internal/ir"

// rules is the interpreter's row for each operation.
var rules = map[ir.Op]rule{
	ir.Const:    {eval: constant},
	ir.Input:    {eval: leaf},
	ir.Bound:    {eval: leaf},
	ir.Weight:   {eval: leaf},
	ir.Variable: {eval: leaf},
	ir.Iota:     {eval: iota, wide: true},
	ir.Rand:     {eval: random},

	ir.Neg: unary, ir.Abs: unary, ir.Recip: unary, ir.Sqrt: unary, ir.Exp: unary, ir.Exp2: unary,
	ir.Expm1: unary, ir.Log: unary, ir.Log2: unary, ir.Log1p: unary, ir.Sin: unary, ir.Cos: unary,
	ir.Atan: unary, ir.Tanh: unary, ir.Erf: unary, ir.Trunc: unary, ir.Floor: unary, ir.Round: unary,
	ir.Cast:    {eval: cast, wide: true, bound: boundCast},
	ir.Bitcast: {alias: 1, bound: boundBitcast},

	ir.Add: binary, ir.Sub: binary, ir.Mul: binary, ir.Div: binary, ir.Pow: binary,
	ir.Min: binary, ir.Max: binary, ir.IDiv: binary, ir.Mod: binary, ir.MulHi: binary,
	ir.And: binary, ir.Or: binary, ir.Xor: binary, ir.Shl: binary, ir.Shr: binary,
	ir.Less: compare, ir.Equal: compare,

	ir.FMA:   {eval: fma, wide: true, bound: boundPointwise},
	ir.Where: {eval: where, bound: boundWhere},

	ir.ReduceSum:  {eval: run0(kernels.reduce), wide: true, bound: boundSum},
	ir.ReduceProd: {eval: run0(kernels.reduce), wide: true, bound: boundProd},
	ir.ReduceMax:  {eval: with(0, kernels.extreme), wide: true, bound: boundExtreme},
	ir.ReduceMin:  {eval: with(0, kernels.extreme), wide: true, bound: boundExtreme},
	ir.ArgMax:     {eval: with(0, kernels.argExtreme), wide: true, bound: boundArg},
	ir.ArgMin:     {eval: with(0, kernels.argExtreme), wide: true, bound: boundArg},

	ir.Reshape: {alias: 1},
	ir.Permute: {eval: permute},
	ir.Expand:  {eval: expand},
	ir.Pad:     {eval: pad},
	ir.Slice:   {eval: slice},
	ir.Flip:    {eval: flip},
	ir.Window:  {eval: window},
	ir.Concat:  {eval: concat},

	ir.Gather:     {eval: gather},
	ir.Scatter:    {eval: scatter, wide: true, bound: boundScatter},
	ir.Contiguous: {alias: 1},

	ir.MatMul:        {eval: run0(kernels.matMul), wide: true, bound: boundMatMul},
	ir.Conv:          {eval: run0(kernels.conv), wide: true, bound: boundConv},
	ir.Attention:     {eval: attention, wide: true, bound: boundAttention},
	ir.AttentionGrad: {eval: attentionGrad, wide: true, bound: boundAttentionGrad},
	ir.Sort:          {eval: run0(kernels.sort), wide: true, bound: boundSort},
	ir.Scan:          {eval: run0(kernels.scan), wide: true, bound: boundScan},
	ir.SegmentIDs:    {eval: segmentIDs},
	ir.SegmentReduce: {eval: segmentReduce, wide: true, bound: boundSegmentReduce},

	ir.Get:    {alias: 1},
	ir.Assign: {alias: 2},
}

var (
	unary   = rule{eval: with(0, kernels.unary), wide: true, bound: boundPointwise}
	binary  = rule{eval: with(0, kernels.binary), wide: true, bound: boundPointwise}
	compare = rule{eval: run0(kernels.compare), wide: true, bound: boundPointwise}
)
