package interp

import (
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
)

// checkIndex refuses indices outside [0, size).
func checkIndex(op ir.Op, index []int64, size int) error {
	for at, i := range index {
		if i < 0 || i >= int64(size) {
			return &device.IndexError{Op: op.String(), Index: i, Size: size, At: at}
		}
	}
	return nil
}

// places gives for each element of an index tensor the flat position that it
// names in x: the same place but for the axis.
func places(x, index *value, axis int, op ir.Op) ([]int, error) {
	ids, err := index.ints()
	if err != nil {
		return nil, err
	}
	if err := checkIndex(op, ids, x.shape[axis]); err != nil {
		return nil, err
	}
	at := make([]int, len(ids))
	outer, m, inner := split(index.shape, axis)
	n := x.shape[axis]
	i := 0
	for o := range outer {
		for range m {
			for j := range inner {
				at[i] = (o*n+int(ids[i]))*inner + j
				i++
			}
		}
	}
	return at, nil
}

func gather(c *call) error {
	x, index, out := c.in[0], c.in[1], c.out[0]
	at, err := places(x, index, c.Attr.Axis(), c.Op)
	if err != nil {
		return err
	}
	switch x.t.Size() {
	case 1:
		pick(view[uint8](out), view[uint8](x), at)
	case 2:
		pick(view[uint16](out), view[uint16](x), at)
	case 4:
		pick(view[uint32](out), view[uint32](x), at)
	case 8:
		pick(view[uint64](out), view[uint64](x), at)
	}
	if x.err != nil {
		out.err = make([]float64, len(at))
		pick(out.err, x.err, at)
	}
	spoil(out, index.err)
	return nil
}

func pick[T any](out, x []T, at []int) {
	for i, p := range at {
		out[i] = x[p]
	}
}

// scatter copies x and then sets or adds the updates in index order: the last
// of equal indices stays.
func scatter(c *call) error {
	x, index, updates, out := c.in[0], c.in[1], c.in[2], c.out[0]
	at, err := places(x, index, c.Attr.Axis(), c.Op)
	if err != nil {
		return err
	}
	copy(out.data, x.data)
	if c.Attr.Mode == "add" {
		kernelsOf[x.t].scatterAdd(c, at)
		return nil
	}
	switch x.t.Size() {
	case 1:
		put(view[uint8](out), view[uint8](updates), at)
	case 2:
		put(view[uint16](out), view[uint16](updates), at)
	case 4:
		put(view[uint32](out), view[uint32](updates), at)
	case 8:
		put(view[uint64](out), view[uint64](updates), at)
	}
	return nil
}

func put[T any](out, updates []T, at []int) {
	for i, p := range at {
		out[p] = updates[i]
	}
}

func (numbers[T, A]) scatterAdd(c *call, at []int) {
	out, updates := view[T](c.out[0]), view[T](c.in[2])
	sums := make([]A, len(out))
	touched := make([]bool, len(out)) // an element without updates keeps its bits
	for i, x := range out {
		sums[i] = A(x)
	}
	for i, p := range at {
		sums[p] += A(updates[i])
		touched[p] = true
	}
	for i, t := range touched {
		if t {
			out[i] = T(sums[i])
		}
	}
}
