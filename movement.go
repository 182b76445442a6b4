package sinter

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// Reshape gives the same elements in order another shape. One size may be -1:
// it is what the others leave, which may be symbolic.
func (x Tensor) Reshape(sizes ...int) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	shape := ir.Static(sizes...)
	hole := slices.Index(sizes, -1)
	if hole < 0 {
		return x.reshape(shape)
	}
	known := N(1)
	for i, d := range shape {
		switch {
		case i == hole:
		case sizes[i] == -1:
			return failf([]Tensor{x}, "more than one -1 in %v", sizes)
		default:
			known = known.Mul(d)
		}
	}
	total := x.v.Shape.Numel()
	rest, ok := total.Div(known)
	if !ok || known.IsConst(0) {
		return failf([]Tensor{x}, "%v elements do not divide into %v", total, sizes)
	}
	shape[hole] = rest
	return x.reshape(shape)
}

// ReshapeDims is Reshape to sizes that may be symbolic.
func (x Tensor) ReshapeDims(shape ...Dim) Tensor {
	if err := checkSymbols(shape); err != nil {
		return fail(err, x)
	}
	return x.reshape(append(ir.Shape{}, shape...))
}

// Flatten joins the axes from first to last, both included, into one.
func (x Tensor) Flatten(first, last int) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	a, errA := x.axis(first)
	b, errB := x.axis(last)
	if err := errors.Join(errA, errB); err != nil {
		return fail(err, x)
	}
	if a > b {
		return failf([]Tensor{x}, "axis %d lies behind axis %d", first, last)
	}
	s := x.v.Shape
	shape := append(slices.Clone(s[:a]), ir.Shape(s[a:b+1]).Numel())
	return x.reshape(append(shape, s[b+1:]...))
}

// Squeeze removes axes of size 1; without arguments all of them.
func (x Tensor) Squeeze(axes ...int) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	if len(axes) == 0 {
		for i, d := range x.v.Shape {
			if d.IsConst(1) {
				axes = append(axes, i)
			}
		}
		return x.drop(axes)
	}
	ax, err := x.axes(axes)
	if err != nil {
		return fail(err, x)
	}
	for _, a := range ax {
		if !x.v.Shape[a].IsConst(1) {
			return failf([]Tensor{x}, "axis %d has size %v, not 1", a, x.v.Shape[a])
		}
	}
	return x.drop(ax)
}

// Unsqueeze adds an axis of size 1 before axis, or as the last for -1.
func (x Tensor) Unsqueeze(axis int) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	rank := len(x.v.Shape)
	if axis < -rank-1 || axis > rank {
		return fail(axisError(axis, rank+1), x)
	}
	if axis < 0 {
		axis += rank + 1
	}
	return x.reshape(slices.Insert(slices.Clone(x.v.Shape), axis, N(1)))
}

// Permute makes axis i of the result axis axes[i] of x.
func (x Tensor) Permute(axes ...int) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	order := make([]int, len(axes))
	for i, a := range axes {
		ax, err := x.axis(a)
		if err != nil {
			return fail(err, x)
		}
		order[i] = ax
	}
	if len(order) == len(x.v.Shape) && slices.IsSorted(order) && len(slices.Compact(slices.Clone(order))) == len(order) {
		return x
	}
	return apply(ir.Permute, ir.Attr{Axes: order}, x)
}

// Transpose swaps two axes.
func (x Tensor) Transpose(a, b int) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	i, errA := x.axis(a)
	j, errB := x.axis(b)
	if err := errors.Join(errA, errB); err != nil {
		return fail(err, x)
	}
	order := make([]int, len(x.v.Shape))
	for k := range order {
		order[k] = k
	}
	order[i], order[j] = j, i
	return x.Permute(order...)
}

// T swaps the last two axes.
func (x Tensor) T() Tensor { return x.Transpose(-2, -1) }

// Expand repeats axes of size 1 to the given sizes and adds axes in front; -1
// keeps a size.
func (x Tensor) Expand(sizes ...int) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	shape := ir.Static(sizes...)
	front := len(sizes) - len(x.v.Shape)
	for i, n := range sizes {
		if n == -1 && i >= front {
			shape[i] = x.v.Shape[i-front]
		}
	}
	return x.BroadcastTo(shape...)
}

// BroadcastTo repeats x to a shape by numpy's rule.
func (x Tensor) BroadcastTo(shape ...Dim) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	if err := errors.Join(checkSymbols(shape), ir.Shape(shape).Check()); err != nil {
		return fail(err, x)
	}
	wide, err := ir.Broadcast(x.v.Shape, shape)
	if err == nil && !wide.Equal(shape) {
		err = fmt.Errorf("%v is more than %v", x.v.Shape, ir.Shape(shape))
	}
	if err != nil {
		return fail(err, x)
	}
	return x.expandTo(wide)
}

