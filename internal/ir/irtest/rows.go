package irtest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// Rows makes a random graph of reductions along the rows of [N, width] and of
// what is made of their results, such as a softmax or a layer norm: kernels that
// pass over a row several times. Views of rows, narrow types and several outputs
// occur. With smooth, operations that jump, such as floor and less, have only
// operands that every device computes alike. It is nil where chance left nothing
// to reduce.
func Rows(rng *rand.Rand, smooth bool) *ir.Graph {
	return rowsOf(rng, smooth, false)
}

// Updates is like Rows, with a known number of rows, and variables among the
// leaves, some of which get new values; some nodes are of a Checkpoint. Rows may
// lie along any axis, or two.
func Updates(rng *rand.Rand, smooth bool) *ir.Graph { return rowsOf(rng, smooth, true) }

func rowsOf(rng *rand.Rand, smooth, updates bool) *ir.Graph {
	widths := []int{7, 16, 32, 48, 64, 96, 112, 128, 160, 256}
	g := &rowGraph{rng: rng, smooth: smooth, rough: map[*ir.Node]bool{}, b: ir.NewBuilder(nil), rows: ir.Sym("N", 0, 1_000_000), width: widths[rng.IntN(len(widths))]}
	if updates {
		g.updates = true
		g.rows = ir.N(1 + rng.IntN(20))
		if rng.IntN(8) == 0 {
			g.rows = ir.N(200 + rng.IntN(100))
		}
		g.turned = rng.IntN(3) == 0
		g.batch = max(0, rng.IntN(6)-3)
		g.regions = rng.IntN(3) == 0
	}
	for i := range 1 + rng.IntN(3) {
		d := ir.F32
		if i > 0 {
			d = g.dtype()
		}
		g.full = append(g.full, g.leaf(d, g.shape()))
	}
	if rng.IntN(2) == 0 {
		g.row = append(g.row, g.leaf(g.dtype(), g.rowShape()))
	}
	if rng.IntN(2) == 0 {
		g.column = append(g.column, g.leaf(g.dtype(), g.order(ir.N(1), ir.N(g.width), false)))
	}
	for range 1 + rng.IntN(4) {
		g.pass()
	}
	return g.finish()
}

// rowGraph is a graph that is being made: its values by shape.
type rowGraph struct {
	rng               *rand.Rand
	b                 *ir.Builder
	rows              ir.Dim
	width             int
	full, row, column []*ir.Node
	smooth            bool
	rough             map[*ir.Node]bool // devices may round it differently

	updates, turned, regions bool
	batch                    int // 1: an axis in front, 2: that is reduced too
}

// order puts a size of rows and one of columns where they belong.
func (g *rowGraph) order(rows, columns ir.Dim, reduced bool) ir.Shape {
	s := ir.Shape{rows, columns}
	if g.turned {
		s = ir.Shape{columns, rows}
	}
	if g.batch > 0 {
		n := ir.N(3)
		if g.batch == 2 && reduced || g.batch == 1 && rows.IsConst(1) && !g.rows.IsConst(1) {
			n = ir.N(1)
		}
		s = append(ir.Shape{n}, s...)
	}
	return s
}

// axes are those along which a row lies.
func (g *rowGraph) axes() []int {
	a := 1
	if g.turned {
		a = 0
	}
	switch g.batch {
	case 1:
		return []int{a + 1}
	case 2:
		return []int{0, a + 1}
	}
	return []int{a}
}

func (g *rowGraph) shape() ir.Shape    { return g.order(g.rows, ir.N(g.width), false) }
func (g *rowGraph) rowShape() ir.Shape { return g.order(g.rows, ir.N(1), true) }

func (g *rowGraph) dtype() ir.DType {
	return oneOf(g.rng, ir.F32, ir.F32, ir.F32, ir.BF16, ir.F16, ir.I32, ir.I8, ir.Bool)
}

