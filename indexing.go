package sinter

import (
	"errors"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// Indices are I32 or I64. One outside its axis, also a negative one, is an
// error of the run.

// Take selects indices of an axis; the axis is replaced by index's shape.
// x.Take(ids, 0) looks up rows.
func (x Tensor) Take(index Tensor, axis int) Tensor {
	if bad, ok := firstErr(x, index); ok {
		return bad
	}
	ax, err := x.axis(axis)
	if err != nil {
		return fail(err, x, index)
	}
	n := index.v.Shape.Numel()
	flat := slices.Repeat(ir.Shape{N(1)}, len(x.v.Shape))
	flat[ax] = n
	wide := slices.Clone(x.v.Shape)
	wide[ax] = n
	y := applyTo([]Tensor{x, index}, ir.Gather, ir.Attr{Axes: []int{ax}}, x, index.reshape(flat).expandTo(wide))
	return y.reshape(slices.Concat(x.v.Shape[:ax], index.v.Shape, x.v.Shape[ax+1:]))
}

// TakeAlong is numpy's take_along_axis: y[.., i, ..] = x[.., index[.., i, ..],
// ..]. The other axes of x and index broadcast.
func (x Tensor) TakeAlong(index Tensor, axis int) Tensor {
	if bad, ok := firstErr(x, index); ok {
		return bad
	}
	ax, err := x.axis(axis)
	if err != nil {
		return fail(err, x, index)
	}
	if len(x.v.Shape) != len(index.v.Shape) {
		return failf([]Tensor{x, index}, "ranks %d and %d differ", len(x.v.Shape), len(index.v.Shape))
	}
	xs, is := slices.Clone(x.v.Shape), slices.Clone(index.v.Shape)
	xs[ax], is[ax] = N(1), N(1)
	shape, err := ir.Broadcast(xs, is)
	if err != nil {
		return fail(err, x, index)
	}
	xs, is = slices.Clone(shape), slices.Clone(shape)
	xs[ax], is[ax] = x.v.Shape[ax], index.v.Shape[ax]
	return applyTo([]Tensor{x, index}, ir.Gather, ir.Attr{Axes: []int{ax}}, x.expandTo(xs), index.expandTo(is))
}

// Gather is PyTorch's gather: y[.., i, ..] = x[.., index[.., i, ..], ..] along
// axis, in the shape of index, which is nowhere larger than x beside axis.
func Gather(x Tensor, axis int, index Tensor) Tensor {
	ax, err := indexed(x, axis, index)
	if err != nil {
		return pass(err, x, index)
	}
	return applyTo([]Tensor{x, index}, ir.Gather, ir.Attr{Axes: []int{ax}}, x.corner(ax, index.v.Shape), index)
}

// Scatter is x with updates put at index along axis: y[.., index[.., i, ..],
// ..] = updates[.., i, ..]. Of several for one place the last stays. Updates
// has the shape of index, which is nowhere larger than x beside axis.
func Scatter(x Tensor, axis int, index, updates Tensor) Tensor {
	return scatter("set", x, axis, index, updates)
}

// ScatterAdd is Scatter that adds, in the order of index.
func ScatterAdd(x Tensor, axis int, index, updates Tensor) Tensor {
	return scatter("add", x, axis, index, updates)
}

func scatter(mode string, x Tensor, axis int, index, updates Tensor) Tensor {
	given := []Tensor{x, index, updates}
	if bad, ok := firstErr(given...); ok {
		return bad
	}
	ax, err := indexed(x, axis, index)
	if err != nil {
		return pass(err, given...)
	}
	updates = adapt(x, updates)[1]
	if updates.v.err == nil && len(updates.v.Shape) == 0 {
		updates = updates.expandTo(index.v.Shape)
	}
	inner := x.corner(ax, index.v.Shape)
	y := applyTo(given, ir.Scatter, ir.Attr{Axes: []int{ax}, Mode: mode}, inner, index, updates)
	if bad, ok := firstErr(y); ok {
		return bad
	}
	return x.surround(y, ax)
}

// IndexAdd is x with row i of updates added to row index[i], rows along axis.
func IndexAdd(x Tensor, axis int, index, updates Tensor) Tensor {
	given := []Tensor{x, index, updates}
	if bad, ok := firstErr(given...); ok {
		return bad
	}
	ax, err := x.axis(axis)
	if err != nil {
		return fail(err, given...)
	}
	if len(index.v.Shape) != 1 || len(updates.v.Shape) != len(x.v.Shape) || !updates.v.Shape[ax].Equal(index.v.Shape[0]) {
		return failf(given, "the index has rank 1 and one entry for each of the updates along axis %d", ax)
	}
	flat := slices.Repeat(ir.Shape{N(1)}, len(x.v.Shape))
	flat[ax] = index.v.Shape[0]
	wide := slices.Clone(x.v.Shape)
	wide[ax] = index.v.Shape[0]
	return applyTo(given, ir.Scatter, ir.Attr{Axes: []int{ax}, Mode: "add"}, x, index.reshape(flat).expandTo(wide), updates)
}

// indexed checks the axis and ranks of an operation on x and index.
func indexed(x Tensor, axis int, index Tensor) (int, error) {
	if bad, ok := firstErr(x, index); ok {
		return 0, bad.Err()
	}
	if len(x.v.Shape) != len(index.v.Shape) {
		return 0, errors.New("x and index differ in rank")
	}
	return x.axis(axis)
}

// pass fails with err, unless an operand has failed already.
func pass(err error, in ...Tensor) Tensor {
	if bad, ok := firstErr(in...); ok {
		return bad
	}
	return fail(err, in...)
}

// corner cuts the axes but one of x down to sizes where those are known to be
// smaller.
func (x Tensor) corner(axis int, sizes ir.Shape) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	a := wholeSlice(x.v.Shape)
	for i, d := range sizes {
		if lo, _ := x.v.Shape[i].Sub(d).Bounds(); i != axis && lo >= 0 {
			a.Shape[i] = d
		}
	}
	return x.slice(a)
}

// surround puts the rest of x around y, which took the place of its corner.
func (x Tensor) surround(y Tensor, axis int) Tensor {
	for i, size := range x.v.Shape {
		n := y.Dim(i)
		if i == axis || n.Equal(size) {
			continue
		}
		y = Concat(i, y, x.Narrow(i, n, size.Sub(n)).corner(i, y.load().Shape))
	}
	return y
}

// Sort sorts along an axis and also gives each element's index (I64) in x.
// Equal elements keep their order; NaN comes last.
func (x Tensor) Sort(axis int, descending bool) (values, indices Tensor) {
	if bad, ok := firstErr(x); ok {
		return bad, bad
	}
	ax, err := x.axis(axis)
	if err != nil {
		bad := fail(err, x)
		return bad, bad
	}
	s := apply(ir.Sort, ir.Attr{Axes: []int{ax}, Descending: descending}, x)
	return get(s, 0), get(s, 1)
}

// ArgSort is the indices of Sort.
func (x Tensor) ArgSort(axis int, descending bool) Tensor {
	_, indices := x.Sort(axis, descending)
	return indices
}

// TopK is the k largest along an axis, the largest first, and their indices
// (I64).
func (x Tensor) TopK(k, axis int) (values, indices Tensor) {
	values, indices = x.Sort(axis, true)
	return values.Narrow(axis, N(0), N(k)), indices.Narrow(axis, N(0), N(k))
}
