package irtest

import (
	"math"

	"github.com/sinterml/sinter/internal/ir"
)

// drawers makes a node of each operation, nil where operands cannot be had.
// Leaves are made on demand, Get with its node, so these have none.
var drawers map[ir.Op]func(g *generator, op ir.Op) *value

func init() {
	drawers = map[ir.Op]func(g *generator, op ir.Op) *value{
		ir.Iota: drawIota, ir.Rand: random,
		ir.Cast: cast, ir.Bitcast: bitcast,
		ir.IDiv: division, ir.Mod: division, ir.Shl: shift, ir.Shr: shift,
		ir.FMA: fma, ir.Where: where,
		ir.ReduceSum: reduce, ir.ReduceProd: reduce, ir.ReduceMax: reduce, ir.ReduceMin: reduce,
		ir.ArgMax: reduce, ir.ArgMin: reduce,
		ir.Reshape: reshape, ir.Permute: permute, ir.Expand: expand, ir.Pad: pad, ir.Slice: slice,
		ir.Flip: flip, ir.Window: window, ir.Concat: concat,
		ir.Gather: gather, ir.Scatter: scatter, ir.Contiguous: contiguous,
		ir.MatMul: matmul, ir.Conv: conv, ir.Attention: attention, ir.AttentionGrad: attention, ir.Sort: sorted, ir.Scan: scan,
		ir.SegmentIDs: segmentIDs, ir.SegmentReduce: segmentReduce,
		ir.Assign: assign,
	}
	for _, op := range ir.Ops() {
		if _, ok := drawers[op]; ok {
			continue
		}
		switch op.Class() {
		case ir.ClassUnary:
			drawers[op] = drawUnary
		case ir.ClassBinary:
			drawers[op] = drawBinary
		}
	}
}

func isFloat(d ir.DType) bool  { return d.IsFloat() }
func isInt(d ir.DType) bool    { return d.IsInt() }
func isNumber(d ir.DType) bool { return d.IsInt() || d.IsFloat() }
func isBits(d ir.DType) bool   { return d.IsInt() || d == ir.Bool }
func isWord(d ir.DType) bool   { return d == ir.U32 }
func isAny(ir.DType) bool      { return true }

// operandTypes gives the types that op takes.
func operandTypes(op ir.Op) func(d ir.DType) bool {
	switch op {
	case ir.And, ir.Or, ir.Xor:
		return isBits
	case ir.MulHi:
		return isWord
	case ir.Less, ir.Equal:
		return isAny
	case ir.Neg, ir.Abs, ir.Add, ir.Sub, ir.Mul, ir.Min, ir.Max:
		return isNumber
	}
	return isFloat
}

// inexact tells whether devices may differ in the last places of op's result.
func inexact(op ir.Op, d ir.DType) bool {
	switch op {
	case ir.Neg, ir.Abs, ir.Trunc, ir.Floor, ir.Round, ir.Min, ir.Max, ir.Less, ir.Equal, ir.Where:
		return false
	}
	return d.IsFloat()
}

// whole tells whether results of op are whole where its operands are.
func whole(op ir.Op) bool {
	switch op {
	case ir.Neg, ir.Abs, ir.Trunc, ir.Floor, ir.Round, ir.Add, ir.Sub, ir.Mul, ir.MulHi, ir.Min, ir.Max, ir.Less, ir.Equal,
		ir.And, ir.Or, ir.Xor:
		return true
	}
	return false
}

// jumps tells whether a small change of op's float operands may change its
// result much.
func jumps(op ir.Op) bool {
	switch op {
	case ir.Trunc, ir.Floor, ir.Round, ir.Less, ir.Equal, ir.ArgMax, ir.ArgMin, ir.Sort:
		return true
	}
	return false
}

// steady tells whether v may be an operand of op under Smooth.
func (g *generator) steady(op ir.Op, v *value) bool { return !g.Smooth || v.exact || !jumps(op) }

