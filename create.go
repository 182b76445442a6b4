package sinter

import (
	"fmt"
	"math"

	"github.com/sinterml/sinter/internal/ir"
)

// Full is a tensor with v everywhere. It takes no memory until something
// needs it in memory.
func Full(dt DType, v float64, shape ...Dim) Tensor {
	if err := checkSymbols(shape); err != nil {
		return fail(err)
	}
	return constant(dt, v).expandTo(append(ir.Shape{}, shape...))
}

// Zeros is a tensor of zeros.
func Zeros(dt DType, shape ...Dim) Tensor { return Full(dt, 0, shape...) }

// Ones is a tensor of ones.
func Ones(dt DType, shape ...Dim) Tensor { return Full(dt, 1, shape...) }

// Iota holds the index along one axis.
func Iota(dt DType, axis int, shape ...Dim) Tensor {
	if err := checkSymbols(shape); err != nil {
		return fail(err)
	}
	if err := checkDType(dt); err != nil {
		return fail(err)
	}
	if axis < 0 {
		axis += len(shape)
	}
	return apply(ir.Iota, ir.Attr{DType: dt, Shape: append(ir.Shape{}, shape...), Axes: []int{axis}})
}

// Arange is start, start+step, ... below stop, or above it if step is
// negative.
func Arange(dt DType, start, stop, step float64) Tensor {
	n := math.Ceil((stop - start) / step)
	if !(n <= ir.MaxElements) || step == 0 { // also for NaN
		return failf(nil, "no finite range from %v to %v by %v", start, stop, step)
	}
	n = max(n, 0)
	wide, err := rangeType(dt, start, step, n)
	if err != nil {
		return fail(err)
	}
	return Iota(wide, 0, N(int(n))).Mul(Scalar(step)).Add(Scalar(start)).Cast(dt)
}

// rangeType is what a range of n numbers is computed in: the half types are too
// coarse for the numbers of its elements, and types without a sign have no step
// down.
func rangeType(dt DType, start, step, n float64) (DType, error) {
	switch {
	case dt == F16 || dt == BF16:
		return F32, nil
	case !dt.Valid() || !dt.IsInt() || step != math.Trunc(step):
		return dt, nil
	}
	for _, end := range []float64{start, start + max(n-1, 0)*step} {
		if _, err := ir.Bits(dt, end); err != nil { // numbers would wrap
			return dt, err
		}
	}
	if _, err := ir.Bits(dt, step); err == nil {
		return dt, nil
	}
	return I64, nil
}

// Eye is the identity matrix of n rows.
func Eye(dt DType, n Dim) Tensor {
	return Iota(I32, 0, n, n).Equal(Iota(I32, 1, n, n)).Cast(dt)
}

// OneHot is 1 at each index along a new last axis of size depth, else 0, in
// the dtype of index.
func OneHot(index Tensor, depth int) Tensor {
	if bad, ok := firstErr(index); ok {
		return bad
	}
	dt := index.v.DType
	if !dt.IsInt() {
		return fail(fmt.Errorf("the index is an integer, not %v: use Cast", dt), index)
	}
	if _, most := dt.IntRange(); float64(depth)-1 > most {
		return failf([]Tensor{index}, "%v holds no index up to %d: use Cast", dt, depth-1)
	}
	return index.Unsqueeze(-1).Equal(Iota(dt, 0, N(depth))).Cast(dt)
}
