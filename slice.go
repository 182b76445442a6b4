package sinter

import (
	"fmt"
	"slices"

	"github.com/sinterml/sinter/internal/ir"
)

// Range selects indices along one axis: Start, Start+Step, ... below Stop.
// Start and Stop count from the end if negative; Stop 0 is the end itself and
// Step 0 is 1, so that the zero Range is the whole axis.
type Range struct{ Start, Stop, Step int }

// Slice selects a range of each axis; axes without one stay whole. A range
// outside the axis is an error.
func (x Tensor) Slice(ranges ...Range) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	if len(ranges) > len(x.v.Shape) {
		return failf([]Tensor{x}, "%d ranges for rank %d", len(ranges), len(x.v.Shape))
	}
	a := wholeSlice(x.v.Shape)
	for i, r := range ranges {
		if err := r.resolve(a, i); err != nil {
			return fail(fmt.Errorf("axis %d: %w", i, err), x)
		}
	}
	return x.slice(a)
}

// wholeSlice selects everything.
func wholeSlice(shape ir.Shape) *ir.Attr {
	return &ir.Attr{Starts: make([]Dim, len(shape)), Steps: slices.Repeat([]int{1}, len(shape)), Shape: slices.Clone(shape)}
}

func (x Tensor) slice(a *ir.Attr) Tensor {
	if a.Shape.Equal(x.v.Shape) && allZeroDims(a.Starts) {
		return x // of the whole size, so every step is 1
	}
	return apply(ir.Slice, *a, x)
}

func allZeroDims(v []Dim) bool {
	return !slices.ContainsFunc(v, func(d Dim) bool { return !d.IsConst(0) })
}

// resolve writes axis i of the slice.
func (r Range) resolve(a *ir.Attr, i int) error {
	size := a.Shape[i]
	start, stop := N(r.Start), N(r.Stop)
	if r.Start < 0 {
		start = size.Plus(r.Start)
	}
	if r.Stop <= 0 {
		stop = size.Plus(r.Stop)
	}
	step := max(r.Step, 1)
	if r.Step < 0 {
		return fmt.Errorf("step %d is negative: use Flip", r.Step)
	}
	n := stop.Sub(start)
	if lo, _ := n.Bounds(); lo < 0 {
		return fmt.Errorf("range %v to %v may have a negative size", start, stop)
	}
	if lo, _ := start.Bounds(); lo < 0 {
		return fmt.Errorf("start %v may be negative", start)
	}
	if lo, _ := size.Sub(stop).Bounds(); lo < 0 {
		return fmt.Errorf("range %v to %v reaches beyond size %v", start, stop, size)
	}
	if step > 1 {
		count, ok := n.Const()
		if !ok {
			return fmt.Errorf("step %d over the symbolic size %v", step, n)
		}
		n = N(count / step)
		if count%step != 0 {
			n = n.Plus(1)
		}
	}
	a.Starts[i], a.Steps[i], a.Shape[i] = start, step, n
	return nil
}

// Narrow selects size indices of an axis from start on; both may be symbolic.
func (x Tensor) Narrow(axis int, start, size Dim) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	ax, err := x.axis(axis)
	if err == nil {
		err = checkSymbols(ir.Shape{start, size})
	}
	if err != nil {
		return fail(err, x)
	}
	a := wholeSlice(x.v.Shape)
	a.Starts[ax], a.Shape[ax] = start, size
	return x.slice(a)
}

// Index selects one index of an axis, which leaves the result.
func (x Tensor) Index(axis, i int) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	ax, err := x.axis(axis)
	if err != nil {
		return fail(err, x)
	}
	start := N(i)
	if i < 0 {
		start = x.v.Shape[ax].Plus(i)
	}
	return x.Narrow(ax, start, N(1)).drop([]int{ax})
}

// Split cuts an axis into pieces of the given sizes, which add up to its size.
func (x Tensor) Split(axis int, sizes ...int) []Tensor {
	out := make([]Tensor, len(sizes))
	fill := func(bad Tensor) []Tensor {
		for i := range out {
			out[i] = bad
		}
		return out
	}
	if bad, ok := firstErr(x); ok {
		return fill(bad)
	}
	ax, err := x.axis(axis)
	if err != nil {
		return fill(fail(err, x))
	}
	start := N(0)
	for i, n := range sizes {
		out[i] = x.Narrow(ax, start, N(n))
		start = start.Plus(n)
	}
	if !start.Equal(x.v.Shape[ax]) {
		return fill(failf([]Tensor{x}, "sizes %v do not add up to %v", sizes, x.v.Shape[ax]))
	}
	return out
}

// Roll moves elements along an axis by shift; what leaves at one end comes
// back at the other.
func (x Tensor) Roll(shift, axis int) Tensor {
	if bad, ok := firstErr(x); ok {
		return bad
	}
	ax, err := x.axis(axis)
	if err != nil {
		return fail(err, x)
	}
	size := x.v.Shape[ax]
	cut := N(-shift)
	if n, ok := size.Const(); ok {
		if n == 0 || shift%n == 0 {
			return x
		}
		cut = N(((-shift)%n + n) % n)
	} else if shift > 0 {
		cut = size.Plus(-shift)
	}
	return Concat(ax, x.Narrow(ax, cut, size.Sub(cut)), x.Narrow(ax, N(0), cut))
}