func drawUnary(g *generator, op ir.Op) *value {
	x := g.any(operandTypes(op))
	if x == nil || !g.steady(op, x) || g.Integers && !whole(op) {
		return nil
	}
	v := g.add(op, ir.Attr{}, x)
	v.exact = x.exact && (g.Integers || !inexact(op, x.n.DType))
	g.wrap(v, v.bound)
	return v
}

func drawBinary(g *generator, op ir.Op) *value {
	x := g.any(operandTypes(op))
	if x == nil || g.Integers && !whole(op) {
		return nil
	}
	d := x.n.DType
	y := g.operand(d, x.n.Shape)
	if g.rng.IntN(2) == 0 {
		x, y = y, x
	}
	if !g.steady(op, x) || !g.steady(op, y) {
		return nil
	}
	bound := max(x.bound, y.bound)
	switch op {
	case ir.Add, ir.Sub:
		bound = x.bound + y.bound
	case ir.Mul:
		bound = x.bound * y.bound
	case ir.Or, ir.Xor, ir.And, ir.MulHi:
		bound = math.Inf(1)
	case ir.Less, ir.Equal:
		bound = 1
	}
	if !g.fits(d, bound) {
		return nil
	}
	v := g.add(op, ir.Attr{}, x, y)
	v.exact = x.exact && y.exact && (g.Integers || !inexact(op, d))
	g.wrap(v, bound)
	return v
}

// wrap sets the bound of a result; integers that may have wrapped can be
// anything.
func (g *generator) wrap(v *value, bound float64) {
	if d := v.n.DType; g.Integers && d.IsInt() {
		if lo, hi := d.IntRange(); bound > hi || d.IsUnsigned() {
			bound = max(hi, -lo)
		}
	}
	v.bound = bound
}

func drawIota(g *generator, op ir.Op) *value {
	s := g.shape(g.MaxElements / 4)
	d := g.dtype(isNumber)
	if len(s) == 0 || d == ir.NoType {
		return nil
	}
	axis := g.rng.IntN(len(s))
	bound := float64(g.eval(s[axis]))
	if !g.fits(d, bound) {
		return nil
	}
	v := g.add(op, ir.Attr{DType: d, Shape: s, Axes: []int{axis}})
	v.bound = bound
	return v
}

func random(g *generator, op ir.Op) *value {
	if !g.allowed[ir.U32] {
		return nil
	}
	g.rands++
	v := g.add(op, ir.Attr{Shape: g.shape(g.MaxElements / 4), Leaf: g.rands}, g.leaf(ir.U32, ir.Static(4), 0, 0))
	v.bound = math.MaxUint32
	return v
}

func cast(g *generator, op ir.Op) *value {
	x, to := g.any(isAny), g.dtype(nil)
	if x == nil || g.Smooth && !x.exact && !to.IsFloat() || !g.fits(to, x.bound) {
		return nil
	}
	v := g.add(op, ir.Attr{DType: to}, x)
	if g.Special > 0 && x.n.DType.IsFloat() && !to.IsFloat() {
		v.bound = math.Inf(1) // infinities saturate
	}
	g.wrap(v, v.bound)
	return v
}

// bitcast leaves out computed floats: the bits of a NaN are nobody's promise.
func bitcast(g *generator, op ir.Op) *value {
	x := g.any(func(d ir.DType) bool { return !d.IsFloat() })
	if x == nil {
		return nil
	}
	to := g.dtype(func(d ir.DType) bool {
		return d.Size() == x.n.DType.Size() && d != ir.Bool && !(g.Integers && d.IsFloat())
	})
	if to == ir.NoType || to == ir.Bool {
		return nil
	}
	v := g.add(op, ir.Attr{DType: to}, x)
	g.wrap(v, math.Inf(1))
	return v
}