func oneOf[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

func (g *rowGraph) leaf(d ir.DType, s ir.Shape) *ir.Node {
	kind := ir.Input
	if g.updates {
		kind = oneOf(g.rng, ir.Input, ir.Variable, ir.Variable, ir.Weight)
	}
	var storage any
	if kind != ir.Input {
		storage = new(int)
	}
	n, err := g.b.AddLeaf(ir.Leaf{Kind: kind, Storage: storage, Name: fmt.Sprint("x", len(g.b.Leaves())), Type: ir.Type{DType: d, Shape: s}})
	if err != nil {
		panic(err) // the types above are valid
	}
	return n
}

// add is nil where the operation does not take such operands, one of which may be
// nil itself.
func (g *rowGraph) add(op ir.Op, a ir.Attr, in ...*ir.Node) *ir.Node {
	for _, n := range in {
		if n == nil {
			return nil
		}
	}
	rough := false
	for _, n := range in {
		rough = rough || g.rough[n]
	}
	if g.smooth && rough && (jumps(op) || op == ir.Mod || op == ir.IDiv || op == ir.Cast && !a.DType.IsFloat()) {
		return nil
	}
	if g.regions && op != ir.Assign {
		a.Region = g.rng.IntN(3)
	}
	n, err := g.b.Add(op, a, in...)
	if err != nil {
		return nil
	}
	g.rough[n] = rough || inexact(op, n.DType) || n.DType.IsFloat() && op.Class() == ir.ClassReduce
	return n
}

func (g *rowGraph) to(n *ir.Node, d ir.DType) *ir.Node {
	if n == nil || n.DType == d {
		return n
	}
	return g.add(ir.Cast, ir.Attr{DType: d}, n)
}

// pick prefers what was made last.
func (g *rowGraph) pick(from []*ir.Node) *ir.Node {
	if len(from) == 0 {
		return nil
	}
	if g.rng.IntN(2) == 0 {
		return from[len(from)-1-g.rng.IntN(min(3, len(from)))]
	}
	return oneOf(g.rng, from...)
}

// pass adds values of full shape, reduces one, and adds values of the row.
func (g *rowGraph) pass() {
	for range 1 + g.rng.IntN(4) {
		if n := g.pointwise(g.operand); n != nil && n.Shape.Equal(g.shape()) {
			g.full = append(g.full, n)
		}
	}
	x := g.pick(g.full)
	if g.rng.IntN(3) > 0 {
		x = g.to(x, ir.F32)
	}
	op := oneOf(g.rng, ir.ReduceSum, ir.ReduceSum, ir.ReduceSum, ir.ReduceMax, ir.ReduceMin, ir.ReduceProd, ir.ArgMax)
	if n := g.add(op, ir.Attr{Axes: g.axes()}, x); n != nil {
		g.row = append(g.row, n)
	}
	for range g.rng.IntN(3) {
		if n := g.pointwise(func() *ir.Node { return g.pick(g.row) }); n != nil && n.Shape.Equal(g.rowShape()) {
			g.row = append(g.row, n)
		}
	}
}

// operand is a value of full shape: what is there, a row or a column repeated,
// numbers, or a view.
func (g *rowGraph) operand() *ir.Node {
	x := g.pick(g.full)
	var n *ir.Node
	switch g.rng.IntN(8) {
	case 0, 1:
		n = g.add(ir.Expand, ir.Attr{Shape: g.shape()}, g.pick(g.row))
	case 2:
		n = g.add(ir.Expand, ir.Attr{Shape: g.shape()}, g.pick(g.column))
	case 3:
		n = g.add(ir.Iota, ir.Attr{DType: oneOf(g.rng, ir.F32, ir.I32), Shape: g.shape(), Axes: []int{g.rng.IntN(len(g.shape()))}})
	case 4:
		n = g.view(x)
	}
	if n == nil {
		return x
	}
	return n
}

// view reverses rows, columns or pairs, shifts columns, or turns them round.
func (g *rowGraph) view(x *ir.Node) *ir.Node {
	k := 1 + g.rng.IntN(g.width-1)
	if g.turned || g.batch > 0 {
		return g.add(ir.Flip, ir.Attr{Axes: []int{g.rng.IntN(len(g.shape()))}}, x)
	}
	columns := func(from, n int) *ir.Node {
		return g.add(ir.Slice, ir.Attr{Starts: []ir.Dim{ir.N(0), ir.N(from)}, Steps: []int{1, 1}, Shape: ir.Shape{g.rows, ir.N(n)}}, x)
	}
	switch g.rng.IntN(5) {
	case 0:
		return g.add(ir.Flip, ir.Attr{Axes: []int{1}}, x)
	case 1:
		return g.add(ir.Flip, ir.Attr{Axes: []int{0}}, x)
	case 2:
		return g.add(ir.Pad, ir.Attr{Before: []ir.Dim{ir.N(0), ir.N(k)}, After: []ir.Dim{ir.N(0), ir.N(0)}}, columns(k, g.width-k))
	case 3:
		return g.add(ir.Concat, ir.Attr{Axes: []int{1}}, columns(k, g.width-k), columns(0, k))
	}
	pairs := g.add(ir.Reshape, ir.Attr{Shape: ir.Shape{g.rows, ir.N(g.width / 2), ir.N(2)}}, x)
	return g.add(ir.Reshape, ir.Attr{Shape: g.shape()}, g.add(ir.Flip, ir.Attr{Axes: []int{2}}, pairs))
}

// pointwise is an operation on what from gives.
func (g *rowGraph) pointwise(from func() *ir.Node) *ir.Node {
	x := from()
	if x == nil {
		return nil
	}
	switch g.rng.IntN(9) {
	case 0, 1:
		return g.add(oneOf(g.rng, ir.Neg, ir.Abs, ir.Exp, ir.Sqrt, ir.Recip, ir.Tanh, ir.Floor, ir.Log, ir.Erf, ir.Sin), ir.Attr{}, x)
	case 2:
		return g.to(x, oneOf(g.rng, ir.F32, ir.F32, ir.F32, ir.BF16, ir.F16, ir.I32, ir.I8, ir.U8, ir.I64, ir.Bool))
	case 3:
		z := from()
		if z == nil {
			return nil
		}
		less := g.add(oneOf(g.rng, ir.Less, ir.Equal), ir.Attr{}, x, g.to(from(), x.DType))
		return g.add(ir.Where, ir.Attr{}, less, z, g.to(from(), z.DType))
	}
	d := x.DType
	if g.rng.IntN(3) > 0 {
		d = ir.F32
	}
	op := oneOf(g.rng, ir.Add, ir.Add, ir.Sub, ir.Sub, ir.Mul, ir.Mul, ir.Div, ir.Max, ir.Min, ir.And, ir.Or, ir.Xor, ir.IDiv, ir.Mod, ir.Pow)
	return g.add(op, ir.Attr{}, g.to(x, d), g.to(from(), d))
}

// finish returns values of full shape that are made of a row's, and others.
func (g *rowGraph) finish() *ir.Graph {
	var outs []*ir.Node
	for range 1 + g.rng.IntN(2) {
		row := g.add(ir.Expand, ir.Attr{Shape: g.shape()}, g.to(g.pick(g.row), ir.F32))
		if n := g.add(oneOf(g.rng, ir.Mul, ir.Sub, ir.Add), ir.Attr{}, g.to(g.pick(g.full), ir.F32), row); n != nil {
			outs = []*ir.Node{n}
			g.full = append(g.full, n)
		}
	}
	if outs == nil {
		return nil
	}
	for range g.rng.IntN(4) {
		n := g.pick(g.full)
		if g.rng.IntN(3) == 0 {
			n = g.pick(g.row)
		}
		seen := n.Op.HasLeaf()
		for _, o := range outs {
			seen = seen || o == n
		}
		if !seen {
			outs = append(outs, n)
		}
	}
	if g.updates {
		for _, l := range slices.Concat(g.full, g.row, g.column) {
			if l.Op != ir.Variable || g.rng.IntN(4) == 0 || slices.ContainsFunc(outs, func(o *ir.Node) bool { return o.Op == ir.Assign && o.Attr.Leaf == l.Attr.Leaf }) {
				continue
			}
			var y *ir.Node
			for range 8 {
				n := g.pick(g.full)
				if l.Shape.Equal(g.rowShape()) {
					n = g.pick(g.row)
				}
				if n = g.to(n, l.DType); n != nil && n.Type.Equal(l.Type) && n != l && !(g.smooth && g.rough[n] && !n.DType.IsFloat()) {
					y = n
					break
				}
			}
			if y != nil {
				if a := g.add(ir.Assign, ir.Attr{Leaf: l.Attr.Leaf}, l, y); a != nil {
					outs = append(outs, a)
				}
			}
		}
	}
	return g.b.Finish(outs...)
}