// Flip reverses axes; without arguments all of them.
func (x Tensor) Flip(axes ...int) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	ax, err := x.axes(axes)
	if err != nil {
		return fail(err, x)
	}
	if len(ax) == 0 {
		return x
	}
	return apply(ir.Flip, ir.Attr{Axes: ax}, x)
}

// Pad puts value around x: before[i] times in front of axis i, after[i] times
// behind it.
func (x Tensor) Pad(before, after []int, value float64) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	bits, err := ir.Bits(x.v.DType, value)
	if err != nil {
		return fail(err, x)
	}
	if allZero(before) && allZero(after) && len(before) == len(x.v.Shape) && len(after) == len(before) {
		return x
	}
	return apply(ir.Pad, ir.Attr{Before: ir.Static(before...), After: ir.Static(after...), Value: bits}, x)
}

func allZero(v []int) bool {
	return !slices.ContainsFunc(v, func(n int) bool { return n != 0 })
}

// Concat puts tensors one after another along an axis.
func Concat(axis int, xs ...Tensor) Tensor {
	if len(xs) == 0 {
		return failf(nil, "nothing to put together")
	}
	xs = adapt(xs...)
	if bad, ok := firstErr(xs...); ok {
		return bad
	}
	ax, err := xs[0].axis(axis)
	if err != nil {
		return fail(err, xs...)
	}
	if len(xs) == 1 {
		return xs[0]
	}
	return apply(ir.Concat, ir.Attr{Axes: []int{ax}}, xs...)
}

// Stack puts tensors of one shape one after another along a new axis.
func Stack(axis int, xs ...Tensor) Tensor {
	if len(xs) == 0 {
		return failf(nil, "nothing to put together")
	}
	xs = slices.Clone(adapt(xs...))
	if bad, ok := firstErr(xs...); ok {
		return bad
	}
	rank := len(xs[0].v.Shape)
	if axis < -rank-1 || axis > rank {
		return fail(axisError(axis, rank+1), xs...)
	}
	if axis < 0 {
		axis += rank + 1
	}
	shape := xs[0].v.Shape
	for i, x := range xs {
		if !x.v.Shape.Equal(shape) {
			return failf(xs, "shapes %v and %v differ", shape, x.v.Shape)
		}
		xs[i] = x.Unsqueeze(axis)
	}
	return Concat(axis, xs...)
}

// Tile repeats the whole of x n times along an axis.
func (x Tensor) Tile(axis, n int) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	ax, err := x.axis(axis)
	if err != nil {
		return fail(err, x)
	}
	shape := slices.Clone(x.v.Shape)
	wide := slices.Insert(slices.Clone(shape), ax, N(n))
	shape[ax] = shape[ax].Mul(N(n))
	return x.Unsqueeze(ax).BroadcastTo(wide...).reshape(shape)
}

// Repeat repeats each element n times along an axis.
func (x Tensor) Repeat(axis, n int) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	ax, err := x.axis(axis)
	if err != nil {
		return fail(err, x)
	}
	shape := slices.Clone(x.v.Shape)
	wide := slices.Insert(slices.Clone(shape), ax+1, N(n))
	shape[ax] = shape[ax].Mul(N(n))
	return x.Unsqueeze(ax + 1).BroadcastTo(wide...).reshape(shape)
}

// Tril keeps the elements on and below the k-th diagonal of the last two axes
// and puts 0 elsewhere.
func (x Tensor) Tril(k int) Tensor {
	return x.diagonals(k, Tensor.GreaterEqual)
}

// Triu keeps the elements on and above the k-th diagonal of the last two axes
// and puts 0 elsewhere.
func (x Tensor) Triu(k int) Tensor {
	return x.diagonals(k, Tensor.LessEqual)
}

// diagonals keeps the elements whose row, plus k, compares to their column.
func (x Tensor) diagonals(k int, keep func(row, column Tensor) Tensor) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	rank := len(x.v.Shape)
	if rank < 2 {
		return failf([]Tensor{x}, "takes rank 2 or more")
	}
	last := x.v.Shape[rank-2:]
	k = min(max(k, -ir.MaxElements), ir.MaxElements) // farther out nothing changes
	row, column := Iota(I64, 0, last...), Iota(I64, 1, last...)
	return Where(keep(row.Add(Scalar(float64(k))), column), x, x.like(0))
}
