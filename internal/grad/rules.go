package grad

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
)

// rule is the gradient of an operation.
type rule struct {
	// back gives, from the gradients with respect to the outputs of n (nil
	// where they are zero), those with respect to its operands: nil for zero,
	// and for operands that have none.
	back func(m *maker, n *ir.Node, dy []*ir.Node) []*ir.Node
	why  string // no back: why there is no gradient
}

const (
	isLeaf    = "it is a leaf"
	isBits    = "it works on bits"
	isWhole   = "it works on integers"
	isIndex   = "its result is an index"
	isBool    = "its result is a bool"
	isRouting = "" // Get, which the walk follows itself
)

// rules has an entry for every operation. x, y and z are operands, r is the
// result, and d the gradient with respect to it.
var rules map[ir.Op]rule

// init, as the rule of an anchor without a better one walks through its
// definition, by these rules: a cycle that a declaration may not have.
func init() {
	rules = map[ir.Op]rule{
		ir.Const: {why: isLeaf}, ir.Input: {why: isLeaf}, ir.Bound: {why: isLeaf}, ir.Weight: {why: isLeaf},
		ir.Variable: {why: isLeaf}, ir.Iota: {why: isLeaf}, ir.Rand: {why: "it is random"},

		ir.Neg:   unary(func(m *maker, x, r, d *ir.Node) *ir.Node { return m.neg(d) }),
		ir.Abs:   unary(abs),
		ir.Recip: unary(func(m *maker, x, r, d *ir.Node) *ir.Node { return m.neg(m.mul(d, m.mul(r, r))) }),
		ir.Sqrt:  unary(func(m *maker, x, r, d *ir.Node) *ir.Node { return m.div(d, m.times(r, 2)) }),
		ir.Exp:   unary(func(m *maker, x, r, d *ir.Node) *ir.Node { return m.mul(d, r) }),
		ir.Exp2:  unary(func(m *maker, x, r, d *ir.Node) *ir.Node { return m.mul(d, m.times(r, math.Ln2)) }),
		ir.Expm1: unary(func(m *maker, x, r, d *ir.Node) *ir.Node { return m.mul(d, m.op(ir.Exp, x)) }),
		ir.Log:   unary(func(m *maker, x, r, d *ir.Node) *ir.Node { return m.div(d, x) }),
		ir.Log2:  unary(func(m *maker, x, r, d *ir.Node) *ir.Node { return m.div(d, m.times(x, math.Ln2)) }),
		ir.Log1p: unary(func(m *maker, x, r, d *ir.Node) *ir.Node { return m.div(d, m.plus(x, m.number(x, 1))) }),
		ir.Sin:   unary(func(m *maker, x, r, d *ir.Node) *ir.Node { return m.mul(d, m.op(ir.Cos, x)) }),
		ir.Cos:   unary(func(m *maker, x, r, d *ir.Node) *ir.Node { return m.neg(m.mul(d, m.op(ir.Sin, x))) }),
		ir.Atan:  unary(func(m *maker, x, r, d *ir.Node) *ir.Node { return m.div(d, m.plus(m.mul(x, x), m.number(x, 1))) }),
		ir.Tanh:  unary(func(m *maker, x, r, d *ir.Node) *ir.Node { return m.mul(d, m.op(ir.Sub, m.number(r, 1), m.mul(r, r))) }),
		ir.Erf:   unary(erf),
		ir.Trunc: unary(none), ir.Floor: unary(none), ir.Round: unary(none),
		ir.Cast:    unary(func(m *maker, x, r, d *ir.Node) *ir.Node { return m.cast(d, x.DType) }),
		ir.Bitcast: {why: "it reads bits as another type, or is a Detach"},

		ir.Add: binary(func(m *maker, x, y, r, d *ir.Node) (dx, dy *ir.Node) { return d, d }),
		ir.Sub: binary(func(m *maker, x, y, r, d *ir.Node) (dx, dy *ir.Node) { return d, m.neg(d) }),
		ir.Mul: binary(func(m *maker, x, y, r, d *ir.Node) (dx, dy *ir.Node) { return m.mul(d, y), m.mul(d, x) }),
		ir.Div: binary(func(m *maker, x, y, r, d *ir.Node) (dx, dy *ir.Node) {
			return m.div(d, y), m.neg(m.mul(d, m.div(r, y)))
		}),
		ir.Pow:  binary(pow),
		ir.Min:  binary(func(m *maker, x, y, r, d *ir.Node) (dx, dy *ir.Node) { return m.smaller(x, y, d), m.smaller(y, x, d) }),
		ir.Max:  binary(func(m *maker, x, y, r, d *ir.Node) (dx, dy *ir.Node) { return m.larger(x, y, d), m.larger(y, x, d) }),
		ir.IDiv: {why: isWhole}, ir.Mod: {why: isWhole}, ir.MulHi: {why: isWhole},
		ir.And: {why: isBits}, ir.Or: {why: isBits}, ir.Xor: {why: isBits}, ir.Shl: {why: isBits}, ir.Shr: {why: isBits},
		ir.Less: {why: isBool}, ir.Equal: {why: isBool},

		ir.FMA:   {back: fma},
		ir.Where: {back: where},

		ir.ReduceSum:  unary(func(m *maker, x, r, d *ir.Node) *ir.Node { return m.expand(d, x.Shape) }),
		ir.ReduceProd: {back: reduceProd},
		ir.ReduceMax:  unary(reduceMax),
		ir.ReduceMin:  unary(reduceMax),
		ir.ArgMax:     {why: isIndex}, ir.ArgMin: {why: isIndex},

		ir.Reshape: unary(func(m *maker, x, r, d *ir.Node) *ir.Node { return m.reshape(d, x.Shape) }),
		ir.Permute: {back: permute},
		ir.Expand:  unary(expand),
		ir.Pad:     {back: pad},
		ir.Slice:   {back: slice},
		ir.Flip:    {back: flip},
		ir.Window:  {back: window},
		ir.Concat:  {back: concat},

		ir.Gather:     {back: gather},
		ir.Scatter:    {back: scatter},
		ir.Contiguous: unary(func(m *maker, x, r, d *ir.Node) *ir.Node { return d }),

		ir.MatMul:        binary(matMul),
		ir.Conv:          {back: conv},
		ir.Attention:     {back: attention},
		ir.AttentionGrad: {back: byDefinition},
		ir.Sort:          {back: sorted},
		ir.Scan:          {back: scan},
		ir.SegmentIDs:    {why: isIndex},
		ir.SegmentReduce: {back: segmentReduce},

		ir.Get:    {why: isRouting},
		ir.Assign: {back: func(m *maker, n *ir.Node, d []*ir.Node) []*ir.Node { return []*ir.Node{nil, d[0]} }},
	}
}

// HasRule tells whether a gradient goes on from op to its operands.
func HasRule(op ir.Op) bool { return rules[op].back != nil }

// why tells why the gradient ends at n.
func why(n *ir.Node) string {
	if w := rules[n.Op].why; w != "" {
		return w
	}
	return "its result or what it reads is no float" // a cast, an index
}

// unary is the rule of an operation whose first operand alone has a gradient.
func unary(f func(m *maker, x, r, d *ir.Node) *ir.Node) rule {
	return rule{back: func(m *maker, n *ir.Node, d []*ir.Node) []*ir.Node { return []*ir.Node{f(m, n.In[0], n, d[0])} }}
}

func binary(f func(m *maker, x, y, r, d *ir.Node) (dx, dy *ir.Node)) rule {
	return rule{back: func(m *maker, n *ir.Node, d []*ir.Node) []*ir.Node {
		dx, dy := f(m, n.In[0], n.In[1], n, d[0])
		return []*ir.Node{dx, dy}
	}}
}
