package irtest

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// view chooses a value to move the elements of.
func (g *generator) view(minRank int) *value {
	x := g.any(isAny)
	if x == nil || len(x.size) < minRank {
		return nil
	}
	return x
}

func reshape(g *generator, op ir.Op) *value {
	x := g.view(0)
	if x == nil {
		return nil
	}
	s := slices.Clone(x.n.Shape)
	for range 1 + g.rng.IntN(2) {
		s = g.regroup(s)
	}
	return g.add(op, ir.Attr{Shape: s}, x)
}

// regroup changes a shape but not its number of elements.
func (g *generator) regroup(s ir.Shape) ir.Shape {
	kind := g.rng.IntN(4)
	if kind == 0 || len(s) == 0 {
		return slices.Insert(s, g.rng.IntN(len(s)+1), ir.N(1))
	}
	i := g.rng.IntN(len(s))
	switch kind {
	case 1:
		if s[i].IsConst(1) {
			return slices.Delete(s, i, i+1)
		}
	case 2:
		if i > 0 {
			whole := s[i-1].Mul(s[i])
			if least, _ := whole.Bounds(); least < 0 { // as far as can be told
				return s
			}
			s[i-1] = whole
			return slices.Delete(s, i, i+1)
		}
	default:
		for _, f := range []int{2, 3, 4, 5, 7} {
			if q, ok := s[i].Div(ir.N(f)); ok && g.rng.IntN(2) == 0 {
				s[i] = q
				return slices.Insert(s, i+g.rng.IntN(2), ir.N(f))
			}
		}
	}
	return s
}

func permute(g *generator, op ir.Op) *value {
	x := g.view(1)
	if x == nil {
		return nil
	}
	return g.add(op, ir.Attr{Axes: g.rng.Perm(len(x.size))}, x)
}

func expand(g *generator, op ir.Op) *value {
	x := g.view(0)
	if x == nil {
		return nil
	}
	if !slices.ContainsFunc(x.n.Shape, func(d ir.Dim) bool { return d.IsConst(1) }) {
		x = g.reshape(x, slices.Insert(slices.Clone(x.n.Shape), g.rng.IntN(len(x.size)+1), ir.N(1)))
	}
	s := slices.Clone(x.n.Shape)
	limit := g.MaxElements / max(1, x.count())
	for i, d := range s {
		if d.IsConst(1) && limit > 0 {
			s[i] = g.dim(limit)
			limit /= max(1, g.eval(s[i]))
		}
	}
	return g.add(op, ir.Attr{Shape: s}, x)
}

func pad(g *generator, op ir.Op) *value {
	x := g.view(1)
	if x == nil {
		return nil
	}
	a := ir.Attr{Before: make([]ir.Dim, len(x.size)), After: make([]ir.Dim, len(x.size))}
	count := 1
	for i, n := range x.size {
		b, e := 0, 0
		if g.rng.IntN(2) == 0 {
			b, e = g.rng.IntN(4), g.rng.IntN(4)
		}
		a.Before[i], a.After[i] = ir.N(b), ir.N(e)
		if g.Sums && g.rng.IntN(6) == 0 {
			s := g.symbols[g.rng.IntN(len(g.symbols))]
			a.Before[i], b = s, g.eval(s)
		}
		if g.Sums && g.rng.IntN(6) == 0 {
			s := g.symbols[g.rng.IntN(len(g.symbols))]
			a.After[i], e = s, g.eval(s)
		}
		count *= n + b + e
	}
	if count > g.MaxElements {
		return nil
	}
	d := x.n.DType
	if g.rng.IntN(2) == 0 {
		a.Value = g.element(d, 1)
	}
	v := g.add(op, a, x)
	if g.Integers {
		v.bound = max(v.bound, g.constant(d, nil, a.Value).bound)
	}
	return v
}

func slice(g *generator, op ir.Op) *value {
	x := g.view(1)
	if g.Sums && g.rng.IntN(3) == 0 { // long enough for any symbol
		_, most := g.symbols[0].Bounds()
		x = g.leaf(g.dtype(nil), ir.Shape{ir.N(int(most) + 1 + g.rng.IntN(9)), g.dim(9)}, 0, 0)
	}
	if x == nil {
		return nil
	}
	rank := len(x.size)
	a := ir.Attr{Starts: make([]ir.Dim, rank), Steps: make([]int, rank), Shape: make(ir.Shape, rank)}
	for i, d := range x.n.Shape {
		a.Steps[i], a.Shape[i] = 1, d
		least, _ := d.Bounds()
		if g.Sums && g.rng.IntN(2) == 0 && g.sliceBySymbol(&a, i, d) {
			continue
		}
		if least < 1 || g.rng.IntN(3) == 0 {
			continue
		}
		start := g.rng.IntN(min(int(least), 8))
		a.Starts[i] = ir.N(start)
		if n, ok := d.Const(); ok {
			a.Steps[i] = 1 + g.rng.IntN(3)
			a.Shape[i] = ir.N(1 + g.rng.IntN((n-1-start)/a.Steps[i]+1))
			if g.rng.IntN(32) == 0 {
				a.Shape[i] = ir.N(0)
			}
		} else {
			a.Shape[i] = d.Plus(-start - g.rng.IntN(int(least)-start))
		}
	}
	return g.add(op, a, x)
}

