package rewrite

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
)

var (
	negZero  = math.Copysign(0, -1) // for integers 0
	rounders = []ir.Op{ir.Trunc, ir.Floor, ir.Round}
)

// algebraRules are the identities of arithmetic that hold for every float:
// x*0 is not 0 (NaN, infinity, -0), x-x is not 0, x+0 is not x (-0).
var algebraRules = []rule{
	{"constants-meet", []ir.Op{ir.Add, ir.Mul, ir.Min, ir.Max, ir.And, ir.Or, ir.Xor},
		"(x op c) op d = x op (c op d) for integers, which wrap, and for choices, which do not round", constantsMeet},

	{"add-zero", []ir.Op{ir.Add}, "x + -0 = x for every x; +0 would turn -0 into +0", addZero},
	{"add-neg", []ir.Op{ir.Add}, "x + -y = x - y: subtraction is defined so", addNeg},
	{"sub-neg", []ir.Op{ir.Sub}, "x - -y = x + y", subNeg},
	{"sub-constant", []ir.Op{ir.Sub}, "x - c = x + -c: one operation less for other rules to know", subConstant},
	{"sub-self", []ir.Op{ir.Sub}, "x - x = 0 for integers; infinity - infinity is NaN", subSelf},
	{"mul-one", []ir.Op{ir.Mul, ir.Div, ir.IDiv}, "x*1 = x/1 = x", mulOne},
	{"mul-minus-one", []ir.Op{ir.Mul, ir.Div}, "x * -1 = x / -1 = -x", mulMinusOne},
	{"mul-zero", []ir.Op{ir.Mul}, "x*0 = 0 for integers alone", mulZero},
	{"mul-signs", []ir.Op{ir.Mul, ir.Div}, "-x * -y = x*y, -x * c = x * -c: signs do not round", mulSigns},
	{"div-power", []ir.Op{ir.Div}, "x/c = x * (1/c) where c is a power of two: 1/c is exact, and both round the same value", divPower},
	{"neg-neg", []ir.Op{ir.Neg}, "--x = x", negNeg},
	{"abs-sign", []ir.Op{ir.Abs}, "|-x| = ||x|| = |x|", absSign},
	{"round-whole", rounders, "what is rounded to whole numbers, or was an integer, is whole", roundWhole},

	{"choose-self", []ir.Op{ir.Min, ir.Max, ir.And, ir.Or}, "of x and x, x", chooseSelf},
	{"choose-limit", []ir.Op{ir.Min, ir.Max}, "nothing is above the highest value or below the lowest; NaN stays", chooseLimit},
	{"compare-self", []ir.Op{ir.Less, ir.Equal}, "x < x never; x == x where there is no NaN", compareSelf},
	{"less-unsigned", []ir.Op{ir.Less}, "nothing unsigned is below 0", lessUnsigned},
	{"where-constant", []ir.Op{ir.Where}, "the condition is known", whereConstant},
	{"where-same", []ir.Op{ir.Where}, "both choices are the same", whereSame},
	{"where-not", []ir.Op{ir.Where}, "not c ? x : y = c ? y : x", whereNot},
	{"where-where", []ir.Op{ir.Where}, "the same condition asked twice", whereWhere},
	{"where-bool", []ir.Op{ir.Where}, "c ? true : false = c", whereBool},
}

// sides gives the operands of n; a constant is the second where n commutes.
func sides(n *ir.Node) (x, c *ir.Node) {
	x, c = n.In[0], n.In[1]
	if n.Op.Commutes() && isSplat(x) && !isSplat(c) {
		x, c = c, x
	}
	return x, c
}

func isFloat(n *ir.Node) bool { return n.DType.IsFloat() }

// rounds tells whether op, applied to that type, may round.
func rounds(op ir.Op, d ir.DType) bool { return d.IsFloat() && op != ir.Min && op != ir.Max }

func constantsMeet(r *rewriter, n *ir.Node) *ir.Node {
	y, d := sides(n)
	if y.Op != n.Op || !isSplat(d) || rounds(n.Op, n.DType) {
		return nil
	}
	x, c := sides(y)
	if !isSplat(c) || isSplat(x) {
		return nil
	}
	return r.op(n.Op, x, r.op(n.Op, c, d))
}

func addZero(r *rewriter, n *ir.Node) *ir.Node {
	if x, c := sides(n); is(c, negZero) {
		return x
	}
	return nil
}

func addNeg(r *rewriter, n *ir.Node) *ir.Node {
	x, y := n.In[0], n.In[1]
	switch {
	case y.Op == ir.Neg:
		return r.op(ir.Sub, x, y.In[0])
	case x.Op == ir.Neg:
		return r.op(ir.Sub, y, x.In[0])
	}
	return nil
}

func subNeg(r *rewriter, n *ir.Node) *ir.Node {
	if y := n.In[1]; y.Op == ir.Neg {
		return r.op(ir.Add, n.In[0], y.In[0])
	}
	return nil
}

func subConstant(r *rewriter, n *ir.Node) *ir.Node {
	bits, ok := splatOf(n.In[1])
	if !ok {
		return nil
	}
	neg, ok := scalar(ir.Neg, n.DType, n.DType, bits)
	if !ok {
		return nil
	}
	return r.op(ir.Add, n.In[0], r.splat(n.DType, n.Shape, neg))
}

func subSelf(r *rewriter, n *ir.Node) *ir.Node {
	if n.In[0] == n.In[1] && !isFloat(n) {
		return r.number(n.Type, 0)
	}
	return nil
}

