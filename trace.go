package sinter

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// apply records an operation. Its operands have been made to fit: scalars have
// adapted, shapes are broadcast.
func apply(op ir.Op, attr ir.Attr, in ...Tensor) Tensor { return applyTo(in, op, attr, in...) }

// applyTo is apply for operands made from those that the caller gave, which an
// error shows.
func applyTo(given []Tensor, op ir.Op, attr ir.Attr, in ...Tensor) Tensor {
	if bad, ok := firstErr(in...); ok {
		return bad
	}
	types := make([]ir.Type, len(in))
	values := make([]*value, len(in))
	for i, x := range in {
		types[i], values[i] = x.v.Type, x.v
	}
	outs, err := ir.Infer(op, &attr, types)
	if err != nil {
		return fail(err, given...)
	}
	v := newValue(outs[0], &expr{op: op, attr: attr, in: values})
	if len(outs) > 1 {
		v.outs = outs
	}
	return Tensor{v}
}

// get selects output i of an operation with several.
func get(x Tensor, i int) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	return Tensor{newValue(x.v.outs[i], &expr{op: ir.Get, attr: ir.Attr{Out: i}, in: []*value{x.v}})}
}

// adapt gives scalars among operands the dtype of the others.
func adapt(in ...Tensor) []Tensor {
	var dt DType
	for _, x := range in {
		if v := x.load(); v.err == nil && !v.scalar {
			dt = v.DType
			break
		}
	}
	if !dt.Valid() {
		return in
	}
	out := slices.Clone(in)
	for i, x := range in {
		if v := x.load(); v.scalar && v.DType != dt {
			out[i] = constant(dt, v.number)
		}
	}
	return out
}

// constant is one value of a dtype; a value that the dtype cannot hold is an
// error.
func constant(dt DType, v float64) Tensor {
	if err := checkDType(dt); err != nil {
		return fail(err)
	}
	bits, err := ir.Bits(dt, v)
	if err != nil {
		return fail(err)
	}
	return apply(ir.Const, ir.Attr{DType: dt, Value: bits})
}

// like is a constant of x's dtype.
func (x Tensor) like(v float64) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	return constant(x.v.DType, v)
}

// broadcast brings operands to one shape by numpy's rule.
func broadcast(in ...Tensor) ([]Tensor, error) {
	shape := in[0].load().Shape
	for _, x := range in[1:] {
		s, err := ir.Broadcast(shape, x.load().Shape)
		if err != nil {
			return nil, err
		}
		shape = s
	}
	out := make([]Tensor, len(in))
	for i, x := range in {
		out[i] = x.expandTo(shape)
	}
	return out, nil
}

// expandTo repeats x to a shape that it is known to broadcast to.
func (x Tensor) expandTo(shape ir.Shape) Tensor {
	v := x.load()
	if v.err != nil || v.Shape.Equal(shape) {
		return x
	}
	if missing := len(shape) - len(v.Shape); missing > 0 {
		ones := slices.Repeat(ir.Shape{N(1)}, missing)
		x = x.reshape(append(ones, v.Shape...))
	}
	if x.load().Shape.Equal(shape) {
		return x
	}
	return apply(ir.Expand, ir.Attr{Shape: shape}, x)
}

// reshape is Reshape to a shape that the caller has checked or made.
func (x Tensor) reshape(shape ir.Shape) Tensor {
	if v := x.load(); v.err == nil && v.Shape.Equal(shape) {
		return x
	}
	return apply(ir.Reshape, ir.Attr{Shape: shape}, x)
}

// pointwise records an operation element by element: scalars adapt, shapes
// broadcast.
func pointwise(op ir.Op, in ...Tensor) Tensor {
	if bad, ok := firstErr(in...); ok {
		return bad
	}
	in = adapt(in...)
	if bad, ok := firstErr(in...); ok {
		return bad
	}
	wide, err := broadcast(in...)
	if err != nil {
		return fail(err, in...)
	}
	return applyTo(in, op, ir.Attr{}, wide...)
}

// axis checks an axis, which counts from the end if negative.
func (x Tensor) axis(axis int) (int, error) {
	rank := len(x.load().Shape)
	if axis < -rank || axis >= rank {
		return 0, axisError(axis, rank)
	}
	if axis < 0 {
		axis += rank
	}
	return axis, nil
}

// axes checks a list of axes and sorts it; none means all of them.
func (x Tensor) axes(axes []int) ([]int, error) {
	rank := len(x.load().Shape)
	if len(axes) == 0 {
		all := make([]int, rank)
		for i := range all {
			all[i] = i
		}
		return all, nil
	}
	out := make([]int, len(axes))
	for i, a := range axes {
		ax, err := x.axis(a)
		if err != nil {
			return nil, err
		}
		out[i] = ax
	}
	slices.Sort(out)
	if len(slices.Compact(slices.Clone(out))) != len(out) {
		return nil, repeatedAxes(axes)
	}
	return out, nil
}
