package sinter

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// ConvOptions describe a convolution. Lists have an entry for each spatial
// axis, or one for all.
type ConvOptions struct {
	Stride       []int  // nil: 1
	Dilation     []int  // nil: 1
	Padding      []int  // zeros before x; nil: none
	PaddingAfter []int  // zeros behind x; nil: as Padding
	Groups       int    // 0: 1
	Bias         Tensor // [out]; the zero Tensor: none

	// OutputPadding makes the result of ConvTranspose that much larger behind.
	OutputPadding []int
}

// attr checks the options for a number of spatial axes.
func (o ConvOptions) attr(spatial int) (*ir.ConvAttr, error) {
	stride, err1 := perAxis("stride", o.Stride, spatial, 1, 1)
	dilation, err2 := perAxis("dilation", o.Dilation, spatial, 1, 1)
	before, err3 := perAxis("padding", o.Padding, spatial, 0, 0)
	after, err4 := perAxis("padding", o.PaddingAfter, spatial, 0, 0)
	if o.PaddingAfter == nil {
		after = slices.Clone(before)
	}
	groups := o.Groups
	if groups == 0 {
		groups = 1
	}
	if groups < 0 {
		return nil, fmt.Errorf("%d groups", groups)
	}
	return &ir.ConvAttr{Stride: stride, Dilation: dilation, Before: before, After: after, Groups: groups},
		errors.Join(err1, err2, err3, err4)
}

// maxWindow bounds strides, paddings and the like, so that sums and products
// of them stay far from overflow.
const maxWindow = 1 << 24

// perAxis gives an option an entry for each axis.
func perAxis(name string, v []int, axes, missing, least int) ([]int, error) {
	switch len(v) {
	case 0:
		v = slices.Repeat([]int{missing}, axes)
	case 1:
		v = slices.Repeat(v, axes)
	case axes:
		v = slices.Clone(v)
	default:
		return nil, fmt.Errorf("%s %v does not fit %d spatial axes", name, v, axes)
	}
	for _, n := range v {
		if n < least || n > maxWindow {
			return nil, fmt.Errorf("%s %d is outside %d to %d", name, n, least, maxWindow)
		}
	}
	return v, nil
}

// spatialAxes checks x [N, C, spatial...] and counts its spatial axes.
func spatialAxes(x Tensor) (int, error) {
	n := len(x.v.Shape) - 2
	if n < 1 {
		return 0, fmt.Errorf("x has rank %d, want [N, C, spatial...]", n+2)
	}
	return n, nil
}

// Conv is the convolution of x [N, C, spatial...] with w [O, C/groups,
// kernel...], in any number of spatial axes: the sum of products at each
// place, without turning the kernel around.
func Conv(x, w Tensor, o ConvOptions) Tensor {
	if bad, ok := firstErr(x, w); ok {
		return bad
	}
	spatial, err := spatialAxes(x)
	if err != nil {
		return fail(err, x, w)
	}
	attr, err := o.attr(spatial)
	if err != nil {
		return fail(err, x, w)
	}
	for _, k := range w.v.Shape[min(2, len(w.v.Shape)):] {
		if _, hi := k.Bounds(); hi > maxWindow {
			return failf([]Tensor{x, w}, "kernel size %v is above %d", k, maxWindow)
		}
	}
	return addChannels(apply(ir.Conv, ir.Attr{Conv: attr}, x, w), o.Bias)
}

// addChannels adds a bias [C] to y [N, C, spatial...].
func addChannels(y, bias Tensor) Tensor {
	if bias.v == nil {
		return y
	}
	return y.Add(bias.channels(y))
}

// channels makes a vector [C] fit y [N, C, spatial...].
func (x Tensor) channels(y Tensor) Tensor {
	if bad, ok := firstErr(x, y); ok {
		return bad
	}
	if len(x.v.Shape) != 1 || len(y.v.Shape) < 2 || !x.v.Shape[0].Equal(y.v.Shape[1]) {
		return failf([]Tensor{y, x}, "%v does not hold one value for each channel of %v", x.v.Shape, y.v.Shape)
	}
	shape := slices.Repeat(ir.Shape{N(1)}, len(y.v.Shape))
	shape[1] = x.v.Shape[0]
	return x.reshape(shape)
}

// ConvTranspose is the transposed convolution of x [N, C, spatial...] with w
// [C, O/groups, kernel...]: the gradient of Conv with respect to its input.
func ConvTranspose(x, w Tensor, o ConvOptions) Tensor {
	if bad, ok := firstErr(x, w); ok {
		return bad
	}
	given := []Tensor{x, w}
	spatial, err := spatialAxes(x)
	if err != nil {
		return fail(err, given...)
	}
	attr, err := o.attr(spatial)
	extra, err2 := perAxis("output padding", o.OutputPadding, spatial, 0, 0)
	if err = errors.Join(err, err2); err != nil {
		return fail(err, given...)
	}
	if len(w.v.Shape) != spatial+2 {
		return failf(given, "w has rank %d, want [C, O/groups, kernel...]", len(w.v.Shape))
	}
	var size ir.Shape
	for i := range spatial {
		k, ok := w.v.Shape[i+2].Const()
		if !ok || k < 1 || k > maxWindow {
			return failf(given, "kernel size %v must be a constant from 1 to %d", w.v.Shape[i+2], maxWindow)
		}
		n := x.v.Shape[i+2].Plus(-1).Mul(N(attr.Stride[i])).Plus(attr.Dilation[i]*(k-1) + 1 + extra[i] - attr.Before[i] - attr.After[i])
		if least, _ := n.Bounds(); least < 1 {
			return failf(given, "padding %d and %d may leave nothing of axis %d: %v elements", attr.Before[i], attr.After[i], i+2, n)
		}
		size = append(size, n)
	}
	if !x.v.Shape[1].Equal(w.v.Shape[0]) {
		return failf(given, "x has %v channels, w is for %v", x.v.Shape[1], w.v.Shape[0])
	}
	y := build(given, func(b *ir.Builder, in []*ir.Node) (*ir.Node, error) {
		return ir.ConvTransposed(b, attr, in[0], in[1], size)
	})
	return addChannels(y, o.Bias)
}
