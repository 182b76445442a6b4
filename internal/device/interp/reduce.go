package interp

import (
	"errors"

	"github.com/sinterml/sinter/internal/ir"
)

// outStrides are the strides of a reduction's result for the axes of x: 0
// along the reduced ones.
func outStrides(c *call) []int {
	step := strides(c.out[0].shape)
	for _, ax := range c.Attr.Axes {
		step[ax] = 0
	}
	return step
}

// reduce sums or multiplies in row-major order, starting from +0 or 1.
func (numbers[T, A]) reduce(c *call) {
	x, out := view[T](c.in[0]), view[T](c.out[0])
	acc := make([]A, len(out))
	if c.Op == ir.ReduceProd {
		fill(acc, 1)
	}
	rows(c.in[0].shape, outStrides(c), 0, func(flat, at, n, step int) {
		for _, v := range x[flat:][:n] {
			if c.Op == ir.ReduceSum {
				acc[at] += A(v)
			} else {
				acc[at] *= A(v)
			}
			at += step
		}
	})
	for i, a := range acc {
		out[i] = T(a)
	}
}

var errEmpty = errors.New("of no elements has no value")

func (numbers[T, A]) extreme(c *call) error {
	x, out := view[T](c.in[0]), view[T](c.out[0])
	if len(x) == 0 && len(out) > 0 {
		return errEmpty
	}
	better, start := func(a, b T) T { return max(a, b) }, lowest[T]()
	if c.Op == ir.ReduceMin {
		better, start = func(a, b T) T { return min(a, b) }, highest[T]()
	}
	fill(out, start)
	rows(c.in[0].shape, outStrides(c), 0, func(flat, at, n, step int) {
		for _, v := range x[flat:][:n] {
			out[at] = better(out[at], v)
			at += step
		}
	})
	return nil
}

// argExtreme compares by value: -0 equals +0, and the first of equals stays.
func (numbers[T, A]) argExtreme(c *call) error {
	x, out := view[T](c.in[0]), view[int64](c.out[0])
	if len(x) == 0 && len(out) > 0 {
		return errEmpty
	}
	outer, n, inner := split(c.in[0].shape, c.Attr.Axis())
	for o := range outer {
		for j := range inner {
			best, at := x[o*n*inner+j], 0
			for i := 1; i < n && !isNaN(best); i++ {
				v := x[(o*n+i)*inner+j]
				if isNaN(v) || c.Op == ir.ArgMax && v > best || c.Op == ir.ArgMin && v < best {
					best, at = v, i
				}
			}
			out[o*inner+j] = int64(at)
		}
	}
	return nil
}

// scan writes the running sum, product or maximum, the element included.
func (numbers[T, A]) scan(c *call) {
	x, out := view[T](c.in[0]), view[T](c.out[0])
	outer, n, inner := split(c.in[0].shape, c.Attr.Axis())
	for o := range outer {
		for j := range inner {
			sum, prod, top := A(0), A(1), lowest[T]()
			for i := range n {
				at := (o*n+i)*inner + j
				switch c.Attr.Mode {
				case "sum":
					sum += A(x[at])
					out[at] = T(sum)
				case "prod":
					prod *= A(x[at])
					out[at] = T(prod)
				case "max":
					top = max(top, x[at])
					out[at] = top
				}
			}
		}
	}
}

// finite is false for NaN and infinities.
func finite(x float64) bool { return x-x == 0 }