func mulOne(r *rewriter, n *ir.Node) *ir.Node {
	if x, c := sides(n); is(c, 1) {
		return x
	}
	return nil
}

func mulMinusOne(r *rewriter, n *ir.Node) *ir.Node {
	if x, c := sides(n); is(c, -1) {
		return r.op(ir.Neg, x)
	}
	return nil
}

func mulZero(r *rewriter, n *ir.Node) *ir.Node {
	if _, c := sides(n); is(c, 0) && !isFloat(n) {
		return c
	}
	return nil
}

func mulSigns(r *rewriter, n *ir.Node) *ir.Node {
	x, c := sides(n)
	if x.Op != ir.Neg {
		return nil
	}
	if c.Op == ir.Neg {
		return r.op(n.Op, x.In[0], c.In[0])
	}
	if bits, ok := splatOf(c); ok {
		if neg, ok := scalar(ir.Neg, n.DType, n.DType, bits); ok {
			return r.op(n.Op, x.In[0], r.splat(n.DType, n.Shape, neg))
		}
	}
	return nil
}

func divPower(r *rewriter, n *ir.Node) *ir.Node {
	bits, ok := splatOf(n.In[1])
	if !ok {
		return nil
	}
	c := ir.Float(n.DType, bits)
	if f, _ := math.Frexp(c); math.Abs(f) != 0.5 {
		return nil
	}
	inverse, err := ir.Bits(n.DType, 1/c)
	if err != nil || math.IsInf(1/c, 0) || ir.Float(n.DType, inverse) != 1/c {
		return nil
	}
	return r.op(ir.Mul, n.In[0], r.splat(n.DType, n.Shape, inverse))
}

func negNeg(r *rewriter, n *ir.Node) *ir.Node {
	if x := n.In[0]; x.Op == ir.Neg {
		return x.In[0]
	}
	return nil
}

func absSign(r *rewriter, n *ir.Node) *ir.Node {
	switch x := n.In[0]; {
	case x.Op == ir.Neg && !n.DType.IsUnsigned(): // of an unsigned x, -x is the large 2^w - x
		return r.op(ir.Abs, x.In[0])
	case x.Op == ir.Abs:
		return x
	}
	return nil
}

func roundWhole(r *rewriter, n *ir.Node) *ir.Node {
	x := n.In[0]
	switch x.Op {
	case ir.Trunc, ir.Floor, ir.Round:
		return x
	case ir.Cast:
		if !isFloat(x.In[0]) {
			return x
		}
	}
	return nil
}

func chooseSelf(r *rewriter, n *ir.Node) *ir.Node {
	if n.In[0] == n.In[1] {
		return n.In[0]
	}
	return nil
}

func chooseLimit(r *rewriter, n *ir.Node) *ir.Node {
	x, c := sides(n)
	bits, ok := splatOf(c)
	if !ok {
		return nil
	}
	keep, absorb := ir.Highest(n.DType), ir.Lowest(n.DType)
	if n.Op == ir.Max {
		keep, absorb = absorb, keep
	}
	switch {
	case bits == keep:
		return x
	case bits == absorb && !isFloat(n):
		return c
	}
	return nil
}

func compareSelf(r *rewriter, n *ir.Node) *ir.Node {
	if n.In[0] != n.In[1] || n.Op == ir.Equal && isFloat(n.In[0]) {
		return nil
	}
	if n.Op == ir.Equal {
		return r.number(n.Type, 1)
	}
	return r.number(n.Type, 0)
}

func lessUnsigned(r *rewriter, n *ir.Node) *ir.Node {
	if d := n.In[0].DType; (d.IsUnsigned() || d == ir.Bool) && is(n.In[1], 0) {
		return r.number(n.Type, 0)
	}
	return nil
}

func whereConstant(r *rewriter, n *ir.Node) *ir.Node {
	bits, ok := splatOf(n.In[0])
	switch {
	case !ok:
		return nil
	case bits != 0:
		return n.In[1]
	}
	return n.In[2]
}

func whereSame(r *rewriter, n *ir.Node) *ir.Node {
	if n.In[1] == n.In[2] {
		return n.In[1]
	}
	return nil
}

// isNot gives x where n is "not x".
func isNot(n *ir.Node) *ir.Node {
	if n.Op == ir.Xor && n.DType == ir.Bool {
		if x, c := sides(n); is(c, 1) {
			return x
		}
	}
	return nil
}

func whereNot(r *rewriter, n *ir.Node) *ir.Node {
	if c := isNot(n.In[0]); c != nil {
		return r.op(ir.Where, c, n.In[2], n.In[1])
	}
	return nil
}

func whereWhere(r *rewriter, n *ir.Node) *ir.Node {
	c, x, y := n.In[0], n.In[1], n.In[2]
	switch {
	case x.Op == ir.Where && x.In[0] == c:
		return r.op(ir.Where, c, x.In[1], y)
	case y.Op == ir.Where && y.In[0] == c:
		return r.op(ir.Where, c, x, y.In[2])
	}
	return nil
}

func whereBool(r *rewriter, n *ir.Node) *ir.Node {
	if n.DType != ir.Bool {
		return nil
	}
	c, x, y := n.In[0], n.In[1], n.In[2]
	switch {
	case is(x, 1) && is(y, 0):
		return c
	case is(x, 0) && is(y, 1):
		return r.op(ir.Xor, c, y)
	}
	return nil
}