// division draws divisors that are not 0.
func division(g *generator, op ir.Op) *value {
	x := g.any(isInt)
	if x == nil {
		return nil
	}
	var y *value
	if d, s := x.n.DType, x.n.Shape; g.rng.IntN(2) == 0 {
		bits := encode(d, float64(1+g.rng.IntN(9)))
		if !d.IsUnsigned() && g.rng.IntN(3) == 0 {
			bits = [...]uint64{ir.Lowest(d), encode(d, -1), encode(d, -4)}[g.rng.IntN(3)]
		}
		y = g.constant(d, s, bits)
	} else if y = g.leaf(d, s, 1, 20); g.rng.IntN(2) == 0 && !d.IsUnsigned() {
		y = g.add(ir.Neg, ir.Attr{}, y)
	}
	v := g.add(op, ir.Attr{}, x, y)
	g.wrap(v, math.Inf(1))
	return v
}

// shift draws amounts from 0 to a little past the width.
func shift(g *generator, op ir.Op) *value {
	x := g.any(isInt)
	if x == nil {
		return nil
	}
	d, s := x.n.DType, x.n.Shape
	amount := 8*d.Size() + 2
	y := g.leaf(d, s, 0, amount)
	if g.rng.IntN(2) == 0 {
		y = g.constant(d, s, uint64(g.rng.IntN(amount)))
	}
	v := g.add(op, ir.Attr{}, x, y)
	g.wrap(v, math.Inf(1))
	return v
}

func fma(g *generator, op ir.Op) *value {
	x := g.any(isFloat)
	if x == nil {
		return nil
	}
	y, z := g.operand(x.n.DType, x.n.Shape), g.operand(x.n.DType, x.n.Shape)
	bound := x.bound*y.bound + z.bound
	if !g.fits(x.n.DType, bound) {
		return nil
	}
	v := g.add(op, ir.Attr{}, x, y, z)
	v.bound, v.exact = bound, g.Integers
	return v
}

func where(g *generator, op ir.Op) *value {
	x := g.any(isAny)
	if x == nil {
		return nil
	}
	return g.add(op, ir.Attr{}, g.operand(ir.Bool, x.n.Shape), x, g.operand(x.n.DType, x.n.Shape))
}

func reduce(g *generator, op ir.Op) *value {
	x := g.any(isNumber)
	if x == nil || len(x.size) == 0 || !g.steady(op, x) {
		return nil
	}
	arg := op == ir.ArgMax || op == ir.ArgMin
	if arg && !g.allowed[ir.I64] {
		return nil
	}
	var axes []int
	count, only := 1, g.rng.IntN(len(x.size))
	for i, n := range x.size {
		if arg && i == only || !arg && g.rng.IntN(2) == 0 {
			axes = append(axes, i)
			count *= n
		}
	}
	if len(axes) == 0 || count == 0 && op != ir.ReduceSum && op != ir.ReduceProd {
		return nil
	}
	d, bound := x.n.DType, x.bound
	switch op {
	case ir.ReduceSum:
		bound *= float64(count)
	case ir.ReduceProd:
		if bound = max(1, math.Pow(bound, float64(count))); d.IsInt() {
			bound = math.Inf(1)
		}
	case ir.ArgMax, ir.ArgMin:
		bound = float64(count)
	}
	if !g.fits(d, bound) {
		return nil
	}
	v := g.add(op, ir.Attr{Axes: axes}, x)
	v.exact = x.exact && (g.Integers || op != ir.ReduceSum && op != ir.ReduceProd || d.IsInt())
	g.wrap(v, bound)
	return v
}

// assign gives a variable a new value; the assignment is an output of its own.
func assign(g *generator, op ir.Op) *value {
	x := g.pick(func(v *value) bool { return v.n.Op == ir.Variable && !g.assigned[v.n.Attr.Leaf] })
	if x == nil {
		return nil
	}
	leaf := x.n.Attr.Leaf
	if g.assigned == nil {
		g.assigned = map[int]bool{}
	}
	g.assigned[leaf] = true
	y := g.operand(x.n.DType, x.n.Shape)
	v := g.add(op, ir.Attr{Leaf: leaf}, x, y)
	g.values = g.values[:len(g.values)-1]
	g.assigns = append(g.assigns, v.n)
	return nil
}
