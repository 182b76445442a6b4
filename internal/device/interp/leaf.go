package interp

import (
	"unsafe"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/philox"
)

func constant(c *call) error {
	c.out[0].setBits(0, c.Attr.Value)
	return nil
}

// leaf is the caller's memory, read and never written.
func leaf(c *call) error {
	v := c.out[0]
	data, err := aligned(c.leaves[c.Attr.Leaf], v.t.Size())
	v.data = data
	return err
}

func iota(c *call) error {
	kernelsOf[c.out[0].t].iota(c.out[0], c.Attr.Axis())
	return nil
}

// iota writes the index along the axis, converted to T.
func (numbers[T, A]) iota(out *value, axis int) {
	outer, n, inner := split(out.shape, axis)
	y := view[T](out)
	for o := range outer {
		for i := range n {
			row := y[(o*n+i)*inner:][:inner]
			for j := range row {
				row[j] = T(i)
			}
		}
	}
}

// random fills the output with the draw that the key names.
func random(c *call) error {
	philox.Fill(philox.Key(view[uint32](c.in[0])), 0, view[uint32](c.out[0]))
	return nil
}

// lowest and highest are the ends of T's order: infinities for floats.
func lowest[T number]() T  { return fromBits[T](ir.Lowest(dtypeOf[T]())) }
func highest[T number]() T { return fromBits[T](ir.Highest(dtypeOf[T]())) }

// dtypeOf is the dtype whose elements are Go's T.
func dtypeOf[T number]() ir.DType {
	var zero T
	switch any(zero).(type) {
	case float32:
		return ir.F32
	case float64:
		return ir.F64
	case int8:
		return ir.I8
	case int16:
		return ir.I16
	case int32:
		return ir.I32
	case int64:
		return ir.I64
	case uint8:
		return ir.U8
	case uint16:
		return ir.U16
	case uint32:
		return ir.U32
	}
	return ir.U64
}

// width is the number of bits of T.
func width[T number]() int {
	var zero T
	return 8 * int(unsafe.Sizeof(zero))
}