// sliceBySymbol cuts an axis of size d off at a symbol, or takes as many elements
// from there on as there are for sure; false where there may be fewer.
func (g *generator) sliceBySymbol(a *ir.Attr, axis int, d ir.Dim) bool {
	at := g.symbols[g.rng.IntN(len(g.symbols))]
	least, _ := d.Sub(at).Bounds()
	switch {
	case least < 0:
		return false
	case g.rng.IntN(3) == 0:
		a.Shape[axis] = at
	case least > 0 && g.rng.IntN(2) == 0:
		a.Starts[axis], a.Shape[axis] = at, ir.N(1+g.rng.IntN(int(min(least, 40))))
	case d.Static(): // what is left would shrink as the symbol grows: products of such may seem negative
		return false
	default:
		a.Starts[axis], a.Shape[axis] = at, d.Sub(at)
	}
	return true
}

func flip(g *generator, op ir.Op) *value {
	x := g.view(1)
	if x == nil {
		return nil
	}
	var axes []int
	for i := range x.size {
		if g.rng.IntN(2) == 0 {
			axes = append(axes, i)
		}
	}
	return g.add(op, ir.Attr{Axes: axes}, x)
}

func window(g *generator, op ir.Op) *value {
	x := g.view(1)
	if x == nil {
		return nil
	}
	axis := g.rng.IntN(len(x.size))
	d := x.n.Shape[axis]
	least, _ := d.Bounds()
	a := ir.Attr{Axes: []int{axis}, Size: 1 + g.rng.IntN(4), Stride: 1, Dilation: 1 + g.rng.IntN(2)}
	if d.Static() {
		a.Stride += g.rng.IntN(3)
	}
	if int(least) < (a.Size-1)*a.Dilation+1 || x.count()*a.Size > g.MaxElements {
		return nil
	}
	return g.add(op, a, x)
}

func concat(g *generator, op ir.Op) *value {
	x := g.view(1)
	if x == nil {
		return nil
	}
	axis := g.rng.IntN(len(x.size))
	in := []*value{x}
	count := x.count()
	for range g.rng.IntN(3) {
		s := slices.Clone(x.n.Shape)
		if g.rng.IntN(2) == 0 {
			s[axis] = g.dim(8)
		}
		if count += g.count(s); count > g.MaxElements {
			break
		}
		in = append(in, g.operand(x.n.DType, s))
	}
	g.rng.Shuffle(len(in), func(i, j int) { in[i], in[j] = in[j], in[i] })
	return g.add(op, ir.Attr{Axes: []int{axis}}, in...)
}

func contiguous(g *generator, op ir.Op) *value {
	x := g.view(0)
	if x == nil {
		return nil
	}
	return g.add(op, ir.Attr{}, x)
}

// index makes a leaf of positions along an axis of x, as many as there is
// room for; nil where there is nothing to point at.
func (g *generator) index(x *value, axis int) *value {
	d := g.dtype(func(d ir.DType) bool { return d == ir.I32 || d == ir.I64 })
	s := slices.Clone(x.n.Shape)
	s[axis] = g.dim(8)
	if d == ir.NoType || x.size[axis] == 0 || g.count(s) > g.MaxElements {
		return nil
	}
	return g.leaf(d, s, 0, x.size[axis])
}

func gather(g *generator, op ir.Op) *value {
	x := g.view(1)
	if x == nil {
		return nil
	}
	axis := g.rng.IntN(len(x.size))
	i := g.index(x, axis)
	if i == nil {
		return nil
	}
	v := g.add(op, ir.Attr{Axes: []int{axis}}, x, i)
	v.bound = x.bound
	return v
}

func scatter(g *generator, op ir.Op) *value {
	x := g.view(1)
	if x == nil {
		return nil
	}
	axis := g.rng.IntN(len(x.size))
	i := g.index(x, axis)
	if i == nil {
		return nil
	}
	d := x.n.DType
	up := g.operand(d, i.n.Shape)
	a := ir.Attr{Axes: []int{axis}, Mode: "set"}
	bound := max(x.bound, up.bound)
	if d != ir.Bool && g.rng.IntN(2) == 0 {
		a.Mode = "add"
		bound = x.bound + up.bound*float64(i.size[axis])
	}
	if !g.fits(d, bound) {
		return nil
	}
	v := g.add(op, a, x, i, up)
	v.exact = v.exact && (g.Integers || a.Mode == "set" || !d.IsFloat())
	g.wrap(v, bound)
	return v
}
