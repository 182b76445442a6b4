package sinter

import (
	"errors"
	"math"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// PoolOptions describe a pooling. Lists have an entry for each spatial axis,
// or one for all.
type PoolOptions struct {
	Kernel   []int // sizes of the window
	Stride   []int // nil: as Kernel, so that windows do not overlap
	Dilation []int // nil: 1
	Padding  []int // before and behind; nil: none
}

// MaxPool is the largest in each window of x [N, C, spatial...]. Padding never
// wins.
func MaxPool(x Tensor, o PoolOptions) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	least := math.Inf(-1)
	if x.v.DType.IsInt() {
		least, _ = x.v.DType.IntRange()
	}
	w, axes := x.windows(o, least)
	return w.Max(axes...)
}

// AvgPool is the average of each window of x [N, C, spatial...]. Padding
// counts as zeros.
func AvgPool(x Tensor, o PoolOptions) Tensor {
	w, axes := x.windows(o, 0)
	return w.Mean(axes...)
}

// windows gives each place a window in new axes at the end, and these axes.
func (x Tensor) windows(o PoolOptions, pad float64) (y Tensor, axes []int) {
	if bad, ok := firstErr(x); ok {
		return bad, nil
	}
	spatial, err := spatialAxes(x)
	if err != nil {
		return fail(err, x), nil
	}
	if o.Kernel == nil {
		return failf([]Tensor{x}, "Kernel is missing"), nil
	}
	if o.Stride == nil {
		o.Stride = o.Kernel
	}
	kernel, err1 := perAxis("kernel", o.Kernel, spatial, 1, 1)
	stride, err2 := perAxis("stride", o.Stride, spatial, 1, 1)
	dilation, err3 := perAxis("dilation", o.Dilation, spatial, 1, 1)
	padding, err4 := perAxis("padding", o.Padding, spatial, 0, 0)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return fail(err, x), nil
	}
	around := append([]int{0, 0}, padding...)
	y = x.Pad(around, around, pad)
	for i := range spatial {
		attr := ir.Attr{Axes: []int{i + 2}, Size: kernel[i], Stride: stride[i], Dilation: dilation[i]}
		y = applyTo([]Tensor{x}, ir.Window, attr, y)
		axes = append(axes, i-spatial)
	}
	return y, axes
}

// Upsample repeats the elements of x [N, C, spatial...] along each spatial
// axis: nearest neighbours.
func Upsample(x Tensor, scale ...int) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	spatial, err := spatialAxes(x)
	if err != nil {
		return fail(err, x)
	}
	times, err := perAxis("scale", slices.Clone(scale), spatial, 1, 1)
	if err != nil {
		return fail(err, x)
	}
	for i, n := range times {
		if n > 1 {
			x = x.Repeat(i+2, n)
		}
	}
	return x
}
