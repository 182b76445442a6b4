package irtest

import (
	"math"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// sum adds an operation that adds products: depth of them for an element.
func (g *generator) sum(op ir.Op, a ir.Attr, depth int, x, y *value) *value {
	d, bound := x.n.DType, x.bound*y.bound*float64(depth)
	if !g.fits(d, bound) {
		return nil
	}
	v := g.add(op, a, x, y)
	v.exact = v.exact && (g.Integers || d.IsInt())
	g.wrap(v, bound)
	return v
}

// matrix chooses a value of rank 2 or more with room for a product.
func (g *generator) matrix() *value {
	x := g.pick(func(v *value) bool { return isNumber(v.n.DType) && len(v.size) >= 2 })
	if x == nil || g.rng.IntN(4) == 0 {
		d := g.dtype(isNumber)
		if d == ir.NoType {
			return nil
		}
		x = g.leaf(d, ir.Shape{g.dim(40), g.dim(40)}, 0, 0)
	}
	return x
}

func matmul(g *generator, op ir.Op) *value {
	x := g.matrix()
	if x == nil {
		return nil
	}
	r := len(x.size)
	s := append(ir.Shape(nil), x.n.Shape...)
	if g.Sums && g.rng.IntN(2) == 0 { // the other operand, which may be made of weights
		s[r-2], s[r-1] = g.dim(9), s[r-2]
		return g.sum(op, ir.Attr{}, x.size[r-2], g.operand(x.n.DType, s), x)
	}
	s[r-2], s[r-1] = s[r-1], g.dim(24)
	out := append(x.n.Shape[:r-1:r-1], s[r-1])
	if g.count(s) > g.MaxElements || g.count(out) > g.MaxElements {
		return nil
	}
	if g.rng.IntN(3) == 0 && s[r-2].Static() && s[r-1].Static() && g.count(s[:r-2]) == 1 {
		g.products(x, s, out)
	}
	return g.sum(op, ir.Attr{}, x.size[r-1], x, g.operand(x.n.DType, s))
}

// products multiplies x by several weights, as the layers of a network do, most
// with a bias.
func (g *generator) products(x *value, w, out ir.Shape) {
	d, rank := x.n.DType, len(w)
	for range 1 + g.rng.IntN(3) {
		weight := g.leaf(d, w, 0, 0)
		if g.rng.IntN(3) == 0 {
			stored := slices.Clone(w)
			stored[rank-1], stored[rank-2] = stored[rank-2], stored[rank-1]
			order := make([]int, rank)
			for i := range order {
				order[i] = i
			}
			order[rank-1], order[rank-2] = rank-2, rank-1
			weight = g.add(ir.Permute, ir.Attr{Axes: order}, g.leaf(d, stored, 0, 0))
		}
		y := g.sum(ir.MatMul, ir.Attr{}, x.size[rank-1], x, weight)
		if y == nil {
			return
		}
		bias := make(ir.Shape, rank)
		for i := range bias {
			bias[i] = ir.N(1)
		}
		bias[rank-1] = w[rank-1]
		if b := g.expand(g.leaf(d, bias, 0, 0), out); g.rng.IntN(4) > 0 && g.fits(d, y.bound+b.bound) {
			bound := y.bound + b.bound
			y = g.add(ir.Add, ir.Attr{}, y, b)
			g.wrap(y, bound)
			y.exact = g.Integers
		}
		g.drawn = append(g.drawn, y)
	}
}

func conv(g *generator, op ir.Op) *value {
	d := g.dtype(isNumber)
	if d == ir.NoType {
		return nil
	}
	groups := 1 + g.rng.IntN(2)
	in, out := groups*(1+g.rng.IntN(3)), groups*(1+g.rng.IntN(3))
	x := ir.Shape{g.dim(3), ir.N(in)}
	w := ir.Static(out, in/groups)
	c := &ir.ConvAttr{Groups: groups}
	depth := in / groups
	for range 1 + g.rng.IntN(2) {
		kernel, dilation := 1+g.rng.IntN(3), 1+g.rng.IntN(2)
		c.Stride = append(c.Stride, 1+g.rng.IntN(2))
		c.Dilation = append(c.Dilation, dilation)
		c.Before = append(c.Before, g.rng.IntN(3))
		c.After = append(c.After, g.rng.IntN(3))
		x = append(x, ir.N((kernel-1)*dilation+1+g.rng.IntN(7)))
		w = append(w, ir.N(kernel))
		depth *= kernel
	}
	if g.count(x) > g.MaxElements {
		return nil
	}
	return g.sum(op, ir.Attr{Conv: c}, depth, g.operand(d, x), g.operand(d, w))
}

// attention draws dense and ragged ones, and gradients of them; never with Integers, for exponentials
// are not whole.
func attention(g *generator, op ir.Op) *value {
	d := g.dtype(isFloat)
	if d == ir.NoType || g.Integers || d != ir.F64 && !g.allowed[ir.F32] {
		return nil
	}
	kvHeads := 1 + g.rng.IntN(2)
	heads := kvHeads * (1 + g.rng.IntN(2))
	width, vWidth := ir.N(1+g.rng.IntN(9)), ir.N(1+g.rng.IntN(9))
	a := &ir.AttentionAttr{Scale: 1 / math.Sqrt(float64(1+g.rng.IntN(16))), Causal: g.rng.IntN(2) == 0,
		Ragged: g.rng.IntN(2) == 0 && g.allowed[ir.I32], Mask: g.rng.IntN(2) == 0}
	if g.rng.IntN(4) == 0 {
		a.Window = 1 + g.rng.IntN(5)
	}
	if g.rng.IntN(4) == 0 {
		a.SoftCap = 1 + g.rng.Float64()*4
	}
	queries, keys := g.dim(13), g.dim(13)
	batch := g.rng.IntN(3) + 1
	var in []*value
	maskShape := ir.Shape{ir.N(batch), ir.N(heads), queries, keys}
	if a.Ragged {
		in = []*value{
			g.operand(d, ir.Shape{queries, ir.N(heads), width}),
			g.operand(d, ir.Shape{keys, ir.N(kvHeads), width}),
			g.operand(d, ir.Shape{keys, ir.N(kvHeads), vWidth}),
			g.offsets(batch, g.eval(queries), false), g.offsets(batch, g.eval(keys), false),
		}
	} else {
		in = []*value{
			g.operand(d, ir.Shape{ir.N(batch), ir.N(heads), queries, width}),
			g.operand(d, ir.Shape{ir.N(batch), ir.N(kvHeads), keys, width}),
			g.operand(d, ir.Shape{ir.N(batch), ir.N(kvHeads), keys, vWidth}),
		}
	}
	if a.Mask {
		for i := range maskShape {
			if g.rng.IntN(2) == 0 {
				maskShape[i] = ir.N(1)
			}
		}
		in = append(in, g.operand(d, maskShape))
	}
	if op == ir.AttentionGrad || g.Ops == nil && g.rng.IntN(3) == 0 {
		op = ir.AttentionGrad
		rows := in[0].n.Shape[:len(in[0].n.Shape)-1]
		sums := ir.F32
		if d == ir.F64 {
			sums = d
		}
		in = append(in, g.operand(sums, rows), g.operand(d, append(rows[:len(rows):len(rows)], vWidth)), g.operand(sums, rows))
		n := g.add(op, ir.Attr{Attention: a}, in...)
		var last *value
		for _, out := range g.rng.Perm(op.Outputs())[:1+g.rng.IntN(op.Outputs())] {
			last = g.add(ir.Get, ir.Attr{Out: out}, n)
			last.exact = false
		}
		return last
	}
	return g.either(g.add(op, ir.Attr{Attention: a}, in...), false, false)
}

// either reads one or both outputs of a node with two.
func (g *generator) either(v *value, exact0, exact1 bool) *value {
	out := g.rng.IntN(2)
	first := g.add(ir.Get, ir.Attr{Out: out}, v)
	first.exact = [2]bool{exact0, exact1}[out]
	if g.rng.IntN(2) == 0 {
		second := g.add(ir.Get, ir.Attr{Out: 1 - out}, v)
		second.exact = [2]bool{exact0, exact1}[1-out]
	}
	return first
}

func sorted(g *generator, op ir.Op) *value {
	x := g.any(isNumber)
	if x == nil || len(x.size) == 0 || !g.allowed[ir.I64] || !g.steady(op, x) {
		return nil
	}
	axis := g.rng.IntN(len(x.size))
	v := g.add(op, ir.Attr{Axes: []int{axis}, Descending: g.rng.IntN(2) == 0}, x)
	v.bound = max(v.bound, float64(x.size[axis]))
	return g.either(v, x.exact, x.exact)
}

func scan(g *generator, op ir.Op) *value {
	x := g.any(isNumber)
	if x == nil || len(x.size) == 0 {
		return nil
	}
	axis := g.rng.IntN(len(x.size))
	mode := [...]string{"sum", "prod", "max"}[g.rng.IntN(3)]
	d, bound, n := x.n.DType, x.bound, float64(x.size[axis])
	switch mode {
	case "sum":
		bound *= n
	case "prod":
		if bound = max(1, math.Pow(bound, n)); d.IsInt() {
			bound = math.Inf(1)
		}
	}
	if !g.fits(d, bound) {
		return nil
	}
	v := g.add(op, ir.Attr{Axes: []int{axis}, Mode: mode}, x)
	v.exact = x.exact && (g.Integers || d.IsInt() || mode == "max")
	g.wrap(v, bound)
	return v
}

func segmentIDs(g *generator, op ir.Op) *value {
	if !g.allowed[ir.I32] {
		return nil
	}
	rows := g.dim(40)
	v := g.add(op, ir.Attr{Shape: ir.Shape{rows}}, g.offsets(1+g.rng.IntN(5), g.eval(rows), false))
	v.bound = 5
	return v
}

// segmentReduce draws segments that are not empty for a maximum.
func segmentReduce(g *generator, op ir.Op) *value {
	x := g.any(isNumber)
	if x == nil || len(x.size) == 0 || !g.allowed[ir.I32] {
		return nil
	}
	a := ir.Attr{Mode: "sum"}
	segments, d, bound := 1+g.rng.IntN(4), x.n.DType, x.bound*float64(x.size[0])
	if g.rng.IntN(2) == 0 {
		a.Mode = "max"
		bound = x.bound
		if segments > x.size[0] {
			return nil
		}
	}
	if !g.fits(d, bound) || segments*x.count()/max(1, x.size[0]) > g.MaxElements {
		return nil
	}
	v := g.add(op, a, x, g.offsets(segments, x.size[0], a.Mode == "max"))
	v.exact = x.exact && (g.Integers || d.IsInt() || a.Mode == "max")
	g.wrap(v, bound)
	return v
}
