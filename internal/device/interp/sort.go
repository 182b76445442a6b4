package interp

import "slices"

// sort is stable: equal elements, -0 and +0 among them, keep their order.
func (numbers[T, A]) sort(c *call) {
	x, values, order := view[T](c.in[0]), view[T](c.out[0]), view[int64](c.out[1])
	outer, n, inner := split(c.in[0].shape, c.Attr.Axis())
	rank := make([]int, n)
	for o := range outer {
		for j := range inner {
			base := o*n*inner + j
			for i := range rank {
				rank[i] = i
			}
			slices.SortStableFunc(rank, func(a, b int) int {
				return before(x[base+a*inner], x[base+b*inner], c.Attr.Descending)
			})
			for i, from := range rank {
				values[base+i*inner] = x[base+from*inner]
				order[base+i*inner] = int64(from)
			}
		}
	}
}

// before is the order of Sort, as slices.SortStableFunc takes it: NaN after all
// numbers, either way round.
func before[T number](a, b T, descending bool) int {
	switch an, bn := isNaN(a), isNaN(b); {
	case an && bn:
		return 0
	case an:
		return 1
	case bn:
		return -1
	case a == b:
		return 0
	case (a < b) != descending:
		return -1
	}
	return 1
}
